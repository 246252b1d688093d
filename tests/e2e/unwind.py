# SPDX-License-Identifier: GPL-2.0-or-later
"""
Real processes, stopped at random moments: the stacks that the kernel side's unwinder finds are
those that libdwfl finds (tests/unwind/probe.c). And what `pinch run` shows of programs whose
libraries have no frame pointers.
"""
import os
import re
import subprocess
import sys

import lib
from lib import JITTER_NS, ROOT, program, run, start, test

sys.path.insert(0, os.path.join(ROOT, "bench"))
import mariadb      # noqa: E402  starts and stops a server of its own
import postgresql   # noqa: E402
import processes    # noqa: E402

PROBE = os.path.join(lib.BUILD, "tests", "unwind_probe")
SHARE_MIN = 0.995

PYTHON = """
import hashlib, json, threading, time
def work():
    while True:
        hashlib.sha256(b"x" * 100000).digest()
        json.loads('[1, 2, {"a": [1, 2, 3]}]')
        sorted(range(1000), key=lambda x: -x)
        time.sleep(0.001)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
time.sleep(600)
"""

NODE = """
const zlib = require("zlib"), fs = require("fs");
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
setInterval(() => {
  fib(20);
  zlib.gzip(Buffer.alloc(200000, "abc"), () => {});
  JSON.parse('{"a": [1, 2, 3]}');
  fs.readFile("/etc/passwd", () => {});
}, 2);
console.log("ready");
"""

NODE_COMPUTE = """
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
const word = new Int32Array(new SharedArrayBuffer(4));
for (let i = 0, sum = 0; i < 300; i++) {
  sum += fibonacci(25);
  Atomics.wait(word, 0, 0, 1);
}
"""

JAVA = """
import java.util.*;
public class Work {
  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  public static void main(String[] arguments) throws Exception {
    for (int i = 0; i < 3; i++) {
      Thread thread = new Thread(() -> {
        while (true) {
          fib(22);
          Map<String, String> map = new HashMap<>();
          for (int k = 0; k < 100; k++) map.put("k" + k, "v");
          synchronized (Work.class) { fib(10); }
          try { Thread.sleep(1); } catch (Exception e) { }
        }
      });
      thread.setDaemon(true);
      thread.start();
    }
    System.out.println("ready");
    Thread.sleep(600000);
  }
}
"""


GO = """
package main

import (
	"crypto/sha256"
	"fmt"
	"sort"
	"sync"
	"time"
)

var mutex sync.Mutex

func work(number int) {
	data := make([]byte, 100000)
	for {
		sum := sha256.Sum256(data)
		copy(data, sum[:])
		values := make([]int, 1000)
		for i := range values {
			values[i] = i * 7919 % 1000
		}
		sort.Ints(values)
		mutex.Lock()
		time.Sleep(50 * time.Microsecond)
		mutex.Unlock()
	}
}

func main() {
	for i := 0; i < 4; i++ {
		go work(i)
	}
	fmt.Println("ready")
	time.Sleep(10 * time.Minute)
}
"""


