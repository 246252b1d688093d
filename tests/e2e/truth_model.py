# SPDX-License-Identifier: GPL-2.0-or-later
"""
How long each function of a program ran, and what its CMetric is, from the program's own log of when it was
where (tests/programs/code/code_log.h) and a trace of the same run. It shares nothing with pinch but the
definitions (doc/metrics.md) and the trace's events: n(t) comes from these, so the truth is exact whatever
else the machine did meanwhile.
"""
import collections
import json
import re
import struct
import subprocess

from lib import PINCH, read

SAMPLE_REGULAR = 0      # not by a timer beside the tick, or instead of it
BLOCKED, RUNNABLE, RUNNING, DEAD = "blocked", "runnable", "running", "dead"
PHASES = {1: BLOCKED, 2: RUNNABLE, 3: RUNNING}
SWITCH_RUNNABLE, SWITCH_DEAD = 0, 4
# A wake-up that comes so shortly before the switch of its thread is the end of the wait that begins there.
WAKE_TIE_NS = 10000

# What is read of each kind of event; and how a line begins.
KINDS = {
    b"sched.SWITCH": ("state", "next"), b"sched.WAKE": (), b"sched.SAMPLE": ("role",), b"collect.END": (),
    b"thread.BORN": ("ns_tid", "is_outside"), b"thread.FOUND": ("ns_tid", "is_outside", "phase"),
}
BEGINNING = re.compile(rb'{"time_ns": (\d+), "thread": (\d+), "event": "([^"]+)"')

HEADER, ENTRY = struct.Struct("Q4088s"), struct.Struct("QQII")
LEAVE = 0xffffffff
OTHER = "(other)"       # no function of the log


class Sum:
    """Of running time: how long, with 1/n of each moment, and this of critical time alone; in ns."""
    __slots__ = ("cpu_ns", "cmetric_ns", "critical_ns")

    def __init__(self, cpu_ns=0, cmetric_ns=0.0, critical_ns=0.0):
        self.cpu_ns, self.cmetric_ns, self.critical_ns = cpu_ns, cmetric_ns, critical_ns

    def add(self, cpu_ns, cmetric_ns, critical_ns):
        self.cpu_ns += cpu_ns
        self.cmetric_ns += cmetric_ns
        self.critical_ns += critical_ns


def read_log(path):
    """The names, and (time in ns, tid, function or LEAVE, CPU time in ns or 0) by time."""
    data = read(path, "rb")
    used, names = HEADER.unpack_from(data)
    names = names.rstrip(b"\0").decode().split("\n")[:-1]
    entries = [(time_ns, tid, function, cpu_ns) for time_ns, cpu_ns, tid, function
               in ENTRY.iter_unpack(data[HEADER.size:HEADER.size + used * ENTRY.size]) if time_ns]
    entries.sort(key=lambda entry: entry[0])
    return names, entries


