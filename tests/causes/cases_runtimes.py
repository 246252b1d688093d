# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs in Python, Java, Go, JavaScript and Ruby, each with one planted cause."""
import functools
import os

import lib
from lib_causes import Truth, case
from lib_loads import Group, Http
from lib_programs import Lines, asked, plant, served, started, target, tool
from lib_services import planted, python as python_service, service_port

# A JIT compiler is done by then; with methods that are called seldom, too.
WARM_LINES, SELDOM_LINES = 25, 90

# --- Python -------------------------------------------------------------------------------------


def python(name):
    return lambda: ["/usr/bin/python3", planted(name)]


plant("python: four threads compute", python("gil_threads.py"), {"lock", "code"}, [r"\bGIL\b", r"score_rows"],
      quick=True, misleads="waits for the GIL have a timeout of 5 ms, and are repeated: they look idle",
      verified="2.5 threads want a CPU, 4.7 without it")
plant("python: a call that keeps the GIL for long", python("gil_call.py"), {"lock", "code"},
      [r"\bGIL\b", r"sign_export|long_pow"], misleads="the same; most calls of the others are short",
      verified="562 units a second, 6143 without it")
plant("python: a pool of processes with one long task", python("scene_pool.py"), {"code"}, [r"render_scene"],
      misleads="processes that wait for a pipe or a semaphore are idle, as a rule",
      verified="1.2 threads want a CPU, 2.1 without it")
plant("python: an SQLite data base that a transaction keeps locked", python("order_book.py"), {"lock", "code"},
      [r"orders\.db", r"add_up_totals"], misleads="who finds it locked sleeps and tries again: a timer",
      verified="61.9 units a second, 746 without it")
plant("python: very many objects, and a collector of cycles that visits all of them", python("object_cycles.py"),
      {"code", "memory"}, [r"garbage|\bgc_|\bGC\b"], misleads="it is a part of each function that makes objects",
      verified="")


@case("python: a coroutine's server calls what sleeps", quick=True, truth=Truth({"timer"}, [r"load_profile"]),
      misleads="one thread, which is hardly on a CPU: it looks idle", verified="42.7 units a second, 180 without it")
def blocked_loop(where, fault=True):
    port = service_port()
    with served("/usr/bin/python3", planted("blocked_loop.py"), port, port=port, fault=fault) as server:
        yield from asked(server, clients=Group(functools.partial(Lines, port), b"profile", 4, 0))


@case("python: four threads ask a slow server, with a timeout", truth=Truth({"network"}, [r"127\.0\.0\.1"]),
      misleads="a socket with a timeout is polled before it is read: it looks idle",
      verified="76.7 units a second, 635 without it")
def slow_server(where, fault=True):
    port = service_port()
    with served("/usr/bin/python3", planted("price_server.py"), port, port=port, fault=fault, output="server"), \
            started("/usr/bin/python3", planted("price_client.py"), port) as client:
        yield target(client, names=[str(port)])


plant("python: a queue that is full, behind one thread that compresses", python("report_queue.py"), {"code"},
      [r"compress_report"], misleads="four threads wait for a condition of the queue, in C code of the interpreter",
      verified="7.7 units a second, 87.3 without it")


plant("python: an executor of two threads whose tasks sleep", python("quote_pool.py"), {"timer"}, [r"fetch_quote"],
      misleads="who waits for a result waits for a condition; nothing runs", verified="96.1 units a second, 1421 without it")


@case("python: a service that runs a command for each request", truth=Truth({"timer", "process"}, [r"render_label|sleep"]),
      misleads="threads wait for a child, and the child for a timer: all look idle", verified="25.3 units a second, 527 without it")
def runs_commands(where, fault=True):
    port = service_port()
    with served("/usr/bin/python3", planted("command_service.py"), port, port=port, fault=fault) as server:
        yield from asked(server, clients=Group(functools.partial(Lines, port), b"label", 4, 0))


# --- Java ---------------------------------------------------------------------------------------

