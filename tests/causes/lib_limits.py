# SPDX-License-Identifier: GPL-2.0-or-later
"""Cgroups that limit CPUs or memory, in v1's hierarchies and in v2's."""
import contextlib
import os

import lib
from lib_disk import hierarchy, write

# Controller: files with what they are set to, in v1 and in v2.
CPU = "cpu", lambda share: {"cpu.cfs_period_us": 100000, "cpu.cfs_quota_us": int(100000 * share)}, \
    lambda share: {"cpu.max": f"{int(100000 * share)} 100000"}
MEMORY = "memory", lambda size_bytes: {"memory.limit_in_bytes": size_bytes}, \
    lambda size_bytes: {"memory.max": size_bytes}


def make_group(controller, limits_v1, limits_v2):
    root = hierarchy("cgroup", controller)
    limits = limits_v1
    if not root:
        root, limits = hierarchy("cgroup2", None), limits_v2
        if not root or controller not in lib.read(f"{root}/cgroup.controllers").split():
            raise lib.Skip(f"no cgroup limits {controller} here")
        write(f"{root}/cgroup.subtree_control", f"+{controller}")
    group = os.path.join(root, f"pinch-causes-{controller}-{os.getpid()}")
    os.mkdir(group)
    for name, value in limits.items():
        write(f"{group}/{name}", str(value))
    return group


@contextlib.contextmanager
def limited(kind, limit):
    """kind: CPU, with a share of one CPU, or MEMORY, with bytes. The path of the group's list of processes."""
    controller, limits_v1, limits_v2 = kind
    group = make_group(controller, limits_v1(limit), limits_v2(limit))
    processes = os.path.join(group, "cgroup.procs")
    try:
        yield processes
    finally:
        lib.wait_until(lambda: not lib.read(processes), "the group to be empty")
        os.rmdir(group)
