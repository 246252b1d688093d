#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Traces as they are: what pinch dump prints of one is all that is in it, in both forms, and what is asked
for of it, whatever names are there and whatever has happened to the file.
"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import threading
from array import array
from collections import Counter

from lib import LIMIT_S, PINCH, main, pinch, program, read, start, stop, test

LINE = re.compile(r'(\d+)\.(\d{9}) (\d+) ([a-z]+\.[A-Z_]+)((?: \w+=\S.*)?)')
STRING = r'"(?:[^"\\]|\\.)*"'
VALUE = re.compile(rf'({STRING}|\[[^"\]]*\]|\[{STRING}(?:,{STRING})*\]|<\d+ bytes>|-?\w+)(?: |$)')
HARMFUL = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def record(*command, options=()):
    """How many events there are in the trace of a command."""
    result = pinch("record", "-o", "t.pinch", *options, "--", *command)
    assert result.status == 0, result.text
    return int(re.search(r"wrote t.pinch: ([\d,]+) events", result.text)[1].replace(",", ""))


def dump(*options, path="t.pinch", status=0, said=""):
    """The lines, harmless, of a dump that ends so."""
    result = pinch("dump", *options, path)
    assert result.status == status, f"exit status {result.status}\n{result.text}"
    assert said in result.text and bool(said) == bool(result.text), result.text
    return lines_of(result.out)


def lines_of(out):
    text = out.decode("utf-8", "strict")
    found = HARMFUL.search(text)
    assert not found, f"{found.group()!r} in {text[max(0, found.start() - 60):found.end() + 20]!r}"
    assert not text or text.endswith("\n")
    return text.split("\n")[:-1]


def marks(path="t.pinch", status=0, said=""):
    """
    The same of a dump that may be long, with a number for each line, the same for the same ones: on a busy
    machine a million lines would be a gigabyte.
    """
    found, rest = array("q"), b""
    with open("messages", "w+b") as messages:
        process = start(PINCH, "dump", path, stdout=subprocess.PIPE, stderr=messages)
        limit = threading.Timer(LIMIT_S, process.kill)
        limit.daemon = True
        limit.start()
        while block := process.stdout.read(1 << 20):
            end = block.rfind(b"\n") + 1
            found.extend(map(hash, lines_of(rest + block[:end]) if end else []))
            rest = block[end:] if end else rest + block
        ended = process.wait(LIMIT_S)
        limit.cancel()
        stop(process)
        assert ended == status, f"exit status {ended}"
        messages.seek(0)
        text = messages.read().decode("utf-8", "replace")
    assert not rest and said in text and bool(said) == bool(text), (rest, text)
    return found


def parse_json(lines):
    events = [json.loads(line) for line in lines]
    for event in events:
        assert list(event) == ["time_ns", "thread", "event", "fields"], event
    return events


# --- Lines of text ------------------------------------------------------------------------------

def parse_string(text):
    """What stands between the quotes, as bytes; \\xNN is a byte."""
    return re.sub(rb"\\(x[0-9a-f]{2}|.)",
                  lambda m: bytes([int(m[1][1:], 16)]) if len(m[1]) == 3 else m[1],
                  text[1:-1].encode())


def parse_value(text):
    if text[0] == '"':
        return parse_string(text)
    if text[0] == "<":
        return {"size_bytes": int(text[1:].split()[0])}
    if text[0] == "[":
        return [parse_value(v) for v in re.findall(rf"{STRING}|\w+", text)]
    return int(text, 0)


def parse_line(line):
    """Time in ns, thread, event, {field: value}."""
    match = LINE.fullmatch(line)
    assert match, line
    fields, rest = {}, match[5][1:]
    while rest:
        name, rest = rest.split("=", 1)
        value = VALUE.match(rest)
        assert value and name not in fields, line
        fields[name] = parse_value(value[1])
        rest = rest[value.end():]
    return int(match[1]) * 10**9 + int(match[2]), int(match[3]), match[4], fields


def is_same(value, other):
    """Of text and of JSON, where bytes that are no UTF-8 are lost."""
    if isinstance(value, list):
        return len(value) == len(other) and all(map(is_same, value, other))
    if isinstance(value, bytes):
        return "\ufffd" in other or value.decode() == other
    return value == other


