# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows pinch's report of real programs, and counts how much of it has names."""

import os
import re
import sys

import processes
from processes import Failure
from tracers import Pinch
from workloads import QUICK_SHARE, Embedded

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


def print_report(workload, result):
    print(f"==== {workload.name}\n{result['text']}")
    print(f"==== {workload.name}: frames with a name: {named_text(result['report'])}")


def show(place, workload, share):
    workload.open(place, share)
    try:
        result = workload.run(Pinch(place))
    finally:
        workload.close()
    print_report(workload, result)
    if workload.name != "mariadb":
        return True
    names = server_functions(result["report"])
    found = [name for name in names if INNODB.search(name)]
    print(f"==== mariadb: {len(names)} functions of the server are named: {', '.join(names)}")
    print(f"==== mariadb: {len(found)} of them are InnoDB's: {', '.join(found)}")
    return bool(found)


def innodb_functions(report):
    """By source file: those of the reported call paths, and those in which samples fell."""
    def is_innodb(place):
        # The compiler ran in a folder of this name, which says nothing of its headers.
        file = (place["file"] or "").removeprefix("./builddir/storage/innobase/")
        return place["line"] and "storage/innobase/" in file

    in_stacks = {frame["function"] for frame in frames_of(report)
                 if frame["function"] and is_innodb(frame)}
    sampled = {function["name"] for path in report["paths"]
               for function in path.get("functions", ())
               if any(is_innodb(line) for line in function["lines"])}
    return in_stacks, sampled


def show_embedded(place, workload, share):
    if not os.access(os.path.join(place.build_dir, workload.program), os.X_OK):
        print(f"==== {workload.name}: skipped: it was not built, libmariadbd-dev is missing")
        return True
    workload.open(place, share)
    try:
        workload.forget_program()
        results = [workload.run(Pinch(place, workload.options)) for _ in range(2)]
    finally:
        workload.close()
    print_report(workload, results[1])
    for which, result in zip(("from disk", "from the page cache"), results):
        print(f"==== {workload.name}: debug information {which}: report after "
              f"{result['after_s']:.2f} s, peak memory {result['rss_peak_bytes'] / 1e6:.0f} MB "
              f"and {result['worker_rss_peak_bytes'] / 1e6:.0f} MB of the symbol worker")
    in_stacks, sampled = innodb_functions(results[1]["report"])
    found = in_stacks | sampled
    print(f"==== {workload.name}: {len(found)} functions of InnoDB are named with file and line, "
          f"{len(in_stacks)} in stacks, {len(sampled)} by samples: {', '.join(sorted(found))}")
    return bool(found)


def run(place, workloads, arguments):
    failed = False
    for workload in workloads:
        if arguments.workload and workload.name not in arguments.workload:
            continue
        try:
            show_it = show_embedded if isinstance(workload, Embedded) else show
            failed |= not show_it(place, workload, QUICK_SHARE if arguments.quick else 1)
        except (Failure, OSError) as failure:
            processes.stop_all()
            print(f"{workload.name}: FAILED: {failure}", file=sys.stderr)
            failed = True
        sys.stdout.flush()
    return failed
