#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
changed_web.py [HOT [COLD]]
An HTTP server with two views, in a process of its own, and a client that asks for them in turn. hot_view() does HOT
percent (100) of its work, cold_view() COLD percent.
Known answer: to shorten hot_view() by half is the same as to run it with 50.
"""
import http.client
import http.server
import os
import sys

REQUESTS, UNIT = 300, 10000

hot_percent, cold_percent = (int(percent) for percent in (sys.argv[1:] + [100, 100])[:2])


# Each turn of a loop takes as long as the others: no number becomes large.
def hot_view():
    total = 0
    for i in range(10 * UNIT * hot_percent // 100):
        total = total + i & 255
    return total


def cold_view():
    total = 0
    for i in range(4 * UNIT * cold_percent // 100):
        total = total + i & 255
    return total


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        body = str(hot_view() if self.path == "/hot" else cold_view()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def ask(port):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for number in range(REQUESTS):
        connection.request("GET", "/cold" if number % 2 else "/hot")
        answer = connection.getresponse()
        assert answer.status == 200 and answer.read(), answer.status
    connection.close()


def main():
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    child = os.fork()
    if not child:
        server.handle_request()
        os._exit(0)
    server.socket.close()
    ask(server.server_port)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


main()
