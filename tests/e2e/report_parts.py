#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Reports of chosen parts (pinch report --cpu, --spans): beside a pass over all states of the trace, as pinch export writes them, in JSON, in the
page and in text.
"""
import csv
import io
import re

from lib import main, parse_report, pinch, program, read, test
from lib_page import parts_of
from lib_view import Viewer


def record(*arguments):
    result = pinch("record", "-q", "-o", "t.pinch", *arguments)
    assert result.status == 0, result.text


def report(*options):
    result = pinch("report", "-q", "--json", "report.json", "--html", "report.html", *options, "t.pinch")
    assert result.status == 0, result.text
    whole = parse_report(read("report.json", "rb"))
    assert parts_of("report.html")["report"]["parts"] == whole["parts"]
    return whole


def states():
    """All states of the trace: thread, begin, end, name, object, and the CPU on which the thread runs, or runs next; None: nobody knows."""
    rows = [row for row in csv.DictReader(io.StringIO(pinch("export", "--format", "csv", "t.pinch").out.decode())) if row["kind"] == "state"]
    found, cpus = [], {}
    for row in sorted(rows, key=lambda row: int(row["begin_ns"]), reverse=True):
        thread = int(row["thread"])
        is_running = row["name"] in ("running", "spinning")
        if is_running and row["cpu"]:
            cpus[thread] = int(row["cpu"])
        cpu = None if is_running and not row["cpu"] else cpus.get(thread)
        found.append((thread, int(row["begin_ns"]), int(row["end_ns"]), row["name"], row["object"], cpu))
    return found


def expected(all_states, is_chosen, chosen_ns):
    by_state, by_wait, by_thread, whole = {}, {}, {}, {}
    for state in all_states:
        thread, begin_ns, end_ns, name, object_name, _ = state
        whole[name] = whole.get(name, 0) + end_ns - begin_ns
        ns = chosen_ns(state) if is_chosen(state) else 0
        if not ns:
            continue
        by_state[name] = by_state.get(name, 0) + ns
        by_thread[thread] = by_thread.get(thread, 0) + ns
        if name not in ("running", "spinning", "unknown"):
            key = name, None if name == "runnable" else object_name or None
            total = by_wait.setdefault(key, [0, 0])
            total[0] += ns
            total[1] += 1
    return by_state, by_wait, by_thread, whole


def length(state):
    return state[2] - state[1]


def check(options, all_states, is_chosen=lambda state: True, chosen_ns=length):
    parts = report(*options)["parts"]
    by_state, by_wait, by_thread, whole = expected(all_states, is_chosen, chosen_ns)
    assert {row["state"]: row["ns"] for row in parts["states"]} == by_state, (options, parts["states"], by_state)
    assert all(row["all_ns"] == whole[row["state"]] for row in parts["states"]), (parts["states"], whole)
    assert parts["ns"] == sum(by_state.values()) and parts["all_ns"] == sum(whole.values()), options
    assert {row["number"]: row["ns"] for row in parts["threads"]} == by_thread and not parts["threads_left_out"], options
    assert {row["state"]: 1 for row in parts["waits"]} == {state: 1 for state, _ in by_wait}, (options, parts["waits"], by_wait)
    for state in {state for state, _ in by_wait}:
        told = [row for row in parts["waits"] if row["state"] == state]
        assert sum(row["ns"] for row in told) == by_state[state], (options, state)
        assert sum(row["waits"] for row in told) == sum(count for (name, _), (_, count) in by_wait.items() if name == state), (options, state)
    return parts


@test("by CPU: what ran there, and waits after which the thread ran there next; CPUs and the rest add up")
def cpus():
    record("--", program("lock_convoy"))
    everything = states()
    count = 1 + max(cpu for *_, cpu in everything if cpu is not None)
    found = [check(("--cpu", cpu), everything, lambda state, cpu=cpu: state[5] == cpu) for cpu in range(count)]
    unknown = sum(length(state) for state in everything if state[5] is None)
    assert sum(parts["ns"] for parts in found) + unknown == found[0]["all_ns"]
    check([word for cpu in range(count) for word in ("--cpu", cpu)], everything, lambda state: state[5] is not None)
    assert not report("--cpu", 999)["parts"]["states"]


@test("by CPU and cause or object: waits of these alone, with the figures of the page's server")
def together():
    record("--", program("lock_convoy"))
    everything = states()
    check(("--cpu", 0, "--cause", "lock"), everything, lambda state: state[5] == 0 and state[3] == "lock")
    check(("--cpu", 0, "--cause", "lock", "--cause", "cpu-wait"), everything, lambda state: state[5] == 0 and state[3] in ("lock", "runnable"))
    check(("--cpu", 0, "--object", "JOURNAL"), everything, lambda state: state[5] == 0 and "journal" in state[4].lower())
    reader = Viewer("t.pinch")
    lanes = ",".join(str(number) for number, lane in enumerate(reader.trace["lanes"]) if lane["kind"] == "thread")
    for more, options in (("&cpu=0", ("--cpu", 0)), ("&cpu=1&object=journal", ("--cpu", 1, "--object", "journal"))):
        sums = reader.json(f"/stretch?from={reader.trace['begin_ns']}&to={reader.trace['whole_ns']}&lanes={lanes}{more}")
        told = {reader.trace["shares"][share]: sum(lane["ns"][share] for lane in sums["lanes"]) for share in range(len(reader.trace["shares"]))}
        assert {row["state"]: row["ns"] for row in report(*options)["parts"]["states"]} == {name: ns for name, ns in told.items() if ns}, (options, told)
    reader.end()


def merged(executions):
    parts, found = sorted({(thread, one["time_ns"], one["end_ns"]) for one in executions for thread in (one["thread"], one["end_thread"])}), {}
    for thread, begin_ns, end_ns in parts:
        stretches = found.setdefault(thread, [])
        if stretches and stretches[-1][1] >= begin_ns:
            stretches[-1][1] = max(stretches[-1][1], end_ns)
        else:
            stretches.append([begin_ns, end_ns])
    return found


@test("by spans: the parts of states in executions of a name, of a length, of one, also on one CPU")
def spans():
    record("--span", "calls=recvfrom(fd=socket)..sendto", "--", program("span_server"))
    everything, reader = states(), Viewer("t.pinch")
    executions = reader.json("/spans?count=1000")["events"]
    reader.end()
    assert len(executions) > 10
    lengths = sorted(one["end_ns"] - one["time_ns"] for one in executions)
    middle, one = lengths[len(lengths) // 2], executions[len(executions) // 2]

    def within(stretches):
        return lambda state: sum(max(0, min(state[2], end_ns) - max(state[1], begin_ns)) for begin_ns, end_ns in stretches.get(state[0], []))
    for words, chosen in ((["CALLS"], executions), (["calls", "other"], executions), (["other"], []), ([f">{middle}ns"], [e for e in executions if e["end_ns"] - e["time_ns"] >= middle]),
                          (["calls", f"<{middle}ns"], [e for e in executions if e["end_ns"] - e["time_ns"] <= middle]), ([f"{one['thread']}@{one['time_ns']}"], [one])):
        options = [word for name in words for word in ("--spans", name)]
        parts = check(options, everything, chosen_ns=within(merged(chosen)))
        assert parts["spans"] == words, parts["spans"]
        check([*options, "--cpu", 0], everything, lambda state: state[5] == 0, within(merged(chosen)))


@test("text says what is chosen, and how much; without such options a report has none of it")
def words():
    record("--", program("lock_convoy"))
    text = pinch("report", "--cpu", 0, "t.pinch").out.decode()
    found = re.search(r"Chosen parts .*\n  CPU 0\n  .*? of the time of all threads\n((?:  .*\n)+)", text)
    assert found and "Waits in chosen parts" not in text, text
    whole = pinch("report", "-v", "--cpu", 0, "t.pinch").out.decode()
    assert "Waits in chosen parts" in whole and "Threads in chosen parts" in whole and "journal_lock" in whole, whole
    assert any("all other figures but the chosen parts" in note for note in report("--cpu", 0)["notes"])
    assert "Chosen parts" not in pinch("report", "t.pinch").out.decode() and report()["parts"] is None
    for wrong in (("--spans", ""), ("--spans", ">soon"), ("--cpu", "one"), *((13 * ("--spans", "a"),))):
        result = pinch("report", *wrong, "t.pinch")
        assert result.status == 2 and result.err.count(b"\n") == 1, (wrong, result.text)


main()
