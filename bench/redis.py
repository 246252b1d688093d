# SPDX-License-Identifier: GPL-2.0-or-later
"""A Redis server of our own, on a Unix socket in a private directory; it keeps its data in memory."""

import os
import pwd
import shutil
import socket

import processes


class Server:
    def __init__(self, place):
        self.place = place
        self.directory = os.path.join(place.directory, "redis")
        self.socket = os.path.join(self.directory, "socket")
        self.log = os.path.join(self.directory, "log")
        self.process = None

    def start(self):
        user = pwd.getpwnam("redis")
        os.mkdir(self.directory, 0o755)
        os.chown(self.directory, user.pw_uid, user.pw_gid)
        with open(self.log, "wb") as log:
            self.process = processes.start(
                ["setpriv", "--reuid=redis", "--regid=redis", "--clear-groups", self.place.find("redis-server"),
                 "--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", self.directory],
                stdout=log, stderr=log)
        processes.until(self._answers, self.process, "redis-server")

    def _answers(self):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1)
            try:
                client.connect(self.socket)
                client.sendall(b"PING\r\n")
                return client.recv(16) == b"+PONG\r\n"
            except OSError:
                return False

    def benchmark(self, requests, clients=50):
        """So many requests of each kind."""
        return [self.place.find("redis-benchmark"), "-s", self.socket, "-q", "-t", "set,get", "-c", str(clients),
                "-n", str(requests)]

    def stop(self):
        if self.process:
            processes.stop(self.process)
        shutil.rmtree(self.directory, ignore_errors=True)
