# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that wait for others across a network: services, name servers, slow readers, pools of connections."""
import contextlib
import functools
import os
import signal

import lib
from lib_causes import Target, Truth, case
from lib_loads import Group, Http, Load
from lib_services import planted, python

SLOW_S, FAST_S = 0.1, 0.001


def at_port(port):
    return rf"127\.0\.0\.1:{port}\b"


@contextlib.contextmanager
def counting(name, *arguments):
    """A planted program that writes a line for each thing done; itself, and how many it has done."""
    with open("done", "wb") as done:
        client = lib.start("/usr/bin/python3", planted(name), *arguments, stdout=done)

    def count():
        assert client.poll() is None, f"{name} ended"
        return lib.read("done", "rb").count(b"\n")

    lib.wait_until(count, "something done")
    try:
        yield client, count
    finally:
        lib.stop(client, signal.SIGKILL)


def asking(delay_s, *options, threads=4):
    """Threads of a client that ask a service which is not traced."""
    with python("line_peer.py", delay_s) as (_, port), \
            counting("asking_client.py", port, threads, *options) as (client, count):
        yield Target(pids=[client.pid], names=[at_port(port)], progress=count)


@case("a client with a timeout waits for a slow service", quick=True, truth=Truth({"network"}),
      misleads="with a timeout it polls before it reads, and to poll is idle, as a rule",
      verified="39.7 answers a second, 2658 without it")
def asking_with_timeout(where, fault=True):
    yield from asking(SLOW_S if fault else FAST_S, 10)


@case("a client without a timeout waits for a slow service", truth=Truth({"network"}),
      verified="38.6 answers a second, 2205 without it")
def asking_without_timeout(where, fault=True):
    yield from asking(SLOW_S if fault else FAST_S)


@case("a client of one thread waits for a slow service", truth=Truth({"network"}),
      misleads="one thread: nothing else could run",
      verified="9.7 answers a second, 540 without it")
def asking_alone(where, fault=True):
    yield from asking(SLOW_S if fault else FAST_S, 10, threads=1)


@case("a client sends to a service that hardly reads", truth=Truth({"network"}, [r"send"]),
      misleads="a socket that cannot be written to looks as one without messages",
      verified="11 answers a second, 781 without it")
def sending(where, fault=True):
    with python("reading_peer.py", 4 << 20 if fault else 0) as (_, port), \
            counting("sending_client.py", port) as (client, count):
        yield Target(pids=[client.pid], names=[at_port(port)], progress=count)


@case("a name server answers after 0.8 s", truth=Truth({"network"}, [r"DNS|getaddrinfo|resolv|name server|:53\b"]),
      misleads="glibc polls for the answer with a timeout, which is idle, as a rule",
      verified="1 answers a second, 425 without it")
def dns(where, fault=True):
    for name in "unshare", "ip", "mount":
        lib.ServerPlace.find(name)
    with open("resolv.conf", "w") as file:
        file.write("nameserver 127.0.0.1\n")
    with open("hosts", "w") as file:
        file.write("127.0.0.1 localhost\n")
    # In a network and with files of /etc of its own.
    mounts = "; ".join(f"mount --bind {os.path.abspath(name)} /etc/{name}" for name in ("resolv.conf", "hosts"))
    with open("done", "wb") as done:
        shell = lib.start("unshare", "--net", "--mount", "--propagation", "private", "sh", "-ec",
                          f"ip link set lo up; {mounts}; exec /usr/bin/python3 "
                          f"{planted('lookups.py')} {planted('name_server.py')} {0.8 if fault else 0.001}",
                          stdout=done)

    def count():
        assert shell.poll() is None, "it ended"
        return lib.read("done", "rb").count(b"\n")

    lib.wait_until(lambda: count() > 1, "lookups")
    with contextlib.ExitStack() as stack:
        server = int(lib.read("done", "rb").split()[0])
        stack.callback(lib.stop, shell, signal.SIGKILL)
        stack.callback(os.kill, server, signal.SIGKILL)
        yield Target(pids=[shell.pid], options=["--threads-only"], progress=count)


@case("a service whose pool of two connections is exhausted",
      truth=Truth({"network", "lock"}, [r"take_connection"]),
      misleads="threads wait for a connection; those who have one wait for another service",
      verified="38 answers a second, 180 without it")
def pool(where, fault=True):
    with python("line_peer.py", 0.05) as (_, backend), \
            python("pooled_service.py", backend, 2 if fault else 16) as (server, port), \
            Load(users=Group(functools.partial(Http, port), "/", 12)) as load:
        yield Target(pids=[server.pid], names=[at_port(backend)], progress=lambda: load.count("users"))


@case("a service asks another one by UDP, which is slow", truth=Truth({"network"}),
      misleads="recvfrom() with a timeout polls",
      verified="19.3 answers a second, 1054 without it")
def udp(where, fault=True):
    port = 20000 + os.getpid() % 10000
    peer = lib.start("/usr/bin/python3", planted("datagram_peer.py"), port, SLOW_S if fault else FAST_S)
    with counting("asking_client.py", port, 2, 10, "udp") as (client, count):
        yield Target(pids=[client.pid], names=[at_port(port)], progress=count)
    lib.stop(peer)


@case("an asyncio client waits for a slow service with all its tasks", truth=Truth({"network"}),
      misleads="epoll_wait is idle, as a rule; here all connections have a question open",
      verified="38.6 answers a second, 1641 without it")
def asyncio_client(where, fault=True):
    with python("line_peer.py", SLOW_S if fault else FAST_S) as (_, port), \
            counting("asyncio_client.py", port, 4) as (client, count):
        yield Target(pids=[client.pid], names=[at_port(port)], progress=count)
