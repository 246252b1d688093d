# SPDX-License-Identifier: GPL-2.0-or-later
"""
--java-map: a Java virtual machine that was started without any flag is asked for the names of its methods, as its own
user and in its own file tree; and nothing that is none, or does not want to be asked, gets a signal.
"""
import os
import signal
import subprocess
import sys

import lib
from lib import is_alive, read, read_line, run, start, stop, test

# Two threads compute; a line when the method has been compiled for sure.
JAVA = """
public class Hot {
  static volatile long sink;
  static long burn(int n) {
    long x = n;
    for (int i = 0; i < 50000; i++) x = x * 31 + i;
    return x;
  }
  static void loop() {
    for (int i = 0; i < Integer.MAX_VALUE; i++) {
      sink += burn(i);
      if (i == 2000) System.out.println("compiled");
    }
  }
  public static void main(String[] arguments) throws Exception {
    new Thread(Hot::loop).start();
    loop();
  }
}
"""
# As it is written into the file, and as it is read in the machine's memory, which is asked first.
WRITTEN, METHOD = "long Hot.burn(int)", "Hot.burn"
DUMP = "Full thread dump"
NOBODY = 65534

# A process that looks like a JVM to who only looks at what it has mapped: SIGQUIT would kill it.
PRETENDER = """
import ctypes, shutil, sys, time
shutil.copy(sys.argv[1], "libjvm.so")
library = ctypes.CDLL("./libjvm.so")
print("ready", flush=True)
time.sleep(600)
"""


def java(*options, prefix=(), classes=None, **environment):
    """A started JVM, whose method is compiled."""
    java_command = lib.find("java")
    if not java_command:
        raise lib.Skip("java is not installed")
    with open("Hot.java", "w") as file:
        file.write(JAVA)
    os.chmod(".", 0o755)
    if not os.path.exists("Hot.class"):
        subprocess.run([lib.find("javac"), "Hot.java"], check=True, capture_output=True, timeout=lib.LIMIT_S)
    process = start(*prefix, java_command, *options, "-cp", classes or os.getcwd(), "Hot", stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, env=dict(os.environ, **environment))
    while read_line(process) != b"compiled\n":
        pass
    return process


def attach(pid, *options):
    result = lib.pinch("attach", "--json", "report.json", "--java-map", "--duration", "1s", "--nmin", 4, *options,
                       "-p", pid)
    assert result.status == 0, result.text
    return lib.parse_report(read("report.json", "rb"))


def names_of(report):
    return {f["name"] for path in report["paths"] for f in path["functions"]}


def forget(pid, place="/tmp"):
    for name in (f"perf-{pid}.map", f".java_pid{pid}"):
        if os.path.exists(f"{place}/{name}"):
            os.unlink(f"{place}/{name}")


def assert_written(own_pid, place="/tmp"):
    assert WRITTEN in read(f"{place}/perf-{own_pid}.map")


def java_notes(report):
    return [note for note in report["notes"] if "JVM" in note]


def check_named(process, pid, own_pid, place="/tmp"):
    """That it was asked, answered, did not write its stacks, and that nothing of ours stays."""
    try:
        report = attach(pid)
        assert METHOD in names_of(report), (names_of(report), report["notes"])
        assert_written(own_pid, place)
        assert not java_notes(report), report["notes"]
        assert not os.path.exists(f"{place}/.attach_pid{own_pid}")
        assert is_alive(pid)
    finally:
        forget(own_pid, place)
        os.kill(pid, signal.SIGKILL)
        out = process.communicate(timeout=lib.LIMIT_S)[0]
    assert DUMP.encode() not in out


@test("Java, attached, without any flag: a hot method has its name")
def attached():
    process = java()
    check_named(process, process.pid, process.pid)


