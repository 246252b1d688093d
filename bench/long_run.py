# SPDX-License-Identifier: GPL-2.0-or-later
"""Does pinch's memory stay flat while it traces for a long time?"""

import json
import signal
import sys
import time
from statistics import median

import processes
from figures import MB, megabytes
from processes import Failure
from tracers import Pinch, peak_rss_bytes, status_bytes

GROWTH_MAX_BYTES = MB
PEAK_MAX_BYTES = 64 * MB


def sample(process, length_s):
    """The resident memory of a process, once a second."""
    sizes = []
    begin_s = time.monotonic()
    while (left_s := begin_s + length_s - time.monotonic()) > 0:
        time.sleep(min(1, left_s))
        if process.poll() is not None:
            raise Failure(f"pinch ended after {len(sizes)} s, status {process.returncode}")
        sizes.append(status_bytes(process.pid, "VmRSS"))
        if len(sizes) % 60 == 0:
            print(f"{len(sizes)} s: {megabytes(sizes[-1])}", file=sys.stderr, flush=True)
    return sizes


def run(place, length_s):
    storm = processes.start([place.program("mutex_storm"), "16", "1000000000"])
    pinch = Pinch(place)
    process, terminal = pinch.attach(storm.pid)
    sizes = sample(process, length_s)
    process.send_signal(signal.SIGINT)
    peak_bytes = 0
    while process.poll() is None:
        peak_bytes = max(peak_bytes, peak_rss_bytes(process.pid))
        time.sleep(0.005)
    if processes.wait(process, processes.STOP_LIMIT_S):
        raise Failure(f"pinch attach failed: {terminal.text()}")
    processes.stop(storm)

    with open(pinch.json_path) as file:
        report = json.load(file)
    minute = min(60, len(sizes) // 2)
    first, last = sizes[:minute], sizes[-minute:]
    is_flat = median(last) - median(first) <= GROWTH_MAX_BYTES
    print(f"traced {report['target']['wall_ns'] / 1e9:.0f} s of mutex_storm, "
          f"{report['cost']['events']:,} events, losses {json.dumps(report['losses'])}")
    for name, part in ("first", first), ("last", last):
        print(f"{name} {minute} s: median {megabytes(median(part))}, "
              f"{megabytes(min(part))}..{megabytes(max(part))}")
    print(f"growth {(median(last) - median(first)) / 1024:.0f} KB, goal <= 1 MB: "
          f"{'met' if is_flat else 'MISSED'}")
    print(f"peak {megabytes(peak_bytes)}, goal < {megabytes(PEAK_MAX_BYTES)}: "
          f"{'met' if peak_bytes < PEAK_MAX_BYTES else 'MISSED'}")
    return not is_flat or peak_bytes >= PEAK_MAX_BYTES
