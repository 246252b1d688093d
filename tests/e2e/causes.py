#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Programs that plant a cause of waiting (tests/programs): what pinch says of why their threads wait,
for what, and who ends it. The programs force how long a wait lasts at least, and each wait that
must lead is three times as long as any other: a machine that is busy with something else changes
neither. traced() also checks the laws of doc/design.md, section 3, on each of them.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time
from subprocess import DEVNULL, PIPE

from causes_model import FORCED_NS, assert_alone, assert_ends, assert_found, assert_lost, \
    assert_other_end, assert_reads, assert_spinning, assert_unlocker, assert_woken, \
    assert_woken_over_loopback, cause_of, check_report, describe_locks, describe_wait, \
    describe_waits, DISK, LOOPBACK, file_at, first_wait, lock_named, socket_with, spinning_share, \
    wait_of, waits_like
from lib import JITTER_NS, PINCH, Skip, describe, disk_directory, find_path, finish, functions_of, main, \
    make_hello_files, parse_report, pinch, program, read_line, start, stop, test

# How a program ends that cannot be what it is to be here.
SKIPPED = 77
TRIES = 5


def checked(result, name):
    if result.status == SKIPPED:
        raise Skip(f"{name}: {(result.text.splitlines() or ['not possible here'])[0]}")
    assert result.status == 0, f"exit status {result.status}\n{result.text[:2000]}"
    result.report_path = os.path.abspath("report.json")
    check_report(result.report, program(name))
    return result


def traced(name, *arguments, options=()):
    return checked(pinch("run", "--json", "report.json", "--top", "100", *options, "--",
                         program(name), *arguments), name)


def trace(name, *arguments, options=()):
    return traced(name, *arguments, options=options).report


def trace_alone(name, *arguments):
    """The same of a run in which no other program had a CPU that this one wanted, if there is one in so many."""
    for _ in range(5):
        report = trace(name, *arguments)
        if not any(f["pattern"] == "cpu-wait" for f in report["findings"]):
            break
    return report


# --- Threads that wait for each other -------------------------------------------------------------

@test("cond_wait: consumers wait for not_empty, which put_item in producer signals")
def cond_wait():
    report = trace("cond_wait")
    wait = first_wait(report, cause="condition", function="take_item", about="not_empty")
    assert_lost(wait, 4 * 12 * 60)
    assert_woken(wait, "producer", function="put_item")
    lock_named(report, "not_empty", "condition")
    assert_alone(report, "producer", 12 * 60)


@test("barrier_straggler: seven threads wait at step_barrier for the straggler")
def barrier_straggler():
    report = trace("barrier_straggler")
    wait = first_wait(report, cause="barrier", function="run_steps", about="step_barrier")
    assert_lost(wait, 7 * 8 * 100)
    assert wait["waits"] == 7 * 8, describe_wait(wait)
    assert_woken(wait, "straggler")
    lock_named(report, "step_barrier", "barrier")
    assert_alone(report, "straggler", 8 * 100)
    assert_found(report, "barrier-straggler", "step_barrier", "straggler")


@test("rwlock_writer: readers of table_lock wait for rewrite_table, which holds it")
def rwlock_writer():
    report = trace("rwlock_writer")
    wait = first_wait(report, cause="lock", function="read_table", about="table_lock")
    assert_lost(wait, 6 * 4 * 150)
    assert_woken(wait, "writer", function="rewrite_table")
    assert_unlocker(lock_named(report, "table_lock", "rwlock", {"writer", None}), "rewrite_table")
    assert_found(report, "contended-lock", "table_lock", "rewrite_table")


@test("rwlock_readers: writers wait on two words of one table_lock, for a reader and each other")
def rwlock_readers():
    report = trace("rwlock_readers")
    wait = first_wait(report, cause="lock", function="update_row", about="table_lock")
    assert_ends(wait, 600, "reader", function="scan_table")
    assert_ends(wait, 3 * 600, r"writer-\d", function="update_row")
    lock = lock_named(report, "table_lock", "rwlock")
    assert lock["waits"] == 4 and lock["wait_ns"] >= 0.99 * 4 * 600_000_000, describe_locks(report)
    assert_unlocker(lock, "scan_table")


@test("semaphore_gate: guests wait for slots, which release_slot in keeper posts")
def semaphore_gate():
    report = trace("semaphore_gate")
    wait = first_wait(report, cause="semaphore", function="take_slot", about="slots")
    assert_lost(wait, 6 * 16 * 50)
    assert_woken(wait, "keeper", function="release_slot")
    lock_named(report, "slots", "semaphore")


@test("join_late: main waits for the exit of the thread slow")
def join_late():
    report = trace("join_late")
    wait = first_wait(report, cause="join", function="collect_result")
    assert_lost(wait, 700)
    assert_woken(wait, "slow", "exit")
    assert_alone(report, "slow", 700)


@test("heap_locks: 200 locks on the heap are one class, which update_node waits for")
def heap_locks():
    report = trace("heap_locks")
    wait = first_wait(report, cause="lock", function="update_node")
    assert_woken(wait, r"leader|follower-\d", function="update_node")
    of_nodes = waits_like(report, cause="lock", function="update_node")
    # A follower that is late finds nodes free.
    assert sum(w["wait_ns"] for w in of_nodes) >= 0.2 * 3 * 200 * 4_000_000, describe_waits(report)
    locks = [lock for lock in report["locks"] if lock["kind"] == "mutex"]
    classes = {lock["where"] for lock in locks}
    assert len(classes) == 1, f"classes: {sorted(map(str, classes))[:5]}"
    names = f"{classes} {locks[0]['name']}"
    assert "update_node" in names or "add_node" in names, names


@test("member_lock: locks are called by their structure, member and index")
def member_lock():
    report = trace("member_lock")
    for function, name in (("read_cache", "cache.lock"), ("read_cell", "grid[1][2].lock"),
                           ("read_statistics", "cache.statistics.lock"),
                           ("read_shard", "shards[3].lock")):
        wait = wait_of(report, cause="lock", function=function)
        assert wait["object"] == name, describe_wait(wait)
        assert_lost(wait, 3 * 200)
        assert_ends(wait, 200, "holder", function="hold")
        assert lock_named(report, name, "mutex", "holder")["name"] == name


def holders_frames(report):
    """Of who releases the lock first, from his own code on."""
    wait = first_wait(report, cause="lock", function="read_routes")
    frames = next(w["stack"] for w in wait["wakers"] if w["name"] == "holder")
    return [f for f in frames if f["module"].startswith("route_lock")]


def check_route_lock(report):
    wait = first_wait(report, cause="lock", function="read_routes")
    assert_ends(wait, 3 * 200, "holder", function="rebuild_routes")
    assert_unlocker(next(k for k in report["locks"] if k["holder"] == "holder"), "rebuild_routes")
    first, second = holders_frames(report)[:2]
    assert first["function"].startswith("rebuild_routes(") and first["is_tail_call"], first
    assert second["function"].startswith("serve(") and not second["is_tail_call"], second
    return first


@test("route_lock: a function that ends with the unlock released the lock, not its caller")
def route_lock():
    result = traced("route_lock", options=("--trace", "t.pinch", "-o", "report.txt"))
    frame = check_route_lock(result.report)
    lock_named(result.report, "routes", "mutex", "holder")
    assert frame["file"].endswith("route_lock.cpp") and frame["line"], frame
    with open("report.txt") as text:
        assert re.search(r"held mostly in rebuild_routes\(.*\)", text.read())
    replayed = pinch("report", "-q", "t.pinch", "--json", "-")
    assert replayed.status == 0, replayed.text
    assert holders_frames(parse_report(replayed.out)) == holders_frames(result.report)


