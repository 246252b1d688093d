# SPDX-License-Identifier: GPL-2.0-or-later
"""
line_peer.py PORT DELAY_S
A service that others use: answers each line DELAY_S after it came, a thread a connection.
"""
import socketserver
import sys
import time

DELAY_S = float(sys.argv[2])


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            time.sleep(DELAY_S)
            self.wfile.write(line)


class Server(socketserver.ThreadingTCPServer):
    request_queue_size = 64
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
