# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs in C and C++, shell and make, each with one planted cause."""
import contextlib
import functools
import os
import signal

import lib
import lib_limits
from lib_causes import Target, Truth, case
from lib_loads import Group
from lib_programs import Lines, asked, plant, served, started, target, tool
from lib_services import service_port, words

# --- Locks --------------------------------------------------------------------------------------

plant("native: now and then all routes are rebuilt under a write lock", "route_table", {"code"}, [r"reload_routes"],
      misleads="readers queue for the lock, and wake each other; the holder that matters takes it rarely",
      verified="1.8 threads want a CPU, 4.9 without it")
plant("native: a lock that is held shortly but nearly always", "hit_counter", {"lock", "code"},
      [r"hits_lock|count_hit"], misleads="each wait is short; two CPUs look busy",
      verified="held for 40 of 50 us: no two threads can work at once; 3.5 threads want a CPU, 4.0 without it")
plant("native: a holder that ends with a tail call of the unlock", "row_store", {"code", "lock"}, [r"store_row"],
      misleads="where the lock is released, the holder's frame is gone: its caller seems to hold it",
      verified="held for 1000 of 1100 us: no two threads can work at once; 2.5 threads want a CPU, 3.0 without it")
plant("native: processes append to a mailbox under a lock of its file", "mail_spool", {"code", "lock"},
      [r"spool\.lock", r"append_mail"],
      misleads="a wait for a file looks like one for the disk; each process has its own",
      verified="1.7 threads want a CPU, 4.0 without it")
plant("native: processes that sleep and try again to lock a file", "package_lock", {"code", "lock"},
      [r"packages\.lock", r"unpack_archive"], misleads="to the kernel it is a sleep that a timer ends: nobody waits",
      verified="43.4 units a second, 354 without it")
plant("native: a mutex in memory that processes map at different addresses", "session_table", {"code", "lock"},
      [r"expire_sessions"], misleads="one lock has as many addresses as there are processes",
      verified="1.9 threads want a CPU, 3.0 without it")
plant("native: a spin lock", "price_spin", {"spin"}, [r"prices_lock|quote_price"],
      misleads="all threads run all the time: the CPUs are fully used", verified="153 units a second, 309 without it")
plant("native: threads that map and unmap buffers all need their address space", "buffer_mapper", {"kernel-lock"},
      [r"mmap_lock|map_buffer|address space"], misleads="much time on the CPUs, in the kernel",
      verified="6.1 threads want a CPU, 8.0 without it")

# --- Threads that wait for threads --------------------------------------------------------------

plant("native: a pool with one task that takes 30 times as long", "media_pool", {"code"}, [r"encode_video"],
      misleads="three of four threads wait for the next batch, and main for the end of this one",
      verified="2.1 threads want a CPU, 3.6 without it")
plant("native: two threads meet at a barrier, one has three times the work", "stepped_grid", {"code"},
      [r"refine_boundary"], misleads="the barrier itself", verified="1.6 threads want a CPU, 1.9 without it")
plant("native: a producer that is too slow", "frame_queue", {"code"}, [r"decode_frame"],
      misleads="consumers wait for a condition, as idle threads do", verified="1.4 threads want a CPU, 2.4 without it")
plant("native: a queue that is full, behind a writer that waits for the disk", "journal_queue", {"file"},
      [r"journal\.dat"], quick=True,
      misleads="two of three threads wait for a condition; the writer is hardly on a CPU",
      verified="1181 units a second, 11556 without it")
plant("native: threads that wait with a timeout, again and again, for a report", "retried_wait", {"code"},
      [r"compute_report"], misleads="each wait ends with its timeout: they look idle", quick=True,
      verified="3.0 units a second, 37.0 without it")
plant("native: all waits go through one class of the program's own", "parcel_office", {"code"}, [r"pack_parcel"],
      misleads="Condition::Wait() and NotifyAll() are where all wait and wake; one thread waits for slow labels",
      verified="21.0 units a second, 106 without it")
plant("native: a pool of two threads whose tasks sleep", "print_pool", {"timer"}, [r"print_page"],
      misleads="who waits for a future waits for a futex; all threads look idle", verified="95.0 units a second, 1254 without it")
plant("native: a thread that looks for letters every 25 ms, and others wait for its answers", "polled_mailbox",
      {"timer"}, [r"poll_mailboxes"], misleads="a sleep in a loop is idle, as a rule",
      verified="77.3 units a second, 1044 without it")
