# SPDX-License-Identifier: GPL-2.0-or-later
"""
Ruby's methods and blocks in call paths, against what the interpreter itself says of its threads. Programs tell by
Thread#backtrace_locations where their threads wait; the report has to show the same methods and lines, in place
between the native frames.

RUBY=/path/to/ruby tests another interpreter: Ruby 3.0 to 3.3.
"""
import json
import os
import subprocess
import sys

import lib
from lib import run, start, test

RUBY = os.environ.get("RUBY", "ruby")
MODULE = "[ruby]"

# Methods that are written in C have no frame of Ruby's.
COMMON = """
require "json"
$stdout.sync = true
IN_C = %w[eval sleep synchronize lock pop push each map sort_by loop new join read times initialize
          instance_exec call sum inject public_send next resume wait]
def tell(threads)
  chains = threads.map do |thread|
    thread.backtrace_locations.map { |l| [l.label, l.path, l.lineno] }.reject { |l| IN_C.include?(l[0]) }
  end
  File.write("truth.new", JSON.dump(chains))
  File.rename("truth.new", "truth.json")
end
"""

# Each thread waits for a queue of its own in a loop, always in the same place.
WAITING = COMMON + """
module Jobs
  class Worker
    def self.start(queue) = new(queue).outer
    def initialize(queue)
      @queue = queue
    end
    def fetch
      @queue.pop
    end
    def outer
      [1].each do |x|
        fetch
      end
    end
    define_method(:defined) { fetch }
    def by_key = [1].sort_by { |x| fetch || 1 }
    def größe = fetch
  end
  module Helpers
    def self.help(queue)
      yield queue
    end
    def included(queue) = queue.pop
  end
  class Special < Worker
    include Helpers
    def outer
      super
    end
    def special
      included(@queue)
    end
  end
end
def direct(queue)
  Jobs::Worker.new(queue).fetch
end
def by_enumerator(queue)
  numbers = Enumerator.new do |y|
    queue.pop
    y << 1
  end
  numbers.next
end
def by_rescue(queue)
  raise "made up"
rescue RuntimeError
  queue.pop
end
def by_ensure(queue)
  1.times do
    begin
      Integer("1")
    ensure
      queue.pop
    end
  end
end
def by_eval(queue)
  eval("queue.pop", binding, "made up", 7)
end
def by_regexp(queue)
  "text" =~ /t/
  $~ && queue.pop
end
def many_lines(
      queue,
      number = 1)

  number.times do

    Jobs::Worker
      .new(queue)
      .fetch
  end
end
FUNCTIONS = [
  ->(q) { direct(q) },
  ->(q) { Jobs::Worker.start(q) },
  ->(q) { Jobs::Special.new(q).outer },
  ->(q) { Jobs::Special.new(q).special },
  ->(q) { Jobs::Worker.new(q).defined },
  ->(q) { Jobs::Worker.new(q).by_key },
  ->(q) { Jobs::Worker.new(q).größe },
  ->(q) { Jobs::Helpers.help(q) { |x| x.pop } },
  ->(q) { by_enumerator(q) },
  ->(q) { by_rescue(q) },
  ->(q) { by_ensure(q) },
  ->(q) { by_eval(q) },
  ->(q) { by_regexp(q) },
  ->(q) { many_lines(q) },
]
queues = FUNCTIONS.map { Queue.new }
threads = FUNCTIONS.zip(queues).map do |function, queue|
  Thread.new { loop { function.call(queue) } }
end
sleep 0.01 until queues.all? { |queue| queue.num_waiting == 1 }
sleep 0.1
tell(threads)
puts "ready"
loop do
  queues.each { |queue| queue.push(1) if queue.num_waiting == 1 }
  sleep 0.002
end
"""

