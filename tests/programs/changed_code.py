#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
changed_code.py [HOT [COLD]]
Two functions take turns of different lengths, out of step with samples; hot() does HOT percent (100) of its work,
cold() COLD percent (100).
Known answer: to shorten hot() by half is the same as to run it with 50.
"""
import sys

TURNS, UNIT = 3000, 300


# Each turn of a loop takes as long as the others: no number becomes large.
def hot(percent, size):
    total = 0
    for i in range(8 * size * percent // 100):
        total = total + i & 255
    return total


def cold(percent, size):
    total = 0
    for i in range(3 * size * percent // 100):
        total = total + i & 255
    return total


def main():
    hot_percent, cold_percent = (int(percent) for percent in (sys.argv[1:] + [100, 100])[:2])
    for turn in range(TURNS):
        size = UNIT * (3 + turn * turn % 11)
        hot(hot_percent, size)
        cold(cold_percent, size)


main()
