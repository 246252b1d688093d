# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in which nothing is wrong: the verdict has to say so."""
import functools
import os
import pty
import random
import signal
import subprocess
import threading

import lib
from lib_causes import Target, healthy
from lib_databases import MariadbClient, mariadb, postgres
from lib_loads import Group, Http, Load, RedisClient
from lib_services import apache_prefork, family, haproxy, memcached, nginx, python, redis, write_file

# Between two requests of a user who hardly asks for anything.
SELDOM_S = 0.1


# --- Servers that nobody or hardly anybody uses -------------------------------------------------------

@healthy("an idle Redis")
def idle_redis(where):
    with redis() as (server, _):
        yield Target(pids=[server.pid])


@healthy("an idle nginx with two workers")
def idle_nginx(where):
    with nginx("", workers=2) as (server, _):
        yield Target(pids=family(server.pid))


@healthy("an idle Apache with four workers")
def idle_apache(where):
    with apache_prefork(4) as server:
        yield Target(pids=family(server.process.pid))


@healthy("an idle memcached with four threads")
def idle_memcached(where):
    with memcached(4) as (server, _):
        yield Target(pids=[server.pid])


@healthy("an idle MariaDB", misleads="its threads wait with timeouts of a second and longer, and wake each other up")
def idle_mariadb(where):
    with mariadb() as server:
        yield Target(pids=[server.process.pid])


@healthy("an idle PostgreSQL")
def idle_postgres(where):
    with postgres() as server:
        yield Target(pids=family(server.process.pid))


@healthy("an nginx that serves a small page 40 times a second")
def seldom_nginx(where):
    write_file("files/page", "ready")
    with nginx("", workers=2) as (server, port), \
            Load(users=Group(functools.partial(Http, port), "/page", 4, SELDOM_S)):
        yield Target(pids=family(server.pid))


@healthy("a Redis that answers small requests 40 times a second")
def seldom_redis(where):
    with redis() as (server, path), \
            Load(users=Group(functools.partial(RedisClient, path), ("GET", "visits:1"), 4, SELDOM_S)):
        yield Target(pids=[server.pid])


@healthy("a MariaDB with small queries 40 times a second")
def seldom_mariadb(where):
    with mariadb() as server, \
            Load(users=Group(functools.partial(MariadbClient, server.socket), "SELECT c FROM sbtest1 WHERE id = 5", 4,
                             SELDOM_S)):
        yield Target(pids=[server.process.pid])


@healthy("an haproxy with a few requests to a fast service")
def seldom_haproxy(where):
    with python("http_peer.py", 0) as (_, backend), haproxy(backend) as (server, port), \
            Load(users=Group(functools.partial(Http, port), "/", 2, SELDOM_S)):
        yield Target(pids=family(server.pid))


@healthy("a web server in Python, threads of a pool, few requests")
def seldom_python(where):
    with python("sleepy_handler.py", 0) as (server, port), \
            Load(users=Group(functools.partial(Http, port), "/", 2, SELDOM_S)):
        yield Target(pids=[server.pid])


# --- Programs that are as fast as they can be ---------------------------------------------------------

@healthy("sleep 3", quick=True)
def plain_sleep(where):
    yield Target(command=["/bin/sleep", "3"])


@healthy("two threads that compute, on two CPUs", computes=True, quick=True,
         misleads="main waits in a join; samples are in one function")
def parallel_threads(where):
    yield Target(command=[lib.program("cpu_bound"), min(2, os.cpu_count()), 1500])


@healthy("two processes that compress, on two CPUs", computes=True)
def parallel_processes(where):
    for name in "one", "two":
        write_file(name, random.Random(1).randbytes(48 << 20))
    yield Target(command=["/bin/sh", "-c", "gzip -c one >/dev/null & gzip -c two >/dev/null & wait"])


SOURCE = """
#include <map>
#include <regex>
#include <string>
std::map<std::string, int> NAME(const std::string &text)
{
    std::map<std::string, int> found;
    for (std::sregex_iterator at(text.begin(), text.end(), std::regex("[a-z]+")), end; at != end; ++at)
        found[at->str()]++;
    return found;
}
"""


@healthy("make -j2 of four files in C++", computes=True, misleads="make waits for its children, they for theirs")
def compile_all(where):
    names = [f"part{number}" for number in range(4)]
    for name in names:
        write_file(f"{name}.cpp", SOURCE.replace("NAME", name))
    objects = " ".join(f"{name}.o" for name in names)
    write_file("Makefile", f"all: {objects}\n%.o: %.cpp\n\tg++ -O1 -c -o $@ $<\n")
    yield Target(command=[lib.ServerPlace.find("make"), "-s", "-j2"])


@healthy("sort of a file that is in memory", computes=True)
def sort_file(where):
    rng = random.Random(1)
    write_file("lines", "".join(f"{rng.getrandbits(64):x}\n" for _ in range(1000000)))
    yield Target(command=["/usr/bin/sort", "-o", "sorted", "lines"])


@healthy("a shell on a terminal, and somebody who types now and then",
         misleads="the shell waits for its terminal, and for short commands")
def shell(where):
    shell_pid, terminal = pty.fork()
    if not shell_pid:
        os.execve("/bin/bash", ["bash", "--norc", "-i"], {"PATH": "/usr/bin:/bin", "PS1": "$ ", "TERM": "dumb"})
    ended = threading.Event()

    def type_and_read():
        while not ended.wait(0.5):
            os.write(terminal, b"ls /\n")
            os.read(terminal, 65536)

    user = threading.Thread(target=type_and_read)
    os.read(terminal, 65536)
    user.start()
    try:
        yield Target(pids=[shell_pid])
    finally:
        ended.set()
        user.join()
        os.kill(shell_pid, signal.SIGKILL)
        os.waitpid(shell_pid, 0)
        os.close(terminal)


@healthy("a shell that looks every 0.2 s whether a file has come")
def shell_loop(where):
    process = lib.start("/bin/sh", "-c", "while [ ! -e come ]; do sleep 0.2; done")
    yield Target(pids=[process.pid])


@healthy("tail -f of a file that grows ten times a second")
def follow_log(where):
    write_file("log", "begin\n")
    ended = threading.Event()

    def grow():
        with open("log", "a") as log:
            while not ended.wait(SELDOM_S):
                log.write("line\n")
                log.flush()

    process = lib.start("/usr/bin/tail", "-f", "log", stdout=subprocess.DEVNULL)
    writer = threading.Thread(target=grow)
    writer.start()
    try:
        yield Target(pids=[process.pid])
    finally:
        ended.set()
        writer.join()
