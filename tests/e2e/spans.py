#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks of planted programs, delimited by system calls and by functions: each is there once, with what its time went into."""
import os
import subprocess
import sys

from lib import LIMIT_S, Skip, main, parse, pinch, program, read_line, start, stop, test, wait_attached

SERVERS, REQUESTS, SLOW_EACH, SLOW_NS, DEPTH = 3, 40, 10, 20000000, 3
COUNTS = ("ends_alone", "begun_anew", "left", "died", "unfinished", "in_gaps", "dropped")


def record(*command, spans, options=(), status=0):
    result = pinch("record", "-q", "-o", "t.pinch", *options,
                   *(word for span in spans for word in ("--span", span)), "--", *command)
    assert result.status == status, result.text
    return result


def listed(*options, trace="t.pinch"):
    """Spans by name, and executions, which are checked for what holds of all."""
    result = pinch("spans", "--json", "-", *options, trace)
    assert result.status == 0, result.text
    reported = parse(result.out, "spans")
    spans = {span["name"]: span for span in reported["spans"]}
    for span in spans.values():
        ours = sorted(e["duration_ns"] for e in reported["executions"] if e["span"] == span["name"])
        assert len(ours) == span["executions"], span
        assert not ours or ours[-1] == span["max_ns"], span
    for e in reported["executions"]:
        assert e["end_ns"] - e["begin_ns"] == e["duration_ns"], e
        assert sum(state["ns"] for state in e["states"].values()) == e["duration_ns"], e
    return spans, reported["executions"]


def others(span):
    return {key: span[key] for key in COUNTS if span[key]}


def check_requests(spans, executions, name):
    ours = [e for e in executions if e["span"] == name]
    assert not others(spans[name]), spans[name]
    assert len(ours) == SERVERS * REQUESTS, len(ours)
    for server in range(SERVERS):
        each = [e for e in ours if e["who"].startswith(f"server-{server} ")]
        assert len(each) == REQUESTS, (server, len(each))
        for number, e in enumerate(each):
            lock_ns = e["states"].get("lock", {"ns": 0})["ns"]
            # Who waits for the lock does so while the client sleeps.
            assert (lock_ns >= SLOW_NS) == (number % SLOW_EACH == SLOW_EACH - 1), e
            reads = 1 + number % 3
            assert (e["transfers"], e["read_bytes"], e["written_bytes"]) == (reads + 1, 1000 * reads, 300), e
            assert e["faults"] >= 2, e


@test("requests by system calls and by a function: each once, each tenth waits for the lock")
def requests():
    record(program("span_server"), spans=(
        "calls=recvfrom(fd=socket)..sendto", "function=span_server:Server::handle", "pipes=recvfrom(fd=pipe)..sendto",
        "same=recvfrom..sendto(fd=same)"))
    spans, executions = listed()
    for name in "calls", "function", "same":
        check_requests(spans, executions, name)
    assert spans["pipes"]["executions"] == 0 and spans["pipes"]["ends_alone"] == SERVERS * REQUESTS, spans["pipes"]
    within = [(e["begin_ns"], e["end_ns"], e["thread"]) for e in executions if e["span"] == "calls"]
    for e in executions:
        if e["span"] == "function":
            assert sum(b <= e["begin_ns"] and e["end_ns"] <= x and t == e["thread"] for b, x, t in within) == 1, e


@test("a function that calls itself: each call once, three deep, by its symbol and by its name")
def recursion():
    path = program("span_server")
    record(path, spans=("name=span_server:Server::descend", f"symbol={path}:_ZN6Server7descendEj"))
    spans, executions = listed()
    for name in "name", "symbol":
        assert not others(spans[name]), spans[name]
        depths = [e["depth"] for e in executions if e["span"] == name]
        assert [depths.count(d) for d in range(DEPTH + 1)] == [SERVERS * REQUESTS] * DEPTH + [0], depths[:9]


@test("exceptions pass through the function, and what they left is counted")
def exceptions():
    run = record(program("span_throw"), spans=("risky=span_throw:risky", "raise=span_throw:raise_third"))
    assert b"10 of 30" in run.out, run.out
    spans, _ = listed()
    for span in spans.values():
        assert span["executions"] == 20 and others(span) == {"left": 10}, span


@test("the graph and the critical path of an execution are as long as it is")
def dependencies():
    record(program("span_server"), spans=("r=recvfrom..sendto",))
    _, executions = listed()
    slowest = max(executions, key=lambda e: e["duration_ns"])
    for word, e in (("r:slowest", slowest), ("r", slowest), ("r:7", executions[6])):
        result = pinch("graph", "--span", word, "--json", "-", "t.pinch")
        assert result.status == 0, result.text
        root = parse(result.out, "graph")["nodes"][0]
        assert root["ns"] == e["duration_ns"] and root["label"] == e["who"], (root, e)
        result = pinch("critical-path", "--span", word, "--json", "-", "t.pinch")
        assert result.status == 0, result.text
        parts = parse(result.out, "critical-path")["parts"]
        assert (parts[0]["begin_ns"], parts[-1]["end_ns"]) == (e["begin_ns"], e["end_ns"]), (parts[0], e)


