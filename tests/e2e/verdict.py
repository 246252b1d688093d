#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict is one: live and replayed, in text, JSON and page, with every option. And the text fits on a screen."""
import json
import subprocess
import sys

from lib import main, parse_report, pinch, program, read, read_line, start, test
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
    assert report["verdict"]["kind"] in ("lock", "code", "cpu"), report["verdict"]
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


if __name__ == "__main__":
    sys.exit(main())
