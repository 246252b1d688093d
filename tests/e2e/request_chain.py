#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A request that goes through four processes, client, nginx, application and database: who the client waits for."""
import os
import signal
import subprocess
import sys
import time

import lib
from graph_model import below, graph, part, path, picture, start_recording, stop_recording
from lib import Skip, read_line, start, stop, test

sys.path.insert(0, os.path.join(lib.ROOT, "bench"))
import postgresql   # noqa: E402
import processes    # noqa: E402

REQUESTS, DATABASE_NS = 10, 100_000_000

NGINX = """
daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log {directory}/nginx.log;
events {{ worker_connections 64; }}
http {{
    access_log off; client_body_temp_path {directory}; proxy_temp_path {directory};
    fastcgi_temp_path {directory}; uwsgi_temp_path {directory}; scgi_temp_path {directory};
    server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{application}; }} }}
}}
"""


def skip_unless_installed():
    lib.ServerPlace.find("nginx")
    try:
        postgresql.Server.program("initdb")
    except processes.Failure as failure:
        raise Skip(str(failure)) from None


def start_application(database):
    """It, its port, and the database's processes that it is connected to."""
    process = start("/usr/bin/python3", lib.script("web_application.py"),
                    database.directory, "postgres", stdout=subprocess.PIPE)
    port, *backends = map(int, read_line(process).split())
    return process, port, backends


def start_nginx(application_port):
    port = processes.free_port()
    with open("nginx.conf", "w", encoding="utf-8") as file:
        file.write(NGINX.format(directory=os.getcwd(), port=port, application=application_port))
    log = os.path.abspath("nginx.log")
    process = start(lib.ServerPlace.find("nginx"), "-e", log, "-c", os.path.abspath("nginx.conf"))
    processes.until(lambda: processes.children(process.pid) and processes.connects(port), process, "nginx")
    return process, port


def record_requests(what):
    """The time of the client's requests, as options of a graph."""
    database = postgresql.Server(lib.server_place())
    skip_unless_installed()
    try:
        database.start()
        application, port, backends = start_application(database)
        nginx, port = start_nginx(port)
        client = start("/usr/bin/python3", lib.script("web_client.py"), port, what,
                       REQUESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        recorder = start_recording([client.pid, nginx.pid, *processes.children(nginx.pid), application.pid,
                                    *backends])
        begin_ns = time.monotonic_ns()
        client.stdin.write(b"go\n")
        client.stdin.flush()
        assert read_line(client) == b"done\n"
        end_ns = time.monotonic_ns()
        stop_recording(recorder)
        stop(nginx, signal.SIGTERM)
    finally:
        lib.stop_all()      # a database waits for those that are connected
        database.stop()
    return part(graph()["from_ns"], begin_ns, end_ns)


def check_chain(what, *database):
    """The client's graph leads through all of them, and its critical path is what the last one does."""
    options = record_requests(what)
    root = graph("--thread", "client", *options)
    assert root["ns"] > REQUESTS * DATABASE_NS, picture(root)
    bottoms = below(root, "", "nginx", "", "application", "", *database, "timer")
    assert sum(node["ns"] for node in bottoms) > 0.7 * REQUESTS * DATABASE_NS, picture(root)
    reported = path("--thread", "client", *options)[0]
    last = [p for p in reported["parts"] if p["who"].startswith("postgres") and p["end"] == "timer"]
    last_ns = sum(p["end_ns"] - p["begin_ns"] for p in last)
    assert last_ns > 0.7 * REQUESTS * DATABASE_NS, reported["sums"][:5]
    # Who waits for a row looks after it from time to time, by a timer of its own, if that takes long on a busy machine.
    deepest_ns = sum(p["end_ns"] - p["begin_ns"] for p in last if p["depth"] == 2 + database.count("postgres"))
    assert deepest_ns > 0.6 * REQUESTS * DATABASE_NS, last


@test("client, nginx, application, database: the client's wait leads through all to the last one's sleep")
def chain():
    check_chain("/sleep", "postgres", "")


@test("the same and a row that is locked: through who waits for it to who has it")
def chain_locked():
    check_chain("/lock", "postgres", "", "postgres", "")


if __name__ == "__main__":
    sys.exit(lib.main())
