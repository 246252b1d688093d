# SPDX-License-Identifier: GPL-2.0-or-later
"""
datagram_peer.py PORT DELAY_S
A service that others use by UDP: answers each datagram DELAY_S after it came, a thread a datagram.
"""
import socketserver
import sys
import time

DELAY_S = float(sys.argv[2])


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        data, answer = self.request
        time.sleep(DELAY_S)
        answer.sendto(data, self.client_address)


class Server(socketserver.ThreadingUDPServer):
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