@test("route_lock without debug information: the same, by its symbols and machine code")
def route_lock_stripped():
    path = os.path.abspath("route_lock_stripped")
    subprocess.run(["strip", "-o", path, program("route_lock")], check=True)
    result = pinch("run", "--json", "report.json", "--", path)
    assert result.status == 0, result.text
    result.report_path = "report.json"
    check_route_lock(result.report)


@test("plugin_lock: a lock of a library that is unloaded has its name")
def plugin_lock():
    report = trace("plugin_lock", program("lock_plugin.so"))
    wait = first_wait(report, cause="lock", function="plugin_use", about="plugin_mutex")
    assert_lost(wait, 4 * 600)
    assert_ends(wait, 600, "holder", function="plugin_hold")
    assert_unlocker(lock_named(report, "plugin_mutex", "mutex", "holder"), "plugin_hold")


@test("robust_mutex: the exit of the owner ends the first heir's wait")
def robust_mutex():
    report = trace("robust_mutex")
    wait = first_wait(report, cause="lock", function="take_over", about="ledger_lock")
    assert_lost(wait, 4 * 500)
    assert_ends(wait, 500, "owner", "exit")
    assert_ends(wait, 3 * 500, r"heir-\d", function="take_over")
    lock_named(report, "ledger_lock", "mutex", "owner")


@test("pi_mutex: pi_lock is a pi-mutex, and hold_ledger wakes the first one")
def pi_mutex():
    report = trace("pi_mutex")
    wait = first_wait(report, cause="lock", function="use_ledger", about="pi_lock")
    assert_lost(wait, 4 * 600)
    assert_ends(wait, 600, "holder", function="hold_ledger")
    assert_ends(wait, 3 * 600, r"waiter-\d", function="use_ledger")
    assert_unlocker(lock_named(report, "pi_lock", "pi-mutex", "holder"), "hold_ledger")


@test("timed_waits: three waits end by their limit, one by a thread")
def timed_waits():
    report = trace("timed_waits")
    for cause, function, name in (("lock", "lock_in_vain", "busy_lock"),
                                  ("condition", "wait_in_vain", "never_true"),
                                  ("semaphore", "take_in_vain", "never_posted")):
        wait = wait_of(report, cause=cause, function=function, about=name)
        # The limit was taken a moment before the wait.
        assert wait["wait_ns"] >= 100_000_000, describe_wait(wait)
        assert_woken(wait, context="timer")
    lock_named(report, "busy_lock", "mutex", "giver")
    wait = wait_of(report, cause="semaphore", function="take_given", about="given")
    assert_lost(wait, 200)
    assert_woken(wait, "giver", function="give")


@test("signal_ends_wait: waits in a pipe, a semaphore and a sleep are ended by signals")
def signal_ends_wait():
    report = trace("signal_ends_wait")
    for cause, function in (("pipe", "read_nothing"), ("semaphore", "take_nothing"),
                            ("sleep", "sleep_long")):
        wait = wait_of(report, cause=cause, function=function)
        assert_lost(wait, 200)
        assert_woken(wait, "killer", "signal", "interrupt_victim")


@test("killed_queue: long waits that a kill ends are counted once, beside short ones of which a sample has stacks")
def killed_queue():
    report = trace("killed_queue")
    if not report["losses"]["stacks_not_kept"]:
        raise Skip("killed_queue: all stacks were kept")
    # check_report() compares all rows with the balance, which has the three long waits exactly. Which row is the
    # heaviest is for the few stacks to say that were kept, some ten of 200,000.
    assert cause_of(report, "condition")["wait_ns"] > 3 * 1_900_000_000, describe_waits(report)
    assert lock_named(report, "not_empty", "condition")["max_ns"] > 1_900_000_000, describe_locks(report)


@test("atomic_wait: waits for atomics of C++ end where they are notified")
def atomic_wait():
    report = trace("atomic_wait")
    for waits, wakes in (("await_generation", "set_generation"), ("await_total", "set_total")):
        wait = wait_of(report, function=waits)
        assert wait["group"] == "SYNCHRONISATION", describe_wait(wait)
        assert_lost(wait, 3 * 300)
        assert_woken(wait, "setter", function=wakes)
    lock_named(report, "generation", {"atomic", "futex"})


@test("futex_kinds: every system call that waits for a word names it, and who wakes")
def futex_kinds():
    result = traced("futex_kinds")
    report = result.report
    kinds = [("plain", "plain_word"), ("bitset", "bitset_word"), ("shared", "shared_word"),
             ("pi", "pi_word")]
    if b"no futex_waitv" not in result.out:
        kinds.append(("vector", "vector_words"))
    if b"no futex_wait(" not in result.out:
        kinds.append(("single", "single_word"))
    for kind, word in kinds:
        wait = wait_of(report, function=f"wait_{kind}")
        assert wait["group"] == "SYNCHRONISATION" and wait["cause"] != "join", describe_wait(wait)
        assert word in (wait["object"] or ""), describe_wait(wait)
        assert_lost(wait, 120)
        assert_woken(wait, "waker", function=f"wake_{kind}")
    lock_named(report, "pi_word", "pi-mutex", "waker")
    # The one that was moved to another word waits on, in the same call, for the wake-up there.
    waits = waits_like(report, function="wait_requeued")
    assert sum(w["wait_ns"] for w in waits) >= 0.99 * 3 * 120_000_000, describe_waits(report)
    for wait in waits:
        assert wait["group"] == "SYNCHRONISATION", describe_wait(wait)
        assert "requeue_" in (wait["object"] or ""), describe_wait(wait)
        assert_woken(wait, "waker", function="wake_requeued")


# --- Files, pipes, sockets, processes -------------------------------------------------------------

@test("fcntl_lock: a process waits for another one's lock on ledger.lock")
def fcntl_lock():
    report = trace("fcntl_lock", os.getcwd())
    wait = first_wait(report, cause="lock", function="lock_ledger", about="/ledger.lock")
    assert_lost(wait, 600)
    assert_woken(wait, "holder", function="unlock_ledger")
    lock_named(report, "/ledger.lock", "file-lock")


@test("flock_lock: a process waits for another one's lock on journal.lock")
def flock_lock():
    report = trace("flock_lock", os.getcwd())
    wait = first_wait(report, cause="lock", function="lock_journal", about="/journal.lock")
    assert_lost(wait, 600)
    assert_woken(wait, "holder", function="unlock_journal")
    lock_named(report, "/journal.lock", "flock")


@test("sysv_semaphore: a process waits for another one's System V semaphore")
def sysv_semaphore():
    report = trace("sysv_semaphore")
    wait = first_wait(report, cause=("semaphore", "lock"), function="take_semaphore")
    assert_lost(wait, 600)
    assert_woken(wait, "holder", function="give_semaphore")
    kinds = [lock["kind"] for lock in report["locks"]]
    assert "sysv-semaphore" in kinds[:1], kinds
    assert re.fullmatch(r"semaphore set \d+", wait["object"] or ""), describe_wait(wait)
    lock_named(report, wait["object"], "sysv-semaphore")


@test("pipe_pair: reader waits for slow_writer in writer")
def pipe_pair():
    report = trace("pipe_pair")
    wait = first_wait(report, cause="pipe", function="read_item")
    assert_lost(wait, 10 * 70)
    assert_woken(wait, "writer", function="slow_writer")
    assert_alone(report, "writer", 10 * 70)
    pipes = [f for f in report["files"] if f["path"] == wait["object"]]
    assert len(pipes) == 1, report["files"]
    assert_other_end(pipes[0], "reader", "writer")
    assert_reads(pipes[0], 1)


