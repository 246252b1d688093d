#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
OpenTelemetry's traces, decoded by protoc: each execution of a span is there once, with the waits that pinch spans says it has, to the
nanosecond.
"""
import ast
import sys
from collections import Counter, defaultdict

from lib import main, parse, pinch, program, test
from lib_export import dump, export, number, protoc

NO_WAITS = {"running", "spinning", "unknown"}
NAMES = {"waiting for a CPU": "runnable"}       # the words of pinch spans, and those of states


def record(*command, spans):
    result = pinch("record", "-q", "-o", "t.pinch", *(word for span in spans for word in ("--span", span)), "--", *command)
    assert result.status == 0, result.text


def value_of(attribute):
    value = attribute["value"][0]
    return text_of(value["string_value"][0]) if value["string_value"] else number(value, "int_value")


def text_of(quoted):
    return ast.literal_eval("b" + quoted).decode()


def attributes_of(message):
    return {text_of(a["key"][0]): value_of(a) for a in message["attributes"]}


def otlp(*options):
    """Spans by id, with ids and names as bytes and text, and attributes; those of the resource are in 'resource'."""
    spans = {}
    for resource in protoc("otlp.proto", "TracesData", export("otlp", *options))["resource_spans"]:
        of = attributes_of(resource["resource"][0])
        for scope in resource["scope_spans"]:
            assert text_of(scope["scope"][0]["name"][0]) == "pinch"
            for span in scope["spans"]:
                trace, own, parent = (ast.literal_eval("b" + span[name][0]) if span[name] else None
                                      for name in ("trace_id", "span_id", "parent_span_id"))
                assert len(trace) == 16 and len(own) == 8 and own not in spans and number(span, "kind") == 1
                assert any(trace) and any(own) and (parent is None or len(parent) == 8)
                begin_ns, end_ns = number(span, "start_time_unix_nano"), number(span, "end_time_unix_nano")
                assert begin_ns <= end_ns, span
                spans[own] = {"trace": trace, "parent": parent, "name": text_of(span["name"][0]), "begin_ns": begin_ns,
                              "end_ns": end_ns, "attributes": attributes_of(span), "resource": of}
    for span in spans.values():
        if span["parent"]:
            parent = spans[span["parent"]]
            assert parent["trace"] == span["trace"], "a span is in the trace of its parent"
            assert parent["begin_ns"] <= span["begin_ns"] and span["end_ns"] <= parent["end_ns"], (parent, span)
    return spans


def listed(*options):
    result = pinch("spans", "--json", "-", *options, "t.pinch")
    assert result.status == 0, result.text
    return parse(result.out, "spans")["executions"]


def check(spans, executions, names):
    """Executions and what waits below them add up to."""
    first = dump()[0]
    offset_ns = first["fields"]["realtime_ns"] - first["time_ns"]
    waits = defaultdict(Counter)
    for span in spans.values():
        if span["name"] in names:
            continue
        above = span["parent"]
        while above:            # the waits of an execution are those of executions in it, too
            waits[above][span["name"]] += span["end_ns"] - span["begin_ns"]
            above = spans[above]["parent"]
    got = Counter((s["name"], s["begin_ns"] - offset_ns, s["end_ns"] - s["begin_ns"], s["attributes"]["pinch.read_bytes"],
                   frozenset(waits[own].items())) for own, s in spans.items() if s["name"] in names)
    wanted = Counter((e["span"], e["begin_ns"], e["duration_ns"], e["read_bytes"],
                      frozenset((NAMES.get(name, name), state["ns"]) for name, state in e["states"].items()
                                if name not in NO_WAITS and state["ns"])) for e in executions)
    assert wanted and got == wanted, ((got - wanted).most_common(2), (wanted - got).most_common(2))


@test("executions of spans are spans, and their waits are children that add up to what pinch spans says")
def executions():
    names = {"calls", "function"}
    record(program("span_server"), spans=("calls=recvfrom(fd=socket)..sendto", "function=span_server:Server::handle"))
    spans, wanted = otlp(), listed()
    check(spans, wanted, names)
    inner = [s for s in spans.values() if s["name"] == "function"]
    assert inner and all(spans[s["parent"]]["name"] == "calls" for s in inner), "an execution in another one is its child"
    locks = [s["attributes"] for s in spans.values() if s["name"] == "lock"]
    assert locks and any("pinch.object" in one for one in locks) and any("code.stacktrace" in one for one in locks), locks[:3]
    assert any("pinch.ended_by" in one for one in locks)
    assert {s["resource"]["service.name"] for s in spans.values()} == {"client"}, "the first thread calls itself so"
    assert all(s["resource"]["process.pid"] and s["attributes"]["thread.id"] for s in spans.values())


@test("a part of the time has its executions; a trace without spans has none, and says so")
def parts():
    record(program("span_server"), spans=("calls=recvfrom(fd=socket)..sendto",))
    whole = {own: s["begin_ns"] for own, s in otlp().items() if s["name"] == "calls"}
    half_ns = sorted(whole.values())[len(whole) // 2] - dump()[0]["fields"]["realtime_ns"]
    halves = [{own for own, s in otlp(option, f"{half_ns}ns").items() if s["name"] == "calls"} for option in ("--to", "--from")]
    assert halves[0] | halves[1] == whole.keys() and halves[0] and halves[1], "an execution has one id"
    result = pinch("record", "-q", "-o", "t.pinch", "--", program("multi_mutex"))
    assert result.status == 0, result.text
    result = pinch("export", "--format", "otlp", "t.pinch")
    assert result.status == 0 and not result.out and "--span" in result.text, result.text


if __name__ == "__main__":
    sys.exit(main(jobs=2))
