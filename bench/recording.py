# SPDX-License-Identifier: GPL-2.0-or-later
"""What `pinch record` costs beside `pinch run`, on what DepGraph (section VI) measured itself with too."""

import os
import shutil

import figures
import processes
import tracers
from workloads import Command, MariaDB, scaled

GOAL_BESIDE_RUN = 1.03      # of pinch's own wall time, MariaDB
GOAL_FILE_IO = 1.10         # of the untraced, where DepGraph had 1.101


class Record(tracers.Pinch):
    """Leaves the trace at the given path."""

    def __init__(self, place, path, name="record", options=()):
        super().__init__(place, options)
        self.path, self.name = path, name

    def _argv(self, _):
        return [self.place.pinch, "record", "-o", self.path, *self.options]

    def _measured(self, result):
        result["trace_bytes"] = os.path.getsize(self.path)
        return result


class FileIO(Command):
    """sysbench reads and writes 16 files of 8 MB at random, and syncs them."""

    def __init__(self):
        super().__init__("fileio", lambda place, share: [
            "env", "-C", self.directory, *self.sysbench("run"), "--threads=4", "--time=0",
            "--rand-seed=1", f"--events={scaled(300000, share)}"])

    def sysbench(self, action):
        return [self.place.find("sysbench"), "fileio", "--file-num=16", "--file-total-size=128M",
                "--file-test-mode=rndrw", action]

    def open(self, place, share):
        self.directory = os.path.join(place.directory, "fileio")
        os.mkdir(self.directory)
        super().open(place, share)
        processes.run(["env", "-C", self.directory, *self.sysbench("prepare")])

    def close(self):
        shutil.rmtree(self.directory)


def rows(by_workload):
    """By workload, rounds of it: untraced, under pinch, record, record --system."""
    for name, rounds in by_workload.items():
        yield figures.row_of(f"{name}, untraced", [one["untraced"]["wall_s"] for one in rounds],
                             figures.seconds)
        yield figures.row_of("  run", figures.wall_ratios(rounds, "pinch"), figures.ratio)
        for how in "record", "system":
            ratios = figures.wall_ratios(rounds, how)
            if name == "fileio":
                yield figures.at_most(f"  {how}", ratios, figures.ratio, GOAL_FILE_IO)
            else:
                yield figures.row_of(f"  {how}", ratios, figures.ratio)
            yield figures.row_of("    trace", [one[how]["trace_bytes"] / one[how]["wall_s"]
                                              for one in rounds],
                                 lambda per_s: f"{per_s / figures.MB:,.1f} MB/s")
        beside = figures.wall_ratios(rounds, "record", "pinch")
        if name == MariaDB.name:
            yield figures.at_most("  record / run", beside, figures.ratio, GOAL_BESIDE_RUN)
        else:
            yield figures.row_of("  record / run", beside, figures.ratio)


def measure(place, share, measure_rounds):
    """measure_rounds(title, tracers, run): interleaved. Returns rounds by workload."""
    path = os.path.join(place.directory, "recorded.pinch")
    used = [tracers.Untraced(place), tracers.Pinch(place), Record(place, path),
            Record(place, path, "system", ["--system"])]
    by_workload = {}
    for workload in MariaDB(), FileIO():
        workload.open(place, share)
        try:
            for tracer in used:         # nobody's first run counts
                workload.run(tracer)
            by_workload[workload.name] = measure_rounds(workload.name, used, workload.run)
        finally:
            workload.close()
    return by_workload
