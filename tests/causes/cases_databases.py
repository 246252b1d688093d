# SPDX-License-Identifier: GPL-2.0-or-later
"""Databases with one slow thing each: MariaDB, PostgreSQL, Redis."""
import dataclasses
import functools
import threading
import time

import lib
from lib_causes import Target, Truth, case
from lib_databases import MariadbClient, PostgresClient, mariadb, postgres
from lib_disk import slow_disk
from lib_loads import Group, Load, RedisClient
from lib_services import family, redis

# Of a disk that is slow to write: what a worn-out or overbooked one does.
SLOW_WRITES = 25
THINKS_S = 0.3


def connect(client, place):
    return functools.partial(client, place)


# --- Redis --------------------------------------------------------------------------------------

LUA_SUM = "local sum = 0; for i = 1, 5000000 do sum = sum + i % 7 end; return sum"


def redis_with(request, fault, server_options=()):
    """Four users who GET, beside one who asks for something that takes long."""
    with redis(*server_options) as (server, path):
        users = Group(connect(RedisClient, path), ("GET", "visits:1"), 4)
        other = Group(connect(RedisClient, path), request if fault else ("PING",), 1, 0.05)
        with Load(users=users, other=other) as load:
            yield Target(pids=[server.pid], progress=lambda: load.count("users"))


@case("redis: KEYS of all keys", quick=True, truth=Truth({"code"}, [r"keysCommand|stringmatchlen|\bKEYS\b"]),
      misleads="the event loop (aeMain) is below all code, and epoll_wait has most of the wall time",
      verified="54 answers a second, 326 without it")
def redis_keys(where, fault=True):
    yield from redis_with(("KEYS", "*0*1*2*3*4*5*x"), fault)


@case("redis: the same, and one of the processes that were named has ended",
      truth=Truth({"code"}, [r"keysCommand|stringmatchlen|\bKEYS\b"]), misleads="a list of ids is always a little old")
def redis_vanished(where):
    ended = lib.start("/bin/true")
    ended.wait()
    for target in redis_with(("KEYS", "*0*1*2*3*4*5*x"), True):
        yield dataclasses.replace(target, pids=[*target.pids, ended.pid])


@case("redis: a script that computes for long", truth=Truth({"code"}, [r"lua|eval|script"]),
      misleads="all users wait, and the server never does",
      verified="45.3 answers a second, 323 without it")
def redis_script(where, fault=True):
    yield from redis_with(("EVAL", LUA_SUM, "0"), fault)


@case("redis: SORT of a long list", truth=Truth({"code"}, [r"sortCommand|pqsort|sortCompare|\bSORT\b"]),
      misleads="the event loop",
      verified="100 answers a second, 340 without it")
def redis_sort(where, fault=True):
    yield from redis_with(("SORT", "list", "LIMIT", "0", "1"), fault)


@case("redis: each write is synced to a slow disk",
      truth=Truth({"file"}, [r"appendonly|\.aof|flushAppendOnlyFile|\bAOF\b"]),
      misleads="little CPU is used, most of the time of the other threads (bio_*) is idle",
      verified="13.3 answers a second, 215 without it")
def redis_aof(where, fault=True):
    with redis("--appendonly", "yes", "--appendfsync", "always", fill=False) as (server, path):
        with slow_disk([server.pid], write_iops=SLOW_WRITES if fault else None), \
                Load(users=Group(connect(RedisClient, path), ("SET", "a", "b"), 4)) as load:
            yield Target(pids=[server.pid], progress=lambda: load.count("users"))


@case("redis, and a client that waits for its slow script: both are traced",
      truth=Truth({"code"}, [r"lua|eval|script"]),
      misleads="the client's wait for the socket is the longest one",
      verified="4 answers a second, 1704 without it")
def redis_chain(where, fault=True):
    with redis() as (server, path):
        request = f"EVAL {LUA_SUM!r} 0\n" if fault else "PING\n"
        with open("requests", "w") as file:
            file.write(request.replace("'", '"') * 20000)
        with open("requests") as requests, open("answers", "wb") as answers:
            client = lib.start(lib.ServerPlace.find("redis-cli"), "-s", path, stdin=requests, stdout=answers)

        def count():
            return lib.read("answers").count("\n")

        lib.wait_until(count, "an answer")
        try:
            yield Target(pids=[server.pid, client.pid], progress=count)
        finally:
            lib.stop(client)


