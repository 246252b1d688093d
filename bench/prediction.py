# SPDX-License-Identifier: GPL-2.0-or-later
"""What `pinch whatif` predicts of a MariaDB server, and what the server then really does with another setting."""

import json
import os
import signal
import subprocess
import time

import figures
import processes
from mariadb import Server
from recording import Record
from workloads import scaled

GOAL_OFF = 0.10
TRANSACTIONS, THREADS = 3000, 4
# A commit waits so long for others to be written to the binary log with. With 10 ms CPUs are idle most of the
# time, and the same work takes half as long again as without: no prediction knows that.
BEFORE, AFTER = ("--log-bin", "--binlog-commit-wait-count=100", "--binlog-commit-wait-usec=2000"), ("--log-bin",)
ASKED = ["--cause", "condition", "--scale", "0"]


class Session(Record):
    """The trace of a server and of its load, from before the load began until it was over."""

    def of(self, server, load):
        stopped = processes.start(["sh", "-c", 'kill -STOP $$; exec "$@"', "sh", *load],
                                  stdout=subprocess.DEVNULL)
        processes.until(lambda: is_stopped(stopped.pid), stopped, "sysbench")
        process, terminal = self.attach(f"{server.process.pid},{stopped.pid}")
        os.kill(stopped.pid, signal.SIGCONT)
        begin_s = time.monotonic()
        if processes.wait(stopped, processes.RUN_LIMIT_S):
            raise processes.Failure("sysbench failed")
        wall_s = time.monotonic() - begin_s
        process.send_signal(signal.SIGINT)
        if processes.wait(process, processes.RUN_LIMIT_S):
            raise processes.Failure(f"pinch record: {terminal.text()}")
        return wall_s

    def whatif(self, *options):
        done = subprocess.run([self.place.pinch, "whatif", "--json", "-", *options, self.path], check=True,
                              stdout=subprocess.PIPE)
        return json.loads(done.stdout)


def is_stopped(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "T"


def run(place, options, share, *asked):
    """The load's wall time and what is predicted of it, of a server that has just been made."""
    server = Server(place)
    session = Session(place, os.path.join(place.directory, "predicted.pinch"))
    try:
        server.start(*options)
        load = server.sysbench("run", scaled(TRANSACTIONS, share), THREADS)
        processes.run(load)             # warms the buffer pool
        wall_s = session.of(server, load)
        value = session.whatif(*asked)
        # What came before the load, in which it was stopped, is in both.
        return {**value, "wall_s": wall_s, "lead_s": value["recorded_ns"] / 1e9 - wall_s}
    finally:
        server.stop()
        for path in session.path, session.path + ".states":
            if os.path.exists(path):
                os.unlink(path)


def without_lead_s(one, what):
    return one[what] / 1e9 - one["lead_s"]


def measure(place, share, rounds, say):
    results = []
    for i in range(rounds):
        before, after = run(place, BEFORE, share, *ASKED), run(place, AFTER, share)
        results.append({"before": before, "after": after})
        say(f"what if: round {i + 1}/{rounds}: {before['wall_s']:.3f} s, predicted "
            f"{without_lead_s(before, 'predicted_ns'):.3f} s, it was {after['wall_s']:.3f} s")
    return results


def rows(results):
    before, after = ([one[when] for one in results] for when in ("before", "after"))
    predicted = [without_lead_s(one, "predicted_ns") for one in before]
    yield figures.row_of("MariaDB, commits wait for more", [one["wall_s"] for one in before], figures.seconds)
    yield figures.row_of("  replay error", [one["replay_error"] for one in before], "{:+.1%}".format)
    yield figures.row_of("predicted without waits for conditions", predicted, figures.seconds)
    yield figures.row_of("  least", [without_lead_s(one, "least_ns") for one in before], figures.seconds)
    yield figures.row_of("  most", [without_lead_s(one, "most_ns") for one in before], figures.seconds)
    yield figures.row_of("commits that do not wait", [one["wall_s"] for one in after], figures.seconds)
    off = [value / one["wall_s"] - 1 for value, one in zip(predicted, after)]
    yield figures.row_of("  the prediction is off by", off, "{:+.1%}".format, f"within {GOAL_OFF:.0%}",
                         lambda value: abs(value) <= GOAL_OFF)
