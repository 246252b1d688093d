# SPDX-License-Identifier: GPL-2.0-or-later
"""
Programs that generate code: it has the names that their runtimes write of it, and where they write
none, the report says what would make them.
"""
import os
import shutil
import signal
import subprocess
import sys

import lib
from causes_model import assert_ends, describe_waits, waits_like, wakers_like
from lib import PINCH, program, read, run, start, test, wait_until

# Four threads come and go at one lock; a line after each hundred rounds of one of them. What holds
# the lock is compiled, what calls it is not: a loop is only after far more rounds.
JAVA = """
public class Queue {
  static long sum;
  static long burn(int n) {
    long x = n;
    for (int i = 0; i < 50000; i++) x = x * 31 + i;
    return x;
  }
  static synchronized void underLock(int n) throws Exception {
    for (int i = 0; i < 10; i++) sum += burn(n);
    Queue.class.wait(1);
  }
  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[0]);
    Thread[] threads = new Thread[4];
    for (int k = 0; k < threads.length; k++) {
      threads[k] = new Thread(() -> {
        try {
          for (int i = 0; i < rounds; i++) {
            underLock(i);
            if (i % 100 == 99) System.out.println(i);
          }
        } catch (Exception e) { }
      });
      threads[k].start();
    }
    for (Thread thread : threads) thread.join();
  }
}
"""

# The thread computes for 300 ms when it sees that main waits for it.
JOINED = """
public class Joined {
  static void compute(Thread waiter) {
    while (waiter.getState() != Thread.State.WAITING) Thread.onSpinWait();
    long end = System.nanoTime() + 300_000_000L;
    while (System.nanoTime() < end) ;
  }
  public static void main(String[] arguments) throws Exception {
    Thread waiter = Thread.currentThread();
    Thread slow = new Thread(() -> compute(waiter), "slow");
    slow.start();
    slow.join();
  }
}
"""

NODE = """
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
const word = new Int32Array(new SharedArrayBuffer(4));
for (let i = 0, sum = 0; i < 300; i++) {
  sum += fibonacci(25);
  Atomics.wait(word, 0, 0, 1);
}
console.log(process.pid);
"""

WAIT = "bool [System.Private.CoreLib] System.Threading.Monitor::Wait(object,int32)[OptimizedTier1]"
MAIN = "void [Program] Program::Main(string[])[QuickJitted]"
LOCK = "Queue.underLock"
WRITTEN = ("void Queue.underLock(int)", "long Queue.burn(int)")
DUMP = ("-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit")


def installed(name):
    path = lib.find(name)
    if not path:
        raise lib.Skip(f"{name} is not installed")
    return path


def forget(pid):
    for kind in ("perf", "perfinfo"):
        path = f"/tmp/{kind}-{pid}.map"
        if os.path.exists(path):
            os.unlink(path)


def java(*options, rounds, command=None):
    with open("Queue.java", "w") as file:
        file.write(JAVA)
    # Inlined into each other, they would have one frame; and what is compiled best uses rbp.
    return [command or installed("java"), "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Queue::*",
            "-XX:+PreserveFramePointer", *options, "Queue.java", str(rounds)]


def silent_java():
    """One that does not describe itself to debuggers: the name of one table is another."""
    home = os.path.dirname(os.path.dirname(os.path.realpath(installed("java"))))
    subprocess.run(["cp", "-rs", home, "silent"], check=True)
    for name in ("bin/java", "lib/server/libjvm.so"):
        os.unlink(f"silent/{name}")
        shutil.copy(f"{home}/{name}", f"silent/{name}")
    library = read("silent/lib/server/libjvm.so", "rb")
    assert library.count(b"\0gHotSpotVMStructs\0")
    with open("silent/lib/server/libjvm.so", "wb") as file:
        file.write(library.replace(b"\0gHotSpotVMStructs\0", b"\0xHotSpotVMStructs\0"))
    return os.path.abspath("silent/bin/java")


def stacks(report):
    return [[f["function"] for f in path["stack"]] for path in report["paths"]]


def notes_of(report):
    return [note for note in report["notes"] if "no names" in note]


def check_java(report):
    """Below what holds the lock is the JVM, above it what is interpreted."""
    found = [s for s in stacks(report) if LOCK in s]
    assert found, lib.describe(report)
    for stack in found:
        assert "java.lang.Thread.run" in stack[stack.index(LOCK):], stack
    waits = [[f["function"] for f in wait["stack"]] for wait in report["waits"]]
    assert any("ObjectMonitor::wait" in (f or "") for s in waits if LOCK in s for f in s[:s.index(LOCK)]), waits
    names = {f["name"] for path in report["paths"] for f in path["functions"]}
    assert "Queue.burn" in names, names
    assert not notes_of(report), report["notes"]