@case("redis: a client makes the server sleep", truth=Truth({"timer"}, [r"debugCommand|DEBUG"]),
      misleads="the server looks idle", verified="78.7 answers a second, 380 without it")
def redis_sleeps(where, fault=True):
    with redis("--enable-debug-command", "local") as (server, path):
        users = Group(connect(RedisClient, path), ("GET", "visits:1"), 4)
        other = Group(connect(RedisClient, path), ("DEBUG", "SLEEP", "0.2") if fault else ("PING",), 1, 0.05)
        with Load(users=users, other=other) as load:
            yield Target(pids=[server.pid], progress=lambda: load.count("users"))


# --- MariaDB ------------------------------------------------------------------------------------

def small_query(client):
    client.ask("SELECT c FROM sbtest2 WHERE id = 77")


def sysbench_like(client):
    """A transaction that changes a row of its own."""
    row = threading.get_ident() % 9973
    client.ask(f"UPDATE sbtest1 SET k = k + 1 WHERE id = {row}")


@case("mariadb: the redo log is on a slow disk", truth=Truth({"file"}, [r"ib_logfile0|redo|ibdata1"]),
      misleads="users wait for a condition and in the log's group commit; who writes the log is the cause",
      verified="23.3 answers a second, 2388 without it")
def redo_on_slow_disk(where, fault=True):
    with mariadb() as server:
        pid = server.process.pid
        with slow_disk([pid], write_iops=SLOW_WRITES if fault else None), \
                Load(users=Group(connect(MariadbClient, server.socket), sysbench_like, 8, 0)) as load:
            yield Target(pids=[pid], progress=lambda: load.count("users"))


@case("mariadb: fdatasync() of the redo log takes 30 ms, in a library that was loaded before libc",
      truth=Truth({"file", "timer"}, [r"fdatasync|ib_logfile0|redo"]),
      misleads="a sleep is idle time, as a rule; the threads that wait for it wait for a condition",
      verified="122 answers a second, 1980 without it")
def redo_delayed(where, fault=True):
    with mariadb(preload=lib.program("causes/slow_sync.so") if fault else None) as server, \
            Load(users=Group(connect(MariadbClient, server.socket), sysbench_like, 8, 0)) as load:
        yield Target(pids=[server.process.pid], progress=lambda: load.count("users"))


@case("mariadb: a buffer pool too small for its tables",
      truth=Truth({"file"}, [r"sbtest\w*\.ibd|data/sbtest\b|buf_read|buffer pool"]),
      misleads="latches of pages, and threads of the pool that wait for work",
      verified="1.0 answers a second, 5.3 without it")
def buffer_pool(where, fault=True):
    def scan(client):
        for table in range(1, 5):
            client.ask(f"SELECT COUNT(*), SUM(LENGTH(pad)) FROM sbtest{table} WHERE c LIKE '%7%'")

    size = "6M" if fault else "128M"
    with mariadb(f"--innodb-buffer-pool-size={size}", "--innodb-flush-method=O_DIRECT", rows=40000) as server:
        pid = server.process.pid
        with slow_disk([pid], read_bps=20 << 20 if fault else None), \
                Load(users=Group(connect(MariadbClient, server.socket), scan, 4, 0)) as load:
            yield Target(pids=[pid], progress=lambda: load.count("users"))


@case("mariadb: one query with a regular expression for each row", truth=Truth({"code"}, [r"regex|pcre"]),
      misleads="many threads wait for work or for their clients",
      verified="152 answers a second, 310 without it")
def mariadb_heavy_query(where, fault=True):
    heavy = "SELECT COUNT(*) FROM sbtest1 WHERE c REGEXP '([0-9]+-)+9{5}$'" if fault else "SELECT 1"
    with mariadb() as server:
        client = connect(MariadbClient, server.socket)
        with Load(heavy=Group(client, heavy, 2, 0), users=Group(client, small_query, 4)) as load:
            yield Target(pids=[server.process.pid], progress=lambda: load.count("users"))


@case("mariadb: ALTER TABLE behind a client that thinks in its transaction, and all queries behind that",
      truth=Truth({"network", "lock"}, [r"metadata|\bMDL", r"my_net_read|vio_read|vio_io_wait|client|idle in"]),
      misleads="waits for metadata locks are timed, a second each, and repeated: they are not idle",
      verified="20.3 answers a second, 190 without it")
