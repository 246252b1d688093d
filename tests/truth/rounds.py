#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Shares of code at 10,000 samples: each program of tests/e2e/code.py, ROUNDS times. A run holds if the sum of the
absolute differences of shares is at most 5 % and the right function leads; over all runs, the differences have to
be as large as the report says they are: the mean square of their sizes in standard errors is 1. What runs with
interrupts disabled is met by no sample (doc/metrics.md): SKID_SHARE of all that runs is added to each error.

Environment: ROUNDS (20); SAMPLES (10000); PINCH_OPTIONS, of all runs, such as "--sample-hz 307"; ONLY, as in
tests/e2e.
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from code_model import LEADERS, OUT_OF_STEP, PATHS, ROW_SHARE, comparisons, measure
from lib import main, test

ROUNDS = int(os.environ.get("ROUNDS", 20))
SAMPLES = int(os.environ.get("SAMPLES", 10000))
OPTIONS = tuple(os.environ.get("PINCH_OPTIONS", "").split())
PROBE_MS = 2000
DISTANCE_MAX, SPARE = 0.05, 1.1
SIGMAS = 4
SKID_SHARE = 0.01


def figures_of(name, length_ms):
    report, truth = measure(name, length_ms, OPTIONS or OUT_OF_STEP.get(name, ()))
    return next(compared for what, compared in comparisons(report, truth) if what == PATHS)


def register(name):
    @test(f"{name}: {ROUNDS} of {ROUNDS} runs of {SAMPLES} samples")
    def check():
        length_ms = int(PROBE_MS * SPARE * SAMPLES / figures_of(name, PROBE_MS).samples)
        failed, squares = [], []
        for _ in range(ROUNDS):
            compared = figures_of(name, length_ms)
            is_good = compared.distance() <= DISTANCE_MAX and not compared.rival(LEADERS[name], 0)
            print(f"# {name}: {100 * compared.distance():.2f} % apart, {compared}", flush=True)
            if not is_good:
                failed.append(str(compared))
            skid_ns = SKID_SHARE * compared.all_ns
            squares += [(ns - true_ns) ** 2 / (error_ns ** 2 + skid_ns ** 2)
                        for ns, error_ns, true_ns in compared.rows.values()
                        if error_ns and true_ns > ROW_SHARE * compared.all_ns]
        assert not failed, f"{len(failed)} of {ROUNDS} runs:\n" + "\n".join(failed)
        if squares:
            mean = sum(squares) / len(squares)
            print(f"# {name}: mean square {mean:.2f} of {len(squares)} differences, in standard errors")
            assert mean <= 1 + SIGMAS * math.sqrt(2 / len(squares)), f"errors are larger than said: {mean:.2f}"


for program_name in LEADERS:
    register(program_name)

if __name__ == "__main__":
    sys.exit(main())
