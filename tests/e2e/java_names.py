# SPDX-License-Identifier: GPL-2.0-or-later
"""
Java without any flag: methods have their names, with file and line, whether they were compiled, inlined into others or
are interpreted; the program is asked nothing, and a trace has the names, too.
"""
import glob
import os
import subprocess
import sys

import lib
from java_model import javas
from lib import read, read_line, start, stop, test

# One thread computes, in what is compiled and inlined; two sleep now and then, in what is interpreted.
JAVA = """
public class Names {
  static volatile long sink;
  static long mix(long x) {
    for (int i = 0; i < 20000; i++) x = x * 31 + (x >> 7);
    return x;
  }
  static long inlined(long x) {
    return mix(x) + 1;
  }
  static void busy() {
    for (long i = 0; ; i++) {
      sink += inlined(i);
      if (i == 20000) System.out.println("ready");
    }
  }
  static void rarely() throws InterruptedException {
    Thread.sleep(20);
  }
  static void pauses() {
    try { while (true) rarely(); } catch (InterruptedException e) { }
  }
  public static void main(String[] arguments) {
    new Thread(Names::busy).start();
    new Thread(Names::pauses).start();
    new Thread(Names::pauses).start();
  }
}
"""
LINES = {name: number for number, line in enumerate(JAVA.splitlines()[1:], 1)
         for name, text in (("mix", "x * 31"), ("inlined", "mix(x)"), ("busy", "inlined(i)"), ("rarely", "Thread.sleep"))
         if text in line}


def java(home, *options, prefix=()):
    """A JVM in which all that is hot has been compiled."""
    with open("Names.java", "w") as file:
        file.write(JAVA[1:])
    os.chmod(".", 0o755)
    subprocess.run([f"{home}/bin/javac", "Names.java"], check=True, capture_output=True, timeout=lib.LIMIT_S)
    process = start(*prefix, f"{home}/bin/java", *options, "-cp", os.getcwd(), "Names", stdout=subprocess.PIPE)
    assert read_line(process) == b"ready\n"
    return process


def frames_of(row):
    return [(f["function"], f["file"], f["line"]) for f in row["stack"] if f["module"] == "[java]"]


def stack_with(rows, name):
    """The Java frames of the first row that has the function."""
    found = [frames_of(row) for row in rows if any(f["function"] == name for f in row["stack"])]
    assert found, f"no stack with {name}: {[frames_of(row)[:4] for row in rows][:6]}"
    return found[0]


def check_named(report):
    """Callers are where they call; where a loop is, samples show at its end or in it."""
    computing = stack_with(report["paths"], "Names.mix")
    assert [f[0] for f in computing[:3]] == ["Names.mix", "Names.inlined", "Names.busy"], computing
    assert [f[1] for f in computing[:3]] == ["Names.java"] * 3, computing
    assert computing[0][2] == LINES["mix"] and computing[1][2] == LINES["inlined"], computing
    # It may be interpreted still, and has the line where it begins then.
    assert computing[2][2] in (LINES["busy"] - 1, LINES["busy"]), computing
    sleeping = stack_with(report["waits"], "Names.rarely")
    names = [f[0] for f in sleeping]
    called = names.index("Names.rarely")
    assert names[called - 1:called + 2] == ["java.lang.Thread.sleep", "Names.rarely", "Names.pauses"], sleeping
    assert names[-2] == "java.lang.Thread.run" and names[-1].startswith("StubRoutines"), sleeping
    assert not [note for note in report["notes"] if "Java" in note or "JVM" in note], report["notes"]


def attach(pid, *options):
    result = lib.pinch("attach", "--json", "report.json", "--duration", "1s", "--nmin", 8, *options, "-p", pid)
    assert result.status == 0, result.text
    return lib.parse_report(read("report.json", "rb"))


@test("Java, attached: compiled, inlined and interpreted methods have their names, files and lines")
def attached():
    for home in javas():
        process = java(home)
        check_named(attach(process.pid))
        assert not glob.glob(f"/tmp/perf-{process.pid}.map") and not glob.glob(f"/tmp/.java_pid{process.pid}")
        stop(process)


@test("the same where all is interpreted")
def interpreted():
    for home in javas():
        process = java(home, "-Xint")
        computing = stack_with(attach(process.pid)["paths"], "Names.mix")
        assert [f[0] for f in computing[:3]] == ["Names.mix", "Names.inlined", "Names.busy"], computing
        stop(process)


@test("the same by another garbage collector, and with pointers that are not compressed")
def other_layouts():
    for options in (["-XX:+UseSerialGC"], ["-XX:+UseParallelGC", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"],
                    ["-XX:-TieredCompilation", "-XX:-SegmentedCodeCache"]):
        process = java(javas()[0], *options)
        check_named(attach(process.pid))
        stop(process)


@test("Java, recorded: the trace has the names when the program is gone")
def recorded():
    process = java(javas()[-1])
    result = lib.pinch("record", "-o", "t.pinch", "--nmin", 8, "--duration", "1s", "-p", process.pid)
    stop(process)
    assert result.status == 0, result.text
    result = lib.pinch("report", "--json", "report.json", "t.pinch")
    assert result.status == 0, result.text
    check_named(lib.parse_report(read("report.json", "rb")))


@test("Java of another user: its memory is read all the same")
def other_user():
    process = java(javas()[0], prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
    check_named(attach(process.pid))
    stop(process)


if __name__ == "__main__":
    sys.exit(lib.main(jobs=1))
