# SPDX-License-Identifier: GPL-2.0-or-later
"""
What the end-to-end tests share. A test is a function under @test("sentence that can be false");
what it asserts decides the sentence, and main() prints TAP. Everything a test starts goes through
start() or pinch(), so that it is stopped, by its pid, whatever happens; so is what these leave behind.

Environment: O, the build directory (default: build); PINCH, another binary to test; ONLY, a part
of the sentences to run (a regular expression); JOBS, how many at a time, which is else up to the file;
LIMIT_S, after how many seconds a wait is a hang; JITTER_NS, what is added to tolerances of times
(tests/kernels); KEEP, to keep the private directory.
"""
import ast
import contextlib
import ctypes
import functools
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from lib_schema import Schema

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("O", os.path.join(ROOT, "build")))
PINCH = os.path.abspath(os.environ.get("PINCH", os.path.join(BUILD, "pinch")))
PROGRAMS = os.path.join(BUILD, "programs")

# A limit, never an expectation: it only turns a hang into a failure.
LIMIT_S = int(os.environ.get("LIMIT_S", 60))

# What may pass unseen between two events that are one on a real machine: an emulated CPU is halted
# by the host at any point, with interrupts off, too.
JITTER_NS = int(os.environ.get("JITTER_NS", 0))

# A shell ignores these for what it starts in the background, and so would all that we start.
for number in (signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT
                      else signal.SIG_DFL)

BPF_NAMES = {"sched_switch", "sched_waking", "sched_wakeup", "sched_process_fork", "sched_process_exec",
             "sched_process_exit", "task_rename", "list_threads", "list_listeners", "sample_timer",
             "sample_expiry", "exit_begin", "resolve_begin", "resolve_end", "irq_begin", "irq_end",
             "softirq_begin", "softirq_end", "timer_begin", "timer_end", "net_receive",
             "block_insert", "block_issue", "block_complete", "span_call_begin", "span_call_end",
             "span_function_begin", "span_function_end", "klock_begin", "klock_end", "nested_begin", "nested_end", "list_queues",
             "acquire_call", "acquire_return", "list_holds", "usdt_hit", "poll_begin"}

tests = []
processes = []
workers = {}        # pid: the number of its test
PR_SET_CHILD_SUBREAPER = 36


class Skip(Exception):
    """Why the test cannot be made here."""


def test(sentence):
    def register(function):
        tests.append((sentence, function))
        return function
    return register


def program(name):
    path = os.path.join(PROGRAMS, name)
    if not os.path.exists(path):
        raise Skip(f"{name} is not built here")
    return path


def script(name):
    """A planted program that is not built."""
    return os.path.join(ROOT, "tests", "programs", name)


# --- Processes ----------------------------------------------------------------------------------

def start(*command, **options):
    """Popen that main() stops if the test does not."""
    process = subprocess.Popen([str(c) for c in command], **options)
    processes.append(process)
    return process


def stop(process, number=signal.SIGKILL):
    if process.poll() is None:
        process.send_signal(number)
    try:
        return process.wait(LIMIT_S)
    finally:
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()


def read_line(process):
    """One line of its standard output; b"" at the end."""
    line = b""
    while not line.endswith(b"\n"):
        assert select.select([process.stdout], [], [], LIMIT_S)[0], \
            f"no line from {process.args} within {LIMIT_S} s"
        byte = os.read(process.stdout.fileno(), 1)
        if not byte:
            break
        line += byte
    return line


def wait_until(condition, what, limit_s=LIMIT_S):
    """Polls; returns what condition() gave when that is true for the first time."""
    end = time.monotonic() + limit_s
    while True:
        reap_helpers()
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"waited {limit_s} s for: {what}"
        time.sleep(0.01)


def read(path, mode="r"):
    with open(path, mode) as file:
        return file.read()


