#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Planted cause: four threads ask an executor of two threads for quotes, and wait for each; a quote takes a sleep of 20 ms.
Cured: of 1 ms.
Known answer: the sleep in fetch_quote().
"""
import concurrent.futures
import time

import planted

pool = concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="quotes")


def fetch_quote():
    time.sleep(0.001 if planted.is_cured else 0.02)
    return 1


def show_quotes():
    while pool.submit(fetch_quote).result():
        planted.done()


planted.run_all(*[show_quotes] * 4)
