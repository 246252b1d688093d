#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Accept queues: connections that wait there, and that are dropped; live and replayed."""
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading

import lib
from lib import main, parse_report, pinch, read, read_line, script, start, stop, test

CLIENTS, BURST_PAUSE_S = 24, 0.05


def connect(place):
    if isinstance(place, tuple):
        return socket.create_connection(place, lib.LIMIT_S)
    client = socket.socket(socket.AF_UNIX)      # without a time limit: it would not wait at all
    client.connect(place)
    return client


@contextlib.contextmanager
def asked(place, in_bursts):
    """Clients that each connect, ask and are answered, over and over; in bursts: all at once, then nobody for a while."""
    done, burst = threading.Event(), threading.Barrier(CLIENTS)

    def ask():
        while not done.is_set():
            with contextlib.suppress(OSError), connect(place) as client:
                client.sendall(b"a")
                client.recv(1)
            if in_bursts:
                with contextlib.suppress(threading.BrokenBarrierError):
                    burst.wait()
                done.wait(BURST_PAUSE_S)

    clients = [threading.Thread(target=ask, daemon=True) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        yield
    finally:
        done.set()
        burst.abort()


def traced(backlog, pause_s, option="", in_bursts=False):
    server = start("/usr/bin/python3", script("accepting_server.py"), backlog, pause_s, option, stdout=subprocess.PIPE)
    line = read_line(server)
    place = option if "/" in option else ("127.0.0.1", int(line))
    try:
        with asked(place, in_bursts):
            result = pinch("attach", "-p", server.pid, "--duration", "3s", "--trace", "t.pinch", "--json", "live.json",
                           "-o", "live.txt")
    finally:
        stop(server)
    assert result.status == 0, result.text
    report = parse_report(read("live.json", "rb"))
    lib.check_laws(report)
    result = pinch("report", "--json", "replay.json", "-v", "-o", "replay.txt", "t.pinch")
    assert result.status == 0, result.text
    replay = json.loads(read("replay.json"))
    for part in ("listeners", "findings", "verdict"):
        assert replay[part] == report[part], (part, replay[part], report[part])
    listener, = report["listeners"]
    assert listener["pid"] == server.pid and listener["processes"] == 1, listener
    assert listener["capacity"] == backlog + 1 and listener["looks"] >= 8, listener
    assert listener["full_looks"] <= listener["waiting_looks"] <= listener["looks"], listener
    assert listener["address"] == (option if "/" in option else "127.0.0.1:%u" % place[1]), listener
    return report, listener


def of_queues(report):
    return [finding for finding in report["findings"] if finding["pattern"] == "accept-queue"]


def words_of(report):
    return "\n".join(text for finding in report["findings"] for text in [finding["title"], *finding["evidence"]])


@test("bursts overflow a short queue: what was dropped, the listener and what it holds are the verdict")
def bursts():
    report, listener = traced(1, 0, in_bursts=True)
    assert listener["drops"] >= 10, listener
    finding, = of_queues(report)
    assert listener["address"] in finding["title"] and "dropped" in finding["title"], finding
    assert report["verdict"]["kind"] in ("network", "cpu"), report["verdict"]
    assert "dropped" in read("replay.txt").partition("Accept queues")[2], read("replay.txt")


@test("the same with a long queue: nothing is dropped, and no finding")
def long_queue():
    report, listener = traced(128, 0, in_bursts=True)
    assert not listener["drops"], listener
    assert not of_queues(report), of_queues(report)


@test("a server that sleeps before it accepts the next one: what wait meanwhile are said with the sleep, or are the finding")
def slow():
    report, listener = traced(2, 0.05)
    assert listener["waiting_looks"] >= listener["looks"] / 2 and listener["full_looks"], listener
    assert listener["address"] in words_of(report), report["findings"]


@test("the same at a Unix socket, at which who connects waits")
def slow_unix():
    report, listener = traced(2, 0.05, os.path.abspath("queue"))
    assert listener["waiting_looks"] >= listener["looks"] / 2 and not listener["drops"], listener
    assert listener["address"] in words_of(report), report["findings"]


@test("a server that looks for connections now and then: they wait most of the time, and the verdict has the sleep")
def ticking():
    report, listener = traced(CLIENTS, 0.5, "tick")
    assert not listener["drops"] and listener["waiting_looks"] >= listener["looks"] / 2, listener
    assert listener["address"] in words_of(report), report["findings"]
    assert report["verdict"]["kind"] in ("timer", "network", "cpu"), report["verdict"]
    assert "look_for_guests" in words_of(report), report["findings"]


@test("a server that pinch has started")
def started():
    tracer = start(lib.PINCH, "run", "-q", "--json", "live.json", "-o", "live.txt", "--", "timeout", "3", "/usr/bin/python3",
                   script("accepting_server.py"), 2, 0.05, stdout=subprocess.PIPE)
    with asked(("127.0.0.1", int(read_line(tracer))), False):
        tracer.wait(lib.LIMIT_S)
    stop(tracer)
    listener, = parse_report(read("live.json", "rb"))["listeners"]
    assert listener["looks"] >= 8 and listener["waiting_looks"] >= listener["looks"] / 2, listener


@test("a listener to which nobody comes")
def idle():
    server = start("/usr/bin/python3", script("accepting_server.py"), 5, 0, stdout=subprocess.PIPE)
    read_line(server)
    result = pinch("attach", "-p", server.pid, "--duration", "1s", "--json", "live.json", "-o", "live.txt")
    stop(server)
    assert result.status == 0, result.text
    report = parse_report(read("live.json", "rb"))
    listener, = report["listeners"]
    assert not listener["waiting_looks"] and not listener["drops"], listener
    assert report["verdict"]["kind"] == "none", report["verdict"]


if __name__ == "__main__":
    sys.exit(main())
