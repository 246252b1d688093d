#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Planted cause: four threads compute in Python, and all need the interpreter's lock. Cured: four processes.
Known answer: the GIL, held by score_rows().
"""
import multiprocessing

import planted


def score_rows():
    total = 0
    for row in range(20000):
        total += row * row % 97
    return total


def run(done=planted.done):
    while True:
        score_rows()
        done()


def answer(_):
    for _ in range(10):
        score_rows()


def main():
    if not planted.is_cured:
        planted.run_all(*[run] * 4)
    with multiprocessing.Pool(4) as pool:
        for _ in pool.imap_unordered(answer, range(1 << 30)):
            for _ in range(10):
                planted.done()


if __name__ == "__main__":
    main()