def status_of(pid):
    """/proc/PID/status as a dictionary; empty when there is no such process."""
    try:
        lines = read(f"/proc/{pid}/status", "rb").decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def is_alive(pid):
    return status_of(pid).get("State", "Z")[0] not in "ZX"


class Result:
    """How a pinch ended: status as a shell says it, out and err as bytes."""

    def __init__(self, status, out, err, report_path=None):
        self.status = 128 - status if status < 0 else status
        self.out = out
        self.err = err
        self.report_path = report_path

    @property
    def text(self):
        return self.err.decode("utf-8", "replace")

    @functools.cached_property
    def report(self):
        return parse_report(read(self.report_path, "rb"))


def pinch(*arguments, input=b"", limit_s=LIMIT_S, prefix=(), **options):
    """Runs pinch to its end. prefix: the words in front of it, such as a setpriv."""
    process = start(*prefix, PINCH, *arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, **options)
    return finish(process, input, limit_s)


def finish(process, input=None, limit_s=LIMIT_S):
    try:
        out, err = process.communicate(input, timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"still running after {limit_s} s: {process.args}\n"
                             f"{err.decode('utf-8', 'replace')}") from None
    return Result(process.returncode, out, err)


def run(*command, options=(), status=0, **kw):
    """pinch run with JSON to a file, checked against the schema and the laws."""
    result = pinch("run", "--json", "report.json", *options, "--", *command, **kw)
    assert result.status == status, f"exit status {result.status}, not {status}\n{result.text}"
    result.report_path = os.path.abspath("report.json")
    check_laws(result.report)
    return result


def find(name):
    """The path of an installed program, None when there is none."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def disk_directory():
    """The private directory, if reading and writing in it can block."""
    kind = subprocess.run(["stat", "-f", "-c", "%T", "."], capture_output=True, text=True)
    if kind.stdout.strip() in ("tmpfs", "ramfs"):
        raise Skip("the temporary directory is in memory: nothing blocks there")
    return os.getcwd()


def make_hello_files():
    """The files that main_read reads, so that making them is no part of its run."""
    for i in range(1, 5):
        with open(f"hello{i}.txt", "wb") as file:
            file.write(os.urandom(20 << 20))
            os.fsync(file.fileno())


class ServerPlace:
    """What the bench's server wants to know."""
    directory = None

    @staticmethod
    def find(name):
        path = find(name)
        if not path:
            raise Skip(f"{name} is not installed")
        return path


def server_place():
    """The private directory, made ready for a server that is another user."""
    ServerPlace.directory = os.getcwd()
    os.chmod(ServerPlace.directory, 0o711)
    os.makedirs("tmp", exist_ok=True)
    os.chmod("tmp", 0o1777)
    os.environ["TMPDIR"] = os.path.abspath("tmp")
    return ServerPlace


# --- Reports ------------------------------------------------------------------------------------

@functools.cache
def schema_of(name):
    return Schema(json.loads(read(os.path.join(ROOT, "doc", f"{name}-schema.json"))))


def parse(data, name):
    """Strictly: UTF-8, no control characters, valid by the schema of this name."""
    text = data.decode("utf-8", "strict")
    bad = re.findall(r"[\0-\x09\x0b-\x1f\x7f-\x9f]", text)
    assert not bad, f"raw control characters in the JSON: {bad[:5]}"
    parsed = json.loads(text)
    error = schema_of(name).find_error(parsed)
    assert not error, f"not as the schema says, at {error}"
    return parsed


def parse_report(data):
    return parse(data, "report")


def near(a, b, tolerance, what):
    assert abs(a - b) <= tolerance, f"{what}: {a} against {b}, which is {a - b:+} apart; " \
                                    f"allowed {tolerance}"


# Counts of things that must not happen when nothing is forced.
LOSSES = ("records", "gaps", "gap_ns", "malformed", "late", "mappings", "threads_untracked")


