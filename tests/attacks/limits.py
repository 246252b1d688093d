#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Limits under which pinch is started: a disk quota or ulimit -f ends a file in the middle. It is an error that
is reported, not the end of pinch, and it takes nothing away that was there. The command of pinch run knows nothing of it.
"""
import os
import resource
import signal
import subprocess
import sys

from lib_attacks import BUILD, FULL, attacker
from lib import Skip, main, pinch, read, read_line, start, stop, test

OLD = b"what was there before\n"
LIMIT_BYTES = 1024      # one write of any report is larger


def limited(*arguments, bytes=LIMIT_BYTES, prepare=None, **options):
    """Runs pinch where no file may be larger."""
    def before():
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, bytes))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        if prepare:
            prepare()
    return pinch(*arguments, preexec_fn=before, **options)


def make_trace(events=20_000):
    generator = os.path.join(BUILD, "bench", "trace_gen")
    if not os.path.exists(generator):
        raise Skip("bench/trace_gen is not built")
    subprocess.run([generator, "t.pinch", str(events)], check=True)
    return "t.pinch"


def assert_reported(result, path, status=1):
    """It ended by itself, and said what is too large and what to do about it."""
    assert result.status == status, f"exit status {result.status}, not {status}\n{result.text}"
    lines = [line for line in result.text.splitlines() if path in line and "ulimit -f" in line]
    assert len(lines) == 1, f"{path}: {result.text}"


def leftovers(before):
    return sorted(set(os.listdir(".")) - set(before))


@test("a report that becomes larger than files may be is an error, and the file before it stays")
def reports():
    trace = make_trace()
    for option, path in (("-o", "r.txt"), ("--json", "r.json"), ("--html", "r.html"), ("--csv", "r.csv"),
                         ("--folded", "r.folded")):
        with open(path, "wb") as file:
            file.write(OLD)
        there = os.listdir(".")
        # The page draws the history of states, which is made beside the trace: there it is allowed.
        if option == "--html":
            assert pinch("graph", "-o", os.devnull, trace).status == 0
            there = os.listdir(".")
        result = limited("report", "-v", "--top", "1000", option, path, trace)
        assert_reported(result, path)
        assert read(path, "rb") == OLD, f"{path} is not what it was"
        assert not leftovers(there), leftovers(there)


@test("the history of states that becomes too large is an error, and no part of it stays")
def histories():
    trace = make_trace()
    commands = ["graph", "critical-path", "whatif"] if FULL else ["graph"]
    for command in commands:
        there = os.listdir(".")
        assert_reported(limited(command, trace), trace)
        assert not leftovers(there), f"{command}: {leftovers(there)}"


@test("a trace made of others that becomes too large is an error")
def derived():
    trace = make_trace()
    assert_reported(limited("cut", "-o", "part.pinch", trace), "part.pinch")
    assert_reported(limited("merge", "-o", "all.pinch", trace), "all.pinch")


@test("recording into a trace that becomes too large is an error; the command runs to its end")
def recording():
    result = limited("record", "-o", "r.pinch", "--", "sh", "-c", "echo done", bytes=4096)
    assert_reported(result, "r.pinch", status=125)
    assert result.out == b"done\n", result.out
    assert not os.path.exists("r.pinch") or os.path.getsize("r.pinch") <= 4096


@test("a trace beside a report that becomes too large is an error; the report is made")
def traced():
    result = limited("run", "--trace", "r.pinch", "--", "sh", "-c", "echo done", bytes=4096)
    assert_reported(result, "r.pinch", status=125)
    assert "Time of all threads" in result.text, result.text


@test("recording what runs already into a trace that becomes too large is an error")
def attached():
    result = limited("record", "-o", "r.pinch", "--duration", "50ms", "-p", str(os.getpid()), bytes=4096)
    assert_reported(result, "r.pinch")


@test("what a run needs for itself is not limited: its call paths are whole, and no file is blamed")
def call_paths():
    def report(run):
        result = run("attach", "-v", "--duration", "500ms", "-p", target.pid)
        assert result.status == 0, result.text
        return result.text
    target = start(attacker("bystander"), stdout=subprocess.PIPE)
    assert read_line(target) == b"ready\n"
    wanted, text = report(pinch), report(limited)
    stop(target)
    # The C library sleeps for it, without frame pointers: who called that, only its table says.
    for function in ("bystander_sleep", "bystander_work"):
        assert function in wanted, f"without a limit there is no {function}:\n{wanted}"
        assert function in text, f"there is no {function}:\n{text}"
    assert "call frame information" not in text, text


SHOW_IGNORED = "grep SigIgn /proc/self/status"
SIZE_BIT = 1 << (signal.SIGXFSZ - 1)


def ignored_by_command(prepare=None):
    result = limited("run", "-q", "--", "sh", "-c", SHOW_IGNORED, bytes=1 << 30, prepare=prepare)
    assert result.status == 0, result.text
    return int(result.out.split()[1], 16)


@test("the command of pinch run ends by SIGXFSZ as without pinch")
def command():
    alone = subprocess.run(["sh", "-c", SHOW_IGNORED], capture_output=True, check=True, restore_signals=True)
    assert ignored_by_command() == int(alone.stdout.split()[1], 16)
    result = limited("run", "-q", "--", sys.executable, "-c",
                     "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); "
                     "open('big', 'wb').write(bytes(100000))")
    assert result.status == 128 + signal.SIGXFSZ, result.text


@test("the command of pinch run ignores SIGXFSZ if pinch was started so")
def command_ignoring():
    ignored = ignored_by_command(lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
    assert ignored & SIZE_BIT, hex(ignored)


if __name__ == "__main__":
    sys.exit(main())
