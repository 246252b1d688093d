# SPDX-License-Identifier: GPL-2.0-or-later
"""
Python's functions in call paths, against what the interpreter itself says of its frames. Programs
tell by sys._current_frames() where their threads wait; the report has to show the same names and
lines, in place between the native frames.

PYTHON=/path/to/python3 tests another interpreter than the one that runs this file: CPython 3.11,
3.12 or 3.13.
"""
import json
import os
import subprocess
import sys

import lib
from lib import run, start, test

PYTHON = os.environ.get("PYTHON", sys.executable)
MODULE = "[python]"
EVALUATION = "_PyEval_EvalFrameDefault"

COMMON = """
import json, os, sys, threading, time
def frames_of(frame):
    chain = []
    while frame:
        chain.append((frame.f_code.co_qualname, frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return chain
def tell(idents):
    frames = sys._current_frames()
    with open("truth.new", "w") as file:
        json.dump([frames_of(frames[ident]) for ident in idents], file)
    os.rename("truth.new", "truth.json")
"""

# Each thread waits for a lock of its own in a loop, always in the same place.
WAITING = COMMON + """
import ctypes, functools
def wait(lock):
    lock.acquire()
class Place:
    def method(self, lock):
        return (lambda: wait(lock))()
    def __lt__(self, other):
        wait(self.lock)
        return False
def direct(lock):
    Place().method(lock)
def by_key(lock):
    def key(item):
        wait(lock)
        return item
    sorted([1], key=key)
def by_compare(lock):
    places = [Place(), Place()]
    places[0].lock = places[1].lock = lock
    places.sort()
def by_generator(lock):
    def numbers():
        yield wait(lock)
    def inner():
        yield from numbers()
    list(inner())
def by_reduce(lock):
    functools.reduce(lambda a, b: wait(lock), [1, 2])
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
libc = ctypes.CDLL(None)
def by_ctypes(lock):
    def compare(a, b):
        wait(lock)
        return 0
    numbers = (ctypes.c_int * 2)(2, 1)
    libc.qsort(numbers, 2, ctypes.sizeof(ctypes.c_int), COMPARE(compare))
def by_exec(lock):
    exec(compile("def called(lock):\\n\\n    lock.acquire()\\ncalled(lock)\\n", "made up", "exec"),
         {"lock": lock})
def größe(lock): wait(lock)
def 名前(lock): größe(lock)
def 𐊀(lock): 名前(lock)
def many_lines(
        lock):
    # The line of a call is that of its function's name.
    return [

        wait(
            lock
        )
        for each in range(1)

    ]
FUNCTIONS = [direct, by_key, by_compare, by_generator, by_reduce, by_ctypes, by_exec,
             𐊀, many_lines]
def repeat(function, lock):
    while True:
        function(lock)
locks, threads = [], []
for function in FUNCTIONS:
    lock = threading.Lock()
    lock.acquire()
    locks.append(lock)
    thread = threading.Thread(target=repeat, args=(function, lock), daemon=True)
    thread.start()
    threads.append(thread)
def waits(thread):
    return sys._current_frames()[thread.ident].f_code.co_name in ("wait", "called")
while not all(map(waits, threads)):
    time.sleep(0.01)
time.sleep(0.1)
tell([thread.ident for thread in threads])
print("ready", flush=True)
while True:
    for lock in locks:
        if lock.locked():
            lock.release()
        time.sleep(0.002)
"""

CONTENDED = COMMON + """
def spin():
    number = 0
    while True:
        number += 1
def outer():
    spin()
for _ in range(3):
    threading.Thread(target=outer, daemon=True).start()
print("ready", flush=True)
outer()
"""

GENERATORS = COMMON + """
def slow():
    time.sleep(0.001)
def numbers():
    while True:
        yield slow()
def passed_on():
    yield from numbers()
async def coroutine():
    slow()
async def outer():
    while True:
        await coroutine()
def run_generator():
    for number in passed_on():
        pass
def run_coroutine():
    outer().send(None)
for target in (run_generator, run_coroutine):
    threading.Thread(target=target, daemon=True).start()
print("ready", flush=True)
time.sleep(600)
"""

