#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What is unusual among programs' own events is said, with what proves it, and nothing is made up: a program in which one thing is planted
(tests/programs/own_unusual.c), or nothing. How long things take is up to the machine: what is only long or silent by itself is no defect.
"""
import json
import sys

from lib import main, pinch, program, read, test

REQUESTS, BURST = 18000, 3000
MS = 1000000


def hints(what):
    result = pinch("record", "-o", "t.pinch", "--", program("own_unusual"), what)
    assert result.status == 0, result.text
    result = pinch("report", "--json", "r.json", "t.pinch")
    assert result.status == 0, result.text
    report = json.loads(read("r.json"))
    rows = report["hints"]
    assert report["losses"]["late"] == 0, report["losses"]
    text = result.out.decode()
    assert ("Unusual  (among programs' own events)" in text) == bool(rows), text
    return rows, text


def of_kind(rows, kind):
    return [row for row in rows if row["kind"] == kind]


def only(rows, kind, name):
    """The one of this kind, which has this name; of those that the machine's own pauses do not make, there is no other one."""
    found = of_kind(rows, kind)
    assert [row["name"] for row in found] == [name], rows
    assert found[0]["count"] == 1 or kind == "burst", found
    return found[0]


@test("of a program in which all is as always no order, no end and no burst is said")
def nothing():
    rows, _ = hints("none")
    assert {row["kind"] for row in rows} <= {"length", "silence"}, rows


@test("a request without an end is the first that is said")
def unended():
    rows, text = hints("unended")
    row = only(rows, "unended", "request")
    assert row["others"] == REQUESTS - 1, row
    assert "  request: 1 has no end, and 17,999 have; at " in text, text
    assert row["thread"] == "own_unusual" and row["tid"], row


@test("an order that else never is")
def order():
    rows, _ = hints("order")
    names = {row["name"] for row in of_kind(rows, "order")}
    assert names == {"mutex.LOCK, then mutex.UNLOCK", "mutex.UNLOCK, then request.WORK",
                     "request.WORK, then request.END"}, rows
    assert all(row["count"] == 1 and row["others"] == REQUESTS - 1 for row in of_kind(rows, "order")), rows
    assert not of_kind(rows, "unended"), rows


@test("a request of 150 ms, and what of it was so long")
def length():
    rows, _ = hints("length")
    row = only(rows, "length", "mutex.LOCK")
    assert row["ns"] >= 150 * MS and row["usual_ns"] < 15 * MS and row["others"] == REQUESTS - 1, row


@test("one silence of all kinds of events is said once")
def silence():
    rows, _ = hints("silence")
    found = of_kind(rows, "silence")
    assert len(found) == 1 and found[0]["ns"] >= 390 * MS and found[0]["usual_ns"] < 4 * MS, rows


@test("a burst of one kind of events")
def burst():
    rows, _ = hints("burst")
    row = only(rows, "burst", "memserv.ALLOC")
    assert row["count"] + row["others"] == REQUESTS + BURST and row["count"] >= BURST / 2, row


if __name__ == "__main__":
    sys.exit(main(jobs=1))