@test("Java, attached: compiled methods have names after jcmd PID Compiler.perfmap")
def java_attached():
    jcmd = installed("jcmd")
    process = start(*java(rounds=1000000), stdout=subprocess.PIPE)
    path = f"/tmp/perf-{process.pid}.map"
    lib.read_line(process)
    tracer = start(PINCH, "attach", "--json", "report.json", "--nmin", "100", "-p", process.pid,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: tracer.poll() is not None or lib.links_of(tracer.pid), "pinch to attach")

    def is_compiled():
        subprocess.run([jcmd, str(process.pid), "Compiler.perfmap"], check=True,
                       capture_output=True, timeout=lib.LIMIT_S)
        return all(name in lib.read(path) for name in WRITTEN)

    try:
        wait_until(is_compiled, "the methods to be compiled")
        for _ in range(4):      # hundreds of rounds with what is compiled
            assert lib.read_line(process)
        tracer.send_signal(signal.SIGINT)
        result = lib.finish(tracer)
        assert result.status == 0, result.text
        check_java(lib.parse_report(lib.read("report.json", "rb")))
    finally:
        lib.stop(process)
        forget(process.pid)


@test("Java, run: compiled methods have the names that it writes when it ends")
def java_run():
    report = run(*java(*DUMP, rounds=200), options=["--nmin", 100]).report
    for pid in {thread["pid"] for thread in report["threads"]}:
        forget(pid)
    check_java(report)


def check_hints(parts, words):
    """Those of which generated code is, and has no name, say what would name it; no others do."""
    found = 0
    for part in parts:
        generated = [f["function"] for f in part["stack"] if f["module"] == "[jit]"]
        ran = any((f["name"] or "").startswith("[jit]+0x") for f in part.get("functions", []))
        assert bool(part["names_hint"]) == ((bool(generated) or ran) and not any(generated)), part
        found += bool(part["names_hint"] and words in part["names_hint"])
    return found


def check_headlines(report, text):
    """A place in code without a name is evidence: it is in no finding's title, and not in what the text begins with."""
    assert not [f["title"] for f in report["findings"] if "+0x" in f["title"]], report["findings"]
    assert "+0x" not in text[:text.index(" Time of all threads ")], text


@test("Java without names: its frames stay, and paths, waits and a note say what would name them")
def java_nameless():
    report = run(*java(rounds=50, command=silent_java()), options=["--nmin", 100, "-v", "-o", "report.txt"]).report
    assert any("[jit]" in [f["module"] for f in path["stack"]] for path in report["paths"])
    assert check_hints(report["paths"], "--java-map") and check_hints(report["waits"], "--java-map")
    text = " ".join(read("report.txt").split())
    assert text.index("code that Java compiled has no names") < text.index(" Notes "), text
    check_headlines(report, text)
    notes = notes_of(report)
    assert len(notes) == 1 and "Compiler.perfmap" in notes[0], report["notes"]


@test("Java: Thread.join() is a wait for a condition, which the thread's exit ends")
def java_join():
    with open("Joined.java", "w") as file:
        file.write(JOINED)
    report = run(installed("java"), "-XX:+PreserveFramePointer", "Joined.java", options=["--top", 100]).report
    waits = [w for w in waits_like(report, cause="condition", function="ObjectMonitor::wait")
             if wakers_like(w, "slow", "thread", "JavaThread::exit")]
    assert len(waits) == 1, describe_waits(report)
    assert_ends(waits[0], 300, "slow", function="JavaThread::exit")


@test("Node.js: functions that it compiles have the names of --perf-basic-prof")
def node():
    with open("compute.js", "w") as file:
        file.write(NODE)
    result = run(installed("node"), "--perf-basic-prof", "compute.js", options=["--nmin", 100])
    forget(int(result.out))
    names = {f["name"] for path in result.report["paths"] for f in path["functions"]}
    assert any("fibonacci" in name for name in names), names
    assert not notes_of(result.report), result.report["notes"]


@test("Node.js without flags: its functions have names, and nothing says what would name them")
def node_without_flags():
    with open("compute.js", "w") as file:
        file.write(NODE)
    report = run(installed("node"), "compute.js", options=["--nmin", 100]).report
    names = {f["name"] for path in report["paths"] for f in path["functions"]}
    assert "fibonacci" in names, names
    assert not notes_of(report), report["notes"]


def generated(kind):
    process = start(program("generated_code"), kind, 1000000, stdout=subprocess.PIPE)
    try:
        lib.read_line(process)
        result = lib.pinch("attach", "--json", "report.json", "--nmin", 4, "--duration", "1s",
                           "-p", process.pid)
        assert result.status == 0, result.text
        return lib.parse_report(lib.read("report.json", "rb"))
    finally:
        lib.stop(process)
        forget(process.pid)


def check_generated(report):
    found = [s for s in stacks(report) if "wait_shortly" in s]
    assert found
    for stack in found:
        at = stack.index("wait_shortly")
        assert stack[at + 1:at + 4] == [WAIT, MAIN, "main"], stack
    assert not notes_of(report), report["notes"]


@test(".NET's form of names is read, the list of its images is not")
def dotnet():
    check_generated(generated("plain"))


@test("code that is mapped twice, as .NET does, has names")
def dotnet_double():
    check_generated(generated("double"))


@test("a program that generates code and is no known runtime gets a note that holds for any")
def nameless():
    report = generated("nameless")
    found = [s for s in stacks(report) if "wait_shortly" in s]
    at = found[0].index("wait_shortly")
    assert found[0][at + 1:at + 4] == [None, None, "main"], found[0]
    assert not [f["title"] for f in report["findings"] if "+0x" in f["title"]], report["findings"]
    notes = notes_of(report)
    assert len(notes) == 1 and "jitdump" in notes[0], report["notes"]


if __name__ == "__main__":
    sys.exit(lib.main(jobs=2))
