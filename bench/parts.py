#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What the parts of tracing cost while pinch is attached to a loaded MariaDB, or runs a storm: ns of each BPF program, as
the kernel's statistics say (which take some 40 ns a run), and of the collector by function, by samples. A BPF
program that runs with interrupts off cannot be sampled on a machine without performance counters. Prints tables in
Markdown; with --svg, writes flame graphs: the collector has callers in it if it was built with
CFLAGS="-O2 -g -fno-omit-frame-pointer".

usage: parts.py BUILD_DIR [--svg DIR]; as root.
"""
import argparse
import collections
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import types

sys.dont_write_bytecode = True      # the source tree stays clean

import flame
import processes
from mariadb import Server
from sample_cost import statistics

WARM_S, WATCH_S = 3, 5
SAMPLE_HZ = 5000
ROWS_MAX = 12
STORMS = {
    "messaging": ["perf", "bench", "sched", "messaging", "-g", "2", "-l", "80000", "-p"],
    "mutex_storm": ["programs/mutex_storm", "16", "3000000"],
}


def programs():
    """{id: (name, ns, runs)} of all loaded BPF programs."""
    shown = subprocess.run(["bpftool", "-j", "prog", "show"], check=True, capture_output=True).stdout
    return {p["id"]: (p.get("name", "?"), p.get("run_time_ns", 0), p.get("run_cnt", 0)) for p in json.loads(shown)}


def watch_programs():
    """[(name, ns, runs)] of each program that ran meanwhile, for a second; the dearest first."""
    with statistics():
        before, begin_s = programs(), time.monotonic()
        time.sleep(WATCH_S)
        after, length_s = programs(), time.monotonic() - begin_s
    rows = []
    for number, (name, ns, runs) in after.items():
        _, ns_before, runs_before = before.get(number, (name, 0, 0))
        if runs > runs_before:
            rows.append((name, (ns - ns_before) / length_s, (runs - runs_before) / length_s))
    return sorted(rows, key=lambda row: -row[1])


def watch_collector(pid, directory):
    """{(outermost function, ..., innermost): samples} of a process."""
    path = os.path.join(directory, "perf.data")
    subprocess.run(["perf", "record", "-q", "-F", str(SAMPLE_HZ), "-g", "-o", path, "-p", str(pid), "--", "sleep",
                    str(WATCH_S)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    text = subprocess.run(["perf", "script", "-i", path, "-F", "ip,sym,dso"], check=True, capture_output=True,
                          text=True, errors="replace").stdout
    stacks = collections.Counter()
    for sample in text.strip().split("\n\n"):
        frames = [line.split() for line in sample.splitlines()]
        names = [words[1] + ("_[k]" if "kernel" in words[-1] else "") for words in frames if len(words) > 2]
        stacks[tuple(name for name in reversed(names) if name != "[unknown]")] += 1
    return stacks


def watch(pinch, directory):
    """Both of a pinch that has begun to trace, and what its report says of its cost."""
    time.sleep(WARM_S)
    rows = watch_programs()
    stacks = watch_collector(pinch.pid, directory)
    processes.wait(pinch, processes.RUN_LIMIT_S)
    with open(os.path.join(directory, "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    return rows, stacks, report


def show(name, rows, stacks, report):
    events_s = report["cost"]["events"] / report["target"]["wall_ns"] * 1e9
    print(f"\n### {name}: {events_s:,.0f} events/s\n")
    print("| BPF program | of a CPU | runs/s | ns a run | ns an event |\n|---|---:|---:|---:|---:|")
    for program, ns, runs in rows[:ROWS_MAX]:
        print(f"| `{program}` | {ns / 1e9:.2%} | {runs:,.0f} | {ns / runs:,.0f} | {ns / events_s:,.0f} |")
    collector_ns = report["cost"]["collector_cpu_ns"] / report["cost"]["events"]
    print(f"\nThe collector: {collector_ns:,.0f} ns an event.\n")
    print("| its function | share | ns an event |\n|---|---:|---:|")
    leaves, count = collections.Counter(), sum(stacks.values())
    for stack, samples in stacks.items():
        leaves[stack[-1] if stack else "?"] += samples
    for function, samples in leaves.most_common(ROWS_MAX):
        print(f"| `{function}` | {samples / count:.1%} | {collector_ns * samples / count:,.0f} |")


def draw(directory, name, rows, stacks):
    graphs = (("bpf", {(program,): ns / 1000 for program, ns, _ in rows}, "us/s"), ("collector", stacks, "samples"))
    for part, weights, unit in graphs:
        with open(os.path.join(directory, f"{name}-{part}.svg"), "w", encoding="utf-8") as file:
            file.write(flame.draw(weights, f"{name}, {part}", unit))


def pinch(build, directory, *arguments):
    outputs = ["-q", "--duration", f"{WARM_S + 2 * WATCH_S + 2}s", "--json", f"{directory}/report.json",
               "-o", f"{directory}/text"]
    return processes.start([os.path.join(build, "pinch"), arguments[0], *outputs, *arguments[1:]])


def mariadb(build, directory):
    place = types.SimpleNamespace(directory=directory, find=processes.find)
    server = Server(place)
    server.start()
    load = processes.start(server.sysbench("run"))
    try:
        return watch(pinch(build, directory, "attach", "-p", str(server.process.pid)), directory)
    finally:
        processes.stop(load)
        server.stop()


def storm(build, directory, argv):
    program = os.path.join(build, argv[0]) if "/" in argv[0] else argv[0]
    limited = ["timeout", str(WARM_S + 2 * WATCH_S + 4), program, *argv[1:]]
    return watch(pinch(build, directory, "run", "--", *limited), directory)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--svg", metavar="DIR")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    print("Load average before: " + " ".join(f"{load:.2f}" for load in os.getloadavg()))
    with tempfile.TemporaryDirectory(prefix="pinch-parts-", dir="/var/tmp") as directory, \
            contextlib.ExitStack() as stack:
        stack.callback(processes.stop_all)
        os.chmod(directory, 0o711)      # mariadbd is another user
        for name in ("mariadb", *STORMS):
            watched = mariadb(build, directory) if name == "mariadb" else storm(build, directory, STORMS[name])
            show(name, *watched)
            if arguments.svg:
                draw(arguments.svg, name, *watched[:2])


if __name__ == "__main__":
    main()
