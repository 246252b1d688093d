# SPDX-License-Identifier: GPL-2.0-or-later
"""
Planted programs of tests/causes/programs, each until its block ends. They print how many units of their work are done
(planted.h); `cured` as the last argument leaves the planted cause out.
"""
import contextlib
import os
import signal
import socket
import subprocess

import lib
import processes
from lib_causes import Target, Truth, case
from lib_loads import Load

# So often has a program said what it did once it is in its steady state; of one that hangs, once.
READY_LINES = 8
TEST_SKIPPED = 77
PROGRESS, ERRORS = "progress", "errors"


def tool(name):
    path = lib.find(name)
    if not path:
        raise lib.Skip(f"{name} is not installed")
    return path


def printed(path=PROGRESS):
    """All complete lines."""
    return lib.read(path).split("\n")[:-1]


def progress():
    """Units of work that are done."""
    numbers = [int(line) for line in printed() if line.isdigit()]
    return numbers[-1] if numbers else 0


@contextlib.contextmanager
def started(*command, fault=True, ready_lines=READY_LINES, output=PROGRESS, env=None):
    """In a session of its own, so that all processes of the program end with it. output: where it prints."""
    with open(output, "wb") as out, open(f"{output}-{ERRORS}", "wb") as errors:
        process = lib.start(*command, *(() if fault else ("cured",)), stdin=subprocess.DEVNULL, stdout=out,
                            stderr=errors, start_new_session=True, env={**os.environ, **(env or {})})
    try:
        wait_running(process, lambda: len(printed(output)) >= ready_lines, f"{output}-{ERRORS}")
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        lib.stop(process)


def wait_running(process, is_ready, errors):
    lib.wait_until(lambda: process.poll() is not None or is_ready(), f"{process.args[0]} to work")
    if process.poll() == TEST_SKIPPED:
        raise lib.Skip(lib.read(errors))
    assert process.poll() is None, lib.read(errors)


@contextlib.contextmanager
def served(*command, port, fault=True, output=PROGRESS, env=None):
    """The same of a program that accepts on that port of loopback, and works for others."""
    with started(*command, fault=fault, ready_lines=0, output=output, env=env) as server:
        wait_running(server, lambda: processes.connects(port), f"{output}-{ERRORS}")
        yield server


def target(process, **more):
    """What a user would give: the id of the process that was started."""
    return Target(pids=[process.pid], progress=progress, **more)


def asked(server, **groups):
    """The target that a server is while groups of clients ask it."""
    with Load(**groups):
        yield target(server)


class Lines:
    """A client that sends a line and waits for one."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), lib.LIMIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def ask(self, request):
        self.socket.sendall(request + b"\n")
        assert self.file.readline(), "the server has hung up"

    def close(self):
        self.file.close()
        self.socket.close()


def plant(name, command, kinds, names, *, misleads, verified, quick=False, ready_lines=READY_LINES, env=None):
    """
    A case that only has to be started. command: a built program's name, or a function that returns a command.
    """
    def function(where, fault=True):
        words = command() if callable(command) else [lib.program(f"causes/{command}")]
        with started(*words, fault=fault, ready_lines=ready_lines, env=env) as process:
            yield target(process)

    case(name, truth=Truth(kinds, names), misleads=misleads, verified=verified, quick=quick)(function)
