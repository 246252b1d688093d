# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's servers, on loopback or a Unix socket in the current directory, each until its block ends."""
import contextlib
import os
import random
import signal
import socket

import apache
import lib
import processes
from lib import ServerPlace, read, start, wait_until
from lib_loads import RedisClient


def service_port():
    """A free one below those that clients get, as services have."""
    for port in range(20000 + os.getpid() % 10000, 32768):
        with socket.socket() as listener:
            with contextlib.suppress(OSError):
                listener.bind(("127.0.0.1", port))
                return port
    raise AssertionError("no port is free")


def accepts(path):
    """Whether a Unix socket is listened to."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(path) == 0


def serve(*command, is_ready, **options):
    """A server, once it is ready."""
    log_path = f"log-{os.path.basename(str(command[0]))}-{len(os.listdir())}"
    with open(log_path, "wb") as log:
        server = start(*command, stdin=lib.subprocess.DEVNULL, stdout=log, stderr=log, **options)
    wait_until(lambda: server.poll() is not None or is_ready(), f"{command[0]} to be ready")
    assert server.poll() is None, read(log_path, "rb")
    return server


def serve_at(port, *command, **options):
    """The same of one that accepts on this port of loopback."""
    return serve(*command, is_ready=lambda: processes.connects(port), **options)


@contextlib.contextmanager
def stopped_at_end(server, number=signal.SIGTERM):
    """server: what serve() gave. Stopped as its owner would, with the processes that it started."""
    try:
        yield server
    finally:
        lib.stop(server, number)


def family(pid):
    """A process and all that descend from it."""
    pids, at = [int(pid)], 0
    while at < len(pids):
        for task in os.listdir(f"/proc/{pids[at]}/task"):
            with contextlib.suppress(OSError):
                pids += map(int, read(f"/proc/{pids[at]}/task/{task}/children").split())
        at += 1
    return pids


def words(count):
    """Text that compresses as a page does."""
    rng = random.Random(1)
    known = ["".join(rng.choices("abcdefghijklmnop", k=rng.randint(2, 9))) for _ in range(5000)]
    return " ".join(rng.choices(known, k=count))


def write_file(path, text):
    os.makedirs(os.path.dirname(path) or ".", 0o755, exist_ok=True)
    with open(path, "wb" if isinstance(text, bytes) else "w") as file:
        file.write(text)
    return os.path.abspath(path)


# --- Redis --------------------------------------------------------------------------------------

REDIS_KEYS = 200000
REDIS_FILL = f"for i = 1, {REDIS_KEYS} do redis.call('set', 'visits:' .. i, i); " \
             "redis.call('rpush', 'list', i * 7919 % 10007) end"


@contextlib.contextmanager
def redis(*options, fill=True):
    """The server and the path of its socket."""
    path = os.path.abspath("redis-socket")
    server = serve(ServerPlace.find("redis-server"), "--port", "0", "--unixsocket", path, "--save", "",
                   "--dir", os.getcwd(), *options, is_ready=lambda: accepts(path))
    with stopped_at_end(server, signal.SIGKILL):
        if fill:
            with contextlib.closing(RedisClient(path)) as client:
                client.ask(("EVAL", REDIS_FILL, "0"))
        yield server, path


# --- Web servers --------------------------------------------------------------------------------

NGINX_CONF = """
daemon off; worker_processes {workers}; pid {directory}/nginx.pid; error_log {directory}/nginx.errors;
events {{ worker_connections 128; }}
http {{
    access_log off; client_body_temp_path {directory}/tmp; proxy_temp_path {directory}/tmp;
    fastcgi_temp_path {directory}/tmp; uwsgi_temp_path {directory}/tmp; scgi_temp_path {directory}/tmp;
    types {{ }} default_type text/html;
    server {{
        listen 127.0.0.1:{port}{listen}; root {directory}/files;
        {locations}
    }}
}}
"""


@contextlib.contextmanager
def nginx(locations, listen="", workers=1):
    """The server and its port. It serves files/."""
    directory, port = lib.server_place().directory, service_port()
    os.makedirs("files", 0o755, exist_ok=True)
    conf = write_file("nginx.conf", NGINX_CONF.format(
        directory=directory, port=port, locations=locations, listen=f" {listen}" if listen else "", workers=workers))
    server = serve_at(port, ServerPlace.find("nginx"), "-e", os.path.abspath("nginx.errors"), "-c", conf)
    with stopped_at_end(server):
        wait_until(lambda: len(processes.children(server.pid)) >= workers, "workers")
        yield server, port


HAPROXY_CONF = """
defaults
    mode http
    timeout connect 10s
    timeout client 60s
    timeout server 60s
    timeout queue 60s
listen service
    bind 127.0.0.1:{port}
    server backend 127.0.0.1:{backend} {options}
"""


@contextlib.contextmanager
def haproxy(backend, options=""):
    """The server and its port. options: of its line of the backend, which is a port."""
    port = service_port()
    conf = write_file("haproxy.conf", HAPROXY_CONF.format(port=port, backend=backend, options=options))
    server = serve_at(port, ServerPlace.find("haproxy"), "-db", "-f", conf)
    with stopped_at_end(server):
        yield server, port


@contextlib.contextmanager
def apache_prefork(workers, php=None, more=""):
    """The server, which has its port. It serves files/. more: lines of its configuration."""
    os.makedirs("files", 0o755, exist_ok=True)
    if php is not None and not apache.php_module():
        raise lib.Skip("libapache2-mod-php is not installed")
    lib.server_place().find("apache2")
    server = apache.Server(ServerPlace, os.path.abspath("files"), workers, php, more)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def memcached(threads):
    """The server and its port."""
    port = service_port()
    server = serve_at(port, ServerPlace.find("memcached"), "-l", "127.0.0.1", "-p", port, "-U", 0, "-u", "nobody",
                      "-t", threads, "-m", 256, "-I", "4m")
    with stopped_at_end(server):
        yield server, port


@contextlib.contextmanager
def python(name, *arguments, port=None):
    """A planted program of tests/causes/programs that accepts on a port of loopback; itself and the port."""
    port = port or service_port()
    server = serve_at(port, "/usr/bin/python3", planted(name), port, *arguments)
    with stopped_at_end(server, signal.SIGKILL):
        yield server, port


def planted(name):
    return os.path.join(lib.ROOT, "tests", "causes", "programs", name)
