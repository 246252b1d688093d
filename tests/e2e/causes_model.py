# SPDX-License-Identifier: GPL-2.0-or-later
"""
What causes.py asks a report about waiting: to find a wait, a waker, a lock or a file in it, to say
in a few lines what is there instead, and the laws that the balance, the waits and the locks obey.
"""
import re

from lib import JITTER_NS, assert_resolved, check_laws, functions_of, near

ROUNDING = 1e-5         # of a sum of shares that are rounded one by one
# Of a millisecond that a program forces, in ns. Emulated, a CPU that is halted misses some waits.
FORCED_NS = 800_000 if JITTER_NS else 990_000
# The same in one row. There a new process has waited several times before its stacks can be read: these are rows of their own.
FORCED_IN_ROW_NS = 250_000 if JITTER_NS else FORCED_NS

GROUPS = {"lock": "SYNCHRONISATION", "condition": "SYNCHRONISATION", "barrier": "SYNCHRONISATION",
          "join": "SYNCHRONISATION", "semaphore": "SYNCHRONISATION", "file": "IO", "socket": "IO",
          "pipe": "IO"}
# Of threads that are runnable or running: not part of the time in which they are blocked.
ACTIVE = {"cpu-wait", "throttled", "spin"}
CAUSES = set(GROUPS) | ACTIVE | {"poll", "child", "sleep", "page-fault", "kernel-lock", "stopped",
                                 "exit", "other"}
CONTEXTS = {"thread", "process", "kernel", "timer", "disk", "network", "interrupt", "signal",
            "exit", "none", "lost", "hidden"}
KINDS = {"mutex", "rwlock", "semaphore", "condition", "barrier", "join", "futex", "pi-mutex",
         "sysv-semaphore", "flock", "file-lock", "atomic", "once", "tbb", "monitor", "park", "idle",
         # The kernel's own.
         "spinlock", "rwlock read", "rwlock write", "rwsem read", "rwsem write", "percpu-rwsem read",
         "percpu-rwsem write", "rtmutex"}
# The disk's interrupt, or the kernel's thread that has it do its work.
DISK = {"disk", "interrupt", "kernel"}
# A packet to this machine is delivered from within send(), by the softirq that follows it, or by
# ksoftirqd when that has no time.
LOOPBACK = {"network", "kernel", "interrupt"}


# --- Finding what a test is about -----------------------------------------------------------------

def describe_waker(waker):
    place = next(iter(functions_of(waker)), "no stack")
    return f"{waker['share']:.0%} {waker['context']} {waker['name']!r} in {place}"


def describe_wait(wait):
    wakers = ", ".join(describe_waker(w) for w in wait["wakers"][:3])
    return f"{wait['cause']} on {wait['object']!r}, {wait['wait_ns'] // 1000000} ms " \
           f"({wait['idle_ns'] // 1000000} idle), {wait['waits']} times, in " \
           f"{' < '.join(functions_of(wait)[:5])}; woken by {wakers or 'nobody'}"


def describe_waits(report):
    lines = [f"{i}. {describe_wait(w)}" for i, w in enumerate(report["waits"][:8], 1)]
    return "\n".join(lines) or "no waits"


def describe_locks(report):
    return "\n".join(f"{lock['kind']} {lock['name']!r} of {lock['where']!r}, "
                     f"{lock['wait_ns'] // 1000000} ms, {lock['waits']} waits"
                     for lock in report["locks"][:8]) or "no locks"


def is_one_of(value, wanted):
    return value in (wanted if isinstance(wanted, (tuple, set)) else (wanted,))


def is_like(wait, cause=None, function=None, about=None):
    """cause: one, or several that will do. about: how the name of what it waits for ends."""
    return (cause is None or is_one_of(wait["cause"], cause)) and \
        (function is None or function in functions_of(wait)) and \
        (about is None or (wait["object"] or "").endswith(about))


