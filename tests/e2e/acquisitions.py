#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
How often kernel locks are taken, and how long they are held: pinch klock --acquisitions on programs that
know it. Where the kernel has no kprobes, only that pinch says so.
"""
import json
import os
import re
import signal
import subprocess
import sys

from lib import LIMIT_S, PINCH, Skip, check_laws, finish, main, parse_report, pinch, program, read, start, test, \
    wait_attached

HAS_KPROBES = os.path.exists("/sys/bus/event_source/devices/kprobe/type")
# Since 6.4 page faults do without the lock of all memory of the process.
RELEASE = tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2])

# Locks are recorded when they are seen, some thousand of them at once.
LARGE_RINGS = ("--ring-kb", "65536")
USERS_FILE = {**os.environ, "PINCH_KLOCK_FUNCTIONS": "klock.json"}


def need_kprobes():
    if not HAS_KPROBES:
        raise Skip("this kernel has no kprobes")


def klock(*command, options=(), **keywords):
    """The report of a run, and what the program said."""
    need_kprobes()
    result = pinch("klock", "--acquisitions", *LARGE_RINGS, *options, "-o", "report.txt", "--json", "report.json",
                   "--", *command, **keywords)
    assert result.status == 0, (result.status, result.text)
    report = parse_report(read("report.json", "rb"))
    check_laws(report)
    check_holds(report)
    return report, json.loads(result.out)


def check_holds(report):
    klocks = report["kernel_locks"]
    locks = klocks["locks"]
    assert klocks["acquisitions"] == sum(lock["acquisitions"] for lock in locks), "sum of acquisitions"
    assert klocks["hold_ns"] == sum(lock["hold_ns"] for lock in locks), "sum of holds"
    # One thread after the other has a lock that is not shared: all holds fit into the run.
    for lock in locks:
        if lock["kind"] in ("mutex", "rwsem write"):
            assert lock["hold_ns"] <= report["target"]["wall_ns"], lock
        assert lock["holds"] <= lock["acquisitions"] and lock["max_hold_ns"] <= lock["hold_ns"], lock
    assert klocks["take_ns"] == sum(lock["take_ns"] for lock in locks), "sum of takes"
    assert klocks["take_cost_ns"] > 0 and klocks["hold_cost_ns"] > 0, "what it takes to note one is not known"
    assert any(lock["where"] for lock in locks), "nobody took a lock in a function that has a name"


def find(report, kind, name):
    """The one of these that is taken most often."""
    locks = report["kernel_locks"]["locks"]
    found = [lock for lock in locks if lock["kind"] == kind and re.search(name, lock["name"] or "")]
    assert found, [(lock["kind"], lock["name"], lock["acquisitions"]) for lock in locks[:20]]
    return max(found, key=lambda lock: lock["acquisitions"])


def assert_count(lock, count, others):
    """So often, and at most so many times more."""
    assert count <= lock["acquisitions"] <= count + others, (lock["name"], lock["acquisitions"], count)
    assert lock["acquisitions"] - 1 <= lock["holds"], (lock["name"], lock["acquisitions"], lock["holds"])


@test("each acquisition of a pipe's mutex and of a file's i_rwsem is counted, and how long the file was held")
def counted():
    report, said = klock(program("klock_counted"), ".")
    pipe = find(report, "mutex", r"^mutex of pipe:\[\d+\]$")
    assert_count(pipe, said["looks"], 4)
    file = find(report, "rwsem write", f"^i_rwsem of {re.escape(os.path.realpath('counted'))}$")
    assert_count(file, said["writes"], 3)
    assert 0.5 * said["write_ns"] <= file["hold_ns"] <= said["write_ns"], (file, said)
    assert file["max_hold_ns"] <= said["max_write_ns"], (file, said)
    assert not pipe["waits"] and not file["waits"], (pipe, file)
    if os.environ.get("V"):
        print(f"# {pipe['acquisitions']} of {said['looks']}, {file['acquisitions']} of {said['writes']} and an unlink; held "
              f"{file['hold_ns'] / said['write_ns']:.1%} of the time in write(); to note one took "
              f"{report['kernel_locks']['take_cost_ns']} and {report['kernel_locks']['hold_cost_ns']} ns")
    assert_count(find(report, "rwsem write", "^mmap_lock of klock_counted$"), 2 * said["maps"], 300)
    if RELEASE < (6, 4):
        readers = find(report, "rwsem read", "^mmap_lock of klock_counted$")
        assert readers["acquisitions"] >= said["maps"], readers
    text = read("report.txt")
    assert re.search(r"Kernel locks by hold time", text) and "Recording one acquisition adds" in text, text
    assert re.search(rf" {pipe['acquisitions']:,} .* mutex of pipe", text), text


@test("who waits for a lock has it from the end of the wait on: of one lock all holds fit into the run")
def contended():
    report, said = klock(program("klock_append"), ".", "4", "1000", options=("--trace", "run.trace"))
    lock = find(report, "rwsem write", "^i_rwsem of .*/journal$")
    assert_count(lock, said["turns"], said["turns"] // 100 + 20)
    assert lock["waits"] <= lock["acquisitions"] and lock["take_ns"] >= 0.9 * lock["wait_ns"], lock
    assert lock["take_ns"] > 0.05 * said["wall_ns"], "nobody waited for it"
    assert lock["hold_ns"] > 0.05 * said["wall_ns"], (lock, said)
    again = pinch("report", "-o", "again.txt", "--json", "again.json", "run.trace")
    assert again.status == 0, again.text
    assert parse_report(read("again.json", "rb"))["kernel_locks"] == report["kernel_locks"]


@test("a user's file adds functions and kinds; one that the kernel does not have is said and skipped")
def extended():
    with open("klock.json", "w", encoding="utf-8") as file:
        json.dump({"functions": [
            {"symbol": "mutex_lock", "kind": "my mutex", "does": "acquire"},
            {"symbol": "no_such_function", "kind": "my mutex", "does": "release", "argument": 2}]}, file)
    report, said = klock(program("klock_counted"), ".", "100", env=USERS_FILE)
    assert_count(find(report, "my mutex", "^mutex of pipe"), said["looks"], 4)
    assert any("no function no_such_function: skipped" in note for note in report["notes"]), report["notes"]


@test("spinlocks, too, can be counted, by a user's file: the machine and the program go on")
def spinlocks():
    with open("klock.json", "w", encoding="utf-8") as file:
        json.dump({"functions": [
            {"symbol": "_raw_spin_lock", "kind": "spinlock", "does": "acquire"},
            {"symbol": "_raw_spin_unlock", "kind": "spinlock", "does": "release"}]}, file)
    report, said = klock(program("klock_counted"), ".", "100", env=USERS_FILE)
    assert sum(lock["acquisitions"] for lock in report["kernel_locks"]["locks"] if lock["kind"] == "spinlock") > \
        said["maps"], "spinlocks were taken"


@test("with all the machine traced, locks of several programs are counted, and nothing is lost")
def all_of_them():
    need_kprobes()
    process = start(PINCH, "klock", "--acquisitions", *LARGE_RINGS, "--all", "-q", "--json", "report.json",
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_attached(process)
    for load in ("klock_pipe", "2", "500"), ("klock_append", ".", "2", "500"):
        assert not start(program(load[0]), *load[1:], stdout=subprocess.DEVNULL).wait(LIMIT_S), load
    process.send_signal(signal.SIGINT)
    result = finish(process)
    assert result.status == 0, (result.status, result.text)
    report = parse_report(read("report.json", "rb"))
    check_holds(report)
    assert not report["losses"]["records"], report["losses"]
    for kind, name in (("mutex", r"^mutex of pipe:"), ("rwsem write", "^i_rwsem of .*/journal$")):
        assert find(report, kind, name)["acquisitions"] > 20, name


BAD_FILES = {
    "{": "klock.json:1:",
    '{"functions": 1}': 'not {"functions": [...]}',
    '{"functions": [{}]}': 'function 1:',
    '{"functions": [{"symbol": "f", "kind": "k", "does": "hold"}]}': '"does" is "acquire", "release" or "change"',
    '{"functions": [{"symbol": "f", "kind": "k", "does": "release", "succeeds": "zero"}]}': '"succeeds"',
    '{"functions": [{"symbol": "f;", "kind": "k", "does": "release"}]}': 'name of a function of the kernel',
    '{"functions": [{"symbol": "f", "kind": "", "does": "release"}]}': 'a "kind" has up to',
    '{"functions": [{"symbol": "f", "kind": "k", "does": "release", "argument": 7}]}': 'from 1 to 6',
    '{"functions": [{"symbol": "f", "kind": "k", "does": "release", "colour": 1}]}': 'colour',
}


@test("a file of functions that is wrong is one message that says where, and nothing is traced")
def bad_files():
    for text, message in BAD_FILES.items():
        with open("klock.json", "w", encoding="utf-8") as file:
            file.write(text)
        result = pinch("klock", "--acquisitions", "--", "touch", "traced",
                       env=USERS_FILE)
        assert result.status == 125 and message in result.err.decode(), (text, result.status, result.err)
        assert result.err.count(b"\n") == 1 and not os.path.exists("traced"), result.err
    result = pinch("klock", "--acquisitions", "--", "true", env={**os.environ, "PINCH_KLOCK_FUNCTIONS": "none.json"})
    assert result.status == 125 and "none.json" in result.err.decode(), result.err


@test("without kprobes, --acquisitions is one message, and pinch check says how to get them")
def no_kprobes():
    check = pinch("check")
    assert re.search(r"(ok|limited) +kprobes \(pinch klock --acquisitions\)", check.out.decode()), check.out
    if HAS_KPROBES:
        return
    result = pinch("klock", "--acquisitions", "--", "touch", "traced")
    assert result.status == 125 and "needs kprobes" in result.err.decode(), (result.status, result.err)
    assert result.err.count(b"\n") == 1 and not os.path.exists("traced"), result.err


sys.exit(main())
