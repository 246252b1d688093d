#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
pinch against an independent oracle, on the same execution: perf records the scheduler beside it,
oracle_model.py computes from that what each thread's CMetric must be. Both take CLOCK_MONOTONIC.
"""
import json
import os
import shutil
import subprocess
import sys

import oracle_model
from lib import LIMIT_S, PINCH, Skip, check_laws, finish, main, near, parse_report, program, \
    read, start, test, threads_named

EVENTS = ",".join(f"sched:sched_{e}" for e in (
    "switch", "waking", "process_fork", "process_exec", "process_exit", "wakeup_new"))

SHARE_MAX = 0.01        # of the larger figure
FLOOR_SHARE = 0.001     # of the wall time: what both may round differently
JITTER_NS = 2000        # perf and pinch read the clock one after the other, at each birth
BLIND_SHARE_MAX = 0.02  # of the wall time: holes in the recording, added to what is allowed
TRIES = 4


def record(*command):
    """The report and the recording of one execution, and the command's standard output."""
    if not shutil.which("perf"):
        raise Skip("perf is not here")
    # perf counts from before it starts its own command, so nothing is missed. --buildid-mmap: see
    # perf_is_left_alone().
    process = start("perf", "record", "-q", "-B", "-N", "--no-bpf-event", "--buildid-mmap", "-a", "-m", "16M", "-k", "CLOCK_MONOTONIC",
                    "-e", EVENTS, "-o", "perf.data", "--",
                    PINCH, "run", "-q", "--json", "report.json", "--", *command,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    result = finish(process)
    if not os.path.exists("perf.data") or not os.path.getsize("perf.data"):
        raise Skip(f"perf cannot record here: {result.text.strip()[-200:]}")
    assert result.status == 0, f"perf record ended with {result.status}\n{result.text[-2000:]}"
    report = parse_report(read("report.json", "rb"))
    assert report["target"]["exit_status"] == 0, result.text
    return report, result.out


def solve(report):
    script = subprocess.run(["perf", "script", "-i", "perf.data", "--ns", "--show-lost-events",
                             "-F", "tid,cpu,time,event,trace"],
                            capture_output=True, timeout=LIMIT_S)
    assert script.returncode == 0, script.stderr.decode("utf-8", "replace")[-2000:]
    command_pid = report["target"]["pids"][0]
    return oracle_model.Model(oracle_model.parse(script.stdout.splitlines()), command_pid)


def compare(report, model):
    by_tid, levels, (begin_ns, end_ns) = model.solve()
    wall_ns = report["target"]["wall_ns"]
    floor_ns = FLOOR_SHARE * wall_ns
    wrong = []

    def agree(what, pinch_ns, oracle_ns, jitter_ns=0):
        allowed = max(floor_ns, SHARE_MAX * max(pinch_ns, oracle_ns)) + model.blind_ns + jitter_ns
        if abs(pinch_ns - oracle_ns) > allowed:
            wrong.append(f"{what}: pinch {pinch_ns / 1e6:.3f} ms, oracle {oracle_ns / 1e6:.3f} ms")

    pinch_tids = {}
    for thread in report["threads"]:
        pinch_tids.setdefault(thread["host_tid"], []).append(thread)
    assert set(pinch_tids) == set(by_tid), \
        f"threads only in pinch: {sorted(set(pinch_tids) - set(by_tid))}, " \
        f"only in the recording: {sorted(set(by_tid) - set(pinch_tids))}"
    for tid, rows in pinch_tids.items():
        name = f"{rows[0]['name']} {tid}"
        for key, figure in (("cmetric_ns", "cmetric"), ("cmetric_oncpu_ns", "oncpu"),
                            ("running_ns", "running"), ("runnable_ns", "runnable"),
                            ("blocked_ns", "blocked")):
            agree(f"{key} of {name}", sum(r[key] for r in rows), by_tid[tid][figure])
        slices = sum(r["slices"] for r in rows)
        if abs(slices - by_tid[tid]["slices"]) > max(1, SHARE_MAX * slices) + 2 * model.holes:
            wrong.append(f"slices of {name}: pinch {slices}, oracle {by_tid[tid]['slices']}")
    agree("wall", wall_ns, end_ns - begin_ns)
    agree("stalled", report["totals"]["stalled_ns"], levels[0])
    mine = {p["active"]: p["ns"] for p in report["parallelism"]}
    for level in set(mine) | set(levels):
        agree(f"time with {level} active", mine.get(level, 0), levels[level],
              JITTER_NS * len(by_tid))
    assert not wrong, "\n".join(
        [f"{len(wrong)} figures disagree; the recording has {model.holes} holes, "
         f"{model.blind_ns / 1e6:.3f} ms"] + wrong[:11])


def compare_run(*command):
    for _ in range(TRIES):
        report, out = record(*command)
        check_laws(report)
        model = solve(report)
        if model.blind_ns <= BLIND_SHARE_MAX * report["target"]["wall_ns"]:
            compare(report, model)
            return report, out
    raise Skip(f"the kernel did not tell of {model.blind_ns / 1e6:.1f} ms, {TRIES} times running")


@test("known_serial: pinch agrees with the oracle, and with the program's own account within 2 %")
def known_serial():
    report, out = compare_run(program("known_serial"))
    for expected in json.loads(out)["threads"]:
        thread, = threads_named(report, expected["name"])
        near(thread["cmetric_ns"], expected["cmetric_ns"], 0.02 * expected["cmetric_ns"],
             f"CMetric of {expected['name']}, as the program predicts it")
        near(thread["running_ns"] + thread["runnable_ns"], expected["active_ns"],
             0.02 * expected["active_ns"], f"active time of {expected['name']}")


@test("multi_mutex: pinch agrees with the oracle on every thread")
def multi_mutex():
    compare_run(program("multi_mutex"))


@test("pipeline_stages: pinch agrees with the oracle on every thread")
def pipeline_stages():
    compare_run(program("pipeline_stages"))


@test("mutex_storm: pinch agrees with the oracle on every thread")
def mutex_storm():
    compare_run(program("mutex_storm"), 16, 15000)


@test("thread_churn: pinch agrees with the oracle on every thread")
def thread_churn():
    compare_run(program("thread_churn"), 1000)


@test("short_children: pinch agrees with the oracle on every process")
def short_children():
    compare_run(program("short_children"))


@test("mutex: pinch agrees with the oracle on stalls, where everything sleeps")
def mutex():
    compare_run(program("mutex"))


@test("stencil_mpi under mpirun: pinch agrees with the oracle on every thread of every rank")
def stencil_mpi():
    if not shutil.which("mpirun"):
        raise Skip("mpirun is not here")
    report, _ = compare_run("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", 4,
                            "--mca", "mpi_yield_when_idle", 1, program("stencil_mpi"), 300)
    ranks = sorted((t for t in report["threads"]
                    if t["name"] == "stencil_mpi" and t["tid"] == t["pid"]),
                   key=lambda t: -t["cmetric_ns"])
    assert len(ranks) == 4, f"{len(ranks)} ranks"
    assert all(ranks[0]["running_ns"] > 2 * r["running_ns"] for r in ranks[1:]), \
        f"rank 0, with six times the rows, does not lead: {[r['running_ns'] for r in ranks]}"


@test("a perf record that runs beside pinch is left alone: its recording can be read")
def perf_is_left_alone():
    """
    perf asks for inodes of mapped files. Kernels leave PERF_RECORD_MISC_MMAP_BUILD_ID set in the
    records of one reader when another one asked for build-ids (perf_event_mmap_output() does not
    restore misc), and perf 6.1 overwrites its stack when it believes that.
    """
    record_beside = ["perf", "record", "-q", "-a", "-e", "dummy", "-o", "perf.data", "--",
                     PINCH, "run", "-q", "--", "true"]
    result = finish(start(*record_beside, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE))
    assert result.status == 0, f"perf record ended with {result.status}\n{result.text[-500:]}"
    script = subprocess.run(["perf", "script", "-i", "perf.data", "--show-mmap-events"],
                            capture_output=True, timeout=LIMIT_S)
    assert script.returncode == 0, script.stderr.decode("utf-8", "replace")[-500:]


if __name__ == "__main__":
    sys.exit(main())