def waits_like(report, **what):
    return [w for w in report["waits"] if is_like(w, **what)]


def wait_of(report, **what):
    """The heaviest of them."""
    found = waits_like(report, **what)
    assert found, f"no wait with {what}\n{describe_waits(report)}"
    return found[0]


def first_wait(report, beside=(), **what):
    """The heaviest wait of all, which must be so. beside: causes that may be heavier."""
    assert report["waits"], "no waits"
    first = next((w for w in report["waits"] if w["cause"] not in beside), report["waits"][0])
    assert is_like(first, **what), f"not first: {what}\n{describe_waits(report)}"
    return first


def assert_lost(wait, least_ms, report=None):
    """At least what the program forces: its clock is the trace's. report: shown beside it, if it is not so."""
    others = f"\n{describe_waits(report)}" if report else ""
    assert wait["wait_ns"] >= FORCED_IN_ROW_NS * least_ms, f"less than {least_ms} ms: {describe_wait(wait)}{others}"


def wakers_like(wait, name, context, function):
    return [w for w in wait["wakers"] if is_one_of(w["context"], context)
            and (name is None or re.fullmatch(name, w["name"] or ""))
            and (function is None or function in functions_of(w))]


def assert_woken(wait, name=None, context="thread", function=None, least=0.9):
    """
    By a thread, unless another context is given; name: a regular expression. What the kernel hides may have
    been anybody.
    """
    share = sum(w["share"] for w in wakers_like(wait, name, context, function))
    hidden = sum(w["share"] for w in wait["wakers"] if w["context"] == "hidden")
    what = f"{name or 'whoever'}, {context}, in {function or 'whatever'}"
    assert share >= least * (1 - hidden) - ROUNDING, f"{share:.0%} and not {least:.0%} ended by {what}: {describe_wait(wait)}"


def assert_ends(wait, least_ms, name, context="thread", function=None):
    """Waits of that length at least. (Where some wait for each other, no share is forced.)"""
    lost_ns = sum(w["wait_ns"] for w in wakers_like(wait, name, context, function))
    assert lost_ns >= FORCED_IN_ROW_NS * least_ms, f"{lost_ns // 1000000} ms and not {least_ms} ended by " \
        f"{name}, {context}, in {function}: {describe_wait(wait)}"


def assert_woken_over_loopback(wait, name):
    assert_woken(wait, context=LOOPBACK | {"thread"})
    others = [w for w in wait["wakers"] if w["context"] == "thread" and w["name"] != name]
    assert not others, f"woken by somebody else than {name}: {describe_wait(wait)}"


def lock_named(report, name, kind=None, holder=None):
    """The one row that bears the name, whichever of its words was waited on."""
    found = [lock for lock in report["locks"] if (lock["name"] or "").endswith(name)]
    assert len(found) == 1, f"{len(found)} locks named {name}\n{describe_locks(report)}"
    lock = found[0]
    assert kind is None or is_one_of(lock["kind"], kind), f"{name} is no {kind}: {lock['kind']}"
    assert holder is None or is_one_of(lock["holder"], holder), \
        f"{name} was held by {lock['holder']!r}, not {holder!r}"
    return lock


def assert_unlocker(lock, function):
    assert lock["unlockers"], f"nobody unlocks {lock['name']}"
    names = functions_of(lock["unlockers"][0])
    assert function in names, f"{lock['name']}: not {function} is the worst, but {names[:4]}"


def file_at(report, end):
    """The one file whose path ends so."""
    found = [f for f in report["files"] if f["path"].endswith(end)]
    seen = [f["path"] for f in report["files"]][:8]
    assert len(found) == 1, f"{len(found)} files at {end}: {seen}"
    return found[0]


def socket_with(report, **ends):
    found = [s for s in report["sockets"]
             if all((s[key] or "").endswith(end) for key, end in ends.items())]
    seen = [(s["family"], s["local"], s["peer"]) for s in report["sockets"]][:8]
    assert found, f"no socket with {ends}: {seen}"
    return found[0]


