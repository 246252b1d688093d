#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
many_cpus.py BUILD [CPUS...]
The tables of doc/scale.md: what collector and analyses need where 2 to 256 CPUs record so many events a second. Takes
ten minutes and 500 MB of disk.
"""
import json
import os
import subprocess
import sys
import tempfile

CPUS = [2, 16, 64, 128, 256]
RATES = [(2000000, 3), (500000, 6)]     # events a second, and for how many seconds
THREADS_A_CPU = 4
CPUS_A_SHARD = 8
SAMPLE_US, STACKS = 3000, 400
MB = 1 << 20

HEAD = ["CPUs", "collector, ns an event", "CPUs used", "delay, ms", "with analyses, ns an event", "CPUs used",
        "delay, ms", "lost", "analysed later, ns an event", "CPUs used", "then, s", "lost", "own memory, MB",
        "rings touched, MB", "reports"]


def measure(build, directory, cpus, per_s, seconds):
    trace = os.path.join(directory, "t.pinch")
    generated = [per_s * seconds, THREADS_A_CPU * cpus, cpus, 1, SAMPLE_US, STACKS, max(1, cpus // CPUS_A_SHARD), per_s]
    subprocess.run([f"{build}/bench/trace_gen", trace, *map(str, generated)], check=True)
    run = subprocess.run([f"{build}/bench/many_cpus", trace], stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def delay(part):
    found = part["delay_ms"]
    return f"{found['median']:.0f}, {found['p99']:.0f}, {found['max']:.0f}"


def row(measured):
    collector, whole, deferred = measured["collector"], measured["with_analyses"], measured["deferred"]
    # Of records that are lost, the trace has what they say.
    reports = {measured[name] for name, part in (("report", whole), ("later", deferred)) if not part["lost"]}
    same = "–" if not reports else "the same" if reports == {measured["replayed"]} else "DIFFER"
    return [str(measured["cpus"]), f"{collector['event_ns']:.0f}", f"{collector['cpus_used']:.2f}", delay(collector),
            f"{whole['event_ns']:.0f}", f"{whole['cpus_used']:.2f}", delay(whole), f"{whole['lost']:,}",
            f"{deferred['event_ns']:.0f}", f"{deferred['cpus_used']:.2f}", f"{measured['later_s']:.1f}",
            f"{deferred['lost']:,}",
            f"{measured['own_bytes'] / MB:.0f}", f"{measured['touched_bytes'] / MB:.0f}", same]


def main():
    build = os.path.abspath(sys.argv[1])
    chosen = [int(cpus) for cpus in sys.argv[2:]] or CPUS
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as directory:
        for per_s, seconds in RATES:
            print(f"\n{per_s:,} events a second, {seconds} s:\n")
            print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD), flush=True)
            for cpus in chosen:
                print("| " + " | ".join(row(measure(build, directory, cpus, per_s, seconds))) + " |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: many_cpus.py BUILD [CPUS...]")
    main()
