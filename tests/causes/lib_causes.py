# SPDX-License-Identifier: GPL-2.0-or-later
"""
Planted causes: what a case is, what a right answer to it says, and how an answer is scored.

A case is a function under @case(...) that sets a service or a program up in its private directory, which is also the
current one, waits until its load is in its steady state, yields a Target and cleans up. If it has a parameter `fault`,
it can be made without the planted cause, too: VERIFY=1 of run.py measures both.
"""
import dataclasses
import re

KINDS = {"code", "lock", "file", "network", "timer", "cpu", "cpu-limit", "memory", "kernel-lock", "process", "spin",
         "deadlock", "hang", "none"}
RIGHT, PARTLY, WRONG = "RIGHT", "PARTLY", "WRONG"
# How many findings may say what the verdict does not: for PARTLY, and beside a load.
FINDINGS_PARTLY, FINDINGS_BESIDE = 3, 2

cases = []


@dataclasses.dataclass(frozen=True)
class Truth:
    """
    kinds: of KINDS, those that are right. names: regular expressions, all of which a right answer matches: what has to
    be named for somebody to act. not_names: what the first line must not say, because it only misleads.
    kinds_beside: right beside a load, too.
    """
    kinds: set
    names: list = ()
    not_names: list = ()
    kinds_beside: set = frozenset()

    def __post_init__(self):
        assert self.kinds and self.kinds | self.kinds_beside <= KINDS, self


@dataclasses.dataclass(frozen=True)
class Target:
    """
    What pinch is attached to for that many seconds (pids, or what options say), or what it runs to its end (command).
    options: of pinch, that a user would give. names: more of the truth's, known only when all runs, such as a port. progress(): how much
    the users of the service got so far.
    """
    pids: list = ()
    command: list = ()
    seconds: float = 4
    options: list = ()
    names: list = ()
    progress: object = None


@dataclasses.dataclass(frozen=True)
class Case:
    """misleads: what ranks high and is no cause. verified: how it was shown that the planted cause is one."""
    name: str
    function: object
    truth: Truth
    quick: bool
    misleads: str
    verified: str


def case(name, *, truth, misleads="", verified="", quick=False):
    def register(function):
        cases.append(Case(name, function, truth, quick, misleads, verified))
        return function
    return register


def healthy(name, *, computes=False, misleads="", verified="", quick=False):
    """A run in which nothing is wrong: idle, or as busy as it can be (computes), for which a load takes CPUs away."""
    truth = Truth({"none"}, kinds_beside={"cpu"} if computes else set())
    return case(f"healthy: {name}", truth=truth, misleads=misleads, verified=verified, quick=quick)


# --- The answer ---------------------------------------------------------------------------------

# Of a finding that is about a wait, its cause decides.
KIND_OF_PATTERN = {
    "deadlock": "deadlock", "hang": "hang", "contended-lock": "lock", "convoy": "lock", "rare-slow-holder": "lock",
    "barrier-straggler": "code", "uneven-barrier": "code", "thundering-herd": "lock", "spurious-wake-ups": "lock",
    "serial-phase": "code", "hot-thread": "code", "cpu-wait": "cpu", "cpu-limit": "cpu-limit",
    "saturated-pool": "code", "spin": "spin", "critical-code": "code",
}
KIND_OF_CAUSE = {
    "lock": "lock", "condition": "lock", "barrier": "lock", "semaphore": "lock", "join": "lock", "file": "file",
    "socket": "network", "poll": "network", "pipe": "process", "child": "process", "sleep": "timer",
    "page-fault": "memory", "kernel-lock": "kernel-lock", "throttled": "cpu-limit", "stopped": "process",
    "other": "process", "cpu-wait": "cpu", "spin": "spin", "on-cpu": "code",
}


def frames_of(report, finding):
    """Where it is: what the report shows below it."""
    for rank, rows in (("path_rank", "paths"), ("wait_rank", "waits")):
        if 0 < (finding.get(rank) or 0) <= len(report[rows]):
            return report[rows][finding[rank] - 1]["stack"]
    return []


def verdict_of_finding(finding, report):
    kind = finding.get("kind") or KIND_OF_PATTERN.get(finding["pattern"]) or KIND_OF_CAUSE.get(finding["cause"], "code")
    return {"kind": kind, "lines": [finding["title"], *finding["evidence"]], "cause_path": frames_of(report, finding)}


def verdict_of(report):
    """The report's, or what its first finding says."""
    if report.get("verdict"):
        return report["verdict"]
    if report["findings"]:
        return verdict_of_finding(report["findings"][0], report)
    return {"kind": "none", "lines": ["no finding"]}


def function_of(frame):
    return frame if isinstance(frame, str) else frame.get("function") or ""


def text_of(verdict):
    """All that it names, a line each."""
    blocker = verdict.get("blocker") or {}
    parts = [*verdict.get("lines", ()), verdict.get("object"), blocker.get("name"),
             *map(function_of, verdict.get("cause_path") or ())]
    return "\n".join(part for part in parts if part)


def matches(pattern, text):
    return bool(re.search(pattern, text, re.IGNORECASE))


def is_right(verdict, truth, names):
    first = (verdict.get("lines") or [""])[0]
    return verdict["kind"] in truth.kinds and all(matches(name, text_of(verdict)) for name in names) and \
        not any(matches(name, first) for name in truth.not_names)


def score(report, truth, names=(), is_beside=False):
    """
    RIGHT, PARTLY or WRONG. names: more of the truth's. is_beside: other programs take CPUs away, which a verdict may
    say first; the planted cause has to be among the first findings then.
    """
    names = [*truth.names, *names]
    verdict = verdict_of(report)
    findings = [verdict_of_finding(finding, report) for finding in report["findings"][:FINDINGS_PARTLY]]
    if is_right(verdict, truth, names):
        return RIGHT
    if is_beside and (any(is_right(finding, truth, names) for finding in findings[:FINDINGS_BESIDE]) or
                      verdict["kind"] in truth.kinds_beside):
        return RIGHT
    if truth.kinds == {"none"}:
        return WRONG
    text = "\n".join(map(text_of, [verdict, *findings]))
    named = [matches(name, text) for name in names]
    return PARTLY if named and (all(named) or any(named) and verdict["kind"] in truth.kinds) else WRONG
