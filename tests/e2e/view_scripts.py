#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts that the page of pinch view sends: who may send them, what they find, and that hostile ones harm nobody."""
import json
import os
import threading

import lib
from lib import ROOT, main, pinch, program, test
from lib_view import Viewer

OFF_CPU = b"""events = { "sched.SWITCH" }
local off = {}
function on_event(event)
  local begin = off[event.next]
  if begin then activity { name = "off CPU", begin = begin, ["end"] = event.time, thread = event.next, cpu = event.cpu } end
  off[event.next] = nil
  off[event.thread] = event.time
end
"""
FILTER = b"function filter(event) return event.name == 'sched.WAKE' and event.cpu == 0 end"
START = "/scripts?name=test.lua&reader=one"


def viewer(*command):
    result = pinch("record", "-q", "-o", "t.pinch", "--", *(command or [program("lock_convoy")]))
    assert result.status == 0, result.text
    return Viewer("t.pinch")


def start(reader, text, path=START):
    status, _, body = reader.post(path, text)
    assert status == 200, (status, body)
    return json.loads(body)


def ended(reader, text, path=START):
    """What is said of a script, once it has seen the whole trace."""
    script = start(reader, text, path)["id"]
    return lib.wait_until(lambda: (lambda got: got if got["is_complete"] else None)(reader.json(f"/scripts?script={script}")), "the script has seen all events")


@test("a script comes by POST, with the cookie, from a page of this server, in at most 64 KB, and nowhere else")
def door():
    reader = viewer()
    own = f"http://127.0.0.1:{reader.port}"
    for headers in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": own, "Sec_Fetch_Site": "cross-site"}):
        assert reader.ask(START, method="POST", body=FILTER, Cookie=reader.cookie, **headers)[0] == 403, headers
    assert reader.ask(START, method="POST", body=FILTER, Origin=own)[0] == 403
    assert reader.post(START, b"-" * (64 << 10))[0] == 200
    for size in ((64 << 10) + 1, 1 << 20):
        assert reader.post(START, b"-" * size)[0] == 413, size
    assert reader.ask(START, method="POST", Cookie=reader.cookie, Origin=own)[0] in (200, 411)
    for path in ("/scripts", "/scripts?name=test.lua", "/scripts?name=../x.lua&reader=1", "/scripts?name=x.txt&reader=1", "/scripts?name=.lua&reader=1",
                 f"/scripts?name={'x' * 100}.lua&reader=1", "/scripts?name=x.lua&reader=" + "1" * 100):
        status, _, body = reader.post(path, FILTER)
        assert status == 400 and body.count(b"\n") == 1, (path, status, body)
    assert reader.post(START, b"a\0b")[0] == 400
    for path in ("/", "/trace", "/events", "/save", "/tiles", "/nowhere"):
        assert reader.post(path, FILTER)[0] == 405, path
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        assert reader.ask(START, method=method, Cookie=reader.cookie, Origin=own)[0] == 405, method
    assert reader.get("/scripts/stop?script=1")[0] == 404
    assert reader.get("/scripts?script=0000000000000000")[0] == reader.get("/events?script=1")[0] == reader.get("/activities?script=1")[0] == 404
    reader.end()


@test("what a decoder of the page finds is what pinch dump finds with it, as a list and on lanes")
def decoder():
    reader = viewer()
    with open("test.lua", "wb") as f:
        f.write(OFF_CPU)
    told = pinch("dump", "--json", "--activities", "--script", "test.lua", "t.pinch").out.decode().splitlines()
    got = ended(reader, OFF_CPU)
    assert got["activities"] == len(told) > 100 and not got["has_failed"] and not got["has_filter"] and not got["notes"], got
    first = reader.trace["first_ns"]
    expected = sorted((one["begin_ns"], one["end_ns"], one["activity"], one["thread"]) for one in map(json.loads, told))
    rows = reader.json(f"/activities?script={got['id']}&count=1000")
    assert rows["rows"] == len(told) and rows["is_counted"], rows["rows"]
    found = [(one["time_ns"] + first, one["end_ns"] + first, one["name"], one["thread"]) for one in rows["events"]]
    assert sorted(found) == expected[:len(found)] or len(found) == 1000 and found == sorted(found, key=lambda one: one[0]), found[:3]
    assert all(one["source"] == "test.lua" for one in rows["events"])
    drawn = reader.json(f"/drawn-activities?script={got['id']}&from=0&to={reader.trace['whole_ns']}&lanes=0-{len(reader.trace['lanes']) - 1}")
    assert "off CPU" in drawn["names"] and drawn["activities"], drawn["names"]
    assert reader.json("/activities")["rows"] == 0, "those of the script are in the list of others"
    reader.end()