@test("fifo_pair: a process waits at items.fifo for slow_writer in another one")
def fifo_pair():
    report = trace("fifo_pair", os.getcwd())
    wait = first_wait(report, cause="pipe", function="read_item", about="/items.fifo")
    # The first waits of a new process may have no stack yet: rows of their own.
    waits = waits_like(report, cause="pipe", about="/items.fifo")
    assert sum(w["wait_ns"] for w in waits) >= FORCED_NS * 10 * 70, describe_waits(report)
    assert_woken(wait, "writer", function="slow_writer")
    assert_other_end(file_at(report, "/items.fifo"), "writer")


@test("fifo_pair --threads-only: the process at the other end of items.fifo is not traced")
def fifo_pair_outside():
    report = trace("fifo_pair", os.getcwd(), options=["--threads-only"])
    wait = wait_of(report, cause="pipe", function="read_item", about="/items.fifo")
    assert_woken(wait, "writer", "process")
    assert_other_end(file_at(report, "/items.fifo"), "writer")


# Two processes wait for what a third one has, until both are seen to do.
SHARED_LOCK = """
import multiprocessing, time
context = multiprocessing.get_context("fork")
lock = context.Lock()
lock.acquire()
def take():
    lock.acquire()
    lock.release()
def waits(process):
    with open(f"/proc/{process.pid}/syscall") as file:
        return file.read().startswith("202 ")
processes = [context.Process(target=take) for _ in range(2)]
for process in processes:
    process.start()
while not all(map(waits, processes)):
    time.sleep(0.01)
time.sleep(0.2)     # they wait for so long
lock.release()
for process in processes:
    process.join()
"""

# Its child opens the other end only when it waits.
OPENED_FIFO = """
import os, time
os.mkfifo("jobs.fifo")
parent = os.getpid()
if not os.fork():
    while not open(f"/proc/{parent}/syscall").read().startswith("257 "):
        time.sleep(0.01)
    os.open("jobs.fifo", os.O_WRONLY)
    os._exit(0)
os.open("jobs.fifo", os.O_RDONLY)
"""


def trace_python(source):
    with open("program.py", "w") as file:
        file.write(source)
    result = pinch("run", "--json", "report.json", "--top", "100", "--", "/usr/bin/python3", "program.py")
    assert result.status == 0, f"exit status {result.status}\n{result.text[:2000]}"
    return parse_report(open("report.json", "rb").read())


@test("a semaphore in shared memory is one lock for the processes that wait for it, named by its file")
def shared_lock():
    report = trace_python(SHARED_LOCK)
    found = [lock for lock in report["locks"] if re.search(r"/sem\.\S* at 0x0$", lock["name"] or "")]
    assert len(found) == 1, describe_locks(report)
    assert found[0]["queue_max"] == 2 and found[0]["waits"] >= 2, found
    # The first waits of a new process need not have stacks, and then they are in no row.
    rows = [wait for wait in report["waits"] if wait["cause"] in ("lock", "semaphore")]
    assert not rows or found[0]["name"] in [wait["object"] for wait in rows], describe_waits(report)


@test("a file that is opened by its path is named at the wait")
def opened_fifo():
    report = trace_python(OPENED_FIFO)
    path = os.path.realpath("jobs.fifo")
    assert path in [wait["object"] for wait in report["waits"]], describe_waits(report)
    assert path in [file["path"] for file in report["files"]], report["files"]


@test("reused_fd: four pipes of one descriptor number are distinguished, by the names they have then")
def reused_fd():
    report = trace("reused_fd", os.getcwd())
    waits = waits_like(report, cause="pipe", function="read_item")
    for name in ("/first.fifo", "/second.fifo", "/gone.fifo", "/new.fifo"):
        named = [w for w in waits if name in (w["object"] or "")]
        assert len(named) == 1, f"{len(named)} waits at {name}\n{describe_waits(report)}"
        assert named[0]["waits"] == 1, describe_wait(named[0])
        assert_lost(named[0], 150)
        assert_woken(named[0], "feeder", function="feed")
    assert not any("/old.fifo" in (w["object"] or "") for w in waits), describe_waits(report)


@test("many_files: of 100,000 pipes those that find no room share a row, in bounded memory")
def many_files():
    result = pinch("run", "--json", "report.json", "-v", "-o", "report.txt", "--top", "100", "--",
                   program("many_files"))
    assert result.status == 0, result.text[:2000]
    with open("report.json", encoding="utf-8") as file:
        report = json.load(file)
    others = [f for f in report["files"] if f["path"] == "others"]
    assert len(others) == 1 and len(report["files"]) <= 65537, len(report["files"])
    assert others[0]["waits"] >= 0.9 * (100000 - 65536), others[0]
    assert sum(f["waits"] for f in report["files"]) >= 0.9 * 100000
    assert report["cost"]["peak_rss_bytes"] < 512 << 20, report["cost"]
    # To check all of the rows against the schema would take minutes.
    report["files"] = report["files"][:20]
    report["sockets"] = report["sockets"][:20]
    report = parse_report(json.dumps(report).encode())
    pipes = next(c for c in report["balance"]["threads"]["causes"] if c["cause"] == "pipe")
    assert pipes["waits"] == 2 and pipes["wait_ns"] > 500_000_000, pipes
    for function in ("read_early", "read_late"):
        # Before it the thread was hardly critical: where so many stacks are left out, its own may be.
        for wait in waits_like(report, cause="pipe", function=function):
            assert_lost(wait, 300)
            assert_woken(wait, "writer", function="late_writer")
            # The late one's pipe has no row of its own, and is taken for a pipe nevertheless.
            assert function == "read_early" or wait["object"] is None, describe_wait(wait)
    # Estimates of call paths scatter where few stacks are kept; the sum of the cause is exact.
    polls = next(c["waits"] for c in report["balance"]["threads"]["causes"] if c["cause"] == "poll")
    assert polls >= 0.9 * 100000 and 0 < sum(w["waits"] for w in waits_like(report, cause="poll")) <= polls, polls
    assert not waits_like(report, cause="file", function="wait_for_pipes"), describe_waits(report)
    with open("report.txt", encoding="utf-8") as file:
        assert re.search(r"^ .* others( |$)", file.read(), re.MULTILINE)


def check_tcp(name, process, host, *arguments):
    result = traced(name, *arguments)
    peer = f"{host}:{int(result.out)}"
    wait = first_wait(result.report, cause="socket", function="await_answer")
    assert_lost(wait, 10 * 70)
    assert_woken_over_loopback(wait, "server")
    assert peer in (wait["object"] or ""), f"{peer} is not in {describe_wait(wait)}"
    socket = socket_with(result.report, peer=peer)
    assert socket["waits"] >= 10
    # Where the kernel's thread delivers, the one that waits at the other end is known.
    assert_other_end(socket, process, "server", least=0)
    assert socket["read_ns"] >= FORCED_NS * 10 * 70, socket
    assert_alone(result.report, "server", 10 * 70)


@test("tcp_slow: client waits for its peer, 127.0.0.1 and the port of server")
def tcp_slow():
    check_tcp("tcp_slow", "client", "127.0.0.1")


@test("tcp_slow_processes: the same of two processes")
def tcp_slow_processes():
    check_tcp("tcp_slow_processes", "server", "127.0.0.1")


@test("tcp_slow_processes -6: the same by IPv6")
def tcp_slow_processes_6():
    check_tcp("tcp_slow_processes", "server", "[::1]", "-6")


@test("tcp_slow_processes --threads-only: server, which is not traced, is at the other end")
def tcp_slow_outside():
    result = traced("tcp_slow_processes", options=["--threads-only"])
    wait = first_wait(result.report, cause="socket", function="await_answer")
    if not any(w["context"] == "process" for w in wait["wakers"]):
        raise Skip("the kernel's own thread delivers here")
    socket = socket_with(result.report, peer=f"127.0.0.1:{int(result.out)}")
    assert_other_end(socket, "server", least=0.01)