def check_blocked_on(report):
    """doc/metrics.md, "Blocked on": each nanosecond of a wait is in one place, and none is in two."""
    for row in report["waits"] + report["locks"]:
        on = row["blocked_on"]
        if not on:
            continue
        assert on["running_ns"] + on["cpu_wait_ns"] + on["waiting_ns"] + on["unknown_ns"] == on["ns"], on
        assert on["ns"] <= row["wait_ns"], f"{on['ns']} ns of {row['wait_ns']} ns"
        assert sum(c["ns"] for c in on["code"]) <= on["running_ns"], on
        assert sum(w["ns"] for w in on["waits"]) <= on["waiting_ns"] + len(on["waits"]), on


def check_blame(report):
    """doc/metrics.md, "Blame": what was lost is charged to causes, all of it, once."""
    blame, threads = report["blame"], report["balance"]["threads"]
    assert blame["spun_ns"] <= threads["spinning_ns"], (blame["spun_ns"], threads)
    assert blame["lost_ns"] == max(threads["busy_ns"] - threads["running_ns"], 0) + blame["spun_ns"], \
        (blame["lost_ns"], threads)
    assert sum(root["ns"] for root in blame["roots"]) == blame["lost_ns"], blame
    assert blame["followed_ns"] <= blame["lost_ns"], blame
    for root in blame["roots"]:
        assert root["direct_ns"] <= root["ns"], root
        assert sum(chain["ns"] for chain in root["chains"]) <= root["ns"] + len(root["chains"]), root
        assert sum(user["ns"] for user in root["users"]) <= root["ns"], root
        assert root["victims"] <= report["totals"]["threads"], root


def check_event_loops(report):
    """Each moment of a loop is of a poll or of an iteration, and no part is more than what it is of."""
    for loop in report["event_loops"]:
        work, longest = loop["work"], loop["longest"]
        threads = [t for t in report["threads"] if (t["host_pid"], t["host_tid"]) == (loop["pid"], loop["tid"])]
        if len(threads) == 1:       # none, if it shares a row; several, if its id was used again
            thread, = threads
            life_ns = thread["running_ns"] + thread["cpu_wait_ns"] + thread["blocked_ns"]
            assert loop["polled_ns"] + work["ns"] <= life_ns, (loop, thread)
            assert work["running_ns"] <= thread["running_ns"], (loop, thread)
            assert work["waiting_ns"] <= thread["blocked_ns"], (loop, thread)
        assert longest["ns"] == loop["max_ns"] <= work["ns"] and loop["p50_ns"] <= loop["p99_ns"] <= loop["max_ns"], loop
        assert loop["unread_looks"] <= loop["looks"] and loop["unread_ns"] <= loop["max_ns"], loop
        assert loop["asked_iterations"] <= loop["iterations"] >= loop["long_iterations"], loop
        for part in (work, longest, loop["long_work"]):
            if not part:
                continue
            assert part["running_ns"] + part["cpu_wait_ns"] + part["waiting_ns"] + part["unknown_ns"] == part["ns"], part
            assert part["ns"] <= work["ns"] and part["running_ns"] <= work["running_ns"], (part, work)
            assert sum(code["ns"] for code in part["code"]) <= part["running_ns"], part
            assert sum(wait["ns"] for wait in part["waits"]) <= part["waiting_ns"] + len(part["waits"]), part


def check_listeners(report):
    """Looks at which a queue was full are some of those at which connections waited."""
    for listener in report["listeners"]:
        assert listener["full_looks"] <= listener["waiting_looks"] <= listener["looks"] and listener["looks"], listener
        assert listener["waiting"] <= listener["waiting_max"] and listener["processes"], listener
        assert bool(listener["dropping_ns"]) == bool(listener["drops"]), listener


