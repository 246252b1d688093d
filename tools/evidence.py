#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The table of what has been shown, doc/evidence.md, from the rows in doc/evidence/*.json. Rows that say
which tests or rows of the bench they come "from" take their figures from results of these first: the number of cases and
"detail", which holds as long as they pass.
"""
import argparse
import glob
import json
import os
import re
import sys

CELL_MAX = 300          # characters; what is longer belongs into doc/log
COLUMNS = ("goal", "figure", "command", "date", "kernel", "verdict")
VERDICTS = ("met", "no goal", "unclear", "missed")      # the worst one last
HEAD = """\
# Evidence

What has been shown to work, and what has not. Written by `make evidence` from [the rows](evidence) and from the results that
tests and benches left in `build/results`; [the log](log) has how the figures came about. A goal that is missed stands here as
missed; *no goal* is a figure that nothing was asked of.

Ratios of time are medians over interleaved rounds on a quiet machine, in brackets the middle half of the rounds, unless a row says
otherwise. The machines are virtual, x86-64, with 2 CPUs and Debian 12. They differ in speed: compare figures of one row.
"""


class Wrong(Exception):
    pass


def read(path):
    with open(path) as file:
        return json.load(file)


def sections(directory):
    """By path, in the order of their titles."""
    all_of_them = {path: read(path) for path in glob.glob(os.path.join(directory, "*.json"))}
    return dict(sorted(all_of_them.items(), key=lambda item: item[1]["title"]))


def check_row(row, ids):
    name = row.get("id", "a row without id")
    for key in COLUMNS:
        if not isinstance(row.get(key), str) or not row[key]:
            raise Wrong(f"{name}: no {key}")
        if len(row[key]) > CELL_MAX:
            raise Wrong(f"{name}: {key} has {len(row[key])} characters, at most {CELL_MAX} fit")
        if re.search(r"[|\n]", row[key]):
            raise Wrong(f"{name}: {key} has a character that ends a cell")
    if extra := row.keys() - {"id", "from", *COLUMNS}:
        raise Wrong(f"{name}: unknown {', '.join(sorted(extra))}")
    if not re.fullmatch(r"20\d\d-\d\d-\d\d", row["date"]):
        raise Wrong(f"{name}: {row['date']} is no date")
    if row["verdict"] not in VERDICTS:
        raise Wrong(f"{name}: the verdict is one of {', '.join(VERDICTS)}")
    if name in ids:
        raise Wrong(f"{name}: there are two of it")
    ids.add(name)


def table(by_path):
    ids, text = set(), [HEAD]
    for section in by_path.values():
        text.append(f"\n## {section['title']}\n\n| Goal | Figure | Command | Date | Kernel | Verdict |\n|---|---|---|---|---|---|\n")
        for row in section["rows"]:
            check_row(row, ids)
            verdict = "**missed**" if row["verdict"] == "missed" else row["verdict"]
            text.append("| " + " | ".join([row[key] for key in COLUMNS[:-1]] + [verdict]) + " |\n")
    return "".join(text)


# --- Results ------------------------------------------------------------------------------


class Results:
    """What tests/run and bench/run.py left in a directory."""

    def __init__(self, directory):
        self.tests, self.bench = {}, {}
        for path in sorted(glob.glob(os.path.join(directory, "*.json"))):
            result = read(path)
            if "table" in result:
                self.add_bench(result)
            else:
                self.tests[result["test"]] = result

    def add_bench(self, result):
        machine = result["machine"]
        for workload, rows in result["table"].items():
            for row in rows:
                self.bench[workload, row["figure"].strip()] = {**row, "date": machine["date"], "kernel": machine["kernel"]}


def release(kernel):
    """6.18.5-generic: 6.18."""
    return ".".join(kernel.split(".")[:2])


def of_tests(results, detail):
    """detail: what is true of the tests as long as they pass."""
    failed = sum(result["failed"] for result in results)
    passed = " + ".join(str(result["passed"]) for result in results)
    passed += " case passes" if passed == "1" else " cases pass"
    if failed:
        return f"{passed}, {failed} failed", "missed"
    return passed + (f"; {detail}" if detail else ""), "met"


def of_bench(names, rows):
    def plain(text):
        return text.replace("x ", "").replace("..", "–")
    figures = [f"{name}: {row['figure'].strip()} {plain(row['value'])}" +
               (f" ({plain(row['spread'])})" if row["spread"] else "") for (name, _), row in zip(names, rows)]
    verdicts = [row["verdict"].lower() for row in rows if row["verdict"]] or ["no goal"]
    return "; ".join(figures), max(verdicts, key=VERDICTS.index)


def refresh(row, results):
    """From results of everything that the row comes from; else it stays."""
    source = row.get("from", {})
    names = source.get("tests") or [tuple(pair) for pair in source.get("bench", [])]
    found = [(results.tests if "tests" in source else results.bench).get(name) for name in names]
    if not found or None in found:
        return
    row["figure"], row["verdict"] = \
        of_tests(found, source.get("detail")) if "tests" in source else of_bench(names, found)
    row["date"] = min(result["date"] for result in found)
    row["kernel"] = ", ".join(sorted({release(result["kernel"]) for result in found}))


def write(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="doc/evidence", metavar="DIR")
    parser.add_argument("--results", metavar="DIR", help="take the figures of these results first")
    parser.add_argument("--check", action="store_true", help="write nothing: is the table that of the rows?")
    arguments = parser.parse_args()
    page = arguments.rows.rstrip("/") + ".md"
    by_path = sections(arguments.rows)
    try:
        if arguments.results:
            results = Results(arguments.results)
            for section in by_path.values():
                for row in section["rows"]:
                    refresh(row, results)
        text = table(by_path)
    except Wrong as wrong:
        return f"evidence: {wrong}"
    if arguments.check:
        with open(page) as file:
            return None if file.read() == text else f"evidence: {page} is not what its rows say: make evidence"
    for path, section in by_path.items():
        write(path, json.dumps(section, indent=1, ensure_ascii=False) + "\n")
    write(page, text)
    return None


sys.exit(main())