def check_resolved(result):
    *_, port = result.out.split()
    peer = f"127.0.0.7:{int(port)}"
    # The server waits for the client, who waits for the name: as long, where the machine is slow.
    wait = wait_of(result.report, cause="socket", function="await_answer")
    assert_lost(wait, 10 * 70)
    assert wait["object"] == f"{peer} (slow.example)", describe_wait(wait)
    hosts = {s["peer"]: s["host"] for s in result.report["sockets"] if s["host"]}
    assert hosts == {peer: "slow.example"}, hosts
    # What starts the program may have no symbols; an interrupt may wait where the kernel enters no program again.
    assert all("symbols" in note or "an interrupt waited" in note for note in result.report["notes"]), \
        result.report["notes"]


@test("resolve_slow --dns: the peer is called slow.example, as getaddrinfo() was asked")
def resolve_slow():
    result = traced("resolve_slow", options=["--dns"])
    check_resolved(result)
    # Who follows a function's return changes where it returns to: the callers are there nevertheless,
    # unless the stack had to be copied, before there were tables, and was too large for that.
    wait = wait_of(result.report, cause="socket", about=":53")
    if wait["stack_end"] != "truncated":
        names = functions_of(wait)
        assert names.index("find_server") < names.index("main"), describe_wait(wait)
    assert_lost(wait, 300)
    assert_ends(wait, 300, "names", context=LOOPBACK | {"thread"})


@test("resolve_slow: without --dns nobody has a name")
def resolve_unnamed():
    report = trace("resolve_slow")
    assert not any(s["host"] for s in report["sockets"]), report["sockets"]
    wait_of(report, cause="socket", about=":53")


@test("resolve_slow --dns with a C library of its own, which pinch meets on its way")
def resolve_own_library():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        library = next(line.split()[-1] for line in maps if "/libc.so.6" in line)
    os.mkdir("lib")
    shutil.copy(library, "lib")
    result = pinch("run", "--json", "report.json", "--dns", "--", "env",
                   f"LD_LIBRARY_PATH={os.path.abspath('lib')}", program("resolve_slow"), "await")
    check_resolved(checked(result, "resolve_slow"))


@test("unix_pair: client waits for answer, the peer is server.socket")
def unix_pair():
    report = trace("unix_pair", os.getcwd())
    wait = first_wait(report, cause="socket", function="await_answer")
    assert_lost(wait, 10 * 70)
    # When the server takes the question, the kernel wakes the client, too, which finds nothing.
    assert_woken(wait, "server")
    assert_ends(wait, 10 * 70, "server", function="answer")
    assert "/server.socket" in (wait["object"] or ""), describe_wait(wait)
    socket = socket_with(report, peer="/server.socket")
    assert "unix" in socket["family"].lower(), socket["family"]
    assert_other_end(socket, "server")
    assert_reads(socket, 1)


@test("udp_wait: receiver waits on its own address, connected to nobody")
def udp_wait():
    result = traced("udp_wait")
    local = f"127.0.0.1:{int(result.out)}"
    wait = first_wait(result.report, cause="socket", function="await_datagram")
    assert_lost(wait, 8 * 70)       # ksoftirqd may deliver late, and the next wait begins late
    assert_woken_over_loopback(wait, "sender")
    assert local in (wait["object"] or ""), f"{local} is not in {describe_wait(wait)}"
    socket = socket_with(result.report, local=local)
    assert not socket["peer"], f"a peer: {socket['peer']!r}"


@test("epoll_server: server polls until ask, client waits for serve_request")
def epoll_server():
    report = trace("epoll_server")
    wait = wait_of(report, cause="poll", function="event_loop")
    assert_lost(wait, 8 * 60)
    assert_woken(wait, "client", function="ask")
    wait = wait_of(report, cause="socket", function="await_answer")
    assert_lost(wait, 8 * 60)
    # To take the question wakes the client, too.
    assert_woken(wait, "server")
    assert_ends(wait, 8 * 60, "server", function="serve_request")


@test("poll_one: poller polls a pipe until slow_writer writes")
def poll_one():
    report = trace("poll_one")
    wait = first_wait(report, cause="poll", function="poll_pipe")
    assert_lost(wait, 10 * 70)
    assert_woken(wait, "writer", function="slow_writer")


@test("cold_mapping: page faults in touch_pages wait for cold.data on the disk")
def cold_mapping():
    report = trace("cold_mapping", disk_directory())
    # Where all can be preempted, nobody may look at a thread's mappings as it blocks.
    is_named = "PREEMPT_RT" not in os.uname().version
    wait = first_wait(report, cause="page-fault", function="touch_pages",
                      about="/cold.data" if is_named else None)
    assert_woken(wait, context=DISK)
    if not is_named:
        return
    file = file_at(report, "/cold.data")
    assert file["cause"] == "page-fault", file
    # Both are exact; the program's own code may be cold, too.
    assert file["wait_ns"] >= 0.8 * cause_of(report, "page-fault")["wait_ns"], describe_waits(report)


@test("close_flush: flush_file waits for large.data on the disk")
def close_flush():
    report = trace("close_flush", disk_directory())
    wait = first_wait(report, cause="file", function="flush_file", about="/large.data")
    assert "fsync" in functions_of(wait), describe_wait(wait)
    assert_woken(wait, context=DISK)
    # The one is exact, the other may be estimated.
    assert file_at(report, "/large.data")["wait_ns"] >= 0.8 * wait["wait_ns"], describe_wait(wait)


@test("io_uring_wait: a wait for a ring names its system call, and who completes it")
def io_uring_wait():
    report = trace("io_uring_wait")
    causes = ("other", "poll", "pipe", "file", "sleep")
    wait = wait_of(report, cause=causes, function="await_timeout")
    # It runs from a moment before the wait.
    assert wait["wait_ns"] >= 150_000_000, describe_wait(wait)
    assert_woken(wait, context={"timer", "interrupt"})
    wait = wait_of(report, cause=causes, function="await_read")
    assert_lost(wait, 300)
    assert_woken(wait, "writer", function="late_writer")


@test("fork_wait: parent waits for the exit of child")
def fork_wait():
    report = trace("fork_wait")
    wait = first_wait(report, cause="child", function="await_child")
    assert re.fullmatch(r"process child \(\d+\)", wait["object"] or ""), describe_wait(wait)
    assert_lost(wait, 700)
    assert_woken(wait, "child", "exit")
    assert_alone(report, "child", 700)


@test("stopped: child is stopped until continue_child in parent")
def stopped():
    report = trace("stopped")
    wait = first_wait(report, cause="stopped", function="stop_self")
    assert_lost(wait, 600)
    assert_woken(wait, "parent", "signal", "continue_child")
    assert_alone(report, "parent", 600)


# --- Shapes ---------------------------------------------------------------------------------------

@test("sleep_holding: sleeper sleeps with held_lock, for which four threads wait")
def sleep_holding():
    report = trace("sleep_holding")
    wait = first_wait(report, cause="lock", function="use_ledger", about="held_lock")
    assert_lost(wait, 4 * 600)
    assert_ends(wait, 600, "sleeper", function="sleep_with_lock")
    lock_named(report, "held_lock", "mutex", "sleeper")
    wait = wait_of(report, cause="sleep", function="sleep_with_lock")
    assert_lost(wait, 600, report)
    assert_woken(wait, context="timer")
    assert report["balance"]["wall"]["stalled_ns"] >= 590_000_000


