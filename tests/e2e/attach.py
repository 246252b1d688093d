#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
pinch attach: threads that exist already are known with their state, blocked ones included; new
ones are followed; the account closes over the time traced and no other.
"""
import os
import re
import signal
import subprocess
import sys
import time

from lib import LIMIT_S, PINCH, Skip, check_laws, describe, finish, pinch, \
    find_path, main, near, parse_report, program, read, \
    read_line, start, status_of, stop, test, threads_named, wait_attached, wait_until

# A target that does what its standard input says, so that no test depends on time.
SLEEPERS = r"""
import os, sys, threading
def sleep(fd):
    os.read(fd, 1)
pipes = [os.pipe() for _ in range(3)]
threads = [threading.Thread(target=sleep, args=(r,), daemon=True) for r, _ in pipes]
for thread in threads:
    thread.start()
print("ready", flush=True)
for line in sys.stdin:
    x = 0
    if line.startswith("work"):
        for i in range(int(line.split()[1])):
            x += i
    elif line.startswith("thread"):
        for t in [threading.Thread(target=sum, args=(range(2000000),)) for _ in range(4)]:
            t.start()
            t.join()
    elif line.startswith("fork"):
        pid = os.fork()
        if not pid:
            sum(range(2000000))
            os._exit(0)
        os.waitpid(pid, 0)
    elif line.startswith("quit"):
        os._exit(5)
    print("done", flush=True)
