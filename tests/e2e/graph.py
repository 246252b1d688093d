#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Wait-dependency graphs of planted programs: who waited for whom, down to what was at the bottom of it."""
import json
import os
import shutil
import subprocess
import sys

from graph_model import anywhere, below, graph, graph_as_asked, heaviest, path, picture, record
from lib import PINCH, Skip, main, parse, pinch, program, read, test


@test("a lock: below it who held it, below that its sleep, and a timer at the bottom")
def lock():
    record(program("sleep_holding"))
    root = graph()
    wait = heaviest(root, "", "lock held_lock")
    # Who releases it may be one who has waited for it himself.
    sleep = max(anywhere(wait, "sleep clock_nanosleep"), key=lambda n: n["ns"], default=None)
    assert sleep and sleep["ns"] > 0.5 * wait["ns"], picture(root)
    assert heaviest(sleep, "timer")["ns"] == sleep["ns"], picture(sleep)


@test("a barrier is none of the locks, from its first wait on: in graphs, comparisons and predictions")
def barrier():
    record(program("changed_code"), "kmeans")
    root = graph()
    assert list(anywhere(root, "barrier turn_barrier")) and not list(anywhere(root, "lock turn_barrier")), \
        picture(root)
    figures = {f["name"]: f["first"]["mean"] for f in
               parse(pinch("compare", "--json", "-", "t.pinch", "t.pinch").out, "compare")["figures"]}
    assert figures["lost.barrier"] > 0 and not figures.get("lost.lock"), figures
    reported = parse(pinch("whatif", "--json", "-", "--cause", "barrier", "t.pinch").out, "whatif")
    assert reported["gain"] > 0.1, reported
    assert pinch("whatif", "--cause", "lock", "t.pinch").status == 1


@test("a pipe: below the wait is the thread at the other end")
def pipe():
    record(program("pipe_pair"))
    root = graph()
    wait = heaviest(root, "", "pipe read")
    other = heaviest(wait, "")
    assert other["kind"] == "thread" and other["ns"] > 0.8 * wait["ns"], picture(root)
    assert heaviest(other, "running")["ns"] > 0, picture(other)


@test("one process of two, by its id and by the name of its first thread")
def process():
    record(program("tcp_slow_processes"))
    nodes = [node for node in graph()["children"]]
    result = pinch("dump", "--json", "t.pinch")
    events = [json.loads(line) for line in result.out.splitlines()]
    pids = {e["fields"]["pid"] for e in events if e["event"] in ("thread.BORN", "thread.FOUND")}
    parts = [graph("--process", pid) for pid in pids]
    assert len(pids) == 2 and sum(part["ns"] for part in parts) == sum(n["ns"] for n in nodes), pids
    result = pinch("graph", "--process", "nobody", "t.pinch")
    assert result.status == 1 and "no process nobody" in result.text, result.text


@test("eight threads of one CPU: below the waiting for it are the others, whose parts add up")
def cpu():
    record(program("oversubscribed"))
    root = graph("--merge")
    wait = heaviest(root, "", "waiting for a CPU")
    assert wait["ns"] > 0.5 * root["ns"], picture(root)
    # Who else wants that CPU on this machine, is there, too.
    rival = heaviest(wait, "crunch-*")
    assert rival["ns"] > 0.05 * wait["ns"], picture(wait)
    ran_ns = sum(node["ns"] for node in rival["children"] if node["kind"] in ("running", "interrupted", "softirq"))
    assert ran_ns == rival["ns"], picture(wait)


@test("a convoy, merged: whoever is in the queue, below the wait for the lock is what its owners do")
def convoy():
    record(program("lock_convoy"))
    root = graph("--merge")
    wait = max(anywhere(root, "lock "), key=lambda n: n["ns"])
    # Who has it sleeps between two looks whether all are there.
    below_ns = sum(node["ns"] for what in ("running", "waiting for a CPU", "sleep") for node in below(wait, "logger-*", what))
    assert below_ns > 0.5 * wait["ns"], picture(root)
    # What is merged is not lost.
    assert root["ns"] == graph()["ns"]


@test("without a choice it begins where one thread lost most, and says so; in a program that only sleeps with all")
def start():
    record(program("sleep_holding"))
    result = pinch("graph", "t.pinch")
    whole, chosen = graph(), graph_as_asked()
    assert result.status == 0 and result.out.startswith(b"Begins where one thread lost most: "), result.out
    assert b"--thread" in result.out.split(b"\n")[1] and b"--all" in result.out.split(b"\n")[1], result.out
    assert chosen["kind"] == "thread" and chosen["ns"] == chosen["to_ns"] - chosen["from_ns"], picture(chosen)
    lost_ns = sum(node["ns"] for begin in ("lock", "waiting for a CPU") for node in below(chosen, begin))
    assert lost_ns > 0.5 * chosen["ns"], picture(chosen)
    assert lost_ns <= chosen["lost_ns"] <= chosen["ns"] and whole["lost_ns"] is None, (lost_ns, chosen["lost_ns"])
    # No thread waited for the lock for longer.
    most_ns = max(sum(node["ns"] for node in below(thread, "lock held_lock")) for thread in whole["children"])
    assert heaviest(chosen, "lock held_lock")["ns"] > 0.8 * most_ns, picture(whole)
    record("sleep", "0.3")
    result = pinch("graph", "t.pinch")
    assert result.status == 0 and b"sleep" in result.out, result.out


