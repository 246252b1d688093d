# SPDX-License-Identifier: GPL-2.0-or-later
"""What is run. Each workload does a fixed amount of work, so that wall times can be compared."""

import os
import random
import shutil

import mariadb
import postgresql
import redis
from processes import timed

QUICK_SHARE = 0.2           # of the work, with --quick


class Command:
    """A command that a tracer starts. ratio_max is the goal; None: not part of the table."""

    def __init__(self, name, argv, ratio_max=None, makes_data=False):
        self.name, self.ratio_max, self.makes_data = name, ratio_max, makes_data
        self._argv = argv

    def open(self, place, share):
        self.place = place
        if self.makes_data:
            make_data(os.path.join(place.directory, "data"), share)
        self.argv = self._argv(place, share)

    def close(self):
        if self.makes_data:
            os.unlink(os.path.join(self.place.directory, "data"))

    def run(self, tracer):
        # Open MPI keeps its session in TMPDIR.
        return tracer.run(self.argv, env={**os.environ, "TMPDIR": self.place.directory})


class Served:
    """The server runs all the time; tracers attach to it while it has its load."""

    ratio_max = 1.03
    settings = ()

    def open(self, place, share):
        self.place = place
        self.server = self.make_server(place)
        self.server.start(*self.settings)
        self.load = self.make_load(share)

    def close(self):
        self.server.stop()

    def run(self, tracer):
        return tracer.around(self.server.process.pid,
                             lambda: timed(self.place.stamp, self.place.directory, [], self.load))


class MariaDB(Served):
    name = "mariadb"
    events = 4000
    make_server = mariadb.Server

    def make_load(self, share):
        return self.server.sysbench("run", scaled(self.events, share))


class PostgreSQL(Served):
    """More branches than clients, so that few wait for a row; data in memory; no work that comes by the clock."""

    name = "postgresql"
    settings = ("shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=1h", "autovacuum=off")

    def make_server(self, place):
        return postgresql.Server(place, scale=20)

    def make_load(self, share):
        return self.server.load(16, scaled(800, share))


class Redis(Served):
    name = "redis"
    make_server = redis.Server

    def make_load(self, share):
        return self.server.benchmark(scaled(200000, share))


class Embedded(Command):
    """MariaDB's embedded server, which has the debug information that Debian's server lacks."""

    program = "bench/innodb_oltp"
    # The threads outnumber the CPUs and seldom sleep: by default only the start would be critical.
    options = ["--nmin", "64", "--top", "20"]

    def __init__(self):
        super().__init__("innodb_oltp", lambda place, share: [
            place.built(self.program), self.data, str(scaled(4000, share))])

    def open(self, place, share):
        self.data = os.path.join(place.directory, "innodb")
        super().open(place, share)
        os.mkdir(self.data)
        timed(place.stamp, place.directory, [], self.argv[:2] + ["0"])  # makes the tables

    def close(self):
        shutil.rmtree(self.data)

    def forget_program(self):
        """Drops it from the page cache, the debug information above all."""
        with open(self.argv[0], "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def scaled(count, share):
    return max(1, int(count * share))


def make_data(path, share):
    """Text that compresses about as prose does, the same every time: 4 MiB, repeated."""
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlucmfw", k=chance.randint(2, 9)))
             for _ in range(5000)]
    weights = [1 / (i + 1) for i in range(len(words))]
    block = " ".join(chance.choices(words, weights, k=900000)).encode()[:4 << 20]
    with open(path, "wb") as file:
        for _ in range(scaled(16, share)):
            file.write(block)


def cpu_bound(place, share):
    return [place.program("cpu_bound"), "2", str(scaled(4000, share))]


def pigz(place, share):
    return [place.find("pigz"), "-p", "2", "-9", "-c", os.path.join(place.directory, "data")]


def xz(place, share):
    return [place.find("xz"), "-T", "2", "-1", "-c", os.path.join(place.directory, "data")]


def mutex_storm(place, share):
    return [place.program("mutex_storm"), "16", str(scaled(100000, share))]


def messaging(place, share):
    # Through pipes: sockets take many messages before anybody has to wait.
    return [place.perf, "bench", "sched", "messaging", "-p", "-g", "2", "-l",
            str(scaled(5000, share))]


def fsync_io(place, share):
    return [place.program("fsync_io"), place.directory, str(scaled(30000, share))]


class FsyncIO(Command):
    """Its files are of no use, and large when all of them stay."""

    def run(self, tracer):
        try:
            return super().run(tracer)
        finally:
            for entry in os.scandir(self.place.directory):
                if entry.name.startswith("fsync_io."):
                    os.unlink(entry.path)


def stencil_mpi(place, share):
    return mpi(place, 4, ["--mca", "mpi_yield_when_idle", "1", place.program("stencil_mpi"),
                          str(scaled(1000, share))])


def stencil_polls(place, share):
    """Two ranks, one of which waits with its CPU for most of the time."""
    return mpi(place, 2, ["--mca", "mpi_yield_when_idle", "0", place.program("stencil_mpi"),
                          str(scaled(1000, share)), "6", "poll"])


def mpi(place, ranks, arguments):
    mpirun = [place.find("mpirun"), "--allow-run-as-root", "--oversubscribe", "-n", str(ranks),
              *arguments]
    # mpirun listens on TCP: in a network of its own, nobody else can reach it.
    return [place.find("unshare"), "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh",
            *mpirun]


WORKLOADS = [
    Command("cpu_bound", cpu_bound, 1.01),
    Command("pigz", pigz, 1.01, makes_data=True),
    Command("xz", xz, 1.01, makes_data=True),
    MariaDB(),
    PostgreSQL(),
    Redis(),
    Command("mutex_storm", mutex_storm, 1.01),
    Command("messaging", messaging, 1.04),
    FsyncIO("fsync_io", fsync_io, 1.01),
]

# With and without --spin-inactive: nothing spins; many switches, each a slice; and it spins.
SPINNING = [
    Command("cpu_bound", cpu_bound),
    Command("mutex_storm", mutex_storm),
    Command("stencil_mpi", stencil_polls),
]

# Shown by --report-only: does the report name what a reader knows of these programs?
REPORTED = [workload for workload in WORKLOADS if workload.name in ("mariadb", "pigz", "xz")] + [
    Command("stencil_mpi", stencil_mpi),
    Embedded(),
]