def java(name, title, kinds, names, *options, misleads, verified, ready_lines=WARM_LINES):
    """A case with a class of tests/causes/programs. options: of the virtual machine."""
    def function(where, fault=True):
        classes = os.path.join(lib.PROGRAMS, "causes", "java")
        command = [tool("java"), *options, "-cp", classes, name]
        with started(*command, fault=fault, ready_lines=ready_lines) as process:
            yield target(process)

    case(f"java: {title}", truth=Truth(kinds, names), misleads=misleads, verified=verified)(function)


java("PartnerCalls", "an executor of two threads whose tasks sleep", {"timer"},
     [r"sleep", r"pool-1-thread|callPartner"],
     misleads="all threads look idle: nothing runs", verified="39.0 units a second, 840 without it",
     ready_lines=SELDOM_LINES)
java("Ledger", "a synchronized method that takes nearly all of the time", {"lock", "code"}, [r"Ledger"],
     misleads="threads of the virtual machine and its compilers wait longest",
     verified="363 units a second, 876 without it")
java("Sessions", "a heap that is nearly full", {"code", "memory"}, [r"\bGC\b|garbage|collect|VM Thread"], "-Xmx160m",
     "-XX:+UseSerialGC", misleads="threads wait for a safepoint, by a condition",
     verified="the collector stops all threads for 54 % of the time, 3 % without it")
java("AuditLog", "each line of a log is synced, under a lock", {"file"}, [r"audit\.log"],
     misleads="three of four threads wait for the monitor", verified="1142 units a second, 13683 without it")
java("Tiles", "a parallel stream with one slow element", {"code"}, [r"renderCoast|Tiles"],
     misleads="the pool's threads wait for work, as idle ones do", verified="1.6 threads want a CPU, 2.0 without it")

# --- Go -----------------------------------------------------------------------------------------

plant("go: a mutex that is held nearly all of the time", "go/route_cache", {"lock", "code"}, [r"expireRoutes"],
      misleads="goroutines wait, the runtime's threads sleep on futexes of their own",
      verified="1.7 threads want a CPU, 2.3 without it")
plant("go: a channel with one slow consumer", "go/chunk_stream", {"code"}, [r"compressChunk"],
      misleads="threads of the runtime are idle", verified="1.5 threads want a CPU, 2.2 without it")
plant("go: each event is synced to the disk, under a mutex", "go/event_journal", {"file"}, [r"events\.journal"],
      misleads="the runtime hands the processor to another thread in a system call: many threads, mostly idle",
      verified="1078 units a second, 12799 without it")
plant("go: GOMAXPROCS=1", "go/one_processor", {"cpu", "cpu-limit"}, [r"GOMAXPROCS|goroutines"],
      env={"GOMAXPROCS": "1"}, misleads="one thread runs all the time, one CPU is idle, nobody waits for a CPU",
      verified="1.1 threads want a CPU, 2.3 without it")
plant("go: a heap that is collected again and again", "go/session_heap", {"code", "memory"}, [r"garbage|\bgc[A-Z]|\bGC\b"],
      misleads="all CPUs are used, in functions of the runtime, by threads of its own", verified="")

plant("go: a mutex that is held while its owner sleeps", "go/token_store", {"timer"}, [r"renewToken", r"Mutex"],
      misleads="no thread waits: goroutines sleep without one", verified="48.3 units a second, 372 without it")


@case("go: eight goroutines have one connection to a slow service", truth=Truth({"network"}, [r"127\.0\.0\.1"]),
      misleads="goroutines wait for the connection without a thread: nothing but the poller is to be seen", verified="46.7 units a second, 371 without it")
def go_connection(where, fault=True):
    with python_service("http_peer.py", 0.02) as (_, port), \
            started(lib.program("causes/go/one_connection"), port, fault=fault) as client:
        yield target(client, names=[str(port)])


# --- Node.js ------------------------------------------------------------------------------------

