#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Shares of code under CMetric, of programs that know them: each writes down when it was in which function, and
truth_model.py joins that with n(t) of the same run.

LENGTH_MS: how long each program runs (1000).
"""
import os
import statistics
import sys

from code_model import LEADERS, measure
from lib import main, near, test

LENGTH_MS = int(os.environ.get("LENGTH_MS", 1000))
# The two clocks of a thread's time on a CPU are not read at the same point of a switch.
SWITCH_NS, CLOCKS_SHARE = 10000, 0.01
STAMPS_MIN = 50


def check_accounts(report, truth):
    """The truth has the same n(t) as the report: each thread's figures are equal."""
    by_tid = {}
    for thread in truth.threads.values():
        by_tid.setdefault(thread.tid, []).append(thread)
    singles = [t for t in report["threads"] if t["thread_count"] == 1 and len(by_tid[t["tid"]]) == 1]
    for row in singles:
        thread, = by_tid[row["tid"]]
        near(row["running_ns"], thread.all.cpu_ns, 1, f"running time of {row['name']}")
        near(row["cmetric_oncpu_ns"], thread.all.cmetric_ns, 1, f"on-CPU CMetric of {row['name']}")
        near(row["cmetric_ns"], thread.active_cmetric_ns, 1, f"CMetric of {row['name']}")
    count = len(report["threads"])
    near(sum(t["cmetric_oncpu_ns"] for t in report["threads"]),
         sum(t.all.cmetric_ns for t in truth.threads.values()), len(truth.threads) + count, "on-CPU CMetric of all")
    for level in report["parallelism"]:
        near(level["ns"], truth.levels[level["active"]], 1, f"time with {level['active']} active")


def check_clocks(truth):
    """Between two places of the log, the trace says that the thread ran for as long as its own clock says."""
    off = []
    for thread in truth.threads.values():
        for (begin_ns, ran_ns, slices), (end_ns, ran_end_ns, slices_end) in zip(thread.cpu_stamps, thread.cpu_stamps[1:]):
            apart_ns = abs((ran_end_ns - ran_ns) - (end_ns - begin_ns)) - SWITCH_NS * (slices_end - slices)
            off.append(apart_ns / (end_ns - begin_ns))
    # Not each: a thread that is hidden from tracers may have had the CPU.
    if len(off) >= STAMPS_MIN:
        assert statistics.median(off) <= CLOCKS_SHARE, statistics.quantiles(off)


def check_truth(name, report, truth):
    check_accounts(report, truth)
    check_clocks(truth)
    assert not truth.unread, f"{truth.unread} entries of the log are later than the trace"
    leader = max(truth.own, key=lambda function: truth.own[function].critical_ns)
    assert leader == LEADERS[name], truth.shares(truth.own, "critical_ns")


def register(name):
    @test(f"{name}: {LEADERS[name]} leads")
    def check():
        report, truth = measure(name, LENGTH_MS)
        check_truth(name, report, truth)


for program_name in LEADERS:
    register(program_name)

if __name__ == "__main__":
    sys.exit(main())
