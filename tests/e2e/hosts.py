#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of several hosts in one time line, as pinch merge makes them."""
import json
import os
import signal

from lib import PINCH, check_laws, main, parse_report, pinch, read, read_line, stop, test
from lib_hosts import CLIENT, DATABASE, ID_SHIFT, PROXY, Namespaces, as_host, check_times, hosts, merge, \
    record_at_once


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


# --- A request through three hosts, each in a network namespace ----------------------------------------


def record_request(pause_s, delay):
    """
    a0, b0 and c0.pinch: of client, proxy and database. Each but the last has asked the next one's clock. pause_s: before each request,
    so that the others have gone to sleep. delay: of packets.
    """
    with Namespaces(pause_s, delay) as hosts:
        clocks = [hosts.start(n, PINCH, "clocks", "--serve", address) for n, address in ((1, "10.91.0.2"), (2, "10.91.1.2"))]
        for clock in clocks:
            assert b"can be asked" in read_line(clock)
        database = hosts.start(2, PINCH, "record", "-q", "-o", "c0.pinch", "--", "/usr/bin/python3", "-c", DATABASE,
                               "10.91.1.2")
        assert read_line(database) == b"ready\n"
        proxy = hosts.start(1, PINCH, "record", "-q", "-o", "b0.pinch", "--clock", "10.91.1.2", "--", "/usr/bin/python3",
                            "-c", PROXY, "10.91.0.2", "10.91.1.2")
        assert read_line(proxy) == b"ready\n"
        client = hosts.start(0, PINCH, "record", "-q", "-o", "a0.pinch", "--clock", "10.91.0.2", "--span",
                             "request=getppid..getpgid", "--", "/usr/bin/python3", "-c", CLIENT, "10.91.0.2")
        for process in (client, proxy, database):
            assert process.wait(60) == 0
        for clock in clocks:
            stop(clock, signal.SIGTERM)


def merge_request(late_ns=0, pause_s=0, delay=""):
    """late_ns: as if answers of the clock that the client asks took so much longer."""
    record_request(pause_s, delay)
    as_host("a", 0, 0, 0, peer=(1, 7e8, 120, late_ns))
    as_host("b", 1, 7e8, 120, peer=(2, -4e8, -80))
    as_host("c", 2, -4e8, -80)
    return merge("a", "b", "c")


def threads_of(events):
    """By number: the host that it is on."""
    return {e["thread"]: e["fields"]["tid"] >> ID_SHIFT for e in events if e["event"] in ("thread.BORN", "thread.FOUND")}


def critical_path(execution):
    result = pinch("critical-path", "--span", execution, "--json", "-", "all.pinch")
    assert result.status == 0, result.text
    return json.loads(result.out)


@test("a request through three hosts has one critical path, as long as it is, whose cause is the last host's code")
def request():
    events = merge_request()
    host_of = threads_of(events)
    begins = [e["time_ns"] for e in events if e["event"] == "span.BEGIN"]
    ends = [e["time_ns"] for e in events if e["event"] == "span.END"]
    path = critical_path("request:slowest")
    parts = path["parts"]
    assert all(part["end_ns"] == then["begin_ns"] for part, then in zip(parts, parts[1:]))
    assert len(begins) == len(ends) == 10
    assert parts[-1]["end_ns"] - parts[0]["begin_ns"] == max(end - begin for begin, end in zip(begins, ends))
    # On a busy machine one may wait for a CPU most of the time.
    ran = {0: 0, 1: 0, 2: 0}
    for number in range(1, 11):
        for part in critical_path(f"request:{number}")["parts"]:
            if part["kind"] == "running":
                ran[host_of[part["thread"]]] += part["end_ns"] - part["begin_ns"]
    assert all(ran.values()) and max(ran, key=ran.get) == 2, ran
    text = pinch("critical-path", "--span", "request:slowest", "all.pinch").out.decode()
    assert "host0:" in text and "host1:" in text and "host2:" in text, text
    report = pinch("report", "all.pinch").out.decode()
    # Above that is the command, with its code.
    # On a busy machine the verdict is that CPUs are missing.
    assert "scan_table" in report.split("Main bottleneck")[1], report


