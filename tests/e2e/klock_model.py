#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Who waited for which kernel lock, by ftrace's recording of lock:contention_begin and
lock:contention_end, beside pinch and independently of it. Recorder records in a buffer of its own,
Model pairs what was recorded. As a program it runs a command and prints a table:

    python3 tests/e2e/klock_model.py [--all] [--stacks] [--json] [--buffer-kb N] -- COMMAND...

The recording is read as pages of the ring buffer, because its text tells microseconds only, and
most waits for a spinlock are shorter than that.

How kernels report a wait:

  - Each wait begins where the fast path has failed and ends when the lock is got, or with an error,
    when it was interrupted (`ret`).
  - A mutex reports its begin more than once: with MUTEX|SPIN, when it spins for as long as the owner
    runs; with MUTEX, when it goes to sleep; and with each of them again, when it was woken as the
    first in the queue and spins or sleeps again. One end follows. So another begin of the same mutex
    in the same context is a phase of the same wait. No other lock tells twice: there it means that the
    end is missing.
  - Within it the spinlock that guards the list of the waiters can be waited for: waits nest. So a
    wait counts what is nested in it, too, and nested_ns says how much that is.
  - An interrupt can come into a wait, and wait itself: it has a stack of waits of its own, a CPU's.
    Its waits are not those of the thread that it interrupts.
  - A rwsem spins before it reports its begin, and a spinlock reports only those who queue, which
    on a real machine the first waiter does not (a guest with paravirtual spinlocks has all queue).
    What is not reported is not here either.
  - A kernel may hide some threads, so that of a wait in the whole machine only the begin may be reported,
    or only the end. These are counted.
