#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of evidence: what its rows take from results of tests and benches, and what it refuses. TAP."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL, RUN = os.path.join(HERE, "..", "tools", "evidence.py"), os.path.join(HERE, "run")
ROW = {"id": "causes", "goal": "causes are found", "figure": "70 cases pass", "command": "`tests/e2e/causes.py`",
       "date": "2020-01-02", "kernel": "6.18", "verdict": "met"}
FROM_TESTS = {**ROW, "from": {"tests": ["tests/e2e/causes.py", "build/tests/waits_test"]}}
FROM_BENCH = {**ROW, "from": {"bench": [["mariadb", "wall, pinch"], ["mariadb", "wall, perf"]]}}
CAUSES = {"test": "tests/e2e/causes.py", "passed": 72, "failed": 0, "skipped": 1, "date": "2020-02-03", "kernel": "6.1.0-56-amd64"}
WAITS = {"test": "build/tests/waits_test", "passed": 9, "failed": 0, "skipped": 0, "date": "2020-02-04", "kernel": "6.1.0-56-amd64"}
BENCH = {"machine": {"date": "2020-03-04", "kernel": "6.12.1"}, "table": {"mariadb": [
    {"figure": "wall, pinch", "value": "x 1.054", "spread": "x 1.050..x 1.062", "goal": "<= x 1.050", "verdict": "MISSED"},
    {"figure": "wall, perf", "value": "x 1.021", "spread": "", "goal": "", "verdict": ""}]}}


def store(path, what):
    with open(path, "w") as file:
        json.dump(what, file)


class Place:
    """A directory of rows and one of results."""

    def __init__(self, directory, row, results=()):
        self.rows, self.results = os.path.join(directory, "evidence"), os.path.join(directory, "results")
        os.mkdir(self.rows)
        os.mkdir(self.results)
        store(os.path.join(self.rows, "a.json"), {"title": "A", "rows": [row]})
        for number, result in enumerate(results):
            store(os.path.join(self.results, f"{number}.json"), result)

    def run(self, *arguments):
        return subprocess.run([sys.executable, TOOL, "--rows", self.rows, *arguments], capture_output=True, text=True)

    def refreshed(self):
        done = self.run("--results", self.results)
        assert done.returncode == 0, done.stderr
        with open(os.path.join(self.rows, "a.json")) as file:
            return json.load(file)["rows"][0]


def row_takes_the_counts_of_its_tests_and_the_oldest_date(directory):
    row = Place(directory, FROM_TESTS, [CAUSES, WAITS]).refreshed()
    assert (row["figure"], row["verdict"], row["date"], row["kernel"]) == ("72 + 9 cases pass", "met", "2020-02-03", "6.1"), row


def row_says_what_holds_while_its_tests_pass(directory):
    row = {**FROM_TESTS, "from": {**FROM_TESTS["from"], "detail": "1,000 random plays"}}
    assert Place(directory, row, [CAUSES, WAITS]).refreshed()["figure"] == "72 + 9 cases pass; 1,000 random plays"


def row_whose_test_fails_is_missed(directory):
    row = {**FROM_TESTS, "from": {**FROM_TESTS["from"], "detail": "1,000 random plays"}}
    row = Place(directory, row, [CAUSES, {**WAITS, "failed": 2}]).refreshed()
    assert (row["figure"], row["verdict"]) == ("72 + 9 cases pass, 2 failed", "missed"), row


def row_stays_while_a_result_is_missing(directory):
    assert Place(directory, FROM_TESTS, [CAUSES]).refreshed() == FROM_TESTS


def row_without_a_source_stays(directory):
    assert Place(directory, ROW, [CAUSES, WAITS, BENCH]).refreshed() == ROW


def row_takes_the_figures_of_the_bench_and_its_worst_verdict(directory):
    row = Place(directory, FROM_BENCH, [BENCH]).refreshed()
    assert row["figure"] == "mariadb: wall, pinch 1.054 (1.050–1.062); mariadb: wall, perf 1.021", row
    assert (row["verdict"], row["date"], row["kernel"]) == ("missed", "2020-03-04", "6.12"), row


def missed_goal_is_missed_in_the_table(directory):
    place = Place(directory, {**ROW, "verdict": "missed"})
    assert place.run().returncode == 0
    with open(place.rows + ".md") as file:
        assert "| 2020-01-02 | 6.18 | **missed** |" in file.read()


def table_that_is_not_what_its_rows_say_is_noticed(directory):
    place = Place(directory, ROW)
    assert place.run().returncode == 0 and place.run("--check").returncode == 0
    with open(place.rows + ".md", "a") as file:
        file.write("| by hand |\n")
    assert "make evidence" in place.run("--check").stderr


def refused(directory, row, why):
    done = Place(directory, row).run()
    assert done.returncode == 1 and why in done.stderr and not os.path.exists(os.path.join(directory, "evidence.md")), done


def cell_of_more_than_300_characters_is_refused(directory):
    refused(directory, {**ROW, "figure": "x" * 301}, "causes: figure has 301 characters, at most 300 fit")


def row_without_a_command_is_refused(directory):
    refused(directory, {**ROW, "command": ""}, "causes: no command")


def verdict_of_another_kind_is_refused(directory):
    refused(directory, {**ROW, "verdict": "nearly"}, "causes: the verdict is one of")


def counts_of_a_run(directory, **environment):
    """What tests/run leaves of a program with two tests, one of which fails."""
    program = os.path.join(directory, "x_test")
    with open(program, "w") as file:
        file.write("#!/bin/sh\necho ok 1 - a; echo not ok 2 - b; exit 1\n")
    os.chmod(program, 0o755)
    subprocess.run([RUN, program], capture_output=True, check=False,
                   env={**os.environ, "ONLY": "", "O": directory, "RESULTS": directory, **environment})
    path = os.path.join(directory, "build-x_test.json")
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return json.load(file)


def run_leaves_the_counts_of_a_program(directory):
    result = counts_of_a_run(directory)
    assert (result["test"], result["passed"], result["failed"]) == ("build/x_test", 1, 1), result


def run_of_a_part_leaves_nothing(directory):
    assert counts_of_a_run(directory, ONLY="a") is None


CASES = (row_takes_the_counts_of_its_tests_and_the_oldest_date, row_says_what_holds_while_its_tests_pass,
         row_whose_test_fails_is_missed,
         row_stays_while_a_result_is_missing, row_without_a_source_stays,
         row_takes_the_figures_of_the_bench_and_its_worst_verdict, missed_goal_is_missed_in_the_table,
         table_that_is_not_what_its_rows_say_is_noticed, cell_of_more_than_300_characters_is_refused,
         row_without_a_command_is_refused, verdict_of_another_kind_is_refused,
         run_leaves_the_counts_of_a_program, run_of_a_part_leaves_nothing)


def main():
    failed = False
    for number, case in enumerate(CASES, 1):
        with tempfile.TemporaryDirectory() as directory:
            try:
                case(directory)
                print(f"ok {number} - {case.__name__}")
            except (AssertionError, TypeError) as error:
                failed = True
                print(f"not ok {number} - {case.__name__}\n# {error}")
    print(f"1..{len(CASES)}")
    return failed


sys.exit(main())
