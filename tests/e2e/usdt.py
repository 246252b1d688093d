#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
USDT probes that programs have: each hit is an event of the program's own, with its arguments, by the names of provider and probe; and
tasks between two of them are followed from thread to thread. Semaphores, libraries, stripped programs, and tracepoints of LTTng.
"""
import json
import os
import shutil
import signal
import subprocess

from lib import (PINCH, Skip, assert_nothing_attached, main, parse_report, pinch, program, read, read_line, start, stop, test,
                 wait_attached, wait_until)


def record(*command, usdt=(), options=()):
    chosen = [word for probes in usdt for word in ("--usdt", probes)]
    result = pinch("record", "-q", "-o", "t.pinch", *chosen, *options, "--", *command)
    assert result.status == 0, result.text
    return dict(line.rsplit(" ", 1) for line in result.out.decode().splitlines())


def events(name):
    result = pinch("dump", "--json", "t.pinch")
    assert result.status == 0 and not result.text, result.text
    return [event for event in map(json.loads, result.out.splitlines()) if event["event"] == name]


def arguments(name):
    return [event["fields"] for event in events(name)]


def notes():
    result = pinch("report", "--json", "report.json", "t.pinch")
    assert result.status == 0, result.text
    return [note for note in parse_report(read("report.json", "rb"))["notes"] if "USDT" in note]


def expected(i):
    return {"arg1": i, "arg2": -5 - i, "arg3": 77, "arg4": -3, "arg5": i & 0xffff, "arg6": -(i % 100), "arg7": -7, "arg8": i << 40}


@test("each hit is an event with the values that the program gave, in its order")
def _():
    said = record(program("usdt_hits"), "values", "3000", usdt=["usdt_hits:values"])
    assert said["values"] == "3000"
    assert arguments("usdt_hits.values") == [expected(i) for i in range(3000)]
    found = events("usdt_hits.values")
    assert [event["argument"] for event in found] == list(range(3000))
    assert [event["time_ns"] for event in found] == sorted(event["time_ns"] for event in found)
    assert len({event["thread"] for event in found}) == 1 and found[0]["thread"]
    assert not notes() and not events("usdt_hits.floating")
    assert pinch("check", "t.pinch").status == 0
    assert_nothing_attached()


@test("a stripped program has its probes, by pattern, and a floating-point argument is left out and noted")
def _():
    if not shutil.which("strip"):
        raise Skip("strip is missing")
    subprocess.run(["strip", "-o", "stripped", program("usdt_hits")], check=True)
    shutil.copy(program("usdt_library.so"), ".")
    record("./stripped", "values", "500", usdt=["usdt_hits:*"])
    assert arguments("usdt_hits.values") == [expected(i) for i in range(500)]
    assert arguments("usdt_hits.floating") == [{"arg2": i} for i in range(500)]
    assert len(notes()) == 1 and "1 arguments are not recorded" in notes()[0], notes()


@test("sites of one probe are all recorded, each with its own types, and once, however often they are asked for")
def _():
    record(program("usdt_hits"), "sites", "1000", usdt=["usdt_hits:site", "usdt_hits:s*", "*:site"])
    assert [fields["arg1"] for fields in arguments("usdt_hits.site")] == [-i if i & 1 else i for i in range(1000)]


@test("a flight recorder's trace has the names of hits, too")
def _():
    record(program("usdt_hits"), "sites", "100", usdt=["usdt_hits:site"], options=["--last", "60s"])
    assert [fields["arg1"] for fields in arguments("usdt_hits.site")] == [-i if i & 1 else i for i in range(100)]


@test("a program that asks its semaphore whether it is traced hits its probe, and does not without tracing")
def _():
    said = record(program("usdt_hits"), "guarded", "200", usdt=["usdt_hits:guarded"])
    assert said["guarded"] == "200" and [fields["arg1"] for fields in arguments("usdt_hits.guarded")] == list(range(200))
    said = record(program("usdt_hits"), "guarded", "200", usdt=["usdt_hits:values"])
    assert said["guarded"] == "0" and not events("usdt_hits.guarded")
    assert_nothing_attached()


def ask(served):
    """Has it hit the library's probe once: the hit's number, and what the program's semaphore is."""
    served.stdin.write(b"\n")
    served.stdin.flush()
    return tuple(map(int, read_line(served).split()[1:]))


def wait_recorded(served):
    wait_until(lambda: ask(served) and os.path.exists("t.pinch") and b" usdt_library.call " in pinch("dump", "t.pinch").out,
               "the library's probe is attached")


def check_recorded(last):
    """All hits up to the last one, from one on that is early enough."""
    found = [fields["arg1"] for fields in arguments("usdt_library.call")]
    assert found and found[0] <= last - 100 and found == list(range(found[0], last + 1)), (last, found)


