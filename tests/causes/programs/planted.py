# SPDX-License-Identifier: GPL-2.0-or-later
"""What the planted programs in Python share: as planted.h says."""
import sys
import threading
import time

is_cured = sys.argv[-1] == "cured"
lock = threading.Lock()
PERIOD_S = 0.1
printed_s, count = 0, 0


def done():
    """A unit of work is done, of any thread."""
    global printed_s, count
    with lock:
        count += 1
        if time.monotonic() >= printed_s + PERIOD_S:
            print(count, flush=True)
            printed_s = time.monotonic()


def run_all(*functions):
    """Each in a thread of its own, named after it, until the program is killed."""
    threads = [threading.Thread(target=function, name=function.__name__) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
