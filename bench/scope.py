#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What a scope sends over the loopback interface: bench/scope.py BUILD_DIR [EVENTS [ROUNDS]]. The events of a generated
trace go to 1, 4 and 20 clients as fast as none of them loses any; medians of ROUNDS. Compressing them is part of it, so
that the rate of events counts as well as that of bytes.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

CLIENTS = (1, 4, 20)


def measure(build, trace, clients):
    done = subprocess.run([os.path.join(build, "bench/scope_send"), trace, str(clients)], capture_output=True, check=True)
    return json.loads(done.stdout)


def main():
    build = sys.argv[1]
    events = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as directory:
        trace = os.path.join(directory, "t.pinch")
        subprocess.run([os.path.join(build, "bench/trace_gen"), trace, str(events)], check=True)
        print(f"{'clients':>8} {'MB/s to each':>13} {'MB/s to all':>12} {'events/s':>12} {'scope ns/event':>15} {'lost':>5}")
        for clients in CLIENTS:
            done = [measure(build, trace, clients) for _ in range(rounds)]
            rate = statistics.median(one["bytes"] / one["s"] for one in done) / 1e6
            per_s = statistics.median(one["events"] / one["s"] for one in done)
            cpu_ns = statistics.median(one["cpu_s"] * 1e9 / one["events"] for one in done)
            lost = sum(one["lost"] for one in done)
            print(f"{clients:>8} {rate / clients:>13.1f} {rate:>12.1f} {per_s:>12,.0f} {cpu_ns:>15.1f} {lost:>5}")


main()