"""
import argparse
import bisect
import collections
import errno
import json
import os
import re
import signal
import struct
import subprocess
import sys

BUFFER_KB = 65536       # a CPU
OFFSET_MAX = 1 << 20    # in a symbol: what is farther away is not in it
DRAINED = (errno.EAGAIN, errno.EINTR)

EVENTS = {"contention_begin": "lock", "contention_end": "lock",
          "sched_process_fork": "sched", "sched_process_exec": "sched"}

# common_flags of an event: in which context it is.
SOFTIRQ, HARDIRQ, NMI = 0x10, 0x08, 0x40
CONTEXTS = ((NMI, "nmi"), (HARDIRQ, "hardirq"), (SOFTIRQ, "softirq"))

# Types of records in a page of the ring buffer. A smaller one is a length in words; 0: it follows.
PADDING, TIME_EXTEND, TIME_STAMP = 29, 30, 31
COMMIT_MASK, MISSED_EVENTS = (1 << 30) - 1, 1 << 31

Event = collections.namedtuple("Event", "time_ns cpu name context tid values stack")


class Unavailable(Exception):
    """Why nothing can be recorded here."""


def read(path, mode="r"):
    with open(path, mode) as file:
        return file.read()


def find_tracefs():
    for root in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
        if os.path.isdir(os.path.join(root, "instances")):
            return root
    subprocess.run(["mount", "-t", "tracefs", "none", "/sys/kernel/tracing"], capture_output=True)
    return "/sys/kernel/tracing"


class Format:
    """Where the fields of an event are, as the kernel says in its format file."""

    def __init__(self, text):
        self.id = int(re.search(r"^ID: (\d+)", text, re.M)[1])
        self.fields = {m[1]: (int(m[2]), int(m[3]), m[4] == "1") for m in re.finditer(
            r"field:[^;]*?(\w+)(?:\[\d*\])?;\s*offset:(\d+);\s*size:(\d+);\s*signed:(\d);", text)}
        self.flag_names = {1 << int(bit): name
                           for bit, name in re.findall(r'\(1U << (\d+)\), "(\w+)"', text)}

    def unpacker(self, *names):
        code, at = "<", 0
        for name in names:
            offset, size, is_signed = self.fields[name]
            letter = {1: "b", 2: "h", 4: "i", 8: "q"}[size]
            code += f"{offset - at}x" + (letter if is_signed else letter.upper())
            at = offset + size
        return struct.Struct(code).unpack_from


class Recorder:
    """Contention on all CPUs, and who forks whom, inside the `with`."""

    def __init__(self, buffer_kb=BUFFER_KB, with_stacks=False):
        self.root = find_tracefs()
        self.path = os.path.join(self.root, "instances", f"klock-model-{os.getpid()}")
        self.buffer_kb, self.with_stacks = buffer_kb, with_stacks
        self.losses = collections.Counter()
        try:
            self.formats = {name: Format(read(f"{self.root}/events/{system}/{name}/format"))
                            for name, system in EVENTS.items()}
            os.mkdir(self.path)
        except OSError as error:
            raise Unavailable(f"ftrace cannot record contention here: {error}") from None

    def __enter__(self):
        try:
            self.write("trace_clock", "mono")
            self.write("buffer_size_kb", str(self.buffer_kb))
            if self.with_stacks:
                self.write("events/lock/contention_begin/trigger", "stacktrace")
            for name, system in EVENTS.items():
                self.write(f"events/{system}/{name}/enable", "1")
        except BaseException:
            os.rmdir(self.path)
            raise
        return self

    def __exit__(self, *error):
        os.rmdir(self.path)     # switches its events off

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w") as file:
            file.write(text)

    def events(self):
        """Ends the recording: its events in the order of time."""
        self.write("tracing_on", "0")
        found = []
        for name in os.listdir(os.path.join(self.path, "per_cpu")):
            cpu = int(name[len("cpu"):])
            for line in read(f"{self.path}/per_cpu/{name}/stats").splitlines():
                key, _, value = line.partition(": ")
                if key in ("overrun", "commit overrun", "dropped events"):
                    self.losses[key] += int(value)
            found += self.events_of(cpu, self.pages(name))
        found.sort(key=lambda e: e.time_ns)
        return found

    def pages(self, name):
        size = int(read(f"{self.path}/buffer_subbuf_size_kb")) * 1024 \
            if os.path.exists(f"{self.path}/buffer_subbuf_size_kb") else os.sysconf("SC_PAGE_SIZE")
        fd = os.open(f"{self.path}/per_cpu/{name}/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
        try:
            while True:
                try:
                    page = os.read(fd, size)
                except OSError as error:
                    if error.errno in DRAINED:
                        return
                    raise
                if not page:
                    return
                yield page
        finally:
            os.close(fd)

    def records(self, pages):
        """(time in ns, offset of the data in the page, page) of each record."""
        for page in pages:
            time_ns, commit = struct.unpack_from("<QQ", page)
            self.losses["pages before which events are missed"] += bool(commit & MISSED_EVENTS)
            at, end = 16, 16 + (commit & COMMIT_MASK)
            while at + 4 <= end:
                word, = struct.unpack_from("<I", page, at)
                kind, delta_ns = word & 31, word >> 5
                if kind in (TIME_EXTEND, TIME_STAMP):
                    long_ns = delta_ns + (struct.unpack_from("<I", page, at + 4)[0] << 27)
                    time_ns = time_ns + long_ns if kind == TIME_EXTEND \
                        else long_ns | time_ns & 0x1f << 59
                    at += 8
                elif kind == PADDING:
                    if not delta_ns:
                        break
                    at += 4 + struct.unpack_from("<I", page, at + 4)[0]
                elif kind:
                    time_ns += delta_ns
                    yield time_ns, at + 4, page
                    at += 4 + 4 * kind
                else:
                    time_ns += delta_ns
                    yield time_ns, at + 8, page
                    at += 4 + struct.unpack_from("<I", page, at + 4)[0]

    def events_of(self, cpu, pages):
        formats = self.formats
        fields = {"contention_begin": ("lock_addr", "flags"), "contention_end": ("lock_addr", "ret"),
                  "sched_process_fork": ("parent_pid", "child_pid"),
                  "sched_process_exec": ("pid", "old_pid")}
        readers = {formats[name].id: (name, formats[name].unpacker(
            "common_type", "common_flags", "common_pid", *fields[name])) for name in EVENTS}
        stack_format = Format(read(f"{self.root}/events/ftrace/kernel_stack/format"))
        depth_of = stack_format.unpacker("common_flags", "size")
        callers_at = stack_format.fields["caller"][0]
        begins = {}             # by context: the last begin's stack, which follows it
        for time_ns, at, page in self.records(pages):
            kind = page[at] | page[at + 1] << 8
            if kind in readers:
                name, unpack = readers[kind]
                _, flags, tid, *values = unpack(page, at)
                context = next((c for bit, c in CONTEXTS if flags & bit), "task")
                stack = []
                if name == "contention_begin":
                    begins[flags & (SOFTIRQ | HARDIRQ | NMI)] = stack
                yield Event(time_ns, cpu, name, context, tid, values, stack)
            elif kind == stack_format.id:
                flags, depth = depth_of(page, at)
                stack = begins.pop(flags & (SOFTIRQ | HARDIRQ | NMI), None)
                if stack is not None:
                    stack += struct.unpack_from(f"<{depth}Q", page, at + callers_at)


class Wait:
    def __init__(self, event, kind):
        self.lock, self.kind = event.values[0], kind
        self.tid, self.cpu, self.context = event.tid, event.cpu, event.context
        self.begin_ns, self.end_ns = event.time_ns, None
        self.nested_ns, self.ret = 0, None
        self.phases = [(event.time_ns, event.values[1])]        # since when, with which flags
        self.stack = event.stack

    @property
    def ns(self):
        return self.end_ns - self.begin_ns

    def spin_ns(self, spin):
        """How much of it was spent spinning, where `spin` is the flag that says so."""
        ends = [since for since, _ in self.phases[1:]] + [self.end_ns]
        return sum(end - since for (since, flags), end in zip(self.phases, ends) if flags & spin)


class Sum:
    """Of the waits for one lock, or of all."""

    def __init__(self):
        self.waits, self.ns, self.max_ns, self.nested_ns, self.spin_ns = 0, 0, 0, 0, 0
        self.ns_by_tid, self.waits_by_tid = collections.Counter(), collections.Counter()
        self.stacks = collections.Counter()     # ns

    def add(self, wait, spin):
        self.waits += 1
        self.ns += wait.ns
        self.max_ns = max(self.max_ns, wait.ns)
        self.nested_ns += wait.nested_ns
        self.spin_ns += wait.spin_ns(spin)
        self.ns_by_tid[wait.tid] += wait.ns
        self.waits_by_tid[wait.tid] += 1
        self.stacks[tuple(wait.stack)] += wait.ns


class Model:
    """
    waits: those that have ended. open: those that had not when the recording ended. endless: those
    whose end is missing. beginless: ends whose begin is missing. losses: what the recorder lost.
    command_pid: whose tree of threads is `tids`, from its exec on; without it there is none.
    """

    def __init__(self, recorder, command_pid=None):
        self.flag_names = recorder.formats["contention_begin"].flag_names
        self.bits = {name: bit for bit, name in self.flag_names.items()}
        self.waits, self.endless, self.beginless, self.tids = [], [], [], set()
        self.begin_ns = None    # of the command
        self.stacks = collections.defaultdict(list)     # by context: open waits, the innermost last
        events = recorder.events()
        self.losses = recorder.losses
        for event in events:
            if event.name == "contention_begin":
                self.on_begin(event)
            elif event.name == "contention_end":
                self.on_end(event)
            elif event.name == "sched_process_exec":
                pid, old_tid = event.values
                if pid == command_pid and self.begin_ns is None:
                    self.begin_ns = event.time_ns
                    self.tids.add(pid)
                elif old_tid in self.tids:
                    self.tids.add(pid)
            elif event.values[0] in self.tids:
                self.tids.add(event.values[1])
        self.open = [wait for stack in self.stacks.values() for wait in stack]

    def stack_of(self, event):
        # The idle task has the same number on each CPU.
        if event.context == "task" and event.tid:
            return self.stacks[event.tid]
        return self.stacks[event.context, event.cpu]

    def on_begin(self, event):
        stack = self.stack_of(event)
        mutex = self.bits.get("MUTEX", 0)
        for depth, wait in enumerate(stack):
            if wait.lock == event.values[0]:
                if event.values[1] & wait.phases[0][1] & mutex:
                    self.forget(stack, depth + 1)
                    wait.phases.append((event.time_ns, event.values[1]))
                    return
                self.forget(stack, depth)
                break
        stack.append(Wait(event, self.kind_of(event.values[1])))

    def on_end(self, event):
        stack = self.stack_of(event)
        for depth in range(len(stack) - 1, -1, -1):
            if stack[depth].lock == event.values[0]:
                break
        else:
            self.beginless.append(event)
            return
        self.forget(stack, depth + 1)
        wait = stack.pop()
        wait.end_ns, wait.ret = event.time_ns, event.values[1]
        self.waits.append(wait)
        if stack:
            stack[-1].nested_ns += wait.ns

    def forget(self, stack, depth):
        """Inner waits do not outlast outer ones: their ends were lost."""
        self.endless += stack[depth:]
        del stack[depth:]

    def kind_of(self, flags):
        """In the words of people: the kind does not change with the phase of a wait."""
        def has(name):
            return flags & self.bits.get(name, 0)
        side = " read" if has("READ") else " write" if has("WRITE") else ""
        for name, kind in (("MUTEX", "mutex"), ("RT", "rwsem" if side else "rtmutex"), ("PERCPU", "percpu-rwsem")):
            if has(name):
                return kind + side
        if has("SPIN"):
            return "rwlock" + side if side else "spinlock"
        return "rwsem" + side if side else "semaphore"

    def of_command(self, waits=None):
        """Those of the command's threads themselves; not those of interrupts that came into them."""
        return [w for w in (self.waits if waits is None else waits)
                if w.context == "task" and w.tid in self.tids and w.begin_ns >= self.begin_ns]

    def sums(self, waits=None):
        """By (address, kind); of the whole machine, if it is not said of which waits."""
        result = collections.defaultdict(Sum)
        for wait in self.waits if waits is None else waits:
            result[wait.lock, wait.kind].add(wait, self.bits["SPIN"])
        return dict(result)


