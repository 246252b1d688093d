#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clocks of other hosts: asked on their own, and recorded in traces."""
import json
import os
import re
import signal
import socket
import subprocess

from lib import PINCH, main, pinch, program, read_line, start, stop, test, wait_until


def free_address():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{s.getsockname()[1]}"


def serve():
    """A server, and its address."""
    address = free_address()
    server = start(PINCH, "clocks", "--serve", address, stdout=subprocess.PIPE)
    assert address.encode() in read_line(server)
    return server, address


def number(text, name):
    return float(re.search(rf"^{name} +([-+]?[0-9.]+)", text.decode(), re.M).group(1))


@test("a clock is no further from itself than the stated uncertainty")
def itself():
    server, address = serve()
    result = pinch("clocks", "--count", 5, address)
    assert result.status == 0, result.text
    assert abs(number(result.out, "offset")) <= number(result.out, "uncertainty"), result.out
    assert stop(server, signal.SIGTERM) == 0


@test("where no clock answers the message names the address and what to do")
def nobody():
    address = free_address()
    result = pinch("clocks", address)
    assert result.status == 1 and address in result.text and "--serve" in result.text, result.text
    result = pinch("record", "-o", "t.pinch", "--clock", address, "--", "true")
    assert result.status == 125 and address in result.text, result.text


@test("wrong usage is refused with status 2")
def usage():
    for arguments in ((), ("a", "b"), ("--serve", "--count", "3"), ("--count", "0", "a"), ("--duration", "3", "a"),
                      ("no.such.host.invalid",), ("127.0.0.1:notaport",)):
        result = pinch("clocks", *arguments)
        assert result.status == 2 and result.text, (arguments, result.status)


@test("the samples of a recording are in its trace, and possible")
def recorded():
    server, address = serve()
    result = pinch("record", "-q", "-o", "t.pinch", "--clock", address, "--clock", address, "--",
                   program("mutex_storm"), 4, 20000)
    assert result.status == 0, result.text
    stop(server)
    assert pinch("check", "t.pinch").status == 0
    events = [json.loads(line) for line in pinch("dump", "--json", "t.pinch").out.splitlines()]
    samples = [e for e in events if e["event"] == "clock.SAMPLE"]
    assert samples
    for e in samples:
        f = e["fields"]
        assert f["asked_ns"] <= f["received_ns"] <= f["answered_ns"] <= f["returned_ns"] <= e["time_ns"], f
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot = file.read().strip().replace("-", "")
    assert bytes(samples[0]["fields"]["boot"]).hex() == boot


def status(pid, name):
    with open(f"/proc/{pid}/status") as file:
        return re.search(rf"^{name}:\s*(.*)$", file.read(), re.M).group(1)


@test("the process that asks has no privileges, and ends with pinch, however that ends")
def ends():
    def askers():
        result = subprocess.run(["pgrep", "-x", "pinch-clocks"], capture_output=True, text=True)
        return set(result.stdout.split())
    server, address = serve()
    before = askers()
    target = start("sleep", "1000")
    for how in (signal.SIGINT, signal.SIGKILL):
        tracer = start(PINCH, "record", "-o", "t.pinch", "--clock", address, "-p", target.pid,
                       stderr=subprocess.DEVNULL)
        wait_until(lambda: askers() - before, "the process that asks")
        wait_until(lambda: os.path.exists("t.pinch"), "the trace")
        (asker,) = askers() - before
        wait_until(lambda: status(asker, "Seccomp") == "2", "its confinement")
        assert status(asker, "CapPrm") == status(asker, "CapBnd") == "0" * 16
        assert status(asker, "Uid").split() == ["65534"] * 4
        stop(tracer, how)
        os.unlink("t.pinch")
        wait_until(lambda: not askers() - before, "its end")
    stop(target)
    stop(server)


main()
