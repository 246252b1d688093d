#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The server of pinch view: who may ask it, and that what it answers is what the trace says."""
import os
import re

import lib
from lib import main, pinch, program, test
from lib_view import Viewer, sums_of_tiles


def record():
    result = pinch("record", "-q", "-o", "t.pinch", "--", program("lock_convoy"))
    assert result.status == 0, result.text


def viewer():
    record()
    return Viewer("t.pinch")


# --- Tests ----------------------------------------------------------------------------------------

@test("only who has come by the link may ask, and a link works once")
def guarded():
    reader = viewer()
    query = reader.link[reader.link.index("/?"):]
    assert reader.ask("/trace")[0] == 403
    assert reader.ask(query)[0] == 403, "the link works twice"
    assert reader.ask("/?token=" + 32 * "0")[0] == 403
    assert reader.ask("/trace", Cookie=reader.cookie[:-1] + ("0" if reader.cookie[-1] != "0" else "1"))[0] == 403
    other = reader.next_link()
    assert other != reader.link and reader.ask(other[other.index("/?"):])[0] == 303
    reader.end()


@test("it answers no other page, no other name, and no request that would change something")
def other_pages():
    reader = viewer()
    own = f"127.0.0.1:{reader.port}"
    assert reader.get("/trace", Host=own)[0] == 200
    assert reader.get("/trace", Host=f"localhost:{reader.port}", Origin=f"http://localhost:{reader.port}")[0] == 200
    for headers in ({"Host": f"evil.example:{reader.port}"}, {"Host": "127.0.0.1"}, {"Origin": "http://evil.example"}, {"Origin": "null"},
                    {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"}):
        status, _, body = reader.get("/trace", **headers)
        assert status == 403 and body.endswith(b"\n"), (headers, status, body)
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert reader.ask("/trace", method=method, Cookie=reader.cookie)[0] in (403, 405), method
    status, headers, body = reader.get("/")
    assert status == 200 and headers["X-Frame-Options"] == "DENY" and b"connect-src 'self'" in body
    reader.end()


@test("wrong requests get an error of one line, and the server goes on")
def wrong_requests():
    reader = viewer()
    lanes = len(reader.trace["lanes"])
    for path, expected in (("/nowhere", 404), ("/../etc/passwd", 404), ("/tiles", 400), ("/tiles?shift=20&index=0", 400),
                           ("/tiles?shift=7&index=0&lanes=0", 400), ("/tiles?shift=44&index=0&lanes=0", 400),
                           ("/tiles?shift=20&index=-1&lanes=0", 400), ("/tiles?shift=20&index=9999999999999999999&lanes=0", 400),
                           (f"/tiles?shift=20&index=0&lanes={lanes}", 400), ("/tiles?shift=20&index=0&lanes=0-", 400),
                           ("/tiles?shift=20&index=0&lanes=1-0", 400), ("/tiles?shift=20&index=0&lanes=" + "0," * 5000 + "0", 400),
                           ("/slice?lane=x&time=0", 400), (f"/slice?lane={lanes}&time=0", 400),
                           ("/report?from=5&to=5", 400), ("/tiles?" + "x" * 10000, 400)):
        status, _, body = reader.get(path)
        assert status == expected and body.count(b"\n") == 1 and body.endswith(b"\n"), (path, status, body)
    assert reader.json("/trace") == reader.trace
    reader.end()


@test("the tiles of each width add up to what the lanes spent, CPUs included, and lanes to what their threads did")
def tiles():
    reader = viewer()
    lanes = reader.trace["lanes"]
    assert any(lane["kind"] == "name" and lane["threads"] > 2 for lane in lanes), lanes
    assert sum(lane["kind"] == "cpu" for lane in lanes) == os.cpu_count()
    cpus = None
    for shift in (16, 18, 20, 23, 30, 43):
        of_lanes = sums_of_tiles(reader, shift)
        for lane, sums in zip(lanes, of_lanes):
            if lane["kind"] != "cpu":
                expected = {share: ns for share, ns in enumerate(lane["ns"]) if ns}
                assert sums == expected, (shift, lane, sums)
        of_cpus = [sums for lane, sums in zip(lanes, of_lanes) if lane["kind"] == "cpu"]
        assert all(of_cpus) and cpus in (None, of_cpus), (shift, of_cpus, cpus)
        cpus = of_cpus
    for lane in lanes:
        below = [other for other in lanes if other.get("parent") == lane["id"]]
        assert not below or [sum(ns) for ns in zip(*(other["ns"] for other in below))] == lane["ns"], lane
    reader.end()


def a_wait_for_the_lock(reader):
    """A lane, and a state of its thread."""
    lock = reader.trace["shares"].index("lock")
    lane = max((lane for lane in reader.trace["lanes"] if lane["kind"] == "thread"), key=lambda lane: lane["ns"][lock])
    middle = (lane["begin_ns"] + lane["end_ns"]) // 2
    return lane, next(state for state in (reader.json(f"/slice?lane={lane['id']}&time={middle + i * 100_000}") for i in range(1000))
                      if state["share"] == "lock")


@test("a wait tells what it is for, where, who ended it, and its critical path, which adds up to it")
def waits():
    reader = viewer()
    lane, state = a_wait_for_the_lock(reader)
    assert state["begin_ns"] < state["end_ns"] and state["thread"] == lane["thread"], state
    assert "journal_lock" in state["what"], state
    assert "append_journal" in [frame["function"] for frame in state["stack"]], state
    assert state["waker"]["who"].startswith("logger-"), state
    assert sum(part["ns"] for part in state["path"]["sums"]) == state["end_ns"] - state["begin_ns"], state
    reader.end()


@test("all waits for the same lock are counted, by length, and the longest ones named")
def alike():
    reader = viewer()
    trace = reader.trace
    lane, state = a_wait_for_the_lock(reader)
    found = reader.json(f"/alike?lane={lane['id']}&time={state['begin_ns']}&from={trace['begin_ns']}&to={trace['whole_ns']}")
    assert not found["is_cut"] and "journal_lock" in found["what"], found
    lock = trace["shares"].index("lock")
    whole = sum(lane["ns"][lock] for lane in trace["lanes"] if lane["kind"] == "process")
    assert 0.9 * whole <= found["ns"] <= whole, (found["ns"], whole)
    assert sum(step["count"] for step in found["lengths"]) == found["count"] > 1000
    assert sum(step["ns"] for step in found["lengths"]) == found["ns"]
    lengths = [wait["end_ns"] - wait["begin_ns"] for wait in found["longest"]]
    assert lengths == sorted(lengths, reverse=True) and lengths[0] <= found["lengths"][-1]["up_to_ns"], found
    assert all(wait["ended_by"].startswith("logger-") for wait in found["longest"]), found["longest"]
    reader.end()


@test("the list of events is what pinch dump prints, from any row, with any filter")
def events():
    reader = viewer()
    lines = pinch("dump", "t.pinch").out.decode().splitlines()
    lib.wait_until(lambda: reader.json("/events?count=0")["is_counted"], "all rows are counted")
    assert reader.json("/events?count=0")["rows"] == len(lines)
    for row in (0, 1, len(lines) // 2, len(lines) - 3):
        for event, line in zip(reader.json(f"/events?row={row}&count=5")["events"], lines[row:]):
            assert line.endswith(event["text"]) and event["event"] in line, (event, line)
    chosen = pinch("dump", "--event", "WAKE", "--cpu", "0", "t.pinch").out.decode().splitlines()
    lib.wait_until(lambda: reader.json("/events?event=WAKE&cpu=0")["is_counted"], "chosen rows are counted")
    assert reader.json("/events?event=WAKE&cpu=0&count=0")["rows"] == len(chosen)
    found = reader.json(f"/events?event=WAKE&cpu=0&row={len(chosen) - 1}")["events"]
    assert len(found) == 1 and chosen[-1].endswith(found[0]["text"]), (found, chosen[-1])
    assert reader.json("/events?thread=nobody") == {"rows": 0, "is_counted": True, "first": 0, "events": []}
    row = reader.json("/events/at?time=50000000")["row"]
    times = [event["time_ns"] for event in reader.json(f"/events?row={row - 1}&count=2")["events"]]
    assert times[0] < 50000000 <= times[1], times
    reader.end()


@test("the report of a part is what pinch cut and pinch report make of it")
def reports():
    reader = viewer()
    status, _, page = reader.get("/report?from=20000000&to=70000000")
    assert status == 200, page
    assert pinch("cut", "-o", "part.pinch", "--from", "20000000ns", "--to", "70000000ns", "t.pinch").status == 0
    expected = pinch("report", "-q", "--html", "-", "part.pinch")
    assert expected.status == 0 and len(expected.out) > 100_000

    def parts(html):
        return re.findall(rb'data-part="(\w+)" data-bytes="(\d+)"', html)
    assert parts(page) == parts(expected.out), (parts(page), parts(expected.out))
    assert reader.get("/report?from=99999999999&to=100000000000")[0] in (200, 500)
    reader.end()


@test("a part that is saved is a trace of that time and these threads, and what-ifs are of it")
def saved():
    reader = viewer()
    lane = next(lane for lane in reader.trace["lanes"] if lane["name"] == "logger-1")
    begin = lane["begin_ns"] + 100_000_000
    end = begin + 200_000_000
    status, headers, body = reader.get(f"/save?from={begin}&to={end}&thread={lane['thread']}")
    assert status == 200 and "attachment" in headers["Content-Disposition"] and int(headers["Content-Length"]) == len(body)
    with open("saved.pinch", "wb") as f:
        f.write(body)
    assert pinch("cut", "-o", "cut.pinch", "--from", f"{begin}ns", "--to", f"{end}ns", "--thread", lane["thread"], "t.pinch").status == 0
    assert pinch("dump", "saved.pinch").out == pinch("dump", "cut.pinch").out
    found = reader.json(f"/whatif?lock=journal_lock&scale=0&from={begin}&to={end}")
    assert found["name"] == "journal_lock" and found["scale"] == 0 and 0.9 * (end - begin) < found["recorded_ns"] <= end - begin, found
    assert reader.get("/whatif?lock=no_such_lock")[0] == 500
    assert reader.get("/save?thread=x")[0] == 400
    reader.end()


@test("what is no trace is refused before a link is printed")
def no_trace():
    with open("x", "w") as f:
        f.write("nothing")
    for path in ("x", "missing"):
        result = pinch("view", path)
        assert result.status == 1 and path in result.text and "http" not in result.text, result.text
    for arguments in ((), ("a", "b"), ("--port", "70000", "x"), ("--port", "x", "x")):
        assert pinch("view", *arguments).status == 2, arguments


main()