def check_verdict(report):
    """It is of what the report has elsewhere, and says three things."""
    verdict, findings = report["verdict"], report["findings"]
    assert len(verdict["lines"]) == 3 and all(verdict["lines"]), verdict
    seen = [one for f in findings for one in (f["title"], *f["symptoms"])]
    assert verdict["symptom"] is None or any(one.startswith(verdict["symptom"]) for one in seen), (verdict, seen)
    said = [f for f in findings if f["title"] in verdict["lines"][0]]
    if verdict["kind"] == "none":
        assert not said and not [f for f in findings if f["pattern"] == "deadlock"], (verdict, findings)
    # What has less weight is no verdict; what is said is the first that has it, or no finding at all.
    assert not said or verdict["share"] == said[0]["share"], (verdict, said)
    assert 0 <= verdict["share"] <= 1 and (verdict["kind"] in ("none", "deadlock") or verdict["share"] >= 0.05), verdict
    blocker = verdict["blocker"]
    if blocker and blocker["tid"]:
        row, = [t for t in report["threads"] if t["name"] == blocker["name"]]
        assert (row["host_pid"], row["host_tid"]) == (blocker["pid"], blocker["tid"]), (blocker, row)


def check_laws(report, is_lossless=True):
    """doc/design.md, section 3, on the totals and on the threads."""
    totals, target, threads = report["totals"], report["target"], report["threads"]
    wall_ns, active_ns = target["wall_ns"], totals["active_ns"]
    slack_ns = 1000 + wall_ns // 1_000_000      # 1 us per second
    rounding_ns = len(threads)                  # each figure is rounded to a nanosecond

    assert abs(totals["accounting_error_ns"]) <= slack_ns, \
        f"accounting error {totals['accounting_error_ns']} ns in {wall_ns} ns"
    near(totals["cmetric_ns"] + totals["stalled_ns"] + totals["accounting_error_ns"], wall_ns, 1,
         "CMetric + stalled + closure error is the wall time")
    near(active_ns + totals["stalled_ns"], wall_ns, 1, "active + stalled is the wall time")
    near(sum(t["cmetric_ns"] for t in threads), active_ns, slack_ns + rounding_ns,
         "the threads' CMetrics add up to the active time")
    assert sum(t["thread_count"] for t in threads) == totals["threads"], \
        f"{totals['threads']} threads in the totals, {sum(t['thread_count'] for t in threads)} in rows"
    check_histogram(report, slack_ns)
    for thread in threads:
        check_thread(thread, wall_ns, slack_ns)
    # n dt, counted by level and counted by thread.
    near(sum(p["active"] * p["ns"] for p in report["parallelism"]),
         sum(t["running_ns"] + t["cpu_wait_ns"] - t["inactive_ns"] for t in threads),
         slack_ns + rounding_ns, "thread-seconds of activity")
    assert totals["slices"] == sum(t["slices"] for t in threads), "slices do not add up"
    assert totals["critical_slices"] == sum(t["critical_slices"] for t in threads)
    assert totals["critical_slices"] <= totals["slices"]
    assert totals["critical_ns"] <= active_ns
    check_paths(report)
    check_waits(report)
    check_blocked_on(report)
    check_blame(report)
    check_event_loops(report)
    check_listeners(report)
    check_verdict(report)
    stacks = report["stacks"]
    assert stacks["taken"] == sum(stacks[end] for end in
                                  ("complete", "truncated", "no_table", "unreadable")), stacks
    if is_lossless:
        lost = losses_of(report)
        assert not lost, f"lost: {lost}"
        check_states(report)
    assert report["cost"]["target_waited_ns"] <= report["balance"]["threads"]["cpu_wait_ns"], report["cost"]


def stolen_ticks():
    """For how long the host has had the CPUs of this machine, which is a virtual one then."""
    return int(read("/proc/stat").split(maxsplit=9)[8])


STOLEN_TICKS = stolen_ticks()


def losses_of(report):
    """What was lost, by kind: none of it may be."""
    lost = {key: report["losses"][key] for key in LOSSES if report["losses"][key]}
    # The kernel's perf records come late when a CPU is halted between their time and their place.
    if JITTER_NS or (lost.get("late", 0) <= 3 and stolen_ticks() > STOLEN_TICKS):
        lost.pop("late", None)
    return lost


