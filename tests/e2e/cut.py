#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Parts of traces: what a part says is what the whole says of that time and these threads, to the last
nanosecond, and the whole of a trace is the trace.
"""
import json
import os
import random
import sys

from lib import Skip, check_laws, find, main, parse_report, pinch, program, read, script, start, stop, test

SUMS = ("running_ns", "cpu_wait_ns", "blocked_ns", "cmetric_ns", "cmetric_oncpu_ns")
OUTSIDE = 1 << 31


def record(*command, status=0, options=()):
    result = pinch("record", "-o", "t.pinch", *options, "--", *command)
    assert result.status == status, result.text


def report(trace):
    result = pinch("report", "--json", "report.json", "-q", "--top", 1000, trace)
    assert result.status == 0, result.text
    return parse_report(read("report.json", "rb"))


def cut(*options, trace="t.pinch", out="part.pinch"):
    result = pinch("cut", "-o", out, *options, trace)
    assert result.status == 0 and not result.text, result.text
    result = pinch("check", out)
    assert result.status == 0, result.out
    return out


def dump(trace):
    result = pinch("dump", "--json", trace)
    assert result.status == 0, result.text
    return [json.loads(line) for line in result.out.splitlines()]


def length_ns(events):
    return max(e["time_ns"] for e in events) - events[0]["time_ns"]


def threads_of(reported):
    return {(t["host_tid"], t["host_pid"]): t for t in reported["threads"]}


def assert_add_up(whole, parts):
    for key, thread in threads_of(whole).items():
        for field in SUMS:
            sums = [threads_of(part)[key][field] for part in parts if key in threads_of(part)]
            assert abs(sum(sums) - thread[field]) <= len(parts), (thread["name"], field, thread[field],
                                                                  sums)
    for field in ("active_ns", "stalled_ns", "switches"):
        sums = [part["totals"][field] for part in parts]
        assert abs(sum(sums) - whole["totals"][field]) <= len(parts), (field, sums)


@test("the whole of a trace, with --from 0s too, gives the same report, whole")
def whole():
    for name, status in (("multi_mutex", 0), ("tcp_slow", 0), ("fork_storm", 7)):
        record(program(name), status=status)
        reported = report("t.pinch")
        for options in ((), ("--from", "0s"), ("--to", "1h")):
            assert report(cut(*options)) == reported, (name, options)


@test("parts that follow one another add up to the whole, wherever they are cut")
def parts():
    chance = random.Random(11)
    for name, status in (("multi_mutex", 0), ("fork_storm", 7)):
        record(program(name), status=status)
        reported, all_ns = report("t.pinch"), length_ns(dump("t.pinch"))
        for _ in range(2):
            at = sorted(chance.sample(range(1, all_ns), 2))
            ranges = (("--to", f"{at[0]}ns"), ("--from", f"{at[0]}ns", "--to", f"{at[1]}ns"),
                      ("--from", f"{at[1]}ns"))
            reports = [report(cut(*options)) for options in ranges]
            for part in reports:
                if part["totals"]["threads"]:
                    check_laws(part)
            assert_add_up(reported, reports)


@test("a part of a part is the part, event by event")
def twice():
    record(program("multi_mutex"))
    third = length_ns(dump("t.pinch")) // 3
    cut("--from", f"{third}ns", out="rest.pinch")
    once = dump(cut("--from", f"{2 * third}ns"))
    again = dump(cut("--from", f"{third}ns", trace="rest.pinch", out="again.pinch"))
    assert once == again, next((a, b) for a, b in zip(once, again) if a != b)


@test("of a part the names are those of the whole: Python's functions, too")
def python():
    record(sys.executable, script("python_lock.py"))
    half = length_ns(dump("t.pinch")) * 2 // 3
    part = report(cut("--from", f"{half}ns"))
    names = {f["function"] for w in part["waits"] for f in w["stack"]}
    assert "hold" in names, names


@test("code that a JIT compiler made has its names in a part, whatever number its address space has")
def jit():
    node = find("node")
    if not node:
        raise Skip("node is not installed")
    with open("work.js", "w", encoding="utf-8") as file:
        file.write("function workHard(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7;"
                   " return s; }\nfor (let i = 0; i < 300; i++) workHard(1e6);\n")
    # The processes before shift the numbers.
    record("/bin/sh", "-c", f"/bin/true; /bin/true; {node} --perf-basic-prof work.js")
    half = length_ns(dump("t.pinch")) // 2
    part = report(cut("--from", f"{half}ns"))
    names = {f["name"] or "" for p in part["paths"] for f in p["functions"]}
    assert any("workHard" in name for name in names), names


FEEDER = """
import ctypes, time
ctypes.CDLL(None).prctl(15, b"feeder")
with open("fifo", "wb", buffering=0) as file:
    for _ in range(100):
        file.write(b"x")
        time.sleep(0.002)
