#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What it costs a program to be looked at while it is recorded: bench/view_live.py BUILD_DIR [PAIRS [THREADS [YIELDS]]] (7, 16, 3000000), as
root. bench/yield_storm runs under `pinch record` and under `pinch view`, with a reader that asks for what an open page asks for, in turn: each
pair has both, and either one first. Both record into a ring of 256 MB in /var/tmp. Says how long the program ran, how many events a second
it made, and the median of the ratios of pairs; and what viewer and history took at the end.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from view import COLUMNS, Server

RING, ASKED_S, FOLLOWED_NS = "256M", 0.4, 10_000_000_000
TIMED = "import os, sys, time; a = time.monotonic_ns(); os.spawnv(os.P_WAIT, sys.argv[2], sys.argv[2:]); open(sys.argv[1], 'w').write(str(time.monotonic_ns() - a))"


class Page(Server):
    """Asks as a page does that follows the end: how far the trace is, its lanes now and then, and the tiles of the last seconds."""

    def __init__(self, build, *arguments):
        super().__init__(build, *arguments)
        self.is_over, self.pictures, self.now = False, 0, {}
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        while not self.is_over:
            self.now = json.loads(self.get("/now"))
            if self.now["phase"] != "recording":
                return
            if self.pictures % 10 == 0 or self.now["key"] != self.trace["key"]:
                self.trace = json.loads(self.get("/trace"))
            to_ns = self.now["whole_ns"]
            self.picture(max(self.trace["begin_ns"], to_ns - FOLLOWED_NS), max(to_ns, self.trace["begin_ns"] + COLUMNS), f"0-{len(self.trace['lanes']) - 1}")
            self.pictures += 1
            time.sleep(ASKED_S)

    def end(self):
        self.is_over = True
        self.thread.join()
        super().end()


def seconds(path):
    with open(path) as file:
        return int(file.read()) / 1e9


def recorded(build, directory, command):
    trace = os.path.join(directory, "t.pinch")
    subprocess.run([os.path.join(build, "pinch"), "record", "-q", "--ring", RING, "-o", trace, "--", *command], check=True)
    said = subprocess.run([os.path.join(build, "pinch"), "check", trace], stdout=subprocess.PIPE, check=False).stdout.decode()
    os.unlink(trace)
    return int(re.search(r"([\d,]+) events", said).group(1).replace(",", ""))


def viewed(build, command):
    page = Page(build, "--ring", RING, "--", *command)
    page.thread.join()
    facts = {"pictures": page.pictures, "rss_bytes": page.rss_bytes(), **{name: page.now[name] for name in ("trace_bytes", "index_bytes")}}
    page.end()
    return facts


def main():
    build, numbers = sys.argv[1], [int(number) for number in sys.argv[2:]]
    pairs, threads, yields = numbers + [7, 16, 3_000_000][len(numbers):]
    ratios = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        out = os.path.join(directory, "ns")
        program = [os.path.join(build, "bench/yield_storm"), str(threads), str(yields)]
        command = ["/usr/bin/python3", "-c", TIMED, out, *program]
        for pair in range(pairs):
            taken_s, facts = {}, {}
            for how in ("record", "view")[::1 if pair % 2 else -1]:
                facts[how] = recorded(build, directory, command) if how == "record" else viewed(build, command)
                taken_s[how] = seconds(out)
            ratios.append(taken_s["view"] / taken_s["record"])
            print(f"pair {pair + 1}: {taken_s['record']:.2f} s recorded, {facts['record'] / taken_s['record']:,.0f} events/s; {taken_s['view']:.2f} s viewed: "
                  f"{ratios[-1]:.3f}; {facts['view']}", flush=True)
    print(f"viewed / recorded: median {statistics.median(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}, {pairs} pairs; load {os.getloadavg()[0]:.1f}")


main()