plant("native: a parallel loop of OpenMP with uneven rows in equal parts", "matrix_rows", {"code"},
      [r"eliminate_row|factor_matrix"], misleads="threads spin in the library of OpenMP before they sleep",
      verified="10.3 units a second, 15.0 without it")

plant("native: three stages hand an order around by eventfds, one takes ten times as long", "turn_taking", {"code"},
      [r"check_credit"], misleads="each of them waits most of the time, for a read of a few bytes",
      verified="615 units a second, 2821 without it")
plant("native: a semaphore of System V that a process has for most of its work", "semaphore_ledger", {"code", "lock"},
      [r"post_entry"], misleads="processes, not threads: all of them wait in semop()", verified="held for 900 of 1000 us: no two processes can work at once")
plant("native: a snapshot by fork of a large process, while requests wait", "snapshot_fork", {"code", "process"},
      [r"take_snapshot|fork"], misleads="one thread, which is always on a CPU; most of it in requests", verified="1377 units a second, 4379 without it")

# --- Nothing goes on ----------------------------------------------------------------------------

plant("native: a wake-up that was lost", "lost_wakeup", {"hang"}, [r"job_ready|await_job"], ready_lines=1,
      misleads="all threads sleep: it looks idle", verified="0 units a second, 77592 without it")
plant("native: two locks taken in opposite order", "money_transfer", {"deadlock"},
      [r"accounts_lock|book_transfer", r"audit_lock|write_audit"], ready_lines=1, quick=True,
      misleads="two more threads wait for one of the locks: a contended lock",
      verified="0 units a second, 7865823 without it")
plant("native: a pool whose tasks wait for tasks of the same pool", "nested_tasks", {"hang", "deadlock"},
      [r"image_loaded|render_page"], ready_lines=1, misleads="a pool that has nothing to do",
      verified="0 units a second, 12901476 without it")

# --- Files --------------------------------------------------------------------------------------

plant("native: look-ups in a mapped file that is not in memory", "cold_index", {"file", "memory"}, [r"index\.dat"],
      misleads="page faults have no system call, and no descriptor", verified="7956 units a second, 81391 without it")
plant("native: reads at random places, past the page cache", "segment_reader", {"file"}, [r"segments\.dat"],
      misleads="each read is short", verified="6515 units a second, 31003 without it")
plant("native: each message is a file of its own, made durable", "message_spool", {"file"},
      [r"outbox|message-\d|keep_message"], misleads="no file is waited for twice",
      verified="447 units a second, 1737 without it")
plant("native: fsync by io_uring", "ring_commit", {"file"}, [r"commit\.log"],
      misleads="who waits is in io_uring_enter(); a worker of the kernel waits for the disk",
      verified="2968 units a second, 28499 without it")

# --- Processes ----------------------------------------------------------------------------------

plant("native: a process is started for each document", "filter_spawner", {"process", "code"},
      [r"run_filter|/bin/true|\btrue\b"], misleads="thousands of threads that live for a millisecond",
      verified="1134 units a second, 12973 without it")
plant("native: a pipe whose reader compresses", "row_export", {"code", "process"}, [r"compress_block|compressor"],
      misleads="to wait for a pipe is idle, as a rule; only the writer's id is given",
      verified="104 units a second, 390 without it")
plant("native: log lines under a lock, into a pipe whose reader sleeps", "log_pipe", {"timer", "process"},
      [r"shipper|ship_batch"], misleads="the lock has most waiters; the reader is another process",
      verified="1376 units a second, 6192 without it")


plant("native: a message queue whose reader checks each message", "mail_queue", {"code"}, [r"check_message"],
      misleads="senders are other processes than the one whose id is given",
      verified="106 units a second, 1732 without it")


def text_file(name, size_bytes):
    """Text that compresses as a page does."""
    text = words(200000).encode()
    with open(name, "wb") as file:
        for at in range(0, size_bytes, len(text)):
            file.write(text[:size_bytes - at])


@case("native: make -j2 with one long job, which begins last", truth=Truth({"code", "process"}, [r"\bxz\b|lzma"]),
      misleads="make and its shells wait for their children; for most of the time they are all there is",
      verified="0.10 units a second, 0.20 without it")
def make_jobs(where, fault=True):
    text_file("part", 2 << 20)
    text_file("archive", (6 if fault else 1) << 20)
    with open("Makefile", "w") as file:
        file.write("all: 1.gz 2.gz 3.gz 4.gz 5.gz 6.gz archive.xz\n"
                   "%.gz: part\n\tgzip -9 -c part > $@\n"
                   "archive.xz: archive\n\txz -T1 -6 -c archive > $@\n")
    yield Target(command=[tool("make"), "-j2", "-B"])


