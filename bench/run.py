#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What tracing with pinch costs, beside `perf sched record` and bcc's offcputime. See bench/README.md."""

import contextlib
import argparse
import datetime
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True      # the source tree stays clean

import contention
import figures
import long_run
import prediction
import processes
import real
import recording
import traces
from offcputime import OffCpuTime
from processes import Failure
from tracers import GetStack, KernelSide, Perf, PerfDwarf, Pinch, Untraced
from workloads import QUICK_SHARE, REPORTED, SPINNING, WORKLOADS, Command, scaled

KEPT = ("target", "totals", "losses", "cost", "stacks", "notes")     # of a report, in the raw figures
ROUNDS_DEFAULT = 15
ROUNDS_MORE = 2         # times as many at most, where the verdict is close
SWITCH_COST = "switch cost"
STACK_COST = "stack cost"
STACK_FRAMES = (5, 10, 20, 50, 127)
DWARF = "call-graph dwarf"
SYMBOLS = "symbols"
TABLES = "unwind tables"
SPIN = "spin analysis"
TRACES = "traces"
RECORDING = "recording"
WHATIF = "what if"
CONTENTION = "kernel locks"


def say(text):
    print(text, file=sys.stderr, flush=True)


class Place:
    """The programs that are needed, and a private directory on a real file system."""

    def __init__(self, arguments):
        self.build_dir = os.path.abspath(arguments.build_dir)
        self.pinch = self.built("pinch")
        self.stamp = self.built("bench/stamp")
        self.perf = self.find("perf")
        self.bpftool = self.find("bpftool")
        self.directory = tempfile.mkdtemp(prefix="pinch-bench-", dir=arguments.dir)
        os.chmod(self.directory, 0o711)         # mariadbd is another user
        kind = subprocess.run(["stat", "-f", "-c", "%T", self.directory], check=True,
                              capture_output=True, text=True).stdout.strip()
        if kind in ("tmpfs", "ramfs"):
            self.close()
            raise Failure(f"{arguments.dir} is a {kind}, on which fsync does nothing: give "
                          "another one with --dir")
        # So that "symbols not cached" is true the first time and only then.
        os.environ["XDG_CACHE_HOME"] = os.path.join(self.directory, "cache")

    find = staticmethod(processes.find)

    def built(self, name):
        path = os.path.join(self.build_dir, name)
        if not os.access(path, os.X_OK):
            raise Failure(f"{path} is missing: run `make bench`")
        return path

    def program(self, name):
        return self.built("programs/" + name)

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)


def rotated(items, by):
    by %= len(items)
    return items[by:] + items[:by]


def measure_rounds(name, rounds, tracers, run, goes_on=lambda results: False):
    """Interleaved, and each tracer is first, second and third in turn. goes_on(): whether more rounds are needed."""
    results = []
    while len(results) < rounds or len(results) < rounds * ROUNDS_MORE and goes_on(results):
        one = {}
        for tracer in rotated(tracers, len(results)):
            one[tracer.name] = run(tracer)
            say(f"{name}: round {len(results) + 1}, {tracer.name}: {one[tracer.name]['wall_s']:.3f} s")
        results.append(one)
    return results


def measure_workload(place, workload, arguments):
    tracers = [Untraced(place), Pinch(place), Perf(place)]
    if not place.no_offcputime:
        tracers.append(OffCpuTime(place))
    first = None

    def rows(rounds):
        return list(figures.workload_rows(workload, first, rounds, place.no_offcputime))

    say(f"{workload.name}: preparing")
    workload.open(place, QUICK_SHARE if arguments.quick else 1)
    try:
        for tracer in tracers:      # nobody's first run counts
            tracer.polls = True
            warm = workload.run(tracer)
            tracer.polls = False
            if tracer.name == "pinch":
                first = warm
        rounds = measure_rounds(workload.name, arguments.rounds, tracers, workload.run,
                                lambda results: any(row.is_close for row in rows(results)))
    finally:
        workload.close()
    return {"first": first, "rounds": rounds}, rows(rounds)