def metadata_lock(where, fault=True):
    def think(client):
        client.ask("BEGIN; SELECT c FROM sbtest1 WHERE id = 1")
        if fault:
            time.sleep(THINKS_S)        # the planted cause
        client.ask("COMMIT")

    with mariadb() as server:
        client = connect(MariadbClient, server.socket)
        with Load(thinks=Group(client, think),
                  alters=Group(client, "ALTER TABLE sbtest1 COMMENT = 'a'; ALTER TABLE sbtest1 COMMENT = 'b'", 1, 0),
                  users=Group(client, "SELECT c FROM sbtest1 WHERE id = 5", 4)) as load:
            yield Target(pids=[server.process.pid], progress=lambda: load.count("users"))


@case("mariadb: all transactions change one row, and one client computes while it has it",
      truth=Truth({"code", "lock"}, [r"\brow\b|lock_wait|\btrx|InnoDB|handler::|ha_update|ha_rnd|index_read",
                                     r"regex|pcre"]),
      misleads="the lock wait alone: what is done while the row is locked is the cause",
      verified="95.9 answers a second, 260 without it")
def hot_row(where, fault=True):
    heavy = "SELECT COUNT(*) FROM (SELECT c FROM sbtest3 LIMIT 400) t WHERE c REGEXP '([0-9]+-)+9{5}$'"
    change = "UPDATE sbtest1 SET k = k + 1 WHERE id = 1"
    with mariadb("--innodb-flush-log-at-trx-commit=0") as server:
        client = connect(MariadbClient, server.socket)
        batch = f"BEGIN; {change}; {heavy}; COMMIT" if fault else f"{heavy}; {change}"
        with Load(batch=Group(client, batch, 1, 0.005), users=Group(client, change, 6)) as load:
            yield Target(pids=[server.process.pid], progress=lambda: load.count("users"))


@case("mariadb: a lock of the users' own, and one of them thinks while he has it",
      truth=Truth({"network", "lock"}, [r"Item_func_get_lock|user.?lock|MDL|metadata", r"net_read|vio_|client|127\.|sock"]),
      misleads="waits are timed, and repeated", verified="12 answers a second, 370 without it")
def user_lock(where, fault=True):
    def think(client):
        client.ask("DO GET_LOCK('report', 30)")
        if fault:
            time.sleep(THINKS_S)        # the planted cause
        client.ask("DO RELEASE_LOCK('report')")

    with mariadb() as server:
        client = connect(MariadbClient, server.socket)
        with Load(thinks=Group(client, think, 1, 0),
                  users=Group(client, "DO GET_LOCK('report', 30); DO RELEASE_LOCK('report')", 4)) as load:
            yield Target(pids=[server.process.pid], progress=lambda: load.count("users"))


@case("mariadb: each query sleeps in a function", truth=Truth({"timer"}, [r"Item_func_sleep|Interruptible_wait|\bsleep"]),
      misleads="threads wait for a condition with a timeout, as idle ones do", verified="14.7 answers a second, 1905 without it")
def mariadb_sleeps(where, fault=True):
    query = f"SELECT c, SLEEP({0.1 if fault else 0}) FROM sbtest1 WHERE id = 5"
    with mariadb() as server, Load(users=Group(connect(MariadbClient, server.socket), query, 4, 0)) as load:
        yield Target(pids=[server.process.pid], progress=lambda: load.count("users"))


# --- PostgreSQL ---------------------------------------------------------------------------------

def balance(client):
    client.ask(f"SELECT abalance FROM pgbench_accounts WHERE aid = {threading.get_ident() % 9973}")


def deposit(client):
    client.ask(f"UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = {threading.get_ident() % 9973}")


def postgres_target(server, load):
    return Target(pids=family(server.process.pid), progress=lambda: load.count("users"))


def think_with_row(fault, client):
    client.ask("BEGIN; UPDATE pgbench_branches SET bbalance = 1 WHERE bid = 1")
    if fault:
        time.sleep(THINKS_S)        # the planted cause
    client.ask("COMMIT")


ROW_TRUTH = Truth({"network", "lock"}, [r"transactionid|XactLock|LockTuple|heap_update|heapam_tuple_lock|\brow\b",
                                        r"ClientRead|client|secure_read|idle in"])
ROW_MISLEADS = "the row's queue (LockTuple) has all waiters; who has the row sleeps, and its client is outside"


def row_locked(fault, pids_of):
    with postgres("fsync=off") as server:
        client = connect(PostgresClient, server.directory)
        waits = "UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1"
        with Load(thinks=Group(client, functools.partial(think_with_row, fault), 1, 0.001),
                  users=Group(client, waits, 4)) as load:
            yield Target(pids=pids_of(server.process.pid), progress=lambda: load.count("users"))