@test("Java of another user: it is asked as that user, to whom the map belongs")
def other_user():
    process = java(prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
    path = f"/tmp/perf-{process.pid}.map"
    assert not os.path.exists(path)
    report = attach(process.pid)
    owner = os.stat(path).st_uid
    assert_written(process.pid)
    stop(process)
    forget(process.pid)
    assert METHOD in names_of(report), report["notes"]
    assert owner == NOBODY


@test("Java in a container: it is asked in its own file tree, by its own process id")
def container():
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        raise lib.Skip("unshare -m is not allowed here")
    # Its /tmp hides the directory with its class, which it has at another place.
    script = f"mount --bind {os.getcwd()} /mnt && mount -t tmpfs none /tmp && cd /mnt && exec \"$@\""
    process = java(prefix=("unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", script, "sh"), classes="/mnt")
    pid = int(read(f"/proc/{process.pid}/task/{process.pid}/children").split()[0])
    check_named(process, pid, 1, f"/proc/{pid}/root/tmp")


@test("Java, run: methods have names though the program is never asked to write them")
def running():
    java_command = lib.find("java")
    if not java_command:
        raise lib.Skip("java is not installed")
    with open("Hot.java", "w") as file:
        file.write(JAVA.replace("Integer.MAX_VALUE", "40000"))
    subprocess.run([lib.find("javac"), "Hot.java"], check=True, capture_output=True, timeout=lib.LIMIT_S)
    report = run(java_command, "-cp", ".", "Hot", options=["--java-map", "--nmin", 100]).report
    pids = {thread["pid"] for thread in report["threads"]}
    written = [pid for pid in pids if os.path.exists(f"/tmp/perf-{pid}.map")]
    for pid in written:
        assert_written(pid)
        forget(pid)
    assert written, report["notes"]
    assert METHOD in names_of(report), (names_of(report), report["notes"])


@test("record --java-map: the trace has the names, on any machine")
def recorded():
    process = java()
    result = lib.pinch("record", "-o", "t.pinch", "--java-map", "--nmin", 4, "--duration", "1s", "-p", process.pid)
    stop(process)
    assert_written(process.pid)
    forget(process.pid)
    assert result.status == 0, result.text
    result = lib.pinch("report", "--json", "report.json", "t.pinch")
    assert result.status == 0, result.text
    assert METHOD in names_of(lib.parse_report(read("report.json", "rb")))


def check_refused(process, words):
    report = attach(process.pid)
    assert is_alive(process.pid)
    process.kill()
    out = process.communicate(timeout=lib.LIMIT_S)[0]
    assert not os.path.exists(f"/tmp/perf-{process.pid}.map")
    assert [note for note in java_notes(report) if words in note], report["notes"]
    assert DUMP.encode() not in out


@test("a JVM whose attach mechanism is disabled gets no signal, and the notes say why it has no names")
def disabled():
    check_refused(java("-XX:+DisableAttachMechanism"), "DisableAttachMechanism")


@test("the same by a variable of its environment")
def disabled_by_environment():
    check_refused(java(JAVA_TOOL_OPTIONS="-XX:+DisableAttachMechanism"), "DisableAttachMechanism")


@test("a JVM that does not catch SIGQUIT is not killed by it")
def reduced():
    check_refused(java("-Xrs"), "-Xrs")


@test("a program that has mapped a libjvm.so and is no JVM gets no signal")
def pretender():
    library = subprocess.run(["sh", "-c", "ldd /bin/ls | awk '/libc.so/ {print $3}'"], capture_output=True, text=True,
                             check=True).stdout.strip()
    process = start(sys.executable, "-c", PRETENDER, library,
                    stdout=subprocess.PIPE)
    assert read_line(process) == b"ready\n"
    report = attach(process.pid)
    assert is_alive(process.pid) and process.poll() is None
    stop(process)
    assert java_notes(report), report["notes"]


@test("without --java-map no JVM is asked")
def unasked():
    process = java()
    result = lib.pinch("attach", "-o", "report.txt", "--duration", "1s", "-p", process.pid)
    assert result.status == 0, result.text
    assert not os.path.exists(f"/tmp/perf-{process.pid}.map")
    assert not os.path.exists(f"/tmp/.java_pid{process.pid}")
    stop(process)


if __name__ == "__main__":
    sys.exit(lib.main(jobs=2))
