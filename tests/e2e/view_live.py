#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pinch view of what is being recorded: a command, a process, a scope, a file that somebody writes, well or not."""
import fcntl
import json
import os
import signal

from lib import assert_nothing_attached, is_alive, main, pinch, program, start, test, wait_until
from lib_scope import Scope
from lib_view import Tile, Viewer

# Threads take turns until there is a file "stop".
TURNS = """
import os, threading, time, sys
lock = threading.Lock()
def work():
    while not os.path.exists("stop"):
        with lock:
            time.sleep(0.0005)
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
sys.exit(7)
"""
PYTHON = ("/usr/bin/python3", "-c", TURNS)


def now(reader):
    return reader.json("/now")


def when(reader, phase):
    return wait_until(lambda: (n := now(reader))["phase"] == phase and n, f"it is {phase}")


def when_long(reader, ns):
    return wait_until(lambda: (n := now(reader))["whole_ns"] > ns and n, f"it is {ns} ns long")


def when_ended(reader, status):
    when(reader, "whole")
    ended = wait_until(lambda: (n := now(reader)).get("exit_status") is not None and n, "the command's end is told")
    assert ended["exit_status"] == status, ended


def end_turns():
    with open("stop", "w"):
        pass


def sums(reader, shift, index, of):
    """ns by share of each lane in one tile, which is complete."""
    trace = reader.trace
    status, headers, body = reader.get(f"/tiles?shift={shift}&index={index}&lanes=0-{len(trace['lanes']) - 1}&of={of}")
    assert status == 200 and "immutable" in headers["Cache-Control"], (status, headers["Cache-Control"], shift, index)
    tile = Tile(body)
    return [tile.lane(lane["kind"] == "cpu") for lane in trace["lanes"]]


def added(all_sums):
    total = []
    for one in all_sums:
        total = total or [{} for _ in one]
        for lane, part in zip(total, one):
            for share, ns in part.items():
                lane[share] = lane.get(share, 0) + ns
    return total


@test("a command is shown while it runs, tiles of all widths say the same, and its exit status is told")
def command():
    reader = Viewer("--", *PYTHON)
    assert reader.trace["is_live"] and now(reader)["phase"] == "recording"
    when_long(reader, 3_000_000_000)
    trace = reader.trace = reader.json("/trace")
    wide = (trace["whole_ns"] - trace["origin_ns"]) // (1 << 30) - 1
    expected = sums(reader, 22, wide, trace["key"])
    assert any(expected), "nothing was done"
    threads = [i for i, lane in enumerate(trace["lanes"]) if lane["kind"] != "cpu"]
    for shift in (18, 20):
        parts = added(sums(reader, shift, (wide << 22 - shift) + i, trace["key"]) for i in range(1 << 22 - shift))
        assert [parts[i] for i in threads] == [expected[i] for i in threads], (shift, parts, expected)
    behind = (trace["whole_ns"] - trace["origin_ns"]) // (1 << 30) + 4
    status, headers, _ = reader.get(f"/tiles?shift=22&index={behind}&lanes=0")
    assert status == 200 and headers["Cache-Control"] == "no-store", (status, headers["Cache-Control"])
    assert reader.get("/tiles?shift=22&index=0&lanes=0&of=0123456789abcdef")[0] == 204
    assert "exit_status" not in now(reader)
    end_turns()
    when_ended(reader, 7)
    assert not reader.json("/trace")["is_live"]
    again = sums(reader, 22, wide, reader.json("/trace")["key"])
    busy = [1, 3]                       # running and runnable: names change causes of waits only
    assert [[again[i].get(share, 0) for share in busy] for i in threads] == [[expected[i].get(share, 0) for share in busy] for i in threads]
    assert is_alive(reader.process.pid)
    reader.end()
    assert_nothing_attached()


COUNTED = b"""local count = 0
function on_event(event) count = count + 1 end
function finish()
  activity { name = "all", begin = 1, ["end"] = 2 }
  statistics { title = "events", columns = { "count" }, rows = { { count } } }
end"""


def run_script(reader):
    status, _, body = reader.post("/scripts?name=counted.lua&reader=one", COUNTED)
    assert status == 200, body
    return json.loads(body)["id"]


