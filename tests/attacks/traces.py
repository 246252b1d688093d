#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Traces that an enemy has made: every checksum is right, and what they say is not. Whatever they say, every command
comes to its end, in bounds of time and memory, and opens nothing that they name.
"""
import http.client
import os
import re
import resource
import signal
import socket
import stat
import subprocess

from lib_attacks import FULL
import lib
from lib import BUILD, PINCH, Skip, find, main, pinch, program, test

CPU_S = 20                  # of a command that takes tens of milliseconds
MEMORY_MB = 256             # of any command, whatever it reads
PAGE_MB = 320               # of --html, which keeps what each thread did when
ALIVE = 1000000 if FULL else 300000
FUZZED = 3000               # traces, at length
FUZZ_S = 35                 # else
JOBS = 2

# Each way to read a trace.
COMMANDS = (
    ("check",), ("report",), ("report", "-q", "--json", "json"), ("report", "-q", "--html", "html"), ("dump",),
    ("dump", "--json"), ("dump", "--activities", "--subsystem", "sched"),
    ("cut", "-o", "cut.pinch", "--from", "1ms"), ("merge", "-o", "merged.pinch", "plain.pinch"),
    ("graph", "--json", "json", "-o", "text"), ("graph", "--html", "html"), ("critical-path",), ("whatif",),
    ("spans",), ("compare", "plain.pinch"), ("klock", "-o", "text"),
    ("export", "--format", "perfetto", "-o", "out"), ("export", "--format", "pprof", "-o", "out"),
    ("export", "--format", "csv", "-o", "out"), ("view",),
)
VIEW = COMMANDS[-1]         # it ends when its user wants that


def make(kind, name, *argument):
    subprocess.run([os.path.join(BUILD, "attacks", "hostile_trace"), kind, name, *map(str, argument)], check=True)


def measured(*arguments):
    """Runs pinch with a limit of CPU time: how it ended, and the most memory it had, in MB."""
    process = lib.start(PINCH, *arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                        stderr=open("error", "wb"),
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S)))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss >> 10


def ask_viewer(process, pid):
    """What the page of pinch view asks at once; then its user ends it."""
    link = re.search(r"http://127.0.0.1:(\d+)(/\?token=\w+)", process.stderr.readline().decode())
    if not link:
        return
    connection = http.client.HTTPConnection("127.0.0.1", int(link.group(1)), timeout=lib.LIMIT_S)
    cookie = asked(connection, link.group(2)).headers["Set-Cookie"].split(";")[0]
    lib.wait_until(lambda: not lib.is_alive(process.pid) or b'"is_ready": true' in asked(connection, "/trace", cookie).body,
                   "the history is made, or cannot be made")
    for path in ("/tiles?shift=20&index=0&lanes=0", "/tiles?shift=43&index=0&lanes=0-1", "/slice?lane=0&time=0"):
        if lib.is_alive(process.pid):
            assert asked(connection, path, cookie).status in (200, 400, 404), path
    connection.close()
    if lib.is_alive(process.pid):
        os.kill(pid or int(lib.read(f"/proc/{process.pid}/task/{process.pid}/children").split()[0]), signal.SIGINT)


def viewed(*arguments):
    """The same of pinch view, whose server does not crash, nor take what it wants."""
    process = lib.start(PINCH, *arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S)))
    ask_viewer(process, process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss >> 10


def asked(connection, path, cookie=""):
    connection.request("GET", path, headers={"Cookie": cookie})
    reply = connection.getresponse()
    reply.body = reply.read()
    return reply


def each_command(trace):
    """Every command on the trace: none crashes, hangs or takes what it wants."""
    make("turns", "plain.pinch")
    for command in COMMANDS:
        status, memory_mb = viewed(*command, trace) if command == VIEW else measured(*command, trace)
        assert status in (0, 1, 3), (f"pinch {' '.join(command)} {trace} ended with {status}\n"
                                     + lib.read("error"))
        assert memory_mb <= MEMORY_MB, f"pinch {' '.join(command)} {trace} took {memory_mb} MB"


def check_reported(trace, words):
    """What was left out or put right is said: by check, and in the report."""
    checked = pinch("check", trace)
    assert checked.status == 1 and words in checked.out.decode(), checked.text
    notes = " ".join(pinch("report", trace).out.decode().split())
    assert words in notes, notes


@test("An event near 2^64 is left out and counted, and stops no command")
def late_event():
    make("late", "late.pinch")
    each_command("late.pinch")
    check_reported("late.pinch", "1 event was left out: outside the time of the trace")


@test("An event later than its chunk says is left out and counted, and stops no command")
def hidden_event():
    make("hidden-late", "late.pinch")
    each_command("late.pinch")
    check_reported("late.pinch", "1 event was left out: outside the time of the trace")


@test("Impossible times of events are corrected and counted, and stop no command")
def times_in_events():
    make("waits", "waits.pinch")
    each_command("waits.pinch")
    check_reported("waits.pinch", "4 events had impossible times, which were corrected")


@test("Events 200 years apart are damage, and stop no command")
def long_trace():
    make("long", "long.pinch")
    each_command("long.pinch")
    assert pinch("check", "long.pinch").out.startswith(b"long.pinch: damaged: ")


@test("A thousand threads that wait for two years are summed up in time")
def ages():
    make("ages", "ages.pinch")
    each_command("ages.pinch")
    assert pinch("check", "ages.pinch").out.startswith(b"ages.pinch: without names: ")


@test("Threads that live by the hundred thousand are bounded: no command takes more than 256 MB, or 320 for a page")
def alive():
    make("alive", "alive.pinch", ALIVE)
    make("turns", "plain.pinch")
    for command in COMMANDS if FULL else (("check",), ("report",), ("graph", "-o", "text"), ("whatif",)):
        status, memory_mb = measured(*command, "alive.pinch")
        limit_mb = PAGE_MB if "--html" in command else MEMORY_MB
        assert memory_mb <= limit_mb, f"pinch {' '.join(command)} took {memory_mb} MB"
        assert status in (0, 1), f"pinch {' '.join(command)} ended with {status}"
    said = pinch("check", "alive.pinch").out.decode()
    assert re.search(r"\d+ events were left out because there are too many threads", said), said


def opened(*arguments):
    """All paths that pinch and its worker open."""
    if not find("strace"):
        raise Skip("there is no strace")
    process = lib.start(find("strace"), "-f", "-qq", "-o", "calls", "-e", "trace=open,openat,openat2", PINCH, *arguments,
                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if arguments[0] == VIEW[0]:
        ask_viewer(process, None)
    lib.finish(process)
    assert process.returncode == 0, arguments
    return lib.read("calls")


@test("A path in a trace is not opened, unless --symbols-from-files is given")
def planted_path():
    path = os.path.abspath("planted")
    with open(path, "wb") as file:
        file.write(b"no program")
    make("path", "path.pinch", path)
    make("turns", "plain.pinch")
    for command in COMMANDS:
        if command[0] not in ("check", "dump", "cut", "merge", "spans", "compare"):
            assert path not in opened(*command, "path.pinch"), command
    assert path in opened("report", "--symbols-from-files", "path.pinch")
    assert path in opened("graph", "--symbols-from-files", "path.pinch")


@test("A FIFO that a trace names is never waited for")
def planted_fifo():
    path = os.path.abspath("planted")
    os.mkfifo(path)
    make("path", "path.pinch", path)
    for options in (), ("--symbols-from-files",):
        assert pinch("report", *options, "path.pinch").status == 0
    assert stat.S_ISFIFO(os.stat(path).st_mode)


PYTHON = """
import threading, time
lock = threading.Lock()
def work():
    for _ in range(20):
        with lock:
            sum(range(2000))
        time.sleep(0.001)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def record_sources():
    """Small traces with all kinds of events."""
    server = program("span_server")
    sources = {
        "mutex": ((), program("mutex_storm"), "4", "400"),
        "disk": (("--system",), program("fsync_io"), ".", "30"),
        "spans": (("--span", "calls=recvfrom(fd=socket)..sendto", "--span",
                   f"function={server}:Server::handle"), server),
        "kernel": (("--kernel-stacks",), program("klock_pipe")),
        "python": ((), "python3", "-c", PYTHON),
        "shell": (("--system",), "sh", "-c", "for i in 1 2 3 4; do (echo $i | cat); done"),
        "ring": (("--ring", "4M"), program("mutex_storm"), "3", "300"),
    }
    for name, (options, *command) in sources.items():
        result = pinch("record", "-q", "-o", name, *options, "--", *command)
        assert result.status == 0, result.text
    return [os.path.abspath(name) for name in sources]


