#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Traces: what is read of one is what was traced, to the last digit and name, here and where neither the
program nor its files are.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys

from lib import PINCH, Skip, check_laws, find, main, parse_report, pinch, program, read, read_line, \
    start, stop, test, wait_until


def replay(trace, *options, **kw):
    """What pinch report says of a trace, as JSON."""
    result = pinch("report", "--json", "replayed.json", "-q", *options, trace, **kw)
    assert result.status == 0, result.text
    return parse_report(read("replayed.json", "rb"))


def differences(live, replayed, at=""):
    """Where two reports differ, as lines."""
    if isinstance(live, dict) and isinstance(replayed, dict):
        for key in sorted(live.keys() | replayed.keys()):
            yield from differences(live.get(key), replayed.get(key), f"{at}.{key}")
    elif isinstance(live, list) and isinstance(replayed, list) and len(live) == len(replayed):
        for i, (one, other) in enumerate(zip(live, replayed)):
            yield from differences(one, other, f"{at}[{i}]")
    elif live != replayed:
        yield f"{at}: live {json.dumps(live)[:200]}, replayed {json.dumps(replayed)[:200]}"


def assert_same(live, replayed):
    found = list(differences(live, replayed))
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:20])


def assert_replays(*command, options=(), status=0):
    """Traces a command, compares what was told of it with the trace; returns the report."""
    result = pinch("run", "--trace", "t.pinch", "--json", "live.json", *options, "--", *command)
    assert result.status == status, f"exit status {result.status}\n{result.text}"
    live = parse_report(read("live.json", "rb"))
    assert_same(live, replay("t.pinch"))
    check_laws(live)
    return live


@test("threads, locks and files of many kinds: a replayed trace gives the same report")
def planted():
    for name in ("multi_mutex", "multi_lock", "fifo_pair", "tcp_slow", "spin_lock", "idle_pool"):
        assert_replays(program(name))
    assert_replays(program("fork_storm"), status=7)


@test("an example with lines, inlined calls and templates: a replayed trace gives the same text")
def text():
    path = os.path.join(os.path.dirname(PINCH), "examples/pipeline")
    if not os.path.exists(path):
        raise Skip("the example is not built here")
    result = pinch("run", "--trace", "t.pinch", "-o", "live.txt", "--", path)
    assert result.status == 0, result.text
    replayed = pinch("report", "-o", "replayed.txt", "t.pinch")
    assert replayed.status == 0, replayed.text
    assert read("live.txt") == read("replayed.txt")
    shown = pinch("report", "t.pinch")
    assert shown.out.decode().startswith("pinch: "), shown.out[:200]


@test("kernel stacks, spinning threads set aside, another N_min: what was asked for is in the trace")
def options():
    for given in (["--kernel-stacks"], ["--spin-inactive"], ["--nmin", 3]):
        assert_replays(program("multi_mutex"), options=given)


@test("Python's functions and lines come out of the trace")
def python():
    with open("work.py", "w", encoding="utf-8") as file:
        file.write("import threading, time\n"
                   "lock = threading.Lock()\n"
                   "def hold():\n"
                   "    with lock:\n"
                   "        time.sleep(0.05)\n"
                   "def work():\n"
                   "    for _ in range(5):\n"
                   "        hold()\n"
                   "threads = [threading.Thread(target=work) for _ in range(3)]\n"
                   "for t in threads: t.start()\n"
                   "for t in threads: t.join()\n")
    live = assert_replays(sys.executable, "work.py")
    names = {f["function"] for w in live["waits"] for f in w["stack"]}
    assert "hold" in names, names


@test("code that a JIT compiler made has its names in the trace")
def jit():
    node = find("node")
    if not node:
        raise Skip("node is not installed")
    with open("work.js", "w", encoding="utf-8") as file:
        file.write("function workHard(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7;"
                   " return s; }\nfor (let i = 0; i < 300; i++) workHard(1e6);\n")
    live = assert_replays(node, "--perf-basic-prof", "work.js")
    names = {f["function"] or "" for p in live["paths"] for f in p["functions"]}
    assert any("workHard" in name for name in names), names


@test("processes that run already: pinch record -p, and the report is one of pinch attach")
def attached():
    target = start(program("deadlock"), stdout=subprocess.PIPE)
    assert read_line(target) == b"stuck\n"
    result = pinch("record", "-o", "t.pinch", "--duration", "200ms", "-p", target.pid)
    assert result.status == 0, result.text
    assert "wrote t.pinch: " in result.text, result.text
    report = replay("t.pinch")
    assert report["findings"][0]["pattern"] == "deadlock", report["findings"]
    stop(target)


@test("a trace is read where neither the program nor its files are")
def elsewhere():
    shutil.copy(program("multi_mutex"), "moved")
    result = pinch("run", "--trace", "t.pinch", "--json", "live.json", "--", "./moved")
    assert result.status == 0, result.text
    os.unlink("moved")
    replayed = replay("t.pinch")
    assert_same(parse_report(read("live.json", "rb")), replayed)
    assert any(f["file"] for p in replayed["paths"] for f in p["stack"]), "no lines"


@test("pinch record ends as its command does, and shows no report")
def quiet():
    result = pinch("record", "-o", "t.pinch", "--", "/bin/sh", "-c", "echo out; exit 7")
    assert result.status == 7 and result.out == b"out\n", (result.status, result.out)
    assert len(result.text.splitlines()) == 1, result.text
    assert replay("t.pinch")["target"]["exit_status"] == 7


@test("whatever kills the writer, what is older than a second can be read, and the report says so")
def killed():
    chance = random.Random(4)
    for _ in range(5):
        process = start(PINCH, "record", "-o", "t.pinch", "--", program("mutex_storm"), 4, 10000000,
                        stderr=subprocess.DEVNULL)
        wanted = 100000 + chance.randrange(400000)
        wait_until(lambda: os.path.exists("t.pinch") and os.path.getsize("t.pinch") > wanted,
                   "events in the trace")
        children = read(f"/proc/{process.pid}/task/{process.pid}/children").split()
        process.send_signal(signal.SIGKILL)
        process.wait()
        for pid in children:
            os.kill(int(pid), signal.SIGKILL)
        report = replay("t.pinch")
        assert report["totals"]["threads"] == 5, report["totals"]
        assert any("has no end" in note for note in report["notes"]), report["notes"]
        os.unlink("t.pinch")


@test("a disk that is full costs the trace, and not the report nor the command")
def full():
    result = pinch("run", "--trace", "/dev/full", "--", program("multi_mutex"))
    assert result.status in (0, 125), result.status
    assert "cannot write the trace /dev/full" in result.text, result.text


@test("what is no trace, is not there or is two things at once is refused with a sentence")
def refused():
    with open("empty", "wb"):
        pass
    with open("text", "wb") as file:
        file.write(b"hello\n" * 100)
    for arguments, said, status in (
            (["report", "empty"], "empty is no trace of pinch", 1),
            (["report", "text"], "text is no trace of pinch", 1),
            (["report", "nothing"], "cannot read nothing: No such file", 1),
            (["report", "/dev/null"], "/dev/null is no regular file", 1),
            (["report"], "which trace?", 2),
            (["report", "empty", "text"], "which trace?", 2),
            (["record"], "record what?", 2),
            (["record", "-p", os.getpid(), "true"], "not both", 2)):
        result = pinch(*arguments)
        assert result.status == status and said in result.text, (arguments, result.text)
        assert not result.out, result.out


if __name__ == "__main__":
    sys.exit(main())
