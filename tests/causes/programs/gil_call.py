#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Planted cause: one thread signs exports with a call that keeps the interpreter's lock for 200 ms, three others
render pages. Cured: it signs in a process of its own.
Known answer: the GIL, held by sign_export().
"""
import subprocess
import sys
import time

import planted

SIGN = "pow(3, 1 << 21) % 1000003"


def sign_export():
    return pow(3, 1 << 21) % 1000003


def render_page():
    return sum(number * number % 97 for number in range(2000))


def run_signer():
    while True:
        if planted.is_cured:
            subprocess.run([sys.executable, "-c", SIGN], check=True)
        else:
            sign_export()
        time.sleep(0.02)


def run_pages():
    while True:
        render_page()
        planted.done()


planted.run_all(run_signer, run_pages, run_pages, run_pages)