@test("a process that runs already: its function is met, and the rest of its requests is there")
def attached():
    path = program("span_throw")
    process = start(path, "wait", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert read_line(process) == b"ready\n"
    tracer = start(os.environ.get("PINCH", os.path.join(os.path.dirname(os.path.dirname(path)), "pinch")),
                   "record", "-q", "-o", "t.pinch", "--span", "r=span_throw:risky", "-p", process.pid,
                   stderr=subprocess.PIPE)
    wait_for_probe(tracer)
    wait_attached(tracer)
    process.stdin.write(b"\n")
    process.stdin.flush()
    assert b"10 of 30" in read_line(process)
    assert process.wait(LIMIT_S) == 0
    assert tracer.wait(LIMIT_S) == 0, tracer.stderr.read()
    stop(tracer)
    spans, _ = listed()
    assert spans["r"]["executions"] == 20 and others(spans["r"]) == {"left": 10}, spans


def wait_for_probe(tracer):
    """Until it has a uprobe's link, which are attached one after the other: the last one is of the return."""
    from lib import wait_until

    def probes():
        count = 0
        for fd in os.listdir(f"/proc/{tracer.pid}/fd"):
            try:
                with open(f"/proc/{tracer.pid}/fdinfo/{fd}", encoding="ascii") as file:
                    count += "uprobe" in file.read()
            except OSError:
                continue
        return count >= 2
    try:
        wait_until(probes, "the probes of the function", 20)
    except AssertionError:
        raise Skip("this kernel does not show which links are of uprobes") from None


@test("a part of a trace has the executions of that part, and a flight recorder's says what they are called")
def parts():
    record(program("span_server"), spans=("r=recvfrom..sendto",), options=("--ring", "64M"))
    _, executions = listed()
    assert len(executions) == SERVERS * REQUESTS
    first_ns = parse(pinch("spans", "--json", "-", "t.pinch").out, "spans")["first_ns"]
    middle_ns = executions[60]["begin_ns"] - first_ns
    result = pinch("cut", "-o", "part.pinch", "--from", f"{middle_ns}ns", "t.pinch")
    assert result.status == 0, result.text
    spans, later = listed(trace="part.pinch")
    assert [e["begin_ns"] for e in later] == [e["begin_ns"] for e in executions[60:]]
    assert spans["r"]["ends_alone"] <= SERVERS, spans


@test("parts merged have all executions again; spans of several traces keep their names, and equal ones are one")
def merged():
    request, inner = "r=recvfrom..sendto", "inner=span_server:Server::descend"
    record(program("span_server"), spans=(request, inner))
    whole, executions = listed()
    reported = parse(pinch("spans", "--json", "-", "t.pinch").out, "spans")
    middle = f"{executions[60]['begin_ns'] - reported['first_ns'] + 1}ns"     # within an execution
    parts = []
    for name, options in (("first.pinch", ("--to", middle)), ("second.pinch", ("--from", middle))):
        result = pinch("cut", "-o", name, *options, "t.pinch")
        assert result.status == 0, result.text
        parts.append(name)
    # The other way round: the spans of a part may come in another order.
    result = pinch("merge", "-o", "merged.pinch", *reversed(parts))
    assert result.status == 0, result.text
    spans, again = listed(trace="merged.pinch")
    assert {name: (s["executions"], others(s)) for name, s in spans.items()} == \
        {name: (s["executions"], others(s)) for name, s in whole.items()}, (whole, spans)
    keys = ("span", "begin_ns", "end_ns", "states")
    assert [[e[key] for key in keys] for e in again] == [[e[key] for key in keys] for e in executions]
    # Of another run, with another span first: names tell them apart.
    os.rename("t.pinch", "both.pinch")
    record(program("span_server"), spans=(inner,))
    os.rename("t.pinch", "inner.pinch")
    result = pinch("merge", "-o", "merged.pinch", "inner.pinch", "both.pinch")
    assert result.status == 0, result.text
    spans, _ = listed(trace="merged.pinch")
    assert spans["r"]["executions"] == whole["r"]["executions"], spans
    assert spans["inner"]["executions"] == 2 * whole["inner"]["executions"], spans


@test("without --span nothing of it is in a trace, and all say so")
def none():
    record(program("span_server"), spans=())
    assert b"span.BEGIN" not in pinch("dump", "t.pinch").out
    for arguments in (("spans",), ("graph", "--span", "r"), ("critical-path", "--span", "r:1")):
        result = pinch(*arguments, "t.pinch")
        assert result.status == 1 and "contains no spans" in result.text and result.text.count("\n") == 1, result.text


@test("what is wrong with a span: one message, exit status 1, 2 or 125, and nothing is run")
def bad():
    path = program("span_server")
    for span, status, about in (
            ("reed..write", 2, "unknown system call 'reed'"), ("read(fd=x)..write", 2, "fd=x"), ("read", 2, "neither"),
            ("app.BEGIN..app.END", 2, "unknown system call"), (f"{path}:nothing", 125, "has no function nothing")):
        result = record("sh", "-c", "echo ran", spans=(span,), status=status)
        assert about in result.text and result.text.count("\n") == 1 and b"ran" not in result.out, result.text
    result = pinch("run", "--span", "read..write", "--", "true")
    assert result.status == 125 and "--trace" in result.text, result.text
    record(path, spans=("r=recvfrom..sendto",))
    for arguments, status, about in (
            (("spans", "--span", "x"), 1, "no span x, but r"), (("spans", "--sort", "x"), 2, "--sort"),
            (("graph", "--span", "r:121"), 1, "no such execution"), (("graph", "--span", "r:x"), 1, "NAME:slowest"),
            (("graph", "--span", "r:0"), 1, "NAME:slowest"), (("graph", "--span", "r", "--to", "1s"), 2, "leave out"),
            (("critical-path", "--span", "r", "--thread", "1"), 2, "leave out")):
        result = pinch(*arguments, "t.pinch")
        assert result.status == status and about in result.text and result.text.count("\n") == 1, \
            (arguments, result.status, result.text)


if __name__ == "__main__":
    sys.exit(main())
