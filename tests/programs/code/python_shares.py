# SPDX-License-Identifier: GPL-2.0-or-later
"""
Threads of CPython, of which one at a time computes. Known answer: score_text() leads, before parse_text() and
build_index(). The log is the one of code_log.h.
"""
import random
import struct
import sys
import threading
import time

NAMES = ["parse_text", "score_text", "build_index"]
LEAVE = 0xffffffff
HEADER = struct.Struct("Q4088s")
ENTRY = struct.Struct("QQII")
deadline_ns = time.monotonic_ns() + int(sys.argv[2]) * 1000000


def parse_text(entries, now_ns=time.monotonic_ns):
    entries.append((now_ns(), 0))
    x = 1
    for i in range(6000):
        x = x * 69069 + i & 0xffffffff
    entries.append((now_ns(), LEAVE))


def score_text(entries, now_ns=time.monotonic_ns):
    entries.append((now_ns(), 1))
    x = 1
    for i in range(30000):
        x = x * 69069 + i & 0xffffffff
    entries.append((now_ns(), LEAVE))


def build_index(entries, now_ns=time.monotonic_ns):
    entries.append((now_ns(), 2))
    x = 1
    for i in range(15000):
        x = x * 69069 + i & 0xffffffff
    entries.append((now_ns(), LEAVE))


def run_scorer(entries):
    while time.monotonic_ns() < deadline_ns:
        parse_text(entries)
        score_text(entries)


def run_indexer(entries):
    while time.monotonic_ns() < deadline_ns:
        build_index(entries)
        time.sleep(random.uniform(0.005, 0.015))


def main():
    logs = {}
    threads = [threading.Thread(target=run, args=(logs.setdefault(run, []),)) for run in (run_scorer, run_indexer)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open(sys.argv[1], "wb") as file:
        entries = [ENTRY.pack(time_ns, 0, thread.native_id, function)
                   for thread, log in zip(threads, logs.values()) for time_ns, function in log]
        file.write(HEADER.pack(len(entries), "".join(name + "\n" for name in NAMES).encode()))
        file.writelines(entries)


if __name__ == "__main__":
    main()