def assert_other_end(row, process, thread=None, least=0.9):
    """least: the share of the time waited that this thread must have ended; 0: any, or none."""
    what = f"{row['peer_thread']!r} of {row['peer_name']!r} ({row['peer_share']:.0%})"
    assert row["peer_name"] == process, f"at the other end is {what}, not {process}"
    assert row["peer_thread"] == (thread or process), f"at the other end is {what}, not {thread}"
    assert row["peer_pid"] and row["peer_share"] >= least, f"at the other end is {what}"


def assert_reads(row, bytes_each):
    """All of the waiting, with so many bytes asked for by each call."""
    assert row["read_ns"] == row["wait_ns"] and not row["write_ns"], row
    assert row["asked_waits"] == row["waits"], row
    assert row["asked_bytes"] == bytes_each * row["waits"], row


def assert_found(report, pattern, *words):
    """A finding of that pattern whose title has these words; or one of which such a one is a symptom."""
    found = [f for f in report["findings"] if f["pattern"] == pattern
             and all(word in f["title"] for word in words)] or \
        [f for f in report["findings"] if any(all(word in seen for word in words) for seen in f["symptoms"])]
    assert found, f"no {pattern} with {words}: " \
        f"{[(f['pattern'], f['title'][:80]) for f in report['findings'][:6]]}"


def spinning_share(report):
    """The part of the running time that was spent spinning."""
    threads = report["balance"]["threads"]
    return threads["spinning_ns"] / threads["running_ns"]


def assert_spinning(result):
    """
    As much as the program says that it did: it prints for how many ns of CPU time it spun, and how
    many it had. Returns that share. Five times the standard error of so many samples are allowed,
    and what runs before and after.
    """
    samples = result.report["balance"]["samples"]
    spun_ns, ran_ns = map(int, result.out.split())
    truth, reported = spun_ns / ran_ns, spinning_share(result.report)
    error = (truth * (1 - truth) / samples["running"]) ** 0.5
    near(reported, truth, 5 * error + 0.05, f"what spins, of {samples}")
    assert reported > 0.1, f"hardly anything spins: {reported}, {truth}"
    return truth


def assert_alone(report, name, least_ms):
    """While all others wait, each moment is its own, be it running or waiting for a CPU."""
    cmetric_ns = sum(t["cmetric_ns"] for t in report["threads"] if t["name"] == name)
    assert cmetric_ns >= FORCED_NS * least_ms, f"CMetric of {name}: {cmetric_ns} ns"


def cause_of(report, cause):
    """Its row in the balance; None when no thread ever lost time by it."""
    rows = [c for c in report["balance"]["threads"]["causes"] if c["cause"] == cause]
    assert len(rows) <= 1, f"{cause} is {len(rows)} times in the balance"
    return rows[0] if rows else None


# --- The laws -------------------------------------------------------------------------------------

def check_cause(row):
    cause, group = row["cause"], row["group"]
    assert cause in CAUSES, f"what is {cause!r}?"
    assert group in ("SYNCHRONISATION", "IO", "UNKNOWN"), f"{cause}: group {group!r}"
    assert group == GROUPS.get(cause, group), f"{cause} is {group}"