def check_states(report):
    """Each wait has an end and a waker, or a reason why none is known."""
    account = report["balance"]["threads"]
    assert not account["unexplained_waits"], f"{account['unexplained_waits']} waits ended by nobody knows what"
    assert not account["lost_waits"], f"{account['lost_waits']} waits of whose end the record was lost"
    assert not account["hidden_waits"] or report["losses"]["hidden"], \
        f"{account['hidden_waits']} waits ended by what is hidden, and nothing is"
    assert not report["losses"]["unexplained_transitions"], \
        f"{report['losses']['unexplained_transitions']} changes of state did not fit the one before: {report['notes']}"


def check_histogram(report, slack_ns):
    levels = report["parallelism"]
    assert len({level["active"] for level in levels}) == len(levels), "a level appears twice"
    near(sum(level["ns"] for level in levels), report["target"]["wall_ns"], slack_ns,
         "the parallelism histogram adds up to the wall time")
    near(sum(level["ns"] for level in levels if not level["active"]),
         report["totals"]["stalled_ns"], slack_ns, "level 0 is the stalled time")


def check_thread(thread, wall_ns, slack_ns):
    name = f"thread {thread['tid']} ({thread['name']!r})"
    active_ns = thread["running_ns"] + thread["cpu_wait_ns"]
    assert thread["cmetric_oncpu_ns"] <= thread["cmetric_ns"], f"{name}: on-CPU above the whole"
    assert thread["cmetric_ns"] <= active_ns + slack_ns, f"{name}: CMetric above its active time"
    assert thread["cmetric_oncpu_ns"] <= thread["running_ns"] + slack_ns, f"{name}: on-CPU CMetric"
    assert active_ns + thread["blocked_ns"] <= thread["thread_count"] * wall_ns + slack_ns, \
        f"{name}: lived longer than the program"
    assert thread["critical_slices"] <= thread["slices"], f"{name}: critical slices"


def check_paths(report):
    paths, losses = report["paths"], report["losses"]
    assert [p["rank"] for p in paths] == list(range(1, len(paths) + 1)), "ranks"
    assert all(a["cmetric_ns"] >= b["cmetric_ns"] for a, b in zip(paths, paths[1:])), "order"
    if not losses["stacks_not_kept"]:
        assert sum(p["cmetric_ns"] for p in paths) <= report["totals"]["cmetric_ns"] + len(paths)
    for path in paths:
        for frame in path["stack"]:
            assert frame["function"] != "[unknown]"
            assert frame["function"] or frame["module"], f"a frame without any name: {frame}"


def check_at_most(rows, total, keys, what):
    """Each row is rounded."""
    for key in keys:
        part = sum(row[key] for row in rows)
        assert part <= total[key] + len(rows), f"{what}: {key} of {len(rows)} rows are {part}, of {total[key]}"


def check_waits(report):
    """What is estimated of where threads waited, and who ended it, is no more than all waits."""
    causes = {cause["cause"]: cause for cause in report["balance"]["threads"]["causes"]}
    for cause in {wait["cause"] for wait in report["waits"]}:
        assert cause in causes, f"waits for {cause} are not in the balance"
        check_at_most([wait for wait in report["waits"] if wait["cause"] == cause], causes[cause],
                      ("waits", "wait_ns", "idle_ns"), f"waits for {cause}")
    for wait in report["waits"]:
        check_at_most(wait["wakers"], wait, ("waits", "wait_ns"), f"wakers of {wait['object']}")
    for lock in report["locks"]:
        check_at_most(lock["unlockers"], lock, ("waits", "wait_ns"), f"unlockers of {lock['name']}")
    for lock in report["kernel_locks"]["locks"]:
        check_at_most(lock["paths"], lock, ("waits", "wait_ns"), f"call paths of {lock['name']}")


