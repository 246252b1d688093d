#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Programs, and pinch itself, whose clock_gettime(CLOCK_MONOTONIC) shows another time than the kernel's events have, as in containers
with a time namespace. Traces are by the kernel's clock.
"""
import json
import os
import re
import signal
import socket
import subprocess

from lib import (PINCH, Skip, assert_nothing_attached, main, pinch, program, read, read_line, start, stop, test, wait_attached,
                 wait_until)

SHIFTS = 1000, -1000  # seconds
CLOCK_ERROR_NS = 1000


def shifted(seconds, *command):
    """The command, whose clock is so much ahead."""
    return "unshare", "--time", "--monotonic", seconds, "--boottime", -seconds, *command


def need_namespaces():
    probe = subprocess.run([str(word) for word in shifted(1000, "readlink", "/proc/self/ns/time")], capture_output=True, text=True,
                           check=False)
    if probe.returncode:
        raise Skip(f"there are no time namespaces here: {probe.stderr.strip()}")
    if probe.stdout.strip() == os.readlink("/proc/self/ns/time"):
        raise Skip("this kernel enters a time namespace at a fork, and not at an exec")


def events(path):
    result = pinch("dump", "--json", path)
    assert result.status == 0 and not result.text, result.text
    return [json.loads(line) for line in result.out.splitlines()]


def check_ticks(path, shift):
    """Each own event is between the two times that its program read around it, less the shift; and in its program's life."""
    found = events(path)
    ticks = [event for event in found if event["event"] == "clock.TICK"]
    assert [tick["argument"] for tick in ticks] == list(range(2000)), f"{len(ticks)} events"
    before = [tick["fields"]["before_ns"] - shift * 10 ** 9 for tick in ticks]
    early = max(one - tick["time_ns"] for tick, one in zip(ticks, before))
    late = max(tick["time_ns"] - after for tick, after in zip(ticks, before[1:]))
    print(f"# shifted by {shift} s: before the clock that was read before it: {early} ns at most; after the one behind it: {late}")
    assert early < CLOCK_ERROR_NS and late < CLOCK_ERROR_NS, (early, late)
    thread = ticks[0]["thread"]
    times = [event["time_ns"] for event in found if event["event"] == "sched.SWITCH" and event["thread"] == thread]
    # It sleeps behind each 64.
    assert len(times) > 20 and times[0] < ticks[100]["time_ns"] < times[-1], (times[:1], times[-1:])
    result = pinch("check", path)
    assert result.status == 0, result.text


@test("own events of a program in a time namespace are at their place among the kernel's, whichever clock they are by")
def _():
    need_namespaces()
    for clock in "", "monotonic":
        for shift in SHIFTS:
            command = shifted(shift, program("own_events"), "clock", 2000)
            result = pinch("record", "-q", "-o", "t.pinch", "--", "env", f"PINCHTRACE_CLOCK={clock}", *command)
            assert result.status == 0, result.text
            check_ticks("t.pinch", shift)


@test("pinch in a time namespace has the kernel's clock, and says so")
def _():
    need_namespaces()
    for shift in SHIFTS:
        command = shifted(shift, PINCH, "record", "-q", "-o", "t.pinch", "--", program("own_events"), "clock", 2000)
        subprocess.run([str(word) for word in command], check=True, timeout=60)
        check_ticks("t.pinch", shift)
        said = subprocess.run([str(word) for word in shifted(shift, PINCH, "check")], capture_output=True, text=True, timeout=60,
                              check=False).stdout
        assert f"its clock is 16 min 40 s {'ahead of' if shift > 0 else 'behind'} the kernel's" in said, said
    assert "time namespace: its clock is the kernel's\n" in pinch("check").out.decode()


