# SPDX-License-Identifier: GPL-2.0-or-later
"""A PostgreSQL server of our own, on a Unix socket in a private directory."""

import glob
import os
import pwd
import shutil
import subprocess

import processes
from processes import Failure

SCALE = 2       # 100,000 accounts each


class Server:
    def __init__(self, place, scale=SCALE):
        self.place, self.scale = place, scale
        self.directory = os.path.join(place.directory, "postgresql")
        self.data = os.path.join(self.directory, "data")
        self.log = os.path.join(self.directory, "log")
        self.process = None

    @staticmethod
    def program(name):
        """Debian keeps them out of the path, one directory a version."""
        found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
        if not found:
            raise Failure("postgresql is not installed")
        return found[-1]

    def _as_user(self, *argv):
        # It refuses to be root.
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *argv]

    def start(self, *settings):
        """settings: of its configuration, as in "fsync=off"."""
        user = pwd.getpwnam("postgres")
        os.mkdir(self.directory, 0o755)
        os.chown(self.directory, user.pw_uid, user.pw_gid)
        processes.run(self._as_user(self.program("initdb"), "-D", self.data, "-A", "trust", "-N"))
        with open(self.log, "wb") as log:
            self.process = processes.start(
                self._as_user(self.program("postgres"), "-D", self.data, "-k", self.directory,
                              "-c", "listen_addresses=", *(f"-c{setting}" for setting in settings)),
                stdout=log, stderr=log)
        processes.until(self._is_ready, self.process, "postgres")
        processes.run(self._as_user(self.program("pgbench"), "-h", self.directory, "-i", "-q", "-s",
                                str(self.scale), "postgres"))

    def _is_ready(self):
        return subprocess.run(self._as_user(self.program("pg_isready"), "-h", self.directory),
                              stdout=subprocess.DEVNULL).returncode == 0

    def pgbench(self, duration_s):
        return self._as_user(self.program("pgbench"), "-h", self.directory, "-c", "4", "-T",
                             str(duration_s), "postgres")

    def load(self, clients, transactions):
        """A fixed amount of work: so many transactions of each client."""
        return self._as_user(self.program("pgbench"), "-h", self.directory, "-c", str(clients), "-j", "2", "-t",
                             str(transactions), "postgres")

    def backends(self, count):
        """The processes that serve clients, when there are so many."""
        pids = []

        def has_all():
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
                children = file.read().split()
            pids[:] = [int(pid) for pid in children if self._is_backend(pid)]
            return len(pids) >= count

        processes.until(has_all, self.process, "postgres")
        return pids[:count]

    @staticmethod
    def _is_backend(pid):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                return file.read().startswith("postgres: postgres postgres [local]")
        except OSError:
            return False

    def stop(self):
        if self.process:
            processes.stop(self.process)
        shutil.rmtree(self.directory, ignore_errors=True)
