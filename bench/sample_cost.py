#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What a sample with its call path costs, by depth: ns inside the BPF program, as the kernel's statistics say, of that the
median of taking its stack, and bytes in a trace. Samples are taken by timers; what the program costs when it meets nobody
who is traced is measured by itself, and taken off. Nothing else may run: the machine's load comes first in the output, and bytes are the
difference of two traces, which other programs change. Prints a table in Markdown.

usage: sample_cost.py BUILD_DIR; as root. LENGTH_MS: of each run (3000).
"""
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

LENGTH_MS = int(os.environ.get("LENGTH_MS", 3000))
DEPTHS = (1, 4, 16, 64, 120)
OFTEN, SELDOM = 997, 1          # samples a second
PERF_EVENT = 7                  # BPF_PROG_TYPE_PERF_EVENT: of pinch's programs, the sampler alone
STATISTICS = "/proc/sys/kernel/bpf_stats_enabled"
POLL_S = 0.05
LIMIT_S = 60


@contextlib.contextmanager
def statistics():
    with open(STATISTICS, "r+", encoding="ascii") as file:
        before = file.read().strip()
        file.seek(0)
        file.write("1")
        file.flush()
        try:
            yield
        finally:
            file.seek(0)
            file.write(before)


def counters(pid):
    """(ns, runs) of the sampler, of which a process may have several descriptors; None: it has none."""
    directory = f"/proc/{pid}/fdinfo"
    with contextlib.suppress(OSError):
        for fd in os.listdir(directory):
            with contextlib.suppress(OSError), open(os.path.join(directory, fd), encoding="ascii") as file:
                fields = dict(line.split(":", 1) for line in file if ":" in line)
                if int(fields.get("prog_type", 0)) == PERF_EVENT and "run_cnt" in fields:
                    return int(fields["run_time_ns"]), int(fields["run_cnt"])
    return None


def record(build, hz, command):
    """What the sampler took, in ns, how often it ran, and the report and the size in bytes of the trace."""
    with subprocess.Popen([os.path.join(build, "pinch"), "record", "-q", "-o", "t.pinch", "--sample-hz", str(hz), "--",
                           *command]) as process:
        last, end_s = None, time.monotonic() + LIMIT_S
        while process.poll() is None:
            if time.monotonic() > end_s:
                process.terminate()
                sys.exit("pinch record does not end")
            last = counters(process.pid) or last
            time.sleep(POLL_S)
    if process.returncode or not last:
        sys.exit(f"pinch record ended with {process.returncode}, counters {last}")
    shown = subprocess.run([os.path.join(build, "pinch"), "report", "-q", "--json", "-", "t.pinch"], check=True,
                           capture_output=True)
    return *last, json.loads(shown.stdout), os.path.getsize("t.pinch")


def row(build, depth, miss_ns):
    command = [os.path.join(build, "bench", "sample_depth"), str(os.cpu_count()), str(depth), str(LENGTH_MS)]
    ns, runs, report, size_bytes = record(build, OFTEN, command)
    _, _, seldom, seldom_bytes = record(build, SELDOM, command)
    samples = report["totals"]["samples"]
    more = samples - seldom["totals"]["samples"]
    if not samples or more <= 0:
        sys.exit(f"{samples} samples at depth {depth}, {more} more than at {SELDOM} Hz")
    return (depth, samples, round((ns - (runs - samples) * miss_ns) / samples), report["stacks"]["median_ns"],
            f"{(size_bytes - seldom_bytes) / more:.1f}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    print(f"Load average before: {os.getloadavg()[0]:.1f}\n")
    print("| Calls | Samples | ns a sample | of that the stack, median | Bytes a sample |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="pinch-samples-") as directory, statistics():
        os.chdir(directory)
        ns, runs, *_ = record(build, OFTEN, ["sleep", str(LENGTH_MS / 1000)])
        for depth in DEPTHS:
            print("| " + " | ".join(map(str, row(build, depth, ns / max(runs, 1)))) + " |", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