def node(name, fault, **requests):
    """requests: of groups of clients."""
    port = service_port()
    clients = {kind: Group(functools.partial(Http, port), path, count, 0) for kind, (path, count) in requests.items()}
    with served(tool("node"), planted(name), port, port=port, fault=fault) as server:
        yield from asked(server, **clients)


@case("node: JSON.parse() of 8 MB", truth=Truth({"code"}, [r"json_?pars"]),
      misleads="one thread, in an event loop", verified="10.3 units a second, 1096 without it")
def node_parse(where, fault=True):
    yield from node("order_import.js", fault, imports=("/import", 1), users=("/", 4))


@case("node: files written and synced by calls that block", truth=Truth({"file"}, [r"sessions\.json"]),
      misleads="the pool's threads, which wait for work", verified="312 units a second, 1148 without it")
def node_sync(where, fault=True):
    yield from node("session_store.js", fault, users=("/", 4))


@case("node: a pool that is full of hashes of passwords, and files wait for it", truth=Truth({"code"}, [r"pbkdf2"]),
      misleads="the event loop waits in epoll, as an idle one does", verified="4.0 units a second, 340 without it")
def node_pool(where, fault=True):
    yield from node("password_pool.js", fault, logins=("/login", 6), users=("/", 2))


@case("node: 3 MB compressed by a call that blocks", truth=Truth({"code"}, [r"exportOrders|gzipSync|deflate"]),
      misleads="one thread, in an event loop", verified="9.3 units a second, 358 without it")
def node_gzip(where, fault=True):
    yield from node("export_gzip.js", fault, exports=("/export", 1), users=("/", 4))


@case("node: a command that the event loop waits for",
      truth=Truth({"timer", "process"}, [r"printLabel|execSync|spawnSync|\bsleep\b"]),
      misleads="the loop waits in epoll, for the end of a child", verified="40.6 units a second, 723 without it")
def node_exec(where, fault=True):
    yield from node("exec_server.js", fault, labels=("/label", 1), users=("/", 4))


plant("node: a heap that is nearly full", lambda: [tool("node"), "--max-old-space-size=120", planted("session_heap.js")],
      {"code", "memory"}, [r"garbage|\bGC\b|MarkCompact|Scaveng"],
      misleads="it is a part of the function that allocates, and threads of V8 help", verified="")


# --- Ruby ---------------------------------------------------------------------------------------

def ruby(name):
    return lambda: [tool("ruby"), planted(name)]


plant("ruby: four threads compute", ruby("score_threads.rb"), {"lock", "code"},
      [r"\bGVL\b|thread_sched", r"score_rows"],
      misleads="waits for the lock look like waits for a condition, of a timer's thread, too",
      verified="1.1 threads want a CPU, 2.7 without it")
plant("ruby: a mutex that is held while a file is synced", ruby("ledger_file.rb"), {"file"}, [r"ledger\.dat"],
      misleads="three of four threads wait for the mutex, all of them for conditions of the virtual machine",
      verified="1215 units a second, 30841 without it")


@case("ruby: a server that sleeps before each answer", truth=Truth({"timer"}, [r"back_off"]),
      misleads="a sleep is idle, as a rule, and so is a thread that waits for its client",
      verified="111 units a second, 6992 without it")
def ruby_sleep(where, fault=True):
    port = service_port()
    with served(tool("ruby"), planted("retry_server.rb"), port, port=port, fault=fault) as server:
        yield from asked(server, clients=Group(functools.partial(Lines, port), b"retry", 4, 0))


@case("ruby: a server whose threads sleep in turns, under a mutex", truth=Truth({"timer", "lock"}, [r"wait_turn"]),
      misleads="all but one wait for a mutex; who has it sleeps, and that looks idle", verified="77.3 units a second, 240 without it")
def ruby_turns(where, fault=True):
    port = service_port()
    with served(tool("ruby"), planted("rate_limit.rb"), port, port=port, fault=fault) as server:
        yield from asked(server, clients=Group(functools.partial(Lines, port), b"turn", 6, 0))
