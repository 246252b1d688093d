#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Kernel locks, of programs that make their threads wait for them (tests/programs/klock_*.c): what
pinch klock says of each, beside what ftrace recorded of the same run (klock_model.py). How much threads
wait goes by the machine, and by what else it does; that both saw the same waits does not.
"""
import collections
import os
import re
import shutil
import signal
import subprocess
import sys

import graph_model
from klock_model import Model, Recorder, Unavailable
from lib import LIMIT_S, PINCH, Skip, check_laws, functions_of, main, near, parse_report, pinch, \
    program, read, read_line, start, stop, test, wait_attached, \
    wait_until

THREADS, LENGTH_MS = 8, 1000
# A busy machine may have a crew take turns for once, and then nobody waits.
TRIES = 10
# Two observers disturb each other: what the one does within a wait, the other counts as waiting. That takes
# longer where it happens seldom, and the code of both is in no cache.
APART_NS, SELDOM_APART_NS, SELDOM_WAITS = 300, 5000, 1000

# Some programs wait 200000 times a second, and on a busy machine pinch may not run for half of one.
LARGE_RINGS = ("--ring-kb", 65536)

# What drives a terminal, and marks that turn the rest around.
HARMFUL = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


# --- What holds of every report -------------------------------------------------------------------

def check_sums(lock):
    """Of one lock: who waited, how long each time, and who had it."""
    name = f"{lock['name'] or lock['address']} ({lock['kind']})"
    threads, owners = lock["waiters"], lock["owners"]
    assert lock["waits"] == sum(t["waits"] for t in threads), f"{name}: waits of the threads"
    assert lock["wait_ns"] == sum(t["wait_ns"] for t in threads), f"{name}: time of the threads"
    assert lock["max_ns"] == max(t["max_ns"] for t in threads), f"{name}: the longest wait"
    assert lock["waits"] == sum(count for _, count in lock["histogram"]), f"{name}: histogram"
    assert lock["p50_ns"] <= lock["p90_ns"] <= lock["p99_ns"] <= lock["max_ns"], f"{name}: {lock}"
    assert lock["mean_ns"] == lock["wait_ns"] // lock["waits"], f"{name}: the mean"
    assert sum(o["waits"] for o in owners) <= lock["waits"], f"{name}: waits by owner"
    assert sum(o["wait_ns"] for o in owners) <= lock["wait_ns"], f"{name}: time by owner"
    assert lock["unfinished"] + lock["given_up"] <= lock["waits"], f"{name}: ends"
    for rows, key in ((threads, "wait_ns"), (owners, "wait_ns"), (lock["paths"], "wait_ns")):
        assert all(a[key] >= b[key] for a, b in zip(rows, rows[1:])), f"{name}: order by {key}"


def check_klocks(report):
    klocks = report["kernel_locks"]
    locks, kinds = klocks["locks"], klocks["kinds"]
    for lock in locks:
        check_sums(lock)
        for row in lock["waiters"] + lock["owners"] + lock["paths"]:
            assert row["stack"] is None or klocks["stacks"][row["stack"]], row
    assert all(a["wait_ns"] >= b["wait_ns"] for a, b in zip(locks, locks[1:])), "order"
    for rows in (locks, kinds):
        assert sum(row["waits"] for row in rows) == klocks["waits"]
        assert sum(row["wait_ns"] for row in rows) == klocks["wait_ns"]
    for kind in kinds:
        of_kind = [lock for lock in locks if lock["kind"] == kind["kind"]]
        steps = collections.Counter()
        for lock in of_kind:
            steps.update(dict(lock["histogram"]))
        assert +steps == +collections.Counter(dict(kind["histogram"])), f"{kind['kind']}: histogram"
        assert kind["waits"] == sum(lock["waits"] for lock in of_kind), kind["kind"]
        assert kind["max_ns"] == max(lock["max_ns"] for lock in of_kind), kind["kind"]


def checked(path="report.json"):
    report = parse_report(read(path, "rb"))
    check_laws(report)
    check_klocks(report)
    return report


def describe(report):
    return "\n".join(f"{lock['wait_ns'] / 1e6:.3f} ms, {lock['waits']} waits: {lock['kind']} {lock['name']!r} "
                     f"({lock['address']}), wanted by {lock['where']}"
                     for lock in report["kernel_locks"]["locks"][:8]) or "no locks"


# --- The same run, twice observed -----------------------------------------------------------------

def sums_of(report):
    """(address, kind): [waits, ns] of the threads themselves, not of what interrupted them."""
    sums = collections.defaultdict(lambda: [0, 0])
    for lock in report["kernel_locks"]["locks"]:
        assert lock["address"] != "others", "a lock found no room"
        for thread in lock["waiters"]:
            if thread["context"] is None:
                one = sums[int(lock["address"], 16), lock["kind"]]
                one[0] += thread["waits"]
                one[1] += thread["wait_ns"]
    return sums


def assert_agree(report, model):
    """Each wait of the program's threads was seen by both, and for as long, as far as that can be."""
    assert not any(model.losses.values()), f"the recorder lost: {model.losses}"
    ours, theirs = sums_of(report), model.sums(model.of_command())
    # Ends that the kernel did not report, and threads that it kills while they wait.
    odd = len(model.of_command(model.open)) + len(model.of_command(model.endless)) + \
        sum(e.tid in model.tids and e.context == "task" for e in model.beginless)
    apart = {key: (ours[key][0], theirs[key].waits if key in theirs else 0) for key in {*ours, *theirs}
             if ours[key][0] != (theirs[key].waits if key in theirs else 0)}
    assert sum(abs(a - b) for a, b in apart.values()) <= odd, \
        f"waits, of pinch and of the recorder, {odd} of them odd: " \
        f"{ {f'{address:#x} {kind}': waits for (address, kind), waits in apart.items()} }\n{describe(report)}"
    if os.environ.get("V"):
        tell_agreement(report, ours, theirs, odd)
    tracing_ns = report["kernel_locks"].get("tracing_ns", 0)
    for key, (waits, ns) in ours.items():
        if key not in theirs or waits < 20:     # a single one may be interrupted between the two
            continue
        seen_ns, slack_ns = theirs[key].ns, waits * (APART_NS if waits >= SELDOM_WAITS else SELDOM_APART_NS)
        assert 0.9 * ns - slack_ns <= seen_ns <= 1.1 * (ns + tracing_ns) + slack_ns, \
            f"{key[0]:#x} {key[1]}: {waits} waits of {ns} ns, recorded were {seen_ns}, tracing took {tracing_ns}"


