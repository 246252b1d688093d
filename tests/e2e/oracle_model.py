# SPDX-License-Identifier: GPL-2.0-or-later
"""
CMetric by brute force, from what ftrace recorded. It shares nothing with pinch but the definitions
(doc/design.md, section 3): first the states of each thread as a list of intervals, then every stretch
between two changes of any thread is divided among the threads active in it.
"""
import collections
import re

RUNNING, RUNNABLE, BLOCKED, DEAD = "running", "runnable", "blocked", "dead"
ACTIVE = (RUNNING, RUNNABLE)

LINE = re.compile(rb"^.*-(\d+)\s+\[(\d+)\]\s+(\S+)\s+(\d+)\.(\d{6}):\s+(sched_\w+):\s+(.*)$")
SWITCH = re.compile(rb"prev_pid=(\d+) prev_prio=-?\d+ prev_state=(\S+) ==> .*next_pid=(\d+) ")
PID = re.compile(rb" pid=(\d+)")
CHILD = re.compile(rb" child_pid=(\d+)")
EXEC = re.compile(rb" pid=(\d+) old_pid=(\d+)")


class Damaged(Exception):
    """The recording itself is not complete."""


def parse(lines):
    """
    (time in ns, CPU, event, payload, waker) of each line of tracefs' `trace`. The waker is the thread
    that runs, or None: an interrupt does.
    """
    for line in lines:
        match = LINE.match(line)
        if match:
            time_ns = int(match[4]) * 1_000_000_000 + int(match[5]) * 1000
            waker = int(match[1]) if match[3][2:3] == b"." else None
            yield time_ns, int(match[2]), match[6].decode(), match[7], waker
        elif b"LOST" in line:
            raise Damaged(line.decode("utf-8", "replace").strip())


class Thread:
    def __init__(self, time_ns, state):
        self.changes = [(time_ns, state)]       # when, and what it does from then on
        self.is_wake_early = False              # a wake-up came while it was still running

    @property
    def state(self):
        return self.changes[-1][1]

    def become(self, time_ns, state):
        self.changes.append((time_ns, state))

    def wake(self, time_ns):
        if self.state == BLOCKED:
            self.become(time_ns, RUNNABLE)
        elif self.state == RUNNING:
            self.is_wake_early = True

    def get_cpu(self, time_ns):
        """
        Nobody runs without having been woken. When no wake-up came since it went to sleep, but
        one in the moment before, it was never asleep. False: it is not known when it was woken.
        """
        is_known = self.state != BLOCKED or self.is_wake_early
        if self.state == BLOCKED and self.is_wake_early:
            self.changes[-1] = (self.changes[-1][0], RUNNABLE)
        self.is_wake_early = False
        self.become(time_ns, RUNNING)
        return is_known


