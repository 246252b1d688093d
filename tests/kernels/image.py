# SPDX-License-Identifier: GPL-2.0-or-later
"""
The guest's root: a cpio archive that any kernel unpacks into memory without a module or a driver. It
holds the files of some of this machine's packages and what the project built, the tests included.
"""
import glob
import os
import re
import stat
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# What the tests start. Their dependencies come by themselves.
PACKAGES = ["bash", "bpftool", "coreutils", "dash", "iproute2", "linux-perf", "mount", "procps", "python3",
            "util-linux"]
# What the built programs are linked to.
LIBRARIES_OF = ["pinch", "programs/tbb_mutex", "programs/openmp_turns", "programs/usdt_lttng", "tests/unwind_probe"]

SOURCES = ["bench", *glob.glob("doc/*-schema.json", root_dir=ROOT), "tests/e2e"]
BUILT = ["pinch", "programs", "tests/unwind_probe"]
# What no package has, or links to.
MACHINE = ["/bin", "/lib", "/lib64", "/sbin", "/etc/group", "/etc/passwd"]
NOT_NEEDED = re.compile(r"/usr/share/(doc|man|locale|info|lintian|zoneinfo|bash-completion|perl)/"
                        r"|/usr/lib/[^/]+/perl|/usr/lib/python3[^/]*/(test|idlelib|lib2to3|ensurepip)/"
                        r"|/boot/|/__pycache__/")
EMPTY = ["dev", "mnt", "proc", "root", "run", "sys", "tmp"]


class Archive:
    """A cpio archive of the form that the kernel reads ("newc")."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.names = set()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if not error[0]:
            self.add("TRAILER!!!", 0, b"")
        self.file.close()

    def add(self, name, mode, data):
        """One file; the directories above it first."""
        if name in self.names:
            return
        self.names.add(name)
        if os.path.dirname(name):
            self.add(os.path.dirname(name), stat.S_IFDIR | 0o755, b"")
        encoded = name.encode() + b"\0"
        fields = (len(self.names), mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        for part in (header, data):
            self.file.write(part + bytes(-len(part) % 4))

    def copy(self, path, name):
        """A file, link or directory of this machine, without what is in it."""
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            self.add(name, mode, os.readlink(path).encode())
        elif stat.S_ISREG(mode):
            with open(path, "rb") as file:
                self.add(name, mode, file.read())
        elif stat.S_ISDIR(mode):
            self.add(name, mode, b"")

    def copy_tree(self, path, name):
        self.copy(path, name)
        if os.path.isdir(path):
            for entry in sorted(os.listdir(path)):
                if entry != "__pycache__":
                    self.copy_tree(os.path.join(path, entry), os.path.join(name, entry))


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout


def package_files():
    """All that the packages, and what they depend on, have installed here."""
    closure = output_of("apt-cache", "depends", "--recurse", "--installed", "--no-recommends",
                        "--no-suggests", "--no-conflicts", "--no-breaks", "--no-replaces",
                        "--no-enhances", *PACKAGES)
    names = {line for line in closure.splitlines() if re.match(r"[a-z0-9]", line)}
    installed = {line.split(":")[0] for line in
                 output_of("dpkg-query", "-W", "-f", "${Package}\n").splitlines()}
    # One of another architecture, and one that nobody installed, are named, too.
    listed = output_of("dpkg", "-L", *sorted(names & installed)).splitlines()
    return [path for path in listed if path.startswith("/") and not NOT_NEEDED.search(path)]


def library_files(build):
    paths = [os.path.join(build, name) for name in LIBRARIES_OF]
    found = re.findall(r"(/\S+) \(0x", output_of("ldd", *filter(os.path.exists, paths)))
    return found + [os.path.realpath(path) for path in found]


def make(path, build, commands):
    """Writes the archive; the guest will run the commands."""
    with Archive(path) as archive:
        for name in EMPTY:
            archive.add(name, stat.S_IFDIR | 0o1777 if name == "tmp" else stat.S_IFDIR | 0o755, b"")
        for file in [*MACHINE, *package_files(), *library_files(build)]:
            if os.path.lexists(file):
                # /lib may be a link: files are where it leads.
                real = os.path.join(os.path.realpath(os.path.dirname(file)), os.path.basename(file))
                archive.copy(real, real[1:])
        for name in SOURCES:
            archive.copy_tree(os.path.join(ROOT, name), os.path.join("pinch", name))
        for name in BUILT:
            archive.copy_tree(os.path.join(build, name), os.path.join("pinch/build", name))
        archive.copy(os.path.join(HERE, "init"), "init")
        archive.add("commands", stat.S_IFREG | 0o644, "".join(c + "\n" for c in commands).encode())
