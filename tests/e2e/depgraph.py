#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The use cases of DepGraph (Ezzati-Jivan and others, 2021, section V) on real programs, each a server or
more of our own on loopback: what slow periods and requests waited for, and who was at the bottom of it.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

import lib
from graph_model import anywhere, below, graph, heaviest, part, path, picture, start_recording, \
    stop_recording
from lib import Skip, program, read_line, start, stop, test

sys.path.insert(0, os.path.join(lib.ROOT, "bench"))
import apache   # noqa: E402

# What an interrupted or busy CPU may add to a wait that the kernel times.
SLACK_NS = 500_000 + lib.JITTER_NS


def installed(name):
    return lib.ServerPlace.find(name)


def share_of(node, begin):
    return sum(part["ns"] for part in anywhere(node, begin)) / node["ns"]


# --- Contention for a CPU -------------------------------------------------------------------------

CYCLES, SLOW_NS, FAST_NS = 2000, 2_000_000, 500_000


def last_cpu():
    return max(os.sched_getaffinity(0))


def start_urgent():
    process = start(program("urgent_task"), last_cpu(), stdout=subprocess.PIPE)
    if read_line(process) != b"urgent\n":
        raise Skip("a process cannot come before all others here")
    return process


def record_cycles(*options):
    """How late each cycle was, in ns, as cyclictest says."""
    result = lib.pinch("record", "-q", "-o", "t.pinch", "--system", *options, "--", installed("cyclictest"), "-t1", "-v",
                       "-p", 50, "-a", last_cpu(), "-i", 1000, "-l", CYCLES)
    assert result.status == 0, result.text
    late = [1000 * int(us) for us in re.findall(rb"^\s*0:\s*\d+:\s*(\d+)", result.out, re.M)]
    assert len(late) == CYCLES, result.text
    return late


def slow_cycles(parts):
    """When a timer had woken it, and it waited for a CPU; the first one had not its priority yet."""
    return [(after["begin_ns"], after["end_ns"]) for before, after in zip(parts, parts[1:])
            if before["end"] == "timer" and after["kind"] == "cpu" and
            after["end_ns"] - after["begin_ns"] > SLOW_NS]


def fast_cycles(parts):
    """The longest time without a long wait for a CPU."""
    long = [p for p in parts if p["kind"] == "cpu" and p["end_ns"] - p["begin_ns"] > FAST_NS]
    return max(((a["end_ns"], b["begin_ns"]) for a, b in zip(long, long[1:])), key=lambda gap: gap[1] - gap[0])


@test("cyclictest and a more urgent task that a timer wakes: slow cycles wait for its CPU, others do not")
def cpu_contention():
    urgent = start_urgent()
    late = record_cycles()
    stop(urgent)
    root = graph()
    thread = max(root["children"], key=lambda t: heaviest(t, "sleep")["count"])
    wait = heaviest(thread, "waiting for a CPU")
    assert heaviest(wait, "urgent")["ns"] > 0.5 * wait["ns"], picture(root)

    parts = path("--thread", thread["thread"])[0]["parts"]
    slow = slow_cycles(parts)
    assert len(slow) > CYCLES / 100, f"{len(slow)} slow cycles"
    periods = [graph("--thread", thread["thread"], *part(root["from_ns"], *cycle)) for cycle in slow]
    # Now and then it is another one's, or was a thread's that the kernel shows to no tracer.
    found = [period for period in periods if share_of(period, "urgent") > 0.8]
    assert len(found) > 0.8 * len(slow), "\n".join([f"{len(found)} of {len(slow)}", *map(picture, periods)])
    # In the middle: a virtual machine's timer is late by itself now and then.
    waits = [end - begin for begin, end in slow]
    waited_ns, late_ns = statistics.median(waits), statistics.median(ns for ns in late if ns > SLOW_NS)
    assert abs(waited_ns - late_ns) < 0.2 * late_ns, (waits, late)
    assert max(waits) < max(late) + SLACK_NS, (waits, late)
    begin, end = fast_cycles(parts)
    between = graph("--thread", thread["thread"], *part(root["from_ns"], begin, end))
    assert end - begin > SLOW_NS and share_of(between, "urgent") < 0.02, (end - begin, picture(between))
    assert heaviest(graph("--thread", "urgent"), "sleep", "timer")["count"] >= len(slow) - 1