class Symbols:
    """
    What is static in the kernel, by /proc/kallsyms. A kernel without CONFIG_KALLSYMS_ALL lists no data,
    and the next symbol below a lock would be just any.
    """

    def __init__(self):
        rows = sorted((int(address, 16), name) for address, _, name in
                      (line.split()[:3] for line in read("/proc/kallsyms").splitlines()))
        self.addresses = [address for address, _ in rows if address]
        self.names = [name for address, name in rows if address]
        self.has_data = "tasklist_lock" in self.names
        self.data_from = min((a for a, n in rows if a and n in ("_sdata", "__start_rodata")), default=0)

    def find(self, address):
        """NAME or NAME+OFFSET; None for what is in no symbol, such as memory that was allocated."""
        at = bisect.bisect_right(self.addresses, address) - 1
        if at < 0:
            return None
        offset = address - self.addresses[at]
        if offset > OFFSET_MAX or address >= self.data_from and not self.has_data:
            return None
        return self.names[at] + (f"+{offset:#x}" if offset else "")


def record(command, **options):
    """The model of one run of a command, and its exit status."""
    with Recorder(**options) as recorder:
        process = subprocess.Popen(command)
        try:
            status = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        return Model(recorder, process.pid), status


# --- For people -----------------------------------------------------------------------------------