@contextlib.contextmanager
def kernel_counts_runs():
    """The time inside each BPF program; it costs a little itself, so only where it is wanted."""
    path = "/proc/sys/kernel/bpf_stats_enabled"
    with open(path) as file:
        before = file.read()
    try:
        with open(path, "w") as file:
            file.write("1")
        yield
    finally:
        with open(path, "w") as file:
            file.write(before)


THREADS = 16


def storm(place, arguments, name, depth):
    command = Command(name, lambda place, share: [
        place.built("bench/yield_storm"), str(THREADS), str(scaled(400000, share)), str(depth)])
    command.open(place, QUICK_SHARE if arguments.quick else 1)
    return command


def pinch_with_stacks(place):
    """A stack at each switch, as far as the governor lets it."""
    return Pinch(place, ["--nmin", str(THREADS)])


def measure_switches(place, arguments):
    """yield_storm alone, without a stack, with a stack at each switch, and with an empty program."""
    bare, full = Pinch(place, ["--nmin", "1"]), pinch_with_stacks(place)
    bare.name, full.name = "bare", "full"
    bare.polls = full.polls = True
    command = storm(place, arguments, SWITCH_COST, 8)
    with kernel_counts_runs():
        rounds = measure_rounds(SWITCH_COST, arguments.rounds,
                                [Untraced(place), bare, full, GetStack(place)], command.run)
    return {"rounds": rounds}, list(figures.switch_rows(rounds, os.cpu_count()))


def measure_stacks(place, arguments):
    # Around the calls that DEPTH counts: sched_yield, storm, one more, run, and libc's two.
    rounds = {frames: measure_rounds(f"{STACK_COST}, {frames} frames", arguments.rounds,
                                     [pinch_with_stacks(place), GetStack(place)],
                                     storm(place, arguments, STACK_COST, frames - 6).run)
              for frames in STACK_FRAMES}
    return {"rounds": [one for some in rounds.values() for one in some]}, \
        list(figures.stack_rows(rounds))


