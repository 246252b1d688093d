# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast traces are read, indexed and asked, beside perf's and babeltrace's readers."""

import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import time

import ctf
import figures
import processes
import tracers
from processes import Failure
from recording import Record

GENERATED = (10_000_000, 100_000_000)
GENERATED_QUICK = (100_000,)
ROUNDS_MAX = 3              # of what takes minutes
RANGE_S = 1                 # that a graph is asked for
LOOK_S = 0.005              # between two looks at a process's memory
JUDGED_EVENTS = 1_000_000   # in smaller traces the goals mean nothing

GOAL_EVENTS = 5_000_000     # a second, on one core: reading, states and CMetric
GOAL_ANSWER_S = 2.0
GOAL_STATES = 0.5           # of the trace
GOAL_PEAK_BYTES = 512 << 20

# DepGraph, table II: workload, MB, s to read it with babeltrace, s to analyse it, MB of its state database.
DEPGRAPH = (("CPU", 31, 10.8, 4.2, 4.6), ("IO", 104, 20.87, 7.1, 9.1),
            ("multithread", 74, 17.1, 6.5, 8.4))


class PerfData(tracers.Perf):
    """The same of perf."""

    def __init__(self, place, path):
        super().__init__(place)
        self.data = path

    def _measured(self, result):
        return result


