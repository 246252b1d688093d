#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Traces in the formats of other tools, read by decoders that know nothing of pinch: what they add up to is what the
report says, to the nanosecond, and what they show are the wake-ups and events of the trace.
"""
import csv
import gzip
import json
import os
import pty
import shutil
import subprocess
import sys
from collections import Counter, defaultdict

from lib import LIMIT_S, PINCH, Skip, finish, main, parse_report, pinch, program, read, start, test
from lib_export import BLOCKED, RUNNABLE, RUNNING, dump, export, kind_of, number, protoc, record, report
from lib_hosts import as_host, merge, record_at_once

FORMATS = ("perfetto", "speedscope", "folded", "chrome", "pprof", "csv", "firefox", "rollup")


# --- Decoders -----------------------------------------------------------------------------------

class Perfetto:
    """A trace of Perfetto's, as its reader has it."""

    def __init__(self, content):
        self.tracks, self.slices, self.flows, self.flow_ends = {}, [], {}, {}
        self.instants, self.counters = [], []
        names = {"event_names": {}, "event_categories": {}, "debug_annotation_names": {},
                 "debug_annotation_string_values": {}}
        opened = {}
        for packet in protoc("perfetto.proto", "Trace", content)["packet"]:
            for track in packet["track_descriptor"]:
                uuid = number(track, "uuid")
                assert uuid not in self.tracks, "a track is described once"
                self.tracks[uuid] = track
            for interned in packet["interned_data"]:
                for field, known in names.items():
                    for entry in interned[field]:
                        assert number(entry, "iid") not in known
                        known[number(entry, "iid")] = entry["name"][0].strip('"')
            for event in packet["track_event"]:
                self.take(event, number(packet, "timestamp"), names, opened)
        assert not opened, "each slice has an end"

    def take(self, event, time_ns, names, opened):
        track, kind = number(event, "track_uuid"), number(event, "type")
        assert track in self.tracks, "a track is described before its events"
        arguments = {names["debug_annotation_names"][number(a, "name_iid")]:
                     number(a, "uint_value") if a["uint_value"] else
                     names["debug_annotation_string_values"][number(a, "string_value_iid")]
                     for a in event["debug_annotations"]}
        if kind == 4:
            self.counters.append((track, time_ns, number(event, "counter_value")))
            return
        if kind == 2:
            name, begin_ns, arguments = opened.pop(track)
            assert time_ns >= begin_ns, (begin_ns, time_ns)
            self.slices.append((track, begin_ns, time_ns, name, arguments))
            return
        name = names["event_names"][number(event, "name_iid")]
        for flow in event["flow_ids"]:
            assert flow not in self.flows
            self.flows[flow] = (track, time_ns)
        for flow in event["terminating_flow_ids"]:
            self.flow_ends[flow] = (track, time_ns)
        if kind == 1:
            assert track not in opened
            opened[track] = (name, time_ns, arguments)
        else:
            self.instants.append((track, time_ns, name, arguments))

    def thread(self, track):
        described = self.tracks[track]["thread"]
        return (number(described[0], "tid"), number(described[0], "pid")) if described else None

    def sums(self):
        """Of each thread: how long it did what."""
        sums = defaultdict(Counter)
        for track, begin_ns, end_ns, name, arguments in self.slices:
            if self.thread(track):
                sums[self.thread(track)][kind_of(name)] += end_ns - begin_ns
                sums[self.thread(track)]["cmetric"] += arguments.get("cmetric_ns", 0)
        return sums


def number_of(track):
    """Of the thread that has the track."""
    return track & (1 << 56) - 1


def chrome_sums(content):
    sums = defaultdict(Counter)
    for event in json.loads(content, parse_float=str)["traceEvents"]:
        if event["ph"] == "X":
            whole, part = event["dur"].split(".")
            sums[event["tid"], event["pid"]][kind_of(event["name"])] += int(whole) * 1000 + int(part)
            sums[event["tid"], event["pid"]]["cmetric"] += event.get("args", {}).get("cmetric_ns", 0)
    return sums


def csv_sums(content):
    sums = Counter()
    for row in csv.DictReader(content.decode().splitlines()):
        if row["kind"] == "state":
            sums[kind_of(row["name"])] += int(row["end_ns"]) - int(row["begin_ns"])
            sums["cmetric"] += int(row["cmetric_ns"] or 0)
    return sums


