# SPDX-License-Identifier: GPL-2.0-or-later
"""
What the attacks share, besides all that tests/e2e/lib.py has. An attack is a test whose sentence says what the
attacker does not get. FULL: at length, as `make attacks` runs them; else the quick form of `make check-all`.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))

from lib import BUILD, PINCH, finish, is_alive, read, read_line, start, status_of, stop, wait_attached    # noqa: E402

FULL = bool(os.environ.get("FULL"))
NOBODY = 65534
ENGINE, OPENER, SPAWNER, WORKER = "pinch", "pinch-opener", "pinch-spawner", "pinch-symbols"
SERVERS = "pinch-servers"       # only with DEBUGINFOD_URLS
ATTACHER = "pinch-attacher"     # only with --java-map
CLOCK = "pinch-clock"           # only of a scope

# What the program that is no attacker calls its functions.
SOUND = {"bystander_work", "bystander_sleep"}


def attacker(name):
    """A program of this folder, built."""
    return os.path.join(BUILD, "attacks", name)


def as_nobody():
    """For subprocess's preexec_fn: the attacker has no privileges."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


class Tracing:
    """pinch, attached to a program, and its processes by name."""

    def __init__(self, *options, prefix=(), env=None):
        self.target = start(attacker("bystander"), stdout=subprocess.PIPE)
        assert read_line(self.target) == b"ready\n"
        self.process = start(*prefix, PINCH, *(options or ("attach", "-v", "-o", "report.txt")), "-p", self.target.pid,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        wait_attached(self.process)
        assert self.process.poll() is None, finish(self.process).text

    def family(self):
        found, todo = [], [self.process.pid]
        while todo:
            pid = todo.pop()
            found.append(pid)
            for task in os.listdir(f"/proc/{pid}/task"):
                todo += map(int, read(f"/proc/{pid}/task/{task}/children").split())
        return [pid for pid in found if is_alive(pid)]

    def find(self, role):
        """The process of that name; None when there is none."""
        pids = [pid for pid in self.family() if status_of(pid).get("Name") == role]
        return pids[0] if pids else None

    def end(self):
        self.process.send_signal(2)
        result = finish(self.process)
        stop(self.target)
        return result
