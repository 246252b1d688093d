# SPDX-License-Identifier: GPL-2.0-or-later
"""The Java development kits that are installed."""
import os

import lib


def javas():
    """Those that are installed, by their directories."""
    place = "/usr/lib/jvm"
    found = {os.path.realpath(f"{place}/{name}") for name in os.listdir(place)} if os.path.isdir(place) else set()
    found = sorted(path for path in found if os.path.exists(f"{path}/bin/javac"))
    if not found:
        raise lib.Skip("java is not installed")
    return found
