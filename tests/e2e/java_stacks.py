# SPDX-License-Identifier: GPL-2.0-or-later
"""
Java without any flag: stacks are whole through what HotSpot has compiled and what it interprets, in samples and at
waits. The program knows how deep it calls itself.
"""
import bisect
import json
import os
import re
import subprocess
import sys

import lib
from java_model import javas
from lib import read, read_line, start, stop, test, wait_until

DEPTH = 30

# One thread computes, two wait for a time, two come and go at a lock: all of them below so many calls.
JAVA = """
public class Chain {
  static final Object TIME = new Object();
  static volatile long sink;
  static long burn(long x) {
    for (int i = 0; i < 20000; i++) x = x * 31 + i;
    return x;
  }
  static long pause(long x) {
    synchronized (TIME) {
      try { TIME.wait(1); } catch (InterruptedException e) { }
    }
    return x;
  }
  static long queue(long x) {
    synchronized (Chain.class) { return burn(x); }
  }
  static long leaf(int what, long x) {
    return what == 0 ? burn(x) : what == 1 ? pause(x) : queue(x);
  }
  static long down(int n, int what, long x) {
    return n > 0 ? down(n - 1, what, x) + 1 : leaf(what, x);
  }
  static void loop(int what) {
    for (long i = 0; ; i++) sink += down(%d, what, i);
  }
  static void begin(int what) { new Thread(() -> loop(what)).start(); }
  public static void main(String[] arguments) throws Exception {
    for (int i = 0; i < 30000; i++) sink += down(%d, i %% 100 == 0 ? 1 : 2, i);
    begin(0); begin(1); begin(1); begin(2); begin(2);
    System.out.println("ready");
  }
}
""" % (DEPTH, DEPTH)

# What generated code does in many ways: calls of all kinds, allocation, locks, exceptions, arrays, strings.
MANY = """
import java.util.*;
public class Many {
  interface Shape { long size(long x); }
  static class Square implements Shape { public long size(long x) { return x * x; } }
  static class Line implements Shape { public long size(long x) { return x + 1; } }
  static class Point implements Shape { public long size(long x) { return x ^ 3; } }
  static final Shape[] SHAPES = { new Square(), new Line(), new Point() };
  static volatile long sink;
  static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
  static long shapes(long x) {
    long sum = 0;
    for (int i = 0; i < 6; i++) sum += SHAPES[i % 3].size(x + i);
    return sum;
  }
  static synchronized long locked(long x) { return shapes(x); }
  static long caught(long x) {
    try { return thrown(x); } catch (IllegalStateException e) { return x; }
  }
  static long thrown(long x) {
    if (x % 500 == 0) throw new IllegalStateException();
    return x + 1;
  }
  static long copied(long x) {
    long[] from = new long[(int)(x % 50)], to = new long[60];
    System.arraycopy(from, 0, to, 3, from.length);
    return to[(int)(x % 60)];
  }
  static long mapped(long x) {
    Map<Long, String> map = new HashMap<>();
    for (long i = 0; i < 5; i++) map.put(x + i, "v" + i);
    return map.get(x + 2).length() + Long.toString(x).hashCode();
  }
  static long turn(long x) {
    return fibonacci(5) + shapes(x) + locked(x) + caught(x) + copied(x) + mapped(x) + (long)Math.sin(x);
  }
  static void loop() { for (long i = 0; ; i++) sink += turn(i); }
  public static void main(String[] arguments) throws Exception {
    for (int i = 0; i < 100000; i++) sink += turn(i);
    new Thread(Many::loop, "stepped").start();
    System.out.println("ready");
  }
}
"""

DOWN = "long Chain.down(int, int, long)"
LEAF = "long Chain.leaf(int, long)"
PROBE = os.path.join(lib.BUILD, "tests", "unwind_probe")
STEPS = 40000
# Where the interpreter is entered and left, nothing certain is known for some instructions, and an old return address of its
# own may lie at the top of the stack for one.
CUT_MAX, DIFFERENT_MAX = 0.05, 0.001
COMPLETE = 0
ADDRESS = (1 << 61) - 1
GUESSED = 1 << 63
FLAGS = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Chain::*")
# Of the stacks with a leaf. What is missing is where a thread was between two frames.
COMPLETE_MIN = 0.98


class Names:
    """What a JVM says of the code that it has generated."""

    def __init__(self, home, pid):
        subprocess.run([f"{home}/bin/jcmd", str(pid), "Compiler.perfmap"], check=True, capture_output=True,
                       timeout=lib.LIMIT_S)
        path = f"/tmp/perf-{pid}.map"
        lines = [line.split(None, 2) for line in read(path).splitlines()]
        self.places = sorted((int(begin, 16), int(size, 16), name) for begin, size, name in lines)
        os.unlink(path)

    def find(self, address):
        """None: it is no such code."""
        i = bisect.bisect_right(self.places, (address, 1 << 64, "")) - 1
        begin, size, name = self.places[i]
        return name if i >= 0 and address < begin + size else None


