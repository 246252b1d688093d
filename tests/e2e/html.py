#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms of a report that go to a file, of real runs: the page for a browser, folded paths, the table."""
import base64
import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

from lib import ROOT, Skip, check_laws, find, main, near, parse_report, pinch, program, read, test
from lib_page import parts_of

PAGE_BYTES_MAX = 1 << 20        # without its data
UNLOCKERS_MAX = 8               # of each lock, in the page


def check_page(path):
    """What holds of each page, whatever is in it."""
    page = read(path, "rb")
    own = re.sub(rb'<script type="application/gzip"[^>]*>[^<]*</script>', b"", page)
    assert len(own) < PAGE_BYTES_MAX, f"the page itself takes {len(own)} bytes"
    assert not re.search(rb'(?:src|href)="?(?:https?:)?//', own), "it refers to something outside"
    policy = re.search(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', own).group(1).decode()
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy, policy
    for pattern in (rb"<style>(.*?)</style>", rb"<script>(.*?)</script>"):
        pieces = re.findall(pattern, own, re.S)
        assert len(pieces) == 1, f"{len(pieces)} of {pattern}"
        digest = base64.b64encode(hashlib.sha256(pieces[0]).digest()).decode()
        assert f"'sha256-{digest}'" in policy, f"{pattern} is not what the policy allows"


def look(*paths):
    """What a browser shows of the pages."""
    if not os.path.exists("/usr/bin/chromium") or not find("node"):
        raise Skip("chromium or node is not installed")
    result = subprocess.run(["node", os.path.join(ROOT, "tests/web/open.mjs"), *map(os.path.abspath, paths)],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    reported = json.loads(result.stdout)
    for page in reported:
        assert not page["problems"], page["problems"]
        assert not page["markup"], "what a program chose became markup"
    return reported


def record(trace, *command):
    result = pinch("record", "-q", "-o", trace, "--", *command)
    assert result.status == 0, result.text


def time_of(lines, *states):
    """What the time lines have of these states, all threads together, in ns."""
    return sum(share / 1000 * min(lines["part_ns"], lines["whole_ns"] - i * lines["part_ns"])
               for state in states for i, share in enumerate(lines["all"].get(state, [])))


@test("the page of a run has the report that the JSON has, and a browser draws it")
def page_of_a_run():
    result = pinch("run", "-q", "--json", "run.json", "--html", "run.html", "--", program("lock_convoy"))
    assert result.status == 0, result.text
    check_page("run.html")
    parts = parts_of("run.html")
    # Now and then somebody waits for a kernel lock.
    assert set(parts) - {"klock"} == {"report", "folds", "timelines", "graph", "path"}, set(parts)
    page, report = parts["report"], parse_report(read("run.json", "rb"))
    parse_report(json.dumps(page).encode())
    check_laws(page)
    for lock in report["locks"]:
        lock["unlockers"] = lock["unlockers"][:UNLOCKERS_MAX]
    for key in ("target", "totals", "threads", "locks", "balance", "verdict"):
        assert page[key] == report[key], f"{key} differs"
    assert len(page["paths"]) == page["totals"]["paths"] or len(page["paths"]) == 1000
    lines = parts["timelines"]
    threads_ns = sum(t["running_ns"] for t in page["threads"])
    near(time_of(lines, "running", "spinning"), threads_ns, threads_ns * 0.02 + 5e6, "running time in the time lines and in the threads")
    assert lines["parts"] == 720 and sum(lines["all"]["lock"]) > 0, "the time lines are not those of a trace"
    [shown] = look("run.html")
    assert {"verdict", "balance", "findings", "flames", "locks", "timelines", "about"} <= set(shown["sections"]), shown["sections"]
    assert shown["frames"] > 1 and shown["canvases"] >= 2, shown
    assert page["findings"][0]["title"] in shown["text"], "the first finding is not shown"
    assert all(line in shown["text"] for line in page["verdict"]["lines"]), "the verdict is not shown"


@test("the page of a trace has the graph, the critical path and finer time lines, which agree with its commands")
def page_of_a_trace():
    record("a.pinch", program("pipeline_stages"))
    result = pinch("report", "-q", "--html", "report.html", "a.pinch")
    assert result.status == 0, result.text
    check_page("report.html")
    parts = parts_of("report.html")
    assert set(parts) - {"klock"} == {"report", "folds", "timelines", "graph", "path"}, set(parts)
    alone = json.loads(pinch("critical-path", "--json", "-", "a.pinch").out)
    assert parts["path"].pop("left_out") == 0 and parts["path"] == alone, "the critical path differs"
    graph = json.loads(pinch("graph", "--merge", "--json", "-", "a.pinch").out)
    assert parts["graph"]["nodes"] == graph["nodes"] and not parts["graph"]["left_out"], "the graph differs"
    lines, report = parts["timelines"], parts["report"]
    near(lines["whole_ns"], report["target"]["wall_ns"], report["target"]["wall_ns"] * 0.02 + 1e6,
         "the time lines are as long as the run")
    for state, key in (("running", "running_ns"), ("runnable", "cpu_wait_ns")):
        threads_ns = sum(t[key] for t in report["threads"])
        near(time_of(lines, *(state, "spinning") if state == "running" else (state,)), threads_ns, threads_ns * 0.02 + 5e6, key)
    [shown] = look("report.html")
    assert {"graph", "path", "timelines"} <= set(shown["sections"]), shown["sections"]
    assert shown["nodes"] > 3, shown["nodes"]


@test("the page of a run that is too long for that has time lines without causes, and says so")
def page_of_a_long_run():
    result = pinch("run", "-q", "--html", "long.html", "--", program("own_events"), "threads", 32, 300000, 2000)
    assert result.status == 0, result.text
    lines = parts_of("long.html")["timelines"]
    assert "graph" not in parts_of("long.html") and "blocked" in lines["all"], list(lines["all"])
    [shown] = look("long.html")
    assert "pinch record keeps it" in shown["text"], "it is not said"


@test("pinch graph and pinch compare make pages, too")
def pages_of_graphs():
    record("a.pinch", program("held_longer"), 10)
    record("b.pinch", program("held_longer"), 60)
    assert pinch("graph", "--html", "graph.html", "a.pinch").status == 0
    assert pinch("compare", "--html", "compare.html", "a.pinch", "b.pinch").status == 0
    for path, parts in (("graph.html", {"graph"}), ("compare.html", {"comparison", "first", "second"})):
        check_page(path)
        assert set(parts_of(path)) == parts, set(parts_of(path))
    first = parts_of("compare.html")["first"]
    assert first["target"]["command"].endswith("held_longer 10"), first["target"]
    graph, comparison = look("graph.html", "compare.html")
    assert graph["nodes"] > 2, graph["nodes"]
    assert comparison["nodes"] > 2 and comparison["frames"] > 2, comparison["nodes"]
    assert "a.pinch" in comparison["text"] and "b.pinch" in comparison["text"]


@test("of a program without debug information, the page names call paths and waits as the text does")
def stripped():
    shutil.copy(program("lock_convoy"), "plain")
    subprocess.run(["strip", "--strip-debug", "plain"], check=True)
    record("plain.pinch", "./plain")
    result = pinch("report", "--html", "plain.html", "-o", "plain.txt", "--page", "paths", "--page", "synchronisation", "plain.pinch")
    assert result.status == 0, result.text
    named = re.findall(r"^ +\d+ +[0-9.]+ % .* (?:ns|us|ms|s) +(?:[a-z-]+  )?(\w+)  plain(?:  called by \w+)?$", read("plain.txt"), re.M)
    assert "append_journal" in named, read("plain.txt")
    [shown] = look("plain.html")
    for name in named:
        assert re.search(rf"^{name}\t", shown["text"], re.M), f"no row is named {name}: {shown['text']}"
    labels = {label for _, _, label in parts_of("plain.html")["folds"]}
    assert "thread start" in labels and "-" in labels, labels


@test("the page of pinch klock begins with the kernel locks, with and without waits")
def page_of_kernel_locks():
    for name, command in (("locks", program("klock_append")), ("none", "true")):
        result = pinch("klock", "-q", "--html", f"{name}.html", "--", command)
        assert result.status == 0, result.text
    locks, none = look("locks.html", "none.html")
    assert locks["sections"][:2] == ["klock", "verdict"] and none["sections"][:2] == ["klock", "verdict"], locks["sections"]
    assert locks["sections"].count("klock") == 1 and "Waiting threads" in locks["text"], locks["sections"]
    assert "No thread waited for a kernel lock" in none["text"] or "Waiting threads" in none["text"], none["text"]


@test("programs whose names are markup, or no text at all, change nothing of the page")
def hostile_names():
    name = "<img src=x>"
    shutil.copy(program("lock_convoy"), name)
    record("markup.pinch", f"./{name}")
    record("odd.pinch", program("odd_names"))
    for trace in ("markup", "odd"):
        assert pinch("report", "-q", "--html", f"{trace}.html", f"{trace}.pinch").status == 0
        check_page(f"{trace}.html")
        assert f"./{name}".encode() not in read(f"{trace}.html", "rb")
    markup, odd = look("markup.html", "odd.html")
    assert name in markup["title"] and name in markup["text"], markup["title"]
    assert odd["sections"], odd


@test("a command that cannot be started leaves no page, and one that ends at once an empty one")
def empty_runs():
    result = pinch("run", "-q", "--html", "none.html", "--", "./there-is-no-such-command")
    assert result.status == 127, result.status
    assert not os.path.exists("none.html"), "there is a page of nothing"
    result = pinch("run", "-q", "--html", "true.html", "--", "true")
    assert result.status == 0, result.text
    check_page("true.html")
    look("true.html")


@test("folded paths have all CMetric of the paths, in lines that tools for flame graphs can read")
def folded():
    result = pinch("run", "-q", "--json", "run.json", "--top", "1000", "--folded", "run.folded", "--", program("hot_thread"))
    assert result.status == 0, result.text
    sum_us = 0
    for line in read("run.folded").splitlines():
        stack, _, value = line.rpartition(" ")
        assert stack and value.isdigit() and all(stack.split(";")), f"not a folded stack: {line!r}"
        sum_us += int(value)
    paths = json.loads(read("run.json"))["paths"]
    near(sum_us, sum(p["cmetric_ns"] for p in paths) / 1000, len(paths), "CMetric in us")


@test("the table has each thread, path, function, line, wait, lock and file of the JSON")
def table():
    result = pinch("run", "-q", "--json", "run.json", "--top", "1000", "--csv", "run.csv", "--", program("lock_convoy"))
    assert result.status == 0, result.text
    report = json.loads(read("run.json"))
    with open("run.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    for name, key in (("thread", "threads"), ("path", "paths"), ("wait", "waits"), ("lock", "locks"), ("file", "files"),
                      ("socket", "sockets")):
        assert sum(row["table"] == name for row in rows) == len(report[key]), name
    code = report["code"]
    for name, of in (("function", code["functions"]), ("stack", code["stacks"]),
                     ("line", [line for function in code["functions"] for line in function["lines"]])):
        assert sum(row["table"] == name for row in rows) == len(of), name
    for row, function in zip([row for row in rows if row["table"] == "function"], code["functions"]):
        assert row["name"] == function["name"], (row, function)
        for part, time in (("self", function["self"]), ("total", function["total"])):
            assert all(int(row[f"{part}.{key}"]) == value for key, value in time.items()), (row, function)
    assert sum(int(row["cmetric_ns"]) for row in rows if row["table"] == "thread") == \
        sum(t["cmetric_ns"] for t in report["threads"])
    assert [int(row["wait_ns"]) for row in rows if row["table"] == "lock"] == [lock["wait_ns"] for lock in report["locks"]]


@test("a page that cannot be written is reported before anything is traced")
def unwritable():
    result = pinch("run", "--html", "/no/such/directory/x.html", "--", "touch", "ran")
    assert result.status == 125 and "/no/such/directory/x.html" in result.text, result.text
    assert not os.path.exists("ran"), "the command was run"


if __name__ == "__main__":
    sys.exit(main())
