#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Plants each cause of tests/causes/cases_*.py, lets pinch look as a user would, and scores its verdict: RIGHT, PARTLY or
WRONG (lib_causes.py). A line a run: the score, how long it all took, the case, the first line of the verdict. Then the
sums.

Environment: ONLY, a part of the names of cases to run (a regular expression); ROUNDS (1) of each; QUICK=1, only those
that `make check` runs, as TAP: what is not RIGHT has failed; BESIDE=1, two processes that compute run beside: then the
planted cause has to be the first or second finding; RESULT, a file for all of it as JSON; VERIFY=1: without pinch, how
much the users of each service get with the planted cause and without it. O, PINCH, LIMIT_S and KEEP as in tests/e2e.

The exit status is 1 if a case could not be made, or a quick one is not RIGHT.
"""
import collections
import contextlib
import glob
import importlib
import inspect
import json
import os
import re
import shutil
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "e2e"), os.path.join(HERE, "..", "..", "bench")]
import lib              # noqa: E402
import processes        # noqa: E402
from lib_causes import PARTLY, RIGHT, WRONG, cases, score, text_of, verdict_of     # noqa: E402

SKIPPED, FAILED = "SKIP", "FAIL"
BESIDE_PROCESSES = 2
VERIFY_S = 3
LINE_MAX = 150
QUICK_TRIES = 3     # what else runs on the machine may be the truth once


def is_set(name):
    return os.environ.get(name, "") not in ("", "0")


def load_cases():
    for path in sorted(glob.glob(os.path.join(HERE, "cases_*.py"))):
        importlib.import_module(os.path.basename(path).removesuffix(".py"))
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), "two cases have one name"
    only = os.environ.get("ONLY", "")
    return [case for case in cases if re.search(only, case.name) and (case.quick or not is_set("QUICK"))]


# --- One run ------------------------------------------------------------------------------------

@contextlib.contextmanager
def private_directory(root):
    """The current one, and that for temporary files; all that was started is stopped at its end."""
    where = tempfile.mkdtemp(dir=root)
    os.chmod(where, 0o755)
    os.chdir(where)
    os.environ["TMPDIR"] = where
    try:
        yield where
    finally:
        lib.stop_all()
        lib.processes.clear()
        processes.stop_all()
        os.environ["TMPDIR"] = root
        os.chdir(root)
        if not os.environ.get("KEEP"):
            shutil.rmtree(where, ignore_errors=True)


@contextlib.contextmanager
def computing(count):
    """So many processes that only compute."""
    started = [lib.start("/bin/sh", "-c", "while :; do :; done") for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            lib.stop(process)


class NoReport(Exception):
    """What pinch said instead of a report."""


def look(target):
    """The report of pinch, as JSON has it."""
    output = ["--json", "report.json", "-o", "report.txt", *target.options]
    if target.command:
        result = lib.pinch("run", *output, "--", *target.command)
    else:
        pids = ["-p", ",".join(map(str, target.pids))] if target.pids else []
        result = lib.pinch("attach", *pids, "--duration", f"{target.seconds}s", *output)
    if not os.path.exists("report.json"):
        raise NoReport(result.text.strip())
    return json.loads(lib.read("report.json"))


def try_case(case, where):
    """The score and what it is based on."""
    with contextlib.contextmanager(case.function)(where) as target:
        with computing(BESIDE_PROCESSES if is_set("BESIDE") else 0):
            report = look(target)
    return {"score": score(report, case.truth, target.names, is_set("BESIDE")),
            "verdict": verdict_of(report),
            "text": lib.read("report.txt"),
            "findings": report["findings"][:5],
            "expected": [*case.truth.names, *target.names]}


def failure_of(error):
    if isinstance(error, (lib.Skip, NoReport)):
        return {"score": SKIPPED if isinstance(error, lib.Skip) else WRONG, "error": str(error)}
    text = lib.describe_failure(error) if isinstance(error, AssertionError) else \
        "".join(traceback.format_exception(error))
    return {"score": FAILED, "error": text}


def run_once(case, root):
    begin_s = time.monotonic()
    with private_directory(root) as where:
        try:
            outcome = try_case(case, where)
        except Exception as error:      # of one case: the others are run
            outcome = failure_of(error)
    return {"name": case.name, "quick": case.quick, "kinds": sorted(case.truth.kinds),
            "seconds": round(time.monotonic() - begin_s, 1), **outcome}


# --- What the planted cause does to the service -------------------------------------------------------

def rate(case, where, fault):
    """What the service did in a second; of a command, how often it could be run."""
    with contextlib.contextmanager(case.function)(where, fault=fault) as target:
        begin_s, begin = time.monotonic(), target.progress() if target.progress else 0
        if target.command:
            lib.start(*target.command).wait(lib.LIMIT_S)
            return 1 / (time.monotonic() - begin_s)
        time.sleep(VERIFY_S)            # a measurement
        return (target.progress() - begin) / (time.monotonic() - begin_s)


def verify(case, root):
    if "fault" not in inspect.signature(case.function).parameters:
        return
    rates = []
    for fault in (True, False):
        with private_directory(root) as where:
            rates.append(rate(case, where, fault))
    lib.print_line(f"{case.name}: {rates[0]:.1f} a second, {rates[1]:.1f} without the planted cause")


# --- All of them --------------------------------------------------------------------------------

def comment():
    return "# " if is_set("QUICK") else ""


def show(outcome, number):
    said = outcome.get("error")
    if not said:
        verdict = outcome["verdict"]
        said = f"{verdict['kind']}: {text_of(verdict).splitlines()[0] if text_of(verdict) else ''}"
    said = said.strip().splitlines()[-1] if outcome["score"] == FAILED else said
    if is_set("QUICK"):
        skip = f" # SKIP {said}" if outcome["score"] == SKIPPED else ""
        print("ok" if is_good(outcome) else "not ok", number, "-", outcome["name"] + skip)
    lib.print_line(f"{comment()}{outcome['score']:6} {outcome['seconds']:5.1f} s  {outcome['name']} | {said[:LINE_MAX]}")


def is_good(outcome):
    return outcome["score"] in (RIGHT, SKIPPED) if is_set("QUICK") else outcome["score"] != FAILED


def show_sums(outcomes):
    counts = collections.Counter(outcome["score"] for outcome in outcomes)
    scored = sum(counts[word] for word in (RIGHT, PARTLY, WRONG))
    share = f", {counts[RIGHT] / scored:.0%} right" if scored else ""
    lib.print_line(comment() + ", ".join(f"{counts[word]} {word}" for word in (RIGHT, PARTLY, WRONG, SKIPPED, FAILED)) + share)


def run_until_good(case, root):
    outcome = run_once(case, root)
    for _ in range(QUICK_TRIES - 1 if is_set("QUICK") else 0):
        if is_good(outcome):
            break
        lib.print_line(f"# {outcome['score']}: {outcome.get('text') or outcome.get('error')}".replace("\n", "\n# "))
        outcome = run_once(case, root)
    return outcome


def run_all(chosen, root):
    outcomes = []
    for _ in range(int(os.environ.get("ROUNDS", 1))):
        for case in chosen:
            outcomes.append(run_until_good(case, root))
            show(outcomes[-1], len(outcomes))
    show_sums(outcomes)
    if os.environ.get("RESULT"):
        with open(os.environ["RESULT"], "w") as file:
            json.dump(outcomes, file, indent=1)
    lib.assert_nothing_attached()
    if is_set("QUICK"):
        print(f"1..{len(outcomes)}")
    return 0 if all(map(is_good, outcomes)) else 1


def main():
    chosen = load_cases()
    reason = None if is_set("VERIFY") else lib.cannot_trace()
    if reason:
        print(f"nothing can be traced here: {reason}")
        return 1
    if os.environ.get("RESULT"):
        os.environ["RESULT"] = os.path.abspath(os.environ["RESULT"])
    root = tempfile.mkdtemp(prefix="pinch-causes-")
    os.chmod(root, 0o755)
    os.environ["XDG_CACHE_HOME"] = os.path.join(root, "cache")
    try:
        if is_set("VERIFY"):
            for case in chosen:
                verify(case, root)
            return 0
        return run_all(chosen, root)
    finally:
        lib.stop_all()
        os.chdir("/")
        if not os.environ.get("KEEP"):
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
