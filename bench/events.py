#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What programs' own events cost: a call of trace_event() beside a tracepoint of LTTng-UST and a USDT probe, threads that record at
once, the slowdown of a program that records 1, 10 and 50 million events a second, alone and under pinch record, and a flush.
Usage: events.py BUILD [--quick] [--json FILE]. As root; in turns; medians. Prints what could not be measured, and why.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = os.path.join(ROOT, "bench", "events")
RATES = 0, 1e6, 10e6, 50e6


class Missing(Exception):
    """What the machine lacks."""


def run(*command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if result.returncode:
        raise Missing(f"{command[0]} failed: {(result.stderr or result.stdout).strip().splitlines()[-1:]}")
    return result.stdout


def compile_program(name, out, *flags):
    run("cc", "-std=gnu11", "-O2", "-g", f"-I{SOURCES}", f"-I{os.path.join(ROOT, 'lib')}", "-o", out,
        os.path.join(SOURCES, name), *flags)
    return out


def rows_of(text):
    """Of loops.h: name, ns, and the cycles of minimum, quartiles and maximum."""
    for line in text.splitlines():
        name, numbers = line[:28].strip(), line[28:].split()
        if len(numbers) == 7 and name != "of a call":
            yield name, float(numbers[0]), [float(number) for number in numbers[2:]]


def box(cycles, scale):
    """A box plot of one line: the quartiles as a box, the median in it, minimum and maximum as its ends."""
    places = [min(int(value / scale * 40), 40) for value in cycles]
    line = [" "] * 42
    for place in range(places[0], places[4] + 1):
        line[place] = "-"
    for place in range(places[1], places[3] + 1):
        line[place] = "="
    line[places[2]] = "|"
    return "".join(line)


class Lttng:
    """A session daemon and a session of its own, in a private home."""

    def __init__(self, directory):
        if not shutil.which("lttng-sessiond"):
            raise Missing("lttng-tools is not installed")
        self.env = dict(os.environ, HOME=directory, LTTNG_HOME=directory)
        self.directory = directory
        self.daemon = None

    def __enter__(self):
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel", "--quiet"], env=self.env, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.do("create", "pinch-bench", "--output", os.path.join(self.directory, "trace"), retries=50)
        self.do("enable-event", "--userspace", "pinch_bench:event")
        return self

    def do(self, *words, retries=1):
        for attempt in range(retries):
            try:
                return run("lttng", "--no-sessiond", *words, env=self.env)
            except Missing:
                if attempt + 1 == retries:
                    raise
                subprocess.run(["sleep", "0.1"], check=True)
        return None

    def __exit__(self, *_):
        try:
            self.do("destroy", "pinch-bench")
        except Missing:
            pass
        self.daemon.terminate()
        self.daemon.wait(30)


def measure_calls(build, directory, rounds):
    rows = list(rows_of(run(os.path.join(build, "bench", "trace_event"), rounds)))
    try:
        program = compile_program("lttng_event.c", os.path.join(directory, "lttng_event"), "-llttng-ust", "-ldl")
        rows += rows_of(run(program, rounds, "LTTng-UST, disabled"))
        with Lttng(directory) as lttng:
            lttng.do("start")
            rows += rows_of(run(program, rounds, "LTTng-UST, enabled", env=lttng.env))
    except Missing as why:
        print(f"LTTng-UST: not measured: {why}")
    try:
        program = compile_program("usdt_event.c", os.path.join(directory, "usdt_event"))
        rows += rows_of(run(program, rounds, "USDT probe, not probed"))
    except Missing as why:
        print(f"USDT: not measured: {why}")
    scale = max(cycles[3] for _, _, cycles in rows) * 1.2
    print(f"\n{'a call':28} {'ns':>7} {'cycles':>7}   of {rounds} loops of 1,000 calls: minimum, quartiles, maximum; 0 to "
          f"{scale:.0f} cycles")
    for name, ns, cycles in rows:
        print(f"{name:28} {ns:7.2f} {cycles[2]:7.2f}   {box(cycles, scale)}")
    return {name: {"ns": ns, "cycles": cycles} for name, ns, cycles in rows}


def measure_scaling(program, milliseconds, rounds):
    """Events a CPU and second, of threads that do nothing else."""
    cpus, results = os.cpu_count(), {}
    for _ in range(rounds):
        for threads in 1, cpus, 8:
            ns, events = map(float, run(program, threads, milliseconds, 200e6).split())
            results.setdefault(threads, []).append(events / ns * 1e3 / min(threads, cpus))
    print(f"\nevents a us and CPU, on {cpus} CPUs: "
          + ", ".join(f"{threads} threads {statistics.median(all):.1f}" for threads, all in results.items()))
    return {threads: statistics.median(all) for threads, all in results.items()}


def measure_slowdown(build, directory, with_events, without, milliseconds, rounds):
    pinch = os.path.join(build, "pinch")
    trace = os.path.join(directory, "t.pinch")
    results = {}
    for _ in range(rounds):
        for rate in RATES:
            ways = {
                "without": [without],
                "with": [with_events],
                "under pinch record": [pinch, "record", "-q", "-o", trace, "--", with_events],
            }
            for way, command in ways.items():
                ns, events = map(float, run(*command, 1, milliseconds, rate).split())
                results.setdefault((rate, way), []).append((ns, events))
                if way == "under pinch record" and rate:
                    results.setdefault((rate, "read"), []).append(read_share(pinch, trace, events))
    print(f"\n{'events a second':>16} {'with events':>12} {'under pinch record':>19}   read by pinch, of all")
    rows = {}
    for rate in RATES:
        base = statistics.median(ns for ns, _ in results[rate, "without"])
        ratio = {way: statistics.median(ns for ns, _ in results[rate, way]) / base for way in ("with", "under pinch record")}
        share = statistics.median(results[rate, "read"]) if rate else None
        rows[rate] = {**ratio, "read": share}
        print(f"{rate:16,.0f} {ratio['with']:12.3f} {ratio['under pinch record']:19.3f}   "
              + ("" if share is None else f"{share:.1%}, the others counted as overwritten"))
    return rows


def read_share(pinch, trace, events):
    """Of its events, those in the trace; with those that were overwritten they are all that it recorded."""
    found = lost = 0
    with subprocess.Popen([pinch, "dump", "--log", trace], stdout=subprocess.PIPE, text=True) as dump:
        for line in dump.stdout:
            words = line.split(" ", 6)
            found += words[2] == "user.EVENT"
            lost += int(words[4]) if words[2] == "user.LOST" else 0
    if found + lost != events:
        raise Missing(f"of {events:.0f} events {found} are in the trace, {lost} are counted as lost")
    return found / events


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    rounds, milliseconds = (3, 200) if options.quick else (11, 1000)
    link = [os.path.join(build, "libpinchtrace.a"), "-pthread"]
    if os.getloadavg()[0] > 0.5:
        print(f"the load is {os.getloadavg()[0]:.1f}: something else runs, and these figures are not to be trusted")
    with tempfile.TemporaryDirectory(prefix="pinch-events-") as directory:
        with_events = compile_program("event_rate.c", os.path.join(directory, "event_rate"), *link)
        without = compile_program("event_rate.c", os.path.join(directory, "event_rate_off"), "-DPINCH_TRACE_OFF", "-pthread")
        results = {
            "calls": measure_calls(build, directory, 100 if options.quick else 1000),
            "scaling": measure_scaling(with_events, milliseconds, rounds),
            "slowdown": measure_slowdown(build, directory, with_events, without, milliseconds, rounds),
        }
        results["flush"] = run(os.path.join(build, "bench", "trace_flush"), env=dict(os.environ, PINCHTRACE_FILE="/dev/null"))
        print("\n" + results["flush"])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Missing as why:
        sys.exit(f"events.py: {why}")
