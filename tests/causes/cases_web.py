# SPDX-License-Identifier: GPL-2.0-or-later
"""Web servers, proxies and caches with one slow thing each: nginx, haproxy, Apache, memcached."""
import base64
import crypt
import functools
import os
import signal
import socket
import threading

import lib
from lib_causes import Target, Truth, case
from lib_disk import forget, slow_disk
from lib_loads import Group, Http, Load, SlowReader
from lib_services import apache_prefork, family, haproxy, memcached, nginx, python, words, write_file

# A service behind the one that is looked at.
SLOW_S, FAST_S = 0.2, 0.001


def browser(port, keep=True):
    return functools.partial(Http, port, keep)


def peer_delay(fault):
    return SLOW_S if fault else FAST_S


def at_port(port):
    return rf"127\.0\.0\.1:{port}\b"


# --- nginx --------------------------------------------------------------------------------------

def upstream(fault, pids_of):
    with python("http_peer.py", peer_delay(fault)) as (_, backend):
        with nginx(f"location / {{ proxy_pass http://127.0.0.1:{backend}; }}") as (server, port), \
                Load(users=Group(browser(port), "/", 4)) as load:
            yield Target(pids=pids_of(server.pid), names=[at_port(backend)], progress=lambda: load.count("users"))


@case("nginx: the service behind it is slow", quick=True, truth=Truth({"network", "process"}),
      misleads="epoll_wait is idle, as a rule; here each has requests open that the other side has not answered",
      verified="18.7 answers a second, 280 without it")
def slow_upstream(where, fault=True):
    yield from upstream(fault, family)


@case("nginx: the same, and only the master's id is given", truth=Truth({"network", "process"}),
      misleads="the worker runs already: it has to be followed",
      verified="18.7 answers a second, 262 without it")
def slow_upstream_master(where, fault=True):
    yield from upstream(fault, lambda pid: [pid])


def page_load(port, fault):
    return Load(users=Group(browser(port), "/fast", 4), other=Group(browser(port), "/slow" if fault else "/fast"))


@case("nginx: a large page, compressed as well as gzip can", truth=Truth({"code"}, [r"deflate|libz"]),
      misleads="epoll_wait",
      verified="5.3 answers a second, 315 without it")
def gzip(where, fault=True):
    write_file("files/slow", words(1 << 20))
    write_file("files/fast", "1")
    with nginx("location /slow { gzip on; gzip_comp_level 9; }") as (server, port), page_load(port, fault) as load:
        yield Target(pids=family(server.pid), progress=lambda: load.count("users"))


@case("nginx: a large file that is not in memory, from a slow disk", truth=Truth({"file"}, [r"cold\.bin"]),
      misleads="one worker does all: who reads the file keeps all others waiting in the accept queue",
      verified="34.3 answers a second, 283 without it")
def cold_file(where, fault=True):
    path = write_file("files/cold.bin", os.urandom(2 << 20))
    write_file("files/fast", "1")

    def fetch(client):
        if fault:
            forget(path)
        client.ask("/cold.bin")

    with nginx("", listen="sndbuf=4m") as (server, port):
        with slow_disk(family(server.pid), read_bps=10 << 20 if fault else None), \
                Load(users=Group(browser(port), "/fast", 4), other=Group(browser(port), fetch)) as load:
            yield Target(pids=family(server.pid), progress=lambda: load.count("users"))


@case("nginx: bursts of connections overflow its accept queue",
      truth=Truth({"network"}, [r"accept queue|backlog|listen queue|dropped"]),
      misleads="the server is idle most of the time, while users wait a second until they try again",
      verified="5 answers a second, 113 without it; TcpExtListenOverflows of nstat grows by 145")
def accept_queue(where, fault=True):
    burst = threading.Barrier(24)

    def arrive(client):
        burst.wait()
        client.ask("/page")

    write_file("files/page", words(1 << 12))
    with nginx("location / { gzip on; gzip_comp_level 9; }", listen="backlog=1" if fault else "") as (server, port), \
            Load(users=Group(browser(port, keep=False), arrive, burst.parties)) as load:
        try:
            yield Target(pids=family(server.pid), seconds=6, progress=lambda: load.count("users"))
        finally:
            load.end.set()
            burst.abort()
            lib.stop(server, signal.SIGTERM)    # else clients whose connection was dropped wait for long


@case("a service that looks for connections now and then", truth=Truth({"network", "timer"}, [r"keep_open"]),
      misleads="its only thread sleeps without having been asked for anything: it looks idle",
      verified="8.1 answers a second, 71.1 without it")
def kiosk(where, fault=True):
    with python("kiosk.py", 0.4 if fault else 0.001) as (server, port), \
            Load(users=Group(browser(port, keep=False), "/", 4)) as load:
        yield Target(pids=[server.pid], names=[at_port(port)], progress=lambda: load.count("users"))


