#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Programs with a planted bottleneck (tests/programs): what must rank first does. run() also checks
the laws of doc/design.md, section 3, on each of them, and that nothing was lost.
"""
import os
import re
import shutil
import sys

from lib import JITTER_NS, Skip, assert_resolved, base_name, describe, disk_directory, find_path, \
    functions_of, main, make_hello_files, near, program, run, test, threads_named


def assert_leads(report, *names):
    """
    One of the names is in the first path. A slice goes to the path in which it ended: where a
    thread was left alone for long, the function that it spent the slice in shows in the samples.
    """
    assert report["paths"], "no paths at all"
    first = report["paths"][0]
    seen = functions_of(first) + [base_name(f["name"]) for f in first["functions"][:1]]
    assert any(name in seen for name in names), \
        f"{' or '.join(names)} is not in the first path\n{describe(report)}"


def assert_thread_leads(report, name):
    first = max(report["threads"], key=lambda t: t["cmetric_ns"])
    assert first["name"] == name, \
        f"{first['name']!r} leads with {first['cmetric_ns']} ns, not {name!r}"


def assert_has_line(report, function, file):
    places = [f for p in report["paths"] for f in p["stack"]
              if base_name(f["function"]) == function]
    places += [line for p in report["paths"] for f in p["functions"]
               if base_name(f["name"]) == function for line in f["lines"]]
    assert places, f"{function} is in no path\n{describe(report)}"
    assert all(p["file"] and os.path.basename(p["file"]) == file and p["line"] for p in places), \
        f"{function} is at {[(p['file'], p['line']) for p in places][:5]}"


def sum_of(report, function):
    return sum(p["cmetric_ns"] for p in report["paths"] if function in functions_of(p))


def share_of(report, function):
    """Of all paths: whoever else has the CPUs meanwhile, it stays what it is."""
    return sum_of(report, function) / sum(p["cmetric_ns"] for p in report["paths"])


def samples_of(report, function):
    return sum(f["samples"] - f["stack_tops"] for p in report["paths"] for f in p["functions"]
               if base_name(f["name"]) == function)


# With two threads N_min is 1, and a slice that wakes the other thread in its last microsecond has
# a mean activity just above it. All slices of two threads are critical with 2.
TWO = ["--nmin", 2]


def trace(name, *arguments, options=(), **kw):
    report = run(program(name), *arguments, options=options, **kw).report
    assert_resolved(report, program(name))
    return report


@test("known_serial: what the thread serial computes alone ranks first, and the thread itself")
def known_serial():
    # With N_min 2 it would be a tie: by construction parallel_work, in three threads, has as much.
    report = trace("known_serial", options=["--nmin", 1])
    assert_leads(report, "serial_work", "compute")
    assert report["paths"][0]["thread_names"] == ["serial"], describe(report)
    assert_thread_leads(report, "serial")
    assert {t["name"] for t in report["threads"]} == {"known_serial", "serial", "par-0", "par-1",
                                                      "par-2"}
    assert report["totals"]["alive_max"] == 5


@test("multi_mutex: big_work ranks first, medium_work and small_work hardly count")
def multi_mutex():
    report = trace("multi_mutex", options=["--top", 100])
    # Emulated, to begin and end a thread takes longer than its work.
    if not JITTER_NS:
        assert_leads(report, "big_work")
    # Where a slice ends says where its thread came to a lock: the work before was another's in part.
    factor = 1 if JITTER_NS else 4
    assert sum_of(report, "big_work") > factor * sum_of(report, "medium_work"), describe(report)
    assert sum_of(report, "big_work") > factor * sum_of(report, "small_work"), describe(report)
    assert_has_line(report, "big_work", "multi_mutex.cpp")
    assert report["totals"]["threads"] == 1 + 8 * 18


@test("multi_lock: big_work ranks first")
def multi_lock():
    report = trace("multi_lock", options=["--top", 100])
    if JITTER_NS:       # as above; then all wait for big_work, and their slices are long
        assert all(sum_of(report, f"{size}_work") for size in ("big", "medium", "small"))
        return
    assert_leads(report, "big_work")
    # A slice in which big_work ran and medium_work then waited is medium_work's.
    assert sum_of(report, "big_work") > 3 * sum_of(report, "medium_work"), describe(report)


@test("mutex: nearly all is stalled, and mutex_work's sleep is what ends the stalls")
def mutex():
    report = trace("mutex")
    # Who has no CPU to begin with is active; by itself the program is stalled 0.99 of the time.
    assert report["totals"]["stalled_ns"] > 0.5 * report["target"]["wall_ns"]
    first = report["stall_paths"][0]
    assert "mutex_work" in functions_of(first), functions_of(first)
    assert first["stalled_ns"] > 0.7 * report["totals"]["stalled_ns"]
    assert report["totals"]["threads"] == 13
    # Twelve threads in a row sleep 150 ms each, the one that waits longest 1.8 s.
    waits = sorted(t["blocked_ns"] + t["cpu_wait_ns"] for t in report["threads"])
    assert waits[-1] >= 1_800_000_000 - 12 * JITTER_NS and waits[0] >= 150_000_000 - JITTER_NS, waits


@test("mutex_man_thread: threads made by clone() are seen, and their sleep ends the stalls")
def mutex_man_thread():
    report = trace("mutex_man_thread")
    assert report["totals"]["stalled_ns"] > 0.5 * report["target"]["wall_ns"]
    assert report["totals"]["threads"] == 13
    names = functions_of(report["stall_paths"][0])
    assert names[:2] == ["syscall", "mutex_work"] or names[0] == "mutex_work", names


@test("main_read: pread, called by big_work, ranks first")
def main_read():
    directory = disk_directory()
    make_hello_files()
    report = trace("main_read", directory)
    assert_leads(report, "pread", "pread64", "__libc_pread", "__libc_pread64")
    assert_leads(report, "big_work")
    assert report["totals"]["threads"] == 1 + 4 * 8


@test("main_write: big_work ranks first, and fsync, called by it, among waits")
def main_write():
    report = trace("main_write", disk_directory())
    assert_leads(report, "big_work")
    files = [functions_of(w) for w in report["waits"] if w["cause"] == "file"]
    assert any({"fsync", "big_work"} <= set(names) for names in files), files[:2]
    assert report["totals"]["threads"] == 1 + 4 * 8


@test("fsync_io: what writes and syncs ranks first, for four threads alike")
def fsync_io():
    report = trace("fsync_io", disk_directory(), 4000)
    assert_leads(report, "fdatasync", "append_block")
    assert report["paths"][0]["thread_count"] == 4
    # Nothing interrupts such a wait: what the kernel waits for is named after its innermost function.
    waits = next(w for w in report["waits"] if w["cause"] == "file" and "fdatasync" in functions_of(w))
    kernel = [f["function"] for f in waits["stack"] if f["is_kernel"]]
    assert kernel and not re.match("bpf_|__trace|__schedule|schedule$", kernel[0]), kernel
    assert any("sync" in name for name in kernel), kernel
    # How long they wait for a CPU is up to whoever else wants it.
    work = [t["running_ns"] for i in range(4) for t in threads_named(report, f"sync-{i}")]
    assert len(work) == 4 and max(work) < 2 * min(work), work


@test("tbb_mutex: main's lambda ranks first")
def tbb_mutex():
    report = trace("tbb_mutex", options=["--top", 100])
    # TBB divides the range by recursion: the same lambda has many paths.
    with_lambda, without = [], []
    for path in report["paths"]:
        # A slice that ends in the unlock's system call, where libc hides the callers, still has
        # its samples in the lambda.
        sampled = max(path["functions"], key=lambda f: f["samples"] - f["stack_tops"], default=None)
        names = [f["function"] or "" for f in path["stack"]] + \
                [sampled["name"] if sampled else ""]
        is_in = any(name.startswith("main::{lambda") for name in names)
        (with_lambda if is_in else without).append(path["cmetric_ns"])
    assert sum(with_lambda) > max(without, default=0), describe(report)


@test("pipeline_stages: write_item in the thread write ranks first")
def pipeline_stages():
    report = trace("pipeline_stages")
    # What it computes with, spin(), is inlined into it.
    assert_leads(report, "write_item", "spin")
    assert_thread_leads(report, "write")
    work = next(g for g in report["groups"] if g["name"].startswith("work"))
    assert work["thread_count"] == 4, f"the workers are no group of four: {report['groups']}"


@test("inline_chain: inner, inlined into middle, inlined into outer, ranks first")
def inline_chain():
    report = trace("inline_chain", options=TWO)
    assert_leads(report, "inner")
    # With few interrupts a slice may last to the end of the thread, and is that path's.
    first = find_path(report, "inner")
    if first:
        frames = [(f["function"], f["is_inlined"]) for f in first["stack"][:3]]
        assert frames == [("inner", True), ("middle", True), ("outer", False)], frames
    elif JITTER_NS:
        raise Skip("the thread was never interrupted")
    leader = report["paths"][0]["functions"][0]
    assert base_name(leader["name"]) == "inner", leader
    assert leader["lines"][0]["file"].endswith("inline_chain.c")
    assert JITTER_NS or share_of(report, "inner") > 0.5, describe(report)


def check_plugin(report):
    # The slice in which the one ends and the other begins goes to the other.
    assert_leads(report, "plugin_hot", "after_unload")
    assert_has_line(report, "plugin_hot", "plugin.cpp")
    assert_has_line(report, "after_unload", "dlopen_plugin.cpp")
    # How much CPU each gets in its time is up to whoever else wants it.
    assert samples_of(report, "plugin_hot") and samples_of(report, "after_unload"), \
        describe(report)


@test("dlopen_plugin: plugin_hot, unloaded when the report is made, ranks first with its line")
def dlopen_plugin():
    check_plugin(trace("dlopen_plugin", program("plugin.so"), options=TWO))


@test("dlopen_plugin delete: plugin_hot ranks first though its file is gone")
def dlopen_plugin_deleted():
    shutil.copy(program("plugin.so"), "copy.so")
    report = trace("dlopen_plugin", os.path.abspath("copy.so"), "delete", options=TWO)
    assert not os.path.exists("copy.so")
    check_plugin(report)


@test("short_children: child_hot of processes that are gone ranks first with its line")
def short_children():
    report = trace("short_children")
    assert_leads(report, "child_hot")
    assert_has_line(report, "child_hot", "short_children.c")
    assert report["totals"]["threads"] == 21
    # Emulated, to load the program takes longer than what it does.
    assert JITTER_NS or share_of(report, "child_hot") > 0.5, describe(report)


@test("exec_thread: the thread after ranks first, the frames of the program that was replaced have names")
def exec_thread():
    report = trace("exec_thread", options=TWO)
    # Both programs spend their time in compute(), the function that samples name.
    assert_leads(report, "after_exec", "compute")
    assert report["paths"][0]["thread_names"] == ["after"]
    assert_resolved(report, "exec_thread")
    assert_thread_leads(report, "after")


@test("thread_churn: the thread steady ranks first among 3002 threads, by steady_work")
def thread_churn():
    report = trace("thread_churn", 3000, options=["--nmin", 3])
    steady = [p for p in report["paths"] if "steady" in p["thread_names"]]
    # It yields after each call: a slice ends in the one or in the other; both are called from here.
    assert any("run_steady" in functions_of(p) for p in steady[:2]), describe(report)
    assert_thread_leads(report, "steady")
    assert report["totals"]["threads"] == 3002
    # One more may be on its way out; emulated, some.
    assert report["totals"]["alive_max"] <= (9 if JITTER_NS else 4), report["totals"]["alive_max"]


@test("cpu_bound: crunch ranks first, in threads that share the work evenly")
def cpu_bound():
    report = trace("cpu_bound", 2, 2000, options=["--nmin", 2])
    assert_leads(report, "crunch")
    workers = sorted((t["cmetric_ns"] for t in report["threads"]), reverse=True)[:2]
    # Whoever else wants the CPUs: they differ by what they do while the other one is not there,
    # alone or beside the thread that starts them.
    alone_ns = sum(level["ns"] for level in report["parallelism"] if level["active"] == 1)
    near(workers[0], workers[1], alone_ns + 0.05 * workers[0], "CMetric of the two workers")


@test("cpu_bound: only the time in which no more threads compute than N_min is critical")
def cpu_bound_uncritical():
    report = trace("cpu_bound", 2, 1000, options=["--nmin", 1])
    alone_ns = sum(level["ns"] for level in report["parallelism"] if level["active"] == 1)
    near(report["totals"]["critical_ns"], alone_ns, 1000, "critical time is time alone")
    assert any(level["active"] == 2 and level["ns"] for level in report["parallelism"])


@test("mutex_storm: pinch counts the switches that the kernel counted")
def mutex_storm():
    result = run(program("mutex_storm"), 16, 20000)
    words = result.out.split()          # S s, N waits, N yields and preemptions, ...
    kernel = int(words[2]) + int(words[4])
    slices = sum(t["slices"] for t in result.report["threads"])
    # Each thread's last switch comes after the program has counted.
    near(slices, kernel, 40 + 0.01 * kernel, "slices")


@test("signal_self: victim_work ranks first in a program that a signal kills")
def signal_self():
    report = trace("signal_self", 15, status=128 + 15)
    if JITTER_NS:       # to begin takes longer than its work
        assert find_path(report, "victim_work"), describe(report)
    else:
        assert_leads(report, "victim_work")
    assert report["target"]["exit_status"] == 128 + 15
    assert not report["target"]["is_running"]


@test("--threads-only leaves out the children, --processes-only the threads")
def followed():
    assert trace("short_children", options=["--threads-only"])["totals"]["threads"] == 1
    report = trace("pipeline_stages", options=["--processes-only"])
    assert [t["name"] for t in report["threads"]] == ["pipeline_stages"]


@test("--depth cuts the stacks, --top the paths, --kernel-stacks adds the kernel's frames")
def shape():
    # One frame of the machine's stack may be several of the program's, by inlining.
    report = trace("pipeline_stages", options=["--depth", 1, "--top", 2])
    assert len(report["paths"]) == 2, report["paths"]
    assert all(sum(not f["is_inlined"] for f in p["stack"]) <= 1 for p in report["paths"])
    report = trace("mutex_storm", 4, 2000, options=["--kernel-stacks", "--nmin", 9, "--top", 99])
    frames = [f for p in report["paths"] + report["waits"] for f in p["stack"] if f["is_kernel"]]
    assert any(f["function"] and "futex" in f["function"] for f in frames), frames[:5]
    report = trace("mutex_storm", 4, 2000, options=["--nmin", 9, "--top", 99])
    assert not any(f["is_kernel"] for p in report["paths"] for f in p["stack"])


if __name__ == "__main__":
    sys.exit(main())