def timed(argv):
    """Wall time, and the highest resident set of the process, which is examined while it runs."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        begin_s, peak_bytes = time.monotonic(), 0
        process = processes.start(argv, stdout=output, stderr=errors)
        process_fd = os.pidfd_open(process.pid)
        while not select.select([process_fd], [], [], LOOK_S)[0]:
            peak_bytes = max(peak_bytes, tracers.peak_rss_bytes(process.pid))
        wall_s = time.monotonic() - begin_s
        os.close(process_fd)
        if processes.wait(process, processes.RUN_LIMIT_S):
            errors.seek(0)
            raise Failure(f"{' '.join(argv)}: {errors.read().decode(errors='replace')}")
        output.seek(0)
        return {"wall_s": wall_s, "rss_bytes": peak_bytes, "output": output.read()}


def forget(*paths):
    """Drops files from the page cache; what is still being written to the disk cannot be."""
    for path in paths:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Trace:
    """A trace and its history of states, both of which close() removes."""

    def __init__(self, place, path):
        self.place, self.path, self.states = place, path, path + ".states"

    def close(self):
        for path in self.path, self.states:
            if os.path.exists(path):
                os.unlink(path)

    def _read(self, *arguments):
        run = timed([self.place.built("bench/trace_read"), self.path, *arguments])
        return {**json.loads(run.pop("output")), "rss_bytes": run["rss_bytes"]}

    def _report(self):
        run = timed([self.place.pinch, "report", "-q", "--json", "/dev/null", self.path])
        del run["output"]
        return run

    def _answer(self, is_cold):
        """A graph of one thread, as a user asks for it."""
        from_s = self.length_s / 2
        if is_cold:
            forget(self.path, self.states)
        run = timed([self.place.pinch, "graph", "--thread", "2", "--from", f"{from_s:.6f}s",
                     "--to", f"{from_s + RANGE_S:.6f}s", self.path])
        del run["output"]
        return run

    def index(self):
        """The first question makes the history of states."""
        run = timed([self.place.pinch, "graph", "--thread", "2", "--from", "0s", "--to", "1ms",
                     self.path])
        self.length_s = self._read()["ns"] / 1e9
        return run["wall_s"]

    def ask(self, seconds):
        run = timed([self.place.built("bench/states_ask"), self.states, str(seconds)])
        return json.loads(run["output"])

    def round(self):
        other = self.states + ".again"
        try:
            return {
                "read": self._read(), "states": self._read(other), "report": self._report(),
                "answer": self._answer(False), "answer_cold": self._answer(True),
            }
        finally:
            if os.path.exists(other):
                os.unlink(other)


def generate(place, events):
    trace = Trace(place, os.path.join(place.directory, f"generated{events}.pinch"))
    run = timed([place.built("bench/trace_gen"), trace.path, str(events)])
    return trace, run


def check_generated(place):
    """What is generated is what threads can do: nothing odd, nothing lost, and the account closes."""
    trace, _ = generate(place, 100_000)
    run = timed([place.pinch, "report", "-q", "--json", "-", trace.path])
    report = json.loads(run["output"])
    trace.close()
    if (report["losses"]["unexplained_transitions"] or report["totals"]["accounting_error_ns"] or
            figures.lost({"report": report})):
        raise Failure(f"the generated trace makes no sense: {report['losses']}")


# --- Beside others ----------------------------------------------------------------------------

def perf_round(place, data):
    run = timed([place.perf, "sched", "timehist", "-i", data])
    return {"wall_s": run["wall_s"], "rss_bytes": run["rss_bytes"]}


def perf_events(place, data):
    done = subprocess.run([place.perf, "report", "--stats", "-i", data], capture_output=True, text=True)
    counts = [int(count) for count in re.findall(r"SAMPLE events:\s+(\d+)", done.stdout)]
    return counts[0] if counts else 0


def others_rows(place, data, rounds, trace_bytes):
    """perf and babeltrace2 read what perf recorded of the same workload."""
    size, events = os.path.getsize(data), perf_events(place, data)
    walls = [one["perf"]["wall_s"] for one in rounds]
    yield figures.Row("perf.data, times the trace", figures.ratio(size / trace_bytes))
    yield figures.row_of("perf sched timehist", walls, figures.seconds)
    yield figures.row_of("  events", [events / wall for wall in walls], figures.rate)
    yield figures.row_of("  bytes", [size / wall for wall in walls], byte_rate)
    if not shutil.which("babeltrace2"):
        yield figures.Row("babeltrace2", "not measured", "it is not installed")
        return
    path = data + ".ctf"
    events = ctf.convert(place.perf, data, path)
    size = sum(entry.stat().st_size for entry in os.scandir(path))
    walls = [timed(["babeltrace2", path, "--component", "sink.utils.dummy"])["wall_s"] for _ in rounds]
    yield figures.Row("CTF, times the trace", figures.ratio(size / trace_bytes))
    yield figures.row_of("babeltrace2, reading alone", walls, figures.seconds)
    yield figures.row_of("  events", [events / wall for wall in walls], figures.rate)
    yield figures.row_of("  bytes", [size / wall for wall in walls], byte_rate)


# --- Rows -------------------------------------------------------------------------------------

def byte_rate(per_s):
    return f"{per_s / figures.MB:,.1f} MB/s"


def span(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def speed_rows(title, runs, events, size, goal=None):
    rates = [events / run["wall_s"] for run in runs]
    yield figures.row_of(title, [run["wall_s"] for run in runs], figures.seconds)
    if goal:
        yield figures.at_least("  events", rates, figures.rate, goal)
    else:
        yield figures.row_of("  events", rates, figures.rate)
    yield figures.row_of("  bytes", [size / run["wall_s"] for run in runs], byte_rate)
    yield figures.at_most("  peak memory", [run["rss_bytes"] for run in runs], figures.megabytes,
                          GOAL_PEAK_BYTES)


def trace_rows(rounds, index_s):
    first = rounds[0]["states"]
    events, size = first["events"], first["trace_bytes"]
    is_judged = events >= JUDGED_EVENTS
    columns = {name: [one[name] for one in rounds] for name in rounds[0]}
    yield figures.Row("events", f"{events:,}")
    yield figures.Row("trace", figures.megabytes(size), f"{size / events:.1f} bytes an event")
    yield from speed_rows("reading", columns["read"], events, size)
    yield from speed_rows("reading, states, CMetric", columns["states"], events, size,
                          is_judged and GOAL_EVENTS)
    yield from speed_rows("report", columns["report"], events, size)
    share = [one["states_bytes"] / size for one in columns["states"]]
    if is_judged:
        yield figures.at_most("states, of the trace", share, "{:.1%}".format, GOAL_STATES)
    else:
        yield figures.row_of("states, of the trace", share, "{:.1%}".format)
    yield figures.Row("graph, first of all", figures.seconds(index_s), "makes the states")
    for name, title in (("answer", "graph, indexed"), ("answer_cold", "graph, indexed, cold")):
        yield figures.at_most(title, [one["wall_s"] for one in columns[name]], figures.seconds,
                              GOAL_ANSWER_S)


def question_rows(asked):
    """Median and the 99th percentile of each kind of question."""
    for temperature in "warm", "cold":
        for kind, answers in asked[temperature].items():
            if kind != "open" or temperature == "cold":
                yield figures.Row(f"{kind}, {temperature}", span(answers["median_ns"]),
                                  f"p99 {span(answers['p99_ns'])}")


def depgraph_rows():
    for name, size_mb, read_s, analysis_s, states_mb in DEPGRAPH:
        yield figures.Row(f"{name}, {size_mb} MB", f"{size_mb / read_s:.1f} MB/s",
                          f"read in {read_s} s, analysed in {analysis_s} s",
                          f"(states: {states_mb / size_mb:.0%})")


# --- The whole --------------------------------------------------------------------------------

def measure_generated(place, events, arguments, say):
    trace, run = generate(place, events)
    say(f"traces: {events:,} events generated: {run['wall_s']:.1f} s")
    try:
        index_s = trace.index()
        rounds = []
        for i in range(min(arguments.rounds, ROUNDS_MAX)):
            rounds.append(trace.round())
            say(f"traces: {events:,} events: round {i + 1}: {rounds[-1]['states']['wall_s']:.3f} s")
        asked = trace.ask(0.1 if arguments.quick else 1)
    finally:
        trace.close()
    rows = [figures.row_of("generating", [run["wall_s"]], figures.seconds),
            figures.Row("  peak memory", figures.megabytes(run["rss_bytes"])),
            *trace_rows(rounds, index_s), *question_rows(asked)]
    return rounds, rows


def measure_recorded(place, workload, arguments, share, say):
    trace = Trace(place, os.path.join(place.directory, "recorded.pinch"))
    data = os.path.join(place.directory, "recorded.perf")
    workload.open(place, share)
    try:
        workload.run(Record(place, trace.path))
        workload.run(PerfData(place, data))
    finally:
        workload.close()
    try:
        index_s = trace.index()
        rounds = []
        for i in range(arguments.rounds):
            rounds.append({**trace.round(), "perf": perf_round(place, data)})
            say(f"traces: {workload.name}: round {i + 1}: {rounds[-1]['states']['wall_s']:.3f} s")
        rows = [*trace_rows(rounds, index_s),
                *others_rows(place, data, rounds, os.path.getsize(trace.path))]
    finally:
        trace.close()
        shutil.rmtree(data + ".ctf", ignore_errors=True)
        os.unlink(data)
    return rounds, rows


def measure(place, workloads, arguments, share, say):
    """Yields a name, rounds and rows of each trace."""
    check_generated(place)
    for workload in workloads:
        yield (f"trace of {workload.name}",
               *measure_recorded(place, workload, arguments, share, say))
    for events in GENERATED_QUICK if arguments.quick else GENERATED:
        yield f"trace of {events:,} events", *measure_generated(place, events, arguments, say)
    yield "DepGraph's traces, on its authors' machine", [], list(depgraph_rows())