def rollup_rows(content):
    """By what they are called: ns, CMetric, count, longest, and the lengths."""
    rows = {}
    first, *lines = map(json.loads, content.decode().splitlines())
    assert first["rollup"] == 1 and first["rows"] == len(lines) and first["cpus"] == os.cpu_count(), first
    assert first["host"] == os.uname().nodename and first["watched_ns"] > 0 and first["begin_ns"] > 0, first
    for row in lines:
        key = tuple(row.pop(name) for name in ("host", "process", "threads", "state", "object", "path"))
        assert key not in rows, key
        row["lengths"] = Counter(dict(row["lengths"]))
        assert sum(row["lengths"].values()) == row["count"] and max(row["lengths"]) >= row["max_ns"], row
        rows[key] = row
    return rows


def rollup_sums(content):
    sums = Counter()
    for key, row in rollup_rows(content).items():
        sums[kind_of(key[3])] += row["ns"]
        sums["cmetric"] += row["cmetric_ns"]
    return sums


def folded_sums(content):
    sums, causes = Counter(), Counter()
    for line in content.decode().splitlines():
        stack, ns = line.rsplit(" ", 1)
        frames = stack.split(";")
        sums[frames[0]] += int(ns)
        if frames[0] == "lost":
            causes[frames[1]] += int(ns)
    return sums, causes


def speedscope_sums(content):
    document = json.loads(content)
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames, sums = document["shared"]["frames"], {}
    for profile in document["profiles"]:
        assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= f < len(frames) for sample in profile["samples"] for f in sample)
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        sums[profile["name"]] = sum(profile["weights"])
    return {"cmetric": sums["CMetric"], "lost": sums["lost time"], "cpu": sums["CPU"]}


def pprof_sums(content):
    profile = protoc("profile.proto", "Profile", gzip.decompress(content))
    strings = [s.strip('"') for s in profile["string_table"]]
    assert strings[0] == "" and len(set(strings)) == len(strings)
    types = [(strings[number(t, "type")], strings[number(t, "unit")]) for t in profile["sample_type"]]
    assert all(unit == "nanoseconds" for _, unit in types)
    functions = {number(f, "id") for f in profile["function"]}
    mappings = {0} | {number(m, "id") for m in profile["mapping"]}
    locations = {number(l, "id") for l in profile["location"]}
    for location in profile["location"]:
        assert number(location, "mapping_id") in mappings
        assert number(location["line"][0], "function_id") in functions
    sums = Counter()
    for sample in profile["sample"]:
        assert sample["location_id"] and all(int(l) in locations for l in sample["location_id"])
        assert len(sample["value"]) == len(types)
        for (name, _), value in zip(types, sample["value"]):
            sums[name] += int(value)
    return sums


# --- The tests ----------------------------------------------------------------------------------

@test("states of each thread in Perfetto's and Chrome's formats add up to the report's, to the nanosecond")
def states():
    for name in ("multi_mutex", "tcp_slow"):
        record(program(name))
        threads = {(t["host_tid"], t["host_pid"]): t for t in report()["threads"]}
        for sums in (Perfetto(export("perfetto")).sums(), chrome_sums(export("chrome"))):
            assert sums.keys() == threads.keys(), (name, sums.keys() ^ threads.keys())
            for key, thread in threads.items():
                said = sums[key]
                assert said[RUNNING] == thread["running_ns"], (name, thread, said)
                assert said[RUNNABLE] == thread["cpu_wait_ns"], (name, thread, said)
                assert said[BLOCKED] == thread["blocked_ns"], (name, thread, said)
                assert said["cmetric"] == thread["cmetric_ns"], (name, thread, said)