def libc():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if "/libc.so.6" in line)


def compared(*options):
    """What a user reads who knows when nothing was slow: the words of reasons, and the groups."""
    result = lib.pinch("compare", "--json", "-", *options, "t.pinch")
    assert result.status == 0, result.text
    reported = lib.parse(result.out, "compare")
    return [reason["words"] for reason in reported["reasons"]], reported


@test("cyclictest again: of cycles in groups by how long they waited for a CPU, the slow ones waited for who had it")
def cpu_contention_by_groups():
    urgent = start_urgent()
    record_cycles("--span", f"cycle={libc()}:clock_nanosleep")
    stop(urgent)
    thread = max(graph()["children"], key=lambda t: heaviest(t, "sleep")["count"])["thread"]
    # Its main thread sleeps as often for longer: these cycles have no business in a group with the others.
    unchosen = lib.pinch("compare", "t.pinch").out.decode()
    assert "No thread has executions of both" in unchosen and f": --thread {thread} (cyclictest" in unchosen, unchosen
    words, reported = compared("--feature", "cpu.waiting", "--groups", 2, "--thread", thread)
    sizes = [group["duration_ns"]["n"] for group in reported["groups"]]
    assert sum(sizes) > 0.9 * CYCLES and sizes[1] > CYCLES / 100, sizes
    assert words and " more waiting for a CPU that urgent" in words[0], words
    print(f"# {sizes} cycles; {words[0]}")


def first_line(*options):
    """All that a user reads who is in a hurry."""
    result = lib.pinch("compare", *options, "t.pinch")
    assert result.status == 0, result.text
    return result.out.decode().split("\n", 1)[0]


def users(reported, kind, name):
    """The mean wait for it in a fast and in a slow execution, in ns."""
    nodes = reported["nodes"]
    found = [node for node in nodes if node["label"].startswith(name) and nodes[node["parent"]]["kind"] == kind]
    return [sum(node[side]["mean"] for node in found) for side in ("first", "second")]


def durations(reported):
    """Of the groups that are compared, the fastest and the slowest one, in ns."""
    return [reported["groups"][at]["duration_ns"]["mean"] for at in (0, -1)]


@test("cyclictest, of which nothing is known: the first line of a comparison of its cycles names who had the CPU")
def cpu_contention_compared():
    urgent = start_urgent()
    late = [ns for ns in record_cycles() if ns > SLOW_NS]
    stop(urgent)
    line, (words, reported) = first_line("--cycle", "sleep"), compared("--cycle", "sleep")
    print(f"# {line}")
    assert " more waiting for a CPU that urgent threads have" in line, line
    sizes = [group["duration_ns"]["n"] for group in reported["groups"]]
    fast_ns, slow_ns = durations(reported)
    assert sum(sizes) > 0.9 * CYCLES and sizes[-1] >= 0.8 * len(late), (sizes, len(late))
    assert abs(slow_ns - statistics.mean(late)) < 0.3 * slow_ns and slow_ns > 10 * fast_ns, (fast_ns, slow_ns, late)
    fast_urgent_ns, slow_urgent_ns = users(reported, "cpu", "urgent")
    assert slow_urgent_ns > 0.5 * slow_ns and fast_urgent_ns < 0.1 * fast_ns, (fast_urgent_ns, slow_urgent_ns, words)


# --- Contention for a disk ------------------------------------------------------------------------

SERVED, SERVED_BYTES = 400, 32 << 10

# Trees that are searched at a time, files in each, and their bytes: what a disk does beside its work for Apache, and
# so much that its queue is long.
LITTLE, MUCH = (2, 50, 1 << 20), (6, 4, 8 << 20)