@test("a library's probes are recorded in a program that runs already, and its semaphores count it, until tracing ends")
def _():
    served = start(program("usdt_hits"), "library", "1000000", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert ask(served) == (0, 0)
    tracing = start(PINCH, "record", "-q", "-o", "t.pinch", "--usdt", "usdt_library.so:usdt_library:call", "--usdt",
                    "usdt_hits:guarded", "-p", str(served.pid), stderr=subprocess.PIPE)
    wait_attached(tracing)
    wait_until(lambda: ask(served)[1] == 1, "the semaphore counts the tracer")
    wait_recorded(served)
    last = [ask(served) for _ in range(100)][-1][0]
    tracing.send_signal(signal.SIGINT)
    _, text = tracing.communicate(timeout=60)
    assert tracing.returncode == 0, text
    assert ask(served) == (last + 1, 0)
    stop(served)
    check_recorded(last)
    assert_nothing_attached()


@test("a library's probes are recorded once it is known, when tracing has begun long ago")
def _():
    tracing = start(PINCH, "record", "-q", "-o", "t.pinch", "--usdt", "usdt_library:*", "--", program("usdt_hits"), "library", "1000000",
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_recorded(tracing)
    last = [ask(tracing) for _ in range(100)][-1][0]
    _, text = tracing.communicate(timeout=60)
    assert tracing.returncode == 0, text
    check_recorded(last)
    assert_nothing_attached()


@test("a task between two probes goes from thread to thread by its key, and is slow where it was planted")
def _():
    span = "req=handover:request_begin..request_end[key=arg1]"
    record(program("usdt_handover"), usdt=["handover:request_*"], options=["--span", span])
    result = pinch("spans", "--json", "-", "t.pinch")
    assert result.status == 0, result.text
    spans = json.loads(result.out)
    assert [s["executions"] for s in spans["spans"]] == [100], spans["spans"]
    assert all("receiver" in e["begin_who"] and "answerer" in e["who"] for e in spans["executions"])
    # How long others wait for a CPU is up to the machine; and the timer of a sleep runs before the thread leaves its CPU, from which another may keep it.
    slow = [e for e in spans["executions"] if e["states"].get("sleep", {"ns": 0})["ns"] >= 5_000_000]
    assert [e["number"] for e in slow] == list(range(1, 101, 10)), [e["number"] for e in slow]
    assert all(e["duration_ns"] >= 10_000_000 for e in slow), slow
    text = pinch("compare", "--span", "req", "t.pinch").out.decode()
    assert "sleep_over" in text.splitlines()[0], text


@test("collections of CPython are tasks between its own probes, as many as the script makes")
def _():
    python = os.path.realpath("/usr/bin/python3")
    if b"gc__start" not in read(python, "rb"):
        raise Skip("CPython is built without USDT probes")
    record(python, "-c", "import gc; gc.disable(); [gc.collect(i % 3) for i in range(90)]",
           usdt=["python:gc__*"], options=["--span", "gc=python:gc__start..gc__done"])
    generations = [fields["arg1"] for fields in arguments("python.gc__start")]
    # The interpreter makes some of its own when it begins and ends.
    made = [i % 3 for i in range(90)]
    assert any(generations[i:i + 90] == made for i in range(len(generations))), generations
    spans = json.loads(pinch("spans", "--json", "-", "t.pinch").out)["spans"]
    assert [s["executions"] for s in spans] == [len(generations)], (spans, len(generations))


def forge(path, name, field, value):
    """Changes an address of each of a probe's notes: field 0 is the site, 2 the semaphore."""
    content = bytearray(read(path, "rb"))
    names, at, count = b"usdt_hits\0" + name.encode() + b"\0", 0, 0
    while (at := content.find(names, at + 1)) >= 0:
        where = at - 24 + 8 * field
        old = int.from_bytes(content[where:where + 8], "little")
        content[where:where + 8] = value(old).to_bytes(8, "little")
        count += 1
    assert count
    with open("forged", "wb") as out:
        out.write(content)
    os.chmod("forged", 0o755)


@test("a note that is wrong puts no probe anywhere, and the program does what it does without tracing")
def _():
    shutil.copy(program("usdt_library.so"), ".")
    for name, field, value in (("values", 0, lambda old: old - 1), ("values", 0, lambda old: old + 4), ("values", 0, lambda old: 1 << 63),
                               ("values", 0, lambda old: 0x3000), ("guarded", 2, lambda old: 0x1000), ("guarded", 2, lambda old: 1 << 40),
                               ("guarded", 2, lambda old: (1 << 64) - 1)):
        forge(program("usdt_hits"), name, field, value)
        said = record("./forged", name, "100", usdt=["usdt_hits:" + name])
        assert said[name] == ("100" if name == "values" else "0"), said
        assert not events("usdt_hits." + name)
        assert len(notes()) == 1 and "1 sites are not recorded" in notes()[0], notes()
    assert_nothing_attached()


@test("a tracepoint of LTTng that was built with SystemTap's probes is one, without LTTng")
def _():
    record(program("usdt_lttng"), "700", usdt=["lttng_planted:request"])
    assert [fields["arg1"] for fields in arguments("lttng_planted.request")] == list(range(700))


@test("what is wrong with probes that are asked for is said")
def _():
    for wrong in ["usdt_hits", "usdt_hits:", ":values", "/a/b:values", "a:b c", ":a:b"]:
        result = pinch("record", "-q", "-o", "t.pinch", "--usdt", wrong, "--", "true")
        assert result.status == 2 and "PROVIDER:PROBE" in result.text, (wrong, result.text)
    path = program("usdt_hits")
    result = pinch("record", "-q", "-o", "t.pinch", "--usdt", f"{path}:usdt_hits:none", "--", path, "values", "1")
    assert result.status == 125 and "has no USDT probe usdt_hits:none" in result.text, (result.status, result.text)
    record("true", usdt=["usdt_hits:values"])
    assert len(notes()) == 1 and "no process mapped a file with such a probe" in notes()[0], notes()
    result = pinch("run", "-q", "--usdt", "a:b", "--", "true")
    assert result.status == 125 and "--usdt needs a trace" in result.text, result.text
    assert_nothing_attached()


if __name__ == "__main__":
    main()
