# SPDX-License-Identifier: GPL-2.0-or-later
"""
What it costs to tell of each wait for a kernel lock, on programs that do little else, beside
`perf record` of the same two events with stacks. perf's own `lock contention -b` and bcc's klockstat need what
neither Debian's perf nor this kernel has.
"""

import json
import os

import figures
from tracers import Perf, Pinch, Untraced

PROGRAMS = (("klock_append", "a file's rwsem"), ("klock_mmap", "mmap_lock"), ("klock_pipe", "a pipe's mutex"),
            ("klock_fd_table", "a spinlock"))
LENGTH_MS = 2000
THREADS = 8


class PerfContention(Perf):
    name = "perf"

    def _argv(self):
        return [self.place.perf, "record", "-e", "lock:contention_begin,lock:contention_end", "-a", "-g", "-m",
                "16M", "--no-buildid", "--no-buildid-cache", "-o", self.data]


class Turns:
    """A program that does as much as it can in a given time: what counts is the time of a turn."""

    def __init__(self, place, program):
        self.place, self.program = place, program
        self.out = os.path.join(place.directory, "turns")

    def argv(self):
        directory = [self.place.directory] if self.program == "klock_append" else []
        return [self.place.program(self.program), *directory, str(THREADS), str(LENGTH_MS)]

    def run(self, tracer):
        with open(self.out, "wb") as out:
            result = tracer.run(self.argv(), stdout=out)
        with open(self.out) as out:
            printed = json.load(out)
        result["wall_s"] = printed["wall_ns"] / 1e9 / printed["turns"]
        return result


def cost_ns(result):
    """Of a wait: all its programs, as the kernel counts them."""
    spent = sum(result["programs"][name]["run_ns"] for name in figures.KLOCK_PROGRAMS if name in result["programs"])
    return spent / max(1, result["report"]["kernel_locks"]["waits"])


def rows(by_program):
    names = dict(PROGRAMS)
    for name, rounds in by_program.items():
        yield figures.row_of(f"{name}: {names[name]}, a turn untraced", [one["untraced"]["wall_s"] for one in rounds],
                             lambda s: f"{s * 1e6:,.1f} us")
        waits = [one["pinch"]["report"]["kernel_locks"]["waits"] for one in rounds]
        yield figures.row_of("  waits reported", waits, lambda count: f"{count:,.0f}")
        yield figures.row_of("  pinch", figures.wall_ratios(rounds, "pinch"), figures.ratio)
        yield figures.row_of("  perf record", figures.wall_ratios(rounds, "perf"), figures.ratio)
        costs = [cost_ns(one["counted"]) for one in rounds if "counted" in one]
        yield figures.row_of("  BPF, a wait", costs, lambda ns: f"{ns:,.0f} ns")


def measure(place, measure_rounds, kernel_counts_runs):
    """
    measure_rounds(title, tracers, run): interleaved; kernel_counts_runs(): so long the kernel says what programs
    cost, in runs of their own. Returns rounds by program.
    """
    used = [Untraced(place), Pinch(place), PerfContention(place)]
    used[1].polls = True        # to see what its programs cost
    by_program = {}
    for program, _ in PROGRAMS:
        turns = Turns(place, program)
        turns.run(used[0])
        by_program[program] = measure_rounds(program, used, turns.run)
        for one in by_program[program]:
            with kernel_counts_runs():
                one["counted"] = turns.run(used[1])
    return by_program