@test("of one program, traces from inside and from outside a time namespace have the same events at the same times")
def _():
    need_namespaces()
    served = start(program("own_events"), "serve", stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask():
        served.stdin.write(b"\n")
        served.stdin.flush()
        return int(read_line(served))

    record = (PINCH, "record", "-q", "-p", served.pid, "-o")
    tracers = [start(*command, stderr=subprocess.PIPE) for command in ((*record, "outside.pinch"),
                                                                       shifted(1000, *record, "inside.pinch"))]
    for tracer, name in zip(tracers, ("outside", "inside")):
        wait_attached(tracer)
        wait_until(lambda path=f"{name}.pinch": os.path.exists(path) and b"user.PROGRAM" in pinch("dump", path).out, "its area")
    first = ask()
    last = [ask() for _ in range(200)][-1]
    served.stdin.close()
    assert served.wait(60) == 0
    assert [tracer.wait(60) for tracer in tracers] == [0, 0]
    seen = []
    for path in ("outside.pinch", "inside.pinch"):
        found = events(path)
        own = {event["argument"]: event["time_ns"] for event in found if event["event"] == "count.UP"}
        begin, end = own[first], own[last]
        switches = [event["time_ns"] for event in found if event["event"] == "sched.SWITCH" and begin < event["time_ns"] < end]
        assert len(switches) >= 200, len(switches)
        seen.append((own, switches))
    off = max(abs(seen[0][0][number] - seen[1][0][number]) for number in range(first, last + 1))
    apart = max(min(abs(a - b) for b in seen[1][1]) for a in seen[0][1])
    print(f"# own events are {off} ns apart at most, switches {apart} ns")
    assert off < CLOCK_ERROR_NS and apart < 100 * CLOCK_ERROR_NS, (off, apart)
    assert_nothing_attached()


@test("a program in a time namespace leaves what it flushes to a scope with a client")
def _():
    need_namespaces()
    for shift in SHIFTS:
        with open("scope.log", "wb") as log:
            scope = start(PINCH, "scope", "--listen", "127.0.0.1:0", "--", *shifted(shift, program("own_events"), "serve"),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        port = int(wait_until(lambda: re.search(r"scope is at tcp:127.0.0.1:(\d+)\n", read("scope.log")), "an address")[1])

        def ask(line=b"\n", scope=scope):
            scope.stdin.write(line)
            scope.stdin.flush()
            return int(read_line(scope))

        ask()
        assert ask(b"f\n") == 2
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.recv(1)
            wait_until(lambda ask=ask: ask(b"f\n") == 0, "what is flushed is left to the scope")
        # When the client is gone, it is the program's again.
        wait_until(lambda ask=ask: ask(b"f\n") > 0, "it is flushed")
        scope.stdin.close()
        assert scope.wait(60) == 0, read("scope.log")


@test("pinch trace gives the events of a program in a time namespace the machine's times, after it has ended, too")
def _():
    need_namespaces()
    os.environ["PINCHTRACE_DIR"] = os.getcwd()
    for clock in "", "monotonic":
        env = dict(os.environ, PINCHTRACE_KEEP="1", PINCHTRACE_CLOCK=clock)
        assert start(*shifted(1000, program("own_events"), "clock", 2000), env=env).wait(60) == 0
        file, = (name for name in os.listdir(".") if name.startswith("pinchtrace."))
        lines = [line.split() for line in pinch("trace", "--snapshot", file).out.decode().splitlines()]
        assert len(lines) == 2000, lines[:3]
        times = [int(line[0].replace(".", "")) for line in lines]
        before = [int(line[4].partition("=")[2], 0) - 1000 * 10 ** 9 for line in lines]
        early = max(one - time for one, time in zip(before, times))
        late = max(time - after for time, after in zip(times, before[1:]))
        print(f"# before the clock that was read before it: {early} ns at most; after the one behind it: {late}")
        assert early < 20 * CLOCK_ERROR_NS and late < 20 * CLOCK_ERROR_NS, (early, late)
        os.unlink(file)


@test("two hosts of which one is a time namespace of the other have one clock")
def _():
    need_namespaces()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{s.getsockname()[1]}"
    server = start(*shifted(1000, PINCH, "clocks", "--serve", address), stdout=subprocess.PIPE)
    assert address.encode() in read_line(server)
    said = pinch("clocks", "--count", 5, address).out.decode()
    offset, uncertainty = (float(re.search(rf"^{name} +([-+]?[0-9.]+)", said, re.M).group(1)) for name in ("offset", "uncertainty"))
    assert abs(offset) <= uncertainty, said
    stop(server, signal.SIGTERM)


if __name__ == "__main__":
    main()
