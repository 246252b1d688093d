#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts that the page of pinch view sends: who may send them, what they find, and that hostile ones harm nobody."""
import json

import lib
from lib import main, pinch, program, test
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


def viewer():
    result = pinch("record", "-q", "-o", "t.pinch", "--", program("lock_convoy"))
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


main()