@test("all formats have the same sums, which are the report's")
def sums():
    record(program("multi_mutex"))
    threads = report()["threads"]
    folded, causes = folded_sums(export("folded"))
    lost_ns = sum(t["cpu_wait_ns"] + t["blocked_ns"] for t in threads)
    assert folded["cpu"] == sum(t["running_ns"] for t in threads), folded
    cpus = {row["cpu"] for row in csv.DictReader(export("csv").decode().splitlines()) if row["name"] == "running"}
    assert cpus <= {"", *map(str, range(os.cpu_count()))}, cpus
    assert folded["lost"] == lost_ns, folded
    assert folded["cmetric"] == sum(t["cmetric_ns"] for t in threads), folded
    assert speedscope_sums(export("speedscope")) == folded
    profile = pprof_sums(export("pprof"))
    assert profile.pop("lock") == causes["lock"] > 0
    assert profile == folded, (profile, folded)
    table = csv_sums(export("csv"))
    assert table[RUNNING] == folded["cpu"] and table[BLOCKED] + table[RUNNABLE] == folded["lost"]
    assert table["cmetric"] == folded["cmetric"], (table, folded)
    assert rollup_sums(export("rollup")) == table, (table, rollup_sums(export("rollup")))


def check_causes(rows):
    """Each cause has the time and the waits that it has in the report; so the history of states says what the report does."""
    ns, waits = Counter(), Counter()
    for key, row in rows.items():
        ns[key[3]] += row["ns"]
        waits[key[3]] += row["count"]
    balance = report()["balance"]["threads"]
    causes = {c["cause"]: c for c in balance["causes"] if c["cause"] not in ("cpu-wait", "throttled")}
    for name, cause in causes.items():
        assert (ns[name], waits[name]) == (cause["wait_ns"], cause["waits"]), (name, cause, ns, waits)
    assert ns["runnable"] == balance["cpu_wait_ns"], (ns, balance)
    return causes


@test("rollups have each cause's time and waits as the report has them, also of all the machine")
def machine():
    for name in ("epoll_server", "io_uring_wait", "tcp_slow"):
        record(program(name))
        check_causes(rollup_rows(export("rollup")))
    server = start(program("epoll_server"))
    assert not pinch("record", "-q", "-o", "t.pinch", "--all", "--duration", "1s").status
    finish(server)
    assert len(check_causes(rollup_rows(export("rollup")))) > 2


@test("rollups name locks and their places; those of parts of the time add up")
def rollups():
    record(program("multi_mutex"))
    rows = rollup_rows(export("rollup"))
    assert check_causes(rows)["lock"]["wait_ns"] > 0
    assert all(key[4] and key[5] for key in rows if key[3] == "lock"), "locks have names and places"
    half_ns = (dump()[-1]["time_ns"] - dump()[0]["time_ns"]) // 2
    first, second = (rollup_rows(export("rollup", option, f"{half_ns}ns")) for option in ("--to", "--from"))
    for key, row in rows.items():
        assert sum(part[key]["ns"] for part in (first, second) if key in part) == row["ns"], key
    assert first.keys() | second.keys() == rows.keys()


@test("parts of the time add up to the whole, and threads to all of them")
def parts():
    record(program("multi_mutex"))
    whole, _ = folded_sums(export("folded"))
    half_ns = (dump()[-1]["time_ns"] - dump()[0]["time_ns"]) // 2
    first, _ = folded_sums(export("folded", "--to", f"{half_ns}ns"))
    second, _ = folded_sums(export("folded", "--from", f"{half_ns}ns"))
    for kind in ("cpu", "lost"):
        assert first[kind] + second[kind] == whole[kind] and first[kind] and second[kind], kind
    assert abs(first["cmetric"] + second["cmetric"] - whole["cmetric"]) <= len(report()["threads"])
    each = Counter()
    for thread in report()["threads"]:
        each.update(folded_sums(export("folded", "--thread", thread["host_tid"]))[0])
    assert each == whole, (each, whole)


def with_next_cpu(rows):
    """Rows of states, and the CPU on which the thread runs, or runs next."""
    found, cpus = [], {}
    for row in sorted(rows, key=lambda row: int(row["begin_ns"]), reverse=True):
        is_running = row["name"] in ("running", "spinning")
        if is_running and row["cpu"]:
            cpus[row["thread"]] = row["cpu"]
        found.append((row, None if is_running and not row["cpu"] else cpus.get(row["thread"])))
    return found


