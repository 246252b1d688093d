#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The table of what kernel.py found on each kernel, from its result.json files. A kernel that was not
tried this time keeps the row that it has.
Usage: table.py FILE
"""
import glob
import json
import os
import re
import sys

BUILD = os.path.abspath(os.environ.get("O", "build"))
HEAD = """\
# Kernels

What `make check-kernels` last found: the end-to-end tests (`tests/e2e`) in emulated machines with two CPUs,
on kernels as Debian builds them. Written by `tests/kernels/table.py`; a row changes when its kernel is tried
again. *Boot* is the guest's time from the kernel's first instruction to the first test. *Choice*: the few tests
that `make check-all` runs on the first kernel; `make check-kernels QUICK=1` runs them on each.

| Kernel | Version | Boot | Tests | Passed | Failed | Skipped | Notes |
|---|---|---|---|---|---|---|---|
"""


def notes(result):
    said = [f"failed: {sentence}" for sentence in result["failed"]]
    by_reason = {}
    for sentence, reason in result["skipped"]:
        by_reason.setdefault(reason, []).append(sentence)
    said += [f"{len(sentences)} skipped: {reason}" for reason, sentences in by_reason.items()]
    return "; ".join(said).replace("|", "\\\\|")


def row(result):
    if "release" not in result:
        return f"| {result['name']} | | | | {result['passed']} | {len(result['failed'])} | " \
               f"{len(result['skipped'])} | {notes(result)} |"
    return f"| {result['name']} | {result['release']} {result['version']} | {result['boot_s']:.1f} s | " \
           f"{'choice' if result['is_quick'] else 'all'}, {result.get('total_s', 0):.0f} s | {result['passed']} | {len(result['failed'])} | " \
           f"{len(result['skipped'])} | {notes(result)} |"


def main():
    path = sys.argv[1]
    rows = {}
    if os.path.exists(path):
        with open(path) as file:
            rows = {match[1]: line.rstrip("\n") for line in file
                    for match in [re.match(r"\| (\d\S*) \|", line)] if match}
    for name in glob.glob(os.path.join(BUILD, "kernels", "*", "result.json")):
        with open(name) as file:
            result = json.load(file)
        rows[result["name"]] = row(result)

    def order(name):
        release, flavour = name.split("-")
        return [int(part) for part in release.split(".")], ("plain", "cloud", "rt").index(flavour)
    with open(path, "w") as file:
        file.write(HEAD + "".join(rows[name] + "\n" for name in sorted(rows, key=order)))


main()
