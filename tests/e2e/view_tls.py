#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pinch view --listen: readers of other machines come with TLS, and each with a link of its own; the others wait for none of them."""
import http.client
import json
import re
import signal
import socket
import ssl
import subprocess
import threading

import lib
from lib import PINCH, main, pinch, program, start, stop, test
from lib_scope import certificate

READERS = 50


class Door:
    """A page for other machines, and how to ask for it."""

    def __init__(self, listen="127.0.0.1:0"):
        self.process = start(PINCH, "view", "--listen", listen, "--tls-cert", "one.pem", "--tls-key", "one.key", "t.pinch",
                             stderr=subprocess.PIPE)
        self.link = self.next_link()
        self.host, self.port = re.match(r"https://([^/]+):(\d+)/\?token=", self.link).groups()
        self.context = ssl.create_default_context(cafile="one.pem")

    def next_link(self):
        return re.search(r"https://[^; \n]+", self.process.stderr.readline().decode()).group()

    def connect(self):
        return http.client.HTTPSConnection("localhost", int(self.port), context=self.context, timeout=lib.LIMIT_S)

    def ask(self, path, method="GET", **headers):
        connection = self.connect()
        connection.request(method, path, headers=headers)
        reply = connection.getresponse()
        result = reply.status, reply.headers, reply.read()
        connection.close()
        return result

    def enter(self, link):
        status, headers, _ = self.ask(link[link.index("/?"):])
        return headers["Set-Cookie"] if status == 303 else None

    def end(self):
        assert stop(self.process, signal.SIGINT) == 0


def door(**options):
    certificate("one")
    result = pinch("record", "-q", "-o", "t.pinch", "--", program("lock_convoy"))
    assert result.status == 0, result.text
    return Door(**options)


@test("a link works once, its cookie is for TLS alone, and who has none is refused")
def links():
    page = door()
    cookie = page.enter(page.link)
    assert "; Secure" in cookie and "; HttpOnly" in cookie, cookie
    cookie = cookie.split(";")[0]
    assert page.enter(page.link) is None
    assert page.ask("/trace")[0] == 403
    assert page.ask("/trace", Cookie=cookie[:-1] + "x")[0] == 403
    status, _, body = page.ask("/", Cookie=cookie)
    assert status == 200 and b"pinch" in body
    assert page.enter(page.next_link())
    own = f"https://localhost:{page.port}"
    assert page.ask("/trace", Cookie=cookie, Origin=own)[0] == 200
    for origin in ("https://example.org", own.replace("https", "http")):
        assert page.ask("/trace", Cookie=cookie, Origin=origin)[0] == 403, origin
    page.end()


@test("without TLS nothing is said, an old TLS is refused, and a name that the certificate has not is noticed")
def strangers():
    page = door()
    with socket.create_connection(("127.0.0.1", int(page.port)), timeout=lib.LIMIT_S) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try:
            assert b"HTTP/1" not in plain.recv(1000)
        except ConnectionResetError:
            pass
    old = ssl.create_default_context(cafile="one.pem")
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    for context, name in ((old, "localhost"), (page.context, "example.org"), (ssl.create_default_context(), "localhost")):
        with socket.create_connection(("127.0.0.1", int(page.port)), timeout=lib.LIMIT_S) as raw:
            try:
                context.wrap_socket(raw, server_hostname=name).close()
                raise AssertionError(f"accepted: {name}")
            except ssl.SSLError:
                pass
    assert page.enter(page.link)        # it goes on
    page.end()


@test(f"{READERS} readers at once have the whole of what they ask for; some that say or read nothing delay none of them")
def crowd():
    page = door()
    cookie = page.enter(page.link).split(";")[0]
    lib.wait_until(lambda: json.loads(page.ask("/trace", Cookie=cookie)[2])["is_ready"], "the history of states")
    mute = [socket.create_connection(("127.0.0.1", int(page.port)), timeout=lib.LIMIT_S) for _ in range(10)]
    lazy = []
    for _ in range(5):
        connection = page.connect()
        connection.request("GET", "/save", headers={"Cookie": cookie})
        lazy.append(connection)
    with open("t.pinch", "rb") as file:
        whole = file.read()
    got = []

    def ask():
        got.append(page.ask("/save", Cookie=cookie)[2] == whole)
    threads = [threading.Thread(target=ask) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(lib.LIMIT_S)
    assert got == [True] * READERS, got
    for connection in lazy:
        assert connection.getresponse().read() == whole
        connection.close()
    for one in mute:
        one.close()
    page.end()


@test("wrong options are said: without TLS there is no page for other machines")
def options():
    certificate("one")
    with open("x", "w", encoding="ascii") as file:
        file.write("nothing")
    for arguments in (("--listen", "0.0.0.0:0"), ("--tls-cert", "one.pem"), ("--listen", "0.0.0.0:0", "--tls-cert", "one.pem")):
        result = pinch("view", *arguments, "x")
        assert result.status == 2 and "--listen" in result.text, result.text
    result = pinch("record", "-q", "-o", "t.pinch", "--", "true")
    assert result.status == 0, result.text
    for listen, key in (("0.0.0.0:0", "x"), ("unix:door", "one.key"), ("nowhere.invalid:1", "one.key")):
        result = pinch("view", "--listen", listen, "--tls-cert", "one.pem", "--tls-key", key, "t.pinch")
        assert result.status == 1 and "http" not in result.text, result.text


if __name__ == "__main__":
    main()