@test("a filter of the page chooses the events that pinch dump chooses with it")
def filters():
    reader = viewer()
    with open("test.lua", "wb") as f:
        f.write(FILTER)
    lines = pinch("dump", "--script", "test.lua", "t.pinch").out.decode().splitlines()
    got = ended(reader, FILTER)
    assert got["has_filter"] and not got["activities"], got
    path = f"/events?script={got['id']}"
    lib.wait_until(lambda: reader.json(path + "&count=0")["is_counted"], "chosen rows are counted")
    assert reader.json(path)["rows"] == len(lines) > 10
    for row in (0, len(lines) // 2, len(lines) - 1):
        found = reader.json(f"{path}&row={row}&count=1")["events"]
        assert len(found) == 1 and lines[row].endswith(found[0]["text"]), (found, lines[row])
    other = ended(reader, b"function filter(event) return false end")
    assert reader.get(path)[0] == 404, "a reader has two scripts"
    assert reader.json(f"/events?script={other['id']}")["rows"] == 0
    reader.end()


@test("a hostile script gets one message with its line, and nothing else changes")
def hostile():
    reader = viewer()
    before = reader.json("/events?count=100")
    for text, said in ((b"function filter(", "test.lua:1:"), (b"x = 1", "neither filter"), (b"\x1bLua\x54\x00"[:5], "binary"),
                       (b"while true do end", "test.lua:1: stopped"), (b"function filter(e) while true do end end", "test.lua:1: stopped"),
                       (b"function filter(e) pcall(function() while true do end end) return true end", "stopped"),
                       (b"function filter(e) local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end end", "stopped"),
                       (b"local function f() return 1 + f() end\nfunction filter(e) return f() end", "test.lua:1:"),
                       (b"function filter(e)\n error({}) end", "error object is a table"), (b"function filter(e)\n error(nil) end", "test.lua"),
                       (b"function filter(e) io.open('/etc/passwd') end", "test.lua:1:"), (b"function filter(e) os.exit() end", "test.lua:1:"),
                       (b"function filter(e) load('return 1')() end", "test.lua:1:"), (b"function on_event(e) activity { name = 1 } end", "test.lua:1:")):
        got = ended(reader, text)
        assert got["has_failed"] and len(got["notes"]) == 1 and said in got["notes"][0], (text, got)
    got = ended(reader, b"function filter(e) print(('\\27[31m<b>'):rep(1000)) return true end")
    assert not got["has_failed"] and len(got["notes"]) == 21 and max(map(len, got["notes"])) < 300, got
    assert reader.json("/events?count=100") == before and reader.json("/trace") == reader.trace
    reader.end()


@test("a script is stopped, and what it has found stays; another reader's is another one")
def stopped():
    reader = viewer()
    slow = b"function filter(e) for i = 1, 100000 do end return true end"
    script = start(reader, slow)["id"]
    other = ended(reader, FILTER, START.replace("one", "two"))
    got = reader.json(f"/scripts?script={script}")
    assert not got["is_complete"] and 0 < got["until_ns"] < reader.trace["whole_ns"], got
    stop = json.loads(reader.post(f"/scripts/stop?script={script}")[2])
    assert stop["is_complete"] and stop["until_ns"] == got["until_ns"] == reader.json(f"/scripts?script={script}")["until_ns"], (stop, got)
    assert reader.json(f"/scripts?script={other['id']}")["is_complete"]
    reader.end()


def shared(name):
    with open(os.path.join(ROOT, "share", "scripts", name), "rb") as f:
        return f.read()


def dumped_tables(text, *options):
    with open("test.lua", "wb") as f:
        f.write(text)
    result = pinch("dump", "--json", "--statistics", "--script", "test.lua", *options, "t.pinch")
    assert result.status == 0, result.text
    return [json.loads(line) for line in result.out.decode().splitlines()]


def statistics(reader, script, query=""):
    path = f"/statistics?script={script}{query}"
    return lib.wait_until(lambda: (lambda got: got if got["is_complete"] else None)(reader.json(path)), "statistics of all events are made")


@test("statistics of the page are those of pinch dump, of all events and of those that filters choose")
def tables():
    reader = viewer(program("own_activities"), "30")
    thread = next(lane["thread"] for lane in reader.trace["lanes"] if lane["kind"] == "thread")
    half = reader.trace["whole_ns"] // 2
    for name in ("requests.lua", "threads.lua", "bytes.lua", "off_cpu.lua"):
        text = shared(name)
        got = ended(reader, text)
        told = dumped_tables(text)
        assert not got["has_failed"] and got["tables"] == len(told) > 0 and any(table["rows"] for table in told), (name, got)
        assert statistics(reader, got["id"])["tables"] == told, name
        for query, options in ((f"&thread={thread}", ["--thread", str(thread)]), (f"&from=0&to={half}", ["--to", f"{half}ns"]),
                               ("&subsystem=request&subsystem=sched", ["--subsystem", "request", "--subsystem", "sched"])):
            found, expected = statistics(reader, got["id"], query), dumped_tables(text, *options)
            assert found["tables"] == expected, (name, query, found["tables"], expected)
    reader.end()


@test("a table has what the events say: sums of its rows are those of pinch dump, counted one by one")
def brute_force():
    reader = viewer(program("own_activities"), "30")
    events = [json.loads(line) for line in pinch("dump", "--json", "t.pinch").out.decode().splitlines()]
    got = ended(reader, shared("threads.lua"))
    by_kind, by_thread = statistics(reader, got["id"])["tables"]
    counts = {}
    for event in events:
        counts[event["event"]] = counts.get(event["event"], 0) + 1
    assert dict(by_kind["rows"]) == counts and by_kind["show"] == "bars"
    assert sum(row[2] for row in by_thread["rows"]) == len(events)
    got = ended(reader, shared("bytes.lua"))
    (table,) = statistics(reader, got["id"])["tables"]
    expected = [event["fields"]["bytes"] for event in events if isinstance(event["fields"].get("bytes"), int)]
    assert [row[1:] for row in table["rows"] if "request" in row[0]] and sum(row[1] for row in table["rows"]) == sum(expected), (table, expected)
    reader.end()


@test("tables that cannot be are errors of their line; too many rows, texts and tables are left out, and said")
def hostile_tables():
    reader = viewer()
    give = "function on_event(e) end\nfunction finish()\n%s\nend"
    for wrong, said in (("statistics{}", "title"), ("statistics{title='x', columns={}, rows={}}", "1 to 16"), ("statistics{title='x', columns={'a'}, rows={{{}}}}", "rows[1][1]"),
                        ("statistics{title='x', columns={'a'}, rows=setmetatable({}, {})}", "metatable"), ("local t = {} t[1] = t statistics{title='x', columns={'a'}, rows={t}}", "rows[1][1]"),
                        ("statistics{title='x', show='pie', columns={'a'}, rows={}}", "show"), ("statistics{title='x', show='bars', columns={'a'}, rows={}}", "two columns")):
        got = ended(reader, (give % wrong).encode())
        assert got["has_failed"] and "test.lua:3:" in got["notes"][0] and said in got["notes"][0] and not got["tables"], (wrong, got)
    got = ended(reader, b"function on_event(e) statistics{title='x', columns={'a'}, rows={}} end")
    assert got["has_failed"] and "only finish()" in got["notes"][0], got
    many = give % ("local rows, columns = {}, {7} for i = 1, 1000000 do rows[i] = columns end statistics{title='<b>', columns={'a'}, rows=rows} "
                   "statistics{title='t', columns={'a', 'b'}, rows={{('\u00e4'):rep(300), 0/0}, {1/0, -1/0}}}")
    got = ended(reader, many.encode())
    first, second = statistics(reader, got["id"])["tables"]
    assert len(first["rows"]) == 10000 and first["rows_left_out"] == 990000 and first["title"] == "<b>", first["rows_left_out"]
    assert second["rows"] == [["\u00e4" * 100, None], [None, None]] and second["texts_cut"] == 1, second
    got = ended(reader, (give % "for i = 1, 20 do statistics{title='t' .. i, columns={'a'}, rows={}} end").encode())
    assert got["tables"] == 8 and any("12 tables" in note for note in got["notes"]), got
    got = ended(reader, b"activity { name = 'x', begin = 1, ['end'] = 2 }\nfunction on_event(e) end")
    assert not got["has_failed"] and got["activities"] == 0, got
    assert reader.get("/statistics")[0] == reader.get("/statistics?script=0")[0] == 404
    reader.end()


@test("on_activity() of a script sees the activities of built-in decoders and its own ones, once each")
def handled():
    reader = viewer(program("own_activities"), "30")
    text = b"""local seen = {}
function on_event(e) if e.name == 'mutex.LOCK' then activity { name = 'own', begin = e.time, ['end'] = e.time, mutex = e.argument } end end
function on_activity(a) seen[#seen + 1] = { a.name, a.source, a.begin, a["end"], a.length, a.thread, a.parameters.mutex } end
function finish() statistics { title = 'seen', columns = { 'name', 'source', 'begin', 'end', 'length', 'thread', 'mutex' }, rows = seen } end"""
    (table,) = statistics(reader, ended(reader, text)["id"])["tables"]
    told = [json.loads(line) for line in pinch("dump", "--json", "--activities", "--script", "test.lua", "t.pinch").out.decode().splitlines()] \
        if dumped_tables(text) else []
    expected = sorted((one["activity"], one["begin_ns"], one["end_ns"], one["end_ns"] - one["begin_ns"], one["thread"], one["parameters"].get("mutex")) for one in told)
    assert len(expected) > 100 and "own" in {row[0] for row in expected}
    assert sorted((row[0], *row[2:7]) for row in table["rows"]) == expected
    reader.end()


@test("marks and wake-ups of the graph are the events that the script's filter chooses, as in the list")
def marks():
    reader = viewer(program("own_activities"), "30")
    lanes = {lane["thread"]: lane["id"] for lane in reader.trace["lanes"] if lane["kind"] == "thread"}
    first, path = reader.trace["first_ns"], f"/marks?from=0&to={reader.trace['whole_ns'] + 1}&lanes=0-{len(reader.trace['lanes']) - 1}"
    for text, names in ((b"function filter(e) return e.name == 'memserv.ALLOC' or e.name == 'sched.WAKE' and e.time % 3 ~= 0 end", {"memserv.ALLOC", "sched.WAKE"}),
                        (b"function filter(e) return e.subsystem == 'request' end", {"request"}), (b"function filter(e) return false end", set())):
        script = ended(reader, text)["id"]
        with open("test.lua", "wb") as f:
            f.write(text)
        events = [json.loads(line) for line in pinch("dump", "--json", "--script", "test.lua", "t.pinch").out.decode().splitlines()]
        got = lib.wait_until(lambda: (lambda got: got if got.get("is_counted", True) else None)(reader.json(path + f"&script={script}")), "marks are counted")
        assert not got["left_out"] and not got["unread"], got
        own = sorted((lanes[one["thread"]], one["time_ns"] - first, one["event"], one["argument"]) for one in events if "argument" in one and one["thread"] in lanes)
        assert sorted((lane, time, got["names"][name], argument) for lane, time, name, argument in got["marks"]) == own, text
        wakes = sorted((lanes[one["thread"]], one["time_ns"] - first) for one in events if one["event"] == "sched.WAKE" and one["thread"] in lanes)
        assert sorted(map(tuple, got.get("wakes", []))) == wakes and bool(own or wakes) == bool(names), text
    assert reader.get(path + "&script=1")[0] == 404 and "wakes" not in reader.json(path)
    reader.end()


SLOW = "local s = ('x'):rep(200000)\n%s while true do s:byte(1, 200000) end %s"
BEFORE = 50


@test("while a script takes its two seconds, other readers are answered")
def not_held_up():
    reader = viewer()
    for text, path in ((SLOW % ("", "") + "\nfunction filter(e) end", "/scripts?script="), (SLOW % ("function filter(e)", "end"), "/events?script="),
                       (SLOW % ("function on_event(e)", "end"), "/statistics?script="), ("-- again\n" + SLOW % ("function filter(e)", "end"), "/marks?from=0&to=1000000000&lanes=0-1&script=")):
        script = start(reader, text.encode())["id"]
        answers = []
        asking = threading.Thread(target=lambda path=path, script=script: answers.append(reader.get(path + script)[0]))
        asking.start()
        others = 0
        while asking.is_alive():
            reader.json("/trace")
            assert reader.json("/events?count=1")["events"]
            others += not answers
        asking.join()
        assert answers == [200] and others >= BEFORE, (path, answers, others)
    reader.end()


@test("readers who replace, stop and ask for each other's slow scripts are all answered, and the server goes on")
def crowd():
    reader = viewer()
    slow = (SLOW % ("function on_event(e)", "end")).encode()
    statuses = []

    def one(number):
        script = start(reader, slow, START.replace("one", f"r{number % 5}"))["id"]
        for path in (f"/scripts?script={script}", f"/statistics?script={script}&from=1", f"/events?script={script}", f"/activities?script={script}"):
            statuses.append(reader.get(path)[0])
        statuses.append(reader.post(f"/scripts/stop?script={script}")[0])

    threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(statuses) == 60 and set(statuses) <= {200, 404, 503}, statuses
    assert not ended(reader, FILTER)["has_failed"]
    reader.end()


main()
