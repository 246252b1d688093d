#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Processes that come and go, with all of the machine traced: what is gone must not be kept, and what happens
must not be lost. Prints what the collector took. FULL: ten minutes of 90,000 forks a minute at a load of
10, in which nothing else should run; SECONDS and FORKS (a second) for another length and rate.
"""
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lib_attacks import FULL, attacker    # noqa: E402
from lib import (    # noqa: E402
    LIMIT_S, PINCH, Skip, check_laws, finish, main, parse_report, read, start, status_of, stop, test, wait_attached)

FORKS = int(os.environ.get("FORKS", 1500))
SECONDS = int(os.environ.get("SECONDS", 600 if FULL else 55))
BUSY, STORMS = (6, 2) if FULL else (2, 1)
NAMES = 3000            # of processes: more than there are rows for
SAMPLE_S = 2

# What takes as long as there is space for it: rows of threads, spaces of processes that have ended.
WARM_UP_PROCESSES = 20000
MEASURED_PROCESSES = 8000
GROWTH_BYTES_MAX = 600          # for each process after that: rows of their paths, until these are full, too
EVENT_NS_MAX = 5000             # of CPU; a third of that is usual on a busy machine
LEVEL_PERCENT_MAX = 3           # of growth in the last three minutes


def forks():
    """How many processes and threads the machine has made."""
    return int(re.search(r"^processes (\d+)", read("/proc/stat"), re.M).group(1))


def cpu_s(pid):
    """CPU seconds of a process; None when it is gone."""
    try:
        fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(pid):
    try:
        return [int(child) for child in read(f"/proc/{pid}/task/{pid}/children").split()]
    except OSError:
        return []


def memory_kb(pid, field):
    return int(status_of(pid).get(field, "0 kB").split()[0])


class Samples:
    """Of a collector: at each moment the processes made so far, its memory and CPU time, its worker's."""

    def __init__(self, pid):
        self.pid = pid
        self.begin_s = time.monotonic()
        self.begin_forks = forks()
        self.list = []

    def take(self):
        worker = sum(cpu_s(child) or 0 for child in children(self.pid))
        self.list.append((time.monotonic() - self.begin_s, forks() - self.begin_forks,
                          memory_kb(self.pid, "VmRSS"), cpu_s(self.pid) or 0, worker,
                          float(read("/proc/loadavg").split()[0]), memory_kb(self.pid, "RssAnon")))

    def after(self, seconds=0, processes=0):
        return [s for s in self.list if s[0] >= seconds and s[1] >= processes]

    def show(self):
        step = 60 if self.list[-1][0] > 120 else 10
        print("#      s  processes  RSS kB  of it anonymous  CPU s  worker CPU s  load")
        shown = -step
        for s in self.list:
            if s[0] >= shown + step or s is self.list[-1]:
                print(f"# {s[0]:6.0f}  {s[1]:9}  {s[2]:6}  {s[6]:15}  {s[3]:5.1f}  {s[4]:12.1f}  {s[5]:4.1f}")
                shown = s[0]


def slope(points):
    """Of the line with the least squares of distances."""
    x_mean = sum(x for x, _ in points) / len(points)
    y_mean = sum(y for _, y in points) / len(points)
    return sum((x - x_mean) * (y - y_mean) for x, y in points) / \
        (sum((x - x_mean) ** 2 for x, _ in points) or 1)


def attach_all():
    """A collector of all the machine that has begun to trace."""
    process = start(PINCH, "attach", "--all", "-q", "--json", "report.json", stdin=subprocess.DEVNULL,
                    stderr=subprocess.PIPE)
    wait_attached(process)
    return process


def is_enough(samples):
    seconds, processes = samples.list[-1][:2]
    if FULL:
        return seconds >= SECONDS
    return processes >= WARM_UP_PROCESSES + MEASURED_PROCESSES or seconds >= SECONDS


def trace_churn():
    """Processes come and go before the collector starts and until it ends. Its samples, its report."""
    churn = start(attacker("churn"), SECONDS + 10 * LIMIT_S, FORKS, BUSY, STORMS, NAMES)
    try:
        process = attach_all()
        samples = Samples(process.pid)
        samples.take()
        while process.poll() is None and not is_enough(samples):
            time.sleep(SAMPLE_S)
            samples.take()
        assert process.poll() is None, f"ended by itself: {finish(process).text}"
        process.send_signal(signal.SIGINT)
        result = finish(process, limit_s=5 * LIMIT_S)
    finally:
        stop(churn)
    assert not result.status, result.text
    samples.show()
    return samples, parse_report(read("report.json", "rb"))


def show_cost(samples, report):
    cost, losses = report["cost"], report["losses"]
    lost = ", ".join(f"{key} {losses[key]}" for key in ("records", "mappings", "samples", "gaps"))
    print(f"# {cost['events']} events, {samples.list[-1][1]} processes; lost: {lost}; of stacks: "
          f"{report['stacks']['taken']} taken")
    print(f"# CPU: collector {cost['collector_cpu_ns'] / 1e9:.1f} s, worker {samples.list[-1][4]:.1f} s, "
          f"in the kernel {cost['bpf_ns'] / 1e9:.1f} s, of {samples.list[-1][0]:.0f} s; report "
          f"{cost['post_processing_ns'] / 1e9:.1f} s; start {cost['startup_ns'] / 1e9:.1f} s; peak "
          f"{cost['peak_rss_bytes'] >> 20} MB", flush=True)


def check_losses(report):
    losses = report["losses"]
    lost = {key: losses[key] for key in ("records", "mappings", "gaps", "malformed", "threads_untracked")
            if losses[key]}
    assert not lost, f"lost: {lost} of {report['cost']['events']} events"


def check_cpu(report):
    """What it costs to look at an event does not depend on how many processes there were."""
    cost = report["cost"]
    per_event_ns = cost["collector_cpu_ns"] / cost["events"]
    assert per_event_ns < EVENT_NS_MAX, f"{per_event_ns:.0f} ns of CPU for each of {cost['events']} events"


def check_growth(samples):
    later = samples.after(processes=WARM_UP_PROCESSES)
    if len(later) < 3 or later[-1][1] - later[0][1] < MEASURED_PROCESSES / 2:
        raise Skip(f"only {samples.list[-1][1]} processes in {samples.list[-1][0]:.0f} s")
    # Not of the kernel's rings, which are there from the beginning and become resident as they are read.
    growth = slope([(s[1], s[6] * 1024) for s in later])
    print(f"# {growth:.0f} bytes a process after the first {WARM_UP_PROCESSES}", flush=True)
    assert growth < GROWTH_BYTES_MAX, f"memory grows by {growth:.0f} bytes with each process"


def check_level(samples):
    last = samples.after(seconds=samples.list[-1][0] * 0.7)
    seconds = last[-1][0] - last[0][0]
    growth = slope([(s[0], s[2]) for s in last]) * seconds / last[0][2] * 100
    print(f"# {growth:+.1f} % of memory in the last {seconds:.0f} s", flush=True)
    assert growth < LEVEL_PERCENT_MAX, f"memory grew by {growth:.1f} % in the last {seconds:.0f} s"


@test("of processes that come and go nothing is lost, and what is gone is not kept")
def churn():
    samples, report = trace_churn()
    show_cost(samples, report)
    check_laws(report, is_lossless=False)
    check_losses(report)
    check_cpu(report)
    if FULL:
        check_level(samples)
    else:
        check_growth(samples)


sys.exit(main())
