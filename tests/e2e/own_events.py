#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Events that programs record of themselves: all of them are in the trace, of the right thread, at the right time, by their names, or
counted as lost; and tasks between two of them are followed from thread to thread.
"""
import glob
import json
import os
import re
import signal
import socket
import subprocess

from lib import (PINCH, Skip, assert_nothing_attached, main, parse_report, pinch, program, read, read_line, start, stop, test,
                 wait_attached, wait_until)

CLOCK_ERROR_NS = 1000


def record(*command, options=()):
    result = pinch("record", "-q", "-o", "t.pinch", *options, "--", *command)
    assert result.status == 0, result.text


def notes(path="t.pinch"):
    result = pinch("report", "--json", "report.json", path)
    assert result.status == 0, result.text
    return parse_report(read("report.json", "rb"))["notes"]


def events(path="t.pinch"):
    result = pinch("dump", "--json", path)
    assert result.status == 0 and not result.text, result.text
    return [json.loads(line) for line in result.out.splitlines()]


def of(all_events, name):
    return [event for event in all_events if event["event"] == name]


def lost_slots(all_events):
    return sum(event["fields"]["slots"] for event in of(all_events, "user.LOST"))


def check_whole(path="t.pinch"):
    result = pinch("check", path)
    assert result.status == 0, result.text


@test("the time of an event is the kernel's to less than 1 us")
def _():
    record(program("own_events"), "clock", "20000")
    ticks = of(events(), "clock.TICK")
    assert [tick["argument"] for tick in ticks] == list(range(20000)), f"{len(ticks)} events"
    early = max(tick["fields"]["before_ns"] - tick["time_ns"] for tick in ticks)
    late = max(tick["time_ns"] - after["fields"]["before_ns"] for tick, after in zip(ticks, ticks[1:]))
    print(f"# before the clock that was read before it: {early} ns at most; after the one behind it: {late} ns at most")
    assert early < CLOCK_ERROR_NS and late < CLOCK_ERROR_NS, (early, late)
    check_whole()


@test("each thread's events are its own, all there and in order")
def _():
    record(program("own_events"), "threads", "8", "3000", "2000")
    found = events()
    assert not lost_slots(found), lost_slots(found)
    ups = {}
    for event in of(found, "count.UP"):
        ups.setdefault(event["thread"], []).append(event)
    assert len(ups) == 8 and 0 not in ups, list(ups)
    for thread, list_of in ups.items():
        assert [event["argument"] for event in list_of] == list(range(3000)), thread
        times = [event["time_ns"] for event in list_of]
        assert times == sorted(times)
    ends = of(found, "count.ALL")
    assert sorted(event["thread"] for event in ends) == sorted(ups)
    born = {event["thread"]: event["time_ns"] for event in of(found, "thread.BORN")}
    assert all(list_of[0]["time_ns"] > born[thread] for thread, list_of in ups.items())


@test("a program that is executed is named behind that, and one that takes its place has its own name")
def _():
    os.symlink(program("own_events"), "first")
    os.symlink(program("own_events"), "second")
    record("sh", "-c", "./first threads 1 10 0; exec ./second threads 1 10 0")
    found = events()
    for name in ("first", "second"):
        named, = (event for event in of(found, "user.PROGRAM") if event["fields"]["program"] == name)
        pid = named["fields"]["pid"]
        exec_, = (event for event in of(found, "thread.EXEC") if event["fields"]["name"] == name)
        assert exec_["fields"]["tid"] == pid and exec_["time_ns"] < named["time_ns"], (exec_, named)
        threads = {event["thread"] for event in found
                   if event["event"] in ("thread.BORN", "thread.FOUND") and event["fields"]["pid"] == pid}
        order = [event["event"] for event in found
                 if event is named or event["event"] == "count.UP" and event["thread"] in threads
                 and event["time_ns"] > exec_["time_ns"]]
        assert order[0] == "user.PROGRAM" and len(order) >= 11, order


@test("what is overwritten before it is read is counted, to the slot")
def _():
    record(program("own_events"), "threads", "4", "3000000", "0")
    found = events()
    ups = of(found, "count.UP")
    lost = lost_slots(found)
    print(f"# of 12,000,000 events {len(ups)} are in the trace, {lost} were overwritten")
    assert lost, "nothing was lost: record more"
    assert len(ups) + len(of(found, "count.ALL")) + lost == 4 * 3000001, (len(ups), lost)
    last = {}
    for event in found:
        if event["event"] == "count.UP":
            assert event["argument"] > last.get(event["thread"], -1), event
            last[event["thread"]] = event["argument"]
    assert any("overwritten before they were read" in note for note in notes()), notes()


def check_children(path):
    ups = of(events(path), "count.UP")
    missing = re.search(r"of their own of (\d+) processes are missing", " ".join(notes(path)))
    missing = int(missing[1]) if missing else 0
    print(f"# of 200 children, each with one event, {len(ups)} have it in the trace, {missing} are counted as missing")
    assert len(ups) + missing == 200, (len(ups), missing)
    assert len({event["thread"] for event in ups}) == len(ups) and all(event["thread"] for event in ups)


@test("events of processes that end at once are there, or counted as missing")
def _():
    record(program("own_events"), "children", "200")
    check_children("t.pinch")


@test("so are they where two people record at once, though a process hands its events over to one of them")
def _():
    other = start(PINCH, "record", "-q", "-o", "other.pinch", "--", program("own_events"), "children", "200")
    record(program("own_events"), "children", "200")
    assert other.wait(timeout=60) == 0, other.returncode
    check_children("t.pinch")
    check_children("other.pinch")


@test("a program that runs already is read from the beginning of the tracing on, and a killed one up to its end")
def _():
    served = start(program("own_events"), "serve", stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask():
        served.stdin.write(b"\n")
        served.stdin.flush()
        return int(read_line(served))

    before = [ask() for _ in range(10)][-1]
    tracing = start(PINCH, "record", "-q", "-o", "t.pinch", "-p", str(served.pid), stderr=subprocess.PIPE)
    wait_attached(tracing)
    wait_until(lambda: os.path.exists("t.pinch") and b"own_events" in pinch("dump", "t.pinch").out,
               "the program's area is found")
    first = ask()
    last = [ask() for _ in range(50)][-1]
    served.send_signal(signal.SIGKILL)
    stop(served)
    for left in glob.glob(f"/dev/shm/pinchtrace.{served.pid}.*"):
        os.unlink(left)
    _, text = tracing.communicate(timeout=60)
    assert tracing.returncode == 0, text
    found = [event["argument"] for event in of(events(), "count.UP")]
    assert first == before + 1 and found == list(range(first, last + 1)), found
    assert_nothing_attached()


@test("a part of a trace, and traces that were merged, have names for its events, too")
def _():
    record(program("own_events"), "clock", "3000")
    whole = of(events(), "clock.TICK")
    begin = events()[0]["time_ns"]
    at = (whole[1500]["time_ns"] - begin) // 1000
    assert pinch("cut", "-o", "part.pinch", "--from", f"{at}us", "t.pinch").status == 0
    part = of(events("part.pinch"), "clock.TICK")
    assert part and part == whole[-len(part):] and len(part) >= 1490, len(part)
    lines = pinch("dump", "--from", f"{at}us", "t.pinch").out.decode()
    assert lines.count(" clock.TICK argument=") == len(part) and " user.EVENT " not in lines
    check_whole("part.pinch")
    record(program("own_handover"), options=["--last", "1s"])
    assert of(events(), "request.END") and not of(events(), "user.EVENT")
    check_whole()


@test("who connects late to a scope has names for the events that come then, and gets what the program flushes")
def _():
    with open("scope.log", "wb") as log:
        scope = start(PINCH, "scope", "--listen", "127.0.0.1:0", "--", program("own_events"), "serve", stdin=subprocess.PIPE,
                      stdout=subprocess.PIPE, stderr=log)
    port = int(wait_until(lambda: re.search(r"scope is at tcp:127.0.0.1:(\d+)\n", read("scope.log")), "an address")[1])

    def ask(line=b"\n"):
        scope.stdin.write(line)
        scope.stdin.flush()
        return int(read_line(scope))

    for _ in range(10):
        ask()
    assert ask(b"f\n") == 11
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client, open("late.pinch", "wb") as file:
        file.write(client.recv(1))
        first = ask()
        wait_until(lambda: ask(b"f\n") == 0, "what is flushed is left to the scope")
        last = [ask() for _ in range(20)][-1]
        scope.stdin.close()
        while got := client.recv(1 << 16):
            file.write(got)
    assert scope.wait(60) == 0, read("scope.log")
    found = events("late.pinch")
    numbers = [event["argument"] for event in of(found, "count.UP")]
    assert not of(found, "user.EVENT") and numbers[-1] == last and set(range(first, last + 1)) <= set(numbers), numbers
    check_whole("late.pinch")


CLOCK_SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


@test("where the kernel does not trust the CPUs' counters programs read its clock; the trace says which did not, as they began before")
def _():
    with open("clock_source", "w", encoding="ascii") as file:
        file.write("hpet\n")
    if subprocess.run(["unshare", "-m", "mount", "--bind", "clock_source", CLOCK_SOURCE], capture_output=True, check=False).returncode:
        raise Skip("a file of /sys cannot be mounted over here")
    distrusting = ("unshare", "-m", "sh", "-c", f'mount --bind clock_source {CLOCK_SOURCE}; exec "$@"', "sh")
    trusting = ("unshare", "-m", "sh", "-c", f'umount {CLOCK_SOURCE}; exec "$@"', "sh")
    for wrapping, is_doubtful in ((), False), (trusting, True):
        subprocess.run([*distrusting, PINCH, "record", "-q", "-o", "t.pinch", "--", *wrapping, program("own_events"), "clock", "2000"],
                       check=True, timeout=60)
        ticks = of(events(), "clock.TICK")
        assert len(ticks) == 2000
        early = max(tick["fields"]["before_ns"] - tick["time_ns"] for tick in ticks)
        late = max(tick["time_ns"] - after["fields"]["before_ns"] for tick, after in zip(ticks, ticks[1:]))
        # By the kernel's clock itself, exactly.
        assert is_doubtful or (early <= 0 and late <= 0), (early, late)
        assert any("CPUs' counters" in note for note in notes()) == is_doubtful, notes()


def programs_served():
    """Two programs and one that has ended; those that live record an event for each line, and answer it."""
    served = {}
    for name in ("gone", "alpha", "beta"):
        os.symlink(program("own_events"), name)
    for name in ("alpha", "beta"):
        os.mkfifo(f"{name}.in")
        os.mkfifo(f"{name}.out")
    with open("scope.log", "wb") as log:
        scope = start(PINCH, "scope", "--listen", "127.0.0.1:0", "--", "sh", "-c",
                      "./gone threads 1 10 0; for p in alpha beta; do ./$p serve <$p.in >$p.out & done; wait", stderr=log)
    for name in ("alpha", "beta"):
        served[name] = (open(f"{name}.in", "wb", buffering=0), open(f"{name}.out", "rb", buffering=0))
    return scope, served


@test("who connects late to a scope knows which programs there are, several of them, and no event is another one's")
def _():
    scope, served = programs_served()
    port = int(wait_until(lambda: re.search(r"scope is at tcp:127.0.0.1:(\d+)\n", read("scope.log")), "an address")[1])

    def ask(name):
        served[name][0].write(b"\n")
        return int(served[name][1].readline())

    for _ in range(10):
        ask("alpha"), ask("beta")
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client, open("late.pinch", "wb") as file:
        file.write(client.recv(1))
        last = {name: [ask(name) for _ in range(20)][-1] for name in served}
        for pipe, _ in served.values():
            pipe.close()
        while got := client.recv(1 << 16):
            file.write(got)
    assert scope.wait(60) == 0, read("scope.log")
    found = events("late.pinch")
    named = {event["fields"]["pid"]: event["fields"]["program"] for event in of(found, "user.PROGRAM")}
    assert {"alpha", "beta"} <= set(named.values()), named
    pids = {event["thread"]: event["fields"]["pid"] for event in found if event["event"] in ("thread.FOUND", "thread.BORN")}
    ups = {}
    for event in of(found, "count.UP"):
        ups.setdefault(named[pids[event["thread"]]], []).append(event["argument"])
    assert {name: numbers[-1] for name, numbers in ups.items()} == last, (ups, last)
    check_whole("late.pinch")


@test("events that a program holds back are started by a wait for a lock that is longer than a time")
def _():
    record(program("own_handover"), "armed")
    assert not [event for event in events() if event["event"].startswith("request.")]
    record(program("own_handover"), "armed", options=["--trigger", "lock:10ms"])
    found = events()
    began = {}
    long_ends = []
    for event in found:
        fields = event["fields"]
        if event["event"] == "sched.SWITCH" and fields["state"] in (1, 2) and fields["syscall"] == 202:
            began[event["thread"]] = event["time_ns"]
        elif event["event"] == "sched.SWITCH":
            began.pop(event["thread"], None)
        elif event["event"] == "sched.WAKE":
            begin = began.pop(event["thread"], None)
            if begin and event["time_ns"] - begin > 10e6:
                long_ends.append(event["time_ns"])
    own = [event["time_ns"] for event in found if event["event"].startswith("request.")]
    assert len(own) > 100 and own[0] > long_ends[0], (len(own), own[:1], long_ends[:3])
    assert any("started" in note for note in notes()), notes()
    result = pinch("record", "--trigger", "lock", "-o", "t.pinch", "--", "true")
    assert result.status == 2 and "CAUSE:TIME" in result.text, (result.status, result.text)


@test("a log has one word for each value")
def _():
    record(program("own_events"), "clock", "100")
    lines = [line.split(" ") for line in pinch("dump", "--log", "t.pinch").out.decode().splitlines()]
    ticks = [line for line in lines if line[2] == "clock.TICK"]
    assert len(ticks) == 100
    for number, (cpu, seconds, _, argument, before_ns) in enumerate(ticks):
        assert cpu.isdigit() and float(seconds) >= 0 and int(argument) == number and int(before_ns)


@test("a request that goes from thread to thread is one execution, and its critical path ends at the planted cause")
def _():
    span = "request:BEGIN..END[key=argument]"
    record(program("own_handover"))
    result = pinch("spans", "--json", "-", "--span", span, "t.pinch")
    assert result.status == 0, result.text
    spans = json.loads(result.out)
    assert [s["executions"] for s in spans["spans"]] == [120] and spans["spans"][0]["kind"] == "events"
    assert all("receiver" in e["begin_who"] and "answerer" in e["who"] for e in spans["executions"])
    for execution in spans["executions"]:
        assert sum(state["ns"] for state in execution["states"].values()) == execution["duration_ns"], execution
    result = pinch("critical-path", "--json", "-", "--span", span + ":slowest", "t.pinch")
    assert result.status == 0, result.text
    # Of those that wait for the ledger; on a busy machine the slowest one may wait for a CPU instead.
    held = max(spans["executions"], key=lambda e: e["duration_ns"] - sum(e["states"].get(state, {"ns": 0})["ns"]
                                                                         for state in ("running", "waiting for a CPU")))
    text = pinch("critical-path", "--span", f"{span}:{held['number']}", "t.pinch").out.decode()
    assert "audit_ledger" in text.splitlines()[2], text
    by_field = json.loads(pinch("spans", "--json", "-", "--span", "request:begin..end[key=argument]", "t.pinch").out)
    assert by_field["executions"] == [dict(e, span="request:begin..end[key=argument]") for e in spans["executions"]]


@test("what-if says how long requests would take without the planted cause")
def _():
    record(program("own_handover"))
    result = pinch("whatif", "--json", "-", "--lock", "ledger_lock", "--scale", "0", "--span", "request:BEGIN..END[key=argument]",
                   "t.pinch")
    assert result.status == 0, result.text
    spans, = json.loads(result.out)["spans"]
    print(f"# mean {spans['mean_ns'] / 1e6:.2f} ms, predicted {spans['predicted_mean_ns'] / 1e6:.2f} ms")
    assert spans["executions"] == 120 and spans["mean_ns"] > 3e6, spans
    assert spans["predicted_mean_ns"] < spans["mean_ns"] / 3 and spans["predicted_p99_ns"] < spans["p99_ns"] / 2, spans


@test("a span that was asked for when it was recorded is in the trace by its name, for compare, too")
def _():
    record(program("own_handover"), options=["--span", "req=request:BEGIN..END[key=argument]"])
    text = pinch("spans", "t.pinch").out.decode()
    assert text.startswith("req: 120 executions"), text
    text = pinch("compare", "--span", "req", "t.pinch").out.decode()
    assert "audit_ledger" in text.splitlines()[0], text
    result = pinch("spans", "--span", "request:NONE..END", "t.pinch")
    assert result.status == 0 and b"0 executions" in result.out, (result.text, result.out)
    result = pinch("spans", "--span", "request:BEGIN..", "t.pinch")
    assert result.status == 2 and "SUBSYSTEM:EVENT..EVENT" in result.text, result.text


if __name__ == "__main__":
    main()
