#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Makes the report of an example again: starts its server in a private directory, on loopback or a Unix
socket, puts load on it, traces it for some seconds, and stops all of that. As root:

    doc/examples/run.py NAME [option of pinch]...

Without a name it lists the examples. PINCH is the program to run (default: build/pinch).
"""

import contextlib
import os
import shutil
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = os.path.join("doc", "examples", "programs")        # from ROOT
PINCH = os.path.abspath(os.environ.get("PINCH", os.path.join(ROOT, "build", "pinch")))
sys.path.insert(0, os.path.join(ROOT, "bench"))

import mariadb          # noqa: E402
import postgresql       # noqa: E402
import processes        # noqa: E402
from processes import Failure   # noqa: E402

FOREVER_S = "600"       # loads end when they are stopped

examples = {}


class Place:
    """The private directory, and where programs are."""

    def __init__(self, directory):
        self.directory = directory

    @staticmethod
    def find(name):
        path = shutil.which(name, path="/usr/sbin:/usr/bin:/usr/games")
        if not path:
            raise Failure(f"{name} is not installed")
        return path

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)


def example(packages):
    def register(function):
        examples[function.__name__.replace("_", "-")] = (function, packages)
        return function
    return register


def attach(options, pids, load):
    """Traces what runs, for some seconds, while it has load."""
    duration = [] if "--duration" in options else ["--duration", "5s"]
    targets = ",".join(str(pid) for pid in pids)
    process = processes.start([PINCH, "attach", *duration, *options, "-p", targets],
                              stdout=None, stderr=None)
    status = processes.wait(process, processes.RUN_LIMIT_S)
    processes.stop(load)
    return status


def run(options, argv, **others):
    process = processes.start([PINCH, "run", *options, "--", *argv], stdout=None, stderr=None,
                              **others)
    return processes.wait(process, processes.RUN_LIMIT_S)


def serve(place, argv, port=None, **others):
    """Starts a server and waits until it accepts."""
    with open(place.path("log"), "wb") as log:
        server = processes.start(argv, stdout=log, stderr=log, **others)
    if port:
        processes.until(lambda: processes.connects(port), server, argv[0])
    return server


# --- Databases ----------------------------------------------------------------------------------

@contextlib.contextmanager
def stopped(server):
    try:
        yield server
    finally:
        server.stop()


def mariadb_under(place, options, server, script, *server_options):
    with stopped(server):
        server.start(*server_options)
        load = server.sysbench("run") + ["--rand-type=uniform"]
        load[load.index("oltp_read_write")] = script
        return attach(options, [server.process.pid], processes.start(load))


@example("mariadb-server sysbench")
def mariadb_redo_log(place, options):
    """Small transactions, each of which must be on the disk before it is answered."""
    return mariadb_under(place, options, mariadb.Server(place), "oltp_update_index",
                         "--innodb-flush-log-at-trx-commit=1")


@example("mariadb-server sysbench")
def mariadb_buffer_pool(place, options):
    """Queries on more data than the buffer pool has room for, read past the page cache."""
    return mariadb_under(place, options, mariadb.Server(place, rows=100_000), "oltp_point_select",
                         "--innodb-buffer-pool-size=6M", "--innodb-flush-method=O_DIRECT",
                         "--innodb-buffer-pool-load-at-startup=0")


def postgresql_under(place, options, *load):
    with stopped(postgresql.Server(place)) as server:
        server.start()
        command = server.pgbench(FOREVER_S)
        clients = command.index("-c") + 1
        command[clients:clients + 1] = ["8", *load]
        load = processes.start(command)
        server.backends(8)      # all are there
        return attach(options, [server.process.pid], load)


@example("postgresql")
def postgresql_pgbench(place, options):
    """pgbench at a small scale: all transactions update one of two rows."""
    return postgresql_under(place, options)


# --- Servers ------------------------------------------------------------------------------------

NGINX_CONF = """
daemon off; worker_processes 1; pid {directory}/pid; error_log {directory}/errors;
events {{ worker_connections 512; }}
http {{
    access_log off; client_body_temp_path {directory}; proxy_temp_path {directory};
    fastcgi_temp_path {directory}; uwsgi_temp_path {directory}; scgi_temp_path {directory};
    server {{ listen 127.0.0.1:{port}; root {directory}/files; {extra} }}
}}
"""


def nginx_with(place, options, extra):
    port = processes.free_port()
    config = place.write("nginx.conf", NGINX_CONF.format(directory=place.directory, port=port,
                                                         extra=extra))
    server = serve(place, [place.find("nginx"), "-e", place.path("errors"), "-c", config], port)
    script = os.path.join(PROGRAMS, "files.lua")
    load = processes.start([place.find("wrk"), "-t", "1", "-c", "16", "-d", FOREVER_S, "-s",
                            script, f"http://127.0.0.1:{port}/"])
    return attach(options, [server.pid], load)


@example("nginx-light wrk")
def nginx_files(place, options):
    """One worker sends files that are not in the page cache."""
    os.mkdir(place.path("files"))
    os.chmod(place.directory, 0o755)
    for number in range(64):
        with open(place.path("files", str(number)), "wb") as file:
            file.write(os.urandom(1 << 20))
    return nginx_with(place, options, "directio 4k; sendfile off; output_buffers 1 64k;")


@example("memcached libmemcached-tools")
def memcached_threads(place, options):
    """Four worker threads and far more clients than CPUs."""
    port = processes.free_port()
    server = serve(place, [place.find("memcached"), "-u", "nobody", "-l", "127.0.0.1", "-p",
                           str(port), "-t", "4", "-m", "16"], port)
    load = processes.start([place.find("memcaslap"), "-s", f"127.0.0.1:{port}", "-T", "2", "-c", "64",
                            "-t", f"{FOREVER_S}s"])
    return attach(options, [server.pid], load)


@example("etcd-server etcd-client")
def etcd_puts(place, options):
    """A Go program: every write goes through one log that must be on the disk."""
    client, peer = processes.free_port(), processes.free_port()
    url = f"http://127.0.0.1:{client}"
    peer_url = f"http://127.0.0.1:{peer}"
    server = serve(place, [place.find("etcd"), "--data-dir", place.path("data"),
                           "--listen-client-urls", url, "--advertise-client-urls", url,
                           "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
                           "--initial-cluster", f"default={peer_url}"], client)
    load = processes.start([place.find("etcdctl"), "--endpoints", url, "check", "perf", "--load", "m"],
                           env={**os.environ, "ETCDCTL_API": "3"})
    return attach(options, [server.pid], load)


MINETEST_CONF = """
bind_address = 127.0.0.1
mg_name = v7
num_emerge_threads = 4
emergequeue_limit_total = 4096
emergequeue_limit_generate = 4096
enable_ipv6 = false
server_announce = false
"""


@example("minetest-server")
def minetest_map(place, options):
    """Four threads that make a map, and a server that has one lock for it."""
    port = processes.free_port()
    mod = place.path("world", "worldmods", "pregenerate")
    os.makedirs(mod)
    shutil.copy(os.path.join(PROGRAMS, "pregenerate.lua"), os.path.join(mod, "init.lua"))
    place.write("world/world.mt", "gameid = minetest\nbackend = sqlite3\n")
    os.chmod(place.directory, 0o755)
    for directory, _, files in os.walk(place.directory):
        for name in [".", *files]:
            shutil.chown(os.path.join(directory, name), "nobody", "nogroup")
    config = place.write("minetest.conf", MINETEST_CONF)
    server = serve(place, ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
                           place.find("minetestserver"), "--world", place.path("world"), "--config",
                           config, "--port", str(port), "--gameid", "minetest",
                           "--logfile", ""], env={**os.environ, "HOME": place.directory})
    processes.until(lambda: "pregenerate: begins" in open(place.path("log")).read(), server,
                    "minetestserver")
    return attach(options, [server.pid], server)


# --- Programs -----------------------------------------------------------------------------------

@example("nodejs")
def nodejs_pool(place, options):
    """Sixteen hashes at a time for a pool of four threads."""
    return run(options, [place.find("node"), os.path.join(PROGRAMS, "hashes.js")])


@example("openjdk-17-jdk-headless")
def java_monitor(place, options):
    """Threads that share a synchronized method, and a collector that stops them all."""
    processes.run([place.find("javac"), "-g", "-d", place.directory,
                   os.path.join(PROGRAMS, "Ledger.java")])
    return run(options, [place.find("java"), "-XX:+UseSerialGC", "-Xmx64m", "-cp",
                         place.directory, "Ledger"])


@example("golang-go")
def go_mutex(place, options):
    """Goroutines that share a sync.Mutex."""
    processes.run(["env", f"GOCACHE={place.path('cache')}", place.find("go"), "build", "-o",
                   place.path("ledger"), os.path.join(PROGRAMS, "ledger.go")])
    return run(options, [place.path("ledger")])


@example("ripgrep")
def ripgrep(place, options):
    """A Rust program from Debian: a search by eight threads."""
    tree = place.path("tree")
    for number in range(40):
        os.makedirs(os.path.join(tree, str(number)))
        for name in range(100):
            with open(os.path.join(tree, str(number), str(name)), "w") as file:
                file.write("some words of no importance\n" * 4000)
    return run(options, [place.find("rg"), "-j", "8", "--no-ignore", "-c", "import[a-z]nce\\s+x",
                         tree])


@example("rustc")
def rust_mutex(place, options):
    """Threads that share a std::sync::Mutex."""
    processes.run([place.find("rustc"), "-g", "-O", "-o", place.path("ledger"),
                   os.path.join(PROGRAMS, "ledger.rs")])
    return run(options, [place.path("ledger")])


def main(name="", *options):
    if name not in examples:
        for known, (function, packages) in examples.items():
            print(f"{known:<20} {function.__doc__}  ({packages})")
        return 2
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory(prefix="pinch-example-") as directory:
        os.chmod(directory, 0o711)
        try:
            return examples[name][0](Place(directory), options)
        except (Failure, OSError) as failure:
            print(f"{name}: {failure}", file=sys.stderr)
            return 1
        finally:
            processes.stop_all()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