def busy_s():
    """CPU time of the whole machine since it started."""
    with open("/proc/stat") as file:
        ticks = [int(word) for word in file.readline().split()[1:]]
    return (sum(ticks[:8]) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def measure_dwarf(place, arguments):
    """A mutex storm of half a second: perf copies 8 KB at each of its switches."""
    command = Command(DWARF, lambda place, share: [
        place.program("mutex_storm"), str(THREADS), str(scaled(100000, share))])
    command.open(place, QUICK_SHARE if arguments.quick else 1)

    def run(tracer):
        before_s = busy_s()
        result = command.run(tracer)
        result["busy_s"] = busy_s() - before_s
        return result

    rounds = measure_rounds(DWARF, arguments.rounds,
                            [Untraced(place), pinch_with_stacks(place), PerfDwarf(place)], run)
    return {"rounds": rounds}, list(figures.dwarf_rows(rounds))


def measure_symbols(place, arguments):
    """5000 places in a program with 145 MB of debug information, dropped from the page cache."""
    program = place.built("bench/innodb_oltp")
    rounds = []
    for i in range(arguments.rounds):
        with open(program, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        cache = os.path.join(place.directory, f"symbols{i}")
        done = subprocess.run([place.built("bench/symbolise"), program], check=True,
                              stdout=subprocess.PIPE, env=dict(os.environ, XDG_CACHE_HOME=cache))
        rounds.append(json.loads(done.stdout))
        say(f"{SYMBOLS}: round {i + 1}/{arguments.rounds}: {rounds[-1]['first']['s']:.3f} s")
    return {"rounds": [{"symbols": one} for one in rounds]}, list(figures.symbol_rows(rounds))


def measure_spin(place, arguments):
    """What --spin-inactive costs more: code that is judged while the program runs, all the stacks."""
    plain, spin = Pinch(place), Pinch(place, ["--spin-inactive"])
    plain.name, spin.name = "plain", "spin"
    by_command = {}
    for command in SPINNING:
        command.open(place, QUICK_SHARE if arguments.quick else 1)
        tracers = [Untraced(place), plain, spin]
        for tracer in tracers:      # nobody's first run counts
            command.run(tracer)
        by_command[command.name] = measure_rounds(f"{SPIN}, {command.name}", arguments.rounds,
                                                  tracers, command.run)
        command.close()
    return {"rounds": [one for some in by_command.values() for one in some]}, \
        list(figures.spin_rows(by_command))


def with_libraries(path):
    """A program and what it is linked with."""
    done = subprocess.run(["ldd", path], capture_output=True, text=True)
    words = [word for line in done.stdout.splitlines() for word in line.split()]
    return [path] + sorted({word for word in words if word.startswith("/")})


def measure_tables(place, arguments):
    programs = {"MariaDB": place.find("mariadbd"), "Chromium": "/usr/lib/chromium/chromium",
                "a trivial program": place.built("bench/stamp")}
    rounds = []
    for _ in range(arguments.rounds):
        one = {}
        for name, path in programs.items():
            if os.path.exists(path):
                done = subprocess.run([place.built("bench/unwind_tables"), *with_libraries(path)],
                                      check=True, stdout=subprocess.PIPE)
                one[name] = json.loads(done.stdout)
        rounds.append(one)
    return {"rounds": [{"tables": one} for one in rounds]}, list(figures.table_rows(rounds))


def measure_recording(place, arguments):
    by_workload = recording.measure(
        place, QUICK_SHARE if arguments.quick else 1,
        lambda name, tracers, run: measure_rounds(f"{RECORDING}, {name}", arguments.rounds, tracers, run))
    return {"rounds": [one for some in by_workload.values() for one in some]}, \
        list(recording.rows(by_workload))


def measure_contention(place, arguments):
    by_program = contention.measure(
        place, lambda name, tracers, run: measure_rounds(f"{CONTENTION}, {name}", arguments.rounds, tracers, run),
        kernel_counts_runs)
    return {"rounds": [one for some in by_program.values() for one in some]}, \
        list(contention.rows(by_program))


def measure_whatif(place, arguments):
    results = prediction.measure(place, QUICK_SHARE if arguments.quick else 1, arguments.rounds, say)
    return {"rounds": results}, list(prediction.rows(results))


def measure_traces(place, arguments):
    """Reading, indexing and asking: a section for each trace."""
    recorded = [workload for workload in WORKLOADS if workload.name in ("messaging", "mariadb")]
    share = QUICK_SHARE if arguments.quick else 1
    measured = list(traces.measure(place, recorded, arguments, share, say))
    return {"rounds": [one for _, rounds, _ in measured for one in rounds]}, \
        [(name, rows) for name, _, rows in measured]


def measure_all(place, arguments):
    raw, sections, failed = {}, [], False
    os.environ.pop("DEBUGINFOD_URLS", None)     # a download is no part of the cost
    place.kernel_side = KernelSide(place)
    place.no_offcputime = OffCpuTime(place).cannot_run()
    jobs = [(workload.name, lambda w=workload: measure_workload(place, w, arguments))
            for workload in WORKLOADS]
    jobs.append((SWITCH_COST, lambda: measure_switches(place, arguments)))
    jobs.append((STACK_COST, lambda: measure_stacks(place, arguments)))
    jobs.append((DWARF, lambda: measure_dwarf(place, arguments)))
    jobs.append((TABLES, lambda: measure_tables(place, arguments)))
    jobs.append((SPIN, lambda: measure_spin(place, arguments)))
    jobs.append((RECORDING, lambda: measure_recording(place, arguments)))
    jobs.append((CONTENTION, lambda: measure_contention(place, arguments)))
    jobs.append((WHATIF, lambda: measure_whatif(place, arguments)))
    jobs.append((TRACES, lambda: measure_traces(place, arguments)))
    if os.path.exists(os.path.join(arguments.build_dir, "bench/innodb_oltp")):
        jobs.append((SYMBOLS, lambda: measure_symbols(place, arguments)))
    for name, job in jobs:
        if arguments.workload and name not in arguments.workload:
            continue
        try:
            raw[name], rows = job()
            sections += rows if name == TRACES else [(name, rows)]
        except (Failure, OSError, KeyError, ValueError) as failure:
            processes.stop_all()
            say(f"{name}: FAILED: {type(failure).__name__}: {failure}")
            sections.append((name, [figures.Row("not measured", "", "", "", figures.MISSED)]))
            failed = True
    print(figures.table_text(sections))
    print("\n" + figures.summary_text(sections))
    return raw, sections, failed


def machine():
    version = subprocess.run([Place.find("perf"), "--version"], capture_output=True, text=True)
    return {"date": datetime.date.today().isoformat(), "kernel": platform.release(), "cpus": os.cpu_count(), "machine": platform.machine(),
            "perf": version.stdout.strip(), "load_average": os.getloadavg()}


def write_json(path, raw, sections, before):
    for job in raw.values():
        for one in job["rounds"] + ([{"pinch": job["first"]}] if "first" in job else []):
            for result in one.values():
                result.pop("text", None)
                if "report" in result:
                    result["report"] = {key: value for key, value in result["report"].items() if key in KEPT}
    with open(path, "w") as file:
        json.dump({"machine": before, "workloads": raw,
                   "table": {name: [vars(row) for row in rows] for name, rows in sections}},
                  file, indent=1)
        file.write("\n")


def parse():
    names = [workload.name for workload in WORKLOADS] + [
        SWITCH_COST, STACK_COST, DWARF, TABLES, SPIN, RECORDING, CONTENTION, WHATIF, TRACES, SYMBOLS,
        "stencil_mpi", "innodb_oltp"]
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--build-dir", default="build", metavar="DIR", help="where make builds (build)")
    add("--workload", action="append", choices=names, metavar="NAME",
        help="only this one; may be given again: " + ", ".join(names))
    add("--rounds", type=int, metavar="N",
        help=f"default: {ROUNDS_DEFAULT}; up to {ROUNDS_MORE} times as many where a verdict is close")
    add("--quick", action="store_true", help="one round of short runs: does it all work?")
    add("--json", metavar="FILE", help="write the raw figures too")
    add("--dir", default="/var/tmp", metavar="DIR",
        help="put the private directory here, on a real file system (/var/tmp)")
    add("--long", nargs="?", type=float, const=600, metavar="SECONDS",
        help="instead: does pinch's memory stay flat? (600)")
    add("--report-only", action="store_true",
        help="instead: show pinch's report of real programs")
    arguments = parser.parse_args()
    if arguments.rounds is None:
        arguments.rounds = 1 if arguments.quick else ROUNDS_DEFAULT
    if arguments.rounds < 1 or arguments.long is not None and arguments.long < 4:
        parser.error("too few rounds, or too short")
    return arguments


def run(place, arguments):
    if arguments.long:
        return long_run.run(place, arguments.long)
    if arguments.report_only:
        place.kernel_side = KernelSide(place)
        return real.run(place, REPORTED, arguments)
    before = machine()
    if before["load_average"][0] > 0.5:
        say(f"load average {before['load_average'][0]:.1f}: others run here, figures will be poor")
    raw, sections, failed = measure_all(place, arguments)
    if arguments.json:
        write_json(arguments.json, raw, sections, before)
    return failed


def on_signal(number, _):
    raise KeyboardInterrupt


def main():
    arguments = parse()
    place = None
    for number in signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, on_signal)
    try:
        if os.geteuid():
            raise Failure("tracing needs root")
        place = Place(arguments)
        return int(bool(run(place, arguments)))
    except Failure as failure:
        say(f"bench: {failure}")
        return 1
    except KeyboardInterrupt:
        say("bench: stopped")
        return 130
    finally:
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            signal.signal(number, signal.SIG_IGN)       # tidying up takes a moment
        processes.stop_all()
        if place:
            place.close()


if __name__ == "__main__":
    sys.exit(main())
