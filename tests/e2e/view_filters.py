#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The graph, sums and waits of what filters of objects, CPUs and spans choose: beside a pass over all that there is."""
import itertools
import json

from lib import main, pinch, program, test
from lib_view import Viewer, sums_of_tiles

SHIFTS, ROWS_MAX = (16, 19, 22, 26), 1000
STATES_MAX = 300


def viewer(*arguments):
    result = pinch("record", "-q", "-o", "t.pinch", *arguments)
    assert result.status == 0, result.text
    return Viewer("t.pinch")


def rows_of(reader, path):
    rows, separator = [], "&" if "?" in path else "?"
    while True:
        page = reader.json(f"{path}{separator}row={len(rows)}&count={ROWS_MAX}")
        rows += page["events"]
        if page["is_counted"] and len(rows) == page["rows"]:
            assert not page.get("left_out"), page["left_out"]
            return rows


def lengths_of(reader, query):
    while True:
        found = reader.json(f"/waits/lengths?{query}")
        if found["is_counted"]:
            return found


def threads(reader):
    return [(number, lane) for number, lane in enumerate(reader.trace["lanes"]) if lane["kind"] == "thread"]


def stretch(reader, more="", begin_ns=None, end_ns=None):
    """ns by share, of each lane."""
    trace = reader.trace
    begin_ns, end_ns = trace["begin_ns"] if begin_ns is None else begin_ns, trace["whole_ns"] if end_ns is None else end_ns
    found = reader.json(f"/stretch?from={begin_ns}&to={end_ns}&lanes=0-{len(trace['lanes']) - 1}{more}")
    return [{share: ns for share, ns in enumerate(lane["ns"]) if ns} for lane in found["lanes"]]


def tiles_of_all(reader, shift):
    kept = reader.__dict__.setdefault("kept", {})
    if shift not in kept:
        kept[shift] = sums_of_tiles(reader, shift)
    return kept[shift]


def check_tiles(reader, more):
    """At each width, tiles add up to the sums, and have no more than those of everything. Returns the sums."""
    sums = stretch(reader, more)
    for shift in SHIFTS:
        tiles, everything = sums_of_tiles(reader, shift, more), tiles_of_all(reader, shift)
        for number, lane in enumerate(reader.trace["lanes"]):
            if lane["kind"] == "cpu":
                continue
            assert tiles[number] == sums[number], (more, shift, lane["name"], tiles[number], sums[number])
            for share, ns in tiles[number].items():
                assert ns <= everything[number][share], (more, shift, lane["name"], share)
    return sums


def by_thread(rows):
    sums = {}
    for row in rows:
        sums[row["thread"]] = sums.get(row["thread"], 0) + row["end_ns"] - row["time_ns"]
    return sums


@test("what waits are for: tiles, sums and lengths of waits are those of all waits that are called so")
def objects():
    reader = viewer("--", program("lock_convoy"))
    everything = rows_of(reader, "/waits")
    words = {word for row in everything if row["object"] for word in row["object"].split() if len(word) > 3}
    assert any("lock" in word for word in words), words
    for choice in [[word] for word in sorted(words)[:5]] + [["lock"], ["LOCK"], ["lock", "cpu"], ["there is no such lock"]]:
        more = "".join(f"&object={word.replace('+', '%2B').replace('&', '%26').replace('#', '%23').replace(' ', '+')}" for word in choice)
        rows = [row for row in everything if row["object"] and any(word.lower() in row["object"].lower() for word in choice)]
        assert rows_of(reader, "/waits?" + more[1:]) == [{**row, "row": i} for i, row in enumerate(rows)], choice
        found, sums, told = lengths_of(reader, more[1:]), check_tiles(reader, more), by_thread(rows)
        assert (found["count"], found["ns"]) == (len(rows), sum(told.values())), (choice, found["ns"], told)
        for number, lane in threads(reader):
            assert sum(sums[number].values()) == told.get(lane["thread"], 0), (choice, lane["name"], sums[number], told)
    reader.end()


@test("CPUs: each moment of running is of one of them, and waits are of the one where the thread ran next")
def cpus():
    reader = viewer("--", program("lock_convoy"))
    count = sum(lane["kind"] == "cpu" for lane in reader.trace["lanes"])
    running, waits, everything = {}, [], stretch(reader)
    for cpu in range(count):
        for number, sums in enumerate(check_tiles(reader, f"&cpu={cpu}")):
            running[number] = running.get(number, 0) + sums.get(1, 0) + sums.get(2, 0)
        waits.append(rows_of(reader, f"/waits?cpu={cpu}"))
    for number, lane in threads(reader):
        ran = everything[number].get(1, 0) + everything[number].get(2, 0)
        assert running[number] <= ran, (lane["name"], running[number], ran)
        states = list(itertools.islice(states_from(reader, lane["thread"], lane["begin_ns"]), STATES_MAX))
        if len(states) < STATES_MAX:
            unknown = sum(state["end_ns"] - state["begin_ns"] for state in states if state["share"] in ("running", "spinning") and "cpu" not in state)
            assert running[number] + unknown == ran, (lane["name"], running[number], unknown, ran)
    for cpu, rows in enumerate(waits):
        for row in rows[:50]:
            at = next(state for state in states_from(reader, row["thread"], row["time_ns"]) if state["share"] in ("running", "spinning"))
            assert at["cpu"] == cpu, (cpu, row, at)
    both = "".join(f"&cpu={cpu}" for cpu in range(count))
    assert sum(map(len, waits)) == len(rows_of(reader, "/waits?" + both[1:]))
    check_tiles(reader, both)
    reader.end()


