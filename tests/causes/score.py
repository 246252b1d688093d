#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How answers are scored: lib_causes.py."""
import itertools
import sys

from lib_causes import KINDS, PARTLY, RIGHT, WRONG, Truth, score, verdict_of

TRUTH = Truth({"timer"}, ["look_up_stock"], ["event loop"])
tests = []


def test(sentence):
    return lambda function: tests.append((sentence, function))


def finding(title, *evidence, pattern="wait", cause="sleep"):
    return {"title": title, "evidence": list(evidence), "pattern": pattern, "cause": cause}


def report(*findings, **verdict):
    return {"findings": list(findings), "verdict": {"lines": [], **verdict} if verdict else None}


@test("an answer of the right kind that names it is right, wherever it names it")
def right():
    for said in ({"lines": ["threads sleep", "in LOOK_UP_STOCK()"]}, {"object": "look_up_stock"},
                 {"blocker": {"name": "look_up_stock"}}, {"cause_path": ["main", "look_up_stock"]},
                 {"cause_path": [{"function": None}, {"function": "look_up_stock"}]}):
        assert score(report(kind="timer", **said), TRUTH) == RIGHT, said


@test("without a verdict the first finding is one, and without findings nothing is wrong")
def first_finding():
    assert score(report(finding("sleeps in look_up_stock")), TRUTH) == RIGHT
    assert score(report(finding("sleeps", "in look_up_stock")), TRUTH) == RIGHT
    assert verdict_of(report())["kind"] == "none"
    assert score(report(), Truth({"none"})) == RIGHT
    assert score(report(), TRUTH) == WRONG


@test("another kind, a name that is missing or one that misleads is not right")
def not_right():
    named = finding("waits in look_up_stock")
    for kind in KINDS - {"timer"}:
        assert score(report(kind=kind, lines=["look_up_stock"]), TRUTH) == PARTLY, kind
        assert score(report(kind=kind, lines=["elsewhere"]), TRUTH) == WRONG, kind
    assert score(report(kind="timer", lines=["elsewhere"]), TRUTH) == WRONG
    assert score(report(kind="timer", lines=["look_up_stock"]), TRUTH, ["127.0.0.1:80"]) == PARTLY
    assert score(report(kind="timer", lines=["event loop", "look_up_stock"]), TRUTH) == PARTLY
    assert score(report(finding("x"), finding("y"), named, kind="lock"), TRUTH) == PARTLY
    assert score(report(finding("x"), finding("y"), finding("z"), named, kind="lock"), TRUTH) == WRONG


@test("beside a load the cause may be the second finding, and no later one")
def beside():
    cpu, named = finding("CPUs", pattern="cpu-wait"), finding("sleeps in look_up_stock")
    assert score(report(cpu, named), TRUTH) == PARTLY
    assert score(report(cpu, named), TRUTH, is_beside=True) == RIGHT
    assert score(report(cpu, cpu, named), TRUTH, is_beside=True) == PARTLY


@test("of a healthy run any other verdict is wrong, but for a lack of CPUs beside a load if it computes")
def healthy():
    for kind, is_beside, beside in itertools.product(KINDS, (False, True), (set(), {"cpu"})):
        expected = RIGHT if kind == "none" or kind in beside and is_beside else WRONG
        truth = Truth({"none"}, kinds_beside=beside)
        assert score(report(kind=kind, lines=["x"]), truth, is_beside=is_beside) == expected, (kind, beside)


def main():
    failed = 0
    for number, (sentence, function) in enumerate(tests, 1):
        try:
            function()
            print(f"ok {number} - {sentence}")
        except AssertionError as error:
            failed += 1
            print(f"not ok {number} - {sentence}\n# line {error.__traceback__.tb_next.tb_lineno}: {error}")
    print(f"1..{len(tests)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
