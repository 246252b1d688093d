#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What happens when privileges cannot be given up, each step in its turn, as strace makes it fail: no process that
reads what programs wrote goes on with them, and the user sees it. What only some kernels have, and only root may
do, may be missing; something else does its work then.
"""
import shutil
import sys
import time

from lib_attacks import ENGINE, SOUND, WORKER, Tracing
from lib import Skip, main, read, status_of, test

WITHOUT_HELPERS = "does not run: names and call paths are missing"
ENGINE_GOES_ON = "and keeps them"


def traced(**failures):
    """pinch, of which each of these system calls fails: its processes' states by name, and what it said."""
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    inject = [word for call, error in failures.items() for word in ("-e", f"inject={call}:error={error}")]
    tracing = Tracing(prefix=["strace", "-D", "-f", "-o", "/dev/null", "-e", "trace=" + ",".join(failures), *inject])
    time.sleep(0.3)     # for who is confined late
    family = {}
    for pid in tracing.family():
        status = status_of(pid)
        family.setdefault(status.get("Name"), []).append(status)
    result = tracing.end()
    assert result.status == 0, result.text
    return family, result.text


def check_ended(needle=WITHOUT_HELPERS, **failures):
    family, text = traced(**failures)
    assert set(family) <= {ENGINE, "pinch-spawner", "pinch-opener"}, f"there are {sorted(family)}"
    unconfined = [name for name, all in family.items() for status in all
                  if name != ENGINE and status["Seccomp"] != "2"]
    assert not unconfined, f"{unconfined} have no filter"
    assert needle in text, text


def check_works(**failures):
    family, text = traced(**failures)
    assert [status["Seccomp"] for status in family.get(WORKER, [])] == ["2"], family.get(WORKER)
    assert WITHOUT_HELPERS not in text and ENGINE_GOES_ON not in text, text
    assert all(name in read("report.txt") for name in SOUND), read("report.txt")


@test("a worker that cannot become nobody does not read, and pinch says so")
def user():
    check_ended(setresuid="EPERM")


@test("a worker that cannot leave root's groups does not read, and pinch says so")
def groups():
    check_ended(setgroups="EPERM")


@test("a process that keeps its capabilities does not read, and pinch says that it has kept its own")
def capabilities():
    check_ended(ENGINE_GOES_ON, capset="EPERM")


@test("a process whose system calls are not filtered does not read, and pinch says that its own are not")
def system_calls():
    check_ended(ENGINE_GOES_ON, seccomp="EINVAL")


@test("a worker that Landlock should keep from files, and does not, does not read, and pinch says so")
def paths():
    check_ended(unshare="EPERM", landlock_restrict_self="EINVAL")


@test("without namespaces Landlock does, and without both the filter: names are found")
def alternatives():
    check_works(unshare="EPERM")
    check_works(unshare="EPERM", landlock_create_ruleset="ENOSYS")
    check_works(mount="EPERM", landlock_create_ruleset="EOPNOTSUPP")


if __name__ == "__main__":
    sys.exit(main())
