# SPDX-License-Identifier: GPL-2.0-or-later
"""
name_server.py DELAY_S
A name server at port 53 of loopback: each question for an address has the answer 10.1.2.3, DELAY_S later; other
questions have none. RFC 1035, section 4. Prints its process's id when it is ready.
"""
import os
import socketserver
import struct
import sys
import time

DELAY_S = float(sys.argv[1])
TYPE_A, HEADER_BYTES = 1, 12
ANSWER, NO_ERROR = 0x8000, 0x0180
NAME_OF_QUESTION = 0xC00C
ADDRESS = bytes((10, 1, 2, 3))


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        data, to = self.request
        question_end = data.index(b"\0", HEADER_BYTES) + 5
        question = data[HEADER_BYTES:question_end]
        is_address = struct.unpack(">H", question[-4:-2])[0] == TYPE_A
        answer = struct.pack(">HHHIH", NAME_OF_QUESTION, TYPE_A, 1, 60, len(ADDRESS)) + ADDRESS if is_address else b""
        time.sleep(DELAY_S)
        to.sendto(data[:2] + struct.pack(">HHHHH", ANSWER | NO_ERROR, 1, int(is_address), 0, 0) + question + answer,
                  self.client_address)


class Server(socketserver.ThreadingUDPServer):
    daemon_threads = True


with Server(("127.0.0.1", 53), Handler) as server:
    print(os.getpid(), flush=True)
    server.serve_forever()
