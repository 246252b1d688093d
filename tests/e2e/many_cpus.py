#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Machines with many CPUs: generated events through the rings of so many, with the real collector, merge and analyses.
"""
import json
import subprocess
import sys

from lib import main, parse_report, pinch, program, read, test

EVENTS = 100000
PER_S = 200000
THREADS_A_CPU = 4
CPUS_A_SHARD = 8


def generate(cpus):
    shards = max(1, cpus // CPUS_A_SHARD)
    arguments = [EVENTS, THREADS_A_CPU * cpus, cpus, cpus, 3000, 400, shards, PER_S]
    subprocess.run([program("../bench/trace_gen"), "t.pinch", *map(str, arguments)], check=True)


def measure(*options):
    run = subprocess.run([program("../bench/many_cpus"), "t.pinch", *options], capture_output=True, text=True,
                         check=False)
    assert not run.returncode, run
    return json.loads(run.stdout)


@test("what comes through the rings of 1 to 256 CPUs, and what is analysed later, gives the report of the trace")
def same_report():
    for cpus in (1, 16, 64, 256):
        generate(cpus)
        measured = measure()
        assert measured["cpus"] == cpus, measured
        for part in (measured["collector"], measured["with_analyses"], measured["deferred"]):
            assert not part["lost"] and not part["late"], measured
        assert measured["report"] == measured["later"] == measured["replayed"], measured


@test("on 256 CPUs, nothing that generated threads do is unexplained")
def nothing_unexplained():
    generate(256)
    result = pinch("report", "--json", "report.json", "-q", "t.pinch")
    assert not result.status, result.text
    report = parse_report(read("report.json", "rb"))
    assert not report["losses"]["unexplained_transitions"], report["losses"]
    assert not report["totals"]["accounting_error_ns"], report["totals"]


@test("records for which a CPU's ring has no space are counted")
def lost():
    generate(16)
    assert measure("1024")["with_analyses"]["lost"]


if __name__ == "__main__":
    sys.exit(main())