@test("causes, objects and CPUs choose states: rows of the table are those of the whole, all formats have the same sums, which are the report's")
def chosen():
    record(program("multi_mutex"))
    rows = [row for row in csv.DictReader(export("csv").decode().splitlines()) if row["kind"] == "state"]
    name = next(row["object"] for row in rows if row["name"] == "lock" and row["object"])
    for options, is_chosen in ((("--cause", "lock"), lambda row, cpu: row["name"] == "lock"), (("--cause", "lock", "--cause", "cpu-wait"), lambda row, cpu: row["name"] in ("lock", "runnable")),
                               (("--object", name.upper()), lambda row, cpu: row["name"] not in ("running", "runnable") and name.lower() in row["object"].lower()),
                               (("--cpu", 0), lambda row, cpu: cpu == "0"), (("--cpu", 1, "--cause", "lock", "--object", name), lambda row, cpu: cpu == "1" and row["name"] == "lock" and name.lower() in row["object"].lower())):
        expected = [row for row, cpu in with_next_cpu(rows) if is_chosen(row, cpu)]
        written = list(csv.DictReader(export("csv", *options).decode().splitlines()))
        found = [row for row in written if row["kind"] == "state"]
        assert sorted(map(str, found)) == sorted(map(str, expected)), (options, len(found), len(expected))
        assert all(row["cpu"] in ("", "0") for row in found) or options[1] != 0
        assert "--cause" not in options or not any(row["kind"] == "sample" for row in written), options
        folded, _ = folded_sums(export("folded", *options))
        table = csv_sums(export("csv", *options))
        assert Counter(speedscope_sums(export("speedscope", *options))) == folded, options
        profile = pprof_sums(export("pprof", *options))
        profile.pop("lock", None)
        assert Counter(profile) == Counter(folded), (options, profile, folded)
        assert table[RUNNING] == folded["cpu"] and table[BLOCKED] + table[RUNNABLE] == folded["lost"] and table["cmetric"] == folded["cmetric"], (options, table, folded)
        for sums in (Perfetto(export("perfetto", *options)).sums(), chrome_sums(export("chrome", *options))):
            assert sum(said[BLOCKED] + said[RUNNABLE] for said in sums.values()) == folded["lost"], options
            assert sum(said[RUNNING] for said in sums.values()) == folded["cpu"], options
        if "--cpu" in options:
            result = pinch("report", "-q", "--json", "parts.json", *options, "t.pinch")
            assert result.status == 0, result.text
            assert parse_report(read("parts.json", "rb"))["parts"]["ns"] == folded["cpu"] + folded["lost"], options


@test("flows are the wake-ups of the trace: when, by whom, of whom")
def wakes():
    record(program("multi_mutex"))
    wakes = [(e["time_ns"], e["fields"]["waker"], e["thread"]) for e in dump() if e["event"] == "sched.WAKE"]
    perfetto = Perfetto(export("perfetto"))
    assert perfetto.flow_ends.keys() <= perfetto.flows.keys()
    got = Counter((time_ns, number_of(track)) for track, time_ns in perfetto.flows.values())
    wanted = Counter((time_ns, waker) for time_ns, waker, _ in wakes if waker)
    assert got and got == wanted, (got - wanted, wanted - got)
    pairs = Counter((time_ns, number_of(perfetto.flows[flow][0]), number_of(track))
                    for flow, (track, time_ns) in perfetto.flow_ends.items())
    assert pairs and not pairs - Counter(wakes), pairs - Counter(wakes)


@test("samples and counters are those of the trace")
def samples():
    record(program("multi_mutex"))
    perfetto = Perfetto(export("perfetto"))
    wanted = Counter(e["time_ns"] for e in dump("--subsystem", "sched") if e["event"] == "sched.SAMPLE")
    got = Counter(t for track, t, _, _ in perfetto.instants
                  if perfetto.tracks[track]["name"] and perfetto.tracks[track]["name"][0] == '"samples"')
    assert got == wanted and got, (got - wanted, wanted - got)
    assert {perfetto.tracks[track]["name"][0].strip('"') for track, _, _ in perfetto.counters} == \
        {"running threads", "run queue"}
    changes = sorted((end_ns if is_end else begin_ns, -1 if is_end else 1)
                     for track, begin_ns, end_ns, name, _ in perfetto.slices
                     if perfetto.thread(track) and kind_of(name) == RUNNING for is_end in (False, True))
    at, running = {}, 0
    for time_ns, change in changes:
        running += change
        at[time_ns] = running
    for track, time_ns, value in perfetto.counters:
        if time_ns in at and perfetto.tracks[track]["name"][0] == '"running threads"':
            assert at[time_ns] == value, (time_ns, at[time_ns], value)