def name_of(symbols, address):
    return symbols.find(address) or f"{address:#x}"


def print_table(model, waits, losses, with_stacks):
    symbols = Symbols()
    sums = sorted(model.sums(waits).items(), key=lambda item: -item[1].ns)
    print(f"{'lock':<28} {'kind':<18} {'waits':>8} {'total ms':>10} {'mean us':>9} {'max us':>9} "
          f"{'spin ms':>9} {'nested ms':>9} {'threads':>7}")
    for (lock, kind), s in sums[:40]:
        print(f"{name_of(symbols, lock):<28} {kind:<18} {s.waits:>8} {s.ns / 1e6:>10.3f} "
              f"{s.ns / s.waits / 1e3:>9.2f} {s.max_ns / 1e3:>9.1f} {s.spin_ns / 1e6:>9.3f} "
              f"{s.nested_ns / 1e6:>9.3f} {len(s.ns_by_tid):>7}")
        if with_stacks:
            for stack, ns in s.stacks.most_common(3):
                print(f"    {ns / 1e6:.3f} ms: "
                      + " < ".join(re.sub(r"\+0x.*", "", name_of(symbols, a)) for a in stack))
    if len(sums) > 40:
        print(f"and {len(sums) - 40} more")
    all_ns = sum(w.ns - w.nested_ns for w in waits)
    print(f"{len(waits)} waits for {len(sums)} locks, {all_ns / 1e6:.3f} ms without what is nested; "
          f"lost: {', '.join(f'{n} {what}' for what, n in losses.items() if n) or 'nothing'}")


def losses_of(model, is_all):
    """What the recorder lost, and what could not be paired."""
    def count(waits):
        return len(waits if is_all else model.of_command(waits))
    return {**model.losses, "waits that had not ended": count(model.open),
            "waits without an end": count(model.endless),
            "ends without a begin": len(model.beginless) if is_all else
                                    sum(e.tid in model.tids and e.context == "task"
                                        and e.time_ns >= model.begin_ns for e in model.beginless)}


def as_json(model, waits, losses):
    symbols = Symbols()
    return {"locks": [{"lock": f"{lock:#x}", "symbol": symbols.find(lock), "kind": kind, "waits": s.waits,
                       "ns": s.ns, "max_ns": s.max_ns, "spin_ns": s.spin_ns, "nested_ns": s.nested_ns,
                       "ns_by_tid": s.ns_by_tid, "waits_by_tid": s.waits_by_tid}
                      for (lock, kind), s in model.sums(waits).items()],
            "losses": {what: n for what, n in losses.items() if n}}


def main():
    parser = argparse.ArgumentParser(description="Waits for kernel locks, by ftrace")
    parser.add_argument("--all", action="store_true", help="of the whole machine, interrupts included")
    parser.add_argument("--stacks", action="store_true", help="where in the kernel")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--buffer-kb", type=int, default=BUFFER_KB, help="a CPU")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    # So that the buffer goes away whoever ends this.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        model, status = record(options.command, buffer_kb=options.buffer_kb,
                               with_stacks=options.stacks)
    except (Unavailable, OSError) as error:
        sys.exit(f"klock_model: {error}")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)       # whoever reads may have seen enough
    waits = model.waits if options.all else model.of_command()
    losses = losses_of(model, options.all)
    if options.json:
        print(json.dumps(as_json(model, waits, losses)))
    else:
        print_table(model, waits, losses, options.stacks)
    return status


if __name__ == "__main__":
    sys.exit(main())
