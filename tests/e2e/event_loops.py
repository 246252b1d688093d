#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Event loops: their iterations, and the function that holds one up; live and replayed."""
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading

import lib
from lib import base_name, main, parse_report, pinch, program, read, read_line, script, start, stop, test

CLIENTS, PAUSE_S, PEER_S, TRIES = 3, 0.04, 0.01, 3
# A look finds unread input if it falls into a long iteration, and there may be two looks a second: three that do are luck.
INPUT_S, INPUT_LOOKS_MIN = 5, 1
SLOW_NS, SLOW_INPUT_NS = 50_000_000, 200_000_000


@contextlib.contextmanager
def asked(server, pause_s):
    """Clients that each send a byte, wait for one, and pause."""
    port, done = int(read_line(server)), threading.Event()

    def ask():
        with socket.create_connection(("127.0.0.1", port), lib.LIMIT_S) as connection:
            while not done.is_set():
                connection.sendall(b"a")
                if not connection.recv(1):
                    return
                done.wait(pause_s)

    clients = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        yield
    finally:
        done.set()
        for client in clients:
            client.join(lib.LIMIT_S)
        stop(server)


@contextlib.contextmanager
def fed(server, output):
    """A peer that sends a byte every now and then, and awaits nothing. output: where it writes."""
    done = threading.Event()

    def feed():
        while not done.wait(PAUSE_S):
            os.write(output, b"a")

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        yield
    finally:
        done.set()
        feeder.join(lib.LIMIT_S)
        stop(server)


def traced(*command, pause_s=PAUSE_S):
    server = start(*command, stdout=subprocess.PIPE)
    with asked(server, pause_s):
        return report_on(server)


def traced_input(ends, *command):
    """A program whose standard input is one of these ends, and is fed by the other one."""
    own, peer = ends
    try:
        server = start(*command, stdin=own)
        with fed(server, peer):
            return report_on(server, INPUT_S)
    finally:
        os.close(own)
        os.close(peer)


def report_on(server, length_s=3):
    result = pinch("attach", "-p", server.pid, "--duration", f"{length_s}s", "--trace", "t.pinch", "--json",
                   "live.json", "-o", "live.txt")
    assert result.status == 0, result.text
    report = parse_report(read("live.json", "rb"))
    lib.check_laws(report)
    result = pinch("report", "--json", "replay.json", "-v", "-o", "replay.txt", "t.pinch")
    assert result.status == 0, result.text
    replay = json.loads(read("replay.json"))
    for part in ("event_loops", "findings", "verdict"):
        assert replay[part] == report[part], (part, replay[part], report[part])
    return report


@contextlib.contextmanager
def slow_peer():
    """The port of a server that takes its time; it is not traced."""
    done = threading.Event()

    def answer():
        with listening.accept()[0] as connection:
            while connection.recv(1) and not done.wait(PEER_S):
                connection.sendall(b"a")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        peer = threading.Thread(target=answer)
        peer.start()
        yield listening.getsockname()[1]
        done.set()
        peer.join(lib.LIMIT_S)


def held_up(report):
    return [finding for finding in report["findings"] if finding["pattern"] == "event-loop"]


def first_functions(work):
    """That which ran, and what called it."""
    return [base_name(frame["function"]) for frame in work["code"][0]["stack"][:2]]


def check_blocked(report):
    loop = report["event_loops"][0]
    assert loop["iterations"] >= 30 and loop["asked_iterations"] >= loop["iterations"] / 2, loop
    assert loop["long_iterations"] >= 5, loop
    assert loop["max_ns"] >= SLOW_NS > loop["p50_ns"] * 5, loop
    assert loop["unread_looks"] >= INPUT_LOOKS_MIN and 4_000_000 <= loop["unread_ns"] <= loop["max_ns"], loop
    assert "slow_handler" in first_functions(loop["longest"]), loop["longest"]["code"]
    assert "slow_handler" in first_functions(loop["long_work"]), loop["long_work"]["code"]
    finding, = held_up(report)
    assert "slow_handler" in finding["title"], finding
    assert "slow_handler" in report["verdict"]["lines"][0] or report["verdict"]["kind"] == "cpu", report["verdict"]
    assert "slow_handler" in read("replay.txt").partition("Event loops")[2], read("replay.txt")


