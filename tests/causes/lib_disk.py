# SPDX-License-Identifier: GPL-2.0-or-later
"""A disk that is slow for some processes: a limit of the kernel on what they may read and write in a second."""
import contextlib
import os

import lib

# In cgroup v1's words and in v2's.
LIMITS = {"write_iops": ("blkio.throttle.write_iops_device", "wiops"),
          "read_bps": ("blkio.throttle.read_bps_device", "rbps")}


def hierarchy(kind, controller):
    """Where a hierarchy of cgroups is mounted; None if it is not."""
    for line in lib.read("/proc/self/mounts").splitlines():
        _, path, found, options, *_ = line.split()
        if found == kind and (controller is None or controller in options.split(",")):
            return path
    return None


def disk_of(path):
    """The numbers of the whole disk that a file lies on."""
    device = os.stat(path).st_dev
    place = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"
    if not os.path.exists(place):
        raise lib.Skip("the temporary directory is on no block device")
    if os.path.exists(f"{place}/partition"):
        place = os.path.dirname(os.path.realpath(place))
    return lib.read(f"{place}/dev").strip()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def make_group(limits):
    """A group with these limits, and the one above it."""
    device = disk_of(".")
    root = hierarchy("cgroup", "blkio")
    unified = None if root else hierarchy("cgroup2", None)
    if unified and "io" in lib.read(f"{unified}/cgroup.controllers").split():
        write(f"{unified}/cgroup.subtree_control", "+io")
        root = unified
    if not root:
        raise lib.Skip("no cgroup limits disks here")
    group = os.path.join(root, f"pinch-causes-{os.getpid()}")
    os.mkdir(group)
    for name, value in limits.items():
        v1, v2 = LIMITS[name]
        write(f"{group}/{'io.max' if unified else v1}", f"{device} {v2}={value}" if unified else f"{device} {value}")
    return group, root


@contextlib.contextmanager
def slow_disk(pids, **limits):
    """For these processes and those that they start; limits: of LIMITS. None: the disk as it is."""
    limits = {name: value for name, value in limits.items() if value}
    if not limits:
        yield
        return
    group, root = make_group(limits)
    try:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                write(f"{group}/cgroup.procs", str(pid))
        yield
    finally:
        def is_empty():
            for pid in lib.read(f"{group}/cgroup.procs").split():
                with contextlib.suppress(OSError):
                    write(f"{root}/cgroup.procs", pid)
            return not lib.read(f"{group}/cgroup.procs")

        lib.wait_until(is_empty, "the group to be empty")
        os.rmdir(group)


def forget(path):
    """The next one who reads this file has to read it from the disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)
