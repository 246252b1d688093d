# SPDX-License-Identifier: GPL-2.0-or-later
"""MariaDB and PostgreSQL, each on a Unix socket in the current directory, and clients of theirs."""
import contextlib
import ctypes
import functools
import os

import lib
import mariadb as mariadb_server
import postgresql as postgresql_server
import processes


@functools.cache
def library(name, *pointers):
    try:
        loaded = ctypes.CDLL(name)
    except OSError:
        raise lib.Skip(f"{name} is not installed") from None
    for function in pointers:
        getattr(loaded, function).restype = ctypes.c_void_p
    return loaded


class MariadbClient:
    def __init__(self, path):
        self.lib = library("libmariadb.so.3", "mysql_init", "mysql_real_connect", "mysql_store_result")
        self.lib.mysql_error.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p(self.lib.mysql_init(None))
        connected = self.lib.mysql_real_connect(self.handle, None, b"root", None, b"sbtest", 0, path.encode(),
                                                ctypes.c_ulong(0))
        assert connected, self.lib.mysql_error(self.handle)

    def ask(self, statements):
        """One statement after the other, separated by semicolons."""
        for statement in filter(None, map(str.strip, statements.split(";"))):
            assert not self.lib.mysql_query(self.handle, statement.encode()), self.lib.mysql_error(self.handle)
            result = ctypes.c_void_p(self.lib.mysql_store_result(self.handle))
            if result:
                self.lib.mysql_free_result(result)

    def close(self):
        self.lib.mysql_close(self.handle)


class PostgresClient:
    COMMAND_OK, TUPLES_OK = 1, 2

    def __init__(self, sockets):
        self.lib = library("libpq.so.5", "PQconnectdb", "PQexec")
        self.lib.PQerrorMessage.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p(
            self.lib.PQconnectdb(f"host={sockets} user=postgres dbname=postgres".encode()))
        assert not self.lib.PQstatus(self.handle), self.lib.PQerrorMessage(self.handle)

    def ask(self, statement):
        result = ctypes.c_void_p(self.lib.PQexec(self.handle, statement.encode()))
        status = self.lib.PQresultStatus(result)
        self.lib.PQclear(result)
        assert status in (self.COMMAND_OK, self.TUPLES_OK), self.lib.PQerrorMessage(self.handle)

    def close(self):
        self.lib.PQfinish(self.handle)


@contextlib.contextmanager
def mariadb(*options, rows=mariadb_server.ROWS, preload=None):
    """The server: its process and its socket. Four tables of sysbench, of that many rows."""
    place = lib.server_place()
    for name in "mariadbd", "sysbench":
        place.find(name)
    if preload:
        place = preloading(preload)
    server = mariadb_server.Server(place, rows)
    try:
        server.start(*options)
        yield server
    finally:
        server.stop()


def preloading(path):
    """Where the server is found with a library loaded before its own."""
    with open("mariadbd", "w") as file:
        file.write(f'#!/bin/sh\nLD_PRELOAD={path} exec {lib.ServerPlace.find("mariadbd")} "$@"\n')
    os.chmod("mariadbd", 0o755)

    class Place(lib.ServerPlace):
        @staticmethod
        def find(name):
            return os.path.abspath(name) if name == "mariadbd" else lib.ServerPlace.find(name)
    return Place


@contextlib.contextmanager
def postgres(*settings):
    """The server: its process, and the directory of its socket. The tables of pgbench."""
    try:
        postgresql_server.Server.program("initdb")
    except processes.Failure as failure:
        raise lib.Skip(str(failure)) from None
    server = postgresql_server.Server(lib.server_place())
    try:
        server.start(*settings)
        yield server
    finally:
        server.stop()