def make_tree(directory, count, size):
    os.makedirs(directory)
    line = b"some words of no importance\n"
    for number in range(count):
        with open(os.path.join(directory, str(number)), "wb") as file:
            file.write(line * (size // len(line)))
            os.fsync(file.fileno())


def forget(directory):
    """The files of a tree must be read from the disk again."""
    for entry in os.scandir(directory):
        with open(entry.path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def get_all(port):
    """When that was, in ns."""
    forget("served")
    begin_ns = time.monotonic_ns()
    for number in range(SERVED):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{number}", timeout=lib.LIMIT_S) as answer:
            assert answer.read()
    return begin_ns, time.monotonic_ns()


def get_all_beside_grep(port, trees):
    done = threading.Event()

    def search(tree):
        while not done.is_set():
            forget(tree)
            start(installed("grep"), "-r", "nothing to be found", tree, env={"LC_ALL": "C"}).wait()

    searchers = [threading.Thread(target=search, args=(tree,)) for tree in trees]
    for searcher in searchers:
        searcher.start()
    try:
        return get_all(port)
    finally:
        done.set()
        for searcher in searchers:
            searcher.join()


def record_served(span, count, files, size):
    """The options of a graph for the time without grep and for that with it."""
    lib.disk_directory()
    place = lib.server_place()
    make_tree("served", SERVED, SERVED_BYTES)
    trees = [f"searched{number}" for number in range(count)]
    for tree in trees:
        make_tree(tree, files, size)
    server = apache.Server(place, os.path.abspath("served"), 2)
    try:
        server.start()
        # How long it waits for a CPU is up to whoever else is at work here.
        for pid in server.pids():
            os.sched_setscheduler(int(pid), os.SCHED_FIFO, os.sched_param(1))
        recorder = start_recording(server.pids(), "--system", "--span", f"request={span}")
        alone, beside = get_all(server.port), get_all_beside_grep(server.port, trees)
        stop_recording(recorder)
    finally:
        server.stop()
    from_ns = graph()["from_ns"]
    return part(from_ns, *alone), part(from_ns, *beside)


def disk_time(root, *user):
    """How long workers waited for files that the disk read, or how much of that it read for somebody."""
    return sum(node["ns"] for node in below(root, "apache", "file read", "disk", *user))


@test("Apache and a grep through a tree, from a cold cache: below the disk is grep with its share")
def disk_contention():
    alone, beside = (graph("--merge", *options) for options in record_served("accept4..close", *LITTLE))
    assert disk_time(alone) and not disk_time(alone, "grep"), picture(alone)
    all_ns, grep_ns = disk_time(beside), disk_time(beside, "grep")
    print(f"# of the waiting for the disk it had work for grep in {grep_ns / all_ns:.0%}")
    assert grep_ns > 0.05 * all_ns, picture(beside)
    others_ns = all_ns - sum(disk_time(beside, user) for user in ("grep", "apache", "no disk"))
    assert grep_ns > others_ns, (grep_ns, others_ns)
    words, reported = compared("--feature", "lost.file", "--groups", 2)
    fast_ns, slow_ns = users(reported, "disk", "grep")
    print(f"# groups of {[group['duration_ns']['n'] for group in reported['groups']]} requests wait {fast_ns / 1e3:.0f} and "
          f"{slow_ns / 1e3:.0f} us for a disk that serves grep; {[word for word in words if 'disk' in word][:1]}")
    assert slow_ns > 2 * fast_ns, (fast_ns, slow_ns, words)
    assert any("served/*" in word and "waiting for the disk that also serves grep threads" in word for word in words), words


@test("Apache and greps that keep the disk busy: the first line of a comparison of requests names grep and the disk")
def disk_contention_compared():
    alone, _ = record_served("read(fd=socket)..shutdown(fd=same)", *MUCH)
    line, (words, reported) = first_line(), compared()
    print(f"# {line}")
    assert "file read" in line and "served/*" in line, line
    assert "waiting for the disk that also serves grep threads" in line, line
    fast_ns, slow_ns = durations(reported)
    assert slow_ns > 3 * fast_ns, reported["groups"]
    # All that waiting is one reason, whether its call paths were recorded or not.
    assert sum("file read" in reason for reason in words) == 1, words
    share = reported["reasons"][0]["change"] / (slow_ns - fast_ns)
    print(f"# {share:.0%} of the difference")
    assert share > 0.5, (reported["groups"], words)
    fast_grep_ns, slow_grep_ns = users(reported, "disk", "grep")
    assert slow_grep_ns > 0.1 * slow_ns and fast_grep_ns < 0.1 * fast_ns, (fast_grep_ns, slow_grep_ns, words)
    # Of requests without grep none is slow for it.
    by_duration = lib.pinch("compare", "--feature", "duration", *alone, "t.pinch")
    assert by_duration.status == 0 and b"grep" not in by_duration.out, by_duration.out.decode()


# --- Contention for a lock ------------------------------------------------------------------------

# A client a worker. All ask at once, each for a script of its own, again and again.
WORKERS = SCRIPTS = 6
ROUNDS, CHANGED_EACH, FUNCTIONS, LOOPS = 40, 5, 12, 100

# A script is compiled to machine code while the cache is locked, which takes several times as long as all
# that comes before without the lock: who waits, waits for the lock and leaves the CPUs to who has it.
OPCACHE = """
opcache.memory_consumption={megabytes}
opcache.interned_strings_buffer=4
opcache.max_wasted_percentage=1
opcache.revalidate_freq=0
opcache.file_update_protection=0
opcache.optimization_level=0
opcache.jit=function
opcache.jit_buffer_size=64M
"""

# The clock is the trace's.
INDEX = """<?php
$begin = hrtime(true);
include 'part' . (int)$_GET['part'] . '.php';
echo getmypid(), ' ', $begin, ' ', hrtime(true);
"""
RESTARTS = "<?php echo opcache_get_status(false)['opcache_statistics']['oom_restarts'];"
LOOP = "for ($i = $a; $i < $b; $i++) {{ $a += $b * $i; $b = $a - $i; if ($a > {0}) {{ $b -= $a; }} }}\n"


def write_script(name, *parts):
    with open(f"scripts/{name}.php", "w", encoding="utf-8") as file:
        file.writelines(parts)


def make_scripts():
    """Eight megabytes less the strings are just enough for all of them, and not for a changed one besides."""
    os.mkdir("scripts")
    write_script("index", INDEX)
    write_script("restarts", RESTARTS)
    loops = "".join(map(LOOP.format, range(LOOPS)))
    for number in range(SCRIPTS):
        write_script(f"part{number}", "<?php\n",
                     *(f"function f{i}($a, $b) {{ {loops} return $b; }}\n" for i in range(FUNCTIONS)))


def get(port, page):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=lib.LIMIT_S) as answer:
        return answer.read()


def get_script(port, number):
    """The process that answered, and from when to when it made the answer."""
    return tuple(map(int, get(port, f"index.php?part={number}").split()))


def change_script(turn):
    """One of them, each so many turns, by a second: PHP examines no less."""
    if turn % CHANGED_EACH == 0:
        name = f"scripts/part{turn // CHANGED_EACH % SCRIPTS}.php"
        changed_ns = os.stat(name).st_mtime_ns + 1_000_000_000
        os.utime(name, ns=(changed_ns, changed_ns))


def get_scripts(port, client, together, requests):
    for turn in range(ROUNDS):
        together.wait(lib.LIMIT_S)
        requests.append(get_script(port, (client + turn) % SCRIPTS))


def record_scripts(megabytes):
    """
    The requests, shortest first, and how often the cache began again: it has no space for what was changed,
    and does so as soon as no worker is at work, between two turns. In the next one all is compiled.
    """
    requests, turns = [], iter(range(ROUNDS))
    together = threading.Barrier(WORKERS, lambda: change_script(next(turns)))
    server = apache.Server(lib.ServerPlace, os.path.abspath("scripts"), WORKERS,
                           OPCACHE.format(megabytes=megabytes))
    try:
        server.start()
        for number in range(SCRIPTS):
            get_script(server.port, number)
        recorder = start_recording(server.pids(), "--span", "request=accept4..close")
        clients = [threading.Thread(target=get_scripts, args=(server.port, client, together, requests))
                   for client in range(WORKERS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        stop_recording(recorder)
        restarts = int(get(server.port, "restarts.php"))
    finally:
        server.stop()
    assert len(requests) == WORKERS * ROUNDS, f"{len(requests)} answers"
    return sorted(requests, key=lambda request: request[2] - request[1]), restarts


def graph_of(request, origin_ns):
    pid, *times = request
    return graph("--thread", pid, *part(origin_ns, *times))


def lock_waits(thread):
    return below(thread, "lock fcntl")


def lock_ns(graphs):
    return sum(node["ns"] for root in graphs for node in lock_waits(root))


def check_slow(slow):
    """Most of what they wait for is the lock, and all of that waiting other workers end."""
    waits = [wait for root in slow for wait in lock_waits(root)]
    others_ns = sum(other["ns"] for wait in waits for other in below(wait, "apache2"))
    assert others_ns > 0.9 * lock_ns(slow), "\n".join(map(picture, waits))
    all_ns = sum(node["ns"] for root in slow for node in root["children"] if node["kind"] == "wait")
    assert lock_ns(slow) > 0.5 * all_ns, "\n".join(map(picture, slow))


def check_comparison():
    """What a user reads who knows nothing of caches: groups of requests, and what tells slow ones from fast."""
    result = lib.pinch("compare", "--json", "-", "t.pinch")
    assert result.status == 0, result.text
    reported = json.loads(result.out)
    fast, slow = (reported["groups"][at]["duration_ns"]["mean"] for at in (0, -1))
    words = [reason["words"] for reason in reported["reasons"]]
    assert slow > 10 * fast and words, (reported["groups"], words)
    share = reported["reasons"][0]["change"] / (slow - fast)
    print(f"# {len(reported['groups'])} groups; {words[0]}: {share:.0%} of the difference")
    assert "fcntl" in words[0] and "waiting for other apache" in words[0], (reported["groups"], words)
    assert share > 1 / 3, (reported["groups"], words)


@test("Apache with PHP and a small OPcache: slow requests wait in fcntl for other workers, fast ones do not")
def lock_contention():
    lib.server_place()
    if not apache.php_module():
        raise Skip("libapache2-mod-php is not installed")
    make_scripts()
    _, restarts = record_scripts(128)
    assert not restarts, f"a large cache began anew {restarts} times"
    large_ns = lock_ns(graph()["children"])
    requests, restarts = record_scripts(8)
    assert restarts >= ROUNDS // CHANGED_EACH // 2, f"a small cache began anew {restarts} times"
    whole = graph()
    small_ns = lock_ns(whole["children"])
    assert large_ns < 0.5 * small_ns, (small_ns, large_ns)

    fast = [graph_of(request, whole["from_ns"]) for request in requests[:len(requests) // 4]]
    slow = [graph_of(request, whole["from_ns"]) for request in requests[-len(requests) // 10:]]
    check_slow(slow)
    check_comparison()
    fast_ns, slow_ns = lock_ns(fast) / len(fast), lock_ns(slow) / len(slow)
    assert slow_ns > 10 * fast_ns, (slow_ns, fast_ns)
    print(f"# in fcntl: {slow_ns / 1e6:.2f} ms of a slow request and {fast_ns / 1e6:.2f} ms of a fast one in the "
          f"mean; {small_ns / 1e6:.0f} ms of all with a small cache, {large_ns / 1e6:.0f} ms with a large one; "
          f"{restarts} restarts")


if __name__ == "__main__":
    sys.exit(lib.main())