"""


class Sleepers:
    """Three threads that block for ever, and main, which obeys."""

    def __init__(self, *prefix):
        self.process = start(*prefix, "/usr/bin/python3", "-c", SLEEPERS,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert read_line(self.process) == b"ready\n"
        self.pid = self.process.pid

    def tell(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def order(self, line):
        self.tell(line)
        assert read_line(self.process) == b"done\n"

    def all_blocked(self):
        """All four threads sleep."""
        tasks = os.listdir(f"/proc/{self.pid}/task")
        return all(status_of(f"{self.pid}/task/{t}").get("State", "R")[0] == "S" for t in tasks)

    def wait_blocked(self):
        wait_until(self.all_blocked, "the threads to block")


def attach(*arguments, **options):
    """Starts pinch attach and returns when it traces: its programs have been attached."""
    process = start(PINCH, "attach", "--json", "report.json", *arguments,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    **options)
    wait_attached(process)
    return process


def end(process, number=signal.SIGINT):
    process.send_signal(number)
    result = finish(process)
    assert result.status == 0, f"exit status {result.status}\n{result.text}"
    result.report_path = os.path.abspath("report.json")
    check_laws(result.report)
    return result


@test("blocked threads that exist at attach are listed, blocked for all the time")
def blocked():
    target = Sleepers()
    target.wait_blocked()
    process = attach("-p", target.pid)
    target.order("work 3000000")
    report = end(process).report
    assert report["totals"]["threads"] == 4, report["threads"]
    assert {t["tid"] for t in report["threads"]} == \
        {int(t) for t in os.listdir(f"/proc/{target.pid}/task")}
    wall_ns = report["target"]["wall_ns"]
    for thread in report["threads"]:
        lived_ns = thread["running_ns"] + thread["cpu_wait_ns"] + thread["blocked_ns"]
        near(lived_ns, wall_ns, 0.02 * wall_ns + 2e6, f"thread {thread['tid']} lived")
        if thread["tid"] != target.pid:
            assert thread["blocked_ns"] == lived_ns and thread["cmetric_ns"] == 0, thread
            assert thread["slices"] == 0, thread
    main_thread, = [t for t in report["threads"] if t["tid"] == target.pid]
    assert main_thread["cmetric_ns"] > 0 and main_thread["slices"] > 0
    assert report["target"]["is_running"] and report["target"]["exit_status"] is None
    assert report["target"]["pids"] == [target.pid]


@test("a process that sleeps all the time is stalled for all the time")
def stalled():
    target = Sleepers()
    target.wait_blocked()
    process = attach("-p", target.pid)
    time.sleep(0.3)         # how long is of no importance: it is the traced time
    report = end(process).report
    near(report["totals"]["stalled_ns"], report["target"]["wall_ns"], 1000, "stalled")
    assert report["totals"]["active_ns"] == 0 and not report["paths"], describe(report)


@test("attach mid-run: the account closes, the wall time is the time traced, serial_work is found")
def mid_run():
    before_ns = time.monotonic_ns()
    target = start(program("pipeline_stages"))
    process = attach("-p", target.pid, "--duration", "700ms")
    result = finish(process)
    after_ns = time.monotonic_ns()
    assert result.status == 0, result.text
    report = parse_report(read("report.json", "rb"))
    check_laws(report)
    wall_ns = report["target"]["wall_ns"]
    assert wall_ns <= after_ns - before_ns
    assert wall_ns >= 690_000_000, f"traced for {wall_ns} ns, not for 700 ms"
    assert report["target"]["is_running"]
    assert {t["name"] for t in report["threads"]} == {"pipeline_stages", "read", "write",
                                                      "work-0", "work-1", "work-2", "work-3"}
    waiting, = threads_named(report, "pipeline_stages")
    assert waiting["slices"] == 0 and waiting["blocked_ns"] >= 690_000_000, waiting
    assert find_path(report, "write_item"), describe(report)
    assert not [f for p in report["paths"] for f in p["stack"] if not f["function"]
                and f["module"].endswith("pipeline_stages")], "unnamed frames"
    stop(target)


@test("attach until the target ends: the report comes by itself, and the target is not running")
def until_end():
    target = Sleepers()
    process = attach("-p", target.pid)
    target.order("work 300000")
    target.tell("quit")
    result = finish(process)
    assert target.process.wait(LIMIT_S) == 5
    assert result.status == 0, result.text
    report = parse_report(read("report.json", "rb"))
    check_laws(report)
    assert not report["target"]["is_running"]


@test("threads and processes that the traced one makes are followed")
def followed():
    target = Sleepers()
    process = attach("-p", target.pid)
    target.order("thread")
    target.order("fork")
    report = end(process).report
    assert report["totals"]["threads"] == 4 + 4 + 1, [t["name"] for t in report["threads"]]
    assert len({t["pid"] for t in report["threads"]}) == 2


@test("a thread that runs when pinch attaches is known to run, whichever CPU it has")
def running():
    target = start(program("cpu_bound"), 4, 100000)
    wait_until(lambda: len(os.listdir(f"/proc/{target.pid}/task")) == 5, "four threads")
    process = attach("-p", target.pid, "--duration", "400ms")
    result = finish(process)
    assert result.status == 0, result.text
    report = parse_report(read("report.json", "rb"))
    check_laws(report)
    wall_ns = report["target"]["wall_ns"]
    workers = [t for t in report["threads"] if t["tid"] != target.pid]
    assert len(workers) == 4
    for thread in workers:
        near(thread["running_ns"] + thread["cpu_wait_ns"], wall_ns, 0.02 * wall_ns,
             f"active time of {thread['tid']}, which never blocks")
    four = sum(p["ns"] for p in report["parallelism"] if p["active"] == 4)
    assert four > 0.97 * wall_ns, report["parallelism"]
    stop(target)


@test("two targets, given as a list and one by one, are both in the report")
def two_targets():
    one, two, three = Sleepers(), Sleepers(), Sleepers()
    process = attach("-p", f"{one.pid},{two.pid}", "-p", three.pid)
    for target in (one, two, three):
        target.order("work 300000")
    report = end(process).report
    assert {t["pid"] for t in report["threads"]} == {one.pid, two.pid, three.pid}
    assert report["totals"]["threads"] == 12


@test("a process is traced again after an earlier pinch has detached")
def again():
    target = Sleepers()
    for _ in range(2):
        process = attach("-p", target.pid)
        target.order("work 1000000")
        assert end(process).report["totals"]["threads"] == 4


@test("threads that hang already are found with where they hang, for what, and who holds it")
def hanging():
    target = start(program("deadlock"), stdout=subprocess.PIPE)
    assert read_line(target) == b"stuck\n"
    report = end(attach("-p", target.pid)).report
    for lock, holder in (("ledger", "right"), ("accounts", "left")):
        wait = next(w for w in report["waits"] if w["object"] == lock)
        assert wait["cause"] == "lock" and wait["idle_ns"] == 0, wait
        names = [frame["function"] for frame in wait["stack"]]
        assert "take" in names and "run_" in names[names.index("take") + 1], names
        found = next(k for k in report["locks"] if k["name"] == lock)
        assert found["holder"] == holder and found["kind"] == "mutex", found
    join = next(w for w in report["waits"] if w["cause"] == "join")
    assert "main" in [frame["function"] for frame in join["stack"]], join
    check_deadlock(report)
    assert len(report["findings"]) == 1, report["findings"]
    stop(target)


def check_deadlock(report):
    first = report["findings"][0]
    assert [f["pattern"] for f in report["findings"]].count("deadlock") == 1, report["findings"]
    assert first["pattern"] == "deadlock" and first["cause"] == "lock" and first["wait_rank"], first
    for waiter, lock, holder in (("left", "ledger", "right"), ("right", "accounts", "left")):
        said = f"{waiter} waits for {lock}, which {holder} holds"
        assert said in first["title"], first
        where, = [e for e in first["evidence"] if e.startswith(said)]
        assert "in take (" in where and f"from run_{waiter} (" in where, where


@test("threads that hang until they are killed are a deadlock, and the verdict says so")
def hanging_until_killed():
    process = start(PINCH, "run", "--json", "report.json", program("deadlock"), stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
    assert read_line(process) == b"stuck\n"
    process.send_signal(signal.SIGINT)
    text = process.stderr.read().decode()
    assert process.wait(LIMIT_S) == 128 + signal.SIGINT
    check_deadlock(parse_report(read("report.json", "rb")))
    # It has started commands, which are other programs.
    assert re.search(r"Main bottleneck: (deadlock \(pid \d+\): )?deadlock: ", " ".join(text.split())), text


FUTEX_CALL = "202 "


def hung(*what):
    """lost_signal, all of whose threads wait."""
    target = start(program("lost_signal"), *what, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert read_line(target) == b"hung\n"
    wait_until(lambda: read(f"/proc/{target.pid}/syscall").startswith(FUTEX_CALL), "main to wait")
    return target


@test("a process none of whose threads can be woken by another one hangs: the verdict says where and for what")
def hang():
    target = hung()
    report = end(attach("-p", target.pid, "--duration", "300ms"), signal.SIGCONT).report
    first, verdict = report["findings"][0], report["verdict"]
    assert first["pattern"] == "hang" and 0.99 <= first["share"] <= 1, first
    assert verdict["kind"] == "hang" and verdict["blocker"] is None, verdict
    for said in "lost_signal waits for condition ordered in await_order", "baker waits for condition paid in bake":
        assert said in first["title"], first["title"]
    assert all("since before tracing began" in said for said in first["evidence"][1:]), first
    stop(target)


@test("a process is not hung that has a thread which waits with a limit, for its input or in shared memory")
def no_hang():
    for what in "limit", "reader", "shared":
        target = hung(what)
        report = end(attach("-p", target.pid, "--duration", "300ms"), signal.SIGCONT).report
        assert "hang" not in [f["pattern"] for f in report["findings"]], (what, report["findings"])
        stop(target)


@test("-n NAME attaches to the processes of that name, and only to them")
def by_name():
    name = f"e2e{os.getpid()}"
    os.symlink(program("cpu_bound"), name)
    targets = [start(os.path.abspath(name), 1, 100000) for _ in range(2)]
    for target in targets:
        wait_until(lambda: len(os.listdir(f"/proc/{target.pid}/task")) == 2, "its thread")
    process = attach("-n", name)
    report = end(process).report
    assert {t["pid"] for t in report["threads"]} == {t.pid for t in targets}
    for target in targets:
        stop(target)


@test("-n NAME traces processes of that name that are started later, from their first instruction on")
def by_name_later():
    name = f"e2e{os.getpid()}later"
    os.symlink(program("cpu_bound"), name)
    first = start(os.path.abspath(name), 1, 100000)
    process = attach("-n", name)
    later = start(os.path.abspath(name), 1, 100000)
    other = start(program("cpu_bound"), 1, 100000)
    for target in later, other:
        began = cpu_ticks(target.pid)
        wait_until(lambda: cpu_ticks(target.pid) >= began + 20, "it to run")
    report = end(process).report
    assert pids_of(report) == sorted([first.pid, later.pid]), (report["threads"], first.pid, later.pid)
    threads = [t for t in report["threads"] if t["pid"] == later.pid]
    assert len(threads) == 2 and sum(t["running_ns"] for t in threads) > 100_000_000, threads
    assert not [f for p in report["paths"] for f in p["stack"] if not f["function"] and f["module"].endswith(name)], \
        report["paths"]
    for target in first, later, other:
        stop(target)


def cgroup_root():
    for line in read("/proc/self/mounts").splitlines():
        fields = line.split()
        if fields[2] == "cgroup2" or (fields[2] == "cgroup" and "pids" in fields[3].split(",")):
            return fields[1]
    raise Skip("no cgroup hierarchy is mounted")


@test("--cgroup DIR attaches to the processes of the group and those below it")
def by_cgroup():
    group = os.path.join(cgroup_root(), f"pinch-e2e-{os.getpid()}")
    below = os.path.join(group, "below")
    try:
        os.makedirs(below)
    except OSError as error:
        raise Skip(f"cannot make a control group: {error}") from None
    targets = [Sleepers(), Sleepers()]
    try:
        for target, directory in zip(targets, (group, below)):
            with open(os.path.join(directory, "cgroup.procs"), "w") as file:
                file.write(str(target.pid))
        process = attach("--cgroup", group)
        report = end(process).report
        assert {t["pid"] for t in report["threads"]} == {t.pid for t in targets}
    finally:
        for target in targets:
            stop(target.process)
        for directory in (below, group):
            wait_until(lambda: not read(os.path.join(directory, "cgroup.procs")), "it to empty")
            os.rmdir(directory)


@test("--cgroup DIR traces what is started in the group later")
def by_cgroup_later():
    group = os.path.join(cgroup_root(), f"pinch-e2e-{os.getpid()}-later")
    try:
        os.makedirs(group)
    except OSError as error:
        raise Skip(f"cannot make a control group: {error}") from None
    procs = os.path.join(group, "cgroup.procs")
    first = Sleepers()
    later = None
    try:
        with open(procs, "w") as file:
            file.write(str(first.pid))
        process = attach("--cgroup", group)
        later = start("/bin/sh", "-c", f"echo $$ > {procs}; exec {program('cpu_bound')} 1 100000")
        wait_until(lambda: read(f"/proc/{later.pid}/comm") == "cpu_bound\n", "its exec")
        began = cpu_ticks(later.pid)
        wait_until(lambda: cpu_ticks(later.pid) >= began + 100, "it to run")
        report = end(process).report
        assert pids_of(report) == sorted([first.pid, later.pid]), report["threads"]
    finally:
        for target in first.process, later:
            if target:
                stop(target)
        wait_until(lambda: not read(procs), "it to empty")
        os.rmdir(group)


@test("--all traces every program, and neither pinch nor the kernel's threads")
def everything():
    target = Sleepers()
    process = attach("--all", "--duration", "1s")
    target.order("work 1000000")
    result = finish(process)
    assert result.status == 0, result.text
    report = parse_report(read("report.json", "rb"))
    check_laws(report)
    pids = {t["host_pid"] for t in report["threads"]}
    assert target.pid in pids and os.getpid() in pids, sorted(pids)
    assert process.pid not in pids, "pinch traced itself"
    assert 2 not in pids, "a kernel thread was traced"


@test("a thread that is stopped and continued is blocked in between")
def stopped():
    target = start(program("cpu_bound"), 1, 100000)
    wait_until(lambda: len(os.listdir(f"/proc/{target.pid}/task")) == 2, "its thread")
    process = attach("-p", target.pid)
    target.send_signal(signal.SIGSTOP)
    tasks = f"{target.pid}/task"
    wait_until(lambda: all(status_of(f"{tasks}/{tid}").get("State", "T")[0] == "T"
                           for tid in os.listdir(f"/proc/{tasks}")), "its threads to stop")
    time.sleep(0.2)         # whatever it lasts: it is stalled for at least that
    target.send_signal(signal.SIGCONT)
    wait_until(lambda: status_of(target.pid)["State"][0] in "RS", "it to go on")
    report = end(process).report
    assert report["totals"]["stalled_ns"] >= 200_000_000, report["totals"]
    stop(target)


@test("a process that is stopped when pinch attaches is blocked, and runs when it goes on")
def attach_to_stopped():
    target = start(program("cpu_bound"), 1, 100000)
    wait_until(lambda: len(os.listdir(f"/proc/{target.pid}/task")) == 2, "its thread")
    target.send_signal(signal.SIGSTOP)
    wait_until(lambda: all(status_of(f"{target.pid}/task/{t}")["State"][0] == "T"
                           for t in os.listdir(f"/proc/{target.pid}/task")), "it to stop")
    process = attach("-p", target.pid)
    time.sleep(0.1)
    target.send_signal(signal.SIGCONT)
    worker = max(int(t) for t in os.listdir(f"/proc/{target.pid}/task"))
    began = cpu_ticks(target.pid)
    wait_until(lambda: cpu_ticks(target.pid) >= began + 10, "it to run")
    report = end(process).report
    assert report["totals"]["stalled_ns"] >= 100_000_000, report["totals"]
    thread, = [t for t in report["threads"] if t["tid"] == worker]
    assert thread["running_ns"] > 50_000_000 and thread["blocked_ns"] >= 100_000_000, thread
    stop(target)


def cpu_ticks(pid):
    fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


# Starts a child, and that one another: all wait for a byte. Children tell when they are there.
FAMILY = r"""
import os, sys
def wait():
    os.write(1, b"%d\n" % os.getpid())
    os.read(0, 1)