@case("nginx: passwords are checked against hashes of very many rounds", truth=Truth({"code"}, [r"crypt|sha512"]),
      misleads="the event loop", verified="10.3 answers a second, 275 without it")
def hashed_passwords(where, fault=True):
    rounds = 200000 if fault else 1000
    hashed = crypt.crypt("secret", f"$6$rounds={rounds}$saltsalt$")
    write_file("passwords", f"user:{hashed}\n")
    write_file("files/page", "1")
    write_file("files/login", "1")
    login = {"Authorization": "Basic " + base64.b64encode(b"user:secret").decode()}
    locations = f'location /login {{ auth_basic "x"; auth_basic_user_file {where}/passwords; }}'
    with nginx(locations) as (server, port), \
            Load(users=Group(browser(port), "/page", 4),
                 logins=Group(functools.partial(Http, port, headers=login), "/login", 1)) as load:
        yield Target(pids=family(server.pid), progress=lambda: load.count("users"))


# --- haproxy ------------------------------------------------------------------------------------

@case("haproxy: the service behind it is slow", truth=Truth({"network", "process"}),
      misleads="epoll_wait is idle, as a rule",
      verified="28.6 answers a second, 372 without it")
def haproxy_backend(where, fault=True):
    with python("http_peer.py", peer_delay(fault)) as (_, backend), haproxy(backend) as (server, port), \
            Load(users=Group(browser(port), "/", 6)) as load:
        yield Target(pids=family(server.pid), names=[at_port(backend)], progress=lambda: load.count("users"))


@case("haproxy: one connection to the service is allowed, and users queue for it", truth=Truth({"network", "process"}),
      misleads="the service answers in 40 ms, which is as fast as it is meant to be",
      verified="15 answers a second, 143 without it")
def haproxy_maxconn(where, fault=True):
    with python("http_peer.py", 0.04) as (_, backend), \
            haproxy(backend, "maxconn 1" if fault else "maxconn 100") as (server, port), \
            Load(users=Group(browser(port, keep=False), "/", 8)) as load:
        yield Target(pids=family(server.pid), names=[at_port(backend)], progress=lambda: load.count("users"))


# --- Apache -------------------------------------------------------------------------------------

@case("apache: two workers, and a page that sleeps in PHP", truth=Truth({"timer"}, [r"sleep"]),
      misleads="workers that sleep look idle; users wait in the accept queue",
      verified="9.7 answers a second, 232 without it")
def php_sleeps(where, fault=True):
    write_file("files/index.php", f"<?php usleep({200000 if fault else 1}); echo 'ready';")
    with apache_prefork(2, php="") as server, \
            Load(users=Group(browser(server.port, keep=False), "/index.php", 6)) as load:
        yield Target(pids=family(server.process.pid), progress=lambda: load.count("users"))


@case("apache: a page that computes in PHP", truth=Truth({"code"}, [r"zend|execute_ex|md5"]),
      misleads="workers wait for the lock of accept()",
      verified="2 answers a second, 27.7 without it")
def php_computes(where, fault=True):
    rounds = 400000 if fault else 10
    write_file("files/index.php", f"<?php $a = ''; for ($i = 0; $i < {rounds}; $i++) {{ $a = md5($a . $i); }} echo $a;")
    with apache_prefork(2, php="") as server, \
            Load(users=Group(browser(server.port, keep=False), "/index.php", 1)) as load:
        yield Target(pids=family(server.process.pid), progress=lambda: load.count("users"))


@case("apache: pages of one session in PHP, one of which takes long and has the session's lock",
      truth=Truth({"timer", "code", "lock"}, [r"sess_|session"]),
      misleads="a wait for a file; each worker is a process", verified="31.3 answers a second, 2105 without it")
def php_session(where, fault=True):
    held = "" if fault else "session_write_close();"
    write_file("files/long.php", f"<?php session_start(); {held} usleep(150000); echo 'ready';")
    write_file("files/short.php", "<?php session_start(); echo 'ready';")
    os.mkdir("sessions")
    os.chmod("sessions", 0o777)

    def ask(path, client):
        client.ask(f"{path}?PHPSESSID=common")

    php = f"session.save_path={where}/sessions\nsession.use_only_cookies=0\nsession.use_strict_mode=0\n"
    with apache_prefork(4, php=php) as server, \
            Load(long=Group(browser(server.port, keep=False), functools.partial(ask, "/long.php"), 1, 0),
                 users=Group(browser(server.port, keep=False), functools.partial(ask, "/short.php"), 4, 0)) as load:
        yield Target(pids=family(server.process.pid), progress=lambda: load.count("users"))


@case("apache: a page in PHP asks a slow service", truth=Truth({"network"}, [r"127\.0\.0\.1"]),
      misleads="PHP polls the socket before it reads, with a timeout: it looks idle", verified="8.6 answers a second, 137 without it")