@case("native: a pipeline with a slow stage", truth=Truth({"code", "process"}, [r"gzip|deflate|longest_match"]),
      misleads="the stages before it wait to write, those behind it to read",
      verified="0.5 runs a second, 0.9 with gzip -1")
def pipeline(where, fault=True):
    text_file("data", 24 << 20)
    yield Target(command=["sh", "-c", f"cat data | tr a-z A-Z | gzip -{9 if fault else 1} | wc -c"])


@case("native: a rank of MPI that sends late", truth=Truth({"code", "spin"}, [r"assemble_load"]),
      misleads="the other rank polls in MPI_Recv(): it runs all the time",
      verified="19.7 units a second, 223 without it")
def late_sender(where, fault=True):
    program = lib.program("causes/late_sender")
    with started(tool("mpirun"), "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", 2, program,
                 fault=fault) as job:
        try:
            yield target(job)
        finally:
            lib.stop(job, signal.SIGTERM)   # with its ranks, which have groups of their own


# --- A server -----------------------------------------------------------------------------------

@case("native: a server that sleeps before each answer", truth=Truth({"timer"}, [r"check_quota"]), quick=True,
      misleads="a sleep is idle, as a rule, and so is a thread that waits for its client",
      verified="178 units a second, 1650 without it")
def sleeping_handler(where, fault=True):
    port = service_port()
    with served(lib.program("causes/quota_server"), port, port=port, fault=fault) as server:
        yield from asked(server, clients=Group(functools.partial(Lines, port), b"quota", 4, 0))


# --- Limits -------------------------------------------------------------------------------------

@case("native: a cgroup that may use a quarter of a CPU", truth=Truth({"cpu-limit"}, [r"quota|cgroup|limit"]),
      misleads="threads wait for a CPU while CPUs are idle", verified="122 units a second, 239 without it")
def cpu_quota(where, fault=True):
    with lib_limits.limited(lib_limits.CPU, 0.25) as procs, \
            started(lib.program("causes/order_worker"), procs, fault=fault) as process:
        yield target(process)


@case("native: other processes want the same CPUs", truth=Truth({"cpu"}, [r"neighbour"]),
      misleads="its own code is all that it runs", verified="133 units a second, 253 without it")
def noisy_neighbour(where, fault=True):
    os.symlink("/bin/sh", "neighbour")
    with contextlib.ExitStack() as stack:
        for _ in range(4 if fault else 0):
            neighbour = lib.start("./neighbour", "-c", "while :; do :; done")
            stack.callback(lib.stop, neighbour)
        with started(lib.program("causes/order_worker")) as process:
            yield target(process)


@case("native: a program that may use one CPU of all", truth=Truth({"cpu"}, [r"affinity|pinned|allowed|may use|CPU 0"]),
      misleads="its threads wait for each other's CPU, and the other CPU is idle",
      verified="by what is set: its two threads compute, and have one CPU")
def one_cpu(where, fault=True):
    cpus = ["0"] if fault else ["0-1"]
    with started(tool("taskset"), "-c", *cpus, lib.program("causes/order_worker")) as process:
        yield target(process)


plant("native: the holder of a lock waits for a CPU, which others of the program have", "nice_holder", {"cpu", "lock"},
      [r"batch"], misleads="the lock and the condition; the holder needs little of a CPU",
      verified="115 units a second, 4166 without it")


@case("native: another process writes to the same disk", truth=Truth({"file"}, [r"journal\.dat", r"neighbour"]),
      misleads="the file alone: it is synced as ever", verified="291 units a second, 636 without it")
def disk_neighbour(where, fault=True):
    with contextlib.ExitStack() as stack:
        for number in range(2 if fault else 0):
            stack.enter_context(started(lib.program("causes/disk_filler"), output=f"neighbour-{number}"))
        with started(lib.program("causes/journal_queue")) as process:
            yield target(process)


@case("native: a file that is read again and again, and a memory limit below its size",
      truth=Truth({"memory"}, [r"catalog\.dat|cgroup|memory limit|reclaim"]),
      misleads="a read that waits for the disk: the disk is not the cause",
      verified="7414 units a second, 11035 without it")
def memory_limit(where, fault=True):
    with lib_limits.limited(lib_limits.MEMORY, 32 << 20) as procs, \
            started(lib.program("causes/catalog_reader"), procs, fault=fault) as process:
        yield target(process)
