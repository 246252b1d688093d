#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Shares of code under CMetric, of programs that know them: each writes down when it was in which function, and
truth_model.py joins that with n(t) of the same run.

LENGTH_MS: how long each program runs (1000).
"""
import math
import os
import statistics
import sys

from code_model import FIGURES, LEADERS, OTHER, PATHS, by_function, comparisons, measure
from lib import check_blocked_on, main, near, read, test

LENGTH_MS = int(os.environ.get("LENGTH_MS", 1000))
# The two clocks of a thread's time on a CPU are not read at the same point of a switch.
SWITCH_NS, CLOCKS_SHARE = 10000, 0.01
UNCOUNTED = 2     # it does not hit all threads alike
STAMPS_MIN = 50
# The trace has a sample's time, the report what was interrupted: at the edges of functions they differ, by 6
# of 200 samples in the most that was seen.
SAMPLES_APART, SAMPLES_SHARE = 8, 0.02
# What wakes the next one, after the log and before the function's end, is the function's: a tail call. Turns of 20 us have
# edges nearly everywhere.
EDGE_SHARES = {"tail_unlock": 0.1, "short_slices": 0.1}
# In a million samples from a normal distribution 63 are further off. No sample in so many is once in 150 times.
ERRORS_MAX, UNSEEN = 4, 5
# The sum of absolute differences of shares, with so many samples; with fewer it grows as their error does.
DISTANCE_MAX, SAMPLES = 0.05, 10000
TICK_NS_MAX = 4000000     # the longest tick that samples are taken at
# Others that want the CPUs have threads preempted at ticks, and sampled there: what is wrong is wrong each time.
TRIES = 3
HELD_SHARE = 0.95


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


def cpu_times():
    """Of all CPUs: in use, and of that what no thread's clock counts, interrupts and what the hypervisor took."""
    times = [int(field) for field in read("/proc/stat").split("\n", 1)[0].split()[1:9]]
    return sum(times) - sum(times[3:5]), sum(times[5:8])


def check_clocks(truth, uncounted):
    """
    Between two places of the log, the trace says that the thread ran for as long as its own clock says, but for what
    that does not count: so much of the time that CPUs were in use.
    """
    off = []
    for thread in truth.threads.values():
        for (begin_ns, ran_ns, slices), (end_ns, ran_end_ns, slices_end) in zip(thread.cpu_stamps, thread.cpu_stamps[1:]):
            apart_ns = abs((ran_end_ns - ran_ns) - (end_ns - begin_ns)) - SWITCH_NS * (slices_end - slices)
            off.append(apart_ns / (end_ns - begin_ns))
    # Not each: a thread that is hidden from tracers may have had the CPU.
    if len(off) >= STAMPS_MIN:
        assert statistics.median(off) <= CLOCKS_SHARE + UNCOUNTED * uncounted, (statistics.quantiles(off), uncounted)


def check_exact(program, report, truth):
    """What is distributed over the code is exact; what samples are of, the log says, too."""
    code, count = report["code"], len(truth.threads)
    for figure in FIGURES:
        near(code[figure], truth.all_ns(figure), count, figure)
    known = by_function(report, truth.names, "cpu_ns")
    apart = SAMPLES_APART + EDGE_SHARES.get(program, SAMPLES_SHARE) * code["samples"]
    for name, (_, _, samples) in known.items():
        near(samples, truth.samples_within(code["samples"])[name], apart, f"samples in {name}")


def check_estimates(name, report, truth):
    assert not truth.unread, f"{truth.unread} entries of the log are later than the trace"
    # What else runs makes the switches of the program, which are in none of its functions, longer.
    leader = max(truth.own.keys() - {OTHER}, key=lambda function: truth.own[function].critical_ns)
    assert leader == LEADERS[name], truth.shares(truth.own, "critical_ns")
    for what, compared in comparisons(report, truth):
        worst = max((z for _, z in compared.excesses(UNSEEN)), default=0)
        assert worst <= ERRORS_MAX, f"{what} is off by {worst:.1f} standard errors: {compared}"
        if what == PATHS:
            limit = DISTANCE_MAX * math.sqrt(max(1, SAMPLES / compared.carried()))
            assert compared.distance() <= limit, f"{what}, {100 * compared.distance():.1f} % apart: {compared}"
            rival = compared.rival(LEADERS[name], ERRORS_MAX)
            assert not rival, f"{rival} leads {what}: {compared}"


def register(name):
    @test(f"{name}: {LEADERS[name]} leads")
    def check():
        for attempt in range(1, TRIES + 1):
            before = cpu_times()
            report, truth = measure(name, LENGTH_MS)
            in_use, uncounted = (after - at for after, at in zip(cpu_times(), before))
            check_accounts(report, truth)
            check_exact(name, report, truth)
            try:
                check_clocks(truth, uncounted / max(in_use, 1))
                check_estimates(name, report, truth)
                return
            except AssertionError:
                if attempt == TRIES:
                    raise


for program_name in LEADERS:
    register(program_name)


# The lock of each program, by the function that takes it, and what its holders run.
HELD = {"writer_among_readers": ("run_reader", "rebuild_index"), "tail_unlock": ("store_row", "store_row")}


@test("what those run that others wait for: of the time that they run, nearly all is in the function under the lock")
def holders_code():
    for name, (where, function) in HELD.items():
        report, _ = measure(name, 2 * LENGTH_MS)
        check_blocked_on(report)
        on = max((lock for lock in report["locks"] if where in (lock["where"] or "")),
                 key=lambda lock: lock["wait_ns"])["blocked_on"]
        assert on["unknown_ns"] <= 0.01 * on["ns"], on
        # What the function calls to write its log is in it, too.
        within = [code for code in on["code"] if function in [frame["function"] for frame in code["stack"]]]
        assert on["code"][0] in within, on
        assert sum(c["ns"] for c in within) >= HELD_SHARE * on["running_ns"] - ERRORS_MAX * within[0]["error_ns"], on


@test("in_step, sampled at the kernel's tick: samples leave it, and before_tick leads")
def sees_other_code():
    report, truth = measure("in_step", 3 * LENGTH_MS, ())
    assert truth.timers_within[None] > truth.regular_within[None], f"{report['notes']}"
    assert any("in step with the kernel's tick" in note for note in report["notes"]), report["notes"]
    check_exact("in_step", report, truth)
    check_estimates("in_step", report, truth)


@test("hidden_from_tick, sampled at the kernel's tick: samples leave it, and between_ticks leads")
def leaves_the_tick():
    report, truth = measure("hidden_from_tick", 2 * LENGTH_MS, ())
    code = report["code"]
    assert code["samples"] > 0.5 * code["cpu_ns"] / TICK_NS_MAX, f"{code['samples']} samples, {report['notes']}"
    compared = next(compared for what, compared in comparisons(report, truth) if what == PATHS)
    rival = compared.rival("between_ticks", 0)
    assert not rival, f"{rival} leads: {compared}"


if __name__ == "__main__":
    sys.exit(main())
