#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Servers as Debian has them, each with one slow thing among many fast ones, on loopback or a Unix socket. pinch is
attached for DURATION_S; of its default report only the first three lines of the verdict are read. Holds if they name
the function, or what an owner of the service recognizes it by.

Environment: DURATION_S (5); ONLY and KEEP, as in tests/e2e.
"""
import contextlib
import http.client
import os
import random
import re
import socket
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench"))
import lib          # noqa: E402
import mariadb      # noqa: E402  starts and stops a server of its own
import processes    # noqa: E402
from lib import ServerPlace, main, pinch, read, script, start, test, wait_until     # noqa: E402

DURATION_S = int(os.environ.get("DURATION_S", 5))
VERDICT_LINES = 3
FAST_CLIENTS = 4
# Between two requests of a client.
SLOW_PAUSE_S, FAST_PAUSE_S = 0.05, 0.01


# --- What is asked ------------------------------------------------------------------------------

class Load:
    """
    Clients in threads of their own until the block ends: one that wants the slow thing, and FAST_CLIENTS. Each has
    what connect() gave: a function that asks once and waits for the answer.
    """

    def __init__(self, connect, slow, fast):
        self.end = threading.Event()
        self.answers = {"slow": 0, "fast": 0}
        self.error = None
        wanted = [("slow", slow, SLOW_PAUSE_S)] + [("fast", fast, FAST_PAUSE_S)] * FAST_CLIENTS
        self.threads = [threading.Thread(target=self.ask, args=(connect, *client)) for client in wanted]

    def ask(self, connect, kind, request, pause_s):
        try:
            with contextlib.closing(connect()) as server:
                while not self.end.is_set():
                    server.ask(request)
                    self.answers[kind] += 1
                    self.end.wait(pause_s)
        except Exception as error:      # of a thread: said by check()
            self.error = error

    def check(self):
        assert not self.error, f"a client: {self.error!r}"
        return min(self.answers.values())

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        wait_until(self.check, "answers")
        return self

    def __exit__(self, *_):
        self.end.set()
        for thread in self.threads:
            thread.join(lib.LIMIT_S)


class Http:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=lib.LIMIT_S)

    def ask(self, request):
        self.connection.request("GET", request, headers={"Accept-Encoding": "gzip"})
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200 and body, (request, answer.status)

    def close(self):
        self.connection.close()


class Redis:
    """Its protocol, as far as these tests need it: https://redis.io/docs/reference/protocol-spec."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(lib.LIMIT_S)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def ask(self, words):
        parts = [f"${len(word)}\r\n{word}\r\n" for word in words]
        self.socket.sendall(f"*{len(parts)}\r\n{''.join(parts)}".encode())
        return self.answer()

    def answer(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:].strip()
        assert kind and kind in b"+:$*", line
        if kind == b"$" and int(rest) >= 0:
            return self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        return rest

    def close(self):
        self.file.close()
        self.socket.close()


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


def service_port():
    """A free one below those that clients get, as services have."""
    for port in range(20000 + os.getpid() % 10000, 32768):
        with socket.socket() as listener:
            with contextlib.suppress(OSError):
                listener.bind(("127.0.0.1", port))
                return port
    raise AssertionError("no port is free")


def serve(*command, port):
    """A server that accepts on loopback."""
    with open("log", "wb") as log:
        server = start(*command, stdout=log, stderr=log)
    wait_until(lambda: processes.connects(port) or server.poll() is not None, f"{command[0]} to accept")
    assert server.poll() is None, read("log", "rb")
    return server


# --- Redis --------------------------------------------------------------------------------------

KEYS = 200000
FILL = f"for i = 1, {KEYS} do redis.call('set', 'visits:' .. i, i); redis.call('rpush', 'list', i * 7919 % 10007) end"
SUM = "local sum = 0; for i = 1, 5000000 do sum = sum + i % 7 end; return sum"


def accepts(path):
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(path) == 0


def redis(slow, pattern):
    path = os.path.abspath("socket")
    with open("log", "wb") as log:
        server = start(ServerPlace.find("redis-server"), "--port", "0", "--unixsocket", path, "--save", "",
                       "--dir", os.getcwd(), stdout=log, stderr=log)
    wait_until(lambda: accepts(path) or server.poll() is not None, "redis-server to accept")
    assert server.poll() is None, read("log")
    with contextlib.closing(Redis(path)) as client:
        client.ask(("EVAL", FILL, "0"))
    with Load(lambda: Redis(path), slow, ("GET", "visits:1")):
        check_verdict([server.pid], pattern)