def tell_agreement(report, ours, theirs, odd):
    for lock in report["kernel_locks"]["locks"][:3]:
        key = int(lock["address"], 16), lock["kind"]
        if key in theirs:
            print(f"# {lock['name']} {lock['kind']}: {ours[key][0]} of {theirs[key].waits} waits, {odd} odd, "
                  f"{ours[key][1] / 1e6:.3f} ms, {ours[key][1] / theirs[key].ns - 1:+.2%}, "
                  f"{(ours[key][1] - theirs[key].ns) / theirs[key].waits:+.0f} ns a wait")


def observed(name, *arguments):
    """The report of a run that ftrace recorded, too, after both were compared."""
    try:
        recorder = Recorder()
    except Unavailable as reason:
        raise Skip(str(reason)) from None
    with recorder:
        result = pinch("klock", "-q", *LARGE_RINGS, "--json", "report.json", "--", program(name), *arguments)
        assert result.status == 0, result.text
        report = checked()
        model = Model(recorder, report["target"]["pids"][0])
    assert_agree(report, model)
    return report


def is_kind(lock, kind):
    """Kernels of which all can be preempted (PREEMPT_RT) have an rtmutex in each mutex."""
    return lock["kind"] == kind or (kind, lock["kind"]) == ("mutex", "rtmutex")


def find_lock(report, kind, name):
    """The first one whose name matches, in that way; None: nobody waited for it."""
    return next((lock for lock in report["kernel_locks"]["locks"]
                 if is_kind(lock, kind) and re.search(name, lock["name"] or "")), None)


def contended(planted, *wanted):
    """
    Runs the program until all wanted (kind, name) were waited for; returns the report and these locks.
    planted: its name and its arguments.
    """
    for _ in range(TRIES):
        report = observed(*planted)
        found = [find_lock(report, kind, name) for kind, name in wanted]
        if all(found):
            return report, *found
    raise AssertionError(f"nobody waited for one of {wanted}\n{describe(report)}")