def counted(reader, script, more_than):
    """How many events the script says that there are, when these are more; and how many activities it has made by then."""
    def look():
        ran, got = reader.json(f"/scripts?script={script}"), reader.json(f"/statistics?script={script}")
        return got["tables"] and got["tables"][0]["rows"][0][0] > more_than and got["is_complete"] and (got["tables"][0]["rows"][0][0], ran["activities"])
    return wait_until(look, f"more than {more_than} events are counted")


@test("statistics of what is recorded are of what there is by then, and at its end those of pinch dump; finish() makes activities once")
def statistics():
    reader = Viewer("-o", "counted.pinch", "--", *PYTHON)
    script, count = run_script(reader), 0
    for _ in range(3):
        count, made = counted(reader, script, count)
        assert not made
    end_turns()
    when_ended(reader, 7)
    assert reader.get(f"/scripts?script={script}")[0] == 404, "the trace was opened again: its scripts are others"
    script = run_script(reader)
    assert counted(reader, script, count)[1] == 1
    got = reader.json(f"/statistics?script={script}")["tables"]
    with open("counted.lua", "wb") as file:
        file.write(COUNTED)
    assert got == [json.loads(line) for line in pinch("dump", "--json", "--statistics", "--script", "counted.lua", "counted.pinch").out.splitlines()], got
    reader.end()


@test("the trace goes where the user wants it, whole and with names; else it is gone with the page")
def kept():
    reader = Viewer("-o", "kept.pinch", "--", program("lock_convoy"))
    when_ended(reader, 0)
    reader.end()
    assert pinch("check", "kept.pinch").status == 0
    assert b"journal_lock" in pinch("report", "--json", "-", "kept.pinch").out
    before = set(os.listdir("/var/tmp"))
    reader = Viewer("--", program("lock_convoy"))
    made = [name for name in set(os.listdir("/var/tmp")) - before if name.startswith("pinch-view-")]
    when_ended(reader, 0)
    reader.end()
    assert made and not any(os.path.exists(f"/var/tmp/{name}") for name in made), made


@test("processes: the first Ctrl-C ends the recording and not them, the page stays until the second one")
def processes():
    turns = start(*PYTHON)
    reader = Viewer("-p", str(turns.pid))
    when_long(reader, 1_000_000_000)
    reader.process.send_signal(signal.SIGINT)
    last = when(reader, "whole")
    assert "exit_status" not in last, last
    assert is_alive(turns.pid) and is_alive(reader.process.pid)
    assert reader.get("/report")[0] == 200
    reader.end()
    end_turns()
    assert turns.wait(60) == 7
    assert_nothing_attached()


@test("a scope's trace is shown as it comes, to its end")
def scope():
    served = Scope(command=PYTHON)
    reader = Viewer(f"tcp:127.0.0.1:{served.port()}")
    when_long(reader, 1_000_000_000)
    end_turns()
    when(reader, "whole")
    assert any("python" in lane["name"] for lane in reader.json("/trace")["lanes"])
    reader.end()


@test("what a flight recorder keeps is bounded, and what comes goes on being shown")
def ring():
    reader = Viewer("--ring", "1M", "--", *PYTHON)
    first = when_long(reader, 500_000_000)
    assert first["budget_bytes"] == 1 << 20, first
    wait_until(lambda: now(reader)["trace_bytes"] > 1 << 20, "the ring is full")
    full = now(reader)
    for _ in range(3):
        full = when_long(reader, full["whole_ns"] + 300_000_000)
        assert full["trace_bytes"] < 3 << 20, full
    end_turns()
    when_ended(reader, 7)
    reader.end()


@test("a command that cannot be run is no page: its exit status says so")
def no_command():
    result = pinch("view", "--", "./missing")
    assert result.status == 127 and "missing" in result.text, (result.status, result.text)
    for arguments in (("-p", "1", "--", "true"), ("--ring", "1", "--", "true"), ("-o", "-", "--", "true"), ("--ring", "1M", "x.pinch")):
        assert pinch("view", *arguments).status == 2, arguments
    assert pinch("view", "-p", "4194304").status == 1
    assert_nothing_attached()


