#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Traces of several hosts in one time line. This machine is all of the hosts: tests/hosts/as_host.c gives each trace a boot,
a name and a clock of its own, so how far they really are apart is known.
"""
import json
import os
import signal
import socket
import subprocess

from lib import BUILD, PINCH, check_laws, main, parse_report, pinch, program, read, read_line, start, stop, test

AS_HOST = os.path.join(BUILD, "tests", "as_host")
BOOTS = [f"{n:032x}" for n in (0xaaaa, 0xbbbb, 0xcccc)]
ID_SHIFT = 22


def serve():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{s.getsockname()[1]}"
    server = start(PINCH, "clocks", "--serve", address, stdout=subprocess.PIPE)
    assert address.encode() in read_line(server)
    return server, address


def record_at_once(*names):
    """Traces NAME0.pinch of one moment, each with the clock of this machine beside its own."""
    server, address = serve()
    tracers = [start(PINCH, "record", "-q", "-o", f"{name}0.pinch", "--clock", address, "--",
                     program("mutex_storm"), 3, 20000, stdout=subprocess.DEVNULL) for name in names]
    for tracer in tracers:
        assert tracer.wait(60) == 0
    stop(server, signal.SIGTERM)


def as_host(name, number, skew_ns, drift_ppm, peer=None):
    """NAME0.pinch of that host as NAME.pinch; peer: number, skew and drift of the host that it has asked."""
    arguments = [f"{name}0.pinch", f"{name}.pinch", f"host{number}", BOOTS[number], skew_ns, drift_ppm]
    if peer:
        arguments += [BOOTS[peer[0]], *peer[1:]]
    subprocess.run([AS_HOST, *map(str, arguments)], check=True, timeout=60)


def merge(*names):
    result = pinch("merge", "-o", "all.pinch", *(f"{name}.pinch" for name in names))
    assert result.status == 0 and not result.text, result.text
    result = pinch("check", "all.pinch")
    assert result.status == 0, result.out
    return dump("all.pinch")


def dump(trace):
    result = pinch("dump", "--json", trace)
    assert result.status == 0, result.text
    return [json.loads(line) for line in result.out.splitlines()]


def lives(events):
    """Of each thread by its id: what it did, when."""
    tids, found = {}, {}
    for e in events:
        if e["event"] in ("thread.BORN", "thread.FOUND"):
            tids[e["thread"]] = e["fields"]["tid"]
        elif e["event"] in ("sched.WAKE", "sched.SAMPLE") and e["thread"] in tids:
            found.setdefault(tids[e["thread"]], []).append((e["event"], e["time_ns"]))
    return found


def hosts(events):
    return [e["fields"] for e in events if e["event"] == "clock.HOST"]


def check_times(original, merged, host, uncertainty_ns, skew_ns, drift_ppm):
    """All that a host's threads did is in the merged trace, at its time by host 0's clock."""
    before, after = lives(dump(f"{original}0.pinch")), lives(merged)
    assert before
    for tid, events in before.items():
        moved = after[tid + (host << ID_SHIFT)]
        assert [what for what, _ in moved] == [what for what, _ in events]
        for (_, then), (_, now) in zip(events, moved):
            then += round(skew_ns + drift_ppm * 1e-6 * then)
            assert abs(now - then) <= uncertainty_ns + 2, (now - then, uncertainty_ns)


@test("times of two hosts are by the first one's clock, off by no more than is stated, whoever asked whom")
def two():
    record_at_once("a", "b")
    for skew, drift in ((1e9, 200), (-1e9, -200), (5.5e12, 13)):
        as_host("a", 0, 0, 0)
        as_host("b", 1, skew, drift, peer=(0, 0, 0))
        merged = merge("a", "b")
        check_times("b", merged, 1, hosts(merged)[1]["uncertainty_ns"], 0, 0)
        check_times("a", merged, 0, 0, 0, 0)
        as_host("a", 0, 0, 0, peer=(1, skew, drift))
        as_host("b", 1, skew, drift)
        merged = merge("a", "b")
        check_times("b", merged, 1, hosts(merged)[1]["uncertainty_ns"], 0, 0)


@test("a third host's clock is known by way of the second one's, with both uncertainties")
def three():
    record_at_once("a", "b", "c")
    as_host("a", 0, 0, 0)
    as_host("b", 1, 3e8, 90, peer=(0, 0, 0))
    as_host("c", 2, -7e8, -150, peer=(1, 3e8, 90))
    merged = merge("a", "b", "c")
    found = hosts(merged)
    assert [h["host"] for h in found] == [0, 1, 2]
    assert found[2]["uncertainty_ns"] > found[1]["uncertainty_ns"] > found[0]["uncertainty_ns"] == 0
    check_times("c", merged, 2, found[2]["uncertainty_ns"], 0, 0)
    bases = [h["cpu_base"] for h in found]
    counts = [h["cpu_count"] for h in found]
    assert bases == [0, counts[0], counts[0] + counts[1]]
    cpus = {e["fields"]["cpu"] for e in merged if e["event"] == "sched.SWITCH"}
    assert max(cpus) < sum(counts) and any(cpu >= bases[2] for cpu in cpus)


@test("the account of all hosts closes, and counts threads and CPUs of each of them")
def account():
    record_at_once("a", "b")
    as_host("a", 0, 0, 0)
    as_host("b", 1, 1e9, 50, peer=(0, 0, 0))
    merge("a", "b")
    result = pinch("report", "--json", "all.json", "-q", "all.pinch")
    assert result.status == 0, result.text
    report = parse_report(read("all.json", "rb"))
    check_laws(report)
    count = 0
    for name in ("a", "b"):
        pinch("report", "--json", "one.json", "-q", f"{name}0.pinch")
        count += len(parse_report(read("one.json", "rb"))["threads"])
    assert len(report["threads"]) == count
    of = [group["host"] for group in report["groups"]]
    assert sorted(of) == of and set(of) == {"host0", "host1"}
    assert sorted(row["host"] for row in report["threads"])[::count - 1] == ["host0", "host1"]
    text = pinch("report", "--page", "threads", "all.pinch").out.decode()
    assert text.index("host0: ") < text.index("host1: "), text
    assert report["target"]["cpu_count"] == 2 * os.sysconf("SC_NPROCESSORS_CONF")


@test("hosts whose clocks nobody has compared are refused, and what to do is said")
def refused():
    record_at_once("a", "b")
    as_host("a", 0, 0, 0)
    as_host("b", 1, 1e9, 50)
    result = pinch("merge", "-o", "all.pinch", "a.pinch", "b.pinch")
    assert result.status == 1 and "a.pinch and b.pinch" in result.text and "--clock" in result.text, result.text
    assert not os.path.exists("all.pinch")


@test("times are changed once: a trace of several hosts is not merged again")
def once():
    record_at_once("a", "b")
    as_host("a", 0, 0, 0)
    as_host("b", 1, 1e9, 50, peer=(0, 0, 0))
    merged = merge("a", "b")
    assert not [e for e in merged if e["event"] == "clock.SAMPLE"]
    result = pinch("merge", "-o", "again.pinch", "all.pinch", "b.pinch")
    assert result.status == 1 and "several hosts already" in result.text, result.text


main()