@test("a connection: below the client's wait is the server, which runs, as far as it gets a CPU")
def connection():
    record(program("tcp_slow"))
    root = graph("--thread", "client") if below(graph(), "client") else graph()
    wait = heaviest(root, "socket") if below(root, "socket") else heaviest(root, "", "socket")
    server = heaviest(wait, "server")
    busy_ns = sum(node["ns"] for what in ("running", "waiting for a CPU") for node in below(server, what))
    assert heaviest(server, "running")["ns"] > 0 and busy_ns > 0.8 * server["ns"], picture(root)


@test("a part of the time has a part of the graph, and both are as long as they should be")
def part():
    record(program("mutex"))
    whole = graph()
    first, second = graph("--to", "1s"), graph("--from", "1s")
    assert abs(first["ns"] + second["ns"] - whole["ns"]) <= 2, (first["ns"], second["ns"], whole["ns"])


@test("the critical path of a thread that waits for a lock is what its holder does")
def critical_path():
    record(program("sleep_holding"))
    reported, all_ns = path()
    sleep = max((row for row in reported["sums"] if row["what"].startswith("sleep")), key=lambda r: r["ns"])
    assert sleep["ns"] > 0.5 * all_ns and sleep["end"] == "timer", reported["sums"][:5]
    whole = path()[1]
    assert whole == path("--to", "100ms")[1] + path("--from", "100ms")[1]
    result = pinch("critical-path", "t.pinch")
    assert result.status == 0 and b"In time order" in result.out.replace(b"Its longest parts, in", b"In"), result.out


@test("text, Graphviz and a picture of it")
def forms():
    record(program("sleep_holding"))
    result = pinch("graph", "--all", "-o", "graph.txt", "--dot", "graph.dot", "t.pinch")
    assert result.status == 0, result.text
    text, dot = read("graph.txt"), read("graph.dot")
    assert text.startswith(" 100.0 %") and "lock held_lock" in text, text
    assert dot.startswith("digraph") and dot.rstrip().endswith("}") and "->" in dot, dot
    result = pinch("graph", "--svg", "graph.svg", "t.pinch")
    if "libgvc6" in result.text:
        raise Skip("Graphviz is not here")
    assert result.status == 0, result.text
    assert "<svg" in read("graph.svg") and "held_lock" in read("graph.svg")


@test("the states beside a trace: made once, again when the trace is another one or they are damaged")
def beside():
    record(program("sleep_holding"))
    graph()
    made = os.stat("t.pinch.states")
    graph()
    assert os.stat("t.pinch.states").st_mtime_ns == made.st_mtime_ns
    with open("t.pinch.states", "r+b") as file:
        file.truncate(made.st_size // 2)
    graph()
    assert os.stat("t.pinch.states").st_size == made.st_size
    record(program("pipe_pair"))
    assert heaviest(graph(), "", "pipe read")
    with open("t.pinch.states", "r+b") as file:
        kept = bytearray(file.read())
        # A chunk with states: its header has the kind behind the magic.
        at = kept.index(b"PCHK\x20\0") + 100
        file.seek(at)
        file.write(bytes([kept[at] ^ 1]))
    result = pinch("graph", "t.pinch")
    assert "is damaged" in result.text and "remove it" in result.text, result.text


@test("where nobody may write beside the trace, its states are in the user's cache")
def cached():
    record(program("sleep_holding"))
    os.mkdir("shelf")
    shutil.move("t.pinch", "shelf")
    script = 'mount --bind shelf shelf && mount -o remount,ro,bind shelf && exec "$0" graph shelf/t.pinch'
    result = subprocess.run(["unshare", "-m", "sh", "-c", script, PINCH], capture_output=True, check=False,
                            env={**os.environ, "XDG_CACHE_HOME": os.getcwd()})
    if b"mount:" in result.stderr:
        raise Skip("no mounts here")
    assert result.returncode == 0 and b"held_lock" in result.stdout, result.stderr
    assert [name.endswith(".states") for name in os.listdir("pinch/states")] == [True]


@test("what is no trace, no thread, no percentage: one message, exit status 1 or 2")
def bad():
    with open("text", "w", encoding="utf-8") as file:
        file.write("no trace\n")
    record(program("sleep_holding"))
    for arguments, status, about in (
            (("text",), 1, "text is not a pinch trace"), (("nothing",), 1, "nothing"),
            (("--thread", "nobody", "t.pinch"), 1, "nobody"), (("--min", "x", "t.pinch"), 2, "--min"),
            (("--from", "2s", "--to", "1s", "t.pinch"), 2, "--to"), (("--all", "--from", "1s", "t.pinch"), 2, "--all"), ((), 2, "no trace given")):
        result = pinch("graph", *arguments)
        assert result.status == status and about in result.text and result.text.count("\n") == 1, \
            (arguments, result.status, result.text)


if __name__ == "__main__":
    sys.exit(main(jobs=2))
