# SPDX-License-Identifier: GPL-2.0-or-later
"""
http_peer.py PORT DELAY_S
A service that others use: answers each HTTP request DELAY_S after it came, however many there are at once.
"""
import http.server
import sys
import time

DELAY_S = float(sys.argv[2])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        time.sleep(DELAY_S)
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"ready")

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
