# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts processes, times them from outside, and ends all that it started."""

import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import contextmanager

RUN_LIMIT_S = 900       # of one run; longer means that something hangs
STOP_LIMIT_S = 30       # to end by itself when asked to
READY_LIMIT_S = 60

running = []


class Failure(Exception):
    """Something could not be measured; the text says what and why."""


def find(name):
    """The path of a program, also of those that are for root."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Failure(f"{name} is not installed")
    return path


def start(argv, **options):
    """In a session of its own: a Ctrl-C on the terminal reaches the bench alone."""
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.DEVNULL)
    process = subprocess.Popen(argv, start_new_session=True, **options)
    running.append(process)
    return process


def wait(process, limit_s):
    """The exit status of a process that is expected to end by itself."""
    try:
        status = process.wait(limit_s)
    except subprocess.TimeoutExpired:
        stop(process)
        raise Failure(f"{process.args[0]} did not end within {limit_s} s") from None
    running.remove(process)
    return status


def run(argv):
    """Waits for its end. A Failure with all that it printed when it fails."""
    process = start(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output, _ = process.communicate(timeout=RUN_LIMIT_S)
    if wait(process, STOP_LIMIT_S):
        raise Failure(f"{' '.join(argv)}:\n{output.decode(errors='replace')}")


def stop(process, number=signal.SIGTERM):
    """Asks the process to end, by its id; makes it, and what it started, if it does not."""
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the session that start() made
            process.wait()
    if process in running:
        running.remove(process)


def stop_all():
    for process in reversed(running[:]):
        stop(process)


def until(condition, process, what):
    """Waits for a condition that a running process is to bring about."""
    end_s = time.monotonic() + READY_LIMIT_S
    while not condition():
        if process.poll() is not None:
            raise Failure(f"{what}: the process ended with status {process.returncode}")
        if time.monotonic() > end_s:
            raise Failure(f"{what}: not within {READY_LIMIT_S} s")
        time.sleep(0.01)


def tail(path, lines=15):
    with open(path, errors="replace") as file:
        return "".join(file.readlines()[-lines:])


class Stamp:
    """The FIFO through which bench/stamp says which process is the command and when it began."""

    def __init__(self, program, directory):
        self.path = os.path.join(directory, "stamp")
        if not os.path.exists(self.path):
            os.mkfifo(self.path)
        self.prefix = [program, self.path]
        self.fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def read(self, process):
        """Process id and begin_s, or None when the process ended without a stamp."""
        process_fd = os.pidfd_open(process.pid)
        try:
            ready, _, _ = select.select([self.fd, process_fd], [], [], READY_LIMIT_S)
        finally:
            os.close(process_fd)
        if self.fd not in ready:
            return None
        pid, begin_ns = os.read(self.fd, 64).split()
        return int(pid), int(begin_ns) / 1e9


def wait_for_end(pid, meanwhile=None):
    """
    Returns when a process that need not be our child has ended, with the time of that. Calls
    meanwhile() ten times a second: only for runs whose wall time does not count.
    """
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return time.monotonic()
    limit_s = time.monotonic() + RUN_LIMIT_S
    try:
        while not select.select([fd], [], [], 0.1 if meanwhile else RUN_LIMIT_S)[0]:
            if time.monotonic() > limit_s:
                raise Failure(f"the command did not end within {RUN_LIMIT_S} s")
            if meanwhile:
                meanwhile()
        return time.monotonic()
    finally:
        os.close(fd)


@contextmanager
def on_time():
    """The bench sleeps nearly always; when what it waits for happens, it must see it at once."""
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, nice)    # what is started next must not inherit -20


def timed(stamp_program, directory, prefix, command, meanwhile=None, at_end=None, **options):
    """
    Runs a command behind a tracer's prefix. The command's own time, from its first instruction to
    its end, is wall_s; what the tracer needs before and after that are ready_s and after_s.
    meanwhile(process) is called now and then while the command runs, at_end(process) when it has
    ended, with the tracer still there.
    """
    log_path = os.path.join(directory, "stderr")
    with open(log_path, "wb") as log, Stamp(stamp_program, directory) as stamp:
        start_s = time.monotonic()
        process = start(prefix + stamp.prefix + command, stderr=log, **options)
        with on_time():
            found = stamp.read(process)
            if found:
                pid, begin_s = found
                end_s = wait_for_end(pid, meanwhile and (lambda: meanwhile(process)))
                if at_end:
                    at_end(process)
            status = wait(process, RUN_LIMIT_S)
            exit_s = time.monotonic()
    if status or not found:
        raise Failure(f"{' '.join(prefix + command)}: status {status}\n{tail(log_path)}")
    return {"wall_s": end_s - begin_s, "ready_s": begin_s - start_s, "after_s": exit_s - end_s}


class Terminal:
    """A terminal for a process's standard error, so that it shows its progress; always drained."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.output = bytearray()

    def attach(self):
        """After the process has started: it alone keeps the terminal open, its end ends this."""
        os.close(self.slave)
        self.slave = None
        self.thread = threading.Thread(target=self._drain, daemon=True)
        self.thread.start()

    def _drain(self):
        try:
            while chunk := os.read(self.master, 4096):
                self.output += chunk
        except OSError:         # EIO: nobody holds the other side any more
            pass
        os.close(self.master)

    def shows(self, pattern):
        return re.search(pattern, bytes(self.output)) is not None

    def text(self):
        self.thread.join(READY_LIMIT_S)
        return self.output.decode(errors="replace")


def answers(socket_path):
    """Whether a server behind a Unix socket sends its greeting."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        try:
            client.connect(socket_path)
            return bool(client.recv(1))
        except OSError:
            return False


def connects(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return file.read().split()
