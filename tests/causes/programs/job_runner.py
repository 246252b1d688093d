# SPDX-License-Identifier: GPL-2.0-or-later
"""
Takes a lock of the file state.lock for each job, as scripts do that must not run at the same time. That somebody else has
it for long is planted by who starts that.
"""
import fcntl

import planted


def run_job(state):
    fcntl.flock(state, fcntl.LOCK_EX)
    state.seek(0)
    state.write("done\n")
    state.flush()
    fcntl.flock(state, fcntl.LOCK_UN)


with open("state.lock", "w") as lock:
    while True:
        run_job(lock)
        planted.done()