def states_from(reader, thread, at_ns):
    """One after the other, up to the end of its life."""
    while True:
        status, _, body = reader.get(f"/slice?thread={thread}&time={at_ns}")
        if status == 404:
            return
        state = json.loads(body)
        yield state
        at_ns = state["end_ns"]


@test("spans: what threads did in executions, of one, of a name, and of a length")
def spans():
    reader = viewer("--span", "calls=recvfrom(fd=socket)..sendto", "--", program("span_server"))
    executions, events = rows_of(reader, "/spans"), rows_of(reader, "/events")
    lanes = {lane["thread"]: number for number, lane in threads(reader)}
    lengths = sorted(one["end_ns"] - one["time_ns"] for one in executions)
    middle = lengths[len(lengths) // 2]
    one = executions[len(executions) // 2]
    for more, chosen in (("&span=CALLS", executions), ("&span=calls&span=other", executions), ("&span=other", []),
                         (f"&span-least={middle}", [e for e in executions if e["end_ns"] - e["time_ns"] >= middle]),
                         (f"&span=calls&span-most={middle}", [e for e in executions if e["end_ns"] - e["time_ns"] <= middle]),
                         (f"&execution={one['thread']}@{one['time_ns']}", [one])):
        sums, told = check_tiles(reader, more), {}
        for thread, begin_ns, end_ns in merged(chosen):
            for share, ns in stretch(reader, "", begin_ns, end_ns)[lanes[thread]].items():
                told[thread, share] = told.get((thread, share), 0) + ns
        assert {(thread, share): ns for thread, number in lanes.items() for share, ns in sums[number].items()} == told, (more, told)
        waits = [row for row in rows_of(reader, "/waits") if any(row["thread"] == thread and row["time_ns"] < end_ns and row["end_ns"] > begin_ns
                                                                 for thread, begin_ns, end_ns in merged(chosen))]
        assert [(row["thread"], row["time_ns"]) for row in rows_of(reader, "/waits?" + more[1:])] == [(row["thread"], row["time_ns"]) for row in waits], more
        check_events(rows_of(reader, "/events?" + more[1:]), events, merged(chosen))
    reader.end()


def check_events(found, events, stretches):
    """Those that happened to the threads of executions while these lasted."""
    told = [(row["thread"], row["time_ns"], row["event"]) for row in events
            if any(row["thread"] == thread and begin_ns <= row["time_ns"] < end_ns for thread, begin_ns, end_ns in stretches)]
    assert [(row["thread"], row["time_ns"], row["event"]) for row in found] == told, (len(found), len(told))


def merged(executions):
    """(thread, begin, end), none of which overlap in a thread."""
    parts = sorted({(thread, one["time_ns"], one["end_ns"]) for one in executions for thread in (one["thread"], one["end_thread"])})
    found = []
    for thread, begin_ns, end_ns in parts:
        if found and found[-1][0] == thread and found[-1][2] >= begin_ns:
            found[-1] = thread, found[-1][1], max(found[-1][2], end_ns)
        else:
            found.append((thread, begin_ns, end_ns))
    return found


@test("filters together choose what all of them choose, and wrong ones get an error of one line")
def together():
    reader = viewer("--", program("lock_convoy"))
    alone, both = check_tiles(reader, "&cpu=0"), check_tiles(reader, "&cpu=0&object=lock")
    for number, sums in enumerate(both):
        assert all(ns <= alone[number].get(share, 0) for share, ns in sums.items()), (sums, alone[number])
        assert not sums.get(1), sums
    for more in ("&cpu=one", "&cpu=", "&cpu=-1", "&execution=3", "&execution=0@5", "&execution=3@x", "&execution=99999999999@5", 9 * "&object=a", 9 * "&span=a", 65 * "&cpu=1"):
        for path in ("/tiles?shift=20&index=0&lanes=0", "/stretch?from=0&to=1&lanes=0", "/waits?count=1", "/waits/lengths?from=0"):
            status, _, body = reader.get(path + more)
            assert status == 400 and body.count(b"\n") == 1, (path, more, status, body)
    reader.end()


main()
