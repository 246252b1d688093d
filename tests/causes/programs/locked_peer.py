# SPDX-License-Identifier: GPL-2.0-or-later
"""
locked_peer.py PORT PEER_PORT IS_LOCKED
An HTTP server with a thread a connection. Each request asks another service; if IS_LOCKED is 1, one at a time.
"""
import contextlib
import http.client
import http.server
import sys
import threading

PEER = int(sys.argv[2])
one_at_a_time = threading.Lock() if sys.argv[3] == "1" else contextlib.nullcontext()


def ask_peer():
    connection = http.client.HTTPConnection("127.0.0.1", PEER)
    connection.request("GET", "/")
    body = connection.getresponse().read()
    connection.close()
    return body


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        with one_at_a_time:
            body = ask_peer()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
