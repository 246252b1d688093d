#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Planted cause: a service runs a command for each line that a client sends, which sleeps for 0.15 s. Cured: one that ends
at once.
Known answer: render_label(), which waits for the command, or the command's sleep.
"""
import socketserver
import subprocess
import sys

import planted

COMMAND = ["/bin/sh", "-c", "sleep 0.001" if planted.is_cured else "sleep 0.15"]


def render_label():
    subprocess.run(COMMAND, check=True)


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for _ in self.rfile:
            render_label()
            self.wfile.write(b"ok\n")
            planted.done()


class Service(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Service(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