@test("Redis: a script that computes for long")
def redis_script():
    redis(("EVAL", SUM, "0"), r"lua|[Ee]val|script")


@test("Redis: KEYS of all keys")
def redis_keys():
    redis(("KEYS", "*0*1*2*3*4*5*x"), r"keysCommand|stringmatchlen")


@test("Redis: SORT of a long list")
def redis_sort():
    redis(("SORT", "list", "LIMIT", "0", "1"), r"sortCommand|pqsort|sortCompare")


# --- nginx --------------------------------------------------------------------------------------

NGINX_CONF = """
daemon off; worker_processes 1; pid {directory}/pid; error_log {directory}/errors;
events {{ worker_connections 64; }}
http {{
    access_log off; client_body_temp_path {directory}/tmp; proxy_temp_path {directory}/tmp;
    fastcgi_temp_path {directory}/tmp; uwsgi_temp_path {directory}/tmp; scgi_temp_path {directory}/tmp;
    types {{ }} default_type text/html;
    server {{
        listen 127.0.0.1:{port}; root {directory}/files;
        location /slow {{ {slow} }}
    }}
}}
"""
PAGE_WORDS = 1 << 20


def page():
    """Text that compresses as a page does."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnop", k=rng.randint(2, 9))) for _ in range(5000)]
    return " ".join(rng.choices(words, k=PAGE_WORDS))


def nginx(slow, pattern):
    directory, port = lib.server_place().directory, service_port()
    os.makedirs("files", 0o755)
    for name, text in (("slow", page()), ("fast", "1")):
        with open(os.path.join("files", name), "w") as file:
            file.write(text)
    with open("nginx.conf", "w") as file:
        file.write(NGINX_CONF.format(directory=directory, port=port, slow=slow))
    server = serve(ServerPlace.find("nginx"), "-e", os.path.abspath("errors"), "-c", os.path.abspath("nginx.conf"),
                   port=port)
    workers = wait_until(lambda: processes.children(server.pid), "a worker")
    try:
        with Load(lambda: Http(port), "/slow", "/fast"):
            check_verdict([server.pid, *workers], pattern)
    finally:
        lib.stop(server, 15)    # with its worker


@test("nginx: a large page, compressed as well as gzip can")
def nginx_gzip():
    nginx("gzip on; gzip_comp_level 9;", r"deflate|libz")


# Debian's nginx has no symbols of static functions such as ngx_http_sub_body_filter().
@test("nginx: a large page that is searched for much: what calls the filter, and that symbols are missing")
def nginx_sub():
    rules = " ".join(f"sub_filter '{a}{b}{c}z' '';" for a in "abcd" for b in "ijkl" for c in "mnop")
    nginx(f"sub_filter_once off; {rules}", r"ngx_\w*(output|filter)")
    verdict = " ".join(verdict_of(read("report.txt"), None))
    assert re.search(r"code of nginx without symbols|ngx_http_sub", verdict), verdict


# --- MariaDB ------------------------------------------------------------------------------------

HEAVY_QUERIES = 1000


def mariadb_with(query, pattern):
    server = mariadb.Server(lib.server_place())
    try:
        server.start()
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
    finally:
        server.stop()
        processes.stop_all()


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
    server = serve(*(port if part == "PORT" else part for part in command), port=port)
    with Load(lambda: Http(port), "/slow", "/fast"):
        check_verdict([server.pid], pattern)


@test("a web server in Python with one slow view")
def python_view():
    web("/usr/bin/python3", script("web_view.py"), "PORT", pattern=r"\bslow_view\b")


@test("the same on a port as clients get: to wait for requests is no bottleneck")
def python_view_ephemeral():
    web("/usr/bin/python3", script("web_view.py"), "PORT", pattern=r"\bslow_view\b", port=processes.free_port())
    assert "SocketIO" not in " ".join(verdict_of(read("report.txt"))), verdict_of(read("report.txt"))


@test("Node.js: JSON.parse() of 20 MB")
def node_parse():
    web(ServerPlace.find("node"), script("web_parse.js"), "PORT", 20, pattern=r"(?i)json_?pars")


if __name__ == "__main__":
    sys.exit(main())
