#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Reports of chosen waits (pinch report --cause, --object): they have the rows of the whole report that are chosen, with the same figures,
and what is chosen and what is not add up to the whole.
"""
import itertools
import json
import sys

from lib import check_blame, main, parse_report, pinch, program, read, test
from lib_page import parts_of

ALL = ("target", "totals", "losses", "parallelism", "timeline", "paths", "code", "balance", "verdict", "threads", "groups",
       "kernel_locks", "event_loops")


def record(name, *arguments):
    result = pinch("record", "-q", "-o", "t.pinch", "--", program(name), *arguments)
    assert result.status == 0, result.text


def report(*options):
    result = pinch("report", "--json", "report.json", "-q", *options, "t.pinch")
    assert result.status == 0, result.text
    return parse_report(read("report.json", "rb"))


def causes_of(whole):
    return [row["cause"] for row in whole["balance"]["threads"]["causes"]]


def sum_of(rows, name="wait_ns"):
    return sum(row[name] for row in rows)


def lost_ns(rows):
    return sum(row["wait_ns"] - row["idle_ns"] for row in rows)


def by_cause(*causes):
    return report(*(word for cause in causes for word in ("--cause", cause)))


def by_object(*names):
    return report(*(word for name in names for word in ("--object", name)))


def blamed(report):
    blame = report["blame"]
    assert sum_of(blame["roots"], "ns") == blame["lost_ns"], blame
    return blame["lost_ns"]


def assert_rest_is_of_all(whole, chosen):
    for name in ALL:
        assert chosen[name] == whole[name], name


@test("a report without a choice has none")
def none():
    record("member_lock")
    whole = report()
    assert whole["choice"] is None
    check_blame(whole)


@test("the rows of each set of causes are those of the whole, and what is chosen and what is not add up to all")
def causes():
    record("member_lock")
    whole = report()
    names = causes_of(whole)
    all_ns = sum_of(whole["balance"]["threads"]["causes"])
    assert len(names) > 2, names
    for size in range(1, len(names)):
        for some in itertools.combinations(names, size):
            others = [name for name in names if name not in some]
            chosen, rest = by_cause(*some), by_cause(*others)
            assert chosen["waits"] == [row for row in whole["waits"] if row["cause"] in some], some
            assert chosen["files"] == [row for row in whole["files"] if row["cause"] in some], some
            assert chosen["choice"]["wait_ns"] + rest["choice"]["wait_ns"] == all_ns, some
            assert chosen["choice"]["all_wait_ns"] == all_ns, some
            assert sorted(chosen["choice"]["causes"]) == sorted(some), chosen["choice"]
            assert len(chosen["locks"]) + len(rest["locks"]) == len(whole["locks"]), some
            assert len(chosen["findings"]) + chosen["choice"]["findings_left_out"] == len(whole["findings"]), some
            assert abs(blamed(chosen) + blamed(rest) - lost_ns(whole["waits"]) - lost_ns(
                row for row in whole["balance"]["threads"]["causes"] if row["cause"] in ("cpu-wait", "throttled"))) <= 2, some
            assert_rest_is_of_all(whole, chosen)


@test("each lock by its name: who waits, from where, who holds it; the locks and what is for no object add up to all")
def objects():
    record("member_lock")
    whole = report()
    names = ["cache.lock", "cache.statistics.lock", "shards[3].lock", "grid[1][2].lock"]
    of_waits = sum_of(whole["waits"])
    chosen_ns = 0
    for name in names:
        chosen = by_object(name)
        assert chosen["waits"] == [row for row in whole["waits"] if row["object"] and name in row["object"]], name
        assert [lock["name"] for lock in chosen["locks"]] == [name], chosen["locks"]
        assert chosen["locks"][0] == next(lock for lock in whole["locks"] if lock["name"] == name)
        assert chosen["locks"][0]["holder"] == "holder", chosen["locks"][0]
        assert chosen["choice"]["waiters"], chosen["choice"]
        assert chosen["choice"]["wait_ns"] == sum_of(chosen["waits"]), name
        assert blamed(chosen) == lost_ns(chosen["waits"]), name
        assert all(name in json.dumps(finding) for finding in chosen["findings"]), chosen["findings"]
        assert_rest_is_of_all(whole, chosen)
        chosen_ns += chosen["choice"]["wait_ns"]
    together = by_object(*names)
    named = {row["object"] for row in whole["waits"] if row["object"]}
    rest = [row for row in whole["waits"] if not row["object"] or not any(name in row["object"] for name in names)]
    assert together["choice"]["wait_ns"] == chosen_ns, (together["choice"], chosen_ns)
    assert chosen_ns + sum_of(rest) == of_waits, named
    assert together["choice"]["unnamed_ns"] == sum_of(row for row in whole["waits"] if not row["object"])


@test("a cause and an object have to agree, upper and lower case are the same, and the text and the page say what they are of")
def views():
    record("member_lock")
    assert not report("--cause", "sleep", "--object", "cache.lock")["waits"]
    assert report("--cause", "lock", "--object", "CACHE.LOCK")["waits"]
    result = pinch("report", "--cause", "lock", "--object", "cache.lock", "--html", "page.html", "-o", "-", "t.pinch")
    assert result.status == 0, result.text
    text = result.out.decode()
    assert "Chosen waits" in text and "cause lock; object cache.lock" in text, text
    page = parts_of("page.html")["report"]
    chosen = report("--cause", "lock", "--object", "cache.lock")
    assert page["choice"] == chosen["choice"] and len(page["waits"]) == len(chosen["waits"]), page["choice"]


@test("the graph of the page has the chosen waits, with what is above and below them, and their times are those of the whole")
def graph():
    record("member_lock")
    for options, file in (((), "all.html"), (("--object", "cache.lock"), "some.html")):
        result = pinch("report", "-q", *options, "--html", file, "t.pinch")
        assert result.status == 0, result.text

    whole, some = parts_of("all.html")["graph"]["nodes"], parts_of("some.html")["graph"]["nodes"]
    assert 1 < len(some) < len(whole), (len(some), len(whole))
    assert any("cache.lock" in node["label"] for node in some), some
    assert not any("shards[3].lock" in node["label"] for node in some), some

    def path(nodes, node):
        labels = [node["label"]]
        while node["parent"] is not None:
            node = nodes[node["parent"]]
            labels.append(node["label"])
        return tuple(labels)

    times = {path(whole, node): node["ns"] for node in whole}
    assert all(times[path(some, node)] == node["ns"] for node in some)


@test("causes that there are not, and objects without a name, are wrong usage")
def usage():
    for options, words in ((("--cause", "nothing"), "--cause takes the name of a cause, not 'nothing'"),
                           (("--object", ""), "--object takes a part of a name"),
                           (("--object", "x") * 17, "at most 16 times")):
        result = pinch("report", *options, "t.pinch")
        assert result.status == 2 and words in result.text, result.text


if __name__ == "__main__":
    sys.exit(main())