def assert_path(report, lock, kernel, function):
    """It is wanted by a function of the kernel, called by one of the program."""
    stacks = [report["kernel_locks"]["stacks"][path["stack"]] for path in lock["paths"]]
    assert any(re.search(kernel, " ".join(s[:s.index(function)])) for s in stacks if function in s), \
        f"no path from {function} through {kernel}: {[s[:12] for s in stacks[:4]]}"
    assert re.search(kernel, lock["where"]), (lock["where"], kernel)


def assert_most(report, lock):
    """Of all time that the threads waited themselves, most went here."""
    key = int(lock["address"], 16), lock["kind"]
    sums = sums_of(report)
    assert sums[key][1] > 0.5 * sum(ns for _, ns in sums.values()), describe(report)


def assert_waiters(lock, name):
    """Another thread may have come to it once."""
    others_ns = sum(t["wait_ns"] for t in lock["waiters"] if not re.fullmatch(name, t["name"]))
    assert others_ns <= 0.02 * lock["wait_ns"], lock["waiters"]


def crew(name, *first):
    return [name, *first, THREADS, LENGTH_MS]


def of_file(member, name):
    return f"^{re.escape(member)} of {re.escape(os.path.realpath(name))}$"


# --- Files and directories ------------------------------------------------------------------------

WRITES = r"_write_iter|vfs_write"


@test("klock_append: writers wait for i_rwsem of the file, in its file system's write")
def append():
    report, lock = contended(crew("klock_append", "."), ("rwsem write", of_file("i_rwsem", "journal")))
    assert_most(report, lock)
    assert_path(report, lock, WRITES, "append_record")
    assert_waiters(lock, r"append-\d")
    # The program calls each function at one place: paths that differ in addresses only are one.
    paths = [tuple(report["kernel_locks"]["stacks"][path["stack"]]) for path in lock["paths"]]
    assert len(set(paths)) == len(paths), paths


@test("klock_overwrite: who writes other blocks of one file waits for its i_rwsem")
def overwrite():
    report, lock = contended(crew("klock_overwrite", "."), ("rwsem write", of_file("i_rwsem", "shared.data")))
    assert_most(report, lock)
    assert_path(report, lock, WRITES, "overwrite_block")
    assert_waiters(lock, r"writer-\d")


@test("klock_create: who makes and removes files waits for i_rwsem of the directory")
def create():
    report, lock = contended(crew("klock_create", "."), ("rwsem write", of_file("i_rwsem", "spool")))
    assert_most(report, lock)
    assert_path(report, lock, "open|unlink|dirop|creat|remov", "create_file")
    assert_path(report, lock, "open|unlink|dirop|creat|remov", "remove_file")


@test("klock_read_block: who only reads a block shares no lock of it, on a file system that reads without one")
def read_block():
    report = observed(*crew("klock_read_block", "."))
    of_block = [lock for lock in report["kernel_locks"]["locks"] if "shared.data" in (lock["name"] or "")]
    waits = sum(lock["waits"] for lock in of_block)
    ours_ns = sum(lock["wait_ns"] for lock in of_block)
    # Making, growing and removing the file are no reads.
    assert waits < 100 and ours_ns < 0.01 * report["target"]["wall_ns"], describe(report)


@test("klock_read_block with writers: these wait for i_rwsem of the file")
def write_block():
    report, lock = contended([*crew("klock_read_block", "."), 3],
                             ("rwsem write", of_file("i_rwsem", "shared.data")))
    assert_path(report, lock, WRITES, "write_block")
    assert_waiters(lock, r"reader-[012]")


@test("klock_read_block from one position: readers of one block wait for f_pos_lock of the file")
def read_position():
    report, lock = contended([*crew("klock_read_block", "."), "position"],
                             ("mutex", of_file("f_pos_lock", "shared.data")))
    assert_most(report, lock)
    assert_path(report, lock, "fdget_pos|read|lseek", "read_here")
    assert_waiters(lock, r"reader-\d")


# --- Memory, pipes, sockets, descriptors and processes --------------------------------------------

@test("klock_mmap: writers and readers wait for mmap_lock of the process, in munmap, mmap and page faults")
def mmap():
    report, writers, readers = contended(crew("klock_mmap"), ("rwsem write", "^mmap_lock of klock_mmap$"),
                                         ("rwsem read", "^mmap_lock of klock_mmap$"))
    assert writers["address"] == readers["address"], (writers["address"], readers["address"])
    assert_path(report, writers, "mmap|munmap", "unmap_pages")
    assert_path(report, readers, "fault", "touch_pages")
    locks = report["kernel_locks"]["locks"]
    assert {locks[0]["address"], locks[1]["address"]} == {writers["address"]}, describe(report)