def probe(pid, rounds, ends_earlier=False, has_jvm=False):
    """
    Probes a process and demands that both ways agree; how many stacks were complete. Go marks the
    functions that nobody calls, and its runtime ends there: ends_earlier. In a JVM's code libdwfl
    knows the frame pointer alone, and the engine nothing; java_stacks.py has its truth: has_jvm.
    """
    done = subprocess.run([PROBE, str(pid), str(rounds)], capture_output=True, text=True,
                          timeout=lib.LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = [int(word) for word in re.findall(r"\d+", done.stdout.splitlines()[-1])]
    total, alike, given_up, earlier, complete, walked, walked_alike = counts
    assert total >= rounds, done.stdout
    assert alike + given_up + ends_earlier * earlier >= (0.8 if has_jvm else SHARE_MIN) * total, done.stdout
    # What the engine finds in a copy is what the kernel side finds.
    assert walked > (0.5 if has_jvm else 0.9) * total and walked_alike == walked, done.stdout
    return complete / total


def probe_runtime(argv, rounds, **options):
    """Starts a program that says when it is ready."""
    process = start(*argv, stdout=subprocess.PIPE)
    line = process.stdout.readline()
    assert line.strip() == b"ready", line
    share = probe(process.pid, rounds, **options)
    lib.stop(process)
    return share


def installed(name):
    path = lib.find(name)
    if not path:
        raise lib.Skip(f"{name} is not installed")
    return path


@test("Python: the stacks of its threads are libdwfl's, and complete")
def python():
    assert probe_runtime([sys.executable, "-c", PYTHON], 100) == 1


@test("Node.js: the stacks of its threads are libdwfl's, generated code included")
def node():
    probe_runtime([installed("node"), "-e", NODE], 60)


@test("Node.js: functions that it compiles have the names that its jitdump tells")
def node_names():
    with open("compute.js", "w") as file:
        file.write(NODE_COMPUTE)
    report = run(installed("node"), "--perf-prof", "compute.js", options=["--nmin", 100]).report
    names = {f["name"] for path in report["paths"] for f in path["functions"]}
    assert any("fibonacci" in name for name in names), names


@test("Java: the stacks of its threads are libdwfl's, generated code included")
def java():
    with open("Work.java", "w") as file:
        file.write(JAVA)
    probe_runtime([installed("java"), "Work.java"], 30, has_jvm=True)


@test("MariaDB under sysbench: the stacks of its threads are libdwfl's")
def mariadb_oltp():
    installed("mariadb-install-db")
    server = mariadb.Server(lib.server_place())
    try:
        server.start()
        load = start(*server.sysbench("run", 100000), stdout=subprocess.DEVNULL)
        assert probe(server.process.pid, 60) > 0.95
        lib.stop(load)
    finally:
        server.stop()


@test("PostgreSQL under pgbench: the stacks of its backends are libdwfl's")
def postgresql_pgbench():
    installed("pgbench")
    server = postgresql.Server(lib.server_place())
    try:
        server.start()
        load = start(*server.pgbench(600), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for pid in server.backends(4):
            assert probe(pid, 50) > 0.95
        lib.stop(load)
    finally:
        server.stop()


def go_build(name, *options):
    with open("work.go", "w") as file:
        file.write(GO)
    env = dict(os.environ, GOCACHE=os.path.abspath("cache"), GOTOOLCHAIN="local")
    subprocess.run([installed("go"), "build", "-o", name, *options, "work.go"], env=env, check=True)
    return os.path.abspath(name)


@test("Go: the stacks of its threads are libdwfl's")
def go():
    assert probe_runtime([go_build("work")], 100, ends_earlier=True) > 0.99


@test("Go, stripped: the runtime's own table gives names, lines and whole stacks")
def go_stripped():
    path = go_build("stripped", "-ldflags=-s -w")
    process = start(path, stdout=subprocess.PIPE)
    process.stdout.readline()
    result = lib.pinch("attach", "--json", "report.json", "--nmin", 1000, "--top", 1000, "--critical-slices",
                       "--duration", "2s", "-p", process.pid)
    lib.stop(process)
    assert result.status == 0, result.text
    report = lib.parse_report(lib.read("report.json", "rb"))
    ends = {True: 0, False: 0}
    for path in report["paths"]:
        ends[path["stack_end"] == "complete"] += path["slices"]
        for frame in path["stack"]:
            assert frame["module"] != "stripped" or frame["function"], path["stack"]
    assert ends[True] > 0.97 * (ends[True] + ends[False]), ends
    stacks = [[f["function"] for f in path["stack"]] for path in report["paths"]]
    # The runtime's monitor has a thread of its own.
    assert any("runtime.sysmon" in s and s[-1] == "runtime.mstart" for s in stacks), stacks[:20]
    # What the runtime does on a stack of its own, it does for a goroutine.
    switched = [s for s in stacks if "runtime.systemstack" in s]
    assert switched and all(s[-1] in ("runtime.goexit", "runtime.mstart", "runtime.mcall",
                                      "runtime.rt0_go") for s in switched), switched
    work = [f for path in report["paths"] for f in path["stack"] if f["function"] == "main.work"]
    assert not work or work[0]["file"].endswith("work.go") and work[0]["line"], work[:1]


@test("Rust: the stacks of the threads of ripgrep are libdwfl's")
def rust():
    process = start(installed("rg"), "--threads", "2", "--no-ignore", "no such words", "/usr",
                    "/usr", "/usr", stdout=subprocess.DEVNULL)
    processes.until(lambda: len(os.listdir(f"/proc/{process.pid}/task")) > 2, process, "rg")
    assert probe(process.pid, 30) > 0.9
    lib.stop(process)


@test("mutex_storm: stacks go through libc, which has no frame pointers, to the thread's start")
def through_libc():
    report = run(program("mutex_storm"), 8, 20000, options=["--nmin", 8]).report
    most = max(report["paths"], key=lambda p: p["slices"])
    functions = [f["function"] for f in most["stack"]]
    # Two of libc's are below it, which have names only where libc's debug symbols are.
    assert "hammer" in functions and functions.index("hammer") == len(functions) - 3, functions
    assert most["stack_end"] == "complete" and not any(f["is_guessed"] for f in most["stack"])


@test("first_steps: what a process does before its tables are there has its whole call path, too")
def first_moments():
    report = run(program("first_steps"), 20, options=["--nmin", 4, "--top", 1000, "--critical-slices"]).report
    waits = 0
    for path in report["paths"]:
        functions = [f["function"] for f in path["stack"]]
        if "wait_shortly" not in functions:
            continue
        assert not any(f["is_guessed"] for f in path["stack"]), functions
        waits += path["slices"]
        inner = functions[functions.index("wait_shortly") + 1:]
        caller = "load" if "load" in inner else "outer_step"
        assert functions.index("main") == functions.index(caller) + 1, functions
        assert path["stack_end"] == "complete", (path["stack_end"], functions)
    waits += report["losses"]["stacks_not_kept"]
    # A short sleep may be over before a CPU that its machine took away has begun it.
    assert waits >= 20 * (2 if JITTER_NS else 4) - 2, waits


if __name__ == "__main__":
    sys.exit(lib.main())