class Model:
    def __init__(self, events, command_pid):
        self.threads = []                       # every life of every thread
        self.tids = collections.defaultdict(list)
        self.by_tid = {}                        # those alive
        self.is_begun = False
        self.on_cpu = {}                        # by CPU: (tid, time of the last switch)
        self.holes = 0                          # switches that were not reported
        self.lost_wakes, self.blind_ns, self.hole_ns = 0, 0, 0
        self.blind_cpu_ns = collections.Counter()       # by tid: when it got the CPU is not known
        self.waited_ns = collections.Counter()          # by the waker's tid; None: nobody traced
        for time_ns, cpu, event, payload, waker in events:
            self.add(time_ns, cpu, event, payload, waker, command_pid)

    def begin(self, tid, time_ns, state):
        thread = Thread(time_ns, state)
        self.by_tid[tid] = thread
        self.threads.append(thread)
        self.tids[tid].append(thread)

    def add(self, time_ns, cpu, event, payload, waker, command_pid):
        if event == "sched_process_exec":
            match = EXEC.search(payload)
            self.on_exec(time_ns, int(match[1]), int(match[2]), command_pid)
        elif event == "sched_switch":
            match = SWITCH.search(payload)
            if match:       # else a thread with a line feed in its name: nobody of ours
                self.look_for_hole(time_ns, cpu, int(match[1]), int(match[3]))
                self.on_switch(time_ns, int(match[1]), match[2].decode(), int(match[3]))
        elif event == "sched_waking":
            match = PID.search(payload)
            thread = match and self.by_tid.get(int(match[1]))
            if thread:
                if thread.state == BLOCKED:
                    waker = waker if waker in self.by_tid else None
                    self.waited_ns[waker] += time_ns - thread.changes[-1][0]
                thread.wake(time_ns)
        elif event == "sched_process_fork":
            parent, child = PID.search(payload), CHILD.search(payload)
            if parent and child and int(parent[1]) in self.by_tid:
                self.begin(int(child[1]), time_ns, RUNNABLE)

    def look_for_hole(self, time_ns, cpu, out_tid, in_tid):
        """
        Who leaves a CPU must be who came to it last. If not, the kernel itself reported nothing
        on that CPU for a while, as some do when it leaves the idle task, or a thread that a
        sandbox hides.
        """
        last_tid, last_ns = self.on_cpu.get(cpu, (out_tid, time_ns))
        self.on_cpu[cpu] = (in_tid, time_ns)
        if last_tid == out_tid:
            return
        self.hole_ns = last_ns
        self.blind_cpu_ns[last_tid] += time_ns - last_ns
        self.blind_cpu_ns[out_tid] += time_ns - last_ns
        self.holes += last_tid in self.by_tid or out_tid in self.by_tid

    def on_exec(self, time_ns, tid, old_tid, command_pid):
        if tid == command_pid and not self.is_begun:
            self.is_begun = True
            self.begin(tid, time_ns, RUNNING)
        elif tid != old_tid and old_tid in self.by_tid:
            self.by_tid[tid] = self.by_tid.pop(old_tid)

    def on_switch(self, time_ns, out_tid, state, in_tid):
        thread = self.by_tid.get(out_tid)
        if thread:
            if thread.state == BLOCKED:
                self.note_lost_wake(time_ns, thread.changes[-1][0])
            if state[0] == "R":
                thread.become(time_ns, RUNNABLE)
            elif state[0] in "ZX":
                thread.become(time_ns, DEAD)
                del self.by_tid[out_tid]
            else:
                thread.become(time_ns, BLOCKED)
        thread = self.by_tid.get(in_tid)
        if thread:
            blocked_ns = thread.changes[-1][0]
            if not thread.get_cpu(time_ns):
                self.note_lost_wake(time_ns, blocked_ns)

    def note_lost_wake(self, time_ns, blocked_ns):
        """When the thread became active is unknown: since the last hole, or since it blocked."""
        self.lost_wakes += 1
        self.blind_ns += time_ns - max(self.hole_ns, blocked_ns)

    def solve(self):
        """Times and CMetrics by tid, and by number of active threads."""
        changes = sorted((time_ns, i, number, state)
                         for number, thread in enumerate(self.threads)
                         for i, (time_ns, state) in enumerate(thread.changes))
        if not changes:
            raise Damaged("the command's exec is not in the recording")
        states = {}
        figures = [collections.Counter() for _ in self.threads]
        levels = collections.Counter()
        before_ns = changes[0][0]
        for time_ns, _, number, state in changes:
            length_ns = time_ns - before_ns
            if length_ns and states:
                active = [t for t, s in states.items() if s in ACTIVE]
                levels[len(active)] += length_ns
                for other in states:
                    figures[other][states[other]] += length_ns
                for other in active:
                    share = length_ns / len(active)
                    figures[other]["cmetric"] += share
                    if states[other] == RUNNING:
                        figures[other]["oncpu"] += share
            before_ns = time_ns
            if state == RUNNING:
                figures[number]["slices"] += 1
            if state == DEAD:
                states.pop(number, None)
            else:
                states[number] = state
        numbers = {id(thread): number for number, thread in enumerate(self.threads)}
        by_tid = {tid: sum((figures[numbers[id(t)]] for t in lives), collections.Counter())
                  for tid, lives in self.tids.items()}
        return by_tid, levels, (changes[0][0], changes[-1][0])
