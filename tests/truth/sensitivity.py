#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
How far the first three functions stay the same under other thresholds N_min and other sampling periods: of eight
programs, as the report ranks them and as they truly rank. Prints a table in Markdown.

LENGTH_MS: how long each run is (2000).
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from code_model import by_path, measure
from lib import stop_all
from truth_model import OTHER

LENGTH_MS = int(os.environ.get("LENGTH_MS", 2000))
PROGRAMS = ("staged_pipeline", "writer_among_readers", "tail_unlock", "last_slice", "event_loop", "deep_recursion",
            "uneven_crowd", "drawn_shapes")
PERIODS = ("300us", "1ms", None, "10ms", "30ms")        # None: what pinch chooses
FIRST = 3
SHARE_MIN = 0.005       # what has less has no rank


def first(figures):
    whole = sum(figures.values())
    ranked = sorted((name for name in figures if name != OTHER and figures[name] > SHARE_MIN * whole),
                    key=lambda name: -figures[name])
    return ranked[:FIRST]


def run(name, period=None, nmin=None):
    """The first functions: of the report, truly, and in how many threads' company at most."""
    options = (("--sample-period", period) if period else ()) + (("--nmin", nmin) if nmin else ())
    report, truth = measure(name, LENGTH_MS, options, nmin)
    mine = first({function: ns for function, (ns, _, _) in by_path(report, truth.names).items()})
    true = first({function: value.critical_ns for function, value in truth.own.items()})
    return mine, true, max(level["active"] for level in report["parallelism"])


def same(ranking, other):
    """How many of the first ones are the same, in the same order."""
    count = 0
    while count < min(len(ranking), len(other)) and ranking[count] == other[count]:
        count += 1
    return count


def cell(mine, true):
    return f"{same(mine, true)} of {len(true)}"


def table_of_periods(defaults):
    print("First functions that are in their true place, by sampling period:\n")
    print("| Program | " + " | ".join(period or "default" for period in PERIODS) + " |")
    print("|---" * (len(PERIODS) + 1) + "|")
    for name in PROGRAMS:
        cells = [cell(*(run(name, period) if period else defaults[name])[:2]) for period in PERIODS]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def table_of_nmin(defaults):
    print("\nFirst functions by N_min; in brackets how many of them the report had in their true place:\n")
    print("| Program | N_min | First functions, truly | As with the default |")
    print("|---|---|---|---|")
    for name in PROGRAMS:
        mine, usual, active = defaults[name]
        print(f"| {name} | default | {', '.join(usual)} ({cell(mine, usual)}) | |")
        for nmin in range(1, active + 1):
            mine, true, _ = run(name, nmin=nmin)
            print(f"| | {nmin} | {', '.join(true)} ({cell(mine, true)}) | {cell(true, usual)} |", flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="pinch-sensitivity-") as directory:
        os.chdir(directory)
        try:
            defaults = {name: run(name) for name in PROGRAMS}
            table_of_periods(defaults)
            table_of_nmin(defaults)
        finally:
            stop_all()
            os.chdir("/")


if __name__ == "__main__":
    main()