# None of its threads runs again.
ASLEEP = COMMON + """
class Sleeper
  def initialize
    @lock = Mutex.new
    @never = Queue.new
  end
  attr_reader :lock
  def want_lock
    @lock.synchronize { }
  end
  def by_key
    [1].sort_by { |x| want_lock }
  end
  def message = @never.pop
  def nap
    sleep 600
  end
  def read_pipe
    IO.pipe[0].read(1)
  end
end
sleeper = Sleeper.new
sleeper.lock.lock
threads = [:want_lock, :by_key, :message, :nap, :read_pipe].map do |name|
  Thread.new { sleeper.public_send(name) }
end
sleep 0.01 until threads.all? { |thread| thread.status == "sleep" }
sleep 0.2
tell(threads)
puts "ready"
sleep 600
"""

HOT = COMMON + """
class Matrix
  def initialize(size)
    @rows = Array.new(size) { |i| Array.new(size) { |j| i + j } }
  end
  def multiply_all(count)
    count.times do
      multiply
    end
  end
  def multiply
    sum = 0
    i = 0
    while i < @rows.size
      row = @rows[i]
      j = 0
      while j < row.size
        sum += row[j] * j
        j += 1
      end
      i += 1
    end
    sum
  end
end
matrix = Matrix.new(100)
finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 1
matrix.multiply_all(10) while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
"""

CONTENDED = COMMON + """
class Spinner
  def spin
    number = 0
    number += 1 while true
  end
  def outer
    spin
  end
end
3.times { Thread.new { Spinner.new.outer } }
puts "ready"
Spinner.new.outer
"""

LOCK = COMMON + """
class Account
  def initialize
    @lock = Mutex.new
    @balance = 0
  end
  def deposit(amount)
    @lock.synchronize do
      write_log(amount)
      @balance += amount
    end
  end
  def write_log(amount)
    sleep 0.005
  end
end
account = Account.new
4.times.map { |i| Thread.new { 40.times { account.deposit(i) } } }.each(&:join)
"""

FORKED = COMMON + """
class Child
  def work = sleep(0.001)
end
3.times.map { fork { 200.times { Child.new.work } } }.each { |pid| Process.wait(pid) }
"""

RECURSION = COMMON + """
def recurse(depth)
  return recurse(depth - 1) if depth > 0
  loop { sleep 0.002 }
end
puts "ready"
recurse(900)
"""


def installed():
    if not lib.find(RUBY):
        raise lib.Skip(f"{RUBY} is not installed")


def has_classes():
    """Whether methods have the names of their classes."""
    out = subprocess.run([RUBY, "-e", "print RUBY_VERSION"], check=True, capture_output=True, timeout=lib.LIMIT_S)
    return out.stdout.startswith((b"3.0", b"3.1"))


def ruby_frames(path):
    return [(f["function"], f["file"], f["line"]) for f in path["stack"] if f["module"] == MODULE]


def labels(path):
    """As the interpreter has them: the method's name alone."""
    return [((f[0] or "").replace(".", "#").rpartition("#")[2] if not (f[0] or "").startswith(("block", "rescue"))
             else f[0], *f[1:]) for f in ruby_frames(path)]


def names(path):
    return [f["function"] or f"{f['module']}+{f['offset']:#x}" for f in path["stack"]]


def write(source, name="program.rb"):
    with open(name, "w") as file:
        file.write(source)
    return name


def start_ready(source):
    installed()
    process = start(RUBY, write(source), stdout=subprocess.PIPE)
    assert lib.read_line(process) == b"ready\n"
    return process


def attach(process, duration="1s"):
    result = lib.pinch("attach", "--json", "report.json", "--nmin", 1000, "--top", 1000, "--critical-slices",
                       "--duration", duration, "-p", process.pid)
    assert result.status == 0, result.text
    return lib.parse_report(lib.read("report.json", "rb"))


def traced(source, duration="1s"):
    process = start_ready(source)
    report = attach(process, duration)
    lib.stop(process)
    return report