@case("postgres: a client thinks in a transaction that has a row", truth=ROW_TRUTH, misleads=ROW_MISLEADS,
      verified="8.1 answers a second, 300 without it")
def row_lock(where, fault=True):
    yield from row_locked(fault, family)


@case("postgres: the same, and only the postmaster's id is given", truth=ROW_TRUTH,
      misleads="the backends run already: they have to be followed",
      verified="11.3 answers a second, 304 without it")
def row_lock_master(where, fault=True):
    yield from row_locked(fault, lambda pid: [pid])


@case("postgres: the log is on a slow disk",
      truth=Truth({"file"}, [r"pg_wal|XLogFlush|XLogWrite|issue_xlog_fsync|\bWAL\b"]),
      misleads="all but one wait for the lock of who writes the log (LWLock WALWrite)",
      verified="20.6 answers a second, 1386 without it")
def wal_on_slow_disk(where, fault=True):
    with postgres() as server:
        with slow_disk(family(server.process.pid), write_iops=SLOW_WRITES if fault else None), \
                Load(users=Group(connect(PostgresClient, server.directory), deposit, 6, 0)) as load:
            yield postgres_target(server, load)


# Two of them use both CPUs of a small machine fully: that nothing but this code holds it back is right, too.
@case("postgres: one report searches all rows with a regular expression",
      truth=Truth({"code", "none"}, [r"regex|pg_reg|RE_"]),
      misleads="backends that wait for their clients",
      verified="1.0 answers a second, 2958 without it")
def postgres_heavy_query(where, fault=True):
    heavy = "SELECT count(*) FROM pgbench_accounts WHERE repeat(aid || ' ', 40) ~ '(\\s|[0-9])+x$'" \
        if fault else "SELECT 1"
    with postgres("fsync=off", "max_parallel_workers_per_gather=0") as server:
        client = connect(PostgresClient, server.directory)
        with Load(silent=("heavy",), heavy=Group(client, heavy, 2, 0), users=Group(client, balance, 4)) as load:
            yield Target(pids=family(server.process.pid), progress=lambda: load.count("heavy"))


@case("postgres: a function of the data base sleeps in each query", truth=Truth({"timer"}, [r"pg_sleep"]),
      misleads="the backends look idle: so does one that waits for its client", verified="39.7 answers a second, 12357 without it")
def sleeping_query(where, fault=True):
    with postgres("fsync=off") as server:
        query = f"SELECT abalance, pg_sleep({0.1 if fault else 0}) FROM pgbench_accounts WHERE aid = 77"
        with Load(users=Group(connect(PostgresClient, server.directory), query, 4, 0)) as load:
            yield Target(pids=family(server.process.pid), progress=lambda: load.count("users"))


@case("postgres: a checkpoint that someone asked for waits for a slow disk",
      truth=Truth({"file"}, [r"checkpoint", r"fsync|pwrite|FileWrite|FileSync|\bbase/|smgr|mdsync"]),
      misleads="who asked waits for a condition variable; the checkpointer is another process",
      verified="0.3 answers a second, 19 without it")
def checkpoint(where, fault=True):
    def maintain(client):
        client.ask("UPDATE pgbench_tellers SET tbalance = tbalance + 1")
        client.ask("CHECKPOINT")

    with postgres("synchronous_commit=off") as server:
        with slow_disk(family(server.process.pid), write_iops=SLOW_WRITES if fault else None), \
                Load(users=Group(connect(PostgresClient, server.directory), maintain, 1, 0)) as load:
            yield postgres_target(server, load)


@case("postgres: an index is made, and all who write wait for its table",
      truth=Truth({"code", "lock", "file"}, [r"LockRelation|heavyweight|ProcSleep|LockAcquire|relation",
                                             r"btbuild|index|tuplesort|_bt_|DefineIndex|qsort|comparetup"]),
      misleads="writers queue for a lock; who has it computes", verified="8.6 answers a second, 251 without it")
def index_made(where, fault=True):
    build = "CREATE INDEX twice ON pgbench_accounts (filler, abalance); DROP INDEX twice" if fault else "SELECT 1"
    with postgres("fsync=off", "max_parallel_maintenance_workers=0") as server:
        client = connect(PostgresClient, server.directory)
        with Load(silent=("index",), index=Group(client, build, 1, 0.001), users=Group(client, deposit, 4)) as load:
            yield postgres_target(server, load)
