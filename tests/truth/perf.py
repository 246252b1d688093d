#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
pinch beside `perf record -g`, of the same run: as many samples in each call path, and the same CMetric of each
function, where perf's samples are weighed with n(t) of the trace.

LENGTH_MS: how long the program runs (10000).
"""
import bisect
import collections
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from code_model import by_function, log_name, measure
from lib import LIMIT_S, Skip, find, main, start, stop, test, wait_until

LENGTH_MS = int(os.environ.get("LENGTH_MS", 10000))
# It has frame pointers, as perf needs them.
PROGRAM = "deep_recursion_fp"
PERIOD_NS = 3100000         # in step with no tick
EXPECTED_MIN = 5            # cells of a chi-square test with less are put together
CHANCE_SIGMAS = 3.1         # a correct pinch is further off once in a thousand times

HEADER = re.compile(r"\s*(\d+)\s+(\d+)\.(\d{9}):")
FRAME = re.compile(r"\s+[0-9a-f]+ (.+) \((.*)\)$")


def record(options):
    """The report, the truth and perf's samples of one run."""
    perf = find("perf")
    if not perf:
        raise Skip("perf is not here")
    recorder = start(perf, "record", "-q", "-a", "-g", "-k", "mono", "-e", "cpu-clock", "-c", PERIOD_NS,
                     "-o", "perf.data", stdin=subprocess.DEVNULL)
    wait_until(lambda: os.path.exists("perf.data") and os.path.getsize("perf.data"), "perf to record")
    report, truth = measure(PROGRAM, LENGTH_MS, options)
    stop(recorder, 2)
    script = subprocess.run([perf, "script", "-i", "perf.data", "--ns", "--no-inline", "-F", "tid,time,ip,sym,dso"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=LIMIT_S, check=True, text=True)
    tids = {thread["host_tid"] for thread in report["threads"]}
    return report, truth, [s for s in perf_samples(script.stdout) if s[0] in tids]


def perf_samples(text):
    """(tid, time in ns, names of the program's own functions, outermost first) of each sample."""
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        header = HEADER.match(lines[0])
        if header:
            frames = [FRAME.match(line) for line in lines[1:]]
            own = [f[1] for f in frames if f and os.path.basename(f[2]) == PROGRAM]
            yield int(header[1]), int(header[2]) * 1_000_000_000 + int(header[3]), path_of(own)


def path_of(functions):
    """Outermost first."""
    return tuple(map(log_name, reversed(functions)))


def paths_of(report):
    """Samples by the same names: frames of inlined functions are left out."""
    counts = collections.Counter()
    for stack in report["code"]["stacks"]:
        own = [f["function"] for f in stack["stack"] if f["module"] == PROGRAM and not f["is_inlined"]]
        counts[path_of(own)] += stack["samples"]
    return counts


def chi_square(a, b):
    """
    Of two samples' being from one distribution: (statistic, degrees of freedom, sigmas): that of Wilson and
    Hilferty, The Distribution of Chi-square, 1931.
    """
    a_all, b_all = sum(a.values()), sum(b.values())
    smaller = min(a_all, b_all) / (a_all + b_all)
    cells, rest = [], [0, 0]
    for key in set(a) | set(b):
        cell = [a[key], b[key]]
        if sum(cell) * smaller >= EXPECTED_MIN:
            cells.append(cell)
        else:
            rest = [rest[0] + cell[0], rest[1] + cell[1]]
    if sum(rest) * smaller >= EXPECTED_MIN:
        cells.append(rest)
    statistic = 0
    for x, y in cells:
        for count, whole in ((x, a_all), (y, b_all)):
            expected = (x + y) * whole / (a_all + b_all)
            statistic += (count - expected) ** 2 / expected
    freedom = len(cells) - 1
    spread = 2 / (9 * freedom)
    return statistic, freedom, ((statistic / freedom) ** (1 / 3) - 1 + spread) / math.sqrt(spread)


def cmetric_shares(samples, truth):
    """Of each function with all that it calls, from perf's samples and n(t): {name: (share, standard error)}."""
    times, active = [t for t, _ in truth.steps], [n for _, n in truth.steps]
    weights, all_weights = collections.defaultdict(list), []
    for _, time_ns, own in samples:
        weight = 1 / max(1, active[max(0, bisect.bisect_right(times, time_ns) - 1)])
        all_weights.append(weight)
        for name in set(own) & set(truth.names):
            weights[name].append(weight)
    whole = sum(all_weights)
    shares = {}
    for name, list_of in weights.items():
        share = sum(list_of) / whole
        # Of a ratio: each sample's part of what is above or below the share.
        variance = sum(w * w for w in list_of) * (1 - 2 * share) + share * share * sum(w * w for w in all_weights)
        shares[name] = share, math.sqrt(variance) / whole
    return shares


def compare(options):
    report, truth, samples = record(options)
    mine, theirs = paths_of(report), collections.Counter(own for _, _, own in samples)
    statistic, freedom, sigmas = chi_square(mine, theirs)
    print(f"# {sum(mine.values())} samples of pinch, {sum(theirs.values())} of perf, chi-square {statistic:.1f} with "
          f"{freedom} degrees of freedom: {sigmas:+.2f} sigmas")
    wrong = []
    all_ns = report["code"]["cmetric_ns"]
    known = by_function(report, truth.names, "cmetric_ns")
    for name, (share, error) in cmetric_shares(samples, truth).items():
        ns, error_ns, _ = known[name]
        off = abs(ns / all_ns - share) / math.hypot(error, error_ns / all_ns)
        print(f"# CMetric of {name}: {100 * ns / all_ns:.2f} ± {100 * error_ns / all_ns:.2f} % by pinch, "
              f"{100 * share:.2f} ± {100 * error:.2f} % by perf, truly {100 * truth.whole[name].cmetric_ns / all_ns:.2f} %")
        if off > CHANCE_SIGMAS:
            wrong.append(name)
    assert sigmas <= CHANCE_SIGMAS, f"{sigmas:.1f} sigmas apart: {mine.most_common(5)} {theirs.most_common(5)}"
    assert not wrong, wrong


@test("samples at the tick: as many in each call path as perf has, within sampling noise; and as much CMetric")
def at_the_tick():
    compare(())


@test("samples out of step: the same")
def out_of_step():
    compare(("--sample-hz", 307))


if __name__ == "__main__":
    sys.exit(main())
