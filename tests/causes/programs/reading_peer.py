# SPDX-License-Identifier: GPL-2.0-or-later
"""
reading_peer.py PORT BYTES_A_SECOND
Reads what is sent to it, that fast: 0, as fast as it can.
"""
import socketserver
import sys
import time

BYTES_EACH = 65536
PAUSE_S = BYTES_EACH / int(sys.argv[2]) if sys.argv[2] != "0" else 0


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        while self.request.recv(BYTES_EACH):
            time.sleep(PAUSE_S)


socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
