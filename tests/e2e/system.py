#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The rest of the machine in a trace (--system): all threads, interrupts, packets and requests to disks are
there, and fit together; what is said of the target does not change.
"""
import json
import os
import re
import subprocess
import sys

from lib import Skip, check_laws, disk_directory, main, parse_report, pinch, program, read, start, stop, test

OUTSIDE = 1 << 31
READS, BLOCK_BYTES, SLEEPS = 100, 64 << 10, 50
AFTER_HIDDEN, BY_TIMER, VECTOR_SHIFT = 32, 8, 4
SOFTIRQ, HARDIRQ = 2, 3
DEAD = 4
# Records of two CPUs may change places by less than that.
TIE_NS = 1000000


def record(*command, options=("--system",)):
    """The events of a trace, and how many there are of threads that are not traced."""
    result = pinch("record", "-o", "t.pinch", *options, "--", *command)
    assert result.status == 0, result.text
    lines = pinch("dump", "--json", "t.pinch").out.decode().split("\n")[:-1]
    return [json.loads(line) for line in lines]


def of(events, *names):
    return [dict(e["fields"], time_ns=e["time_ns"], thread=e["thread"], event=e["event"])
            for e in events if e["event"] in names]


def number_named(events, name):
    """The number of the traced thread that had the name."""
    found = [e["thread"] for e in of(events, "thread.NAME", "thread.BORN", "thread.FOUND", "thread.EXEC")
             if e["name"] == name and e["thread"] < OUTSIDE]
    assert found, name
    return found[-1]


def is_lossless(events):
    """While a thread that the kernel hides has a CPU, nothing is recorded of what interrupts do there."""
    return not of(events, "collect.GAP", "system.LOST", "sched.HIDDEN")


def disk_file():
    """A file on a disk, as long as the program reads."""
    path = os.path.join(disk_directory(), "blocks")
    with open(path, "wb") as file:
        file.write(os.urandom(READS * BLOCK_BYTES))
        os.fsync(file.fileno())
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        raise Skip("this file system does not read past the page cache") from None
    return path


def is_complete(events):
    """Whether each request of the reader has an end: not where that came while a CPU had a hidden thread."""
    reader, open_requests = number_named(events, "reader"), set()
    for e in of(events, "system.BLOCK_ISSUE", "system.BLOCK_COMPLETE"):
        if e["event"] == "system.BLOCK_COMPLETE":
            open_requests.discard(e["request"])
        elif e["request"] in open_requests:
            return False
        elif e["thread"] == reader:
            open_requests.add(e["request"])
    return not open_requests


def record_reads():
    """A busy machine may lose records, and requests with them."""
    for _ in range(30):
        events = record(program("direct_read"), disk_file())
        if is_lossless(events) and is_complete(events):
            return events
    raise AssertionError("records were lost thirty times")


@test("requests to a disk are recorded from their issue to their end, and who has issued them")
def block():
    events = record_reads()
    reader = number_named(events, "reader")
    open_requests, issues, done_bytes = {}, [], 0
    for e in of(events, "system.BLOCK_ISSUE", "system.BLOCK_COMPLETE"):
        if e["event"] == "system.BLOCK_ISSUE":
            before = open_requests.get(e["request"])
            # A device that has no space for it is given it again.
            assert not before or all(before[key] == e[key] for key in ("device", "sector", "bytes", "operation")), \
                (before, e)
            issues += [] if before else [e]
            open_requests[e["request"]] = e
            continue
        issue = open_requests.get(e["request"])
        if not issue:
            continue        # it was issued before
        assert issue["device"] == e["device"] and issue["time_ns"] <= e["time_ns"], (issue, e)
        assert issue["sector"] <= e["sector"] or issue["bytes"] == 0, (issue, e)
        if e["is_last"]:
            del open_requests[e["request"]]
        if issue["thread"] == reader and issue["operation"] == 0:
            assert e["status"] == 0 and e["device"], e
            done_bytes += e["bytes"]
    mine = [e for e in issues if e["thread"] == reader]
    issued_bytes = sum(e["bytes"] for e in mine if e["operation"] == 0)
    # What a busy device refused without a queue's tracepoint a thread of the kernel has issued.
    assert READS * BLOCK_BYTES / 2 < issued_bytes <= READS * BLOCK_BYTES * 1.1, issued_bytes
    assert done_bytes == issued_bytes, (done_bytes, issued_bytes)
    assert all(e["context"] == 0 and e["flags"] & 1 for e in mine), mine[:3]


@test("who had the disk that threads waited for is named: here the program's own thread, among others")
def disk_users():
    record_reads()
    result = pinch("report", "--json", "report.json", "-o", "report.txt", "t.pinch")
    assert result.status == 0, result.text
    report = parse_report(read("report.json", "rb"))
    roots = [root for root in report["blame"]["roots"] if root["cause"] == "file" and root["users"]]
    users = [user for root in roots for user in root["users"] if user["name"] == "reader"]
    assert any(user["kind"] == "program" for user in users), report["blame"]
    assert all("the disk worked for: " in root["text"] for root in roots), roots


def spans(events, name, key):
    """{key: [(begin, end)]} of interrupts."""
    found = {}
    for e in of(events, name):
        assert e["begin_ns"] <= e["time_ns"], e
        found.setdefault(e[key], []).append((e["begin_ns"], e["time_ns"]))
    return found


def is_within(time_ns, intervals):
    return any(begin <= time_ns <= end for begin, end in intervals)


def record_waits():
    """Reads for which the reader has slept: on a busy machine many, or all, are done before it does."""
    for _ in range(10):
        events = record_reads()
        reader = number_named(events, "reader")
        if any(e["thread"] == reader and e["context"] in (SOFTIRQ, HARDIRQ)
               for e in of(events, "sched.WAKE")):
            break
    return events


@test("a wake-up says which interrupt it comes from, and is within it")
def wakes():
    events = record_waits()
    irqs, softirqs = spans(events, "system.INTERRUPT", "irq"), spans(events, "system.SOFTIRQ", "vector")
    assert irqs and softirqs
    reader, sleeper = number_named(events, "reader"), number_named(events, "sleeper")
    explained = unexplained = checked = timers = 0
    for e in of(events, "sched.WAKE"):
        within = []
        if e["context"] == HARDIRQ and e["operation"]:
            within = irqs.get(e["operation"] - 1, [])
        elif e["context"] == SOFTIRQ and e["flags"] >> VECTOR_SHIFT:
            within = softirqs.get((e["flags"] >> VECTOR_SHIFT) - 1, [])
        else:
            timers += e["thread"] == sleeper and e["flags"] & BY_TIMER != 0
            unexplained += e["thread"] == reader and e["context"] in (SOFTIRQ, HARDIRQ)
            continue
        # Of the first and the last ones the record is missing.
        if is_lossless(events) and within and within[0][0] <= e["time_ns"] <= within[-1][1]:
            assert is_within(e["time_ns"], within), e
            checked += e["thread"] == reader
        explained += e["thread"] == reader
    assert explained > unexplained, (explained, unexplained)
    assert checked >= explained - 2 or not is_lossless(events), (checked, explained)
    assert timers > SLEEPS / 2, timers
    names = {e["name"] for e in of(events, "system.INTERRUPT")}
    assert all(names), names


@test("all threads are recorded: who leaves a CPU is who got it, and each wake-up ends a wait")
def threads():
    # Some that come and go while it is recorded.
    events = record("/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.02; done",
                    options=("--system", "--threads-only"))
    assert of(events, "collect.RUN")[0]["tells_system"] == 1
    born = of(events, "thread.BORN", "thread.FOUND")
    for e in born:
        assert (e["thread"] >= OUTSIDE) == bool(e["is_outside"]), e
    outside = {e["thread"]: e for e in born if e["is_outside"]}
    assert any(e["tid"] == 2 and e["name"] == "kthreadd" for e in outside.values())
    assert any(e["name"] == "sh" and e["event"] == "thread.BORN" for e in outside.values())
    kernel = {e["tid"] for e in of(events, "thread.OTHER") if e["is_kernel"]}
    switched = {e["thread"] for e in of(events, "sched.SWITCH")}
    assert any(outside[n]["tid"] in kernel for n in switched & outside.keys()), "no thread of the kernel"
    if not is_lossless(events):
        raise Skip("records were lost")
    on_cpu, blocked, early = {}, {}, {}
    for e in of(events, "sched.SWITCH", "sched.WAKE"):
        if e["event"] == "sched.WAKE":
            assert e["thread"] not in early, e
            if not blocked.pop(e["thread"], True):
                early[e["thread"]] = e["time_ns"]
            blocked[e["thread"]] = False
            continue
        reported = on_cpu.get(e["cpu"])
        # Before the list, nobody had a number.
        if reported and e["thread"] and not e["flags"] & AFTER_HIDDEN:
            assert reported == e["thread"], (reported, e)
        on_cpu[e["cpu"]] = e["next"]
        if e["thread"]:
            blocked[e["thread"]] = e["state"] in (1, 2, 3)
        if e["thread"] in early:
            assert blocked[e["thread"]] and e["time_ns"] - early.pop(e["thread"]) < TIE_NS, e
            blocked[e["thread"]] = False
    ended = {e["thread"] for e in of(events, "sched.SWITCH") if e["state"] == DEAD}
    assert any(n >= OUTSIDE for n in ended), "nobody outside has ended"


@test("packets that come in are added up")
def packets():
    send = "import socket, threading\n" \
           "there = socket.create_server(('127.0.0.1', 0))\n" \
           "here = socket.create_connection(there.getsockname())\n" \
           "there = there.accept()[0]\n" \
           "threading.Thread(target=here.sendall, args=(b'x' * 500000,)).start()\n" \
           "left = 500000\n" \
           "while left: left -= len(there.recv(left))\n"
    events = record(sys.executable, "-c", send)
    got = [e for e in of(events, "system.RECEIVE") if e["name"] == "lo"]
    assert sum(e["bytes"] for e in got) > 500000, got
    assert sum(e["packets"] for e in got) >= len(got) > 0
    for e in got:
        assert e["begin_ns"] <= e["time_ns"] and e["interface"] == 1, e


@test("what there was no room for is recorded where it is missing, and counted in the report")
def losses():
    send = "import socket\n" \
           "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n" \
           "s.bind(('127.0.0.1', 0))\n" \
           "for _ in range(20000): s.sendto(b'x', s.getsockname())\n"
    events = record(sys.executable, "-c", send, options=("--system", "--ring-kb", 4))
    lost = sum(e["lost"] for e in of(events, "system.LOST"))
    result = pinch("report", "-v", "t.pinch")
    assert result.status == 0, result.text
    said = re.search(r"(\d+) records of interrupts, packets and disks were lost",
                     " ".join(result.out.decode().split()))
    assert lost and said and lost <= int(said[1]), (lost, result.out.decode()[-500:])


@test("the report is about the target alone, and a replayed trace gives the same")
def report():
    for name, options in (("idle_pool", []), ("fork_wait", ["--processes-only"])):
        result = pinch("run", "--system", "--trace", "t.pinch", "--json", "live.json", *options, "--",
                       program(name))
        assert result.status == 0, result.text
        live = parse_report(read("live.json", "rb"))
        check_laws(live, is_lossless=False)
        assert pinch("report", "-q", "--json", "replayed.json", "t.pinch").status == 0
        assert parse_report(read("replayed.json", "rb")) == live
        plain = pinch("run", "--json", "plain.json", *options, "--", program(name))
        assert plain.status == 0, plain.text
        plain = parse_report(read("plain.json", "rb"))
        for key in ("threads", "alive_max"):
            assert live["totals"][key] == plain["totals"][key], key
        assert sorted(t["name"] for t in live["threads"]) == sorted(t["name"] for t in plain["threads"])


@test("without the option nothing of it is recorded")
def without():
    events = record(program("multi_mutex"), options=())
    assert not [e for e in events if e["event"].startswith("system.")]
    assert of(events, "collect.RUN")[0]["tells_system"] == 0
    for e in events:
        assert e["thread"] < OUTSIDE, e
    assert all(e["next"] < OUTSIDE for e in of(events, "sched.SWITCH"))
    assert all(e["waker"] < OUTSIDE and e["flags"] < BY_TIMER for e in of(events, "sched.WAKE"))


@test("processes that run already are traced, and those that begin beside them are outside")
def attached():
    target = start(sys.executable, "-c", "import time\nwhile True: time.sleep(0.001)")
    other = start("/bin/sh", "-c", "while :; do /bin/true; done", stderr=subprocess.DEVNULL)
    result = pinch("record", "-o", "t.pinch", "--system", "--duration", "1s", "-p", target.pid)
    assert result.status == 0, result.text
    events = [json.loads(line) for line in pinch("dump", "--json", "t.pinch").out.decode().split("\n")[:-1]]
    traced = {e["pid"] for e in of(events, "thread.FOUND", "thread.BORN") if not e["is_outside"]}
    assert traced == {target.pid}, traced
    beside = [e for e in of(events, "thread.BORN") if e["is_outside"]]
    # While threads are still being listed, one is born whose parent has not been yet.
    listed_ns = max(e["time_ns"] for e in of(events, "thread.FOUND") if e["is_outside"])
    assert len(beside) > 2 and all(e["parent"] for e in beside if e["time_ns"] > listed_ns), beside[:3]
    names = {e["name"] for e in of(events, "thread.EXEC") if e["thread"] >= OUTSIDE}
    assert "true" in names, names
    stop(target)
    stop(other)


if __name__ == "__main__":
    sys.exit(main(jobs=2))