@test("a recorder that is killed leaves what came until then, and the page stays")
def killed():
    reader = Viewer("--", *PYTHON)
    when_long(reader, 1_000_000_000)
    os.kill(reader.recorder(), signal.SIGKILL)
    end_turns()
    when_ended(reader, 128 + signal.SIGKILL)
    assert reader.json("/trace")["whole_ns"] > 900_000_000
    reader.end()
    assert_nothing_attached()


@test("a page that is killed takes its recorder along, and the trace that is for nobody else")
def page_killed():
    before = set(os.listdir("/var/tmp"))
    reader = Viewer("--", *PYTHON)
    when_long(reader, 500_000_000)
    made = [name for name in set(os.listdir("/var/tmp")) - before if name.startswith("pinch-view-")]
    assert made, "there is no trace"
    reader.process.kill()
    reader.process.wait()
    wait_until(lambda: not any(os.path.exists(f"/var/tmp/{name}") for name in made), "the trace is gone")
    assert_nothing_attached()


# --- Files that somebody writes ------------------------------------------------------------------------

class Growing:
    """A file to which a trace is written bit by bit, as one that pinch is writing."""

    def __init__(self):
        assert pinch("record", "-q", "-o", "whole.pinch", "--", program("lock_convoy")).status == 0
        with open("whole.pinch", "rb") as file:
            self.bytes = file.read()
        self.file = open("growing.pinch", "w+b", buffering=0)
        fcntl.flock(self.file, fcntl.LOCK_EX)
        self.at = 0

    def write(self, part):
        to = int(part * len(self.bytes))
        self.file.write(self.bytes[self.at:to])
        self.at = to

    def until_longer(self, reader, whole_ns):
        """More of it, bit by bit, until the page knows of more: what it can read ends where a chunk does."""
        def is_longer():
            self.write(min(0.9, self.at / len(self.bytes) + 0.02))
            return now(reader)["whole_ns"] > whole_ns
        wait_until(is_longer, "more of the trace")
        return now(reader)["whole_ns"]

    def close(self):
        self.file.close()


@test("a file that grows is followed, and shown like any other once it has its end")
def growing():
    file = Growing()
    file.write(0.3)
    reader = Viewer("growing.pinch")
    lengths = [now(reader)["whole_ns"]]
    assert lengths[0] > 0
    lengths.append(file.until_longer(reader, lengths[-1]))
    file.write(1)
    file.close()
    when(reader, "whole")
    shown = reader.json("/trace")
    reader.end()
    whole = Viewer("whole.pinch")
    assert shown["lanes"] == whole.trace["lanes"] and shown["key"] == whole.trace["key"]
    assert whole.trace["whole_ns"] > lengths[-1]
    whole.end()


@test("a file that stops growing without an end is shown as what it is; one that gets shorter is said to be, and what was read stays")
def broken():
    file = Growing()
    file.write(0.6)
    reader = Viewer("growing.pinch")
    known = when_long(reader, 0)["whole_ns"]
    file.close()
    when(reader, "whole")
    assert reader.json("/trace")["whole_ns"] >= known
    reader.end()

    file = Growing()
    file.write(0.6)
    reader = Viewer("growing.pinch")
    known = when_long(reader, 0)["whole_ns"]
    os.truncate("growing.pinch", len(file.bytes) // 4)
    stopped = when(reader, "stopped")
    assert stopped["message"] == "growing.pinch has become shorter" and stopped["whole_ns"] >= known, stopped
    assert reader.get(f"/tiles?shift=20&index={-reader.trace['origin_ns'] // (1 << 28)}&lanes=0-3")[0] == 200
    for path in ("/events?row=0&count=100", "/marks?from=0&to=1000000000&lanes=0-3", "/save", "/report"):
        assert reader.get(path)[0] in (200, 500), path
    file.close()
    reader.end()


@test("damage in a file that grows is no end of it")
def damaged():
    file = Growing()
    middle = int(0.4 * len(file.bytes))
    file.bytes = file.bytes[:middle] + bytes(b ^ 0xff for b in file.bytes[middle:middle + 5000]) + file.bytes[middle + 5000:]
    file.write(0.2)
    reader = Viewer("growing.pinch")
    known = when_long(reader, 0)["whole_ns"]
    file.write(1)
    file.close()
    assert when(reader, "whole")["whole_ns"] > known
    reader.end()


main()