@test("klock_pipe: readers and writers wait for the mutex of the pipe")
def pipe():
    report, lock = contended(crew("klock_pipe"), ("mutex", r"^mutex of pipe:\[\d+\]$"))
    assert_most(report, lock)
    assert_path(report, lock, "pipe_(read|write)", "put_bytes")
    assert_path(report, lock, "pipe_(read|write)", "take_bytes")
    assert_waiters(lock, r"piper-\d")


@test("klock_socket unix: who looks at messages waits for iolock of the socket")
def unix_socket():
    report, lock = contended(crew("klock_socket", "unix"), ("mutex", "^iolock of a unix socket$"))
    assert_most(report, lock)
    assert_path(report, lock, "unix_.*recvmsg", "peek_message")
    assert_waiters(lock, r"talker-\d")


@test("klock_socket udp: the spinlock of the socket's queue has a name")
def udp_socket():
    report, lock = contended(crew("klock_socket", "udp"), ("spinlock", "queue of a socket|of a socket$"))
    assert_path(report, lock, "udp|skb|sock", "peek_message")


@test("klock_fd_table: dup and close wait for file_lock of the process's descriptors, spinning")
def fd_table():
    report, lock = contended(crew("klock_fd_table"),
                             ("spinlock", "^file_lock of the descriptors of klock_fd_table$"))
    assert_most(report, lock)
    assert_path(report, lock, "fd|close", "open_copy")
    assert_path(report, lock, "fd|close", "close_copy")
    assert_waiters(lock, r"duper-\d")


@test("klock_forks: forks write to mmap_lock of the process, and wait for it")
def forks():
    report, lock = contended(crew("klock_forks"), ("rwsem write", "^mmap_lock of klock_forks$"))
    assert_path(report, lock, "mmap|fork|clone|copy", "make_child")
    assert_waiters(lock, r"forker-\d")


# --- Spinlocks ------------------------------------------------------------------------------------

@test("klock_spin wake: the run queues of the CPUs, by their numbers, are waited for")
def run_queues():
    report, _ = contended(crew("klock_spin", "wake"), ("spinlock", r"^run queue of CPU \d+$"))
    names = [lock["name"] or "" for lock in report["kernel_locks"]["locks"]]
    queues = [name for name in names if name.startswith("run queue of CPU ")]
    assert len(set(queues)) == len(queues) <= os.cpu_count(), queues
    assert "run queue" in names[0] or "futex" in names[0], describe(report)


@test("klock_spin futex: the lock of a futex's hash bucket is named by the function that wants it")
def futex():
    report, lock = contended(crew("klock_spin", "futex"), ("spinlock", "^futex hash bucket$"))
    assert_most(report, lock)
    assert_path(report, lock, "futex", "ask_futex")


@test("klock_spin timer: the lock of a timer is named by the function that wants it")
def timer():
    report, lock = contended(crew("klock_spin", "timer"), ("spinlock", "^lock of a timer$"))
    assert_most(report, lock)
    assert_path(report, lock, "timer", "arm_timer")


@test("klock_spin group: tasklist_lock is waited for by writers, who may wait for the spinlock in it first")
def rwlock():
    report, lock = contended(crew("klock_spin", "group"), ("rwlock write", "^tasklist_lock$"))
    assert_most(report, lock)
    assert_path(report, lock, "setpgid", "lead_group")


# --- Owners ---------------------------------------------------------------------------------------

def assert_owners(report, lock, name):
    """Threads of the program had it, or readers; each once."""
    tids = {t["tid"] for t in report["threads"]}
    assert lock["owners"], f"nobody had {lock['name']}"
    assert len({o["tid"] for o in lock["owners"]}) == len(lock["owners"]), lock["owners"]
    for owner in lock["owners"]:
        assert not owner["tid"] and owner["name"] is None or \
            owner["tid"] in tids and re.fullmatch(name, owner["name"]), owner
    known_ns = sum(o["wait_ns"] for o in lock["owners"])
    assert known_ns > 0.5 * lock["wait_ns"], f"of {lock['wait_ns']} ns it is known of {known_ns} who had it"


