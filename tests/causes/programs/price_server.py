#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
price_server.py PORT [cured]
The server of price_client.py: sleeps for 50 ms before each answer; cured, for 5 ms.
"""
import http.server
import sys
import time

import planted


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        time.sleep(0.005 if planted.is_cured else 0.05)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"17")

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