@test("a program's own events are there, with their fields")
def own():
    record(program("own_events"), "threads", "2", "50", "0")
    events = [e for e in dump() if "argument" in e]
    perfetto = Perfetto(export("perfetto"))
    got = Counter((t, name) for track, t, name, _ in perfetto.instants
                  if name != "wakes" and perfetto.tracks[track].get("name", [None])[0] != '"samples"')
    wanted = Counter((e["time_ns"], e["event"]) for e in events)
    assert events and got == wanted, (got - wanted, wanted - got)
    rows = [row for row in csv.DictReader(export("csv").decode().splitlines()) if row["kind"] == "event"]
    assert len(rows) == len(events) and all(row["object"] for row in rows)


def chrome_activities(content):
    """Name, thread, begin and end in ns since the first event."""
    def ns(text):
        whole, part = text.split(".")
        return int(whole) * 1000 + int(part)

    opened, found = {}, Counter()
    for event in json.loads(content, parse_float=str)["traceEvents"]:
        if event["ph"] == "b":
            opened[event["id"]] = event
        elif event["ph"] == "e":
            begin = opened.pop(event["id"])
            assert begin["name"] == event["name"] and begin["tid"] == event["tid"], (begin, event)
            found[event["name"], event["tid"], ns(begin["ts"]), ns(event["ts"])] += 1
    assert not opened, opened
    return found


@test("activities are tracks of their own in Perfetto's format, pairs in Chrome's, rows of the table: those of the trace")
def activities():
    record(program("own_activities"), "20")
    listed, first_ns = dump("--activities"), dump()[0]["time_ns"]
    assert len(listed) == 60 and len({one["activity"] for one in listed}) == 3, listed
    perfetto = Perfetto(export("perfetto"))
    tracks = [one for one in perfetto.slices if not perfetto.thread(one[0])]
    assert len({track for track, *_ in tracks}) == len(tracks), "two activities have one track"
    got = Counter((name, number(perfetto.tracks[track], "parent_uuid") & (1 << 56) - 1, begin_ns, end_ns)
                  for track, begin_ns, end_ns, name, _ in tracks)
    wanted = Counter((one["activity"], one["thread"], one["begin_ns"], one["end_ns"]) for one in listed)
    assert got == wanted, (got - wanted, wanted - got)
    shown = Counter((one["activity"], one["tid"], one["begin_ns"] - first_ns, one["end_ns"] - first_ns) for one in listed)
    pairs = chrome_activities(export("chrome"))
    assert pairs == shown, (pairs - shown, shown - pairs)
    rows = [row for row in csv.DictReader(export("csv").decode().splitlines()) if row["kind"] == "activity"]
    table = Counter((row["name"], int(row["tid"]), int(row["begin_ns"]), int(row["end_ns"])) for row in rows)
    assert table == shown and all(row["object"] for row in rows), (table - shown, shown - table)
    words = Counter(arguments["fields"] for *_, arguments in tracks)
    assert words == Counter(row["object"] for row in rows), (words, rows[0])


@test("threads of several hosts have the names of their hosts, numbers that differ, and the sums of the report")
def hosts():
    record_at_once("a", "b")
    as_host("a", 0, 0, 0)
    as_host("b", 1, 1e9, 200, peer=(0, 0, 0))
    merge("a", "b")
    threads = {(t["host_tid"], t["host_pid"]): t for t in report("all.pinch")["threads"]}
    names = {t["host"] for t in threads.values()}
    assert len(names) == 2 and len(threads) >= 8, threads
    perfetto = Perfetto(export("perfetto", trace="all.pinch"))
    processes = {number(track["process"][0], "pid"): track["process"][0]["process_name"][0].strip('"')
                 for track in perfetto.tracks.values() if track["process"]}
    assert Counter(name.split(": ")[0] for name in processes.values()) == Counter(
        {pid: t["host"] for (_, pid), t in threads.items()}.values()), processes
    chrome = json.loads(export("chrome", trace="all.pinch"))["traceEvents"]
    assert {event["pid"]: event["args"]["name"] for event in chrome if event["name"] == "process_name"} == processes
    for sums in (perfetto.sums(), chrome_sums(export("chrome", trace="all.pinch"))):
        assert sums.keys() == threads.keys(), sums.keys() ^ threads.keys()
        for key, thread in threads.items():
            assert sums[key][RUNNING] == thread["running_ns"] and sums[key][BLOCKED] == thread["blocked_ns"], thread
    table = defaultdict(Counter)
    for row in csv.DictReader(export("csv", trace="all.pinch").decode().splitlines()):
        if row["kind"] == "state":
            table[row["host"]][kind_of(row["name"])] += int(row["end_ns"]) - int(row["begin_ns"])
    for name in names:
        own = [t for t in threads.values() if t["host"] == name]
        assert table[name][RUNNING] == sum(t["running_ns"] for t in own), (name, table)
        assert table[name][BLOCKED] == sum(t["blocked_ns"] for t in own), (name, table)


