# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows pinch's report of real programs, and counts how much of it has names."""

import re
import sys

import processes
from processes import Failure
from tracers import Pinch
from workloads import QUICK_SHARE

# How InnoDB calls its parts; these names are in the table of functions that mariadbd exports.
INNODB = re.compile(r"\b(btr|buf|dict|fil|fsp|ha_innobase|ibuf|innobase|lock|log|mtr|os|page|que|"
                    r"read_view|rec|row|srv|trx|ut)_|\b(ha_innobase|ReadView|trx_t|mtr_t)\b")


def frames_of(report):
    return [frame for path in report["paths"] for frame in path["stack"]]


def named_text(report):
    """How many frames of the report's paths have a function's name, by module."""
    counts = {}
    for frame in frames_of(report):
        count = counts.setdefault(frame["module"] or "no module", [0, 0])
        count[0] += frame["function"] is not None
        count[1] += 1
    return ", ".join(f"{module} {named} of {all_}" for module, (named, all_) in counts.items())


def innodb_functions(report):
    names = {frame["function"] for frame in frames_of(report)
             if frame["module"] == "mariadbd" and frame["function"]}
    names |= {function["function"] for path in report["paths"] for function in path["functions"]
              if function["function"]}
    return sorted(name for name in names if INNODB.search(name))


def show(place, workload, share):
    workload.open(place, share)
    try:
        result = workload.run(Pinch(place))
    finally:
        workload.close()
    print(f"==== {workload.name}\n{result['text']}")
    print(f"==== {workload.name}: frames with a name: {named_text(result['report'])}")
    if workload.name != "mariadb":
        return True
    found = innodb_functions(result["report"])
    print(f"==== mariadb: {len(found)} InnoDB functions are named: {', '.join(found)}")
    return bool(found)


def run(place, workloads, arguments):
    failed = False
    for workload in workloads:
        if arguments.workload and workload.name not in arguments.workload:
            continue
        try:
            failed |= not show(place, workload, QUICK_SHARE if arguments.quick else 1)
        except (Failure, OSError) as failure:
            processes.stop_all()
            print(f"{workload.name}: FAILED: {failure}", file=sys.stderr)
            failed = True
        sys.stdout.flush()
    return failed
