#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Planted cause: four threads put reports into a queue that holds two; the one thread that takes them compresses each as
well as it can. Cured: as fast as it can.
Known answer: compress_report(), behind the queue.
"""
import queue
import zlib

import planted

reports = queue.Queue(maxsize=2)
TEXT = b"".join(b"%d:%d;" % (number, number * 7919 % 10007) for number in range(60000))


def compress_report(text):
    return zlib.compress(text, 1 if planted.is_cured else 9)


def make_reports():
    while True:
        reports.put(bytes(TEXT))


def send_reports():
    while True:
        compress_report(reports.get())
        planted.done()


planted.run_all(send_reports, *[make_reports] * 4)