# None of its threads runs again.
ASLEEP = COMMON + """
import queue
never = threading.Lock()
never.acquire()
def want_lock(*arguments):
    never.acquire()
def outer_lock():
    want_lock()
def by_key():
    sorted([1], key=want_lock)
def by_message():
    queue.Queue().get()
def nap():
    time.sleep(600)
threads = [threading.Thread(target=f, daemon=True) for f in (outer_lock, by_key, by_message, nap)]
for thread in threads:
    thread.start()
INNERMOST = {"want_lock", "wait", "nap"}
while not all(sys._current_frames()[t.ident].f_code.co_name in INNERMOST for t in threads):
    time.sleep(0.01)
time.sleep(0.2)
tell([thread.ident for thread in threads])
print("ready", flush=True)
time.sleep(600)
"""

STAGES = """
import threading, time
def step():
    time.sleep(0.001)
def read_stage():
    for _ in range(100):
        step()
def write_stage():
    for _ in range(100):
        step()
threads = [threading.Thread(target=t) for t in [read_stage] * 2 + [write_stage] * 3]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

POOL = """
import multiprocessing, time
def work(number):
    time.sleep(0.001)
    return number
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        pool.map(work, range(600), chunksize=1)
"""

RECURSION = """
import sys, time
sys.setrecursionlimit(5000)
def recurse(depth):
    if depth:
        return recurse(depth - 1)
    while True:
        time.sleep(0.002)
