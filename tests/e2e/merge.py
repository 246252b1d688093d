#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Several traces made one: the parts of a trace are the trace, and what several pinches have seen of one
machine is what one pinch has seen that saw all of it.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter

from lib import PINCH, Skip, check_laws, main, parse_report, pinch, program, read, read_line, start, stop, \
    test, wait_until

TRIES = 5

# Each says a line, and gives it back, for ever: who runs, the other one waits for.
PING = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(15, sys.argv[1].encode())
here, there = int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
while True:
    os.read(here, 1)
    for _ in range(20000):
        pass
    os.write(there, b"x")
"""


# One writes a byte each few milliseconds, the other one reads them.
NAMED = """
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(15, sys.argv[2].encode())
file = int(sys.argv[1])
"""
FEEDER = NAMED + """
while True:
    os.write(file, b"x")
    time.sleep(0.002)
"""
EATER = NAMED + """
print("ready", flush=True)
while os.read(file, 1):
    pass
"""
OUTSIDE = 1 << 31


def record(*command, status=0):
    result = pinch("record", "-o", "t.pinch", "--", *command)
    assert result.status == status, result.text


def report(trace):
    result = pinch("report", "--json", "report.json", "-q", "--top", 1000, trace)
    assert result.status == 0, result.text
    return parse_report(read("report.json", "rb"))


def make(*arguments):
    result = pinch(*arguments)
    assert result.status == 0 and not result.text, (arguments, result.text)


def merge(*traces, out="merged.pinch"):
    make("merge", "-o", out, *traces)
    result = pinch("check", out)
    assert result.status == 0, result.out
    return out


def dump(trace):
    result = pinch("dump", "--json", trace)
    assert result.status == 0, result.text
    return [json.loads(line) for line in result.out.splitlines()]


def length_ns(events):
    return max(e["time_ns"] for e in events) - events[0]["time_ns"]


def tids_of(events):
    return {e["thread"]: e["fields"]["tid"] for e in events
            if e["event"] in ("thread.BORN", "thread.FOUND", "thread.EXEC")}


# What is unknown of parts, or counts what was recorded twice.
NOT_OF_PARTS = ("stacks", "cost", "notes", "losses")


@test("the parts of a trace, merged, are the trace, in whatever order they are named")
def parts():
    for name, status in (("mutex_storm", 0), ("fork_storm", 7)):
        record(program(name), status=status)
        third = length_ns(dump("t.pinch")) // 3
        make("cut", "-o", "a.pinch", "--to", f"{third}ns", "t.pinch")
        make("cut", "-o", "b.pinch", "--from", f"{third}ns", "--to", f"{2 * third}ns", "t.pinch")
        make("cut", "-o", "c.pinch", "--from", f"{2 * third}ns", "t.pinch")
        reported = report("t.pinch")
        for order in ("abc", "cab"):
            merged = report(merge(*(f"{part}.pinch" for part in order)))
            check_laws(merged)
            for key, value in reported.items():
                if key == "target":
                    assert merged[key]["exit_status"] == status
                elif key not in NOT_OF_PARTS:
                    assert merged[key] == value, (name, order, key)


@test("one trace alone, merged, gives the same report")
def alone():
    record(program("mutex_storm"), 4, 2000)
    assert report(merge("t.pinch")) == report("t.pinch")


@test("half of the threads here, half of them there: merged, each switch and each wake-up is what it was")
def halves():
    record(program("mutex_storm"), 8, 5000)
    events = dump("t.pinch")
    numbers = sorted(tids_of(events))
    for i in range(2):
        make("cut", "-o", f"{i}.pinch", *(word for number in numbers[i::2] for word in ("--thread", number)),
             "t.pinch")
    merged = dump(merge("0.pinch", "1.pinch"))
    for wanted in (switches_of, wakes_of):
        assert Counter(wanted(events)) == Counter(wanted(merged)), wanted


def switches_of(events):
    tids = tids_of(events)
    return [(e["time_ns"], e["fields"]["cpu"], tids.get(e["thread"]), tids.get(e["fields"]["next"]),
             e["fields"]["state"], e["fields"]["stack"])
            for e in events if e["event"] == "sched.SWITCH" and (e["thread"] or e["fields"]["next"])]


def wakes_of(events):
    tids = tids_of(events)
    return [(e["time_ns"], tids[e["thread"]], tids.get(e["fields"]["waker"]))
            for e in events if e["event"] == "sched.WAKE"]


PIECED, MOMENTS_MAX, SETS_MAX = 40, 3, 3


def take_to_pieces(chance, trace, events):
    """The names of its pieces: of sets of threads, each at moments of its own."""
    pieces = []
    numbers = sorted(tids_of(events))
    sets = [[] for _ in range(chance.randint(1, min(SETS_MAX, len(numbers))))]
    for i, number in enumerate(chance.sample(numbers, len(numbers))):
        sets[i % len(sets)].append(number)
    for threads in sets:
        moments = sorted(chance.sample(range(1, length_ns(events)), chance.randint(0, MOMENTS_MAX)))
        for begin_ns, end_ns in zip([0, *moments], [*moments, None]):
            pieces.append(f"{len(pieces)}.piece")
            make("cut", "-o", pieces[-1], "--from", f"{begin_ns}ns",
                 *(() if end_ns is None else ("--to", f"{end_ns}ns")),
                 *(word for number in threads for word in ("--thread", number)), trace)
    chance.shuffle(pieces)
    return pieces


def samples_of(events):
    tids = tids_of(events)
    return [(e["time_ns"], tids[e["thread"]], e["fields"]["ip"])
            for e in events if e["event"] == "sched.SAMPLE"]


@test("a trace taken to pieces by threads and times, at random, and merged in any order, is the trace")
def pieces():
    for seed in range(PIECED):
        chance = random.Random(seed)
        generated = subprocess.run([program("../bench/trace_gen"), "t.pinch", "3000", str(chance.randint(2, 12)),
                                    str(chance.randint(1, 4)), str(seed)], capture_output=True, check=False)
        assert not generated.returncode, generated.stderr
        events = dump("t.pinch")
        parts = take_to_pieces(chance, "t.pinch", events)
        make("merge", "-o", "merged.pinch", *parts)
        merged = dump("merged.pinch")
        for wanted in (switches_of, wakes_of, samples_of):
            assert Counter(wanted(events)) == Counter(wanted(merged)), (seed, parts, wanted)
        reported, again = report("t.pinch"), report("merged.pinch")
        check_laws(again)
        for key in ("parallelism", "balance", "totals"):
            assert again[key] == reported[key], (seed, parts, key, again[key], reported[key])


# --- Several pinches at once --------------------------------------------------------------------------

def start_pair():
    """Two processes that wake each other through pipes."""
    there, back = os.pipe(), os.pipe()
    pair = [start(sys.executable, "-c", PING, name, str(here), str(to), stdout=subprocess.PIPE,
                  pass_fds=(here, to))
            for name, here, to in (("ping", there[0], back[1]), ("pong", back[0], there[1]))]
    for process in pair:
        assert read_line(process) == b"ready\n"
    os.write(there[1], b"x")
    return pair


def start_record(out, *pids, options=()):
    process = start(PINCH, "record", "-q", "-o", out, *options, "-p", ",".join(map(str, pids)),
                    stderr=subprocess.PIPE)
    wait_until(lambda: os.path.exists(out) and os.path.getsize(out) > 20000, f"events in {out}")
    return process


def stop_records(processes):
    """All at once: traces that end far apart have a gap."""
    for process in processes:
        process.send_signal(signal.SIGINT)
    for process in processes:
        _, said = process.communicate()
        assert process.returncode == 0, said


def record_pair():
    """Both by one pinch, in both.pinch, and each by one of its own, in ping.pinch and pong.pinch."""
    ping, pong = start_pair()
    pinches = [start_record("ping.pinch", ping.pid), start_record("pong.pinch", pong.pid),
               start_record("both.pinch", ping.pid, pong.pid)]
    stop_records(pinches[::-1])
    for process in (ping, pong):
        stop(process)
    return ping.pid, pong.pid


def turns_of(events, begin_ns, end_ns):
    """Who gave whom each CPU, by CPU, in a time."""
    tids, turns = tids_of(events), {}
    for e in events:
        fields = e["fields"]
        if e["event"] == "sched.SWITCH" and (e["thread"] or fields["next"]):
            turns.setdefault(fields["cpu"], []).append(
                (e["time_ns"], tids.get(e["thread"]), tids.get(fields["next"])))
    return {cpu: [(one, other) for ns, one, other in all_of_it if begin_ns <= ns < end_ns]
            for cpu, all_of_it in turns.items()}


@test("two processes traced by two pinches at once: merged, they say what one pinch says of both")
def at_once():
    pids = record_pair()
    one, merged = dump("both.pinch"), dump(merge("ping.pinch", "pong.pinch"))
    assert set(pids) <= set(tids_of(merged).values())
    found = [e for e in merged if e["event"] == "thread.FOUND"]
    assert len({e["thread"] for e in found}) == len({e["fields"]["tid"] for e in found}), found
    # From a switch that all have seen, well behind the beginning of the last pinch, on.
    times = [e["time_ns"] for e in one if e["event"] == "sched.SWITCH"]
    begin_ns, end_ns = times[len(times) // 4], times[len(times) * 3 // 4]
    theirs, ours = turns_of(one, begin_ns, end_ns), turns_of(merged, begin_ns, end_ns)
    for cpu, turns in theirs.items():
        # Each pinch reads the clock for itself: at the edges one may be in and the other out.
        mine = ours.get(cpu, [])
        assert abs(len(turns) - len(mine)) <= 2, (cpu, len(turns), len(mine))
        assert any(turns[i:len(turns) - 2] == mine[k:k + len(turns) - 2 - i]
                   for i in range(3) for k in range(3)), (cpu, turns[:9], mine[:9])


@test("whoever woke a thread and is traced by the other pinch is named, and is a thread that is traced")
def wakers():
    ping, pong = record_pair()
    merged = dump(merge("ping.pinch", "pong.pinch"))
    tids = tids_of(merged)
    begin_ns = max(e["time_ns"] for e in merged if e["event"] == "thread.FOUND")
    end_ns = min(dump(trace)[-1]["fields"]["ended_ns"] for trace in ("ping.pinch", "pong.pinch"))
    pairs = Counter((tids[e["thread"]], tids.get(e["fields"]["waker"])) for e in merged
                    if e["event"] == "sched.WAKE" and begin_ns < e["time_ns"] < end_ns
                    and e["fields"]["tid"] in (ping, pong))
    assert pairs and set(pairs) <= {(ping, pong), (pong, ping)}, pairs
    reported = report("merged.pinch")
    check_laws(reported)
    assert {t["name"] for t in reported["threads"]} == {"ping", "pong"}, reported["threads"]
    waits = [w for w in reported["waits"] if w["cause"] == "pipe"]
    names = {(waker["context"], waker["name"]) for w in waits for waker in w["wakers"]}
    assert {("thread", "ping"), ("thread", "pong")} <= names, names


@test("a process that two pinches have traced is in the merged trace once")
def twice():
    for _ in range(TRIES):
        ping, pong = record_pair()
        both = report("both.pinch")
        # Three tracers on two CPUs may lose records.
        if not both["losses"]["gaps"] and not report("ping.pinch")["losses"]["gaps"]:
            break
    merged = dump(merge("both.pinch", "ping.pinch"))
    tids = tids_of(merged)
    assert sorted(tid for tid in tids.values() if tid in (ping, pong)) == sorted((ping, pong)), tids
    reported = report("merged.pinch")
    check_laws(reported)
    assert reported["totals"]["switches"] >= both["totals"]["switches"]
    assert reported["losses"]["unexplained_transitions"] <= both["losses"]["unexplained_transitions"] + 2, reported["losses"]


@test("a wait for a kernel lock that two pinches have seen is in the merged trace once")
def locks_twice():
    record(program("klock_mmap"))
    shutil.copy("t.pinch", "again.pinch")
    alone = report("t.pinch")["kernel_locks"]
    merge("t.pinch", "again.pinch")
    both = report("merged.pinch")["kernel_locks"]
    assert alone["waits"] and (both["waits"], both["wait_ns"]) == (alone["waits"], alone["wait_ns"]), \
        (alone["waits"], both["waits"])
    sums = [{(lock["address"], lock["kind"]): lock["wait_ns"] for lock in reported["locks"]} for reported in (alone, both)]
    assert sums[0] == sums[1], sums


@test("a trace that ends, or begins, at any moment beside another one leaves no change of state unexplained")
def moments():
    _, pong = record_pair()
    events = dump("both.pinch")
    first_ns, number = events[0]["time_ns"], {tid: n for n, tid in tids_of(events).items()}[pong]
    switches = [e for e in events if e["event"] == "sched.SWITCH"]
    enters = [e["time_ns"] for e in switches if e["fields"]["next"] == number]
    leaves = [e["time_ns"] for e in switches if e["thread"] == number]
    for to_ns in [times[len(times) * i // 20] - first_ns for times in (enters, leaves) for i in range(10, 20)]:
        # Right behind its own record of the switch: the other one's may be before or behind that.
        make("cut", "-o", "part.pinch", "--to", f"{to_ns + 1}ns", "both.pinch")
        for traces in (("part.pinch", "ping.pinch"), ("ping.pinch", "part.pinch")):
            reported = report(merge(*traces))
            assert not reported["losses"]["unexplained_transitions"], (to_ns, reported["losses"])
            assert {t["name"] for t in reported["threads"]} == {"ping", "pong"}, reported["threads"]


def start_feeder():
    """Also the end of a pipe that it writes into."""
    here, there = os.pipe()
    feeder = start(sys.executable, "-c", FEEDER, str(there), "feeder", pass_fds=(there,))
    os.close(there)
    return feeder, here


def start_eater(here):
    eater = start(sys.executable, "-c", EATER, str(here), "eater", pass_fds=(here,), stdout=subprocess.PIPE)
    os.close(here)
    assert read_line(eater) == b"ready\n"
    return eater


@test("a thread that one pinch traces, and another one records with the whole machine, is in the merged trace once")
def whole_machine():
    feeder, here = start_feeder()
    eater = start_eater(here)
    pinches = [start_record("eater.pinch", eater.pid, options=("--system",)),
               start_record("feeder.pinch", feeder.pid)]
    stop_records(pinches)
    alone, merged = dump("eater.pinch"), dump(merge("eater.pinch", "feeder.pinch"))
    for process in (feeder, eater):
        stop(process)
    assert merged[0]["fields"]["tells_system"] == 1
    traced = {e["fields"]["tid"] for e in merged
              if e["event"] == "thread.FOUND" and not e["fields"]["is_outside"]}
    assert traced == {feeder.pid, eater.pid}, traced
    for e in merged:
        if e["event"] == "thread.FOUND":
            assert (e["thread"] >= OUTSIDE) == bool(e["fields"]["is_outside"]), e
    outsiders = {e["fields"]["tid"]: e["fields"]["name"] for e in alone
                 if e["event"] == "thread.FOUND" and e["fields"]["is_outside"]}
    tids = {e["thread"]: e["fields"]["tid"] for e in merged if e["event"] == "thread.FOUND"}
    assert outsiders[2] == "kthreadd" and outsiders.keys() <= set(tids.values())
    # As soon as it is traced, it is that thread alone.
    numbers = [n for n, tid in tids.items() if tid == feeder.pid]
    outside, = (n for n in numbers if n >= OUTSIDE)
    begin_ns = max(e["time_ns"] for e in merged if e["event"] == "thread.FOUND" and e["thread"] in numbers)
    late = [e for e in merged if e["time_ns"] > begin_ns
            and outside in (e["thread"], e["fields"].get("next"), e["fields"].get("waker"))]
    end_ns = dump("feeder.pinch")[-1]["time_ns"]
    assert not [e for e in late if e["time_ns"] < end_ns], late[:2]
    reported = report("merged.pinch")
    assert not reported["losses"]["unexplained_transitions"], reported["losses"]
    assert {t["name"] for t in reported["threads"]} == {"feeder", "eater"}, reported["threads"]


@test("traces of two boots are refused: their times have nothing to do with each other")
def boots():
    record(program("mutex_storm"), 2, 10)
    with open("boot", "w") as file:
        file.write("00000000-0000-4000-8000-000000000000\n")
    mount = f"mount --bind {os.path.abspath('boot')} /proc/sys/kernel/random/boot_id"
    prefix = ("unshare", "--mount", "sh", "-c", f"{mount} && exec \"$@\"", "sh")
    if subprocess.run([*prefix, "true"], capture_output=True).returncode:
        raise Skip("nothing can be mounted here")
    result = pinch("record", "-o", "other.pinch", "--", program("mutex_storm"), 2, 10, prefix=prefix)
    assert result.status == 0, result.text
    for traces in (("t.pinch", "other.pinch"), ("other.pinch", "t.pinch")):
        result = pinch("merge", "-o", "out", *traces)
        assert result.status == 1 and "of different boots or machines" in result.text, result.text
        assert not os.path.exists("out")
    merge("other.pinch", "other.pinch")


@test("what is no trace, and what is asked wrongly, is refused with a sentence, and writes nothing")
def refused():
    record(program("mutex_storm"), 2, 10)
    data = read("t.pinch", "rb")
    with open("empty", "wb"):
        pass
    for arguments, said, status in (
            (["-o", "out", "t.pinch", "empty"], "empty is not a pinch trace", 1),
            (["-o", "out", "nothing"], "cannot read nothing: No such file", 1),
            (["-o", "t.pinch", "t.pinch"], "t.pinch is the input", 1),
            (["t.pinch"], "no -o OUT", 2), (["-o", "out"], "no traces", 2)):
        result = pinch("merge", *arguments)
        assert result.status == status and said in result.text, (arguments, result.text)
        assert not os.path.exists("out"), arguments
    assert read("t.pinch", "rb") == data


if __name__ == "__main__":
    sys.exit(main(jobs=2))
