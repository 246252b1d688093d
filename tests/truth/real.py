#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Servers as Debian has them, each with one slow thing among many fast ones, on loopback or a Unix socket. pinch is
attached for DURATION_S; of its default report only the first three lines of the verdict are read. Holds if they name
the function, or what an owner of the service recognizes it by.

Environment: DURATION_S (5); ONLY and KEEP, as in tests/e2e.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name) for name in ("causes", "e2e", os.path.join("..", "bench"))]
import lib          # noqa: E402
import processes    # noqa: E402
from lib import ServerPlace, main, pinch, read, script, start, test, wait_until     # noqa: E402
from lib_databases import mariadb                                                   # noqa: E402
from lib_loads import Group, Http, Load, RedisClient                                # noqa: E402
from lib_services import nginx, redis, serve_at, service_port, words, write_file    # noqa: E402

DURATION_S = int(os.environ.get("DURATION_S", 5))
VERDICT_LINES = 3
FAST_CLIENTS = 4
# Between two requests of a client.
SLOW_PAUSE_S, FAST_PAUSE_S = 0.05, 0.01


# --- What is asked ------------------------------------------------------------------------------

def one_slow(connect, slow, fast):
    """A client that wants the slow thing, and FAST_CLIENTS."""
    return Load(slow=Group(connect, slow, 1, SLOW_PAUSE_S), fast=Group(connect, fast, FAST_CLIENTS, FAST_PAUSE_S))


# --- What is read -------------------------------------------------------------------------------

def verdict_of(text, lines=VERDICT_LINES):
    """The first lines of the paragraph behind that of the target."""
    paragraph = text.split("\n\n")[1]
    return paragraph.split("\n")[:lines]


def check_verdict(pids, pattern):
    """Traces what runs; pattern: a regular expression that the verdict's first lines have to match."""
    targets = ",".join(str(pid) for pid in pids)
    result = pinch("attach", "--duration", f"{DURATION_S}s", "-o", "report.txt", "-p", targets)
    assert result.status == 0, result.text
    report = read("report.txt")
    lines = verdict_of(report)
    for line in lines:
        lib.print_line(f"# {line}")
    free = re.findall(r"^ *\d+  0 %: .*", report, re.MULTILINE)
    assert not free, f"findings that cost nothing: {free}"
    assert re.search(pattern, " ".join(lines)), f"not in the first {VERDICT_LINES} lines: {pattern}"


# --- Redis --------------------------------------------------------------------------------------

SUM = "local sum = 0; for i = 1, 5000000 do sum = sum + i % 7 end; return sum"


def redis_with(slow, pattern):
    with redis() as (server, path), one_slow(lambda: RedisClient(path), slow, ("GET", "visits:1")):
        check_verdict([server.pid], pattern)


@test("Redis: a script that computes for long")
def redis_script():
    redis_with(("EVAL", SUM, "0"), r"lua|[Ee]val|script")


@test("Redis: KEYS of all keys")
def redis_keys():
    redis_with(("KEYS", "*0*1*2*3*4*5*x"), r"keysCommand|stringmatchlen")


@test("Redis: SORT of a long list")
def redis_sort():
    redis_with(("SORT", "list", "LIMIT", "0", "1"), r"sortCommand|pqsort|sortCompare")


# --- nginx --------------------------------------------------------------------------------------

PAGE_WORDS = 1 << 20


def nginx_with(slow, pattern):
    write_file("files/slow", words(PAGE_WORDS))
    write_file("files/fast", "1")
    with nginx(f"location /slow {{ {slow} }}") as (server, port), one_slow(lambda: Http(port), "/slow", "/fast"):
        check_verdict([server.pid, *processes.children(server.pid)], pattern)


@test("nginx: a large page, compressed as well as gzip can")
def nginx_gzip():
    nginx_with("gzip on; gzip_comp_level 9;", r"deflate|libz")


# Debian's nginx has no symbols of static functions such as ngx_http_sub_body_filter().
@test("nginx: a large page that is searched for much: what calls the filter, and that symbols are missing")
def nginx_sub():
    rules = " ".join(f"sub_filter '{a}{b}{c}z' '';" for a in "abcd" for b in "ijkl" for c in "mnop")
    nginx_with(f"sub_filter_once off; {rules}", r"ngx_\w*(output|filter)")
    verdict = " ".join(verdict_of(read("report.txt"), None))
    assert re.search(r"code of nginx without symbols|ngx_http_sub", verdict), verdict


# --- MariaDB ------------------------------------------------------------------------------------

HEAVY_QUERIES = 1000


def mariadb_with(query, pattern):
    with mariadb() as server:
        with open("queries.sql", "w") as file:
            file.write(f"{query};\n" * HEAVY_QUERIES)
        small = server.sysbench("run", threads=4) + ["--rate=200"]
        small[small.index("oltp_read_write")] = "oltp_point_select"
        with open("queries.sql") as queries, open("load.txt", "wb") as output:
            start(ServerPlace.find("mariadb"), "--no-defaults", f"--socket={server.socket}", "--user=root",
                  "--unbuffered", "sbtest", stdin=queries, stdout=output, stderr=output)
            start(*small, stdout=output, stderr=output)
        wait_until(lambda: "COUNT" in read("load.txt"), "an answer to the heavy query")
        check_verdict([server.process.pid], pattern)
        lib.stop_all()      # the server waits for those that are connected


@test("MariaDB: a query with a regular expression for each row")
def mariadb_regexp():
    mariadb_with("SELECT COUNT(*) FROM sbtest1 WHERE c REGEXP '([0-9]+-)+9{5}$'", r"(?i)regex|pcre")


@test("MariaDB: a join without an index")
def mariadb_join():
    mariadb_with("SELECT COUNT(*) FROM sbtest1 a JOIN sbtest2 b ON a.c < b.c WHERE a.id <= 500",
                 r"JOIN|join|sub_select|evaluate_")


# --- Interpreters -------------------------------------------------------------------------------

def web(*command, pattern, port=None):
    port = port or service_port()
    server = serve_at(port, *(port if part == "PORT" else part for part in command))
    with one_slow(lambda: Http(port), "/slow", "/fast"):
        check_verdict([server.pid], pattern)


@test("a web server in Python with one slow view")
def python_view():
    web("/usr/bin/python3", script("web_view.py"), "PORT", pattern=r"\bslow_view\b")


@test("the same on a port as clients get: to wait for requests is no bottleneck")
def python_view_ephemeral():
    web("/usr/bin/python3", script("web_view.py"), "PORT", pattern=r"\bslow_view\b", port=processes.free_port())
    assert "SocketIO" not in " ".join(verdict_of(read("report.txt"))), verdict_of(read("report.txt"))


@test("Node.js: a function that parses 20 MB of JSON")
def node_parse():
    web(ServerPlace.find("node"), script("web_parse.js"), "PORT", 20, pattern=r"\bimportOrders\b")


if __name__ == "__main__":
    sys.exit(main())
