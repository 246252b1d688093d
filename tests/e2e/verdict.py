#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict is one: live and replayed, in text, JSON and page, with every option. And the text fits on a screen."""
import json
import os
import pty
import subprocess
import sys
import time

from lib import PINCH, main, parse_report, pinch, program, read, read_line, start, status_of, test, wait_until
from lib_page import parts_of

LINES_MAX = 40


def lines_of_text(text, verdict):
    """Those that it begins with, behind what was traced."""
    words = " ".join(text.split("\n\n")[1].split())
    found, at = [], 0
    for line in verdict["lines"]:
        if words.startswith(" ".join(line.split()), at):
            found.append(line)
            at += len(" ".join(line.split())) + 1
    return found


def live(command, *arguments):
    """The report, of which t.pinch is the trace."""
    result = pinch(command, "--trace", "t.pinch", "--json", "live.json", "-o", "live.txt", *arguments)
    assert result.status == 0, result.text
    return parse_report(read("live.json", "rb"))


def recorded(*command):
    return live("run", "--", *command)


def replayed(*options):
    result = pinch("report", "--json", "replay.json", "-o", "replay.txt", *options, "t.pinch")
    assert result.status == 0, result.text
    return json.loads(read("replay.json")), read("replay.txt")


def check_all_views(live_report):
    verdict = live_report["verdict"]
    assert lines_of_text(read("live.txt"), verdict) == verdict["lines"], read("live.txt")
    for options in ([], ["-v"], ["--top", 1], ["--top", 20], ["--top", 300], ["--page", "io"], ["--page", "locks,summary"],
                    ["--html", "t.html"]):
        report, text = replayed(*options)
        assert report["verdict"] == verdict, (options, report["verdict"], verdict)
        assert lines_of_text(text, verdict) == verdict["lines"], (options, text)
        if not options:
            assert text.count("\n") <= LINES_MAX, text
    assert parts_of("t.html")["report"]["verdict"] == verdict, parts_of("t.html")["report"]["verdict"]


@test("a lock: the verdict is the same live and replayed, in all views and with all options")
def lock():
    report = recorded(program("lock_convoy"))
    # A sleep stands for what is done with the lock.
    assert report["verdict"]["kind"] in ("lock", "code", "cpu", "timer"), report["verdict"]
    check_all_views(report)


@test("a disk: the same")
def disk():
    check_all_views(recorded(program("fsync_io")))


@test("one thread that does most of the work: the same, and its code is the verdict, unless others take the CPUs")
def code():
    report = recorded(program("hot_thread"))
    assert report["verdict"]["kind"] in ("code", "cpu"), report["verdict"]
    check_all_views(report)


@test("a deadlock: the same, and certain")
def deadlock():
    target = start(program("deadlock"), stdout=subprocess.PIPE)
    assert read_line(target) == b"stuck\n"
    report = live("attach", "--duration", "300ms", "-p", target.pid)
    assert report["verdict"]["kind"] == "deadlock" and report["verdict"]["confidence"] == "certain", report["verdict"]
    check_all_views(report)


@test("sleep: the same, and that it was idle; the CPUs are counted")
def sleep():
    report = recorded("/bin/sleep", "0.5")
    assert report["verdict"]["kind"] == "none", report["verdict"]
    assert report["verdict"]["lines"][0].startswith("Nothing held it back: it was idle for "), report["verdict"]
    assert report["target"]["cpu_count"] >= 1 and " CPU" in report["verdict"]["lines"][1], report["verdict"]
    check_all_views(report)


@test("a run of next to no time: few samples are no verdict; that its file is not in memory may be one")
def short():
    report = recorded("/bin/true")
    assert report["verdict"]["kind"] in ("none", "memory"), report["verdict"]
    check_all_views(report)


@test("commands that live for too short: the same, and the verdict names them and how many they are")
def short_lived():
    loop = "i=0; while [ $i -lt 1500 ]; do /bin/true; i=$((i + 1)); done"
    report = recorded("/bin/sh", "-c", loop)
    finding, = [f for f in report["findings"] if f["pattern"] == "short-lived" and "named true" in f["title"]]
    assert finding["title"].startswith("1500 short-lived processes"), finding
    assert report["verdict"]["kind"] in ("process", "cpu"), report["verdict"]
    check_all_views(report)


@test("of several programs the verdict names the one that is held back")
def which_program():
    report = recorded("/bin/sh", "-c", f"{program('lock_convoy')}; exit 0")
    named = report["verdict"]["program"]
    assert named and named["name"] == "lock_convoy" and named["pid"], report["verdict"]
    assert f"lock_convoy (pid {named['pid']})" in report["verdict"]["lines"][0], report["verdict"]
    check_all_views(report)


@test("all CPUs used: the same, and which code uses them, however many call paths are asked for")
def full():
    report = recorded(program("cpu_bound"), os.cpu_count(), 500)
    line = report["verdict"]["lines"][0]
    assert report["verdict"]["kind"] != "none" or "fully" not in line or " and what it calls" in line, line
    check_all_views(report)


SLOW_STAGE = """
import sys
import time

def translate_line(line):
    time.sleep(0.02)
    return line.upper()

for line in sys.stdin:
    sys.stdout.write(translate_line(line))
"""


@test("a pipeline: the command in it that is slow is named, and where it sleeps; idle is not that for which the user waits")
def pipeline():
    with open("slow.py", "w", encoding="ascii") as file:
        file.write(SLOW_STAGE)
    report = recorded("/bin/sh", "-c", f"seq 50 | {sys.executable} slow.py | wc -l")
    assert report["verdict"]["kind"] == "timer", report["verdict"]
    assert "translate_line" in " ".join(report["verdict"]["lines"]), report["verdict"]
    check_all_views(report)


@test("results of tasks that sleep: who wants them waits for the sleep, live and replayed; no more idle time than there is")
def results():
    target = start(program("causes/print_pool"), stdout=subprocess.PIPE)
    read_line(target)
    report = live("attach", "--duration", "1s", "-p", target.pid)
    verdict = report["verdict"]
    assert verdict["kind"] == "timer" and "print_page" in " ".join(verdict["lines"]), verdict
    for wait in report["waits"]:
        assert 0 <= wait["idle_ns"] <= wait["wait_ns"], wait
    check_all_views(report)


def is_reading(name, path):
    """Whether a process of that name sleeps whose input that is."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if read(f"/proc/{pid}/comm").strip() == name and os.readlink(f"/proc/{pid}/fd/0") == path:
                return status_of(pid).get("State", "Z")[0] == "S"
        except OSError:
            continue
    return False


@test("a shell whose command waits at a terminal: it is idle, for nobody waits for the user")
def terminal():
    master, slave = pty.openpty()
    target = start(PINCH, "run", "--json", "report.json", "-o", "report.txt", "--", "/bin/sh", "-c",
                   f"head -n 1 <{os.ttyname(slave)} >read; true")
    wait_until(lambda: is_reading("head", os.ttyname(slave)), "head waits at the terminal")
    time.sleep(1)     # so long the user has nothing to say
    os.write(master, b"line\n")
    assert target.wait(30) == 0
    report = parse_report(read("report.json", "rb"))
    assert read("read").strip() == "line"
    assert report["verdict"]["kind"] == "none", report["verdict"]
    waits = [wait for wait in report["waits"] if wait["cause"] == "child"]
    assert sum(wait["idle_ns"] for wait in waits) >= 900_000_000, waits


if __name__ == "__main__":
    sys.exit(main())