if not os.fork():
    if not os.fork():
        wait()
        os._exit(0)
    wait()
    os._exit(0)
wait()
if not os.fork():
    os.write(1, b"%d\n" % os.getpid())
    os.read(0, 1)
    os._exit(0)
os.read(0, 1)
"""


class Family:
    """A process, its child and its grandchild, which run already; and a child to come."""

    def __init__(self):
        self.process = start("/usr/bin/python3", "-c", FAMILY, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pids = sorted(int(read_line(self.process)) for _ in range(3))

    def wake(self):
        """One of them goes on."""
        self.process.stdin.write(b"x")
        self.process.stdin.flush()


def pids_of(report):
    return sorted({thread["pid"] for thread in report["threads"]})


def notes_with(report, text):
    return [note for note in report["notes"] if text in note]


@test("children that run already are traced, and theirs")
def children():
    family = Family()
    report = end(attach("-p", family.process.pid)).report
    assert pids_of(report) == family.pids, (report["threads"], family.pids)
    assert notes_with(report, "2 child processes of the target ran already and are traced, too"), report["notes"]
    stop(family.process)


@test("--no-children and --threads-only leave out the children that run already, and say so")
def no_children():
    family = Family()
    for option in ("--no-children", "--threads-only"):
        report = end(attach("-p", family.process.pid, option)).report
        assert pids_of(report) == [family.process.pid], report["threads"]
        assert notes_with(report, f"are not traced: {option} leaves them out"), report["notes"]
    stop(family.process)


@test("--no-children follows the children to come")
def children_to_come():
    family = Family()
    process = attach("-p", family.process.pid, "--no-children")
    for _ in range(3):          # whichever of them gets it
        family.wake()
    born = int(read_line(family.process))
    report = end(process).report
    assert pids_of(report) == [family.process.pid, born], (report["threads"], born)
    stop(family.process)


@test("pinch does not trace itself as a child of its target")
def not_itself():
    path = os.path.abspath("self.json")
    command = f"{PINCH} attach -q -p $$ --duration 200ms --json {path}; exit $?"
    result = finish(start("/bin/sh", "-c", command, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    assert result.status == 0, result.text
    report = parse_report(read(path, "rb"))
    assert len(report["threads"]) == 1, report["threads"]


@test("of several processes one is gone: it is skipped with a warning and a note")
def one_gone():
    target = Sleepers()
    gone = start("/bin/true")
    gone.wait()
    process = attach("-p", f"{gone.pid},{target.pid}")
    target.order("work 1000")
    result = end(process)
    assert pids_of(result.report) == [target.pid], result.report["threads"]
    assert notes_with(result.report, f"process {gone.pid} was not there when tracing began: skipped"), \
        result.report["notes"]
    assert f"no process {gone.pid}: skipped" in result.text, result.text
    stop(target.process)


@test("all of several processes are gone: one error names them")
def all_gone():
    gone = [start("/bin/true") for _ in range(2)]
    for process in gone:
        process.wait()
    result = pinch("attach", "-p", gone[0].pid, "-p", gone[1].pid)
    assert result.status == 1, result.status
    assert result.text.strip() == f"pinch: no process {gone[0].pid}, {gone[1].pid}; `ps -e` lists all", result.text


@test("a target in another PID namespace: ids as it sees them, and the host's beside")
def namespace():
    target = start("unshare", "--pid", "--fork", "--mount-proc", program("cpu_bound"), 2, 100000,
                   stderr=subprocess.DEVNULL)
    children = f"/proc/{target.pid}/task/{target.pid}/children"
    wait_until(lambda: read(children).split(), "unshare to fork")
    pid = int(read(children).split()[0])
    wait_until(lambda: read(f"/proc/{pid}/comm").strip() == "cpu_bound"
               and len(os.listdir(f"/proc/{pid}/task")) == 3, "its threads")
    host_tids = {int(t) for t in os.listdir(f"/proc/{pid}/task")}
    process = attach("-p", pid)
    report = end(process).report
    assert {t["host_tid"] for t in report["threads"]} == host_tids
    assert {t["host_pid"] for t in report["threads"]} == {pid}
    assert sorted(t["tid"] for t in report["threads"]) == [1, 2, 3], report["threads"]
    assert {t["pid"] for t in report["threads"]} == {1}
    os.kill(pid, signal.SIGKILL)
    target.wait(LIMIT_S)


def titles_of(report):
    """The title and program of each process, by its id; nobody else has a title."""
    assert not [t for t in report["threads"] if t["title"] and t["tid"] != t["pid"]], report["threads"]
    return {t["pid"]: t["title"] for t in report["threads"] if t["tid"] == t["pid"]}


@test("processes of one name are distinguished by the titles that they give themselves, in traces too")
def titles():
    target = start(program("titled"), "x" * 40, stdout=subprocess.PIPE)
    try:
        assert read_line(target) == b"ready\n"
        parts = [int(pid) for pid in read(f"/proc/{target.pid}/task/{target.pid}/children").split()]
        pids = ",".join(map(str, [target.pid, *parts]))
        wait_until(lambda: all(b"part" in read(f"/proc/{pid}/cmdline", "rb") for pid in parts), "the titles")
        for command in ("record", "-o", "t.pinch"), ("attach", "--json", "live.json"):
            result = pinch(*command, "--duration", "1s", "-p", pids)
            assert result.status == 0, result.text
        result = pinch("report", "-v", "--json", "replay.json", "-o", "report.txt", "t.pinch")
        assert result.status == 0, result.text
    finally:
        for pid in [*parts, target.pid]:
            os.kill(pid, signal.SIGKILL)
    live, replay = (titles_of(parse_report(read(name, "rb"))) for name in ("live.json", "replay.json"))
    # Arguments are none.
    assert live == replay == {target.pid: None, **{pid: f"server: part\t{i}" for i, pid in enumerate(parts)}}, (live, replay)
    # What it may have for a terminal is escaped.
    assert all(f"server: part\\x09{i}" in read("report.txt") for i in range(3)), read("report.txt")


@test("a program keeps the name that it runs under, and not that of the file behind a link")
def renamed():
    os.symlink(program("titled"), "renamed-server")
    target = start("./renamed-server", "x" * 40, stdout=subprocess.PIPE)
    try:
        assert read_line(target) == b"ready\n"
        for command in ("record", "-o", "t.pinch"), ("attach", "--json", "live.json"):
            result = pinch(*command, "--duration", "1s", "--no-children", "-p", target.pid)
            assert result.status == 0, result.text
    finally:
        for pid in [*read(f"/proc/{target.pid}/task/{target.pid}/children").split(), target.pid]:
            os.kill(int(pid), signal.SIGKILL)
    result = pinch("report", "--json", "replay.json", "t.pinch")
    assert result.status == 0, result.text
    for name in "live.json", "replay.json":
        waits = parse_report(read(name, "rb"))["waits"]
        modules = {frame["module"] for wait in waits for frame in wait["stack"] if frame["function"] == "main"}
        assert modules == {"renamed-server"}, waits


if __name__ == "__main__":
    sys.exit(main())
