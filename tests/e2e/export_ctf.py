#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Traces in the Common Trace Format, read back by babeltrace2: the same events at the same times as in the table of pinch export, and states
that add up to what the report says, to the nanosecond.
"""
import csv
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict

from lib import LIMIT_S, Skip, main, pinch, program, test
from lib_export import BLOCKED, RUNNABLE, RUNNING, dump, export, kind_of, record, report
from lib_hosts import as_host, merge, record_at_once

EVENT = re.compile(r"\[(\d+)\] \(\S+\) (\w+): \{ (.*) \}")
FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|-?\d+)')


def value_of(text):
    if not text.startswith('"'):
        return int(text)
    text = re.sub(r"\\(.)", r"\1", text[1:-1])
    return "" if text == "-" else text


def ctf(*options, trace="t.pinch"):
    """Time, kind and fields of each event, in the order of the trace."""
    if not shutil.which("babeltrace2"):
        raise Skip("there is no babeltrace2: install it")
    shutil.rmtree("out.ctf", ignore_errors=True)
    result = pinch("export", "--format", "ctf", "-o", "out.ctf", *options, trace)
    assert result.status == 0, result.text
    done = subprocess.run(["babeltrace2", "--clock-cycles", "out.ctf"], capture_output=True, timeout=LIMIT_S, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    events = []
    for line in done.stdout.splitlines():
        time_ns, kind, fields = EVENT.fullmatch(line).groups()
        events.append((int(time_ns), kind, {name: value_of(value) for name, value in FIELD.findall(fields)}))
    assert [time for time, *_ in events] == sorted(time for time, *_ in events)
    return events


def rows(kind, trace="t.pinch"):
    return [row for row in csv.DictReader(export("csv", trace=trace).decode().splitlines()) if row["kind"] == kind]


def check_sums(events, threads):
    sums = defaultdict(Counter)
    for _, kind, fields in events:
        if kind == "state":
            key = fields["tid"], fields["pid"]
            sums[key][kind_of(fields["state"])] += fields["duration_ns"]
            sums[key]["cmetric"] += fields["cmetric_ns"]
    assert sums.keys() == threads.keys(), sums.keys() ^ threads.keys()
    for key, thread in threads.items():
        assert sums[key][RUNNING] == thread["running_ns"] and sums[key][RUNNABLE] == thread["cpu_wait_ns"], thread
        assert sums[key][BLOCKED] == thread["blocked_ns"] and sums[key]["cmetric"] == thread["cmetric_ns"], thread


def check_same(got, wanted):
    got, wanted = Counter(got), Counter(wanted)
    assert wanted and got == wanted, ((got - wanted).most_common(3), (wanted - got).most_common(3))


@test("states, wake-ups and samples are those of the table, at the same times, and add up to the report's")
def same():
    for name in ("multi_mutex", "tcp_slow"):
        record(program(name))
        events, first_ns = ctf(), dump()[0]["time_ns"]
        check_sums(events, {(t["host_tid"], t["host_pid"]): t for t in report()["threads"]})
        check_same(((time - first_ns, time - first_ns + f["duration_ns"], f["thread"], f["thread_name"], f["state"], f["object"],
                     f["ended_by"], f["cpu"], f["cmetric_ns"], f["stack"]) for time, kind, f in events if kind == "state"),
                   ((int(r["begin_ns"]), int(r["end_ns"]), int(r["thread"]), r["thread_name"], r["name"], r["object"], r["other"],
                     int(r["cpu"] or -1), int(r["cmetric_ns"] or 0), r["stack"]) for r in rows("state")))
        check_same(((time - first_ns, f["thread"], f["woken_thread"]) for time, kind, f in events if kind == "wake_up"),
                   ((int(r["begin_ns"]), int(r["thread"]), int(r["object"])) for r in rows("wake-up")))
        check_same(((time - first_ns, f["thread"], f["stack"]) for time, kind, f in events if kind == "sample"),
                   ((int(r["begin_ns"]), int(r["thread"]), r["stack"]) for r in rows("sample")))


@test("events of the program's own and activities are those of the trace, with their fields")
def own():
    record(program("own_activities"), "20")
    events, first_ns = ctf(), dump()[0]["time_ns"]
    check_same(((time - first_ns, f["name"], f["thread"], f["fields"]) for time, kind, f in events if kind == "event"),
               ((int(r["begin_ns"]), r["name"], int(r["thread"]), r["object"]) for r in rows("event")))
    check_same(((f["begin_ns"] - first_ns, f["end_ns"] - first_ns, f["name"], f["thread"], f["fields"])
                for _, kind, f in events if kind == "activity"),
               ((int(r["begin_ns"]), int(r["end_ns"]), r["name"], int(r["thread"]), r["object"]) for r in rows("activity")))


@test("counters say how many threads run; the clock of the trace is CLOCK_MONOTONIC with its offset to the time of day")
def counters():
    record(program("multi_mutex"))
    events = ctf()
    changes = Counter()
    for time, kind, f in events:
        if kind == "state" and kind_of(f["state"]) == RUNNING:
            changes[time] += 1
            changes[time + f["duration_ns"]] -= 1
    at, running = {}, 0
    for time in sorted(changes):
        running += changes[time]
        at[time] = running
    said = [(time, f["running"]) for time, kind, f in events if kind == "counters" and time in at]
    assert said and all(at[time] == value for time, value in said)
    with open(os.path.join("out.ctf", "trace", "metadata"), "rb") as file:
        metadata = file.read().decode(errors="replace")
    offset_s, offset_ns = (int(re.search(rf"{name} = (\d+);", metadata).group(1)) for name in ("offset_s", "offset"))
    first = dump()[0]
    assert offset_s * 10**9 + offset_ns == first["fields"]["realtime_ns"] - first["time_ns"], metadata


@test("processes of several hosts have the names of their hosts, and the sums of the report")
def hosts():
    record_at_once("a", "b")
    as_host("a", 0, 0, 0)
    as_host("b", 1, 1e9, 200, peer=(0, 0, 0))
    merge("a", "b")
    events = ctf(trace="all.pinch")
    threads = {(t["host_tid"], t["host_pid"]): t for t in report("all.pinch")["threads"]}
    check_sums(events, threads)
    named = {(f["tid"], f["pid"]): f["process"].split(": ")[0] for _, kind, f in events if kind == "state"}
    assert named == {key: t["host"] for key, t in threads.items()}, named


@test("a directory that exists is refused and stays as it is, and so is standard output")
def refused():
    record(program("multi_mutex"))
    os.mkdir("there")
    for options, words in ((("-o", "there"), "there exists"), ((), "directory"), (("-o", "none/x"), "none/x")):
        result = pinch("export", "--format", "ctf", *options, "t.pinch")
        assert result.status == 1 and words in result.text and result.text.count("\n") <= 1, result.text
    assert not os.listdir("there")


if __name__ == "__main__":
    sys.exit(main(jobs=2))
