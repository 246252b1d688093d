#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Programs that make it hard to say what they wait for: names that would drive a terminal, memory that
goes away, a hundred thousand locks, threads and processes that are gone before they are examined.
"""
import json
import os
import re
import shutil
import subprocess
import sys

from causes_model import assert_woken, check_report, describe_locks, describe_waits, waits_like
from lib import PINCH, check_laws, finish, functions_of, main, parse_report, pinch, program, read, \
    start, stop, test, wait_until

# What no name may bring onto a terminal: bytes that drive it, and marks that turn the rest around.
HARMFUL = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

FORCED_NS = 10_000_000
LINE_COLUMNS = 100


def traced(*command):
    """The report, checked, and the text, which is harmless whatever the names."""
    result = pinch("run", "-v", "--json", "report.json", "-o", "report.txt", "--top", "1000",
                   "--", *command)
    assert result.status == 0, f"exit status {result.status}\n{result.text[:2000]}"
    report = parse_report(read("report.json", "rb"))
    check_report(report, command[0])
    harmless(result.err)
    return report, harmless(read("report.txt", "rb"))


def harmless(data):
    text = data.decode("utf-8", "strict")
    found = HARMFUL.search(text)
    assert not found, f"{found.group()!r} in {text[max(0, found.start() - 60):found.end() + 20]!r}"
    wide = [line for line in text.split("\n") if len(line) > LINE_COLUMNS]
    assert not wide, f"{len(wide[0])} columns: {wide[0]}"
    return text


# --- Names ---------------------------------------------------------------------------------------

def on_files(report):
    """What was waited for: the end of its name, and the cause."""
    return {wait["object"]: wait for wait in waits_like(report, function="read_odd")
            if wait["object"]}


@test("odd_files: each file and socket is waited for under its own name, which harms nobody")
def odd_files():
    os.mkdir("d")
    report, text = traced(program("odd_files"), "d")
    assert not os.listdir("d")
    top = os.path.realpath("d")
    waits = on_files(report)
    names = ["new\nline", "\x1b[31mred\x1b[0m", "\x1b[2Jclear", "\ufffd\ufffd\ufffd(", "tab\tbell\a",
             "\x9b31mC1", "\u202etxt.exe", "quo\"te'\\back", "%s%n{0}$(id)", "pipe:[1]",
             "x (deleted)", " ", "x" * 250, "/".join(["x" * 250] * 12 + ["innermost"])]
    for name in names:
        path = f"{top}/{name}"
        assert path in waits, f"{path!r} is not among {[w[-40:] for w in waits]}"
        assert waits[path]["cause"] == "pipe" and waits[path]["wait_ns"] >= FORCED_NS, waits[path]
        assert any(f["path"] == path for f in report["files"]), path
    for escaped in (r"new\x0aline", r"\x1b[2Jclear", r"\xff\xfe\xc3(", r"\xe2\x80\xaetxt.exe"):
        assert escaped in text, f"{escaped} is not in the text"


@test("odd_files: a file that is called as what the kernel has without a file is a file")
def odd_kinds():
    os.mkdir("d")
    waits = on_files(traced(program("odd_files"), "d")[0])
    for name in ("[eventfd]", "[timerfd]", "[eventpoll]"):
        wait = waits[f"{os.path.realpath('d')}/{name}"]
        assert wait["cause"] == "pipe", f"{name}: {wait['cause']}"


@test("odd_files: of a path that is too long its end is kept, and what is left out is marked")
def deep_files():
    os.mkdir("d")
    report, text = traced(program("odd_files"), "d")
    cut = [path for path in on_files(report) if path.startswith("…/")]
    assert len(cut) == 2, [path[:40] for path in cut]
    assert all(path.endswith("/innermost") and 128 < len(path) < 4500 for path in cut), cut
    assert text.count("/innermost") >= 3, "the end of long paths is not in the text"


@test("odd_files: Unix sockets, abstract ones too, and locked files")
def odd_peers():
    os.mkdir("d")
    report, text = traced(program("odd_files"), "d")
    peers = {socket["peer"] for socket in report["sockets"]}
    assert {"odd\x1b[31m\nsocket", "@\x1b[31m\n\ufffdodd"} <= peers, peers
    lock = f"{os.path.realpath('d')}/lock\x1b[2J\nfile"
    assert any(row["name"] == lock and row["kind"] == "flock" for row in report["locks"]), \
        describe_locks(report)
    assert r"@\x1b[31m\x0a\x80odd" in text and r"lock\x1b[2J\x0afile" in text
    assert any(t["name"] == "\x1b]0;title\a" for t in report["threads"])


@test("odd_symbols: names of functions and of a lock, of a program whose own name is odd, too")
def odd_symbols():
    path = os.path.abspath("pro\x1b[31m\ngram\t\u202e")
    shutil.copy(program("odd_symbols"), path)
    report, text = traced(path)
    lock = next(row for row in report["locks"] if row["kind"] == "mutex")
    assert lock["name"] == "odd\x1b[31m\nlock", describe_locks(report)
    wait = waits_like(report, cause="lock", about="\nlock")[0]
    assert any(name.startswith("w\nait0") for name in functions_of(wait)), functions_of(wait)
    assert_woken(wait, "holder", function="hold\x1b[2J\ufffd\t\x9b31m")
    modules = {frame["module"] for frame in wait["stack"]}
    assert os.path.basename(path) in modules, modules
    assert r"odd\x1b[31m\x0alock" in text and r"hold\x1b[2J\xff\x09\xc2\x9b31m" in text
    assert harmless(pinch("run", "--", path).err)


# --- Memory --------------------------------------------------------------------------------------

@test("odd_memory: waits are recorded though their stack or their futex's memory is gone meanwhile")
def odd_memory():
    report, _ = traced(program("odd_memory"))
    assert report["balance"]["threads"]["unexplained_waits"] == 0
    waits = [w for w in waits_like(report, cause="lock")
             if {"wait_on", "wait_nowhere"} & set(functions_of(w))]
    assert sum(w["waits"] for w in waits) == 6, describe_waits(report)
    for wait in waits:
        assert_woken(wait, "ender", function="end_wait", least=1)
    for name, least_ms in (("stack", 100), ("hidden", 100), ("nowhere", 50), ("word", 50),
                           ("shared", 50), ("edge", 50)):
        thread = next(t for t in report["threads"] if t["name"] == name)
        assert thread["blocked_ns"] >= least_ms * 1_000_000, f"{name}: {thread['blocked_ns']} ns"


# --- Many ----------------------------------------------------------------------------------------

# What is kept of a lock, its row of the report, and that as text.
LOCK_BYTES = 4096
ROWS_MAX = 65536 + 1


@test("many_locks: 100,000 locks take bounded memory, and no wait is missing from the sums")
def many_locks():
    small = pinch("run", "-q", "--json", "small.json", "--", program("many_locks"), 10)
    assert small.status == 0, small.text
    small = parse_report(read("small.json", "rb"))
    result = pinch("run", "-v", "--json", "report.json", "--", program("many_locks"))
    assert result.status == 0, result.text
    report = json.loads(read("report.json", "rb"))
    locks = report["locks"]
    # The schema is the same for all of them, and takes a minute for so many.
    check_laws(parse_report(json.dumps({**report, "locks": locks[:50]}).encode()))
    causes = {c["cause"]: c for c in report["balance"]["threads"]["causes"]}
    # Now and then somebody waits for a kernel lock.
    of_locks = [c for name, c in causes.items() if name in ("lock", "join", "kernel-lock")]
    assert causes["lock"]["waits"] == 100000, causes
    assert sum(lock["waits"] for lock in locks) == sum(c["waits"] for c in of_locks)
    assert sum(lock["wait_ns"] for lock in locks) == sum(c["wait_ns"] for c in of_locks)
    others = {lock["kind"]: lock for lock in locks if lock["address"] == "others"}
    # The end of taker may be one of them, too.
    assert len(locks) == ROWS_MAX - 1 + len(others) and others.keys() <= {"lock", "join", "kernel-lock"}, (len(locks), others)
    lock = others["lock"]
    assert lock["waits"] >= 100000 - ROWS_MAX, others
    # Of many locks nothing is known that is said of one. Those whose stacks are known may stand out together.
    assert not lock["holder"] and not lock["where"], lock
    titles = [f["title"] for f in report["findings"] if f["cause"] == "lock"]
    assert not [title for title in titles if "others" in title or " locks in take_next" not in title], titles
    assert " others" in result.text, result.text
    grown = report["cost"]["peak_rss_bytes"] - small["cost"]["peak_rss_bytes"]
    assert grown <= ROWS_MAX * LOCK_BYTES, f"{grown / ROWS_MAX:.0f} bytes a lock"


# --- What is gone already --------------------------------------------------------------------------

CHURN = 'while :; do "$0" 200 >/dev/null; "$1" & sh -c "exit 0"; wait; done'


@test("threads and processes that come and go while all are attached to: a report, and it closes")
def vanishing():
    churn = [start("sh", "-c", CHURN, program("thread_churn"), "/bin/true",
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   start_new_session=True) for _ in range(2)]
    wait_until(lambda: all(os.path.exists(f"/proc/{c.pid}/task/{c.pid}/children") for c in churn),
               "them to begin")
    for _ in range(5):
        result = finish(start(PINCH, "attach", "--all", "-q", "--duration", "300ms", "--json",
                              "report.json", "-o", "report.txt", stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        assert result.status == 0, result.text
        report = parse_report(read("report.json", "rb"))
        check_laws(report, is_lossless=False)
        assert report["totals"]["threads"] > 10, report["totals"]
        harmless(read("report.txt", "rb"))
    for process in churn:
        os.killpg(process.pid, 9)
        stop(process)


@test("a command that has ended has ended, though its last switch comes late on a busy machine")
def late_switch():
    busy = [start("sh", "-c", "while :; do :; done") for _ in range(2 * os.cpu_count())]
    for _ in range(10):
        result = pinch("run", "-q", "--json", "report.json", "--", program("odd_symbols"))
        assert result.status == 0, result.text
        target = parse_report(read("report.json", "rb"))["target"]
        assert target["exit_status"] == 0 and not target["is_running"], target
    for process in busy:
        stop(process)


if __name__ == "__main__":
    sys.exit(main())
