# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows pinch's report of real programs, and counts how much of it has names."""

import re
import sys

import processes
from processes import Failure
from tracers import Pinch
from workloads import QUICK_SHARE

# How InnoDB calls its parts, apart from names that the SQL layer has too. mariadbd exports hardly
# any of them: see README.md.
INNODB = re.compile(r"\b(btr|buf|dict|fil|fsp|ibuf|innobase|mtr|que|rec|srv|trx)_[a-z]|"
                    r"\b(ha_innobase|lock_rec|lock_sys|lock_table_|log_write_up|log_t|mtr_t|"
                    r"page_cur|ReadView|row_(ins|mysql|purge|search|sel|undo|upd)|trx_t)")


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


def server_functions(report):
    return sorted({frame["function"] for frame in frames_of(report)
                   if frame["module"] == "mariadbd" and frame["function"]})


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
    names = server_functions(result["report"])
    found = [name for name in names if INNODB.search(name)]
    print(f"==== mariadb: {len(names)} functions of the server are named: {', '.join(names)}")
    print(f"==== mariadb: {len(found)} of them are InnoDB's: {', '.join(found)}")
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
