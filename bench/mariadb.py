# SPDX-License-Identifier: GPL-2.0-or-later
"""A MariaDB server of our own, on a Unix socket in a private directory, with small tables."""

import os
import pwd
import shutil

import processes

TABLES, ROWS = 4, 10000


class Server:
    def __init__(self, place, rows=ROWS):
        self.place, self.rows = place, rows
        self.directory = os.path.join(place.directory, "mariadb")
        self.socket = os.path.join(self.directory, "socket")
        self.log = os.path.join(self.directory, "log")
        self.process = None

    def start(self, *options):
        """Options come last, and so override ours."""
        data = os.path.join(self.directory, "data")
        # mariadbd refuses to be root, and gives up root's rights before it opens its files.
        user = pwd.getpwnam("mysql")
        for path in self.directory, data:
            os.mkdir(path, 0o755)
            os.chown(path, user.pw_uid, user.pw_gid)
        common = ["--no-defaults", f"--datadir={data}", "--user=mysql"]
        processes.run(["mariadb-install-db", *common, "--skip-test-db",
                   "--auth-root-authentication-method=normal"])
        with open(self.log, "wb") as log:
            self.process = processes.start(
                [self.place.find("mariadbd"), *common, f"--socket={self.socket}",
                 f"--pid-file={self.directory}/pid", "--skip-networking",
                 "--innodb-buffer-pool-size=128M", f"--tmpdir={self.directory}",
                 *options],
                stdout=log, stderr=log)
        processes.until(lambda: processes.answers(self.socket), self.process, "mariadbd")
        processes.run(["mariadb", "--no-defaults", f"--socket={self.socket}", "--user=root",
                   "--execute=CREATE DATABASE sbtest"])
        processes.run(self.sysbench("prepare"))

    def sysbench(self, action, events=0, threads=16):
        return [self.place.find("sysbench"), "oltp_read_write", "--db-driver=mysql",
                f"--mysql-socket={self.socket}", "--mysql-user=root", "--mysql-db=sbtest",
                f"--tables={TABLES}", f"--table-size={self.rows}", f"--threads={threads}", "--time=0",
                f"--events={events}", "--rand-seed=1", action]

    def stop(self):
        if self.process:
            processes.stop(self.process)
        shutil.rmtree(self.directory, ignore_errors=True)