def truth():
    return [[tuple(frame) for frame in chain] for chain in json.loads(lib.read("truth.json"))]


@test("threads that wait in known places show the frames that the interpreter has, line by line")
def waiting():
    report = traced(WAITING)
    found = [labels(p) for p in report["paths"]]
    for chain in truth():
        assert chain in found, (chain, [f for f in found if f and f[0][0] == chain[0][0]])
    frames = [f for p in report["paths"] for f in ruby_frames(p)]
    unnamed = [f for f in frames if not f[0]]
    assert len(frames) > 50 and len(unnamed) <= 0.01 * len(frames), (len(frames), unnamed)
    if has_classes():
        functions = {f[0] for f in frames}
        for name in ("Jobs::Worker#fetch", "Jobs::Worker.start", "Jobs::Worker#outer", "Jobs::Special#outer",
                     "Jobs::Helpers#included", "Jobs::Helpers.help", "Object#direct", "Jobs::Worker#größe",
                     "Object#by_regexp", "block in outer"):
            assert name in functions, (name, functions)


@test("threads that were asleep when pinch attached show the frames that the interpreter has")
def asleep():
    process = start_ready(ASLEEP)
    report = attach(process)
    lib.stop(process)
    found = [labels(w) for w in report["waits"]]
    for chain in truth():
        assert chain in found, (chain, found)
    assert any(f and f[-1][0] == "<main>" for f in found), found


@test("a method that computes is in the headline and the functions, with its file and lines")
def hot():
    installed()
    report = run(RUBY, write(HOT)).report
    method = "Matrix#multiply" if has_classes() else "multiply"
    path = report["paths"][0]
    stack = [f[0] for f in ruby_frames(path)]
    assert stack[0] == method and stack[-1] == "<main>", names(path)
    frame = next(f for f in path["stack"] if f["function"] == method)
    lines = HOT.split("\n")
    assert frame["file"].endswith("program.rb"), frame
    assert lines.index("  def multiply") < frame["line"] - 1 < len(lines), frame
    text = lib.pinch("run", "-o", "report.txt", "--", RUBY, "program.rb")
    assert text.status == 0, text.text
    head = lib.read("report.txt").split("\n\n")
    assert any(method in part and "program.rb" in part for part in head[:3]), head[:3]


@test("threads that wait for the interpreter's lock show where they are in Ruby")
def contended():
    report = traced(CONTENDED)
    slices = {True: 0, False: 0}
    for path in report["paths"]:
        chain = [f[0].rpartition("#")[2] for f in ruby_frames(path) if f[0]]
        if path["stack_end"] == "complete":
            slices["spin" in chain[:1] and "outer" in chain[1:2]] += path["slices"]
    # A slice of the interpreter's timer thread has no frames of Ruby.
    assert slices[True] > 20 and slices[False] < 0.1 * slices[True], (slices, lib.describe(report))


@test("who waits for a mutex, and who has it, are methods and blocks")
def mutex():
    installed()
    report = run(RUBY, write(LOCK)).report
    waits = [[f[0] for f in ruby_frames(w)] for w in report["waits"]]
    deposit = "Account#deposit" if has_classes() else "deposit"
    log = "Account#write_log" if has_classes() else "write_log"
    assert any(w[:1] == [deposit] for w in waits), waits
    assert any(w[:3] == [log, "block in deposit", deposit] for w in waits), waits


@test("processes that were forked have the names of what they run")
def forked():
    installed()
    report = run(RUBY, write(FORKED), options=["--nmin", 1000, "--top", 1000, "--critical-slices"]).report
    work = "Child#work" if has_classes() else "work"
    paths = [p for p in report["paths"] if [f[0] for f in ruby_frames(p)][:1] == [work]]
    assert sum(p["slices"] for p in paths) > 300, lib.describe(report)
    assert any(p["thread_count"] == 3 for p in paths), lib.describe(report)


