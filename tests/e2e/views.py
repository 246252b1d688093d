#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A figure that two views share is one figure: of a trace's text, JSON, page, call paths, comparison and replay."""
import json
import os
import re
import sys

from lib import PINCH, main, near, parse, parse_report, pinch, program, read, test
from lib_page import parts_of

UNIT_NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}
# In text, a figure has three digits, and one of more than a minute is in whole seconds.
DIGITS = 0.006


def duration_ns(words):
    """Of "12 min 5 s", "160 ms"."""
    return sum(float(number.replace(",", "")) * UNIT_NS[unit] for number, unit in
               re.findall(r"([\d.,]+) (ns|us|ms|s|min|h)\b", words))


def same(text, ns, what):
    near(duration_ns(text), ns, DIGITS * ns + 1, what)


def replayed(*arguments):
    result = pinch(*arguments)
    assert result.status == 0, result.text
    return result


class Views:
    """All of one trace."""

    def __init__(self, path):
        replayed("report", "--json", "v.json", "--html", "v.html", "--folded", "v.folded", "-v", "-o", "v.txt", "--top", 1000,
                 path)
        self.path = path
        self.report = parse_report(read("v.json", "rb"))
        self.text = read("v.txt")


def views_of(*command):
    result = pinch("run", "--trace", "t.pinch", "-o", "t.txt", "--", *command)
    assert result.status == 0, result.text
    return Views("t.pinch")


# --- Text and JSON --------------------------------------------------------------------------------

