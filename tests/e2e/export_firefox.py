#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Profiles for Firefox Profiler: each column has the type and the length that version 60 of the processed profile format documents, each
index leads to something, and what markers, weights and CPU times add up to is what the report says, to the nanosecond.
"""
import json
import os
import sys
from collections import Counter, defaultdict

from lib import main, program, test
from lib_export import BLOCKED, RUNNABLE, RUNNING, dump, export, kind_of, record, report
from lib_hosts import as_host, merge, record_at_once

COLORS = {"transparent", "purple", "green", "orange", "yellow", "lightblue", "blue", "brown", "magenta", "red", "lightred",
          "darkgrey", "grey"}
DISPLAYS = {"marker-chart", "marker-table", "timeline-overview"}
FIELD_FORMATS = {"unique-string", "flow-id", "terminating-flow-id", "integer", "nanoseconds", "string"}
STRINGS = {"unique-string", "flow-id", "terminating-flow-id"}
INSTANT, INTERVAL = 0, 1


class Ms(str):
    """A number with a fraction, of ms, as it stands there: floats have no exact ns."""

    @property
    def ns(self):
        whole, part = self.lstrip("-").split(".")
        assert len(part) == 6, self
        return (int(whole) * 10**6 + int(part)) * (-1 if self.startswith("-") else 1)


def column(table, name, check):
    """A column of a table, whose values pass the check."""
    values = table[name]
    assert len(values) == table["length"], (name, len(values), table["length"])
    for value in values:
        assert check(value), (name, value)
    return values


def index(table):
    """Of a table or a list."""
    length = table["length"] if isinstance(table, dict) else len(table)
    return lambda value: type(value) is int and 0 <= value < length


def or_null(check):
    return lambda value: value is None or check(value)


def exactly(wanted):
    return lambda value: value == wanted and type(value) is type(wanted)


class Profile:
    def __init__(self, content):
        self.all = json.loads(content, parse_float=Ms)
        self.meta, self.shared, self.threads = self.all["meta"], self.all["shared"], self.all["threads"]
        self.strings = self.shared["stringArray"]
        assert all(isinstance(string, str) for string in self.strings) and len(set(self.strings)) >= len(self.strings) // 2
        self.check_meta()
        self.check_shared()
        self.check_libs()
        for thread in self.threads:
            self.check_thread(thread)

    def check_meta(self):
        meta = self.meta
        assert meta["preprocessedProfileVersion"] == 60 and meta["processType"] == 0 and meta["stackwalk"] in (0, 1)
        assert meta["sampleUnits"] == {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"}
        assert meta["startTime"].ns > 10**18, meta["startTime"]
        assert meta["interval"].ns > 0 and meta["product"] and meta["symbolicated"] is True
        assert any(one["color"] == "grey" for one in meta["categories"])
        for category in meta["categories"]:
            assert category["color"] in COLORS and category["subcategories"][0] == "Other", category
        assert len({one["name"] for one in meta["categories"]}) == len(meta["categories"])
        self.schemas = {schema["name"]: {field["key"]: field["format"] for field in schema["fields"]}
                        for schema in meta["markerSchema"]}
        assert len(self.schemas) == len(meta["markerSchema"])
        for schema in meta["markerSchema"]:
            assert set(schema["display"]) <= DISPLAYS, schema
            assert all(field["format"] in FIELD_FORMATS for field in schema["fields"]), schema

    def check_shared(self):
        stacks, frames, functions, resources, sources = (
            self.shared[name] for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "sources"))
        column(stacks, "frame", index(frames))
        for i, prefix in enumerate(column(stacks, "prefix", or_null(index(stacks)))):
            assert prefix is None or prefix < i, "a stack comes behind its prefix"
        column(frames, "func", index(functions))
        column(frames, "category", index(self.meta["categories"]))
        column(frames, "line", or_null(lambda line: type(line) is int and line > 0))
        for name, value in (("subcategory", 0), ("address", -1), ("inlineDepth", 0), ("nativeSymbol", None), ("column", None),
                            ("innerWindowID", None)):
            column(frames, name, exactly(value))
        column(functions, "name", index(self.strings))
        column(functions, "resource", lambda value: value == -1 or index(resources)(value))
        column(functions, "source", or_null(index(sources)))
        for name, value in (("isJS", False), ("relevantForJS", False), ("lineNumber", None), ("columnNumber", None)):
            column(functions, name, exactly(value))
        column(resources, "lib", index(self.all["libs"]))
        column(resources, "name", index(self.strings))
        column(resources, "host", exactly(None))
        column(resources, "type", exactly(1))
        column(sources, "filename", index(self.strings))
        column(sources, "uuid", exactly(None))
        assert self.shared["nativeSymbols"]["length"] == 0

    def check_libs(self):
        for lib in self.all["libs"]:
            assert lib.keys() == {"arch", "name", "path", "debugName", "debugPath", "breakpadId", "codeId"}, lib
            assert lib["codeId"] is None or len(lib["breakpadId"]) == 33, lib

    def check_thread(self, thread):
        samples, markers = thread["samples"], thread["markers"]
        assert isinstance(thread["pid"], str) and isinstance(thread["tid"], int) and isinstance(thread["name"], str)
        assert isinstance(thread["isMainThread"], bool) and thread["pausedRanges"] == []
        assert thread["registerTime"].ns <= thread["unregisterTime"].ns
        assert samples["weightType"] == "tracing-ms"
        column(samples, "stack", index(self.shared["stackTable"]))
        times = [time.ns for time in column(samples, "time", lambda time: isinstance(time, Ms))]
        assert times == sorted(times), "samples are in the order of time"
        column(samples, "weight", lambda weight: weight.ns >= 0)
        column(samples, "threadCPUDelta", lambda ns: type(ns) is int and ns >= 0)
        column(markers, "name", index(self.strings))
        column(markers, "startTime", lambda time: isinstance(time, Ms))
        column(markers, "endTime", or_null(lambda time: isinstance(time, Ms)))
        column(markers, "category", index(self.meta["categories"]))
        for phase, end in zip(column(markers, "phase", lambda phase: phase in (INSTANT, INTERVAL)), markers["endTime"]):
            assert (end is not None) == (phase == INTERVAL)
        for data in column(markers, "data", lambda data: data["type"] in self.schemas):
            self.check_data(data)

    def check_data(self, data):
        for key, value in data.items():
            if key == "cause":
                assert index(self.shared["stackTable"])(value["stack"]) and isinstance(value["time"], Ms), data
            elif key != "type":
                form = self.schemas[data["type"]][key]
                check = index(self.strings) if form in STRINGS else lambda value, form=form: \
                    isinstance(value, str if form == "string" else int)
                assert check(value), data

    def markers(self, kind):
        """Thread, name, begin and end in ns, data."""
        for thread in self.threads:
            columns = thread["markers"]
            for i, data in enumerate(columns["data"]):
                if data["type"] == kind:
                    yield (thread, self.strings[columns["name"][i]], columns["startTime"][i].ns,
                           columns["endTime"][i] and columns["endTime"][i].ns, data)

    def frames(self, stack):
        """Names, innermost first."""
        names = []
        while stack is not None:
            function = self.shared["frameTable"]["func"][self.shared["stackTable"]["frame"][stack]]
            names.append(self.strings[self.shared["funcTable"]["name"][function]])
            stack = self.shared["stackTable"]["prefix"][stack]
        return names


def sums(profile):
    """By thread and kind of state."""
    found = defaultdict(Counter)
    for thread, name, begin_ns, end_ns, data in profile.markers("state"):
        key = thread["tid"], int(thread["pid"])
        found[key][kind_of(name)] += end_ns - begin_ns
        found[key]["cmetric"] += data.get("cmetric", 0)
    return found


def check_sums(profile, threads):
    found = sums(profile)
    assert found.keys() == threads.keys(), found.keys() ^ threads.keys()
    for thread in profile.threads:
        key = thread["tid"], int(thread["pid"])
        said, wanted = found[key], threads[key]
        assert said[RUNNING] == wanted["running_ns"] == sum(thread["samples"]["threadCPUDelta"]), (said, wanted)
        assert said[RUNNABLE] == wanted["cpu_wait_ns"] and said[BLOCKED] == wanted["blocked_ns"], (said, wanted)
        weight_ns = sum(weight.ns for weight in thread["samples"]["weight"])
        assert said["cmetric"] == wanted["cmetric_ns"] == weight_ns, (said, wanted, weight_ns)


def threads_of(trace="t.pinch"):
    return {(t["host_tid"], t["host_pid"]): t for t in report(trace)["threads"]}


@test("tables have the columns and types of version 60, and states, weights and CPU times add up to the report's")
def states():
    for name in ("multi_mutex", "tcp_slow"):
        record(program(name))
        check_sums(Profile(export("firefox")), threads_of())


@test("a wait has its object, who ended it, its stack, and a sample that ends with its cause")
def waits():
    record(program("multi_mutex"))
    profile = Profile(export("firefox"))
    locks = [data for _, name, *_, data in profile.markers("state") if name == "lock"]
    assert locks and {profile.strings[data["object"]] for data in locks if "object" in data} >= {"work_mutex"}, locks[:5]
    assert any("endedBy" in data for data in locks)
    stacks = [profile.frames(data["cause"]["stack"]) for data in locks if "cause" in data]
    assert any("small_work(int)" in frames for frames in stacks), stacks[:3]
    leaves = Counter()
    for thread in profile.threads:
        for stack in thread["samples"]["stack"]:
            frame = profile.shared["stackTable"]["frame"][stack]
            category = profile.meta["categories"][profile.shared["frameTable"]["category"][frame]]["name"]
            leaves[category, profile.frames(stack)[0]] += 1
    assert leaves["lock", "[lock: work_mutex]"] == len([d for d in locks if profile.strings[d.get("object", 0)] == "work_mutex"])
    libs = {lib["path"]: lib["codeId"] for lib in profile.all["libs"]}
    paths = {os.path.realpath(path) for path in libs}
    assert os.path.realpath(program("multi_mutex")) in paths and any(libs.values()), libs


@test("wake-ups are flows: when, by whom, of whom")
def wakes():
    record(program("multi_mutex"))
    events, profile = dump(), Profile(export("firefox"))
    first_ns = events[0]["time_ns"]
    tids = {e["thread"]: e["fields"]["tid"] for e in events if e["event"] in ("thread.FOUND", "thread.BORN")}
    wanted = Counter((e["time_ns"] - first_ns, tids[e["fields"]["waker"]], tids[e["thread"]])
                     for e in events if e["event"] == "sched.WAKE" and e["fields"]["waker"])
    got, flows = Counter(), {}
    for thread, name, time_ns, _, data in profile.markers("wake"):
        assert name == "wakes" and data["wakeUp"] not in flows
        flows[data["wakeUp"]] = data["tid"]
        got[time_ns, thread["tid"], data["tid"]] += 1
    assert got and got == wanted, (got - wanted, wanted - got)
    ends = [(data["wakeUp"], thread["tid"]) for thread, *_, data in profile.markers("state") if "wakeUp" in data]
    assert ends and all(flows[wake] == tid for wake, tid in ends)
    assert len({profile.strings[wake] for wake in flows}) == len(flows), "each has a string of its own"


@test("events of the program's own and activities are markers with their fields: those of the trace")
def own():
    record(program("own_activities"), "20")
    events, listed = dump(), dump("--activities")
    first_ns, profile = events[0]["time_ns"], Profile(export("firefox"))
    wanted = Counter((e["event"], e["time_ns"] - first_ns) for e in events if "argument" in e)
    got = Counter((name, time_ns) for _, name, time_ns, _, data in profile.markers("event") if data["fields"])
    assert wanted and got == wanted, (got - wanted, wanted - got)
    wanted = Counter((a["activity"], a["tid"], a["begin_ns"] - first_ns, a["end_ns"] - first_ns) for a in listed)
    got = Counter((name, thread["tid"], begin_ns, end_ns)
                  for thread, name, begin_ns, end_ns, data in profile.markers("activity") if data["fields"])
    assert len(listed) == 60 and got == wanted, (got - wanted, wanted - got)


@test("processes of several hosts have the names of their hosts, and the sums of the report")
def hosts():
    record_at_once("a", "b")
    as_host("a", 0, 0, 0)
    as_host("b", 1, 1e9, 200, peer=(0, 0, 0))
    merge("a", "b")
    threads, profile = threads_of("all.pinch"), Profile(export("firefox", trace="all.pinch"))
    check_sums(profile, threads)
    named = {(t["tid"], int(t["pid"])): t["processName"].split(": ")[0] for t in profile.threads}
    assert named == {key: t["host"] for key, t in threads.items()}, named


@test("a part of the time and one thread: the sums of the parts are those of the whole")
def parts():
    record(program("multi_mutex"))
    half_ns = (dump()[-1]["time_ns"] - dump()[0]["time_ns"]) // 2
    total = Counter()
    for options in (("--to", f"{half_ns}ns"), ("--from", f"{half_ns}ns")):
        for of_thread in sums(Profile(export("firefox", *options))).values():
            total.update(of_thread)
    whole = Counter()
    for of_thread in sums(Profile(export("firefox"))).values():
        whole.update(of_thread)
    assert all(total[kind] == whole[kind] for kind in (RUNNING, RUNNABLE, BLOCKED)), (total, whole)
    tid = report()["threads"][0]["host_tid"]
    assert {t["tid"] for t in Profile(export("firefox", "--thread", tid)).threads} >= {tid}


if __name__ == "__main__":
    sys.exit(main(jobs=2))