def check_own_span(span, first_host, last_host, most_host):
    """Each execution has one critical path, without gaps and as long as it is, and most of it is that host's work."""
    result = pinch("spans", "--json", "-", "--span", span, "all.pinch")
    assert result.status == 0, result.text
    executions = json.loads(result.out)["executions"]
    assert len(executions) == 10, executions
    for execution in executions:
        assert f"host{first_host}:" in execution["begin_who"] and f"host{last_host}:" in execution["who"], execution
        assert sum(state["ns"] for state in execution["states"].values()) == execution["duration_ns"], execution
    # Not the first one: before that programs may still start.
    crossed = set()
    for number in range(2, 11):
        parts = critical_path(f"{span}:{number}")["parts"]
        execution = executions[number - 1]
        assert all(part["end_ns"] == then["begin_ns"] for part, then in zip(parts, parts[1:]))
        assert (parts[0]["begin_ns"], parts[-1]["end_ns"]) == (execution["begin_ns"], execution["end_ns"])
        text = pinch("critical-path", "--span", f"{span}:{number}", "all.pinch").out.decode()
        running = [line for line in text.split("In time order")[0].splitlines() if " running" in line]
        assert f"host{most_host}:" in running[0], text
        crossed.add(tuple(name for name in ("host0:", "host1:", "host2:") if name in text))
    assert ("host0:", "host1:", "host2:") in crossed, crossed


@test("a request by events of its own has one critical path through three hosts, also where it ends on another one than it began")
def own_request():
    events = merge_request(pause_s=0.02)
    own = [e for e in events if e["event"].startswith("request.")]
    assert len(own) == 30 and not [e for e in events if e["event"] in ("user.EVENT", "user.LOST")], own
    host_of = threads_of(events)
    assert all(host_of[e["thread"]] == (2 if e["event"] == "request.SCANNED" else 0) for e in own)
    check_own_span("request:BEGIN..END[key=argument]", 0, 0, 2)
    check_own_span("request:BEGIN..SCANNED[key=argument]", 0, 2, 2)


def arrivals(events):
    """Of each connection's end, since when a thread waited for data, and when that came."""
    ends, waiting, since, found = {}, {}, {}, {}
    for e in events:
        f = e["fields"]
        if e["event"] == "file.SOCKET" and f["peer_port"]:
            ends[f["file"]] = (bytes(f["local"]), f["local_port"], bytes(f["peer"]), f["peer_port"])
        elif e["event"] == "sched.SWITCH":
            waiting[e["thread"]] = ends.get(f["object"]) if f["state"] else None
            since[e["thread"]] = e["time_ns"]
        elif e["event"] == "sched.WAKE" and waiting.get(e["thread"]):
            found.setdefault(waiting[e["thread"]], []).append((since[e["thread"]], e["time_ns"]))
    return found


def too_early(events, within_ns):
    """
    How often data came to one end and only then, within that time, what it answers to the other one, where a thread had waited for long.
    What comes to a thread that does not wait is not recorded: it may be what was answered.
    """
    found = arrivals(events)
    count = 0
    for end, waits in found.items():
        asked, came = found.get(end[2:] + end[:2], []), [ns for _, ns in waits]
        for before, now in zip([0] + came, came):
            later = [(since, ns) for since, ns in asked if ns > now]
            if not [ns for _, ns in asked if before < ns <= now] and later and later[0][1] - now <= within_ns \
                    and later[0][0] < now - 4 * within_ns:
                count += 1
    return count


@test("no message between hosts comes before it is sent, where delays of the clocks' packets are unequal")
def order():
    late_ns = 400000
    merged = merge_request(late_ns)
    assert too_early(merged, late_ns) == 0
    end = [e for e in merged if e["event"] == "collect.END"][0]
    assert not [note for note in end["fields"]["notes"] if "come before" in note], end
    check_times("b", merged, 1, hosts(merged)[1]["uncertainty_ns"], 0, 0)


@test("the same where packets take 1 ms and more: the error is no larger than is stated")
def latency():
    merged = merge_request(delay="1ms 300us")
    found = hosts(merged)
    assert too_early(merged, 2_000_000) == 0
    assert found[1]["uncertainty_ns"] < 2_000_000, found
    check_times("b", merged, 1, found[1]["uncertainty_ns"], 0, 0)


@test("who waits for data of another host was made runnable by the thread that waits at the other end")
def senders():
    events = merge_request()
    host_of = threads_of(events)
    ends, users = {}, {}
    for e in events:
        f = e["fields"]
        if e["event"] == "file.SOCKET" and f["peer_port"]:
            ends[f["file"]] = (bytes(f["local"]), f["local_port"], bytes(f["peer"]), f["peer_port"])
        elif e["event"] == "sched.SWITCH" and f["state"] and f["object"] in ends:
            users.setdefault(ends[f["object"]], e["thread"])
    waiting, crossed = {}, set()
    for e in events:
        f = e["fields"]
        if e["event"] == "sched.SWITCH":
            waiting[e["thread"]] = ends.get(f["object"]) if f["state"] else None
        elif e["event"] == "sched.WAKE" and waiting.get(e["thread"]):
            local, local_port, peer, peer_port = waiting[e["thread"]]
            assert f["waker"] == users.get((peer, peer_port, local, local_port), 0), e
            crossed.add((host_of[e["thread"]], host_of.get(f["waker"])))
    assert {(0, 1), (1, 2)} <= crossed, crossed


main()