def read_events(trace):
    """(time in ns, event, thread, fields) of a trace's events that change what threads do, in order of time."""
    events = []
    with subprocess.Popen([PINCH, "dump", "--json", trace], stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            time_ns, thread, kind = BEGINNING.match(line).groups()
            if kind in KINDS:
                fields = json.loads(line)["fields"]
                events.append((int(time_ns), kind, int(thread), {f: fields[f] for f in KINDS[kind]}))
    assert process.returncode == 0, f"pinch dump ended with {process.returncode}"
    events.sort(key=lambda event: event[0])
    return events


class Thread:
    def __init__(self, tid):
        self.tid = tid
        self.phase = DEAD
        self.wake_ns = None             # of a wake-up that came while it was running
        self.begin = None               # since when its running time is not added up yet
        self.stack = []                 # names of the functions that it is in
        self.all = Sum()
        self.active_cmetric_ns = 0.0    # waiting for a CPU included
        self.active_begin = None
        self.slices = 0
        self.cpu_stamps = []            # (what its own clock said, what the trace says, slices so far)


def function_of(thread):
    return thread.stack[-1] if thread.stack else OTHER


class Truth:
    """own: by the innermost function of the log; whole: by each one that is on the stack."""

    def __init__(self, trace, log, nmin=None):
        self.nmin = nmin
        self.names, entries = read_log(log)
        self.threads = {}               # by number
        self.by_tid = {}                # those alive
        self.own = collections.defaultdict(Sum)
        self.whole = collections.defaultdict(Sum)
        self.of_path = collections.defaultdict(Sum)     # by the functions on the stack, outermost first
        # What a sample at each tick can know: (samples, 1/n of each, of those in critical time), by function.
        self.samples = collections.defaultdict(lambda: (0, 0.0, 0.0))
        # By each function on the stack; by None: all. Of samples at ticks, and of those by timers beside and after these.
        self.regular_within, self.timers_within = collections.Counter(), collections.Counter()
        self.steps = []                         # (time in ns, n from then on)
        self.levels = collections.Counter()
        self.active = self.alive = 0
        self.share = self.critical = 0.0        # the integrals of dt/n, and of it over critical time
        self.now_ns = None
        at = 0
        for time_ns, kind, number, fields in read_events(trace):
            while at < len(entries) and entries[at][0] < time_ns:
                self.on_entry(*entries[at])
                at += 1
            self.advance(time_ns)
            self.on_event(kind, number, fields)
        for thread in self.threads.values():
            self.become(thread, DEAD)
        self.unread = len(entries) - at

    def advance(self, time_ns):
        if self.now_ns is not None and self.alive:
            length_ns = time_ns - self.now_ns
            self.levels[self.active] += length_ns
            if self.active:
                self.share += length_ns / self.active
                if self.is_critical():
                    self.critical += length_ns / self.active
        self.now_ns = time_ns

    def is_critical(self):
        return 1 <= self.active <= (self.nmin or max(1, self.alive / 2))

    # --- Events ---------------------------------------------------------------------------------

    def on_event(self, kind, number, fields):
        if kind in (b"thread.BORN", b"thread.FOUND"):
            if number not in self.threads and not fields["is_outside"]:
                thread = self.threads[number] = self.by_tid[fields["ns_tid"]] = Thread(fields["ns_tid"])
                self.become(thread, RUNNABLE if kind == b"thread.BORN" else PHASES[fields["phase"]])
        elif kind == b"sched.SAMPLE":
            if number in self.threads:      # a record of another ring may come before its birth
                self.on_sample(self.threads[number], fields["role"])
        elif kind == b"sched.WAKE":
            self.on_wake(self.threads.get(number))
        elif kind == b"sched.SWITCH":
            self.on_switch_out(self.threads.get(number), fields["state"])
            if fields["next"] in self.threads:
                thread = self.threads[fields["next"]]
                thread.wake_ns = None
                self.become(thread, RUNNING)

    def on_sample(self, thread, role):
        if thread.phase != RUNNING:     # it came back from a thread that is hidden from tracers
            return
        within = self.regular_within if role == SAMPLE_REGULAR else self.timers_within
        within.update({None, *thread.stack})
        if role != SAMPLE_REGULAR:
            return
        weight = 1 / max(self.active, 1)
        count, sum_1, sum_critical = self.samples[function_of(thread)]
        self.samples[function_of(thread)] = count + 1, sum_1 + weight, sum_critical + weight * self.is_critical()

    def on_wake(self, thread):
        if thread and thread.phase == BLOCKED:
            self.become(thread, RUNNABLE)
        elif thread and thread.phase == RUNNING:
            thread.wake_ns = self.now_ns

    def on_switch_out(self, thread, state):
        if not thread:
            return
        is_woken = thread.wake_ns is not None and self.now_ns <= thread.wake_ns + WAKE_TIE_NS
        thread.wake_ns = None
        if state == SWITCH_DEAD:
            self.become(thread, DEAD)
            if self.by_tid.get(thread.tid) is thread:
                del self.by_tid[thread.tid]
        else:
            self.become(thread, RUNNABLE if state == SWITCH_RUNNABLE or is_woken else BLOCKED)

    def on_entry(self, time_ns, tid, function, cpu_ns):
        self.advance(time_ns)
        thread = self.by_tid.get(tid)
        assert thread, f"the log has a thread {tid} that the trace has not"
        self.settle(thread)
        if cpu_ns:
            thread.cpu_stamps.append((cpu_ns, thread.all.cpu_ns, thread.slices))
        if function == LEAVE:
            thread.stack.pop()
        else:
            thread.stack.append(self.names[function])

    # --- Sums -----------------------------------------------------------------------------------

    def become(self, thread, phase):
        before = thread.phase
        if phase == before:
            return
        self.settle(thread)
        was_active, is_active = before in (RUNNABLE, RUNNING), phase in (RUNNABLE, RUNNING)
        if is_active and not was_active:
            thread.active_begin = self.share
        elif was_active and not is_active:
            thread.active_cmetric_ns += self.share - thread.active_begin
        self.active += is_active - was_active
        if is_active != was_active:
            self.steps.append((self.now_ns, self.active))
        self.alive += (phase != DEAD) - (before != DEAD)
        thread.phase = phase
        thread.slices += phase == RUNNING
        thread.begin = (self.now_ns, self.share, self.critical) if phase == RUNNING else None

    def settle(self, thread):
        """What it has run until now goes to the functions that it is in."""
        if not thread.begin:
            return
        now = (self.now_ns, self.share, self.critical)
        run = [end - begin for begin, end in zip(thread.begin, now)]
        thread.begin = now
        thread.all.add(*run)
        self.own[function_of(thread)].add(*run)
        self.of_path[tuple(thread.stack)].add(*run)
        for function in set(thread.stack):
            self.whole[function].add(*run)

    def samples_within(self, count):
        """Those of the report, which has so many in all."""
        return min(self.regular_within, self.timers_within, key=lambda within: abs(within[None] - count))

    def all_ns(self, figure):
        return sum(getattr(thread.all, figure) for thread in self.threads.values())

    def shares(self, sums, figure):
        """By function, of all that the program ran."""
        all_ns = self.all_ns(figure)
        return {name: getattr(value, figure) / all_ns for name, value in sums.items()}
