#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
pinch scope: what a client receives is a trace, whole and readable, whenever it comes, however slow it or others are, and
however it ends; and only those get one who may.
"""
import os
import signal
import socket
import stat
import subprocess
import sys
import threading

from lib import PINCH, Skip, assert_nothing_attached, check_laws, find, finish, is_alive, main, parse_report, pinch, \
    program, read, start, stop, test, wait_until
from lib_scope import Client, Scope, certificate, check, report_of, serve, write_token

CLIENTS_MAX = 32


@test("What a client receives is byte for byte a trace that pinch check finds whole, with names")
def whole():
    nc = find("nc") or find("netcat")
    scope = Scope(command=(program("mutex_storm"), 4, 60000))
    client = Client(scope, "a.pinch")
    if nc:
        with open("b.pinch", "wb") as file:
            netcat = start(nc, "127.0.0.1", scope.port(), stdin=subprocess.DEVNULL, stdout=file)
    client.whole()
    assert scope.process.wait(60) == 0, scope.text()
    assert "complete: " in check("a.pinch")
    report = report_of("a.pinch")
    names = {f["function"] for wait in report["waits"] for f in wait["stack"]}
    assert any(name and "lock" in name for name in names), names
    assert any("begins when its reader connected" in note for note in report["notes"]), report["notes"]
    if nc:
        netcat.wait(60)
        assert "complete: " in check("b.pinch")
    assert_nothing_attached()


@test("A client that comes late knows who lives, what is mapped and who waits: its report obeys the laws")
def late():
    scope = Scope(command=(program("mutex_storm"), 4, 200000))
    early = Client(scope, "early.pinch")
    early.has(200000)
    middle = Client(scope, "late.pinch")
    middle.has(100000)
    last = Client(scope, "last.pinch")
    for client in (early, middle, last):
        client.whole()
    begins = []
    for name in ("early.pinch", "late.pinch", "last.pinch"):
        check(name)
        report = report_of(name)
        begins.append(report["target"]["wall_ns"])
        assert sum(t["thread_count"] for t in report["threads"]) >= 1, report["threads"]
        frames = [f for path in report["paths"] for f in path["stack"]]
        assert all(f["function"] or f["module"] for f in frames), frames
    assert begins[0] > begins[1] >= begins[2], begins


@test("Code that a JIT compiler made has its names in the traces of clients that come one after the other")
def jit():
    node = find("node")
    if not node:
        raise Skip("node is not installed")
    with open("work.js", "w", encoding="utf-8") as file:
        file.write("function workHard(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }\n"
                   "const end = Date.now() + 4000; while (Date.now() < end) workHard(1e6);\n")
    scope = Scope(command=("sh", "-c", f"true; {node} work.js"))    # two address spaces, or more
    first = Client(scope, "first.pinch")
    first.has(8000)
    second = Client(scope, "second.pinch")
    for client in (first, second):
        check(client.whole())
        files = {os.path.basename(f["file"] or "") for path in report_of(client.path)["paths"] for f in path["stack"]}
        assert "work.js" in files, (client.path, files)


@test("Of 20 clients one reads nothing: the others lose nothing, and it gets its trace when it reads")
def stalled():
    scope = Scope()
    lazy = scope.connect()
    clients = [Client(scope, f"{i}.pinch") for i in range(19)]
    for client in clients:
        client.has(300000)
    ended = threading.Thread(target=scope.end)
    ended.start()
    for client in clients:
        client.whole()
    with open("lazy.pinch", "wb") as file:
        while got := lazy.recv(1 << 16):
            file.write(got)
    lazy.close()
    ended.join(60)
    for client in clients:
        assert "lost" not in check(client.path), client.path
    report_of("0.pinch")
    check("lazy.pinch")
    report_of("lazy.pinch")


@test("A client that says end gets the end of its trace, with names, and the others go on")
def says_end():
    scope = Scope()
    other = Client(scope, "other.pinch")
    one = Client(scope, "one.pinch")
    one.has(200000)
    one.socket.sendall(b"end\n")
    one.whole()
    check("one.pinch")
    report = report_of("one.pinch", is_lossless=False)
    assert report["waits"], report["totals"]
    had = other.count
    other.has(had + 100000)
    scope.end()
    other.whole()
    check("other.pinch")


@test("One that ends its side early gets its trace; those that vanish are forgotten")
def half_open():
    scope = Scope()
    half = Client(scope, "half.pinch")
    half.socket.shutdown(socket.SHUT_WR)
    for i in range(40):
        gone = scope.connect()
        if i % 2:
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")   # it ends by RST
        gone.close()
    half.has(300000)
    scope.end()
    check(half.whole())


@test("More clients than there is space for get a message that says so, and are let in again when there is")
def crowd():
    scope = Scope()
    clients = [scope.connect() for _ in range(CLIENTS_MAX)]
    for one in clients:
        assert one.recv(1) == b"\x89"
    more = scope.connect()
    words = b""
    while got := more.recv(4096):
        words += got
    assert words == b"pinch scope: 32 clients are connected, and there is no space for more: try again later\n", words
    result = pinch("report", scope.address)
    assert result.status == 1 and "sends no trace: \"pinch scope: 32 clients are connected" in result.text, result.text
    for one in clients:
        one.close()

    def is_let_in():
        with scope.connect() as again:
            return again.recv(1) == b"\x89"
    wait_until(is_let_in, "a place")
    scope.end()
    assert "refused, because there were too many: " in scope.text(), scope.text()


@test("A scope that is killed under load leaves traces that can be read, and nothing attached; the next one has its port")
def killed():
    scope = Scope()
    clients = [Client(scope, f"{i}.pinch") for i in range(3)]
    for client in clients:
        client.has(300000)
    children = read(f"/proc/{scope.process.pid}/task/{scope.process.pid}/children").split()
    stop(scope.process)
    for client in clients:
        client.whole()
        said = check(client.path, status=1)
        assert "truncated" in said and "damaged and left out" not in said, said
        report_of(client.path, is_lossless=False)
    for pid in children:                # what was traced has lost its tracer, and goes on
        if is_alive(pid):
            os.kill(int(pid), signal.SIGKILL)
    assert_nothing_attached()
    again = Scope(listen=f"127.0.0.1:{scope.port()}", log="again.log", command=(program("mutex_storm"), 4, 60000))
    client = Client(again, "again.pinch")
    check(client.whole())


@test("report, dump and check say of a stream what they say of the same bytes in a file")
def same():
    scope = Scope(command=(program("multi_mutex"),))
    Client(scope, "t.pinch").whole()
    for command in (("report",), ("report", "-v"), ("dump", "--json"), ("dump",)):
        of_file = pinch(*command, "t.pinch")
        of_stream = pinch(*command, serve("t.pinch"))
        of_pipe = pinch(*command, "-", input=read("t.pinch", "rb"))
        assert of_file.status == of_stream.status == of_pipe.status == 0, of_stream.text
        assert of_file.out == of_stream.out == of_pipe.out and of_file.out, command
    said = pinch("check", serve("t.pinch"))
    assert said.status == 0, said.out
    assert said.out.split(b": complete: ")[1] == pinch("check", "t.pinch").out.split(b": complete: ")[1], said.out
    assert pinch("record", "-o", "copy.pinch", serve("t.pinch")).status == 0
    assert read("copy.pinch", "rb") == read("t.pinch", "rb")


@test("pinch report takes what comes in --duration, while the scope goes on, and pinch record until Ctrl-C")
def live():
    scope = Scope()
    result = pinch("report", "-q", "--json", "live.json", "--duration", "700ms", scope.address)
    assert result.status == 0, result.text
    report = parse_report(read("live.json", "rb"))
    check_laws(report, is_lossless=False)
    assert 300000000 < report["target"]["wall_ns"], report["target"]
    assert not any("no end" in note for note in report["notes"]), report["notes"]
    recording = start(PINCH, "record", "-o", "r.pinch", scope.address, stderr=subprocess.PIPE)
    wait_until(lambda: os.path.exists("r.pinch") and os.path.getsize("r.pinch") > 100000, "a part of the trace")
    recording.send_signal(signal.SIGINT)
    done = finish(recording)
    assert done.status == 0 and "wrote r.pinch" in done.text, done.text
    check("r.pinch")
    assert not scope.is_over(), scope.text()
    scope.end()


@test("pinch record -o - into pinch report -, as through ssh")
def piped():
    writer = start(PINCH, "record", "-q", "-o", "-", "--", program("multi_mutex"), stdout=subprocess.PIPE)
    reader = start(PINCH, "report", "-", stdin=writer.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    writer.stdout.close()
    done = finish(reader)
    assert done.status == 0 and done.out.startswith(b"pinch: "), done.text
    assert writer.wait(60) == 0


@test("A Unix socket is for its owner alone, replaces a dead one, and goes with its scope")
def unix():
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind("s")
    scope = Scope(listen="unix:s", command=(program("mutex_storm"), 4, 60000))
    assert stat.S_IMODE(os.stat("s").st_mode) == 0o600, oct(os.stat("s").st_mode)
    second = pinch("scope", "--listen", "unix:s", "-p", os.getpid())
    assert second.status == 1 and "cannot listen on the Unix socket s" in second.text, second.text
    result = pinch("record", "-o", "u.pinch", "unix:s")
    assert result.status == 0, result.text
    check("u.pinch")
    scope.process.wait(60)
    assert not os.path.exists("s")


@test("Other addresses than the machine's own need TLS and a token, and what is missing is said")
def refused():
    for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0"):
        result = pinch("scope", "--listen", address, "-p", os.getpid())
        assert result.status == 1 and "give --tls-cert, --tls-key and --token" in result.text, result.text
    for options, words in ((("--listen", "nowhere"), "is no address"), (("--listen", "127.0.0.1:99999"), "is no address"),
                           (("--token", "t"), "need each other"), (("--listen", "tls:127.0.0.1:0"), "needs --tls-cert"),
                           (("--listen", "unix:"), "takes the path")):
        result = pinch("scope", *options)
        assert result.status == 2 and words in result.text, result.text
    for command in (("report", "--token", "t", "tcp:127.0.0.1:1"), ("report", "tls:127.0.0.1:1"),
                    ("report", "--duration", "1s", "t.pinch")):
        result = pinch(*command)
        assert result.status == 2, result.text
    result = pinch("report", "tcp:127.0.0.1:1")
    assert result.status == 1 and "is pinch scope running there?" in result.text, result.text


@test("TLS: who shows the token gets the trace; a wrong one, none, another certificate or no TLS do not")
def tls():
    certificate("one")
    certificate("other")
    for name, token in (("right", "0123456789abcdef0123"), ("wrong", "0123456789abcdef0124"), ("short", "0123")):
        write_token(name, token)
    secret = ("--tls-cert", "one.pem", "--tls-key", "one.key", "--token")
    assert "needs 16 to 256" in pinch("scope", *secret, "short", "--listen", "127.0.0.1:0", "-p", os.getpid()).text
    scope = Scope(*secret, "right", listen="0.0.0.0:0")
    address = f"tls:127.0.0.1:{scope.port()}"
    assert scope.address.startswith("tls:"), scope.address

    def ask(token, ca="one.pem"):
        return pinch("record", "-o", "tls.pinch", "--duration", "500ms", "--token", token, "--tls-ca", ca, address)
    result = ask("right")
    assert result.status == 0, result.text
    check("tls.pinch")
    os.remove("tls.pinch")
    result = ask("wrong")
    assert result.status == 1 and "sends no trace: \"pinch scope: wrong token" in result.text, result.text
    assert not os.path.exists("tls.pinch")
    result = ask("right", ca="other.pem")
    assert result.status == 1 and "cannot agree on TLS" in result.text, result.text
    plain = Client(scope, "plain.pinch", words=b"token 0123456789abcdef0123\n")
    plain.whole()
    assert b"PINCH" not in read("plain.pinch", "rb")
    silent = scope.connect()            # it shakes no hands; others are served meanwhile
    assert ask("right").status == 0
    silent.close()
    done = subprocess.run(["openssl", "s_client", "-quiet", "-connect", f"127.0.0.1:{scope.port()}"],
                          input=b"token \nend\n", capture_output=True, timeout=60)
    assert b"wrong token" in done.stdout and b"PINCH" not in done.stdout, done.stdout
    scope.end()


if __name__ == "__main__":
    sys.exit(main())
