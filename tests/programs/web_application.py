# SPDX-License-Identifier: GPL-2.0-or-later
"""
web_application.py SOCKETS USER
Answers HTTP, one request at a time, with the help of a PostgreSQL server whose Unix socket lies in SOCKETS.
/sleep asks that for 100 ms of sleep; /lock changes a row that another connection has changed and keeps for
100 ms. Prints its port when it is ready, and the ids of the server's processes that it is connected to.
"""
import ctypes
import http.server
import sys

PR_SET_NAME, COMMAND_OK, TUPLES_OK = 15, 1, 2

libc = ctypes.CDLL(None)
libpq = ctypes.CDLL("libpq.so.5")
for name in ("PQconnectdb", "PQexec", "PQgetResult"):
    getattr(libpq, name).restype = ctypes.c_void_p
libpq.PQgetvalue.restype = ctypes.c_char_p


class Connection:
    def __init__(self, sockets, user):
        self.handle = ctypes.c_void_p(libpq.PQconnectdb(f"host={sockets} user={user} dbname=postgres".encode()))
        assert not libpq.PQstatus(self.handle), "no connection"

    @staticmethod
    def _value(result):
        result = ctypes.c_void_p(result)
        status = libpq.PQresultStatus(result)
        assert status in (COMMAND_OK, TUPLES_OK), f"status {status}"
        value = libpq.PQgetvalue(result, 0, 0) if status == TUPLES_OK else b""
        libpq.PQclear(result)
        return value

    def ask(self, statement):
        return self._value(libpq.PQexec(self.handle, statement.encode()))

    def begin_to_ask(self, statement):
        assert libpq.PQsendQuery(self.handle, statement.encode())

    def await_all(self):
        while result := libpq.PQgetResult(self.handle):
            self._value(result)

    def pid(self):
        return libpq.PQbackendPID(self.handle)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/sleep":
            one.ask("select pg_sleep(0.1)")
        elif self.path == "/lock":
            other.ask("begin")
            other.ask("update row set value = value + 1")
            other.begin_to_ask("select pg_sleep(0.1); commit")
            one.ask("update row set value = value + 1")
            other.await_all()
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


libc.prctl(PR_SET_NAME, b"application")
one, other = Connection(*sys.argv[1:]), Connection(*sys.argv[1:])
one.ask("create table row as select 0 as value")
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, one.pid(), other.pid(), flush=True)
server.serve_forever()
