#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Predictions for code that depend on where the machine lets threads run (a consumer that waits for its producer's CPU
beside an idle one) or on how soon tracing begins (Python): within 10 % of what the changed program takes, on a quiet
machine. Environment: ONLY, as in tests/e2e.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from lib import main, script, test
from whatif_model import compare, compare_code


@test("queue: items that are made in half the time")
def code_queue():
    compare_code("queue")


@test("Python: a function in half the time")
def code_python():
    path = script("changed_code.py")
    compare((sys.executable, path), (sys.executable, path, 50), "--function", "hot")


if __name__ == "__main__":
    sys.exit(main())
