#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
pinch agent: windows within a budget, what they are added up to, what is kept, what triggers them, and how it ends.
"""
import glob
import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter

from lib import (LIMIT_S, PINCH, Skip, finish, main, parse_report, pinch, program, read, read_line, start, stop, test,
                 wait_until)

WINDOW_LIMIT_S = 4 * LIMIT_S        # of a window of all the machine, on one that is busy


class Agent:
    def __init__(self, *options, budget="100%", window="300ms"):
        self.process = start(PINCH, "agent", "--to", "kept", "--budget", budget, "--window", window, "--metrics", ":0",
                             *options, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        with open(self.process.stderr.fileno(), "rb", 0, closefd=False) as messages:
            line = messages.readline().decode()
        self.port = int(re.fullmatch(r"pinch: metrics: http://127\.0\.0\.1:(\d+)/metrics\n", line)[1])

    def metrics(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        return {name: float(value) for name, value in
                (line.split(" ") for line in text.splitlines() if not line.startswith("#"))}

    def windows(self):
        return self.metrics()["pinch_agent_windows_total"]

    def await_windows(self, count):
        wait_until(lambda: self.windows() >= count, f"{count} windows", WINDOW_LIMIT_S)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return finish(self.process, limit_s=WINDOW_LIMIT_S)


def rollups():
    return sorted(glob.glob("kept/rollups/*/*.jsonl"))


def traces():
    return sorted(glob.glob("kept/traces/*.pinch"))


def cpu_s(pid):
    """Of a process and of all that it has waited for."""
    fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def cause_sums(lines):
    sums = Counter()
    for line in lines:
        row = json.loads(line)
        sums[row["state"]] += row["ns"]
    return sums


@test("each window becomes a rollup, which is that of its trace, and has the report's sums")
def windows():
    convoy = start(program("mutex_storm"), 4, 1000000000)
    agent = Agent()
    agent.await_windows(2)
    result = agent.end()
    stop(convoy)
    assert not result.status, result.text
    assert not glob.glob("kept/rollups/*/*.part")
    assert len(rollups()) == len(traces()) >= 2, (rollups(), traces())
    locked_ns = 0
    for rollup, trace in zip(rollups(), traces()):
        again = pinch("export", "--format", "rollup", trace)
        assert not again.status and again.out.decode() == read(rollup), rollup
        first, *rows = read(rollup).splitlines()
        assert json.loads(first)["watched_ns"] > 0 and json.loads(first)["bpf_ns"] > 0, first
        assert not pinch("report", "-q", "--json", "report.json", trace).status
        balance = parse_report(read("report.json", "rb"))["balance"]["threads"]
        sums = cause_sums(rows)
        for cause in balance["causes"]:
            if cause["cause"] not in ("cpu-wait", "throttled"):
                assert sums[cause["cause"]] == cause["wait_ns"], (cause, sums)
        assert sums["runnable"] == balance["cpu_wait_ns"], (balance["cpu_wait_ns"], sums)
        locked_ns += sums["lock"]
    assert locked_ns, "the program waits for its lock"


@test("what it takes is counted, with all its processes, and waited for")
def budget():
    agent = Agent(budget="2%", window="1s")
    agent.await_windows(1)
    took_s = cpu_s(agent.process.pid)
    metrics = agent.metrics()
    assert metrics["pinch_agent_cpu_seconds_total"] >= took_s * 0.9, (metrics, took_s)
    # A window takes half a second, which is more than these shares of a second: the second one has to wait.
    assert metrics["pinch_agent_windows_total"] == 1 and 0 < metrics["pinch_agent_coverage"] < 1, metrics
    assert not agent.end().status


@test("a signal begins a window at once; its trace is named by that, and is kept longest")
def triggers():
    agent = Agent("--keep", "1M", budget="1%")
    agent.await_windows(1)
    agent.process.send_signal(signal.SIGUSR1)
    agent.await_windows(2)
    assert agent.metrics()["pinch_agent_triggered_windows_total"] == 1
    assert not agent.end().status
    assert [t for t in traces() if t.endswith("-signal.pinch")] == traces()[-1:], traces()


@test("a signal that comes while a window is recorded gives that one its reason, and ends no child")
def marked():
    agent = Agent(window="2s")
    wait_until(traces, "a window has begun", WINDOW_LIMIT_S)
    for pid in [agent.process.pid, *map(int, read(f"/proc/{agent.process.pid}/task/{agent.process.pid}/children").split())]:
        os.kill(pid, signal.SIGUSR1)
    agent.await_windows(1)
    assert agent.metrics()["pinch_agent_failed_windows_total"] == 0
    assert not agent.end().status
    assert traces()[0].endswith("-signal.pinch") and not pinch("report", "-q", traces()[0]).status, traces()


@test("threads that wait for CPUs begin one")
def pressure():
    if not os.path.exists("/proc/pressure/cpu"):
        raise Skip("the kernel has no pressure stall information")
    busy = [start(sys.executable, "-c", "while True: pass") for _ in range(2 * os.cpu_count())]
    agent = Agent("--trigger", "cpu:10%", budget="1%")
    wait_until(lambda: agent.metrics()["pinch_agent_triggered_windows_total"] >= 1, "a triggered window", WINDOW_LIMIT_S)
    for process in busy:
        stop(process)
    assert not agent.end().status
    assert any(t.endswith("-cpu.pinch") for t in traces()), traces()


@test("traces have no more than their size; what they were added up to stays")
def sizes():
    convoy = start(program("mutex_storm"), 4, 1000000000)
    agent = Agent("--keep", "1M")
    agent.await_windows(3)
    assert not agent.end().status
    stop(convoy)
    kept = sum(os.stat(path).st_blocks * 512 for path in glob.glob("kept/traces/*"))
    assert kept <= 1 << 20, kept
    assert len(rollups()) >= 3


@test("ended in the middle of a window, it adds up what there is, and leaves nothing")
def middle():
    agent = Agent(window="600s")
    wait_until(lambda: glob.glob("kept/traces/*.pinch"), "a window has begun", WINDOW_LIMIT_S)
    assert not agent.end().status
    assert len(rollups()) == 1 and not glob.glob("kept/rollups/*/*.part"), rollups()


@test("signals for all of a service end a window early, and lose nothing")
def service():
    agent = Agent(window="600s")
    wait_until(traces, "a window has begun", WINDOW_LIMIT_S)
    children = list(map(int, read(f"/proc/{agent.process.pid}/task/{agent.process.pid}/children").split()))
    for pid in children:
        os.kill(pid, signal.SIGTERM)
    result = agent.end()
    assert not result.status and len(rollups()) == 1, result.text
    assert json.loads(read(rollups()[0]).splitlines()[0])["bpf_ns"] > 0, "the trace has its end"


@test("what is not the agent's is not removed; a directory that others can write is refused")
def others():
    os.makedirs("kept/traces", mode=0o700)
    for name in ("notes.txt", "2026-11-28-000000.000.pinch.txt", "mine.pinch"):
        with open(f"kept/traces/{name}", "wb") as file:
            file.write(b"x" * (2 << 20))
    with open("kept/traces/2026-01-01-000000.000.pinch", "wb") as file:
        file.write(b"x" * (2 << 20))
    agent = Agent("--keep", "1M")
    agent.await_windows(1)
    assert not agent.end().status
    left = os.listdir("kept/traces")
    assert {"notes.txt", "2026-11-28-000000.000.pinch.txt", "mine.pinch"} <= set(left), left
    assert "2026-01-01-000000.000.pinch" not in left, left
    os.chmod("kept/traces", 0o777)
    result = pinch("agent", "--to", "kept")
    assert result.status == 1 and "that this user alone can write" in result.text, result.text
    os.mkdir("linked", 0o700)
    os.symlink("/tmp", "linked/traces")
    assert pinch("agent", "--to", "linked").status == 1


@test("what fails is said, counted, and tried again later; the agent goes on")
def failures():
    agent = Agent("--cgroup", "/no/such/cgroup")
    wait_until(lambda: agent.metrics()["pinch_agent_failed_windows_total"] == 1, "a failure", WINDOW_LIMIT_S)
    result = agent.end()
    assert not result.status and "no/such/cgroup" in result.text and "the next window begins later" in result.text, result.text


@test("wrong usage is refused")
def usage():
    for options in ((), ("--to", "x", "--budget", "5"), ("--to", "x", "--budget", "0%"), ("--to", "x", "--window", "1ms"),
                    ("--to", "x", "--trigger", "disk:5%"), ("--to", "x", "--keep", "5"), ("--to", "x", "more"),
                    ("--to", "x", "--metrics", "0.0.0.0:1")):
        assert pinch("agent", *options).status == 2, options
    with open("file", "w", encoding="ascii"):
        result = pinch("agent", "--to", "file/below")
        assert result.status == 1 and "cannot make the directory file/below" in result.text, result.text


sys.exit(main())
