#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Traces: what is read of one is what was traced, to the last digit and name, here and where neither the
program nor its files are.
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from lib import PINCH, Skip, check_laws, find, main, parse_report, pinch, program, read, read_line, \
    script, start, stop, test, wait_until


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
    """Traces a command, compares its report with the trace; returns the report."""
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


@test("events that were analysed later, as all CPUs were busy, are analysed the same")
def deferred():
    hogs = [start(sys.executable, "-c", "while True: pass") for _ in range(os.cpu_count())]
    live = assert_replays(program("mutex_storm"), 16, 60000)
    for hog in hogs:
        stop(hog)
    # Each event is analysed; where the machine had a CPU to spare after all, at once.
    assert 0 < live["cost"]["events_deferred"] <= live["cost"]["events"], live["cost"]
    assert sum(t["slices"] for t in live["threads"]) > 20000, live["totals"]


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
    for given in (["--kernel-stacks"], ["--spin-inactive"], ["--nmin", 3], ["--system"]):
        assert_replays(program("multi_mutex"), options=given)


@test("Python's functions and lines come out of the trace")
def python():
    live = assert_replays(sys.executable, script("python_lock.py"))
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
    names = {f["name"] or "" for p in live["paths"] for f in p["functions"]}
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
        # Who is killed while it writes leaves a part of what it was writing: of the second before.
        begun_s = time.monotonic()
        wait_until(lambda: time.monotonic() > begun_s + 1, "what was being written, to be older than a second")
        children = read(f"/proc/{process.pid}/task/{process.pid}/children").split()
        process.send_signal(signal.SIGKILL)
        process.wait()
        for pid in children:
            os.kill(int(pid), signal.SIGKILL)
        report = replay("t.pinch")
        assert report["totals"]["threads"] == 5, report["totals"]
        assert any("has no end" in note for note in report["notes"]), report["notes"]
        os.unlink("t.pinch")


def storm():
    """Many processes that talk without end: a lot to tell."""
    perf = find("perf")
    if not perf:
        raise Skip("perf is not installed")
    return perf, "bench", "sched", "messaging", "-g", 3, "-l", 1000000


def bytes_written(pid):
    return int(re.search(r"wchar: (\d+)", read(f"/proc/{pid}/io"))[1])