def assert_forms_agree(lines, events):
    assert len(lines) == len(events)
    first_ns = min(event["time_ns"] for event in events)
    for line, event in zip(lines, events):
        time_ns, thread, name, fields = parse_line(line)
        assert (time_ns + first_ns, thread, name) == (event["time_ns"], event["thread"],
                                                      event["event"]), (line, event)
        assert list(fields) == list(event["fields"]), (line, event)
        for key, value in fields.items():
            assert is_same(value, event["fields"][key]), (key, line, event)


# --- Chunks -------------------------------------------------------------------------------------

def chunks_of(path="t.pinch"):
    """[(offset, kind, stored bytes, count)], as doc/pinch-trace.5 has it."""
    data, at, found = read(path, "rb"), 64, []
    while len(data) - at >= 64:
        _, kind, _, stored, _, _, _, count = struct.unpack_from("<IHHIIQQI", data, at)
        found.append((at, kind, stored, count))
        at += 64 + (stored + 7) // 8 * 8
    return found


def record_chunks():
    """A trace with several chunks of events; these."""
    record(program("mutex_storm"), 4, 60000)
    chunks = [chunk for chunk in chunks_of() if chunk[1] == 3]
    assert len(chunks) > 2, chunks
    return chunks


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


# --- Verdicts -----------------------------------------------------------------------------------

VERDICT = re.compile(r"(\S+): ([a-z ]+): ([\d,]+) events? in ([\d,]+) chunks?, [\d.]+ \S+, [\d.]+ K?M?B, "
                     r"by pinch [\d.]+ on (\S+), kernel (\S+)")


def check(path, verdict):
    """What pinch check says of a trace: how many events, how many chunks, and the lines below."""
    result = pinch("check", path)
    assert result.status == (verdict != "complete") and not result.err, (result.status, result.text)
    first, *rest = result.out.decode().splitlines()
    match = VERDICT.fullmatch(first)
    assert match and match[1] == path and match[2] == verdict, (verdict, first)
    assert (match[5], match[6]) == (os.uname().nodename, os.uname().release), first
    assert bool(rest) == (verdict != "complete"), rest
    return int(match[3].replace(",", "")), int(match[4].replace(",", "")), rest


# --- The tests ----------------------------------------------------------------------------------

@test("all events of a trace are printed, and text and JSON say the same of them")
def forms():
    for command in ([program("multi_mutex")], [program("tcp_slow")],
                    [sys.executable, "-c", "import time; time.sleep(0.1)"]):
        count = record(*command)
        lines, events = dump(), parse_json(dump("--json"))
        assert len(lines) == count, (len(lines), count)
        assert check("t.pinch", "complete")[0] == count
        assert_forms_agree(lines, events)
        assert Counter(line.split()[2] for line in lines) == Counter(e["event"] for e in events)
        assert events[0]["event"] == "collect.RUN" and events[-1]["event"] == "collect.END"


@test("times never go back but for events that the trace counts as late")
def times():
    record(program("multi_mutex"))
    events = parse_json(dump("--json"))
    back = sum(a["time_ns"] > b["time_ns"] for a, b in zip(events, events[1:]))
    assert back <= events[-1]["fields"]["late"], back


@test("--from, --to and --thread choose what they say, alone and together")
def chosen():
    record(program("mutex_storm"), 4, 20000)
    lines, chance = dump(), random.Random(7)
    parsed = [parse_line(line) for line in lines]
    last_ns = max(time_ns for time_ns, *_ in parsed)
    threads = sorted({thread for _, thread, _, _ in parsed})
    for _ in range(12):
        # A moment of an event, and one between.
        from_ns = chance.choice((None, chance.choice(parsed)[0], 1 + chance.randrange(last_ns)))
        to_ns = chance.choice((None, chance.choice(parsed)[0], 1 + chance.randrange(last_ns)))
        thread = chance.choice((None, *threads))
        options = [word for name, value in (("--from", from_ns), ("--to", to_ns)) if value
                   for word in (name, f"{value}ns")]
        options += ["--thread", thread] if thread is not None else []
        wanted = [line for line, (time_ns, *event) in zip(lines, parsed)
                  if time_ns >= (from_ns or 0) and (not to_ns or time_ns < to_ns)
                  and (thread is None or thread in threads_of(*event))]
        assert dump(*options) == wanted, options


def threads_of(thread, name, fields):
    others = {"sched.SWITCH": "next", "sched.WAKE": "waker"}
    return thread, fields[others[name]] if name in others else thread