@test("deep recursion is cut at --depth, its innermost frames shown")
def recursion():
    report = traced(RECURSION, "500ms")
    deep = [p for p in report["paths"] if p["stack_end"] == "truncated"]
    assert deep, lib.describe(report)
    for path in deep:
        chain = [(f[0] or "").rpartition("#")[2] for f in ruby_frames(path)]
        assert chain.count("recurse") > 100, names(path)


@test("a replayed trace gives the same report, with the names of methods and their lines")
def replayed():
    installed()
    result = lib.pinch("run", "--trace", "t.pinch", "--json", "live.json", "--", RUBY, write(LOCK))
    assert result.status == 0, result.text
    result = lib.pinch("report", "--json", "replayed.json", "-q", "t.pinch")
    assert result.status == 0, result.text
    live = lib.parse_report(lib.read("live.json", "rb"))
    assert any(ruby_frames(w) for w in live["waits"]), lib.describe(live)
    assert live == lib.parse_report(lib.read("replayed.json", "rb"))
    dump = lib.pinch("dump", "t.pinch")
    assert dump.status == 0 and b"space.MANAGED_CODE" in dump.out and b"deposit" in dump.out, dump.out[:500]


FAKE = r"""
#include <stdint.h>
#include <string.h>
#include <time.h>
#define SHOWN __attribute__((visibility("default")))
SHOWN const char ruby_version[] = VERSION;
SHOWN __thread uint64_t *ruby_current_ec;
static uint64_t words[8192];
SHOWN __attribute__((noinline)) void rb_vm_exec(volatile int *i)
{
	struct timespec a_while = { 0, 1000000 };

	nanosleep(&a_while, 0);
	++*i;
}
int main(void)
{
	volatile int i = 0;

	ruby_current_ec = words;
	FILL
	while (i < 300)
		rb_vm_exec(&i);
	return 0;
}
"""


def fake(version, fill):
    """A program that says it is an interpreter."""
    if not lib.find("gcc"):
        raise lib.Skip("gcc is not installed")
    with open("fake.c", "w") as file:
        file.write(FAKE)
    subprocess.run(["gcc", "-g", "-O1", "-rdynamic", f"-DVERSION=\"{version}\"", f"-DFILL={fill}",
                    "-o", "fake", "fake.c"], check=True)
    report = run("./fake", options=["--nmin", 100, "--critical-slices"]).report
    paths = [p for p in report["paths"] if "rb_vm_exec" in names(p)]
    assert sum(p["slices"] for p in paths) > 50, lib.describe(report)
    assert report["stacks"]["ns"] < 0.5 * report["target"]["wall_ns"], report["stacks"]
    return report


@test("an interpreter of an unknown version has a note, and native frames")
def unknown_version():
    report = fake("9.1.0", "")
    assert any("Ruby 9.1" in n and "fake" in n for n in report["notes"]), report["notes"]
    assert not any(ruby_frames(p) for p in report["paths"]), lib.describe(report)


@test("what an interpreter says of its threads may be anything")
def hostile():
    # Frames that run themselves, that lie nowhere, or in the kernel; code that is none.
    stack = "words[0] = (uint64_t)words; words[1] = 8192; words[2] = (uint64_t)(words + 64);"
    fills = ["for (int k = 0; k < 8192; k++) words[k] = (uint64_t)words;",
             "memset(words, 0xff, sizeof(words));",
             "for (int k = 0; k < 8192; k++) words[k] = 0xffffffff81000000;",
             stack,
             "for (int k = 3; k < 8192; k++) words[k] = (uint64_t)words;" + stack]
    for version in ("3.0.4", "3.1.2", "3.2.1", "3.3.0"):
        for fill in fills:
            report = fake(version, fill)
            for path in report["paths"]:
                assert not any(f[0] for f in ruby_frames(path)), names(path)


if __name__ == "__main__":
    sys.exit(lib.main(jobs=2))