def rows_of(text, title):
    """The lines below a heading, up to the next empty one."""
    return re.search(rf"^{title}.*?\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)[1].split("\n")


def check_times(views):
    """The table of time is the balance, and all of it: what is too little for a row is in the last one."""
    threads = views.report["balance"]["threads"]
    head = re.search(r"^Time of all threads  \((.*?) in total", views.text, re.MULTILINE)[1]
    same(head, threads["total_ns"], "the time of all threads")
    told = {"running": threads["running_ns"], "waiting for a CPU": threads["cpu_wait_ns"],
            **{cause["cause"]: cause["wait_ns"] for cause in threads["causes"]}}
    waits = {cause["cause"]: cause["waits"] for cause in threads["causes"]}
    sum_ns, sum_share = 0, 0
    for row in rows_of(views.text, "Time of all threads"):
        if row.startswith("    of it "):
            continue
        found = re.match(r"  (\S.*?)  [^\w]*? +([\d.]+) % +([\d.,]+ \w+(?: [\d.]+ \w+)?)(?:  ([\d,]+) waits?)?$", row)
        assert found, row
        name, share, time, count = found.groups()
        sum_ns += duration_ns(time)
        sum_share += float(share)
        if name not in told:
            continue
        same(time, told[name], name)
        near(float(share), 100 * told[name] / threads["total_ns"], 0.06, f"{name}, share")
        if count:
            assert int(count.replace(",", "")) == waits[name], row
    near(sum_ns, threads["total_ns"], DIGITS * threads["total_ns"], "all rows")
    near(sum_share, 100, 1, "all shares")


def check_findings(views):
    said = [(row[1], " ".join(row[2].split())) for row in
            re.finditer(r"^ +\d+  ([\d.]+) %: (.*?)\n(?=       |  \d|\n)", views.text, re.MULTILINE | re.DOTALL)]
    for finding in views.report["findings"][:5]:
        title = " ".join(finding["title"].split())
        shares = [float(share) for share, words in said if words.startswith(title[:60])]
        assert shares, (title, said)
        near(shares[0], 100 * finding["share"], 0.6, title)


def check_sums(report):
    """What is counted twice in the JSON."""
    threads, totals, target = report["balance"]["threads"], report["totals"], report["target"]
    lives_ns = sum(t["running_ns"] + t["cpu_wait_ns"] + t["blocked_ns"] for t in report["threads"])
    causes_ns = sum(cause["wait_ns"] for cause in threads["causes"])
    near(threads["total_ns"], lives_ns, len(report["threads"]), "lives of threads")
    near(threads["running_ns"] + causes_ns, threads["total_ns"], len(threads["causes"]) + 1, "running and causes")
    near(totals["active_ns"] + totals["stalled_ns"], target["wall_ns"], 1, "active and stalled")
    for cause in threads["causes"]:
        rows = [wait for wait in report["waits"] if wait["cause"] == cause["cause"]]
        assert sum(wait["wait_ns"] for wait in rows) <= cause["wait_ns"] + len(rows), (cause, rows)
        waits = sum(wait["waits"] for wait in rows)
        assert waits <= cause["waits"] + len(rows), (cause["cause"], waits, cause["waits"])


# --- Other views ------------------------------------------------------------------------------------

def same_locks(klock, counts):
    """Those that waited for kernel locks, in figures; without any there is no part."""
    if not klock:
        return not counts["waits"]
    return all(klock[key] == counts[key] for key in ("waits", "wait_ns", "tracing_ns", "locks"))


def check_page(views):
    """It has less functions of each path; kernel locks are a part of their own."""
    parts = parts_of("v.html")
    page = parts["report"]
    assert same_locks(parts.get("klock"), views.report["kernel_locks"])
    assert [{**path, "functions": 0} for path in page["paths"]] == \
        [{**path, "functions": 0} for path in views.report["paths"]]
    for key in views.report.keys() - {"paths", "kernel_locks"}:
        assert page[key] == views.report[key], (key, page[key], views.report[key])


def check_folded(views):
    """Call paths for flame graphs have the CMetric of all paths."""
    weights = [int(line.rsplit(" ", 1)[1]) for line in read("v.folded").splitlines()]
    paths_us = sum(path["cmetric_ns"] for path in views.report["paths"]) / 1000
    near(sum(weights), paths_us, len(weights) + 1, "CMetric of paths")


def check_comparison(views):
    """With itself: as long, the times of all threads, to nine digits, and no difference."""
    replayed("compare", "--json", "c.json", "-o", "c.txt", views.path, views.path)
    figures = {figure["name"]: figure for figure in parse(read("c.json", "rb"), "compare")["figures"]}
    threads = views.report["balance"]["threads"]
    means = {name: figure["first"]["mean"] for name, figure in figures.items()}
    near(means["duration"], views.report["target"]["wall_ns"], 1000, "duration")
    for what, ns in {"cpu.running": threads["running_ns"], "cpu.waiting": threads["cpu_wait_ns"],
                     **{f"lost.{cause['cause']}": cause["wait_ns"] for cause in threads["causes"]
                        if cause["cause"] != "cpu-wait"}}.items():
        compared = means.get(what, 0) + (means["cpu.spinning"] if what == "cpu.running" else 0)
        near(compared, ns, 1e-8 * ns + 1, what)
    assert not [figure for figure in figures.values() if figure["change"]], figures


def check_replay(views):
    """
    A what-if that changes nothing and the critical path are the run, but for what threads do that end and that nobody
    waits for.
    """
    wall_ns = views.report["target"]["wall_ns"]
    whatif = json.loads(replayed("whatif", "--scale", 1, "--json", "-", views.path).out)
    assert 0.9 * wall_ns < whatif["recorded_ns"] <= wall_ns, (whatif["recorded_ns"], wall_ns)
    path = json.loads(replayed("critical-path", "--json", "-", views.path).out)
    path_ns = sum(part["end_ns"] - part["begin_ns"] for part in path["parts"])
    assert 0.9 * wall_ns < path_ns <= wall_ns + 1, (path_ns, wall_ns)


def check_kernel_locks(views):
    replayed("klock", "--json", "k.json", "-o", "k.txt", views.path)
    locks = json.loads(read("k.json"))
    assert same_locks(locks.get("kernel_locks", locks), views.report["kernel_locks"])


def check_all(views):
    check_sums(views.report)
    check_times(views)
    check_findings(views)
    check_page(views)
    check_folded(views)
    check_comparison(views)
    check_replay(views)
    check_kernel_locks(views)


@test("a pipeline that waits for locks, conditions and the end of threads: all views have the same figures")
def pipeline():
    check_all(views_of(os.path.join(os.path.dirname(PINCH), "examples/pipeline")))


@test("files that are synced: the same")
def files():
    check_all(views_of(program("fsync_io")))


@test("threads that spin: the same")
def spinning():
    check_all(views_of(program("spin_barrier")))


@test("kernel locks: the same")
def kernel_locks():
    check_all(views_of(program("klock_mmap")))


@test("processes that start others: the same")
def processes():
    check_all(views_of(program("fork_wait")))


if __name__ == "__main__":
    sys.exit(main())