def go_pprof(*options):
    """What Go's pprof says of out.pprof."""
    if not shutil.which("go"):
        raise Skip("there is no go: install golang-go")
    private = {"HOME": os.getcwd(), "PPROF_TMPDIR": os.getcwd(), "GOFLAGS": "-mod=mod", "GOCACHE": os.path.join(os.getcwd(), "go-cache")}
    done = subprocess.run(["go", "tool", "pprof", *options, "out.pprof"], env={**os.environ, **private}, capture_output=True,
                          timeout=LIMIT_S, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def build_id(path):
    done = subprocess.run(["readelf", "-n", path], capture_output=True, timeout=LIMIT_S, check=True, text=True)
    found = [line.split()[-1] for line in done.stdout.splitlines() if "Build ID:" in line]
    return found[0] if found else ""


@test("Go's pprof reads the profile: sums are the report's, and mappings have paths and build-ids of their files")
def pprof():
    record(program("multi_mutex"))
    export("pprof")
    wanted, _ = folded_sums(export("folded"))
    for kind in ("cpu", "lost", "cmetric"):
        lines = go_pprof("-top", f"-sample_index={kind}", "-unit=ns", "-nodecount=0", "-nodefraction=0").splitlines()
        assert f"Type: {kind}" in lines and "File: multi_mutex" in lines, lines
        flat_ns = [line.split()[0] for line in lines if line.strip()[:1].isdigit()]
        assert flat_ns, lines
        assert abs(sum(float(text.removesuffix("ns")) for text in flat_ns) - wanted[kind]) <= len(flat_ns), (kind, lines)
    mappings = [line.split() for line in go_pprof("-raw").split("Mappings\n")[1].splitlines()]
    files = {words[2]: words[3] for words in mappings if words[2].startswith("/")}
    assert os.path.realpath(program("multi_mutex")) in map(os.path.realpath, files), mappings
    assert len(files) >= 2, mappings
    for path, said in files.items():
        assert said == build_id(path), (path, said)


@test("what is written and what is missing is said, on standard error alone")
def said():
    record(program("multi_mutex"))
    for form in FORMATS:
        result = pinch("export", "--format", form, "t.pinch")
        assert result.status == 0 and result.out == export(form), form
        assert "the format has no" in result.text, result.text


@test("wrong usage is refused: no format, an unknown one, an empty range, a thread that is not there")
def usage():
    record(program("multi_mutex"))
    for options, status in (((), 2), (("--format", "svg"), 2), (("--format", "csv", "--from", "2s", "--to", "1s"), 2),
                            (("--format", "csv", "--thread", "nobody"), 1), (("--format", "csv", "-o", "/none/x"), 1)):
        result = pinch("export", *options, "t.pinch")
        assert result.status == status and result.text and not result.out, (options, result.text)


@test("a binary format is not written to a terminal, and text is")
def terminal():
    record(program("multi_mutex"))
    for form, status in (("perfetto", 1), ("pprof", 1), ("folded", 0)):
        ours, theirs = pty.openpty()
        process = start(PINCH, "export", "--format", form, "t.pinch", stdout=theirs, stderr=subprocess.PIPE)
        os.close(theirs)
        got = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:         # its other end is closed
                break
            if not piece:
                break
            got += piece
        os.close(ours)
        assert finish(process).status == status and bool(got) == (status == 0), form


if __name__ == "__main__":
    sys.exit(main(jobs=2))