def base_name(function):
    """big_work(int) and (anonymous namespace)::big_work [clone .part.0] are big_work."""
    name = function or ""
    name = re.sub(r"\s*\[.*\]$", "", name)
    name = re.sub(r"\(anonymous namespace\)::", "", name)
    return re.sub(r"\(.*$", "", name)


def functions_of(path):
    """The names in a path, innermost first."""
    return [base_name(f["function"]) for f in path["stack"]]


def describe(report):
    """The first paths, for the message of a failed assertion."""
    lines = []
    for path in report["paths"][:5]:
        names = [f["function"] or f"{f['module']}+{f['offset']:#x}" for f in path["stack"][:6]]
        lines.append(f"{path['rank']}. {path['cmetric_ns']} ns, {path['thread_names']}: "
                     + " < ".join(names))
    return "\n".join(lines)


def find_path(report, function):
    """The first path in which the function is; None when it is in none."""
    for path in report["paths"]:
        if function in functions_of(path):
            return path
    return None


def threads_named(report, name):
    return [t for t in report["threads"] if t["name"] == name]


def own_frames_unresolved(report, module):
    """Frames of the program's own file that have no name."""
    base = os.path.basename(module)
    return [frame for path in report["paths"] for frame in path["stack"]
            if not frame["function"] and os.path.basename(frame["module"] or "") == base]


def assert_resolved(report, path):
    frames = own_frames_unresolved(report, path)
    assert not frames, f"frames of {os.path.basename(path)} have no name: {frames[:3]}"


# --- What is attached ---------------------------------------------------------------------------

