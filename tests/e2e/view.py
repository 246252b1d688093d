#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The server of pinch view: who may ask it, and that what it answers is what the trace says."""
import json
import os
import re

import lib
from lib import main, pinch, program, test
from lib_view import Viewer, sums_of_tiles

USUAL_PORT = 7462


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
    for form, name in (("perfetto", "part.pftrace"), ("speedscope", "part.speedscope.json"), ("folded", "part.folded.txt")):
        status, headers, body = reader.get(f"/save?format={form}&from={begin}&to={end}&thread={lane['thread']}")
        exported = pinch("export", "--format", form, "cut.pinch")
        assert status == 200 and f'"{name}"' in headers["Content-Disposition"] and exported.out == body != b"", form
    assert reader.get("/save?thread=x")[0] == 400 and reader.get("/save?format=svg")[0] == 400
    reader.end()


@test("how lanes spent a stretch of time adds up to what they spent in all, stretch by stretch")
def stretches():
    reader = viewer()
    trace = reader.trace
    count = len(trace["lanes"])
    edges = sorted({trace["begin_ns"], trace["whole_ns"], *(trace["whole_ns"] * i // 7 for i in range(1, 7))})
    sums = [[0] * len(lane["ns"]) for lane in trace["lanes"]]
    for begin, end in zip(edges, edges[1:]):
        found = reader.json(f"/stretch?from={begin}&to={end}&lanes=0-{count - 1}")
        assert (found["from_ns"], found["to_ns"]) == (begin, end) and [lane["lane"] for lane in found["lanes"]] == list(range(count)), found
        sums = [[a + b for a, b in zip(total, lane["ns"])] for total, lane in zip(sums, found["lanes"])]
    assert sums == [lane["ns"] for lane in trace["lanes"]]
    assert reader.get("/stretch?from=5&to=4&lanes=0")[0] == 400
    reader.end()


def all_rows(reader, path, query=""):
    """Of a list, once all of them are counted."""
    lib.wait_until(lambda: reader.json(f"{path}?count=0{query}")["is_counted"], "all rows are counted")
    count = reader.json(f"{path}?count=0{query}")["rows"]
    rows = [row for first in range(0, count, 1000) for row in reader.json(f"{path}?row={first}&count=1000{query}")["events"]]
    assert [row["row"] for row in rows] == list(range(count)), (path, count)
    assert [row["time_ns"] for row in rows] == sorted(row["time_ns"] for row in rows), path
    return rows


def check_lengths(reader, path, rows):
    """The same rows, the longest first, and where those are that begin at a time."""
    def length(row):
        return row["end_ns"] - row["time_ns"]
    ordered = sorted(rows, key=lambda row: (-length(row), row["row"]))
    got = [row for first in range(0, len(rows), 1000) for row in reader.json(f"{path}?row={first}&count=1000&longest-first=1")["events"]]
    assert [(length(row), row["time_ns"], row["thread"]) for row in got] == [(length(row), row["time_ns"], row["thread"]) for row in ordered], path
    middle = rows[len(rows) // 2]["time_ns"]
    at = reader.json(f"{path}/at?time={middle}&longest-first=1")["row"]
    assert got[at]["time_ns"] == middle, (path, at, middle)


def check_boxes(reader, rows):
    """How long waits are, by thread and in all, equals the rows."""
    got = reader.json("/waits/lengths")
    assert got["is_counted"] and got["count"] == len(rows) and got["ns"] == sum(row["end_ns"] - row["time_ns"] for row in rows), got
    assert sum(one["count"] for one in got["lengths"]) == len(rows) and sum(one["ns"] for one in got["lengths"]) == got["ns"]
    boxes = {}
    for row in rows:
        boxes.setdefault(row["thread"], []).append(row["end_ns"] - row["time_ns"])
    for box in got["boxes"]:
        own = sorted(boxes.pop(box["thread"]))
        expected = [own[-(-len(own) * percent // 100) - 1] for percent in (25, 50, 75)]
        assert [box[name] for name in ("p25_ns", "p50_ns", "p75_ns")] == expected and (box["min_ns"], box["max_ns"]) == (own[0], own[-1]), box
        assert (box["count"], box["ns"]) == (len(own), sum(own)), box
    assert not boxes, boxes
    assert reader.get("/waits/lengths?cause=x")[0] == 400


def check_users(reader, rows):
    """Those who had the CPU for which a thread waited had it no longer than the wait, and never were that thread itself."""
    known = 0
    for row in sorted(rows, key=lambda row: row["time_ns"] - row["end_ns"])[:50]:
        slice = reader.json(f"/slice?thread={row['thread']}&time={row['time_ns']}")
        users = slice.get("users", [])
        assert all(user["thread"] != row["thread"] for user in users), slice
        assert not users or sum(user["ns"] for user in users) <= row["end_ns"] - row["time_ns"], slice
        known += bool(users) and slice["cpu"] < os.cpu_count()
    assert known >= min(len(rows), 50) // 2, (known, len(rows))


def check_row_at(reader, path, rows):
    time = rows[len(rows) // 2]["time_ns"]
    assert reader.json(f"{path}/at?time={time}")["row"] == sum(row["time_ns"] < time for row in rows), time


@test("waits as rows add up to what each thread waited, in each state, and filters choose among them")
def wait_rows():
    reader = viewer()
    trace = reader.trace
    rows = all_rows(reader, "/waits")
    sums = {}
    for row in rows:
        key = row["thread"], row["share"]
        sums[key] = sums.get(key, 0) + row["end_ns"] - row["time_ns"]
    waited = [i for i, share in enumerate(trace["shares"]) if share not in ("unknown", "running", "spinning")]
    expected = {(lane["thread"], trace["shares"][i]): lane["ns"][i] for lane in trace["lanes"] if lane["kind"] == "thread" for i in waited if lane["ns"][i]}
    assert sums == expected, (sums, expected)
    assert any("journal_lock" in row["text"] and row["ended_by"].startswith("logger-") for row in rows)
    thread = next(lane["thread"] for lane in trace["lanes"] if lane["name"] == "logger-1")
    begin, end = trace["whole_ns"] // 3, trace["whole_ns"] // 2
    for query, chosen in ((f"&thread={thread}", lambda row: row["thread"] == thread), ("&cause=lock", lambda row: row["share"] == "lock"),
                          ("&object=JOURNAL_lock", lambda row: "journal_lock" in (row["object"] or "")), ("&object=none&object=journal", lambda row: "journal" in (row["object"] or "")),
                          ("&object=there+is+none", lambda row: False),
                          ("&least=1000000", lambda row: row["end_ns"] - row["time_ns"] >= 1000000),
                          (f"&cause=lock&cause=runnable&from={begin}&to={end}", lambda row: row["share"] in ("lock", "runnable") and begin <= row["time_ns"] < end)):
        found = all_rows(reader, "/waits", query)
        assert [(row["time_ns"], row["thread"]) for row in found] == [(row["time_ns"], row["thread"]) for row in rows if chosen(row)], query
    check_row_at(reader, "/waits", rows)
    check_lengths(reader, "/waits", rows)
    check_boxes(reader, rows)
    check_users(reader, [row for row in rows if row["share"] == "runnable"])
    reader.end()


@test("spans as rows are those of pinch spans")
def span_rows():
    result = pinch("record", "-q", "-o", "spans.pinch", "--span", "calls=recvfrom(fd=socket)..sendto", "--", program("span_server"))
    assert result.status == 0, result.text
    reader = Viewer("spans.pinch")
    rows = all_rows(reader, "/spans")
    told, first = lib.parse(pinch("spans", "--json", "-", "spans.pinch").out, "spans")["executions"], reader.trace["first_ns"]
    assert len(rows) > 100 and sorted((row["name"], row["time_ns"], row["end_ns"]) for row in rows) == \
        sorted((one["span"], one["begin_ns"] - first, one["end_ns"] - first) for one in told), (rows[:2], told[:2])
    check_row_at(reader, "/spans", rows)
    check_lengths(reader, "/spans", rows)
    reader.end()


@test("activities are those that pinch dump finds, as a list and on lanes, also those of scripts; a message has a receiver")
def activities():
    result = pinch("record", "-o", "own.pinch", "--", program("own_activities"), "20")
    assert result.status == 0, result.text
    script = os.path.join(lib.ROOT, "share", "scripts", "mutex.lua")
    reader = Viewer("own.pinch", "--script", script)
    told = pinch("dump", "--json", "--activities", "--script", script, "own.pinch")
    expected = [json.loads(line) for line in told.out.decode().splitlines()]
    found = all_rows(reader, "/activities")
    first = reader.trace["first_ns"]

    def key(begin, end, name, source, thread):
        return begin, end, name, source, thread
    assert sorted(key(one["time_ns"] + first, one["end_ns"] + first, one["name"], one["source"], one["thread"]) for one in found) == \
        sorted(key(one["begin_ns"], one["end_ns"], one["activity"], one["source"], one["thread"]) for one in expected), (found[:3], expected[:3])
    assert any(one["source"] != "built-in" for one in found), "no activity of the script"
    mail = [one for one in found if one["name"] == "mail.NOTE"]
    assert mail and all(f"receiver={one['end_thread']}" in one["text"] for one in mail), mail
    assert len(all_rows(reader, "/activities", "&search=mail")) == len(mail)
    lanes = [lane["id"] for lane in reader.trace["lanes"] if lane["kind"] == "thread"]
    numbers = {lane["id"]: lane["thread"] for lane in reader.trace["lanes"]}
    drawn = reader.json(f"/drawn-activities?from={reader.trace['begin_ns']}&to={reader.trace['whole_ns']}&lanes={','.join(map(str, lanes))}")
    assert drawn["is_complete"] and not drawn["left_out"]
    assert [(begin, end, drawn["names"][name], numbers[lane], numbers[end_lane]) for lane, begin, end, name, end_lane, _, _ in drawn["activities"]] == \
        [(one["time_ns"], one["end_ns"], one["name"], one["thread"], one["end_thread"]) for one in found]
    assert sum(is_message for *_, is_message, _ in drawn["activities"]) == len(mail)
    check_row_at(reader, "/activities", found)
    check_lengths(reader, "/activities", found)
    some = [one for one in found if one["thread"] == mail[0]["thread"] or one["end_thread"] == mail[0]["thread"]]
    assert [one["time_ns"] for one in all_rows(reader, "/activities", f"&thread={mail[0]['thread']}")] == [one["time_ns"] for one in some]
    for wrong in ("/drawn-activities?from=0&to=5", "/waits?cause=x", "/activities?thread=x", "/activities/at"):
        assert reader.get(wrong)[0] == 400, wrong
    reader.end()


@test("samples say where they were, innermost first, by names")
def samples():
    result = pinch("record", "-q", "-o", "s.pinch", "--", program("mutex_storm"), "3", "60000")
    assert result.status == 0, result.text
    reader = Viewer("s.pinch")
    rows = reader.json("/events?event=sched.SAMPLE&row=0&count=500")["events"]
    places = [row["place"].split(" < ") for row in rows if row["thread"]]
    assert len(places) > 3 and any("hammer" in place[1:] for place in places), places
    assert not any("place" in row for row in reader.json("/events?event=sched.WAKE&row=0&count=50")["events"])
    reader.end()


@test("a page has the usual port as long as that is free, so that its notes are found again, and a page beside it another one")
def usual_port():
    record()
    first = Viewer("t.pinch")
    second = Viewer("t.pinch")
    assert first.port != second.port
    usual = first.port
    first.end()
    if usual <= USUAL_PORT + 9:  # or else others have all of them
        again = Viewer("t.pinch")
        assert USUAL_PORT <= again.port <= usual, (again.port, usual)
        again.end()
    second.end()


@test("what is no trace is refused before a link is printed")
def no_trace():
    with open("x", "w") as f:
        f.write("nothing")
    for path in ("x", "missing"):
        result = pinch("view", path)
        assert result.status == 1 and path in result.text and "http" not in result.text, result.text
    for arguments in ((), ("a", "b", "c"), ("--port", "70000", "x"), ("--port", "x", "x")):
        assert pinch("view", *arguments).status == 2, arguments


main()
