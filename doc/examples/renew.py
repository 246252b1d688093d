#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Renews the reports in the pages of examples, and their rows in README.md. In each page, the first block of text after
"`doc/examples/run.py NAME`" is that example's report, and "The whole report has N lines." counts it. As root, on a machine
with nothing else to do:

    doc/examples/renew.py [NAME]...

What the pages say of their reports is to be read again afterwards.
"""
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
REPORT = re.compile(r"(`doc/examples/run\.py ([a-z-]+)`.*?\n```text\n)(.*?)(```\n)", re.DOTALL)
PRIVATE = re.compile(r"/tmp/pinch-example-\w+")
EXAMPLE_SECONDS_MAX = 600


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def report_of(name):
    """What a terminal would have; None, with a message, if there is no report."""
    run = subprocess.run([os.path.join(HERE, "run.py"), name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         timeout=EXAMPLE_SECONDS_MAX, text=True, errors="replace")
    begin = ("\n" + run.stdout).rfind("\npinch: ")
    if begin < 0 or "\nEvidence: " not in run.stdout[begin:]:
        print(f"{name}: no report: {run.stdout[-300:]}", file=sys.stderr)
        return None
    return PRIVATE.sub("/srv/example", run.stdout[begin:].rstrip() + "\n")


def row_of(table, name, report):
    """The verdict and the lines of one example in the table of README.md."""
    first = " ".join(re.search(r"\n\n(.*?)\nEvidence:", report, re.DOTALL)[1].split())
    first = first.replace("|", "\\|").replace("*", "\\*")
    return re.sub(rf"^(\| \[{name}\][^|]*\|[^|]*\|).*?(?<!\\)\|[^|]*\|", lambda row: f"{row[1]} {first} | {report.count(chr(10))} |",
                  table, flags=re.MULTILINE)


def renew(path, names):
    """The page at a path. Returns its first report and the name of that, or None."""
    first = None

    def block(match):
        nonlocal first
        if names and match[2] not in names:
            return match[0]
        report = report_of(match[2])
        if not report:
            return match[0]
        first = first or (match[2], report)
        return match[1] + report + match[4]

    page = REPORT.sub(block, read(path))
    if first:
        page = re.sub(r"The whole report has \d+ lines\.", f"The whole report has {first[1].count(chr(10))} lines.", page)
        write(path, page)
    return first


def main(*names):
    table = os.path.join(HERE, "README.md")
    for path in sorted(glob.glob(os.path.join(HERE, "*-*.md"))):
        first = renew(path, names)
        if first:
            write(table, row_of(read(table), *first))
            print(first[0], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
