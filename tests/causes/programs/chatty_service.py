# SPDX-License-Identifier: GPL-2.0-or-later
"""
chatty_service.py LOG: writes a line to LOG, a named pipe, for each request that it handles. That the reader is slow is
planted by who starts that.
"""
import sys

import planted

LINE = "x" * 200 + "\n"


def log_request(log):
    log.write(LINE)
    log.flush()


with open(sys.argv[1], "w") as pipe:
    while True:
        log_request(pipe)
        planted.done()
