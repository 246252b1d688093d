#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Activities, scripts and filters, on a trace of a program with events of its own: each activity that the program made
is found, scripts see what pinch dump shows, and all that filters choose is the same in the listing and the report.
"""
import json
import os
import re
import shutil
import sys
from collections import Counter

from lib import ROOT, main, pinch, program, read, test

REQUESTS = {"monitor": 30, "client": 20}
SHARED = os.path.join(ROOT, "share", "scripts")


def record():
    """Two programs, one after the other, which are one under two names."""
    for name in REQUESTS:
        shutil.copy(program("own_activities"), name)
    command = "; ".join(f"./{name} {count}" for name, count in REQUESTS.items())
    result = pinch("record", "-o", "t.pinch", "--", "sh", "-c", command)
    assert result.status == 0, result.text


def dump(*options, status=0, said=""):
    result = pinch("dump", *options, "t.pinch")
    assert result.status == status, f"exit status {result.status}\n{result.text}"
    assert said in result.text and bool(said) == bool(result.text), result.text
    return result.out.decode().split("\n")[:-1]


def events(*options):
    return [json.loads(line) for line in dump("--json", *options)]


def activities(*options):
    return [json.loads(line) for line in dump("--json", "--activities", *options)]


def report(*options, status=0):
    result = pinch("report", "-q", "--json", "r.json", *options, "t.pinch")
    assert result.status == status, f"exit status {result.status}\n{result.text}"
    return json.loads(read("r.json"))


def counts(rows):
    return {(row["script"], row["name"]): row["count"] for row in rows}


def lua(name, text):
    with open(name, "wb") as file:
        file.write(text.encode() if isinstance(text, str) else text)
    return name


def spans(own, begin, end, key):
    """Lengths of what lies between two events with the same key, as the events say, in the order of the ends."""
    open_ns, lengths = {}, []
    for event in own:
        if event["event"] == begin:
            open_ns[key(event)] = event["time_ns"]
        elif event["event"] == end:
            lengths.append(event["time_ns"] - open_ns.pop(key(event)))
    assert not open_ns, open_ns
    return lengths


@test("built-in decoders find each pair and each message, as long as its events say")
def built_in():
    record()
    own, found = events(), activities()
    expected = sum(REQUESTS.values())
    assert Counter(one["activity"] for one in found) == dict.fromkeys(("request", "mutex.LOCK", "mail.NOTE"), expected)
    for name, begin, end in (("request", "request.BEGIN", "request.END"), ("mutex.LOCK", "mutex.LOCK", "mutex.UNLOCK")):
        lengths = [one["end_ns"] - one["begin_ns"] for one in found if one["activity"] == name]
        assert lengths == spans(own, begin, end, lambda event: event["thread"]), (name, lengths)
    notes = [one for one in found if one["activity"] == "mail.NOTE"]
    assert all(one["parameters"]["receiver"] != one["thread"] for one in notes)
    assert {one["application"] for one in found} == set(REQUESTS)


@test("the report adds them up: count, total and longest are those of the listing")
def added_up():
    record()
    found, rows = activities(), report()["activities"]
    for row in rows:
        lengths = [one["end_ns"] - one["begin_ns"] for one in found if one["activity"] == row["name"]]
        assert row["script"] is None
        assert (row["count"], row["total_ns"], row["max_ns"]) == (len(lengths), sum(lengths), max(lengths)), row
        assert sorted(lengths)[len(lengths) // 2] <= 1.25 * row["p50_ns"] and row["p99_ns"] <= row["max_ns"], row
    assert len(rows) == 3
    text = pinch("report", "t.pinch").out.decode()
    assert "Activities" in text and "mail.NOTE" in text, text


@test("the shipped filter passes ALLOC of one application, the shipped decoder finds each pair of LOCK and UNLOCK")
def shipped():
    record()
    passed = dump("--script", os.path.join(SHARED, "alloc.lua"))
    assert len(passed) == REQUESTS["monitor"] and all(" memserv.ALLOC " in line for line in passed), passed
    decoder = os.path.join(SHARED, "mutex.lua")
    found = activities("--script", decoder)
    by_script = [one for one in found if one["source"] == decoder]
    built = [one for one in found if one["activity"] == "mutex.LOCK"]
    assert [(one["begin_ns"], one["end_ns"], one["thread"], one["parameters"]["mutex"]) for one in by_script] == \
        [(one["begin_ns"], one["end_ns"], one["thread"], one["parameters"]["argument"]) for one in built]
    assert counts(report("--script", decoder)["activities"])[decoder, "mutex held"] == sum(REQUESTS.values())


@test("a script sees of each event what pinch dump prints of it")
def interpreted():
    record()
    script = lua("all.lua", """
        function on_event(event)
            local text = event.name .. " " .. event.thread
            for _, field in ipairs { "bytes", "what", "next", "state", "waker" } do
                local value = event:field(field)
                if value ~= nil then text = text .. " " .. field .. "=" .. tostring(value) end
            end
            activity { name = "event", begin = event.time, ["end"] = event.time, text = text, argument = event.argument }
        end""")
    seen = [one for one in activities("--script", script) if one["activity"] == "event"]
    expected = []
    for event in events():
        text = f"{event['event']} {event['thread']}"
        for field in "bytes", "what", "next", "state", "waker":
            if field in event["fields"]:
                text += f" {field}={event['fields'][field]}"
        expected.append((event["time_ns"], text, event.get("argument")))
    assert [(one["begin_ns"], one["parameters"]["text"], one["parameters"].get("argument"))
            for one in seen] == expected


@test("each filter chooses what it says, in the listing and in the activities of the report")
def filters():
    record()
    everything = events()
    client = {one["thread"] for one in activities() if one["application"] == "client"}
    for options, chosen in (
            (["--subsystem", "mutex"], lambda e: e["event"].startswith("mutex.")),
            (["--event", "request.BEGIN", "--event", "SWITCH"], lambda e: e["event"] in ("request.BEGIN", "sched.SWITCH")),
            (["--subsystem", "request", "--event", "END"], lambda e: e["event"] == "request.END"),
            (["--thread", str(min(client)), "--subsystem", "memserv"],
             lambda e: e["thread"] == min(client) and e["event"].startswith("memserv."))):
        assert events(*options) == [event for event in everything if chosen(event)], options
    assert len(dump("--process", "client", "--event", "request.END")) == REQUESTS["client"]
    assert len(dump("--thread", "client", "--event", "request.END")) == REQUESTS["client"]
    switches = [e for e in everything if e["event"] == "sched.SWITCH"]
    for cpu in {e["fields"]["cpu"] for e in switches}:
        assert [e for e in events("--cpu", str(cpu)) if e["event"] == "sched.SWITCH"] == \
            [e for e in switches if e["fields"]["cpu"] == cpu]
    one = report("--process", "client")
    assert counts(one["activities"]) == {(None, name): REQUESTS["client"] for name in
                                         ("request", "mutex.LOCK", "mail.NOTE")}, one["activities"]
    assert any("--process client" in note and "all events" in note for note in one["notes"]), one["notes"]
    assert one["threads"] == report()["threads"]
    assert counts(report("--subsystem", "mutex")["activities"]).keys() == {(None, "mutex.LOCK")}


@test("a filter that chooses nothing says so")
def nothing_chosen():
    record()
    assert dump("--event", "NOWHERE", said="--event NOWHERE has chosen no event") == []
    assert any("--subsystem nosuch has chosen no event" in note for note in report("--subsystem", "nosuch")["notes"])
    assert dump("--thread", "nobody", status=1, said="no thread in t.pinch") == []


@test("a script that fails is disabled alone, with its name and line, and all others go on")
def one_fails():
    record()
    bad = lua("bad.lua", "local n = 0\nfunction on_event(event)\n  n = n + 1\n  if n == 5 then\n    n.x = 1\n  end\nend")
    loop = lua("loop.lua", "function on_event(event)\n  while true do pcall(function() while true do end end) end\nend")
    good = lua("good.lua", 'function on_event(event)\n  activity { name = "e", begin = event.time, ["end"] = event.time }\n'
                           'end\nfunction finish() print("the end\\27[31m") end')
    result = report("--script", bad, "--script", loop, "--script", good)
    assert counts(result["activities"])["good.lua", "e"] == len(events())
    notes = "\n".join(result["notes"])
    assert "bad.lua:5: attempt to index a number value" in notes and "loop.lua:2: stopped" in notes, notes
    assert "good.lua: the end\x1b[31m" in notes, notes
    shown = pinch("report", "--script", bad, "--script", good, "t.pinch")
    assert b"\x1b[31m" not in shown.out and b"bad.lua:5" in shown.out, shown.out
    lines = dump("--activities", "--script", bad, "--script", good, status=1, said="bad.lua:5")
    assert sum('"e"' in line for line in lines) == len(events())


@test("what is no script is refused before the trace is read, with its line")
def refused():
    record()
    for name, text, said in (("broken.lua", "function filter(event)\n  return\n  = 1\nend", "broken.lua:3:"),
                             ("empty.lua", "", "defines neither filter"),
                             ("binary.lua", b"\x1bLua\x54\0", "binary"),
                             ("script.js", "", "names that end with .lua")):
        for command in "report", "dump":
            result = pinch(command, "--script", lua(name, text), "t.pinch")
            assert result.status == 1 and said in result.text and not result.out, (name, result.text, result.out)
    for script, said in (("missing.lua", "No such file"), ("/dev/zero", "names that end"), (".", "names that end")):
        result = pinch("dump", "--script", script, "t.pinch")
        assert result.status == 1 and said in result.text, result.text
    for options, said in ((["--cpu", "x"], "--cpu takes the number of a CPU"), (["--event", ""], "not empty"),
                          (["--script"], "takes an argument")):
        result = pinch("dump", *options, *([] if len(options) == 1 else ["t.pinch"]))
        assert result.status == 2 and said in result.text, result.text


@test("names that scripts give to activities neither drive a terminal nor break a line")
def hostile_names():
    record()
    script = lua("evil.lua", 'function on_event(event)\n  activity { name = "\\27[31m\\n\\255\\"", begin = event.time, '
                             '["end"] = event.time, ["p\\n"] = "\\27\\n" }\nend\nevents = { "request.BEGIN" }')
    out = "\n".join(line for line in dump("--activities", "--script", script) if "evil" in line)
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f]", out) and out.count("\n") == sum(REQUESTS.values()) - 1, out
    assert all(one["parameters"] for one in activities("--script", script))
    text = pinch("report", "-v", "--script", script, "t.pinch").out.decode()
    assert "\x1b" not in text and "evil.lua" in text, text


@test("filters and scripts see only the chosen time")
def time():
    record()
    begins = [event["time_ns"] for event in events("--event", "request.BEGIN")]
    first_ns = events()[0]["time_ns"]
    middle = begins[len(begins) // 2] - min(event["time_ns"] for event in events())
    assert first_ns and len(dump("--from", f"{middle}ns", "--event", "request.BEGIN")) == len(begins) - len(begins) // 2
    later = [one for one in activities("--from", f"{middle}ns") if one["activity"] == "request"]
    assert len(later) == len(begins) - len(begins) // 2


if __name__ == "__main__":
    sys.exit(main(jobs=2))