@test("who had a file's i_rwsem are threads of the program, and where they were in the kernel")
def owners_of_file():
    report, lock = contended(crew("klock_append", "."), ("rwsem write", of_file("i_rwsem", "journal")))
    assert_owners(report, lock, r"append-\d|klock_append")
    stacks = [(report["kernel_locks"]["stacks"][o["stack"]], o["wait_ns"]) for o in lock["owners"] if o["stack"] is not None]
    # Within a thunk by which functions return the kernel's own unwinder goes no further.
    odd_ns = sum(ns for stack, ns in stacks if not re.search("write|truncate", " ".join(stack)))
    assert stacks and odd_ns <= 0.02 * sum(ns for _, ns in stacks), stacks


@test("who had mmap_lock are threads of the program, or readers")
def owners_of_memory():
    report, writers, readers = contended(crew("klock_mmap"), ("rwsem write", "^mmap_lock of"),
                                         ("rwsem read", "^mmap_lock of"))
    assert_owners(report, writers, r"mapper-\d|klock_mmap")
    assert_owners(report, readers, r"mapper-\d|klock_mmap")


# --- Waits that are not over ----------------------------------------------------------------------

@test("klock_lasting: a wait that is still on at the end is there, with who has the lock and where that sleeps")
def lasting():
    target = start(program("klock_lasting"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    first = read_line(target)
    if not first:
        raise Skip("userfaultfd is not allowed here")
    tracer = start(PINCH, "klock", "-q", "--json", "report.json", "-o", "report.txt", "-p", target.pid)
    wait_attached(tracer)
    target.stdin.write(b"\n")
    target.stdin.flush()
    assert read_line(target) == b"stuck\n"
    tracer.send_signal(signal.SIGINT)
    assert tracer.wait(LIMIT_S) == 0
    report = parse_report(read("report.json", "rb"))
    check_klocks(report)
    lock = find_lock(report, "mutex", r"^mutex of pipe:\[\d+\]$")
    assert lock, describe(report)
    assert (lock["waits"], lock["unfinished"], lock["given_up"]) == (1, 1, 0), lock
    assert [t["name"] for t in lock["waiters"]] == ["waiter"], lock["waiters"]
    owner, = lock["owners"]
    assert owner["name"] == "keeper" and owner["wait_ns"] == lock["wait_ns"], owner
    stacks = report["kernel_locks"]["stacks"]
    assert "handle_userfault" in stacks[owner["stack"]], stacks[owner["stack"]]
    assert any("pipe_write" in function for function in stacks[owner["stack"]]), stacks[owner["stack"]]
    assert_path(report, lock, "pipe_write", "put_bytes")
    assert "1 not over yet" in read("report.txt"), read("report.txt")
    wait = next(w for w in report["waits"] if w["cause"] == "kernel-lock")
    assert wait["object"] == lock["name"] and "put_bytes" in functions_of(wait), wait
    target.stdin.close()
    target.wait(LIMIT_S)


# --- The rest of the report, graphs and traces ----------------------------------------------------

def record_overwrite():
    """A trace in which most of the waiting is for one lock; its name, and the report."""
    for _ in range(TRIES):
        graph_model.record(program("klock_overwrite"), ".", THREADS, LENGTH_MS)
        result = pinch("klock", "-q", "--json", "report.json", "t.pinch")
        assert result.status == 0, result.text
        report = checked()
        lock = find_lock(report, "rwsem write", of_file("i_rwsem", "shared.data"))
        if lock and lock["wait_ns"] > 0.2 * report["balance"]["threads"]["total_ns"]:
            return lock, report
    raise AssertionError(f"nobody waited long\n{describe(report)}")


@test("waits for kernel locks are in the balance, the waits and the locks, by the same name")
def report_pages():
    lock, report = record_overwrite()
    causes = {row["cause"]: row for row in report["balance"]["threads"]["causes"]}
    assert causes["kernel-lock"]["group"] == "SYNCHRONISATION", causes["kernel-lock"]
    wait = next(w for w in report["waits"] if w["object"] == lock["name"])
    assert wait["cause"] == "kernel-lock" and "overwrite_block" in functions_of(wait), wait
    assert any(re.fullmatch(r"writer-[\d*]", waker["names"] or waker["name"]) for waker in wait["wakers"]), wait
    row = next(row for row in report["locks"] if row["name"] == lock["name"])
    assert (row["kind"], row["address"]) == (lock["kind"], lock["address"]), row
    # Asleep for it, which each who waits long is; until it runs again it waits for a CPU.
    asleep_ns = sum(w["wait_ns"] for w in report["waits"] if w["object"] == lock["name"])
    near(row["wait_ns"], asleep_ns, 0.01 * asleep_ns, "the lock's row, and its waits")
    assert row["wait_ns"] <= lock["wait_ns"], (row["wait_ns"], lock["wait_ns"])
    # Of call paths there are estimates.
    assert causes["kernel-lock"]["wait_ns"] > 0.99 * asleep_ns, (causes["kernel-lock"], asleep_ns)
    assert asleep_ns > 0.1 * lock["wait_ns"], (asleep_ns, lock["wait_ns"])


@test("graph, critical path and whatif know the lock by its name, and who had it")
def graphs():
    lock, _ = record_overwrite()
    root = graph_model.graph()
    label = f"kernel-lock pwrite64 {lock['name']} in overwrite_block"
    waits = list(graph_model.anywhere(root, label))
    assert waits, f"no node {label}\n{graph_model.picture(root)}"
    assert any(child["label"].startswith("writer-") for wait in waits for child in wait["children"]), \
        graph_model.picture(waits[0])
    reported, _ = graph_model.path("--thread", "writer-0")
    others = {row["who"] for row in reported["sums"] if re.match("writer-[1-9]", row["who"])}
    assert others, f"the path does not go through who had the lock: {reported['sums'][:8]}"
    gains = pinch("whatif", "--lock", lock["name"], "--scale", 0, "t.pinch")
    assert gains.status == 0 and f"With lock {lock['name']}" in gains.out.decode(), gains.text or gains.out


def assert_same_locks(live, path):
    replayed = parse_report(read(path, "rb"))
    for one, other in zip(live["kernel_locks"]["locks"], replayed["kernel_locks"]["locks"]):
        assert one == other, (one, other)
    assert live["kernel_locks"] == replayed["kernel_locks"], "the kinds, the stacks or the sums differ"


@test("a replayed trace has the same kernel locks as the live report, to the last digit")
def traces():
    for planted in (crew("klock_append", "."), crew("klock_mmap"), crew("klock_fd_table"),
                    crew("klock_spin", "all")):
        result = pinch("klock", "-q", *LARGE_RINGS, "--trace", "t.pinch", "--json", "live.json", "--",
                       program(planted[0]), *planted[1:])
        assert result.status == 0, result.text
        live = checked("live.json")
        assert live["kernel_locks"]["waits"], "nobody waited"
        for command in "klock", "report":
            shown = pinch(command, "-q", "--json", "replayed.json", "t.pinch")
            assert shown.status == 0, shown.text
            assert_same_locks(live, "replayed.json")


# --- The machine ----------------------------------------------------------------------------------

def spin(*options):
    return pinch("klock", "-q", *LARGE_RINGS, "--json", "report.json", *options, limit_s=2 * LIMIT_S)


@test("sixteen threads that spin for locks of all kinds: nothing is lost, and the machine goes on")
def alive():
    result = spin("--", program("klock_spin"), "all", 16, 3000)
    assert result.status == 0, result.text
    assert checked()["kernel_locks"]["waits"], "nobody waited"


@test("the same, with all the machine traced: nothing is lost, and the machine goes on")
def alive_all():
    load = start(program("klock_spin"), "all", 16, 30000, stdout=subprocess.DEVNULL)
    result = spin("--all", "--duration", "3s")
    stop(load)
    assert result.status == 0, result.text
    report = parse_report(read("report.json", "rb"))
    check_klocks(report)
    lost = {key: report["losses"][key] for key in ("records", "gaps", "gap_ns", "malformed", "mappings")
            if report["losses"][key]}
    assert not lost, lost
    spinners = {t["tid"] for lock in report["kernel_locks"]["locks"] for t in lock["waiters"]
                if (t["name"] or "").startswith("spinner-")}
    assert spinners, describe(report)


@test("klock_netns, with all the machine traced: a thread of the kernel waits for a mutex that the program takes")
def kernel_threads():
    if os.geteuid() or not os.path.exists("/proc/self/ns/net"):
        raise Skip("no network namespaces can be made here")
    for attempt in range(TRIES):
        load = start(program("klock_netns"), 4, 60000, stdout=subprocess.DEVNULL)
        wait_until(lambda: load.poll() is not None or len(os.listdir(f"/proc/{load.pid}/task")) > 4, "namers to begin")
        # On an emulated machine beside others there may be no wait at all in a second.
        result = pinch("klock", "-q", *LARGE_RINGS, "--all", "--duration", f"{min(2 ** attempt, 8)}s",
                       "--json", "report.json")
        assert load.poll() is None, f"the program has ended: {load.returncode}"
        stop(load)
        assert result.status == 0, result.text
        report = checked()
        # Others' mutexes are taken in cleanup_net(), too: for one that the program never takes there may be a wait.
        found = [thread for lock in report["kernel_locks"]["locks"] if is_kind(lock, "mutex")
                 and any((t["name"] or "").startswith("namer-") for t in lock["waiters"])
                 for thread in lock["waiters"]
                 if (thread["name"] or "").startswith("kworker") and thread["stack"] is not None
                 and "cleanup_net" in report["kernel_locks"]["stacks"][thread["stack"]]]
        if found:
            break
    assert found, describe(report)
    assert all(t["context"] is None and not t["pid"] and t["wait_ns"] for t in found), found


# --- Input ----------------------------------------------------------------------------------------

def assert_refused(result, status, *words):
    assert result.status == status, f"exit status {result.status}, not {status}\n{result.text}"
    lines = result.text.splitlines()
    assert len(lines) == 1 and lines[0].startswith("pinch: "), result.text
    assert all(word in lines[0] for word in words), lines[0]
    assert not result.out, result.out


@test("pinch klock of nothing, of two things, of what is no trace and of no page: one line says what is wrong")
def refused():
    assert_refused(pinch("klock"), 2, "nothing to trace given")
    assert_refused(pinch("klock", "-p", os.getpid(), "--", "/bin/true"), 2, "nothing to trace given")
    with open("no-trace", "w", encoding="ascii") as file:
        file.write("no trace\n" * 1000)
    assert_refused(pinch("klock", "no-trace"), 1, "no-trace")
    assert_refused(pinch("klock", "nowhere.pinch"), 1, "nowhere.pinch")
    assert_refused(pinch("klock", "--page", "nothing", "no-trace"), 2, "nothing")
    assert_refused(pinch("klock", "--", "./no/such/command"), 127, "./no/such/command")


@test("a program that waits for no kernel lock: a report without any; --page shows what it names")
def pages():
    graph_model.record("/bin/true")
    result = pinch("klock", "t.pinch")
    assert result.status == 0 and result.out, result.text
    result = pinch("klock", "--page", "balance", "t.pinch")
    assert result.status == 0 and b"BALANCE" in result.out and b"KLOCKS" not in result.out, result.out
    result = pinch("klock", "--page", "klocks,threads", "t.pinch")
    assert result.status == 0 and b"KLOCKS" in result.out and b"THREADS" in result.out, result.out


@test("names of programs, threads and files that would drive a terminal do not")
def hostile():
    odd, directory = os.path.abspath("pro\x1b[31m\ngr\u202e"), "d\x1b[2J\n"
    shutil.copy(program("klock_mmap"), odd)
    os.mkdir(directory)
    for command, raw, escaped in (
            ((odd,), "mmap_lock of pro\x1b[31m\ngr", r"mmap_lock of pro\x1b[31m\x0agr"),
            ((program("klock_append"), directory), directory + "/journal", r"d\x1b[2J\x0a/journal")):
        for _ in range(TRIES):
            result = pinch("klock", "-v", *LARGE_RINGS, "--json", "report.json", "-o", "report.txt", "--", *command,
                           THREADS, LENGTH_MS)
            assert result.status == 0, result.text
            report = checked()
            if any(raw in (lock["name"] or "") for lock in report["kernel_locks"]["locks"]):
                break
        else:
            raise AssertionError(f"no {raw!r}\n{describe(report)}")
        text = read("report.txt", "rb").decode("utf-8", "strict")
        assert not HARMFUL.search(text), HARMFUL.search(text)
        # A long name goes on in the next line.
        assert escaped in text or escaped in "".join(line.strip() for line in text.splitlines()), text[:2000]


if __name__ == "__main__":
    sys.exit(main())
