#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters of the page beyond graph and waits: activities, and what is reported, saved and exported, beside a pass over all that there is."""
import json

from lib import main, pinch, program, test, wait_until
from lib_view import Viewer


def recorded(path, *arguments):
    result = pinch("record", "-q", "-o", path, *arguments)
    assert result.status == 0, result.text


def rows_of(reader, path):
    """All of a list, when it is counted."""
    page = wait_until(lambda: (got := reader.json(path + "&count=1000"))["is_counted"] and got, f"{path} is counted")
    assert page["rows"] <= 1000, page["rows"]
    return page["events"]


def stretches_of(reader, thread, more):
    """Chosen parts of a thread, one after the other in the order of time, by sums of smaller and smaller stretches of time."""
    lane = next(number for number, lane in enumerate(reader.trace["lanes"]) if lane["kind"] == "thread" and lane["thread"] == thread)

    def has_any(begin_ns, end_ns):
        return any(reader.json(f"/stretch?from={begin_ns}&to={max(end_ns, begin_ns + 1)}&lanes={lane}{more}")["lanes"][0]["ns"])
    return has_any


@test("activities: those are chosen that have a chosen part of what their threads did while they lasted, as rows and on lanes")
def activities():
    recorded("own.pinch", "--span", "locked=mutex:LOCK..UNLOCK", "--", program("own_activities"), "20")
    reader = Viewer("own.pinch")
    everything = rows_of(reader, "/activities?row=0")
    spans = rows_of(reader, "/spans?row=0")
    objects = sorted({row["object"] for row in rows_of(reader, "/waits?row=0") if row["object"]})
    choices = ["&cpu=0", "&cpu=1", "&cpu=0&cpu=1", "&object=there+is+none", *(f"&object={name.replace(' ', '+')}" for name in objects[:2]), "&span=locked", "&span=none"]
    if spans:
        choices.append(f"&execution={spans[0]['thread']}@{spans[0]['time_ns']}")
    counts = {}
    for more in choices:
        expected = [row for row in everything if any(stretches_of(reader, thread, more)(row["time_ns"], row["end_ns"]) for thread in {row["thread"], row["end_thread"]})]
        found = rows_of(reader, "/activities?row=0" + more)
        assert [{**row, "row": 0} for row in found] == [{**row, "row": 0} for row in expected], (more, len(found), len(expected))
        lanes = f"0-{len(reader.trace['lanes']) - 1}"
        drawn = reader.json(f"/drawn-activities?from={reader.trace['begin_ns']}&to={reader.trace['whole_ns']}&lanes={lanes}{more}")
        assert drawn["is_complete"] and [(begin, end) for _, begin, end, *_ in drawn["activities"]] == [(row["time_ns"], row["end_ns"]) for row in expected], more
        at = reader.json(f"/activities/at?time={expected[-1]['time_ns'] if expected else 0}{more}")["row"]
        assert at == next((i for i, row in enumerate(expected) if row["time_ns"] >= expected[-1]["time_ns"]), 0), (more, at)
        counts[more] = len(expected)
    assert counts["&object=there+is+none"] == counts["&span=none"] == 0 and 0 < counts["&span=locked"], counts
    assert any(0 < count < len(everything) for count in counts.values()), counts
    for path in ("/activities?count=1", "/drawn-activities?from=0&to=1&lanes=0"):
        assert reader.get(path + "&cpu=x")[0] == 400, path
    reader.end()


main()
