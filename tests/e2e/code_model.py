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
PATHS_MAX = 1000
# The log's own calls of the clock are at the edges of functions: no more than this of all that runs.
EDGES_SHARE = 0.005


def command_of(name):
    if name.startswith("python"):
        return "/usr/bin/python3", script(f"code/{name}.py")
    return (program(f"code/{name}"),)


def measure(name, length_ms, options=(), nmin=None):
    """The report and the truth of one run."""
    # Writing to a file on a disk could wait for it.
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.NamedTemporaryFile(prefix="pinch-code-", dir=place) as log:
        result = pinch("run", "-q", "--top", PATHS_MAX, "--trace", "t.pinch", "--json", "report.json", *options,
                       "--", *command_of(name), log.name, length_ms, limit_s=lib.LIMIT_S + length_ms / 1000)
        assert result.status == 0, result.text
        report = parse_report(read("report.json", "rb"))
        lost = {key: report["losses"][key] for key in lib.LOSSES if report["losses"][key]}
        assert not lost, f"lost: {lost}"
        return report, Truth("t.pinch", log.name, nmin)