def begin(home, *flags, name="Chain", text=JAVA):
    with open(f"{name}.java", "w") as file:
        file.write(text)
    subprocess.run([f"{home}/bin/javac", f"{name}.java"], check=True, capture_output=True, timeout=lib.LIMIT_S)
    process = start(f"{home}/bin/java", *FLAGS, *flags, "-cp", ".", name, stdout=subprocess.PIPE)
    assert read_line(process) == b"ready\n"
    return process


def record(pid, *options):
    result = lib.pinch("record", "-o", "t.pinch", "--duration", "2s", *options, "-p", pid)
    assert result.status == 0, result.text
    result = lib.pinch("dump", "--json", "t.pinch")
    assert result.status == 0, result.text
    return [json.loads(line) for line in result.out.splitlines()]


class Counts:
    def __init__(self):
        self.total = self.complete = self.guessed = 0
        self.wrong, self.cut = [], []

    def __str__(self):
        return f"{self.total} stacks, {self.complete} complete, {self.guessed} with guesses, {len(self.wrong)} wrong"


def check_stack(counts, fields, names):
    """Of a stack with a leaf: all calls above it are there, and what called them, up to the thread's beginning."""
    frames = fields["frames"][fields["kernel_count"]:]
    found = [re.sub(r"^\[.*\] ", "", names.find(f & ADDRESS) or "") for f in frames]
    if LEAF not in found:
        return
    counts.total += 1
    counts.guessed += any(f & GUESSED for f in frames)
    above = found[found.index(LEAF) + 1:]
    if fields["end"] == COMPLETE:
        counts.complete += 1
        calls = next((i for i, name in enumerate(above) if name != DOWN), len(above))
        if calls != DEPTH + 1 or DOWN in above[calls:]:
            counts.wrong.append((found, fields))
    else:
        counts.cut.append((found, fields))


def uses_of(events, kind):
    return [e["fields"]["stack"] for e in events if e["event"] == kind and e["fields"].get("stack")]


def count_stacks(events, names, kind):
    stacks = {e["fields"]["stack"]: e["fields"] for e in events if e["event"] == "stack.FRAMES"}
    counts = Counts()
    for stack in uses_of(events, kind):
        if stack in stacks:
            check_stack(counts, stacks[stack], names)
    return counts


def check(home, *flags):
    process = begin(home, *flags)
    try:
        events = record(process.pid)
        names = Names(home, process.pid)
    finally:
        stop(process)
    for kind, least in (("sched.SAMPLE", 50), ("sched.SWITCH", 50)):
        counts = count_stacks(events, names, kind)
        print(f"# {os.path.basename(home)} {kind}: {counts}")
        assert counts.total >= least, (kind, str(counts))
        assert not counts.wrong, (str(counts), counts.wrong[:2])
        assert counts.complete >= COMPLETE_MIN * counts.total, (str(counts), counts.cut[:3])


@test("Java, attached: each stack in samples and at waits has all calls that the program makes, without any flag")
def whole():
    for home in javas():
        check(home)


def thread_called(pid, name):
    """A Java thread takes its name itself, some time after it was started."""
    def find():
        return [tid for tid in os.listdir(f"/proc/{pid}/task")
                if read(f"/proc/{pid}/task/{tid}/comm").strip() == name]
    return wait_until(find, f"a thread called {name}")[0]


def check_steps(home, *flags):
    """A thread's stack after each of its instructions: callers come and go with calls and returns only."""
    process = begin(home, *flags, name="Many", text=MANY)
    try:
        done = subprocess.run([PROBE, "--step", thread_called(process.pid, "stepped"), str(STEPS)], capture_output=True,
                              text=True, timeout=lib.LIMIT_S, check=False)
    finally:
        stop(process)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    steps, different, cut, _ = (int(word) for word in re.findall(r"\d+", lines[-1]))
    print(f"# {os.path.basename(home)} {' '.join(flags)}: {lines[-1]}")
    assert steps == STEPS and different <= DIFFERENT_MAX * steps and cut <= CUT_MAX * steps, done.stdout


@test("Java, step by step: the callers are right at each instruction, but for few that are between two frames")
def each_instruction():
    for home in javas():
        check_steps(home)
        check_steps(home, "-XX:TieredStopAtLevel=1")


if __name__ == "__main__":
    sys.exit(lib.main(jobs=1))