def php_asks(where, fault=True):
    with python("http_peer.py", peer_delay(fault)) as (_, backend):
        write_file("files/index.php", f"<?php echo strlen(file_get_contents('http://127.0.0.1:{backend}/'));")
        with apache_prefork(2, php="") as server, \
                Load(users=Group(browser(server.port, keep=False), "/index.php", 4)) as load:
            yield Target(pids=family(server.process.pid), names=[at_port(backend)],
                         progress=lambda: load.count("users"))


CGI = """
LoadModule cgi_module /usr/lib/apache2/modules/mod_cgi.so
LoadModule alias_module /usr/lib/apache2/modules/mod_alias.so
ScriptAlias /cgi/ {directory}/cgi/
"""


@case("apache: a CGI script that sleeps", truth=Truth({"timer", "process"}, [r"sleep|report\.sh"]),
      misleads="the workers wait for a pipe; the script's processes are younger than the tracing",
      verified="5 answers a second, 32.4 without it")
def slow_cgi(where, fault=True):
    path = write_file("cgi/report.sh", f"#!/bin/sh\necho 'Content-Type: text/plain'; echo\n"
                                       f"/bin/sleep {0.3 if fault else 0}\necho ready\n")
    os.chmod(path, 0o755)
    with apache_prefork(2, more=CGI.format(directory=where)) as server, \
            Load(users=Group(browser(server.port, keep=False), "/cgi/report.sh", 4)) as load:
        yield Target(pids=family(server.process.pid), progress=lambda: load.count("users"))


@case("apache: both workers send to clients that hardly read",
      truth=Truth({"network"}, [r"send|writev|slow reader|not read"]),
      misleads="to wait in poll() is idle, as a rule; users wait for a worker",
      verified="0 answers a second, 205 without it")
def slow_readers(where, fault=True):
    write_file("files/large", os.urandom(64 << 20))
    write_file("files/small", "1")
    with apache_prefork(2, more="SendBufferSize 65536\n") as server:
        reader = functools.partial(SlowReader, server.port, "/large", 0.05)
        groups = {"readers": Group(reader, "", 2)} if fault else {}
        groups["users"] = Group(browser(server.port, keep=False), "/small", 4)
        with Load(silent=("users",), **groups) as load:
            yield Target(pids=family(server.process.pid), progress=lambda: load.count("users"))


# --- memcached ----------------------------------------------------------------------------------

class Memcache:
    """Its text protocol, as far as this test needs it."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=lib.LIMIT_S)
        self.file = self.socket.makefile("rb")

    def set(self, key, value):
        self.socket.sendall(b"set %s 0 0 %d\r\n%s\r\n" % (key.encode(), len(value), value))
        assert self.file.readline() == b"STORED\r\n"

    def ask(self, request):
        """Asks for keys; what the answer says is not looked at."""
        self.socket.sendall(request)
        last = b""
        while not last.endswith(b"END\r\n"):
            answer = self.socket.recv(1 << 20)
            assert answer, "it ended"
            last = last[-8:] + answer[-8:]

    def close(self):
        self.file.close()
        self.socket.close()


@case("memcached: one thread, and a user who asks for 20,000 keys at once",
      truth=Truth({"code"}, [r"process_\w*get|memcached\+0x|without symbols"]), misleads="epoll_wait",
      verified="67.3 answers a second, 294 without it")
def memcached_many(where, fault=True):
    keys = [f"key:{number}" for number in range(20000)]
    with memcached(1) as (server, port):
        client = Memcache(port)
        for key in keys[:1000]:
            client.set(key, b"1")
        client.close()
        one, many = (f"get {' '.join(asked)}\r\n".encode() for asked in (keys[:1], keys))
        place = functools.partial(Memcache, port)
        with Load(users=Group(place, one, 4), other=Group(place, many if fault else one, 3, 0)) as load:
            yield Target(pids=[server.pid], progress=lambda: load.count("users"))


# --- A service of one's own ---------------------------------------------------------------------------

@case("a service in Python sleeps in its handler, 8 threads wait for a job", quick=True,
      truth=Truth({"timer"}, [r"look_up_stock"]),
      misleads="a sleep is idle, as a rule; here a request is open meanwhile",
      verified="33.3 answers a second, 273 without it")
def handler_sleeps(where, fault=True):
    with python("sleepy_handler.py", 0.1 if fault else 0) as (server, port), \
            Load(users=Group(browser(port), "/", 4)) as load:
        yield Target(pids=[server.pid], progress=lambda: load.count("users"))


@case("a service in Python has one lock around its slow peer",
      truth=Truth({"network", "lock"}, [r"ask_peer|one_at_a_time"]),
      misleads="threads wait for a lock; who has it waits for another service",
      verified="18 answers a second, 87.3 without it")
def locked_peer(where, fault=True):
    with python("http_peer.py", 0.05) as (_, backend), \
            python("locked_peer.py", backend, int(fault)) as (server, port), \
            Load(users=Group(browser(port), "/", 6)) as load:
        yield Target(pids=[server.pid], names=[at_port(backend)], progress=lambda: load.count("users"))


