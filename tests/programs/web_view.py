#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
web_view.py PORT
An HTTP server with a thread a connection: /slow makes a large page in slow_view(), /fast a small one in fast_view().
Known answer: slow_view() is what all others wait for.
"""
import http.server
import sys

ROWS = 40000


def slow_view():
    rows = []
    for number in range(ROWS):
        rows.append(f"<tr><td>{number}</td><td>{number * number % 97}</td></tr>")
    rows.sort(key=len)
    return "".join(rows)


def fast_view():
    return "".join(f"<li>{number}</li>" for number in range(10))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        body = (slow_view() if self.path == "/slow" else fast_view()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
