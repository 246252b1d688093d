# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of scopes share: scopes that run, and servers that send what a scope would."""
import os
import re
import signal
import socket
import subprocess
import threading

from lib import PINCH, Skip, check_laws, find, parse_report, pinch, program, read, start, wait_until


class Scope:
    """A scope that runs; the command that it traces runs until end() unless it has an end of its own."""

    def __init__(self, *options, command=None, listen="127.0.0.1:0", log="scope.log"):
        self.log = log
        self.command = command or (program("mutex_storm"), 4, 100000000)
        with open(log, "wb") as file:
            self.process = start(PINCH, "scope", "--listen", listen, *options, "--", *self.command, stderr=file,
                                 stdout=subprocess.DEVNULL)
        found = wait_until(lambda: self.is_over() or re.search(r"the scope is at (\S+)\n", self.text()), "an address")
        assert found is not True, f"the scope ended: {self.text()}"
        self.address = found[1]

    def text(self):
        return read(self.log)

    def is_over(self):
        return self.process.poll() is not None

    def port(self):
        return int(self.address.rsplit(":", 1)[1])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port()), timeout=60)

    def end(self):
        """The command ends, and the scope with it."""
        children = read(f"/proc/{self.process.pid}/task/{self.process.pid}/children").split()
        for pid in children:
            if read(f"/proc/{pid}/comm").strip() == os.path.basename(self.command[0])[:15]:
                os.kill(int(pid), signal.SIGTERM)
        self.process.wait(60)
        return self.text()


class Client(threading.Thread):
    """Receives into a file until the other side ends."""

    def __init__(self, scope, path, words=b""):
        super().__init__()
        self.path, self.socket = path, scope.connect()
        if words:
            self.socket.sendall(words)
        self.count = 0
        self.start()

    def run(self):
        with open(self.path, "wb") as file:
            while True:
                try:
                    got = self.socket.recv(1 << 16)
                except ConnectionError:
                    break
                if not got:
                    break
                file.write(got)
                self.count += len(got)
        self.socket.close()

    def has(self, count):
        """Waits for so many bytes."""
        wait_until(lambda: self.count >= count, f"{count} bytes")

    def whole(self):
        self.join(60)
        assert not self.is_alive(), f"{self.path}: still receiving"
        return self.path


def check(path, status=0):
    result = pinch("check", path)
    assert result.status == status, result.out
    return result.out.decode()


def check_order(events):
    """Neighbours that an interrupt has swapped may stay so."""
    latest = events[0]
    for event in events:
        assert event["time_ns"] > latest["time_ns"] - 1000000, (latest["time_ns"] - event["time_ns"], latest, event)
        latest = max(latest, event, key=lambda e: e["time_ns"])


def report_of(path, is_lossless=True):
    result = pinch("report", "-q", "--json", f"{path}.json", path)
    assert result.status == 0, result.text
    report = parse_report(read(f"{path}.json", "rb"))
    check_laws(report, is_lossless)
    return report


def serve(path):
    """The bytes of a file at a port, to one client."""
    listener = socket.create_server(("127.0.0.1", 0))

    def send():
        connection, _ = listener.accept()
        with connection:
            connection.sendall(read(path, "rb"))
    threading.Thread(target=send).start()
    return f"tcp:127.0.0.1:{listener.getsockname()[1]}"


def certificate(name, address="127.0.0.1"):
    if not find("openssl"):
        raise Skip("openssl is not installed")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    f"subjectAltName=IP:{address},DNS:localhost"], check=True, capture_output=True)


def write_token(name, token="0123456789abcdef0123"):
    with open(name, "w", encoding="ascii") as file:
        file.write(token + "\n")
    os.chmod(name, 0o600)