"""


def record_fed():
    """
    A program that waits for one that is not traced, in a trace of the whole machine. A busy machine may lose records:
    then once more.
    """
    os.mkfifo("fifo")
    for _ in range(5):
        feeder = start(sys.executable, "-c", FEEDER)
        record("cat", "fifo", options=("--system",))
        stop(feeder)
        if not any(e["event"] in ("collect.GAP", "system.LOST") for e in dump("t.pinch")):
            return feeder.pid
    raise AssertionError("records were lost five times")


def outsiders_of(events):
    return {e["thread"]: (e["fields"]["tid"], e["fields"]["name"]) for e in events
            if e["event"] in ("thread.FOUND", "thread.BORN") and e["fields"]["is_outside"]}


def labels_of(trace):
    result = pinch("graph", "--all", "--min", 0, "--json", "-", trace)
    assert result.status == 0, result.text
    return {node["label"] for node in json.loads(result.out)["nodes"]}


def not_traced(labels, tids):
    return {label for label in labels if any(label.endswith(f" (tid {tid}, not traced)") for tid in tids)}


@test("in parts of a trace of the whole machine who is not traced is who it was, kernel threads, too")
def outsiders():
    feeder = record_fed()
    events = dump("t.pinch")
    times = [e["time_ns"] for e in events if e["event"] == "sched.SWITCH" and 0 < e["thread"] < OUTSIDE]
    half_ns = times[len(times) // 2] - events[0]["time_ns"]
    whole = outsiders_of(events)
    assert (2, "kthreadd") in whole.values(), sorted(whole.values())[:9]
    assert feeder in {tid for tid, _ in whole.values()}, (feeder, sorted(whole.values()))
    parts = [cut("--to", f"{half_ns}ns", out="a.pinch"), cut("--from", f"{half_ns}ns", out="b.pinch")]
    # Those that never change their names.
    lasting = {e["fields"]["tid"] for e in events if e["event"] == "thread.OTHER" and e["fields"]["is_kernel"]}
    lasting.add(feeder)
    others = not_traced(labels_of("t.pinch"), lasting)
    for part in parts:
        reported = outsiders_of(dump(part))
        assert (2, "kthreadd") in reported.values(), reported
        for number, identity in reported.items():
            assert number >= OUTSIDE and whole[number][0] == identity[0], (number, identity)
        labels = not_traced(labels_of(part), lasting)
        assert f"feeder (tid {feeder}, not traced)" in labels and labels <= others, (labels, others)
    assert_add_up(report("t.pinch"), [report(part) for part in parts])
    result = pinch("merge", "-o", "merged.pinch", *parts)
    assert result.status == 0 and labels_of("merged.pinch") == labels_of("t.pinch"), result.text


@test("of chosen threads of a trace of the whole machine, those that are not traced are left out")
def no_outsiders():
    feeder = record_fed()
    events = dump("t.pinch")
    number, = {e["thread"] for e in events if 0 < e["thread"] < OUTSIDE}
    part = dump(cut("--thread", number))
    for e in part:
        numbers = (e["thread"], e["fields"].get("next", 0), e["fields"].get("waker", 0))
        assert max(numbers) < OUTSIDE, e
    wakes = [[(e["time_ns"], e["fields"]["tid"]) for e in reported
              if e["event"] == "sched.WAKE" and 0 < e["thread"] < OUTSIDE] for reported in (events, part)]
    assert wakes[0] == wakes[1] and feeder in {tid for _, tid in wakes[1]}
    reported = report("part.pinch")
    check_laws(reported)
    for key in ("threads", "waits", "parallelism"):
        assert reported[key] == report("t.pinch")[key], key


@test("with all threads chosen the report is the same, but for what is not known of a part")
def all_threads():
    record(program("mutex_storm"), 4, 2000)
    reported = report("t.pinch")
    numbers = sorted({e["thread"] for e in dump("t.pinch")
                      if e["event"] in ("thread.BORN", "thread.FOUND")})
    part = report(cut(*(word for number in numbers for word in ("--thread", number))))
    for each in (reported, part):		# a part tells of each stack once
        del each["losses"]["stacks_resent"]
    for key, value in reported.items():
        if key not in ("stacks", "cost", "notes"):
            assert part[key] == value, (key, part[key], value)


@test("of one thread all is there, and the others are threads that are not traced, with their names")
def one_thread():
    record(program("fifo_pair"))
    reported, events = report("t.pinch"), dump("t.pinch")
    for tid, name in {(t["host_tid"], t["name"]) for t in reported["threads"]}:
        numbers = {e["thread"] for e in events if e["fields"].get("tid") == tid
                   and e["event"] in ("thread.BORN", "thread.FOUND", "thread.EXEC")}
        assert len(numbers) == 1, numbers
        number = numbers.pop()
        by_tid, by_number = dump(cut("--thread", tid)), dump(cut("--thread", number))
        assert by_tid == by_number
        assert {e["thread"] for e in by_number} <= {0, number}
        for e in by_number:
            assert e["event"] != "sched.SWITCH" or e["fields"]["next"] in (0, number), e
            assert e["event"] != "sched.WAKE" or e["fields"]["waker"] in (0, number), e
        others = {e["fields"]["tid"]: e["fields"]["name"] for e in by_number
                  if e["event"] == "thread.OTHER"}
        wakers = {e["fields"]["tid"] for e in by_number if e["event"] == "sched.WAKE"
                  and not e["fields"]["waker"] and e["fields"]["tid"]}
        assert wakers <= others.keys(), (wakers, others)
        part = report("part.pinch")
        mine = [t for t in part["threads"] if t["host_tid"] == tid]
        theirs = [t for t in reported["threads"] if t["host_tid"] == tid]
        assert len(part["threads"]) == len(mine) == 1, part["threads"]
        for field in ("running_ns", "cpu_wait_ns", "blocked_ns"):
            assert mine[0][field] == sum(t[field] for t in theirs), (name, field)


@test("of a trace that was cut off, or that is damaged, what is there is cut, and what is said is true")
def damaged():
    record(program("mutex_storm"), 4, 200000)   # of many chunks
    data = read("t.pinch", "rb")
    with open("bad.pinch", "wb") as file:
        file.write(data[:len(data) // 2])
    result = pinch("cut", "-o", "part.pinch", "bad.pinch")
    assert result.status == 1 and "bad.pinch is damaged" in result.text, result.text
    assert len(dump("part.pinch")) > 100


@test("what is no trace, and what is asked wrongly, is refused with a sentence, and writes nothing")
def refused():
    record(program("multi_mutex"))
    before = read("t.pinch", "rb")
    with open("empty", "wb"):
        pass
    os.link("t.pinch", "same.pinch")
    for arguments, said, status in (
            (["-o", "out", "empty"], "empty is not a pinch trace", 1),
            (["-o", "out", "nothing"], "cannot read nothing: No such file", 1),
            (["-o", "same.pinch", "t.pinch"], "same.pinch is the input", 1),
            (["-o", "out", "--from", "1h", "t.pinch"], "ends earlier", 1),
            (["-o", "out", "--thread", "nobody", "t.pinch"], "or name 'nobody'", 1),
            (["-o", "out", "--from", "2s", "--to", "1s", "t.pinch"], "--to must be later", 2),
            (["-o", "out", "--from", "3", "t.pinch"], "--from takes a time", 2),
            (["t.pinch"], "no -o OUT", 2), (["-o", "out"], "no trace, or no -o OUT", 2),
            (["-o", "out", "t.pinch", "t.pinch"], "no trace, or no -o OUT", 2)):
        result = pinch("cut", *arguments)
        assert result.status == status and said in result.text, (arguments, result.text)
        assert not os.path.exists("out"), arguments
    assert read("t.pinch", "rb") == before
    full = pinch("cut", "-o", "/dev/full", "t.pinch")
    assert full.status == 1 and "cannot write the trace /dev/full" in full.text, full.text


if __name__ == "__main__":
    sys.exit(main(jobs=2))