@test("names that would drive a terminal or break a line are escaped")
def hostile():
    names = [b'\x1b[31m"\n', b"a b=1 \\x1b", b"\xff\xfe\t\r", "\u202ere\u2028".encode()]
    set_name = "import ctypes, sys\nfor name in sys.argv[1:]:\n" \
               "    ctypes.CDLL(None).prctl(15, bytes.fromhex(name))\n"
    record(sys.executable, "-c", set_name, *(name.hex() for name in names))
    dumped = [parse_line(line)[3]["name"] for line in dump() if " thread.NAME " in line]
    assert dumped[-len(names):] == names, dumped
    dumped = [event["fields"]["name"] for event in parse_json(dump("--json")) if event["event"] == "thread.NAME"]
    assert dumped[-len(names):] == [name.decode(errors="replace") for name in names], dumped


@test("of a trace with damaged chunks the others are printed, and how many are missing")
def damaged():
    chunks = record_chunks()
    lines, whole = marks(), read("t.pinch", "rb")
    for wanted in ([1], [0, len(chunks) - 1]):
        data, rest, begin = bytearray(whole), array("q"), 0
        for i, (at, _, stored, count) in enumerate(chunks):
            if i in wanted:
                data[at + 64 + stored // 2] ^= 0x40
            else:
                rest += lines[begin:begin + count]
            begin += count
        write("bad.pinch", data)
        said = "2 parts were left out" if len(wanted) == 2 else "1 part was left out"
        assert marks("bad.pinch", status=1, said=said) == rest
        count, _, messages = check("bad.pinch", "damaged")
        assert count == len(rest)
        assert messages == [f"  at byte {chunks[i][0]}: a chunk of events is damaged" for i in wanted], messages


@test("of a trace that was cut off anywhere what is before is printed")
def cut():
    chunks = record_chunks()
    lines, whole = marks(), read("t.pinch", "rb")
    for i, (at, _, stored, _) in enumerate(chunks):
        count = sum(chunk[3] for chunk in chunks[:i])
        write("cut.pinch", whole[:at + 64 + stored // 2])
        assert marks("cut.pinch", said="is truncated or damaged") == lines[:count]
        read_count, _, messages = check("cut.pinch", "truncated or damaged")
        assert read_count == count and f"from byte {at}: " in messages[0], messages
        assert f" {64 + stored // 2} bytes were not read" in messages[0], messages
        write("cut.pinch", whole[:at])
        assert marks("cut.pinch", said="has no end") == lines[:count]
        read_count, chunk_count, messages = check("cut.pinch", "truncated")
        assert (read_count, chunk_count) == (count, len(chunks_of("cut.pinch")))
        assert "the end is missing" in messages[0] and "names are missing" in messages[1], messages


@test("any byte that is not what was written, anywhere in the file, is found")
def flipped():
    record(program("multi_mutex"))
    whole, chance = read("t.pinch", "rb"), random.Random(5)
    for place in sorted(chance.sample(range(len(whole)), 60)):
        data = bytearray(whole)
        data[place] ^= 1 << chance.randrange(8)
        write("bad.pinch", data)
        result = pinch("check", "bad.pinch")
        assert result.status == 1, (place, result.out, result.text)
        assert b"damaged" in result.out or "another version" in result.text, (place, result.out)


@test("who reads only the beginning ends the dump without a message")
def closed():
    record_chunks()
    process = start(PINCH, "dump", "t.pinch", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline().startswith(b"0.000000000 0 collect.RUN ")
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait(60) == 0
    stop(process)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PINCH, "dump", "t.pinch"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and b"cannot write to standard output" in done.stderr, done


@test("what is no trace, and what is asked wrongly, is refused with a sentence")
def refused():
    write("empty", b"")
    for arguments, said, status in (
            (["empty"], "empty is not a pinch trace", 1),
            (["nothing"], "cannot read nothing: No such file", 1),
            ([], "no trace given", 2),
            (["empty", "empty"], "no trace given", 2),
            (["--from", "3", "empty"], "--from takes a time", 2),
            (["--to", "soon", "empty"], "--to takes a time", 2),
            (["--cpu", "-1", "empty"], "--cpu takes the number of a CPU", 2)):
        result = pinch("dump", *arguments)
        assert result.status == status and said in result.text, (arguments, result.text)
        assert not result.out, result.out


if __name__ == "__main__":
    sys.exit(main(jobs=2))