@test("a flight recorder that has turned and is killed has most of its ring, and no more")
def ring_killed():
    ring = 1 << 20
    process = start(PINCH, "record", "--ring", "1M", "-o", "t.pinch", "--", *storm(),
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        for turns in (1, 2, 4):
            wait_until(lambda: bytes_written(process.pid) > turns * ring, "a ring that turns")
            assert os.path.getsize("t.pinch") <= ring + 65536
        process.send_signal(signal.SIGKILL)
        process.wait()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    checked = pinch("check", "t.pinch")
    assert b"t.pinch: truncated: " in checked.out and b"flight recording" in checked.out, checked.out
    report = replay("t.pinch")
    check_laws(report)
    assert report["totals"]["threads"] > 100, report["totals"]
    assert any("flight recording" in note for note in report["notes"]), report["notes"]


@test("a flight recorder by time has that time, a little more, and the names")
def last():
    result = pinch("record", "--last", "1s", "--ring", "100M", "--nmin", 4, "-o", "t.pinch", "--", program("mutex_storm"),
                   4, 100000)
    assert result.status == 0 and "wrote t.pinch: the last of " in result.text, result.text
    whole = pinch("check", "t.pinch")
    assert whole.status == 0 and b"t.pinch: complete: " in whole.out, whole.out
    report = replay("t.pinch")
    check_laws(report)
    assert 0.9 < report["totals"]["active_ns"] / 1e9 < 1.5, report["totals"]
    names = {f["function"] for p in report["paths"] for f in p["stack"]}
    assert "hammer" in names, names
    pinch("cut", "-o", "cut.pinch", "t.pinch")
    cut = replay("cut.pinch")
    assert_same({**report, "notes": 0}, {**cut, "notes": 0})


@test("a wall clock that is set back changes nothing; how long the machine was suspended is reported, and in no figure")
def clocks():
    os.environ["LD_PRELOAD"] = program("other_clocks.so")
    try:
        result = pinch("record", "-o", "t.pinch", "--", "sleep", "4")
    finally:
        del os.environ["LD_PRELOAD"]
    assert result.status == 0, result.text
    report = replay("t.pinch")
    check_laws(report)
    assert 3.9 < report["target"]["wall_ns"] / 1e9 < 5, report["target"]
    assert any("the machine was suspended for 5.00 s" in note for note in report["notes"]), report["notes"]
    checked = pinch("check", "t.pinch")
    assert checked.status == 0 and b"t.pinch: complete: " in checked.out, checked.out


@test("a disk that is full costs the trace, and not the report nor the command")
def full():
    result = pinch("run", "--trace", "/dev/full", "--", program("multi_mutex"))
    assert result.status in (0, 125), result.status
    assert "cannot write the trace /dev/full" in result.text, result.text


@test("a run that does not begin leaves the trace that was there as it was, and makes none")
def not_begun():
    assert pinch("record", "-q", "-o", "t.pinch", "--", "true").status == 0
    before, inode = read("t.pinch", "rb"), os.stat("t.pinch").st_ino
    ended = start("true")
    ended.wait()
    for out in ("t.pinch", "new.pinch"):
        for words, status in ((["--", "./missing"], 127), (["--", "/etc"], 126), (["-p", ended.pid], 1)):
            result = pinch("record", "-o", out, *words)
            assert result.status == status, (words, result.text)
            assert read("t.pinch", "rb") == before and os.listdir(".") == ["t.pinch"], (words, os.listdir("."))
    assert os.stat("t.pinch").st_ino == inode


@test("a trace takes the place of an old one when tracing begins; who else wants to write it is refused")
def replaced():
    with open("t.pinch", "w", encoding="utf-8") as file:
        file.write("old\n")
    os.chmod("t.pinch", 0o640)
    process = start(PINCH, "record", "-q", "-o", "t.pinch", "--", "/bin/sleep", 1000, stderr=subprocess.DEVNULL)
    wait_until(lambda: read("t.pinch", "rb") != b"old\n", "the trace")
    result = pinch("record", "-o", "t.pinch", "--", "touch", "touched")
    assert result.status == 125 and "another pinch is writing" in result.text, result.text
    result = pinch("merge", "-o", "t.pinch", "t.pinch")
    assert result.status == 1, result.text
    children = read(f"/proc/{process.pid}/task/{process.pid}/children").split()
    process.send_signal(signal.SIGKILL)
    process.wait()
    for pid in children:
        os.kill(int(pid), signal.SIGKILL)
    assert os.listdir(".") == ["t.pinch"] and os.stat("t.pinch").st_mode & 0o777 == 0o640, os.listdir(".")
    assert pinch("check", "t.pinch").out.startswith(b"t.pinch: "), "it cannot be read"


@test("no output takes the place of a trace that is read, or written by the same run")
def kept():
    for name in ("t.pinch", "other.pinch"):
        assert pinch("record", "-q", "-o", name, "--", "true").status == 0
    os.symlink("t.pinch", "link")
    before = read("t.pinch", "rb")
    for words in ("report -o OUT t.pinch", "report --html OUT t.pinch", "klock --json OUT t.pinch",
                  "graph --json OUT t.pinch", "critical-path -o OUT t.pinch", "whatif -o OUT t.pinch",
                  "compare -o OUT other.pinch t.pinch", "cut --from 0s -o OUT t.pinch",
                  "merge -o OUT other.pinch t.pinch"):
        for out in ("t.pinch", "link"):
            result = pinch(*words.replace("OUT", out).split())
            assert result.status == 1 and ("read" in result.text or "is the input" in result.text), (words, result.text)
            assert read("t.pinch", "rb") == before, words
    result = pinch("run", "-q", "--trace", "t.pinch", "--json", "t.pinch", "--", "true")
    assert result.status == 125 and "this run already reads or writes it" in result.text, result.text
    assert pinch("check", "t.pinch").status == 0


@test("a trace goes to standard output, whatever that is, and the command's own output to standard error")
def streamed():
    for shell in ('exec "$0" record -o - -- /bin/echo out >t.pinch', '"$0" record -o - -- /bin/echo out | cat >t.pinch',
                  'exec "$0" run --trace /dev/stdout --json r.json -q -- /bin/echo out >t.pinch'):
        done = subprocess.run(["/bin/sh", "-c", shell, PINCH], capture_output=True, check=False)
        assert done.returncode == 0 and b"out\n" in done.stderr, done
        checked = pinch("check", "t.pinch")
        assert checked.status == 0 and b"t.pinch: complete: " in checked.out, checked.out
        assert replay("t.pinch")["target"]["exit_status"] == 0
    assert b"b\n" in subprocess.run(["/bin/sh", "-c", '"$0" cut --from 0s -o - t.pinch >c.pinch; "$0" check c.pinch && echo b',
                                     PINCH], capture_output=True, check=False).stdout
    for option in ("--ring=1M", "--last=5s"):
        result = pinch("record", option, "-o", "-", "--", "touch", "touched")
        assert result.status == 125 and "--ring and --last need a regular file" in result.text, result.text
    assert not os.path.exists("touched")


@test("options may stand behind the trace; --text is --output")
def order():
    assert pinch("record", "-o", "t.pinch", "--", "true").status == 0
    before = pinch("report", "-o", "-", "--page", "balance", "t.pinch")
    behind = pinch("report", "t.pinch", "--page", "balance", "--text", "-")
    assert before.status == behind.status == 0 and b"BALANCE" in before.out, before.text
    assert re.sub(rb"[^\n]*post-processing.*\n", b"", before.out) == re.sub(rb"[^\n]*post-processing.*\n", b"", behind.out)


@test("what is no trace, is not there or is two things at once is refused with a sentence")
def refused():
    with open("empty", "wb"):
        pass
    with open("text", "wb") as file:
        file.write(b"hello\n" * 100)
    for arguments, said, status in (
            (["report", "empty"], "empty is not a pinch trace", 1),
            (["report", "text"], "text is not a pinch trace", 1),
            (["report", "nothing"], "cannot read nothing: No such file", 1),
            (["report", "/dev/null"], "/dev/null is not a regular file", 1),
            (["report"], "no trace given", 2),
            (["report", "empty", "text"], "no trace given", 2),
            (["record"], "nothing to trace given", 2),
            (["record", "--ring", "1000", "true"], "--ring takes a size", 2),
            (["record", "--ring", "10K", "true"], "--ring takes a size of at least 1M", 2),
            (["record", "--last", "5", "true"], "--last takes a duration", 2),
            (["record", "-p", os.getpid(), "true"], "not both", 2)):
        result = pinch(*arguments)
        assert result.status == status and said in result.text, (arguments, result.text)
        assert not result.out, result.out


if __name__ == "__main__":
    sys.exit(main(jobs=2))