@test("lock_convoy: nearly all loggers are in the queue of journal_lock")
def lock_convoy():
    report = trace("lock_convoy")
    wait = first_wait(report, cause="lock", function="append_journal", about="journal_lock")
    assert wait["waits"] >= 100, describe_wait(wait)
    assert_woken(wait, r"logger-\d", function="append_journal")
    lock = lock_named(report, "journal_lock", "mutex")
    assert lock["queue_max"] >= 6, f"at most {lock['queue_max']} in the queue"
    assert lock["p50_ns"] < 100_000_000, f"the median wait is {lock['p50_ns']} ns"
    # Who is kept from a CPU with the lock holds it long: then it is no convoy.
    if not any(f["pattern"] == "cpu-wait" for f in report["findings"]):
        assert_found(report, "convoy", "journal_lock")
    # The holder sleeps with it: where it sleeps may be in the title, and the lock below.
    assert any("journal_lock" in title for f in report["findings"] for title in (f["title"], *f["symptoms"])), \
        report["findings"][:3]


@test("lock_convoy, stripped: its lock is named after the function that waits for it, as the waits are")
def stripped():
    if not shutil.which("strip"):
        raise Skip("no strip here")
    # Not even by its build-id must it be known from the one that is not stripped.
    subprocess.run(["strip", "-R", ".note.gnu.build-id", "-o", "nameless", program("lock_convoy")], check=True)
    result = pinch("run", "--json", "report.json", "--top", "100", "--", "./nameless")
    report = checked(result, "lock_convoy").report
    wait = next(w for w in report["waits"] if w["cause"] == "lock")
    own = next(frame for frame in wait["stack"] if frame["module"] == "nameless")
    assert own["function"] is None, describe_wait(wait)
    where = f"nameless+0x{own['offset']:x}"
    classes = [lock["where"] for lock in report["locks"] if lock["kind"] == "mutex"]
    assert classes == [where], describe_locks(report)
    # An offset is no headline.
    assert any("code of nameless without symbols" in f["title"] for f in report["findings"]), report["findings"][:3]


@test("false_wakeups: seven threads wait in each turn, six of which wake for nothing")
def false_wakeups():
    report = trace("false_wakeups")
    wait = first_wait(report, cause="condition", function="await_turn", about="turn_changed")
    # On a busy machine one may be late, but not often.
    assert wait["waits"] >= 0.8 * 7 * 100, describe_wait(wait)
    assert_woken(wait, r"turn-\d", function="give_turn")
    assert any(f["pattern"] in ("thundering-herd", "spurious-wake-ups") and "turn_changed" in f["title"]
               for f in report["findings"]), [f["title"] for f in report["findings"]]


@test("serial_phase: seven threads wait at phase_barrier for merge_results in merger")
def serial_phase():
    report = trace("serial_phase")
    wait = first_wait(report, cause="barrier", function="await_merge", about="phase_barrier")
    assert_lost(wait, 7 * 6 * 100)
    assert_woken(wait, "merger", function="await_merge")
    assert_alone(report, "merger", 6 * 100)
    assert_found(report, "barrier-straggler", "phase_barrier", "merger")