def record_host():
    """The trace of another host, which has asked this one's clock."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{s.getsockname()[1]}"
    server = lib.start(lib.PINCH, "clocks", "--serve", address, stdout=subprocess.PIPE)
    assert address.encode() in lib.read_line(server)
    result = pinch("record", "-q", "-o", "host0", "--clock", address, "--", program("mutex_storm"), "3", "300")
    assert result.status == 0, result.text
    lib.stop(server)
    boot = lib.read("/proc/sys/kernel/random/boot_id").strip()
    subprocess.run([os.path.join(lib.BUILD, "tests", "as_host"), "host0", "host", "other", "a" * 32, "1e9", "100", boot, "0", "0"],
                   check=True, timeout=60)
    return os.path.abspath("host")


@test("Changed traces with checksums that are right: no command crashes, hangs, or takes what it wants")
def changed_traces():
    tool = os.path.join(BUILD, "san", "fuzz", "commands")
    if not os.path.exists(tool):
        raise Skip("clang's sanitizers are missing")
    traces, running, host = record_sources(), [], record_host()
    for kind in "turns", "ages", "waits", "long", "hidden-late":
        make(kind, kind)
        traces.append(os.path.abspath(kind))
    for job in range(JOBS):
        os.mkdir(f"job{job}")
        share = FUZZED // JOBS
        limits = (("--first", job * share, "--traces", share) if FULL else
                  ("--first", job * share, "--traces", share, "--seconds", FUZZ_S))
        running.append(lib.start(tool, *map(str, limits), "--host", host, f"job{job}", *traces, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT))
    for process in running:
        said = lib.finish(process, limit_s=7200 if FULL else 10 * FUZZ_S).out.decode()
        print("# " + said.strip().replace("\n", "\n# "))
        assert process.returncode == 0, said


if __name__ == "__main__":
    main()
