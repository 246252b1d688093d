# SPDX-License-Identifier: GPL-2.0-or-later
"""
What tests ask of programs whose code's shares are known (tests/programs/code): a run of one with its report
and its truth, and how far apart these two may be.
"""
import math
import os
import tempfile

import lib
from lib import base_name, parse_report, pinch, program, read, script
from truth_model import OTHER, Truth

# What leads in critical time, by construction.
LEADERS = {
    "staged_pipeline": "compress_block",
    "writer_among_readers": "rebuild_index",
    "tail_unlock": "store_row",
    "last_slice": "serial_tail",
    "hidden_from_tick": "between_ticks",
    "in_step": "before_tick",
    "event_loop": "on_query",
    "deep_recursion": "visit_node",
    "short_slices": "long_turn",
    "thousand_threads": "accept_request",
    "uneven_crowd": "big_share",
    "in_the_kernel": "fill_random",
    "forked_workers": "merge_parts",
    "drawn_shapes": "Mesh::draw",
    "python_shares": "score_text",
}
# What these do is in step with the kernel's tick, or is changed by it: samples at the tick do not know it.
OUT_OF_STEP = {name: ("--sample-hz", 307) for name in ("hidden_from_tick", "in_step", "short_slices")}
PATHS_MAX = 1000
# The log's own calls of the clock are at the edges of functions: no more than this of all that runs.
EDGES_SHARE = 0.005
ROW_SHARE = 0.02             # smaller rows are not looked at one by one


def command_of(name):
    if name.startswith("python"):
        return "/usr/bin/python3", script(f"code/{name}.py")
    return (program(f"code/{name}"),)


def measure(name, length_ms, options=None, nmin=None):
    """The report and the truth of one run. options: of pinch run; else those that the program needs."""
    options = OUT_OF_STEP.get(name, ()) if options is None else options
    # Writing to a file on a disk could wait for it.
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.NamedTemporaryFile(prefix="pinch-code-", dir=place) as log:
        result = pinch("run", "-q", "--top", PATHS_MAX, "--trace", "t.pinch", "--json", "report.json", *options,
                       "--", *command_of(name), log.name, length_ms, limit_s=lib.LIMIT_S + length_ms / 1000)
        assert result.status == 0, result.text
        report = parse_report(read("report.json", "rb"))
        # Of mappings those of the whole machine, none of which matter here.
        lost = {key: count for key, count in lib.losses_of(report).items() if key != "mappings"}
        assert not lost, f"lost: {lost}"
        return report, Truth("t.pinch", log.name, nmin)


# --- The report's figures ---------------------------------------------------------------------------

PATHS = "critical CMetric of paths"
FIGURES = {"cpu_ns": "cpu_error_ns", "cmetric_ns": "cmetric_error_ns", "critical_ns": "error_ns"}


def log_name(name):
    """A function as the log calls it: without namespaces, arguments and what it returns."""
    return base_name(name).rpartition(" ")[2]


def by_path(report, names):
    """Critical CMetric by the innermost function of the log that is on each path: {name: (ns, error_ns, samples)}."""
    sums = {}
    for path in report["paths"]:
        own = next((n for n in (log_name(f["function"]) for f in path["stack"]) if n in names), OTHER)
        ns, variance, samples = sums.get(own, (0, 0, 0))
        sums[own] = ns + path["cmetric_ns"], variance + path["error_ns"] ** 2, samples + path["samples"]
    return {name: (ns, math.sqrt(variance), samples) for name, (ns, variance, samples) in sums.items()}


def by_function(report, names, figure):
    """With all that they call: {name: (ns, error_ns, samples)}. Parts that a compiler has moved away have own rows."""
    found = dict.fromkeys(names, (0, 0, 0))
    for function in report["code"]["functions"]:
        name, total = log_name(function["name"]), function["total"]
        if name in names:
            ns, error_ns, samples = found[name]
            found[name] = ns + total[figure], error_ns + total[FIGURES[figure]], samples + total["samples"]
    return found


class Comparison:
    """Of one figure, estimated and true, function by function."""

    def __init__(self, estimated, true, all_ns, code):
        self.all_ns, self.samples = all_ns, code["samples"]
        self.sample_ns = code["cpu_ns"] / max(self.samples, 1)
        self.rows = {name: (*estimated.get(name, (0, 0, 0))[:2], true.get(name, 0))
                     for name in set(estimated) | set(true)}

    def carried(self):
        """How many samples the figure's whole stands for."""
        return max(1, self.all_ns / self.sample_ns)

    def distance(self):
        """The sum of the absolute differences of shares."""
        return sum(abs(ns - true_ns) for ns, _, true_ns in self.rows.values()) / self.all_ns

    def excesses(self, unseen):
        """
        How far each large row is off, in standard errors, and more than what so many samples stand for: code that
        few of them meet has no normal distribution, and code that none meets no error.
        """
        spare_ns = self.all_ns * EDGES_SHARE + unseen * self.sample_ns
        for name, (ns, error_ns, true_ns) in self.rows.items():
            # Others' code is that of the program's beginning and end: at fixed places, which may be between samples.
            if name != OTHER and max(ns, true_ns) > ROW_SHARE * self.all_ns:
                yield name, max(0, abs(ns - true_ns) - spare_ns) / max(error_ns, 1)

    def rival(self, leader, errors):
        """Which function has more than the leader, by more than so many standard errors; None: none."""
        mine_ns, my_error_ns, _ = self.rows[leader]
        return next((name for name, (ns, error_ns, _) in self.rows.items()
                     if name != OTHER and ns - mine_ns > errors * math.hypot(error_ns, my_error_ns)), None)

    def __str__(self):
        return f"{self.samples} samples: " + ", ".join(
            f"{name} {100 * ns / self.all_ns:.1f} ± {100 * error_ns / self.all_ns:.1f} % (true: {100 * true_ns / self.all_ns:.1f})"
            for name, (ns, error_ns, true_ns) in sorted(self.rows.items(), key=lambda row: -row[1][2]))


def comparisons(report, truth):
    """(what, Comparison) of all figures that the report has by code."""
    code = report["code"]
    own = {name: value.critical_ns for name, value in truth.own.items()}
    yield PATHS, Comparison(by_path(report, truth.names), own, truth.all_ns("critical_ns"), code)
    for figure in FIGURES:
        yield f"{figure} of functions", Comparison(
            by_function(report, truth.names, figure),
            {name: getattr(truth.whole[name], figure) for name in truth.names}, truth.all_ns(figure), code)