def check_healthy(report):
    loop = report["event_loops"][0]
    assert loop["iterations"] >= 30 and loop["p50_ns"] < SLOW_NS / 5, loop
    assert loop["unread_looks"] <= loop["looks"] / 4 or report["verdict"]["kind"] == "cpu", loop
    assert not held_up(report), held_up(report)


def traced_with_cpus(*command, trace=traced):
    """Where the server lacked CPUs that is the verdict, and it is late without being slow: then once more."""
    for _ in range(TRIES):
        report = trace(*command)
        if report["verdict"]["kind"] != "cpu" and held_up(report):
            break
    return report


def unix_pair(kind):
    return [end.detach() for end in socket.socketpair(socket.AF_UNIX, kind)]


def udp_pair():
    own, peer = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    own.bind(("127.0.0.1", 0))
    peer.connect(own.getsockname())
    return own.detach(), peer.detach()


INPUTS = {
    "a pipe": os.pipe,
    "a Unix stream socket": lambda: unix_pair(socket.SOCK_STREAM),
    "a Unix datagram socket": lambda: unix_pair(socket.SOCK_DGRAM),
    "a UDP socket": udp_pair,
}


def check_unread(report):
    loop, = report["event_loops"]
    assert loop["long_iterations"] >= 3 and loop["max_ns"] >= SLOW_INPUT_NS, loop
    assert loop["unread_looks"] >= INPUT_LOOKS_MIN and 4_000_000 <= loop["unread_ns"] <= loop["max_ns"], loop
    finding, = held_up(report)
    assert "slow_handler" in finding["title"], finding
    assert any("input lay unread in its sockets and pipes" in fact for fact in finding["evidence"]), finding


def add_input(name, ends):
    @test(f"input that lies in {name} while a handler computes: for how long, and by what")
    def unread():
        check_unread(traced_with_cpus(program("blocked_input"),
                                      trace=lambda *command: traced_input(ends(), *command)))

    @test(f"input in {name} that is read at once: no finding")
    def read_at_once():
        check_healthy(traced_input(ends(), program("blocked_input"), "healthy"))


for input_name, input_ends in INPUTS.items():
    add_input(input_name, input_ends)


@test("a loop of epoll in C: the slow handler is named, in the longest iteration and in the verdict")
def epoll():
    report = traced_with_cpus(program("blocked_server"))
    check_blocked(report)
    assert report["event_loops"][0]["syscall"] == "epoll_wait", report["event_loops"]


@test("the same without the slow handler: no finding")
def healthy_epoll():
    check_healthy(traced(program("blocked_server"), "healthy"))


@test("a loop that is busy without a pause, and never slow: no finding")
def busy_epoll():
    report = traced(program("blocked_server"), "healthy", pause_s=0)
    assert not held_up(report), held_up(report)


@test("system calls are traced for moments alone, and not while no loop is busy")
def watched_for_moments():
    server = start(program("blocked_server"), "healthy", stdout=subprocess.PIPE)
    tracer = start(lib.PINCH, "attach", "-q", "-p", server.pid, "-o", "watched.txt", stderr=subprocess.PIPE)
    lib.wait_attached(tracer)

    def is_traced():
        return lib.has_attached(tracer.pid, "poll_begin")

    assert lib.has_attached(tracer.pid, "sched_switch") and not is_traced()
    with asked(server, 0):
        lib.wait_until(is_traced, "system calls to be traced")
        lib.wait_until(lambda: not is_traced(), "that to end")
    assert lib.finish(tracer).status == 0


@test("a loop of asyncio: the slow function of Python is named")
def asyncio():
    check_blocked(traced_with_cpus("/usr/bin/python3", script("blocked_server.py")))


@test("the same without the slow function: no finding")
def healthy_asyncio():
    check_healthy(traced("/usr/bin/python3", script("blocked_server.py"), "healthy"))


@test("a poll in a handler is no wait for the next request: the verdict is what the handler waits for")
def nested_poll():
    with slow_peer() as port:
        report = traced("/usr/bin/python3", script("blocked_server.py"), "asking", port)
    wait = report["event_loops"][0]["work"]["waits"][0]
    assert wait["cause"] == "poll" and "fetch_price" in map(lambda f: base_name(f["function"]), wait["stack"]), wait
    assert "fetch_price" in report["verdict"]["lines"][0], report["verdict"]


if __name__ == "__main__":
    sys.exit(main())
