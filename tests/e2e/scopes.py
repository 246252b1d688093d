#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
pinch record of several scopes at once: one trace, as pinch merge makes it of what each of them sends, whatever becomes of the
others; and of several hosts in one time line, without a word about their clocks.
"""
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from lib import PINCH, assert_nothing_attached, check_laws, finish, is_alive, main, parse_report, pinch, program, read, \
    read_line, start, status_of, stop, test, wait_until
from lib_hosts import BOOTS, CLIENT, DATABASE, ID_SHIFT, Namespaces, as_host, check_times, dump, hosts, record_at_once
from lib_scope import Scope, certificate, check, check_order, report_of, serve, write_token


def record(*arguments, output="all.pinch", prefix=()):
    return start(*prefix, PINCH, "record", "-o", output, *arguments, stderr=subprocess.PIPE)


def children(pid):
    return [int(word) for word in read(f"/proc/{pid}/task/{pid}/children").split()]


def await_bytes(recording, counts):
    """Until so many bytes of each source have come, in their order."""
    def came():
        numbers = sorted(int(number) for number in os.listdir(f"/proc/{recording.pid}/fd"))
        links = [f"/proc/{recording.pid}/fd/{number}" for number in numbers]
        sizes = [os.stat(link).st_size for link in links if "(deleted)" in os.readlink(link)]
        return len(sizes) == len(counts) and all(size >= count for size, count in zip(sizes, counts))
    wait_until(came, "what the scopes send")



@test("what several scopes send becomes byte for byte the events that pinch merge makes of it")
def same():
    names = ("a", "b", "c")
    scopes = [Scope(command=(program(name), *arguments), log=f"{name}.log") for name, arguments in
              (("mutex_storm", (3, 50000)), ("multi_mutex", ()), ("cond_wait", ()))]
    recordings = [record("-q", scope.address, output=f"{name}.pinch") for name, scope in zip(names, scopes)]
    for recording in recordings:
        assert finish(recording).status == 0
    files = [f"{name}.pinch" for name in names]
    assert pinch("merge", "-o", "merged.pinch", *files).status == 0
    result = finish(record(*(serve(name) for name in files)))
    assert result.status == 0 and "wrote all.pinch" in result.text, result.text
    check("all.pinch")
    assert dump("all.pinch") == dump("merged.pinch")
    assert pinch("report", "all.pinch").out == pinch("report", "merged.pinch").out
    result = finish(record(*(serve(name) for name in files), output="-"))
    assert result.status == 0 and not result.text, result.text
    assert_nothing_attached()


@test("--duration and Ctrl-C end all traces together, with names, and the scopes go on")
def together():
    scopes = [Scope(log=f"{n}.log") for n in range(3)]
    addresses = [scope.address for scope in scopes]
    result = finish(record("--duration", "700ms", *addresses))
    assert result.status == 0, result.text
    check("all.pinch")
    report = report_of("all.pinch", is_lossless=False)
    assert len({thread["host_pid"] for thread in report["threads"]}) == 3, report["threads"]
    assert not any("no end" in note for note in report["notes"]), report["notes"]
    check_order(dump("all.pinch"))
    recording = record(*addresses)
    await_bytes(recording, (100000,) * 3)
    recording.send_signal(signal.SIGINT)
    result = finish(recording)
    assert result.status == 0 and "wrote all.pinch" in result.text, result.text
    check("all.pinch")
    for scope in scopes:
        assert not scope.is_over(), scope.text()
        scope.end()


@test("of a scope that is killed meanwhile what came is kept, and said to be cut off; the others come to their ends")
def killed():
    victim = Scope(log="victim.log")
    other = Scope(command=(program("mutex_storm"), 3, 100000), log="other.log")
    recording = record(victim.address, other.address)
    await_bytes(recording, (200000, 1))
    traced = children(victim.process.pid)
    stop(victim.process)
    for pid in traced:                  # what was traced has lost its tracer, and goes on
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)
    result = finish(recording)
    assert result.status == 1 and f"{victim.address} was cut off" in result.text, result.text
    assert other.address not in result.text, result.text
    assert other.process.wait(60) == 0
    check("all.pinch", status=1)
    report = report_of("all.pinch", is_lossless=False)
    assert len({thread["host_pid"] for thread in report["threads"]}) == 2, report["threads"]


@test("where nobody answers, that is said, and the others are recorded; of nobody, an old file stays")
def nobody():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    scope = Scope(command=(program("mutex_storm"), 3, 60000))
    result = finish(record(f"tcp:127.0.0.1:{port}", scope.address))
    assert result.status == 1 and f"127.0.0.1 port {port}" in result.text, result.text
    check("all.pinch")
    assert scope.process.wait(60) == 0
    before = read("all.pinch", "rb")
    with open("words", "wb") as file:
        file.write(b"HTTP/1.1 400 Bad Request\n")
    result = finish(record(f"tcp:127.0.0.1:{port}", serve("words")))
    assert result.status == 1 and "sends no trace" in result.text, result.text
    assert read("all.pinch", "rb") == before


@test("what cannot be an address, a secret for nobody and an output that cannot be written are refused before anything is received")
def refused():
    for arguments, words in ((("tcp:127.0.0.1", "tcp:127.0.0.1:1"), "is no address"),
                             (("tcp:127.0.0.1:1", "tls:127.0.0.1:1"), "asks for a token"),
                             (("--token", "t", "tcp:127.0.0.1:1", "tcp:127.0.0.1:2"), "for tls:"),
                             (("unix:s",) * 65, "at most 64")):
        result = finish(record(*arguments))
        assert result.status == 2 and words in result.text, result.text
    result = finish(record("tcp:127.0.0.1:1", "tcp:127.0.0.1:2", output="no/such/place"))
    assert result.status == 1 and "cannot write" in result.text and "connect" not in result.text, result.text


@test("one that sends nothing for ever holds nobody up: others are received to their ends, and the second signal ends it at once")
def stalled():
    scope = Scope(command=(program("mutex_storm"), 3, 60000))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        recording = record(f"tcp:127.0.0.1:{silent.getsockname()[1]}", scope.address)
        connection, _ = silent.accept()
        assert scope.process.wait(60) == 0      # it waits for its clients
        assert "1 client" in scope.text(), scope.text()
        recording.send_signal(signal.SIGINT)
        assert connection.recv(100) == b"end\n"
        recording.send_signal(signal.SIGINT)
        result = finish(recording)
        connection.close()
    assert "wrote all.pinch" in result.text, result.text
    check("all.pinch")


@test("nothing is left running when pinch is killed, and who answers for the clock has no privileges")
def left():
    scope = Scope()
    clock, = wait_until(lambda: [pid for pid in children(scope.process.pid) if status_of(pid).get("Name") == "pinch-clock" and
                                 status_of(pid)["Seccomp"] == "2"], "who answers")
    status = status_of(clock)
    assert status["CapPrm"] == status["CapBnd"] == "0" * 16 and status["Seccomp"] == "2", status
    assert status["Uid"].split() == ["65534"] * 4, status
    recording = record("-q", scope.address, scope.address)
    await_bytes(recording, (1, 1))
    sources = children(recording.pid)
    askers = wait_until(lambda: [pid for source in sources for pid in children(source)], "those who ask the clock")
    stop(recording)
    wait_until(lambda: not any(is_alive(pid) for pid in sources + askers), "their end")
    scope.end()
    wait_until(lambda: not is_alive(clock), "the end of the clock")


# --- Several hosts ------------------------------------------------------------------------------------

class FakeHost(threading.Thread):
    """Sends a file as the scope of a host would whose clock is so far ahead; asks_min: once its clock was asked so often."""
    PACKET = struct.Struct("<8sIIQQQ16s")

    def __init__(self, path, number, skew_ns, drift_ppm, asks_min=80):
        super().__init__()
        self.path, self.boot, self.skew_ns, self.drift_ppm = path, bytes.fromhex(BOOTS[number]), skew_ns, drift_ppm
        self.asks_min, self.asks, self.is_over = asks_min, 0, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.clock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.clock.settimeout(0.1)
        self.clock.bind(("127.0.0.1", self.port))
        self.address = f"tcp:127.0.0.1:{self.port}"
        self.start()

    def now_ns(self):
        now = time.monotonic_ns()
        return now + round(self.skew_ns + self.drift_ppm * 1e-6 * now)

    def answer(self):
        try:
            question, peer = self.clock.recvfrom(1000)
        except TimeoutError:
            return
        came = self.now_ns()
        mark, version, number, asked, *_ = self.PACKET.unpack(question)
        assert (mark, version) == (b"pnchclkQ", 1), question
        self.clock.sendto(self.PACKET.pack(b"pnchclkA", version, number, asked, came, self.now_ns(), self.boot), peer)
        self.asks += 1

    def run(self):
        connection, _ = self.listener.accept()
        bytes_ = read(self.path, "rb")
        connection.sendall(bytes_[:-100])
        while self.asks < self.asks_min:
            self.answer()
        connection.sendall(bytes_[-100:])
        connection.close()
        while not self.is_over:
            self.answer()

    def end(self):
        self.is_over = True
        self.join(60)
        self.listener.close()
        self.clock.close()


def record_hosts(*fakes):
    result = finish(record("-q", *(fake.address for fake in fakes)))
    for fake in fakes:
        fake.end()
    return result


@test("of two hosts whose clocks nobody has compared, times are by the first one's clock, off by no more than is stated")
def clocks():
    record_at_once("a", "b")
    for skew, drift in ((1e9, 200), (-3e12, -80)):
        as_host("a", 0, 7e8, 50)
        as_host("b", 1, skew, drift)
        result = record_hosts(FakeHost("a.pinch", 0, 7e8, 50), FakeHost("b.pinch", 1, skew, drift))
        assert result.status == 0 and not result.text, result.text
        check("all.pinch")
        merged = dump("all.pinch")
        found = hosts(merged)
        assert [host["host"] for host in found] == [0, 1] and bytes(found[1]["boot"]).hex() == BOOTS[1], found
        assert 0 < found[1]["uncertainty_ns"] < 1e9, found
        check_times("b", merged, 1, found[1]["uncertainty_ns"], 7e8, 50)
        check_times("a", merged, 0, 0, 7e8, 50)


@test("a host that is this machine needs no clock of its own to be asked, nor do traces that have each other's")
def known():
    record_at_once("a", "b")
    as_host("b", 1, 1e9, 200)
    result = record_hosts(FakeHost("a0.pinch", 0, 0, 0, asks_min=0), FakeHost("b.pinch", 1, 1e9, 200))
    assert result.status == 0, result.text
    merged = dump("all.pinch")
    check_times("b", merged, 1, hosts(merged)[1]["uncertainty_ns"], 0, 0)
    as_host("a", 0, 0, 0, peer=(1, 1e9, 200))
    assert finish(record("-q", serve("a.pinch"), serve("b.pinch"))).status == 0
    merged = dump("all.pinch")
    check_times("b", merged, 1, hosts(merged)[1]["uncertainty_ns"], 0, 0)


@test("if no clock answers, what came is kept as it is, and what to do is said")
def unknown():
    record_at_once("a", "b")
    as_host("a", 0, 0, 0)
    as_host("b", 1, 1e9, 200)
    result = finish(record(serve("a.pinch"), serve("b.pinch")))
    assert result.status == 1 and "--clock" in result.text and "all.pinch.2" in result.text, result.text
    assert not os.path.exists("all.pinch")
    for number, name in enumerate("ab", 1):
        assert read(f"all.pinch.{number}", "rb") == read(f"{name}.pinch", "rb")


def host_scope(namespaces, number, listen, options, code, *arguments):
    """A scope in a namespace, with a Python program. The process, and its address once it has one."""
    log = f"host{number}.log"
    with open(log, "wb") as file:
        process = namespaces.start(number, PINCH, "scope", "--listen", listen, *options, "--", "/usr/bin/python3", "-c", code,
                                   *arguments, is_host=True, stderr=file)
    line = wait_until(lambda: [line for line in read(log).splitlines() if "the scope is at" in line] or process.poll(), "a scope")
    assert isinstance(line, list), read(log)
    return process, line[0].split()[-1]


@test("a client and a server on two hosts: one command, one trace, in which each one's waits end by the other one's thread")
def joined():
    certificate("cert", "10.91.0.2")
    write_token("token")
    wait = "import os.path, time\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\n"
    with Namespaces(0.02) as namespaces:
        secret = ("--tls-cert", "cert.pem", "--tls-key", "cert.key", "--token", "token")
        server, remote = host_scope(namespaces, 1, "10.91.0.2:0", secret, DATABASE.replace("9001", "9000"), "10.91.0.2")
        assert read_line(server) == b"ready\n"
        client, local = host_scope(namespaces, 0, "127.0.0.1:0", (), wait + CLIENT, "10.91.0.2")
        assert remote.startswith("tls:") and local.startswith("tcp:"), (remote, local)
        recording = record("--token", "token", "--tls-ca", "cert.pem", local, remote,
                           prefix=("ip", "netns", "exec", namespaces.names[0]))
        await_bytes(recording, (1000, 1000))
        with open("go", "wb"):
            pass
        result = finish(recording)
        assert result.status == 0, result.text
        assert client.wait(60) == server.wait(60) == 0
    check("all.pinch")
    events = dump("all.pinch")
    assert [host["host"] for host in hosts(events)] == [0, 1]
    host_of = {e["thread"]: e["fields"]["tid"] >> ID_SHIFT for e in events if e["event"] in ("thread.BORN", "thread.FOUND")}
    crossed = {(host_of[e["thread"]], host_of[e["fields"]["waker"]]) for e in events
               if e["event"] == "sched.WAKE" and e["thread"] in host_of and e["fields"]["waker"] in host_of}
    assert {(0, 1), (1, 0)} <= crossed, crossed
    result = pinch("report", "-q", "--json", "all.json", "all.pinch")
    assert result.status == 0, result.text
    report = parse_report(read("all.json", "rb"))
    check_laws(report)
    assert {group["host"] for group in report["groups"]} == {"host0", "host1"}, report["groups"]
    assert any("another host" in note for note in report["notes"]), report["notes"]


if __name__ == "__main__":
    sys.exit(main())
