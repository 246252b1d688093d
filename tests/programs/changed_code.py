#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
changed_code.py [PERCENT]
Two functions take turns, which are never as long as the sampling period; hot() does PERCENT (100) of its work.
Known answer: to shorten hot() by half is the same as to run it with 50.
"""
import sys

TURNS, UNIT = 500, 2000


def spend(count):
    total = 0
    for i in range(count):
        total += i * i
    return total


def hot(percent):
    return spend(8 * UNIT * percent // 100)


def cold():
    return spend(3 * UNIT)


def main():
    percent = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for _ in range(TURNS):
        hot(percent)
        cold()


main()
