#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
pinch scope without a target: whoever connects gets one trace of what all sessions of the machine trace, those that begin later and
those that end earlier included, and none of them notices.
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

from lib import PINCH, Skip, assert_nothing_attached, check_laws, find, is_alive, main, parse_report, pinch, program, \
    read, read_line, start, status_of, stop, test, wait_attached, wait_until
from lib_hosts import dump
from lib_scope import Client, Scope, certificate, check, check_order, report_of, write_token


class Machine:
    """A scope of all sessions. Sessions of other tests are in its traces, too."""

    def __init__(self, *options, listen="127.0.0.1:0"):
        with open("machine.log", "wb") as file:
            self.process = start(PINCH, "scope", "--listen", listen, *options, stderr=file)
        found = wait_until(lambda: self.process.poll() is not None or
                           re.search(r"the scope of all sessions is at (\S+)\n", read("machine.log")), "an address")
        assert found is not True, read("machine.log")
        self.address = found[1]

    def connect(self):
        return socket.create_connection(("127.0.0.1", int(self.address.rsplit(":", 1)[1])), timeout=60)

    def end(self):
        assert stop(self.process, signal.SIGINT) == 0, read("machine.log")


def storm(*arguments):
    """A program that runs until it is stopped."""
    return start(program("mutex_storm"), *(arguments or (3, 100000000)), stdout=subprocess.DEVNULL)


def attach(target, *options):
    session = start(PINCH, "attach", "-q", "-o", "text", *options, "-p", target.pid, stderr=subprocess.DEVNULL)
    wait_attached(session)
    return session


def at_word(*command):
    """A command that begins when there is a file called go."""
    return ("sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; exec \"$0\" \"$@\"", *command)


def command_of(session):
    """The process of the command that a session has started."""
    return wait_until(lambda: [int(pid) for pid in read(f"/proc/{session.pid}/task/{session.pid}/children").split()
                               if status_of(pid).get("Name") == "sh"], "the command")[0]


def tids(path):
    """Of the threads that what came so far introduces; a trace that has just begun cannot be read yet."""
    result = pinch("dump", "--json", path)
    events = [json.loads(line) for line in result.out.splitlines()]
    return {event["fields"]["tid"] for event in events if event["event"] in ("thread.FOUND", "thread.BORN")}


def times_of(path):
    return [json.loads(line)["time_ns"] for line in pinch("dump", "--json", path).out.splitlines()]


def latest_ns(path):
    return times_of(path)[-1]


def ended(client):
    client.socket.sendall(b"end\n")
    return client.whole()


def pids_of(report):
    return {thread["host_pid"] for thread in report["threads"]}


@test("sessions of every kind are in one trace that obeys the laws, with the names and the own events of each")
def kinds():
    targets = [storm(), storm()]
    attached = attach(targets[0])
    recorded = start(PINCH, "record", "-q", "-o", "r.pinch", "-p", targets[1].pid, stderr=subprocess.DEVNULL)
    wait_attached(recorded)
    scope = Scope(command=(program("mutex_storm"), 3, 20000000))
    machine = Machine()
    client = Client(machine, "all.pinch")
    client.has(100000)
    own = start(PINCH, "record", "-q", "-o", "own.pinch", "--", *at_word(program("own_events"), "clock", "2000"))
    run = start(PINCH, "run", "-q", "-o", "run.txt", "--", *at_word(program("multi_mutex")), stdout=subprocess.DEVNULL)
    commands = {command_of(own), command_of(run)}
    wait_until(lambda: commands <= tids("all.pinch"), "the last sessions")
    with open("go", "wb"):
        pass
    assert own.wait(60) == run.wait(60) == 0
    assert "complete: " in check(ended(client))
    report = report_of("all.pinch")
    assert {target.pid for target in targets} | commands <= pids_of(report), report["threads"]
    names = {frame["function"] for path in report["paths"] for frame in path["stack"]}
    assert {"spin", "hammer"} & names, names
    events = dump("all.pinch")
    ticks = [event["argument"] for event in events if event["event"] == "clock.TICK"]
    assert ticks == list(range(2000)), len(ticks)
    check_order(events)
    for session in (attached, recorded):
        assert stop(session, signal.SIGINT) == 0
    scope.end()
    check("r.pinch")
    machine.end()
    assert_nothing_attached()


@test("sessions that begin while a client is there, and those that end, are in its trace; without any, it has none")
def come_and_go():
    machine = Machine()
    nobody = Client(machine, "nobody.pinch")
    nobody.has(64)
    ended(nobody)
    assert pinch("report", "nobody.pinch").status == 0       # whether others trace on this machine or not
    client = Client(machine, "all.pinch")
    pids = set()
    for number in range(3):
        session = start(PINCH, "record", "-q", "-o", f"{number}.pinch", "--", *at_word(program("mutex_storm"), "2", "2000"))
        pids.add(command_of(session))
        wait_until(lambda: pids <= tids("all.pinch"), "the session")
        with open("go", "wb"):
            pass
        assert session.wait(60) == 0
        os.remove("go")
    check(ended(client))
    assert pids <= pids_of(report_of("all.pinch")), pids
    machine.end()


