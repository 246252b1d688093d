#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Predictions for code against programs of which that code was really changed. Runs of a program as it was and with each
of two functions twice as fast take turns, ROUNDS of each, so that all have the same of a machine whose speed drifts.
Holds if the median of what is predicted is within 10 % of the median of what the changed program takes, if of both
functions the one that gains more in reality comes first in each ranking, and if replays are 2 % off at most.

Environment: ROUNDS (5); ONLY, as in tests/e2e.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from lib import main, program, script, test
from whatif_model import off, record, whatif

ROUNDS = int(os.environ.get("ROUNDS", 5))
PYTHON = "/usr/bin/python3"


class Case:
    """hot, cold: functions; of these, options of the command that make one take half of its time."""

    def __init__(self, command, hot="hot", cold="cold"):
        self.command, self.hot, self.cold = command, hot, cold

    def changed(self, hot, cold):
        return (*self.command, hot, cold)


def recorded_ns(command, trace="after.pinch"):
    record(trace, *command)
    return whatif(trace=trace)["recorded_ns"]


def rank_of(ranks, name):
    return next((i for i, rank in enumerate(ranks) if rank["name"] == name), len(ranks))


def check(case):
    was, predicted, hot, cold, first, errors = [], [], [], [], [], []
    for _ in range(ROUNDS):
        was.append(recorded_ns(case.changed(100, 100), "t.pinch"))
        answer, ranks = whatif("--function", case.hot), whatif()["elements"]
        hot.append(recorded_ns(case.changed(50, 100)))
        cold.append(recorded_ns(case.changed(100, 50)))
        predicted.append(answer["predicted_ns"])
        errors.append(answer["replay_error"])
        first.append((ranks[0]["kind"], ranks[0]["name"], rank_of(ranks, case.hot) < rank_of(ranks, case.cold)))
    was_ns, told_ns, hot_ns, cold_ns = (statistics.median(x) for x in (was, predicted, hot, cold))
    is_hot_better = hot_ns < cold_ns
    runs = ", ".join(f"{off(told, took):+.1%}" for told, took in zip(predicted, hot))
    firsts = ", ".join(f"{kind} {name}" for kind, name in sorted({f[:2] for f in first}))
    print(f"# took {was_ns / 1e6:.0f} ms, predicted {told_ns / 1e6:.0f}, took {hot_ns / 1e6:.0f} with {case.hot}() twice "
          f"as fast: {off(told_ns, hot_ns):+.1%} (runs {runs}); {cold_ns / 1e6:.0f} with {case.cold}(); "
          f"replay error up to {max(map(abs, errors)):.1%}; first: {firsts}", flush=True)
    assert abs(off(told_ns, hot_ns)) <= 0.10, f"{off(told_ns, hot_ns):+.1%}"
    assert all(f[2] == is_hot_better for f in first), first
    assert max(map(abs, errors)) <= 0.02, errors


def register(what, case):
    @test(what)
    def _():
        check(case())


for name, text in (("queue", "a producer and a consumer: items that are made in half the time"),
                   ("histogram", "a histogram with a hot line"), ("kmeans", "k-means with barriers and a straggler"),
                   ("compressor", "a compressor with a serial stage"),
                   ("matrix", "a matrix product with an uneven part")):
    register(text, lambda name=name: Case((program("changed_code"), name)))
register("a Python program", lambda: Case((PYTHON, script("changed_code.py"))))
register("a server with a pool of threads, under a load", lambda: Case((program("changed_server"),)))
register("a web server in Python with a slow view, under a load",
         lambda: Case((PYTHON, script("changed_web.py")), "hot_view", "cold_view"))

if __name__ == "__main__":
    sys.exit(main())