def check_balance(report):
    wall, threads = report["balance"]["wall"], report["balance"]["threads"]
    slack_ns = 1000 + wall["wall_ns"] // 1_000_000
    near(wall["wall_ns"], report["target"]["wall_ns"], 1, "the wall time in the balance")
    near(wall["useful_ns"] + wall["spinning_ns"] + wall["stalled_ns"], wall["wall_ns"], slack_ns,
         "useful, spinning and stalled time add up to the wall time")
    assert 0 <= threads["spinning_ns"] <= threads["running_ns"], "more spinning than running"
    assert report["balance"]["samples"]["spinning"] <= report["balance"]["samples"]["running"]
    if not report["totals"]["is_spin_inactive"]:
        near(sum(p["spinning_ns"] for p in report["parallelism"]), wall["spinning_ns"], slack_ns,
             "spinning by number of active threads")
    for key, of_threads in (("running_ns", "running_ns"), ("cpu_wait_ns", "cpu_wait_ns")):
        near(threads[key], sum(t[of_threads] for t in report["threads"]),
             slack_ns + len(report["threads"]), f"{key} of the balance and of the threads")
    blocked_ns = sum(t["blocked_ns"] for t in report["threads"])
    lost_ns = sum(c["wait_ns"] for c in threads["causes"] if c["cause"] not in ACTIVE)
    near(threads["total_ns"], threads["running_ns"] + threads["cpu_wait_ns"] + blocked_ns,
         slack_ns + len(report["threads"]), "the threads' time")
    near(lost_ns, blocked_ns, slack_ns + len(report["threads"]) + blocked_ns // 1000,
         "the causes add up to the time in which threads are blocked")
    for cause in threads["causes"]:
        check_cause(cause)
        assert 0 <= cause["idle_ns"] <= cause["wait_ns"], f"{cause['cause']}: more idle than lost"


def check_waits(report):
    weights = [w["wait_ns"] - w["idle_ns"] for w in report["waits"]]
    assert weights == sorted(weights, reverse=True), f"waits are not in order: {weights[:8]}"
    for wait in report["waits"]:
        check_cause(wait)
        text = describe_wait(wait)
        assert 0 <= wait["idle_ns"] <= wait["wait_ns"], text
        assert 0 < wait["max_ns"] <= wait["wait_ns"], text
        # An estimate counts more waits than it has seen, each by its own weight.
        assert wait["wait_ns"] <= wait["max_ns"] * (wait["waits"] + wait["is_estimated"]), text
        assert all(w["context"] in CONTEXTS for w in wait["wakers"]), text
        assert sum(w["share"] for w in wait["wakers"]) <= 1.001, text
        if wait["is_estimated"]:        # both ends, and not always the same waits
            continue
        assert sum(w["waits"] for w in wait["wakers"]) <= wait["waits"], text
        assert sum(w["wait_ns"] for w in wait["wakers"]) <= wait["wait_ns"] + len(wait["wakers"]), \
            text


def check_locks(report):
    weights = [lock["wait_ns"] - lock["idle_ns"] for lock in report["locks"]]
    assert weights == sorted(weights, reverse=True), f"locks are not in order: {weights[:8]}"
    for lock in report["locks"]:
        text = f"{lock['kind']} {lock['name']!r}"
        assert lock["kind"] in KINDS, f"what is {text}?"
        assert lock["p50_ns"] <= lock["p99_ns"] <= lock["max_ns"] <= lock["wait_ns"], text
        costs = [u["cmetric_ns"] for u in lock["unlockers"]]
        assert costs == sorted(costs, reverse=True), f"{text}: unlockers are not in order"


def check_io(report):
    for row in report["files"] + report["sockets"]:
        assert row["read_ns"] + row["write_ns"] <= row["wait_ns"], row
        assert row["asked_waits"] <= row["waits"], row
        assert 0 <= row["peer_share"] <= 1, row
        assert row["peer_share"] == 0 or row["peer_name"] or row["peer_pid"], row


def check_report(report, path):
    check_laws(report)
    check_balance(report)
    check_waits(report)
    check_locks(report)
    check_io(report)
    for row in report["paths"]:
        if row["cause"]:        # one of which only stalls are known has none
            check_cause(row)
    stacks = report["waits"] + [w for wait in report["waits"] for w in wait["wakers"]] + \
        [u for lock in report["locks"] for u in lock["unlockers"]]
    assert_resolved({"paths": report["paths"] + stacks}, path)