@test("hot_thread: worker-0 leads, the others wait for their queues")
def hot_thread():
    report = trace("hot_thread")
    # On a busy machine the others may be late for their one request, but hardly by half of the run.
    assert_alone(report, "worker-0", 61 * 15 // 2)
    for i in range(1, 4):
        name = f"queues[{i}].not_empty"
        wait = wait_of(report, cause="condition", function="take_request", about=name)
        assert wait["object"] == name, describe_wait(wait)
        assert_lost(wait, 61 * 15 // 2)
        assert_woken(wait, "hot_thread", function="close_queues")
    assert_found(report, "hot-thread", " (worker-0) does")


def check_idle_pool(report, cause, context):
    assert_alone(report, "busy", 600)
    pool = wait_of(report, cause="condition", function="take_work", about="work_ready")
    fetch = wait_of(report, cause=cause, function="fetch_work")
    assert_woken(pool, "dispatcher", function="dispatch")
    assert_woken(fetch, context=context)
    assert fetch["idle_ns"] == fetch["wait_ns"], describe_wait(fetch)
    # Each of the eight is idle for as long as `dispatcher`, which wakes it, is.
    dispatcher, = [t for t in report["threads"] if t["name"] == "dispatcher"]
    life_ns = sum(dispatcher[key] for key in ("running_ns", "cpu_wait_ns", "blocked_ns"))
    busy_ns = 8 * (life_ns - fetch["idle_ns"]) + JITTER_NS
    assert pool["wait_ns"] - pool["idle_ns"] <= busy_ns + 1_000_000, \
        f"{busy_ns} ns: {describe_wait(pool)}"
    first = functions_of(report["waits"][0])
    assert "take_work" not in first and "fetch_work" not in first, describe_waits(report)


@test("idle_pool: threads that wait for work that nobody has are idle, and lead nothing")
def idle_pool():
    check_idle_pool(trace("idle_pool"), "sleep", "timer")


@test("idle_pool stdin: the same where work comes from a process that is not traced")
def idle_pool_stdin():
    process = start(PINCH, "run", "--json", "report.json", "--top", "100", "--",
                    program("idle_pool"), "stdin", stdin=PIPE, stdout=PIPE, stderr=PIPE)
    assert read_line(process) == b"ready\n"
    for _ in range(4):
        time.sleep(0.25)
        process.stdin.write(b"x")
        process.stdin.flush()
    time.sleep(0.25)
    check_idle_pool(checked(finish(process), "idle_pool").report, "pipe", "process")


@test("spin_lock: paths through take_spin_lock spin, honest work does not")
def spin_lock():
    # Nobody blocks: with the default N_min nothing would be critical, and there were no paths.
    result = traced("spin_lock", options=["--nmin", 9])
    report = result.report
    spinning, mistaken = 0, 0
    for path in report["paths"]:
        names = functions_of(path)
        sampled = any(f["samples"] > f["stack_tops"] for f in path["functions"])
        if "take_spin_lock" in names and path["cause"] == "spin":
            spinning += path["cmetric_ns"]
        elif "compute" in names or "hold_long" in names:
            # A path of one sample may have it in a spinkernel lock, that an interrupt wanted there.
            mistaken += path["cmetric_ns"] if path["cause"] == "spin" else 0
        elif "take_spin_lock" in names:
            assert not sampled or path["cause"] == "spin", f"{path['cause']}: {names}"
    share = assert_spinning(result)
    # A path is all of what its slices did: a slice may end in other work than it began with.
    on_cpu_ns = report["totals"]["critical_cmetric_ns"]
    assert spinning > share / 2 * on_cpu_ns, f"{spinning} of {on_cpu_ns}, {share:.0%}"
    assert mistaken < 0.02 * on_cpu_ns, f"{mistaken} of {on_cpu_ns}"
    assert any("compute" in functions_of(p) for p in report["paths"])
    # Who has the lock is what they wait for, if he is found to run often enough.
    said = [title for finding in report["findings"] for title in (finding["title"], *finding["symptoms"])]
    assert any("spin in take_spin_lock (spin_lock.c:" in title for title in said), said


EVEN = ("even-0", "even-1", "even-2")


def cmetric_of(report, name, key="cmetric_ns"):
    return sum(t[key] for t in report["threads"] if t["name"] == name)


@test("retry_loop: a loop that would wait and never does is work, beside one that waits")
def retry_loop():
    for options in ([], ["--spin-inactive"]):
        report = trace("retry_loop", options=options)
        spins = [finding["title"] for finding in report["findings"] if finding["pattern"] == "spin"]
        assert any("await_flag" in title for title in spins), f"{options}: {spins}"
        assert not any("read_atomic" in title or "sum_up" in title for title in spins), f"{options}: {spins}"
        running_ns = {t["name"]: t["running_ns"] for t in report["threads"]}
        account = report["balance"]["threads"]
        # Two periods of each thread, and what sampling errs by.
        assert account["spinning_ns"] < running_ns["waiter"] + 0.1 * account["running_ns"], (account, running_ns)


@test("rare_stall: where most stacks are left out, one long wait of a thread whose others are short has its own")
def rare_stall():
    report = trace("rare_stall")
    assert report["losses"]["stacks_not_kept"] > 0 or JITTER_NS, report["losses"]
    rows = [w for w in report["waits"] if "slow_commit" in functions_of(w)]
    assert len(rows) == 1, [functions_of(w) for w in report["waits"][:5]]
    assert rows[0]["waits"] == 1 and 400e6 <= rows[0]["wait_ns"] < 440e6 + JITTER_NS, rows[0]


def names_late(report, where, *words):
    return any(where in f["title"] and all(word in f["title"] for word in words) for f in report["findings"])


def spun_until(run, where, *words):
    """
    A result of run() whose threads spin there until that is done. Where others have most of the CPUs, it may be that the late one
    has none, or that samples are too few: then it is tried again, and nobody else is named.
    """
    for _ in range(TRIES):
        result = run()
        if names_late(result.report, where, *words):
            return result
        titles = [f["title"] for f in result.report["findings"]]
        assert not any(" until thread even" in title for title in titles), titles
    raise AssertionError(titles)


@test("spin_barrier: threads that wait with their CPUs all look alike")
def spin_barrier():
    result = spun_until(lambda: traced("spin_barrier"), "spin_barrier_wait", "until thread straggler has run compute_ms",
                        "called by straggle")
    report = result.report
    assert_spinning(result)
    shares = [cmetric_of(report, name) / report["target"]["wall_ns"]
              for name in ("straggler", *EVEN)]
    assert all(0.15 < share < 0.35 for share in shares), shares


@test("spin_barrier fair: all are late about as often, and nobody is named")
def spin_barrier_fair():
    report = traced("spin_barrier", "fair").report
    assert_found(report, "spin", "spin_barrier_wait", "until barrier_turn changes")
    assert report["blame"]["spun_ns"] == 0, report["blame"]
    assert not any("straggle" in finding["title"] for finding in report["findings"]), describe(report)


@test("spin_barrier asleep: the others spin until straggler has slept, in straggle()")
def spin_barrier_asleep():
    report = spun_until(lambda: traced("spin_barrier", "asleep"), "spin_barrier_wait", " through with: sleep in sleep_ms",
                        "called by straggle").report
    assert report["verdict"]["kind"] in ("timer", "cpu"), report["verdict"]


@test("spin_barrier --spin-inactive: the straggler has the CMetric, by straggle()")
def spin_barrier_inactive():
    result = spun_until(lambda: traced("spin_barrier", options=["--spin-inactive"]), "spin_barrier_wait",
                        "until thread straggler has run compute_ms", "called by straggle")
    report = result.report
    assert report["totals"]["is_spin_inactive"]
    assert_spinning(result)
    # On a busy machine the others, too, do their work late: what they do with a CPU is theirs.
    straggler = cmetric_of(report, "straggler")
    assert straggler > 0.4 * report["target"]["wall_ns"], straggler
    assert all(straggler > cmetric_of(report, name) for name in EVEN), describe(report)
    on_cpu = [cmetric_of(report, name, "cmetric_oncpu_ns") for name in ("straggler", *EVEN)]
    assert on_cpu[0] > 2 * max(on_cpu[1:]), on_cpu
    assert "straggle" in functions_of(report["paths"][0]), functions_of(report["paths"][0])


def openmp(policy, *arguments):
    return checked(pinch("run", "--json", "report.json", "--top", "100", "--", program("openmp_turns"),
                         *arguments, env={**os.environ, "OMP_WAIT_POLICY": policy}), "openmp_turns")


@test("openmp_turns, OMP_WAIT_POLICY=active: what waits at a barrier spins in libgomp")
def openmp_active():
    assert_spinning(spun_until(lambda: openmp("active"), "at a barrier of OpenMP",
                               "until thread straggler has run compute_ms"))


@test("openmp_turns, OMP_WAIT_POLICY=passive: even sleeps at the barrier in meet until straggler comes")
def openmp_passive():
    report = openmp("passive", "asleep").report
    # A library without symbols does not say that it is a barrier.
    wait = first_wait(report, cause=("barrier", "lock"), function="meet")
    assert_lost(wait, 6 * 150)
    assert_woken(wait, "straggler", function="meet")
    assert report["balance"]["threads"]["spinning_ns"] == 0, report["balance"]


@test("stencil_mpi that polls: with --spin-inactive the rank with most rows stands out")
def stencil_polls():
    if not shutil.which("mpirun") or not os.path.exists(program("stencil_mpi")):
        raise Skip("mpirun is not here")
    result = pinch("run", "--spin-inactive", "--json", "report.json", "--", "mpirun",
                   "--allow-run-as-root", "--oversubscribe", "-n", 2, "--mca",
                   "mpi_yield_when_idle", 0, "--mca", "btl", "self,vader", program("stencil_mpi"),
                   200, 6, "poll", env={**os.environ, "TMPDIR": os.getcwd()})
    report = checked(result, "stencil_mpi").report
    ranks = sorted((t for t in report["threads"] if t["name"] == "stencil_mpi"),
                   key=lambda t: -t["running_ns"])[:2]
    on_cpu = sorted((t["cmetric_oncpu_ns"] for t in ranks), reverse=True)
    # Twice as much and more; but on a machine so busy that a rank hardly ever meets a tick, less is seen.
    assert on_cpu[0] > 1.1 * on_cpu[1], on_cpu
    relax = find_path(report, "relax")
    # Where they poll there are several paths, each about as heavy.
    assert relax and relax["rank"] <= 5, describe(report)
    assert 0.3 <= spinning_share(report) <= 0.95, report["balance"]


@test("oversubscribed: eight threads of one CPU lose their time as preempted")
def oversubscribed():
    report = trace("oversubscribed")
    threads = report["balance"]["threads"]
    assert threads["cpu_wait_ns"] > 3 * threads["running_ns"], \
        f"{threads['cpu_wait_ns']} ns runnable, {threads['running_ns']} ns running"
    worst = max(threads["causes"], key=lambda c: c["wait_ns"] - c["idle_ns"])
    assert worst["cause"] == "cpu-wait", f"{worst['cause']} is worst"
    assert worst["wait_ns"] > 0.8 * threads["cpu_wait_ns"], worst["wait_ns"]
    assert_found(report, "cpu-wait")
    # While one of them runs, the others wait, be it one after the other: 7 + 6 + ... + 0 for the eight.
    # Of the CPU that other programs have that says nothing.
    own = next(r for r in rivals_of(report) if r["kind"] == "program")
    assert own["wait_ns"] > 3 * threads["running_ns"], f"{own}, {threads['running_ns']} ns running"


RIVALS_NAMED_MAX = 64


def rivals_of(report):
    """Who had the CPUs during the waiting for them; that adds up, and little of it is unknown."""
    threads = report["balance"]["threads"]
    waited_ns = cause_of(report, "cpu-wait")["wait_ns"]
    rivals = threads["ran_instead"]
    assert abs(sum(r["wait_ns"] for r in rivals) - waited_ns) <= waited_ns / 1e6 + 1000, rivals[:4]
    other_ns = sum(r["wait_ns"] for r in rivals if r["kind"] == "other")
    if len(rivals) > RIVALS_NAMED_MAX:      # the rest of them, and not what is not known
        return rivals
    # A thread that is hidden, or that a hidden one gave the CPU to, is nobody.
    assert other_ns <= 0.15 * waited_ns, f"{other_ns} of {waited_ns} ns: {rivals[:4]}"
    return rivals


CPU_GROUPS = "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup", "groups"


def limited_group():
    """A cgroup of its own that may use a fifth of a CPU, and has it at once."""
    os.mkdir("groups")
    if not any(os.path.exists(f"{at}/cgroup.procs") for at in CPU_GROUPS):
        subprocess.run(["mount", "-t", "cgroup2", "none", "groups"], check=False, stderr=DEVNULL)
    for at in CPU_GROUPS:
        group = f"{at}/pinch-test-{os.getpid()}"
        try:
            if os.path.exists(f"{at}/cgroup.subtree_control"):
                write(f"{at}/cgroup.subtree_control", "+cpu")
            os.mkdir(group)
        except OSError:
            continue
        for limit, value, weight, most in (("cpu.max", "20000 100000", "cpu.weight", 10000),
                                           ("cpu.cfs_quota_us", 20000, "cpu.shares", 262144)):
            if os.path.exists(f"{group}/{limit}"):
                write(f"{group}/{limit}", value)
                write(f"{group}/{weight}", most)
                return group
        os.rmdir(group)
    raise Skip("no cgroup here can limit CPUs")


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def throttled_ns(group):
    with open(f"{group}/cpu.stat", encoding="ascii") as file:
        stat = dict(line.split() for line in file)
    return int(stat["throttled_usec"]) * 1000 if "throttled_usec" in stat \
        else int(stat["throttled_time"])


@test("cpu_limit: two threads are throttled, as long as their cgroup says")
def cpu_limit():
    group = None
    try:
        group = limited_group()
        report = trace("cpu_limit", f"{group}/cgroup.procs")
        stopped_ns = throttled_ns(group)
    finally:
        if group:
            os.rmdir(group)
        if os.path.ismount("groups"):
            subprocess.run(["umount", "groups"], check=True)
    threads, row = report["balance"]["threads"], cause_of(report, "throttled")
    rest_ns = threads["cpu_wait_ns"] - row["wait_ns"]
    text = f"{row} of {threads['cpu_wait_ns']} ns, the cgroup says {stopped_ns}"
    # An emulated machine has next to no CPU for anything else either.
    assert row["wait_ns"] > (1 if JITTER_NS else 2) * rest_ns and row["wait_ns"] > 1_000_000_000, text
    # It adds up its queues, one a CPU, in each of which one of the threads or both may wait.
    assert 0.8 * stopped_ns <= row["wait_ns"] <= 2.2 * stopped_ns, text
    assert_found(report, "cpu-limit")


@test("stolen_cpu: victim waits for its CPU while cpu-thief, which is not traced, runs")
def stolen_cpu():
    thief = start(program("stolen_cpu"), "thief", stdout=PIPE)
    try:
        cpu = read_line(thief).decode().strip()
        if not cpu.isdigit():
            raise Skip(cpu)
        report = trace("stolen_cpu", cpu)
        rivals = rivals_of(report)
        # An emulated CPU is as slow for what pinch does at the begin.
        first = next(r for r in rivals if not JITTER_NS or r["name"] != "pinch")
        assert (first["kind"], first["name"], first["pid"]) == \
            ("process", "cpu-thief", thief.pid), f"{first} is not {thief.pid}"
        lost_ns = cause_of(report, "cpu-wait")["wait_ns"]
        # An emulated CPU has other work, too, and all of that takes long.
        assert first["wait_ns"] > (0.3 if JITTER_NS else 0.6) * lost_ns, (first, lost_ns)
        assert_found(report, "cpu-wait", "" if JITTER_NS else "other processes")
        evidence = next(f for f in report["findings"] if f["pattern"] == "cpu-wait")["evidence"]
        assert any(f"cpu-thief (pid {thief.pid})" in sentence for sentence in evidence), evidence
    finally:
        stop(thief)


# --- The programs of planted.py -------------------------------------------------------------------

@test("mutex: eleven threads wait for work_mutex, with which mutex_work sleeps")
def mutex():
    report = trace("mutex")
    wait = first_wait(report, cause="lock", function="mutex_work", about="work_mutex")
    assert wait["wait_ns"] >= 0.9 * 66 * 150_000_000, describe_wait(wait)
    assert_woken(wait, "mutex", function="mutex_work")
    assert wait["wakers"][0]["names"] == "mutex", describe_wait(wait)
    lock = lock_named(report, "work_mutex", "mutex", "mutex")
    assert lock["name"] in ("work_mutex", "mutex_work(int)::work_mutex"), lock["name"]
    sleep = wait_of(report, cause="sleep", function="mutex_work")
    assert sleep["waits"] == 12, describe_waits(report)
    assert_lost(sleep, 12 * 150)


@test("mutex_man_thread: threads made by clone() wait for work_mutex, and mutex_work wakes them")
def mutex_man_thread():
    report = trace("mutex_man_thread")
    wait = first_wait(report, cause="lock", function="mutex_work", about="work_mutex.word")
    assert wait["wait_ns"] >= 0.9 * 66 * 150_000_000, describe_wait(wait)
    assert_woken(wait, function="mutex_work")


@test("multi_mutex: big_work is the most critical unlocker of work_mutex")
def multi_mutex():
    report = trace("multi_mutex")
    first_wait(report, cause="lock", about="work_mutex")
    lock = lock_named(report, "work_mutex", "mutex")
    assert lock is report["locks"][0], describe_locks(report)
    assert_unlocker(lock, "big_work")


@test("multi_lock: both locks have names, big_work and medium_work are their worst unlockers")
def multi_lock():
    report = trace("multi_lock")
    first_wait(report, cause="lock")
    two = lock_named(report, "work_mutex_two", "mutex")
    one = lock_named(report, "work_mutex", "mutex")
    assert {lock["name"] for lock in report["locks"][:2]} == {two["name"], one["name"]}, \
        describe_locks(report)
    assert_unlocker(two, "big_work")
    assert_unlocker(one, "medium_work")


@test("tbb_mutex: main's lambda waits, and wakes")
def tbb_mutex():
    report = trace("tbb_mutex")
    # The lock spins, and then sleeps on a word of the waiting thread.
    is_lambda = re.compile(r"main::\{lambda").match
    found = [w for w in report["waits"] if any(map(is_lambda, functions_of(w)))]
    assert found, describe_waits(report)
    wait = found[0]
    assert wait["group"] == "SYNCHRONISATION" and wait["cause"] == "lock", describe_wait(wait)
    woken = sum(w["share"] for w in wait["wakers"] if any(map(is_lambda, functions_of(w))))
    assert woken > 0.5, describe_wait(wait)


@test("pipeline_stages: the workers wait at to_write.not_full for queue_pop in write")
def pipeline_stages():
    report = trace("pipeline_stages")
    wait = first_wait(report, cause="condition", function="queue_push", about="to_write.not_full")
    assert "transform_stage" in functions_of(wait), describe_wait(wait)
    assert wait["object"] == "to_write.not_full", describe_wait(wait)
    assert_woken(wait, "write", function="queue_pop")


@test("main_read: big_work waits for four files alike")
def main_read():
    directory = disk_directory()
    make_hello_files()
    report = trace("main_read", directory)
    wait = first_wait(report, beside=("join",), cause="file", function="big_work")
    assert_woken(wait, context=DISK)
    waits_ns = [file_at(report, f"/hello{i}.txt")["wait_ns"] for i in range(1, 5)]
    assert min(waits_ns) > max(waits_ns) / 3, waits_ns
    assert all(f["path"].startswith(directory) for f in report["files"][:4]), \
        [f["path"] for f in report["files"][:6]]


@test("main_write: of the files that big_work flushes, 7.txt is waited for most often, 1.txt least")
def main_write():
    report = trace("main_write", disk_directory())
    wait = first_wait(report, beside=("join",), cause="file", function="big_work")
    assert "fsync" in functions_of(wait), describe_wait(wait)
    files = [file_at(report, f"/{i}.txt") for i in range(1, 8)]
    # How fast the disk is at one time and another is up to whoever else uses it.
    waits_ns, counts = ([f[key] for f in files] for key in ("wait_ns", "waits"))
    assert counts == sorted(counts) and counts[6] > 3 * counts[0], counts
    assert waits_ns[0] == min(waits_ns) and waits_ns[6] > 2 * waits_ns[0], waits_ns


@test("fsync_io: append_block waits for four files alike")
def fsync_io():
    report = trace("fsync_io", disk_directory(), 4000)
    # What else wants the CPUs keeps the threads from waiting, and main longer in its join.
    wait = first_wait(report, beside=("join",), cause="file", function="append_block")
    assert "fdatasync" in functions_of(wait), describe_wait(wait)
    files = [f for f in report["files"] if re.search(r"/fsync_io\.\d+\.\d$", f["path"])]
    assert len(files) == 4, [f["path"] for f in report["files"]][:8]
    waits_ns = [f["wait_ns"] for f in files]
    assert min(waits_ns) > max(waits_ns) / 3, waits_ns
    assert len({(tuple(f["device"]), f["inode"]) for f in files}) == 4
    titles = [f["title"] for f in report["findings"] if f["cause"] == "file"]
    assert titles[0].startswith("threads wait for 4 files under ") and "append_block" in titles[0], titles


@test("sleep_holding: the finding says what the holder of held_lock did meanwhile")
def sleep_holding_found():
    for _ in range(TRIES):
        found = [f for f in trace("sleep_holding")["findings"] if any("held_lock" in seen for seen in f["symptoms"])]
        # Where others have the CPUs, that may be most of what is waited for.
        if found:
            break
    finding, = found
    assert "sleep" in finding["title"] and "sleep_with_lock" in finding["title"], finding
    said, = [e for e in finding["evidence"] if e.startswith("the holder itself waited for ")]
    assert "longest wait: sleep in sleep_ms (" in said and "from sleep_with_lock (" in said, said


def assert_chain(report, text):
    """Of chain_of_waits: one finding is the cause, with all that threads wait for because of it."""
    found, = [f for f in report["findings"] if "flush_pages" in f["title"]]
    assert text in found["title"] and found["pattern"] == "wait", found
    seen = " | ".join(found["symptoms"])
    assert "answer_lock" in seen and "page_lock" in seen, found
    assert not [f for f in report["findings"] if "answer_lock" in f["title"] or "page_lock" in f["title"]]
    # Where the CPUs are busy, that it waits for one is another.
    root = max((r for r in report["blame"]["roots"] if "flush_pages" in r["text"]), key=lambda r: r["ns"])
    ways = [chain["steps"] for chain in root["chains"] if len(chain["steps"]) == 2]
    assert any("answer_lock" in first and "write_page" in second for first, second in ways), root["chains"]
    return root


@test("chain_of_waits: clients wait behind two locks for a sleep, and that is the finding")
def chain_of_waits():
    report = trace_alone("chain_of_waits")
    root = assert_chain(report, "sleep in ")
    # Four clients and the writer wait for it, and the flusher sleeps itself.
    assert root["cause"] == "sleep" and 5 * 600 * FORCED_NS <= root["ns"] <= 6.5 * root["direct_ns"], root
    assert report["verdict"]["kind"] in ("timer", "cpu"), report["verdict"]


@test("chain_of_waits computing: the same for code that runs")
def chain_of_waits_computing():
    assert assert_chain(trace_alone("chain_of_waits", "computing"), "which runs")["kind"] == "code"


@test("idle_crowd: what costs most is till_lock, and a hundred idle threads make that no less")
def idle_crowd():
    report = trace_alone("idle_crowd")
    threads = report["balance"]["threads"]
    assert threads["busy_ns"] < 0.2 * threads["total_ns"], threads
    # Three are not idle, main among them; one of these waits for it nearly all the time, and who has it sleeps.
    found, = [f for f in report["findings"] if any("till_lock" in seen for seen in f["symptoms"])]
    assert "sleep" in found["title"] and 0.1 < found["share"] < 1, found
    assert not [f for f in report["findings"] if f["cause"] == "condition"], report["findings"]


@test("heap_locks: locks of which none matters by itself are one finding")
def heap_locks_found():
    report = trace_alone("heap_locks")
    lock, = [f for f in report["findings"] if "mutex locks in update_node" in f["title"]]
    heaviest = max(k["wait_ns"] for k in report["locks"] if k["kind"] == "mutex")
    assert lock["share"] * report["balance"]["threads"]["busy_ns"] > 2 * heaviest, lock


@test("shared_wrapper: waits for conditions without a name in one function are told apart by its callers")
def shared_wrapper():
    report = trace_alone("shared_wrapper")
    for taker, maker in (("take_order", "make_order"), ("take_parcel", "make_parcel")):
        assert_found(report, "wait", f"wait_for (shared_wrapper.c:23), called by {taker}, ", f", called by {maker}")


@test("cond_wait: where a function has one caller, or its condition a name, no caller is said")
def no_callers():
    findings = trace_alone("cond_wait")["findings"]
    found = [seen for f in findings if f["pattern"] == "wait" for seen in f["symptoms"] or [f["title"]]]
    assert found and not any("called by" in title for title in found), [(f["pattern"], f["title"]) for f in findings]


def assert_crew_computes(report):
    """Of a saturated pool that is not a symptom of what it computes."""
    for found in (f for f in report["findings"] if f["pattern"] == "saturated-pool"):
        said, = [e for e in found["evidence"] if e.startswith("they are mostly in ")]
        assert any(f" {function} (" in said for function in ("do_job", "compute_ms", "now_ns")), said


@test("saturated_pool: submit waits for crew, whose threads are never without a job")
def saturated_pool():
    report = trace_alone("saturated_pool")
    assert_found(report, "saturated-pool", "submit (", "3 threads of crew-*")
    assert_crew_computes(report)


@test("saturated_pool slack: no pool is saturated whose threads wait for jobs")
def saturated_pool_slack():
    report = trace_alone("saturated_pool", "slack")
    assert not [f for f in report["findings"] if f["pattern"] == "saturated-pool"], report["findings"]


@test("saturated_pool unnamed: threads of one name are told apart by where they began")
def saturated_pool_unnamed():
    report = trace_alone("saturated_pool", "unnamed")
    first = max(report["groups"], key=lambda group: group["cmetric_ns"])
    assert (first["name"], first["thread_count"]) == ("run_other", 4), report["groups"]
    assert_found(report, "saturated-pool", "submit (", "3 threads of run_crew")
    assert_crew_computes(report)


@test("spread_paths: no path stands out, and what they have in common is crunch")
def spread_paths():
    report = trace("spread_paths")
    trunk = report["trunk"]
    assert trunk["stack"][0]["function"] == "crunch" and trunk["path_count"] >= 12, trunk
    first = report["paths"][0]
    assert trunk["wall_share"] > 3 * first["wall_share"], (trunk, first["wall_share"])


@test("idle_pool: what all threads begin with is no trunk")
def no_trunk():
    assert trace("idle_pool")["trunk"] is None


if __name__ == "__main__":
    sys.exit(main(jobs=2))
