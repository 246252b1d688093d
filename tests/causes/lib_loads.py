# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients of servers, and what they do for as long as a test runs."""
import collections
import contextlib
import dataclasses
import http.client
import socket
import threading

import lib

NOBODY_ASKS_S = 0.01


@dataclasses.dataclass(frozen=True)
class Group:
    """
    count clients that do the same: connect() gives an object with ask(request) and close(); each asks, waits for the
    answer, and pauses. request may be a function: it is called with the object instead.
    """
    connect: object
    request: object
    count: int = 1
    pause_s: float = NOBODY_ASKS_S


class Load:
    """
    Groups of clients, by name, in threads of their own until the block ends. It begins once each group had an answer;
    of groups in `silent`, once they have asked.
    """

    def __init__(self, silent=(), **groups):
        self.end = threading.Event()
        self.begun, self.answers = collections.Counter(), collections.Counter()
        self.error = None
        self.wanted = [self.answers if name not in silent else self.begun for name in groups]
        self.names = list(groups)
        self.threads = [threading.Thread(target=self.ask, args=(name, group))
                        for name, group in groups.items() for _ in range(group.count)]

    def ask(self, name, group):
        try:
            with contextlib.closing(group.connect()) as server:
                while not self.end.is_set():
                    self.begun[name] += 1
                    if callable(group.request):
                        group.request(server)
                    else:
                        server.ask(group.request)
                    self.answers[name] += 1
                    self.end.wait(group.pause_s)
        except Exception as error:      # of a thread: said by check()
            if not self.end.is_set():
                self.error = error

    def check(self):
        assert not self.error, f"a client: {self.error!r}"
        return all(counted[name] for counted, name in zip(self.wanted, self.names))

    def count(self, *names):
        """Answers that these groups got."""
        return sum(self.answers[name] for name in names)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        try:
            lib.wait_until(self.check, "answers")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.end.set()
        for thread in self.threads:
            thread.join(lib.LIMIT_S)


class Http:
    """keep: whether one connection serves all requests. headers: more of them."""

    def __init__(self, port, keep=True, headers=()):
        self.port, self.keep, self.headers = port, keep, dict(headers)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=lib.LIMIT_S)

    def ask(self, request):
        headers = {"Accept-Encoding": "gzip"} | ({} if self.keep else {"Connection": "close"}) | self.headers
        self.connection.request("GET", request, headers=headers)
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200 and body, (request, answer.status)
        if not self.keep:
            self.connection.close()

    def close(self):
        self.connection.close()


class RedisClient:
    """Its protocol, as far as these tests need it: https://redis.io/docs/reference/protocol-spec."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(lib.LIMIT_S)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def ask(self, words):
        parts = [f"${len(word)}\r\n{word}\r\n" for word in words]
        self.socket.sendall(f"*{len(parts)}\r\n{''.join(parts)}".encode())
        return self.answer()

    def answer(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:].strip()
        assert kind and kind in b"+:$*", line
        if kind == b"$" and int(rest) >= 0:
            return self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        return rest

    def close(self):
        self.file.close()
        self.socket.close()


class SlowReader:
    """An HTTP client that asks for something large and reads little of it at a time."""

    def __init__(self, port, request, pause_s, bytes_each=65536):
        self.end = threading.Event()
        self.pause_s, self.bytes_each, self.request = pause_s, bytes_each, request
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.socket.settimeout(lib.LIMIT_S)
        self.socket.connect(("127.0.0.1", port))
        self.socket.sendall(f"GET {request} HTTP/1.0\r\n\r\n".encode())

    def ask(self, _):
        """Some bytes more of the answer."""
        assert self.socket.recv(self.bytes_each), "the answer was too short for a test"
        self.end.wait(self.pause_s)

    def close(self):
        self.socket.close()
