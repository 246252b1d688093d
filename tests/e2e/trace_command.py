#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
pinch trace: programs that record events of their own are listed, switched and read from outside, while they run and after they
were killed.
"""
import os
import signal
import subprocess
import sys

from lib import main, parse, pinch, program, read, read_line, start, stop, test, wait_until


def in_own_directory(function):
    """Areas lie in the directory of the test."""
    def run():
        os.environ["PINCHTRACE_DIR"] = os.getcwd()
        function()
    return run


class Server:
    """Records count.UP for each line that it gets."""

    def __init__(self):
        self.process = start(program("own_events"), "serve", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask()

    def ask(self, times=1):
        for _ in range(times):
            self.process.stdin.write(b"\n")
            self.process.stdin.flush()
            self.last = int(read_line(self.process))
        return self.last

    @property
    def pid(self):
        return str(self.process.pid)

    def kill(self):
        stop(self.process, signal.SIGKILL)


def trace(*arguments, status=0):
    result = pinch("trace", *arguments)
    assert result.status == status, result.text
    return result


def listed(*arguments):
    trace("--json", "list.json", *arguments)
    return parse(read("list.json", "rb"), "trace")["programs"]


def snapshot(*arguments):
    """The argument of each event, by its name."""
    events = {}
    for line in trace("--snapshot", *arguments).out.decode().splitlines():
        if line.startswith("#"):
            continue
        time, thread, name, argument = line.split()[:4]
        events.setdefault(name, []).append((float(time), int(thread), int(argument.split("=")[1])))
    return events


def thread_of(line):
    """Of an event, or of a gap: "# TIME THREAD: ..."."""
    words = line.split()
    return words[2].rstrip(":") if words[0] == "#" else words[1]


def numbers(*arguments):
    return [number for _, _, number in snapshot(*arguments).get("count.UP", [])]


@test("the list has what a process records, by its own names")
@in_own_directory
def _():
    server = Server()
    found = listed("-p", server.pid)
    assert len(found) == 1 and found[0]["pid"] == server.process.pid, found
    assert found[0]["program"] == "own_events" and not found[0]["is_ended"] and found[0]["threads"] == 1
    assert [s["name"] for s in found[0]["subsystems"]] == ["clock", "count", "request"]
    assert all(s["is_on"] for s in found[0]["subsystems"]) and found[0]["triggers"]["phase"] == "none"
    text = trace("-p", server.pid).out.decode()
    assert text.startswith(f"{server.pid} own_events: 1 thread, 8,192 events each\n"), text
    assert any(p["pid"] == server.process.pid for p in listed()), "without a name"
    server.kill()


@test("subsystems are switched while the program runs, in the order given")
@in_own_directory
def _():
    server = Server()
    trace("-p", server.pid, "--disable", "count")
    server.ask(3)
    trace("-p", server.pid, "--disable", "all", "--enable", "clock,count")
    server.ask(2)
    assert numbers("-p", server.pid) == [0, 4, 5]
    on = {s["name"]: s["is_on"] for s in listed("-p", server.pid)[0]["subsystems"]}
    assert on == {"clock": True, "count": True, "request": False}, on
    result = trace("-p", server.pid, "--disable", "count", "--enable", "cuont", status=1)
    assert "no subsystem 'cuont'; it has: clock, count, request" in result.text, result.text
    server.ask()
    assert numbers("-p", server.pid) == [0, 4, 5, 6], "a wrong name changes nothing"
    server.kill()


@test("triggers are set from outside, by name")
@in_own_directory
def _():
    server = Server()
    trace("-p", server.pid, "--start", "count.UP", "--count", "3", "--list")
    server.ask(9)
    assert numbers("-p", server.pid) == [0, 1, 2, 3]
    triggers = listed("-p", server.pid)[0]["triggers"]
    assert triggers["phase"] == "done" and triggers["start"] == "count.UP" and triggers["count"] == 3, triggers
    trace("-p", server.pid, "--start", "count.UP", "--count", "2", "--mode", "repeated")
    server.ask(4)
    trace("-p", server.pid, "--clear-triggers")
    server.ask()
    assert numbers("-p", server.pid) == [0, 1, 2, 3, 10, 11, 12, 13, 14]
    trace("-p", server.pid, "--start", "request.BEGIN")
    server.ask(2)
    assert numbers("-p", server.pid)[-1] == 14
    assert listed("-p", server.pid)[0]["triggers"]["phase"] == "waiting"
    result = trace("-p", server.pid, "--stop", "count.DOWN", status=1)
    assert "no event 'count.DOWN'; of count it has:" in result.text, result.text
    server.kill()


@test("the time and thread of a line are those of the event")
@in_own_directory
def _():
    process = start(program("own_events"), "clock", "2000", env=dict(os.environ, PINCHTRACE_KEEP="1"))
    assert process.wait(60) == 0
    file = next(name for name in os.listdir(".") if name.startswith("pinchtrace."))
    lines = [line.split() for line in trace("--snapshot", file).out.decode().splitlines()]
    assert [line[2:4] for line in lines] == [["clock.TICK", f"argument={i}"] for i in range(2000)], lines[:3]
    assert {line[1] for line in lines} == {str(process.pid)}
    for line, after in zip(lines, lines[1:]):
        time_ns = round(float(line[0].replace(".", "")))
        before_ns, behind_ns = (int(part[4].split("=")[1], 0) for part in (line, after))
        assert before_ns - 20000 < time_ns < behind_ns + 20000, (before_ns, time_ns, behind_ns)
    ended = [p for p in listed() if p["own_pid"] == process.pid]
    assert len(ended) == 1 and ended[0]["is_ended"] and ended[0]["has_exited"], ended
    trace("--remove")
    assert not os.path.exists(file)


@test("what a killed process has recorded is read from its file, which stays until it is removed")
@in_own_directory
def _():
    alive, killed = Server(), Server()
    killed.ask(20)
    file = next(p["path"] for p in listed() if p["pid"] == killed.process.pid)
    killed.kill()
    assert numbers(file) == list(range(21))
    found = next(p for p in listed() if p["path"] == file)
    assert found["is_ended"] and not found["pid"] and not found["has_exited"], found
    assert f"own_events: process {killed.pid} was killed" in trace().out.decode()
    trace("--remove")
    assert not os.path.exists(file)
    alive.ask()
    assert [p["pid"] for p in listed()] == [alive.process.pid], "the file of a living process stays"
    alive.kill()
    trace("--remove")


@test("a snapshot of a process that writes all the time, and is killed, has whole events in order")
@in_own_directory
def _():
    for _ in range(10):
        process = start(program("own_events"), "threads", "4", "4000000000", "0")
        wait_until(lambda: len({thread_of(line) for line in pinch("trace", "--snapshot", "-p", process.pid).out.decode()
                               .splitlines()}) == 4, "four threads record")
        for what in (("-p", str(process.pid)), ()):
            if not what:
                stop(process, signal.SIGKILL)
                what = [name for name in os.listdir(".") if name.startswith(f"pinchtrace.{process.pid}.")]
            threads, last_time = {}, 0
            for line in trace("--snapshot", *what).out.decode().splitlines():
                if line.startswith("#"):
                    # All that a thread had may have been overwritten before it was read.
                    threads.setdefault(thread_of(line), -1)
                    continue
                time, thread, name, argument = line.split()
                number = int(argument.split("=")[1])
                assert name == "count.UP" and float(time) >= last_time, line
                assert number > threads.get(thread, -1), (line, threads)
                threads[thread], last_time = number, float(time)
            assert len(threads) == 4, threads
        assert min(threads.values()) >= 0, f"of a killed one, nothing is overwritten any more: {threads}"
        trace("--remove")


@test("wrong usage is said, and names what is missing")
@in_own_directory
def _():
    for arguments in (("--enable", "all"), ("--snapshot",), ("--start", "count", "-a"), ("--mode", "twice", "-a"),
                      ("--mode", "repeated", "-a"), ("--clear-triggers", "--count", "3", "-a"), ("--remove", "-a"),
                      ("--count", "0", "-a"), ("--duration", "3", "-a"), ("--enable", "all", "-a", "file")):
        result = trace(*arguments, status=2)
        assert result.text.startswith("pinch: "), (arguments, result.text)
    other = start(sys.executable, "-c", "import time; print(1, flush=True); time.sleep(1000)", stdout=subprocess.PIPE)
    read_line(other)
    result = trace("-p", str(other.pid), status=1)
    assert "it is not linked with libpinchtrace" in result.text, result.text
    stop(other, signal.SIGKILL)
    with open("no_area", "w") as file:
        file.write("pinch" * 1000)
    assert "no_area is no area" in trace("--snapshot", "no_area", status=1).text


if __name__ == "__main__":
    sys.exit(main())