print("ready", flush=True)
recurse(900)
"""


def python_frames(path):
    return [(f["function"], f["file"], f["line"]) for f in path["stack"] if f["module"] == MODULE]


def is_unwound_late(report):
    """More than where the threads were blocked when tracing began and ended."""
    return report["stacks"]["unwound_late"] > 2 * report["totals"]["threads"]


def check_places(report):
    """
    Each evaluation has its Python functions behind it; the innermost one has none when the thread
    is entering it, or leaving it and freeing what it had. A stack that was copied, since the tables of its code were not
    there yet, has none at all: on an emulated CPU these may take longer than the start of tracing waits for them.
    """
    checked = empty = 0
    is_late = is_unwound_late(report)
    for path in report["paths"]:
        stack, is_innermost = path["stack"], True
        if lib.JITTER_NS and (is_late or path["slices"] <= 5) and not python_frames(path):
            continue
        for inner, outer in zip(stack, stack[1:]):
            if inner["function"] == EVALUATION and not inner["is_inlined"]:
                assert outer["module"] == MODULE or is_innermost, (names(path), path["slices"], report["stacks"])
                empty += path["slices"] * (outer["module"] != MODULE)
                checked += path["slices"]
                is_innermost = False
        for frame in stack:
            if frame["module"] == MODULE:
                assert not (frame["is_guessed"] or frame["is_inlined"] or frame["is_kernel"]), frame
    assert checked > 100 and empty < 0.02 * checked, (checked, empty)


def names(path):
    return [f["function"] or f"{f['module']}+{f['offset']:#x}" for f in path["stack"]]


def start_ready(source, name="program.py"):
    with open(name, "w") as file:
        file.write(source)
    process = start(PYTHON, name, stdout=subprocess.PIPE)
    assert lib.read_line(process) == b"ready\n"
    return process


# Emulated, the first second may be over before the tables are there.
DURATION = "3s" if lib.JITTER_NS else "1s"


def attach(process, duration=DURATION):
    result = lib.pinch("attach", "--json", "report.json", "--nmin", 1000, "--top", 1000, "--critical-slices",
                       "--duration", duration, "-p", process.pid)
    assert result.status == 0, result.text
    return lib.parse_report(lib.read("report.json", "rb"))


def traced(source, duration=DURATION):
    process = start_ready(source)
    report = attach(process, duration)
    lib.stop(process)
    assert lib.JITTER_NS or not is_unwound_late(report), report["stacks"]
    return report


@test("threads that wait in known places show the frames that the interpreter has, line by line")
def waiting():
    report = traced(WAITING)
    found = [python_frames(p) for p in report["paths"]]
    for chain in json.loads(lib.read("truth.json")):
        chain = [tuple(frame) for frame in chain]
        assert chain in found, (chain, [f for f in found if f and f[0][0] == chain[0][0]], report["stacks"], report["notes"])
    check_places(report)
    assert all(p["stack_end"] == "complete" for p in report["paths"] if python_frames(p))
    main = [f for f in found if f and f[-1][0] == "<module>"]
    assert main and all(f[0][1].endswith("program.py") for f in main if f[0][0] == "<module>")


@test("threads that were asleep when pinch attached show the frames that the interpreter has")
def asleep():
    process = start_ready(ASLEEP)
    report = attach(process)
    lib.stop(process)
    found = [python_frames(w) for w in report["waits"]]
    for chain in json.loads(lib.read("truth.json")):
        assert [tuple(frame) for frame in chain] in found, (chain, found)
    main = [f for f in found if [frame[0] for frame in f] == ["<module>"]]
    assert main, found
    # Each call of the interpreter's function has its own.
    for wait in report["waits"]:
        names_of = [f["function"] for f in wait["stack"]]
        for inner, outer in zip(wait["stack"], wait["stack"][1:]):
            assert inner["function"] != EVALUATION or outer["module"] == MODULE, names_of


@test("threads are grouped by the function of Python that they began in")
def groups():
    with open("program.py", "w") as file:
        file.write(STAGES)
    report = run(PYTHON, "program.py", options=["--nmin", 1000]).report
    found = {g["name"]: g["thread_count"] for g in report["groups"] if g["is_start_function"]}
    assert found.get("read_stage") == 2 and found.get("write_stage") == 3, report["groups"]


@test("native frames lie between the Python functions that called them and those that they call")
def between():
    report = traced(WAITING)
    path = next(p for p in report["paths"] if "by_ctypes.<locals>.compare" in names(p)
                and "wait" in names(p))
    modules = [f["module"] for f in path["stack"]]
    inner = names(path).index("by_ctypes.<locals>.compare")
    outer = names(path).index("by_ctypes")
    between = modules[inner + 1:outer]
    assert any(m.startswith("libc.so") for m in between), between
    assert any(m.startswith("libffi") for m in between), between
    assert MODULE not in between, names(path)


@test("threads that wait for the interpreter's lock show where they are in Python")
def contended():
    report = traced(CONTENDED)
    slices = {True: 0, False: 0}
    for path in report["paths"]:
        chain = [f[0] for f in python_frames(path)]
        if path["stack_end"] == "complete":
            slices["spin" in chain[:1] and "outer" in chain[1:2]] += path["slices"]
    # A thread that is just entering or leaving a function has no frame of it.
    assert slices[True] > 50 and slices[False] < 0.02 * slices[True], (slices, lib.describe(report))


@test("the interpreter's lock is one lock with one name, and no wait for it is idle")
def interpreters_lock():
    report = traced(CONTENDED)
    locks = [lock for lock in report["locks"] if lock["name"] == "the GIL"]
    assert [lock["kind"] for lock in locks] == ["gil"], report["locks"]
    assert locks[0]["idle_ns"] == 0 and locks[0]["waits"] > 0, locks
    assert not [lock for lock in report["locks"] if "_PyRuntime" in (lock["name"] or "")], report["locks"]
    assert {wait["cause"] for wait in report["waits"] if wait["object"] == "the GIL"} == {"lock"}, report["waits"]
    assert [finding for finding in report["findings"] if "the GIL" in finding["title"]], report["findings"]


@test("generators and coroutines are behind what they call, before who asked them")
def generators():
    report = traced(GENERATORS)
    chains = [[f[0] for f in python_frames(p)] for p in report["paths"]]
    check_places(report)
    for chain in (["slow", "numbers", "passed_on", "run_generator"],
                  ["slow", "coroutine", "outer", "run_coroutine"]):
        assert any(c[:len(chain)] == chain for c in chains), (chain, chains)


@test("processes of a pool that run the same function share one path")
def pool():
    with open("pool.py", "w") as file:
        file.write(POOL)
    report = run(PYTHON, "pool.py", options=["--nmin", 1000, "--top", 1000, "--critical-slices"]).report
    paths = [p for p in report["paths"] if python_frames(p) and
             python_frames(p)[0][0] == "work" and python_frames(p)[-1][0] == "<module>"]
    most = max(paths, key=lambda p: p["slices"])
    # Emulated, most stacks are left out, to limit the cost.
    assert most["slices"] > (50 if lib.JITTER_NS else 200), (most["slices"], lib.describe(report))
    assert most["thread_count"] >= 3, lib.describe(report)
    sleeping = [p for p in paths if any(n.startswith("clock_nanosleep") for n in names(p)[:2])]
    # Emulated, some processes sleep before the interpreter has settled on how it calls.
    assert len(sleeping) == 1 or lib.JITTER_NS, [names(p) for p in sleeping]


@test("deep recursion in one evaluation is cut at --depth, its innermost frames shown")
def recursion():
    report = traced(RECURSION, "500ms")
    deep = [p for p in report["paths"] if p["stack_end"] == "truncated"]
    assert deep, lib.describe(report)
    for path in deep:
        chain = python_frames(path)
        # Emulated, it may end before its code's name is read.
        assert len(chain) > 110 and ({f[0] for f in chain} == {"recurse"} or lib.JITTER_NS), \
            names(path)


FAKE = r"""
#include <stdint.h>
#include <string.h>
#include <time.h>
__attribute__((visibility("default"))) const unsigned long Py_Version = VERSION;
__attribute__((visibility("default"))) uint64_t _PyRuntime[4096];
__attribute__((noinline, visibility("default"))) void _PyEval_EvalFrameDefault(volatile int *i)
{
	struct timespec a_while = { 0, 1000000 };

	nanosleep(&a_while, 0);
	++*i;
}
int main(void)
{
	volatile int i = 0;

	FILL
	while (i < 300)
		_PyEval_EvalFrameDefault(&i);
	return 0;
}
"""


def fake(version, fill):
    """A program that says it is an interpreter."""
    if not lib.find("gcc"):
        raise lib.Skip("gcc is not installed")
    with open("fake.c", "w") as file:
        file.write(FAKE)
    subprocess.run(["gcc", "-g", "-O1", "-rdynamic", f"-DVERSION={version}", f"-DFILL={fill}",
                    "-o", "fake", "fake.c"], check=True)
    report = run("./fake", options=["--nmin", 100, "--critical-slices"]).report
    paths = [p for p in report["paths"] if EVALUATION in names(p)]
    assert sum(p["slices"] for p in paths) > 50, lib.describe(report)
    for path in paths:
        assert path["stack_end"] == "complete" and "main" in names(path), names(path)
        assert not python_frames(path), names(path)
    return report


@test("an interpreter of an unknown version has a note, and native frames")
def unknown_version():
    report = fake("0x030e00f0", "")
    assert any("3.11" in n and "fake" in n for n in report["notes"]), report["notes"]


@test("what an interpreter says of its threads may be anything")
def hostile():
    # Lists that lead to themselves, nowhere, or into the kernel.
    fills = ["for (int k = 0; k < 4096; k++) _PyRuntime[k] = (uint64_t)_PyRuntime;",
             "memset(_PyRuntime, 0xff, sizeof(_PyRuntime));",
             "for (int k = 0; k < 4096; k++) _PyRuntime[k] = 0xffffffff81000000;"]
    for version in ("0x030b02f0", "0x030c01f0"):
        for fill in fills:
            report = fake(version, fill)
            assert report["stacks"]["ns"] < 0.5 * report["target"]["wall_ns"], report["stacks"]


if __name__ == "__main__":
    sys.exit(lib.main(jobs=2))