def bpftool():
    path = shutil.which("bpftool", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Skip("bpftool is not here")
    return path


def owners():
    """BPF program id: the processes that hold it or a link to it. (Not every bpftool says.)"""
    held = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                if "bpf" not in os.readlink(f"/proc/{pid}/fd/{fd}"):
                    continue
                for line in read(f"/proc/{pid}/fdinfo/{fd}").splitlines():
                    if line.startswith("prog_id:"):
                        held.setdefault(int(line.split()[1]), set()).add(int(pid))
        except OSError:     # it has ended, or closed it
            continue
    return held


def pinch_programs():
    """The BPF programs that bear a name of pinch's: [(id, name, owning pids)]."""
    done = subprocess.run([bpftool(), "-j", "prog", "show"], capture_output=True, check=True)
    held = owners()
    return [(p["id"], p.get("name", ""), held.get(p["id"], set()))
            for p in json.loads(done.stdout)
            if p["type"] in ("tracing", "perf_event", "kprobe")
            and any(p.get("name") == n or p.get("name") == n[:15] for n in BPF_NAMES)]


def links_of(pid):
    """How many BPF links the process holds: what it has attached, not only loaded."""
    count = 0
    for fd in files_of(pid):
        try:
            count += "bpf_link" in os.readlink(f"/proc/{pid}/fd/{fd}")
        except OSError:             # closed since it was listed, which says nothing of the others
            pass
    return count


def has_attached(pid, name):
    """Whether one of the process's links is to the program of pinch's that has this name."""
    numbers = {f"prog_id:\t{number}" for number, known, _ in pinch_programs() if known == name[:15]}
    for fd in files_of(pid):
        try:
            if "bpf_link" in os.readlink(f"/proc/{pid}/fd/{fd}") and \
                    numbers & set(read(f"/proc/{pid}/fdinfo/{fd}").splitlines()):
                return True
        except OSError:
            pass
    return False


def files_of(pid):
    """The process's descriptors; none if it has ended."""
    try:
        return os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return []


def wait_attached(process):
    wait_until(lambda: process.poll() is not None or links_of(process.pid), "pinch to attach")
    # The listing of the threads follows; then it polls its signals.
    wait_until(lambda: process.poll() is not None or is_polling(process.pid), "pinch to trace")


def is_polling(pid):
    """It waits in poll(), as it does between two looks at its rings: for more than one helper's answer."""
    try:
        fields = read(f"/proc/{pid}/syscall").split()
        return fields[0] == "7" and int(fields[2], 16) >= 3
    except (OSError, IndexError):
        return False


def assert_nothing_attached():
    """No program of ours, none that nobody owns; those of a pinch elsewhere do not count."""
    ours = {p.pid for p in processes}

    def leftovers():
        # Loaded, and not in the hands of a pinch that somebody else runs.
        return [p for p in pinch_programs() if not p[2] or ours & p[2]]

    try:        # the kernel frees programs a moment after their last user is gone
        wait_until(lambda: not leftovers(), "programs to go", 20)
    except AssertionError:
        raise AssertionError(f"still attached: {leftovers()}") from None


# --- The end of a file ---------------------------------------------------------------------------

def cannot_trace():
    """Why nothing can be traced here, as `pinch check` says it; None when it can."""
    done = subprocess.run([PINCH, "check"], capture_output=True, text=True)
    if done.returncode == 0:
        return None
    missing = [line.strip() for line in done.stdout.splitlines() if "MISSING" in line]
    return "; ".join(missing) or f"pinch check ended with {done.returncode}"


def stop_all():
    for pid in workers:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
    workers.clear()
    for process in processes:
        if process.poll() is None:
            # Not process.wait(): what the signal came into may have its lock.
            os.kill(process.pid, signal.SIGKILL)
            try:
                os.waitpid(process.pid, 0)
            except ChildProcessError:
                pass


def adopt():
    """
    What a process below this one leaves behind when it ends becomes a child of this one: the command of a pinch that was
    killed, a program of its own.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def own_children():
    """The processes below this one, but workers."""
    found = []
    for task in os.listdir("/proc/self/task"):
        try:
            found += map(int, read(f"/proc/self/task/{task}/children").split())
        except OSError:     # the thread has ended, and another one has its children
            pass
    return [pid for pid in found if pid not in workers]


def stop_left():
    """Ends what stop_all() does not know of. Children of those become this one's, and are next."""
    while left := own_children():
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in left:
            with contextlib.suppress(ChildProcessError):    # a thread of the test has waited for it
                os.waitpid(pid, 0)


def reap_helpers():
    """Processes that a killed pinch had for itself are this one's children, whose ends somebody has to take note of."""
    for pid in own_children():
        with contextlib.suppress(OSError):
            if status_of(pid).get("Name", "").startswith("pinch-"):
                os.waitpid(pid, os.WNOHANG)


def is_looked_up(node):
    """An expression that is read without running anything: names, attributes, places."""
    if isinstance(node, ast.Subscript):
        return is_looked_up(node.value) and (isinstance(node.slice, ast.Constant) or is_looked_up(node.slice))
    return isinstance(node, ast.Name) or isinstance(node, ast.Attribute) and is_looked_up(node.value)


def looked_up(node):
    """The longest such parts of an expression."""
    if is_looked_up(node):
        yield ast.unparse(node)
        return
    for child in ast.iter_child_nodes(node):
        yield from looked_up(child)


def values_of(frame, line):
    """What the parts of an assertion are there, a line each: it says nothing itself."""
    def is_here(node):
        return isinstance(node, ast.Assert) and node.lineno <= line <= node.end_lineno
    values = {}
    for node in filter(is_here, ast.walk(ast.parse(read(frame.f_code.co_filename)))):
        for part in looked_up(node.test):
            try:
                values[part] = eval(part, frame.f_globals, frame.f_locals)
            except Exception:       # a variable of a comprehension, a key that is missing
                continue
    return "".join(f"\n{part} = {value!r:.300}" for part, value in values.items() if not callable(value))


def describe_failure(error):
    """Where an assertion failed, and why."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    where = traceback.extract_tb(error.__traceback__)[-1]
    said = error if error.args else where.line + values_of(frame, line)
    return f"{os.path.basename(where.filename)}:{line}: {said}"


def run_one(function):
    """None when it holds, else what to print: ("skip" or "fail", text)."""
    directory = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
    os.chdir(directory)
    try:
        function()
    except Skip as skip:
        return "skip", str(skip)
    except AssertionError as error:
        return "fail", describe_failure(error)
    except Exception:
        return "fail", traceback.format_exc()
    finally:
        stop_all()
        stop_left()
        os.chdir(os.environ["TMPDIR"])
    return None


def start_worker(number, function):
    """A process that runs one test, and leaves a file with what it says."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        workers[pid] = number
        return
    try:
        workers.clear()
        adopt()
        outcome = run_one(function)
        with open(os.path.join(os.environ["TMPDIR"], f"outcome-{number}"), "w") as file:
            json.dump(outcome, file)
    finally:
        os._exit(0)


def end_of_worker():
    """Which test has ended, and how. A worker that was killed has left children to this process, which end, too."""
    pid, status = os.wait()
    while pid not in workers:
        pid, status = os.wait()
    number = workers.pop(pid)
    path = os.path.join(os.environ["TMPDIR"], f"outcome-{number}")
    return number, json.loads(read(path)) if os.path.exists(path) else \
        ("fail", f"its process ended with {os.waitstatus_to_exitcode(status)}")


def outcomes_of(functions, jobs):
    """In their order; that many run at a time."""
    if jobs == 1:
        yield from map(run_one, functions)
        return
    begun, ended = 0, {}
    for number in range(len(functions)):
        while number not in ended:
            while begun < len(functions) and len(workers) < jobs:
                start_worker(begun, functions[begun])
                begun += 1
            at, outcome = end_of_worker()
            ended[at] = outcome
        yield ended[number]


def print_line(line):
    # What a traced program chose may be in a message: keep the terminal and TAP clean.
    print("".join(c if c.isprintable() else repr(c)[1:-1] for c in line), flush=True)


def print_test(number, sentence, outcome):
    """outcome: as of run_one(). Returns whether it has failed."""
    kind, text = outcome or (None, "")
    print_line(f"{'not ' if kind == 'fail' else ''}ok {number} - {sentence}"
               + (f" # SKIP {text}" if kind == "skip" else ""))
    if kind == "fail":
        for line in text.splitlines():
            print_line(f"# {line}")
    return kind == "fail"


def main(jobs=1):
    """jobs: more than 1 where each test means the same whatever else has the CPUs."""
    only = os.environ.get("ONLY", "")
    jobs = int(os.environ.get("JOBS", jobs))
    chosen = [t for t in tests if re.search(only, t[0])]
    if not os.path.exists(PINCH):
        print(f"Bail out! {PINCH} is not built")
        return 1
    reason = cannot_trace()
    directory = tempfile.mkdtemp(prefix="pinch-e2e-")
    os.chmod(directory, 0o755)
    os.environ["TMPDIR"] = directory
    os.environ["XDG_CACHE_HOME"] = os.path.join(directory, "cache")
    failed = 0
    adopt()
    last = ("nothing of pinch stays attached", assert_nothing_attached)
    try:
        outcomes = outcomes_of([function for _, function in chosen], jobs) if not reason else \
            (("skip", reason) for _ in chosen)
        for number, ((sentence, _), outcome) in enumerate(zip(chosen, outcomes), 1):
            failed += print_test(number, sentence, outcome)
        failed += print_test(len(chosen) + 1, last[0], ("skip", reason) if reason else run_one(last[1]))
    finally:
        stop_all()
        stop_left()
        os.chdir("/")
        if not os.environ.get("KEEP"):
            shutil.rmtree(directory, ignore_errors=True)
    print(f"1..{len(chosen) + 1}")
    return 1 if failed else 0


def at_signal(number, frame):
    stop_all()
    stop_left()
    sys.exit(128 + number)


signal.signal(signal.SIGTERM, at_signal)