@test("a session that is killed, or stops tracing a program that goes on, is at its end for others, whose account closes")
def killed():
    targets = [storm(), storm(), storm()]
    sessions = [attach(target) for target in targets]
    machine = Machine()
    client = Client(machine, "all.pinch")
    for target in targets:
        wait_until(lambda: target.pid in tids("all.pinch"), "its threads")
    stop(sessions[0])
    assert stop(sessions[1], signal.SIGINT) == 0
    for target in targets[:2]:
        stop(target)
    ended_ns = time.monotonic_ns()      # the clock of traces
    wait_until(lambda: latest_ns("all.pinch") > ended_ns + 4000000000, "others that go on")
    check(ended(client))
    report = report_of("all.pinch", is_lossless=False)
    assert any("ended without the end of its trace" in note for note in report["notes"]), report["notes"]
    lives = {target.pid: max(t["running_ns"] + t["cpu_wait_ns"] + t["blocked_ns"] for t in report["threads"]
                             if t["host_pid"] == target.pid) for target in targets}
    assert lives[targets[2].pid] > max(lives[target.pid] for target in targets[:2]) + 1000000000, lives
    assert stop(sessions[2], signal.SIGINT) == 0
    machine.end()


@test("each client has a trace from when it comes; one that reads nothing delays neither the others nor the sessions")
def clients():
    target = storm()
    session = attach(target)
    machine = Machine()
    lazy = machine.connect()
    early = Client(machine, "early.pinch")
    early.has(100000)
    late = Client(machine, "late.pinch")
    late.has(100000)
    for client in (early, late):
        report_of(ended(client))
    spans = [(times[0], times[-1]) for times in map(times_of, ("early.pinch", "late.pinch"))]
    assert spans[0] < spans[1] and spans[0][1] > spans[1][0], spans
    again = pinch("report", "-q", "--json", "live.json", "--duration", "1500ms", machine.address)
    assert again.status == 0, again.text
    report = parse_report(read("live.json", "rb"))
    check_laws(report, is_lossless=False)
    assert target.pid in pids_of(report), report["threads"]
    assert stop(session, signal.SIGINT) == 0
    machine.process.send_signal(signal.SIGINT)          # the trace of who has read nothing ends, too
    with open("lazy.pinch", "wb") as file:
        while got := lazy.recv(1 << 16):
            file.write(got)
    lazy.close()
    assert machine.process.wait(60) == 0
    check("lazy.pinch")
    assert target.pid in pids_of(report_of("lazy.pinch", is_lossless=False))


def session_names(pid):
    return [line.split("@")[1] for line in read("/proc/net/unix").splitlines() if f"@pinch.session.{pid}." in line]


@test("other users can neither read a session nor pretend to be one")
def users():
    if not find("setpriv"):
        raise Skip("setpriv is not installed")
    target = storm()
    session = attach(target)
    name, = session_names(session.pid)
    ask = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0' + sys.argv[1])\nprint(len(s.recv(100)), flush=True)\n"
    as_nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c")
    result = subprocess.run([*as_nobody, ask, name], capture_output=True, timeout=60)
    assert result.stdout == b"0\n", result
    result = subprocess.run(["/usr/bin/python3", "-c", ask, name], capture_output=True, timeout=60)
    assert result.stdout != b"0\n" and result.returncode == 0, result
    pretend = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.bind('\\0pinch.session.1.pretended')\ns.listen()\n" \
        "print('ready', flush=True)\nwhile True:\n    c, _ = s.accept()\n    print(len(c.recv(100)), flush=True)\n"
    liar = start(*as_nobody, pretend, stdout=subprocess.PIPE)
    assert read_line(liar) == b"ready\n"
    machine = Machine()
    client = Client(machine, "all.pinch")
    client.has(50000)
    assert read_line(liar) == b"0\n"        # who came has gone again, without a word
    check(ended(client))
    stop(liar)
    assert stop(session, signal.SIGINT) == 0
    wait_until(lambda: not session_names(session.pid), "its socket's end")
    machine.end()


@test("processes of clients have no capabilities and go with the scope; with TLS, a token is asked for")
def secrets():
    certificate("one")
    write_token("right")
    write_token("wrong", "0123456789abcdef0124")
    target = storm()
    session = attach(target)
    machine = Machine("--tls-cert", "one.pem", "--tls-key", "one.key", "--token", "right", listen="0.0.0.0:0")
    address = f"tls:127.0.0.1:{machine.address.rsplit(':', 1)[1]}"

    def ask(token):
        return pinch("record", "-o", "tls.pinch", "--duration", "1500ms", "--token", token, "--tls-ca", "one.pem", address)
    result = ask("right")
    assert result.status == 0, result.text
    check("tls.pinch")
    assert target.pid in pids_of(report_of("tls.pinch", is_lossless=False))
    result = ask("wrong")
    assert result.status == 1 and "wrong token" in result.text, result.text
    silent = machine.connect()
    of_client = wait_until(lambda: [int(pid) for pid in read(f"/proc/{machine.process.pid}/task/{machine.process.pid}/children").split()
                                    if status_of(pid).get("Name") == "pinch"], "its process")
    wait_until(lambda: status_of(of_client[0])["CapPrm"] == "0" * 16, "no capabilities")
    stop(machine.process)
    wait_until(lambda: not is_alive(of_client[0]), "its end")
    silent.close()
    assert stop(session, signal.SIGINT) == 0


if __name__ == "__main__":
    sys.exit(main())
