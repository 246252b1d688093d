#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The critical functions that papers name of four programs of the PARSEC suite, beside what pinch says by default of
small programs after their descriptions (tests/programs/code): in its first call paths and functions, in its verdict,
and of what those did that the threads waited for. These programs know how much critical time functions had.
  GAPP: R. Nair and T. Field, GAPP: A Fast Profiler for Detecting Serialization Bottlenecks in Parallel Linux
  Applications, ICPE 2020: the section on Parsec 3.0, table 2 and figure 4.
  The extension: A. J. Davies-Lyons, Leveraging Linux kernel tracing to classify and detail application bottlenecks,
  Imperial College London 2019: section 4.5.1.

LENGTH_MS: how long each program runs (2500).
"""
import os
import sys
import tempfile
import textwrap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import lib
from code_model import PATHS, comparisons, log_name
from lib import check_laws, functions_of, main, parse_report, pinch, program, read, test
from truth_model import Truth

LENGTH_MS = int(os.environ.get("LENGTH_MS", 2500))
FIRST = 3                   # rows
TRIES = 3                   # as in tests/e2e/code.py: what is wrong is wrong each time
ERRORS_MAX, UNSEEN = 4, 5   # likewise
UNKNOWN_SHARE = 0.05


class Case:
    """
    original, said: the program of the suite, and what papers say of it. leads: the critical function; within:
    whose it is; also: further ones among the first rows. waits: what is waited for most, in this function.
    held: of functions that wait, which one those were in that were waited for.
    """

    def __init__(self, original, said, leads, within, also=(), waits=None, held=(), group=None):
        self.original, self.said, self.leads, self.within = original, said, leads, within
        self.also, self.waits, self.held, self.group = also, waits, dict(held), group


CASES = {
    "similarity_search": Case(
        "ferret", "dist_L2_float (table 2), called by emd(), which is the core of ranking; threads of that stage have "
        "the highest CMetric (figure 4)", "dist_L2_float", "emd",
        held={"t_vec": "dist_L2_float", "t_out": "dist_L2_float"}, group="t_rank"),
    "body_tracker": Case(
        "bodytrack", "OutputBMP and RecvCmd (table 2): workers wait in RecvCmd while the parent is in OutputBMP. The "
        "extension: most critical is Condition::Wait < WorkerGroup::RecvCmd, and the files are written in "
        "OutputBMP", "TrackingModel::OutputBMP", "mainPthreads", waits="threads::WorkerGroup::RecvCmd",
        held={"threads::WorkerGroup::RecvCmd": "TrackingModel::OutputBMP",
              "threads::WorkerGroup::SendCmd": "TrackingModel::ImageErrorEdge"}),
    "block_deduper": Case(
        "dedup", "deflate_slow of Compress (table 2), and write_file of Reorder", "deflate_slow", "Compress",
        also=("write_file",), held={"Deduplicate": "deflate_slow", "Reorder": "deflate_slow"}, group="Compress"),
    "stream_clusterer": Case(
        "streamcluster", "parsec_barrier_wait and dist (table 2)", "dist", "pgain", waits="parsec_barrier_wait",
        held={"parsec_barrier_wait": "dist"}),
}


def record(name):
    """The report, its text and the truth of one run."""
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.NamedTemporaryFile(prefix="pinch-papers-", dir=place) as log:
        result = pinch("run", "-o", "report.txt", "--trace", "t.pinch", "--json", "report.json", "--",
                       program(f"code/{name}"), log.name, LENGTH_MS, limit_s=lib.LIMIT_S + LENGTH_MS / 1000)
        assert result.status == 0, result.text
        report = parse_report(read("report.json", "rb"))
        check_laws(report)
        return report, read("report.txt"), Truth("t.pinch", log.name)


def names_of(row):
    """Functions of a stack, innermost first, without what they return."""
    return [log_name(name) for name in functions_of(row)]


def verdict_of(text):
    """The paragraph that a report begins with, after its head."""
    return " ".join(text.split("\n\n")[1].split())


def rank_of(rows, is_it):
    """From 1; None: not among them."""
    return next((rank for rank, row in enumerate(rows, 1) if is_it(row)), None)


def path_rank(report, function):
    return rank_of(report["paths"], lambda path: function in names_of(path))


def function_rank(report, function):
    """By its own critical CMetric, without that of what it calls."""
    return rank_of(report["code"]["functions"], lambda row: log_name(row["name"]) == function)


def busy_ns(wait):
    return wait["wait_ns"] - wait["idle_ns"]


def waits_in(report, function):
    """The heaviest row of where threads wait in there, or in what it calls."""
    rows = [wait for wait in report["waits"] if function in names_of(wait) and wait["blocked_on"]]
    return max(rows, key=busy_ns, default=None)


# --- What is printed -------------------------------------------------------------------------------

def say(label, text):
    for line in textwrap.wrap(text, 110):
        print(f"# {label:<8}{line}")
        label = ""


def say_functions(report, truth):
    whole = {log_name(row["name"]): row["total"] for row in report["code"]["functions"]}
    all_ns = report["code"]["critical_ns"]
    return ", ".join(
        f"{name} {100 * whole[name]['critical_ns'] / all_ns:.1f} ± {100 * whole[name]['error_ns'] / all_ns:.1f} % "
        f"(truly {100 * truth.whole[name].critical_ns / all_ns:.1f})" for name in truth.names if name in whole)


def show(name, case, report, text, truth):
    say("papers", f"{case.original}: {case.said}")
    say("pinch", f"{name}: {verdict_of(text)}")
    for path in report["paths"][:FIRST]:
        say("", f"path {path['rank']}: {100 * path['wall_share']:.1f} % of wall: {' < '.join(names_of(path)[:3])}")
    for function in [case.leads, *case.also]:
        say("", f"{function}: path {path_rank(report, function)}, function {function_rank(report, function)}")
    for rank, wait in enumerate(report["waits"][:FIRST], 1):
        own = [log_name(frame["function"]) for frame in wait["stack"] if frame["module"] == name]
        say("", f"wait {rank}: {busy_ns(wait) / 1e6:.0f} ms for {wait['cause']} in {' < '.join(own[:3])}")
    for finding in report["findings"][:FIRST]:
        say("", f"finding: {100 * finding['share']:.0f} %: {finding['title']}")
    for function in case.held:
        wait = waits_in(report, function)
        say("", f"{function} waited for: {wait and wait['blocked_on']['text']}")
    for whatif in report["whatifs"] or ():
        say("", f"what if: {whatif['run_ns'] / 1e6:.0f} -> {whatif['predicted_ns'] / 1e6:.0f} ms: "
                f"{whatif['kind']} {whatif['name']}")
    say("truth", f"of critical CMetric, with all that it calls: {say_functions(report, truth)}")


# --- What must hold --------------------------------------------------------------------------------

def check_rows(case, report, text):
    first = report["paths"][0]
    assert {case.leads, case.within} <= set(names_of(first)), names_of(first)
    for function in case.also:
        ranks = path_rank(report, function), function_rank(report, function)
        assert any(rank and rank <= FIRST for rank in ranks), f"{function}: path, function {ranks}"
    verdict = verdict_of(text)
    assert case.leads.rpartition("::")[2] in verdict, verdict
    if case.waits:
        rank = rank_of(report["waits"], lambda wait: case.waits in names_of(wait))
        assert rank == 1, f"{case.waits} is wait {rank}"
    if case.group:
        top = max(report["groups"], key=lambda group: group["cmetric_ns"] / group["thread_count"])
        assert top["name"] == case.group, report["groups"]


def check_held(case, report):
    """Of what those did that were waited for, most is in the function, and little is unknown."""
    for place, function in case.held.items():
        wait = waits_in(report, place)
        assert wait, f"nobody waited in {place}"
        on = wait["blocked_on"]
        assert on["unknown_ns"] <= UNKNOWN_SHARE * on["ns"], on
        assert on["code"] and function in names_of(on["code"][0]), f"{place}: {on['text']}"


def check_truth(report, truth):
    """Default reports have few call paths; functions are all there."""
    assert not truth.unread, f"{truth.unread} entries of the log are later than the trace"
    for what, compared in comparisons(report, truth):
        worst = max((z for _, z in compared.excesses(UNSEEN)), default=0)
        assert what == PATHS or worst <= ERRORS_MAX, f"{what} is off by {worst:.1f} standard errors: {compared}"


def register(name, case):
    @test(f"{name}, after {case.original}: {case.leads} leads")
    def check():
        for attempt in range(1, TRIES + 1):
            report, text, truth = record(name)
            show(name, case, report, text, truth)
            try:
                check_rows(case, report, text)
                check_held(case, report)
                check_truth(report, truth)
                return
            except AssertionError:
                if attempt == TRIES:
                    raise


for program_name, program_case in CASES.items():
    register(program_name, program_case)

if __name__ == "__main__":
    sys.exit(main())
