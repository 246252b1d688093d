# SPDX-License-Identifier: GPL-2.0-or-later
"""
What the attacks share, besides all that tests/e2e/lib.py has. An attack is a test whose sentence says what the
attacker does not get. FULL: at length, as `make attacks` runs them; else the quick form of `make check`.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))

from lib import BUILD    # noqa: E402

FULL = bool(os.environ.get("FULL"))
NOBODY = 65534


def attacker(name):
    """A program of this folder, built."""
    return os.path.join(BUILD, "attacks", name)


def as_nobody():
    """For subprocess's preexec_fn: the attacker has no privileges."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
