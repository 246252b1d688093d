#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pinch view of a ring that goes on for long: what is shown is bounded as the ring is, and what is still there stays exact."""
import json
import os
import signal
import threading

from lib import assert_nothing_attached, main, test, wait_until
from lib_view import Viewer

RING_BYTES = 1 << 20
BOUND_BYTES = 7 * RING_BYTES            # ring and histories: 1 + 4 times the ring, and what is written between two looks at it

# Two processes wake each other until there is a file "stop".
PING_PONG = """
import os
there, back = os.pipe(), os.pipe()
if os.fork():
    os.close(there[0]), os.close(back[1])
    while not os.path.exists("stop"):
        for _ in range(500):
            os.write(there[1], b"x"), os.read(back[0], 1)
else:
    os.close(there[1]), os.close(back[0])
    while os.read(there[0], 1):
        os.write(back[1], b"x")
"""
COMMAND = ("/usr/bin/python3", "-c", PING_PONG)
COUNTED = b"""local count = 0
function on_event(event) count = count + 1 end
function finish() statistics { title = "events", columns = { "count" }, rows = { { count } } } end"""


def view(*options):
    return Viewer("--ring", "1M", *options, "--", *COMMAND)


def end_command():
    with open("stop", "w"):
        pass


def now(reader):
    return reader.json("/now")


def kept_from(reader):
    return now(reader).get("kept_from_ns", -1)


def when_overwritten(reader, before_ns=-1):
    return wait_until(lambda: (n := now(reader)).get("kept_from_ns", -1) > before_ns and n, "the history begins later")


def when_whole(reader, status=0):
    wait_until(lambda: (n := now(reader))["phase"] == "whole" and n.get("exit_status") == status, "the command has ended, and all is there")


def files_without_names(pid):
    """Bytes on disk of files that a process has open and that nobody else can find, by inode."""
    files = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            path, status = os.readlink(f"/proc/{pid}/fd/{fd}"), os.stat(f"/proc/{pid}/fd/{fd}")
        except OSError:                 # closed meanwhile
            continue
        if path.endswith("(deleted)"):
            files[status.st_ino] = status.st_blocks * 512
    return files


class Asking:
    """Readers that ask for everything all the time, until they are told to end."""

    def __init__(self, reader, count):
        self.reader, self.is_over, self.answers, self.failures = reader, False, 0, []
        self.threads = [threading.Thread(target=self.ask, args=(i,)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def paths(self, number, script):
        trace = self.reader.json("/trace")
        lanes, whole_ns = f"0-{len(trace['lanes']) - 1}&of={trace['key']}", trace["whole_ns"]
        index = (whole_ns - trace["origin_ns"]) // (1 << 28)
        thread = next((lane["id"] for lane in trace["lanes"] if lane["kind"] == "thread"), 0)
        stretch = f"from={max(0, whole_ns - 500_000_000)}&to={whole_ns}"
        return (f"/tiles?shift=20&index={index}&lanes={lanes}", f"/tiles?shift=20&index={index}&lanes={lanes}&object=pipe",
                f"/slice?lane={thread}&time={whole_ns - 1000}&of={trace['key']}", f"/stretch?{stretch}&lanes={lanes}", f"/marks?{stretch}&lanes={lanes}",
                f"/drawn-activities?{stretch}&lanes={lanes}", "/events?row=0&count=50", "/events?row=5000&count=50&search=WAKE", "/waits?row=0&count=50",
                f"/waits/lengths?{stretch}", "/spans?row=0&count=5", f"/events?row=0&count=5&script={script}", f"/scripts?script={script}",
                f"/statistics?script={script}", "/now")

    def run_script(self, number):
        status, _, body = self.reader.post(f"/scripts?name=counted.lua&reader=reader{number}", COUNTED)
        return json.loads(body)["id"] if status == 200 else ""

    def ask(self, number):
        while not self.is_over:
            try:
                for path in self.paths(number, self.run_script(number)):
                    status, _, body = self.reader.get(path)
                    # 204: lanes are others by now; 404: scripts are; 503: many scripts are run
                    if status not in (200, 204, 503) and not (status == 404 and "script" in path):
                        self.failures.append((path, status, body[:300]))
                    self.answers += 1
            except Exception as error:
                self.failures.append((number, repr(error)))
                return

    def end(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()
        assert not self.failures, self.failures[:5]
        assert self.answers > 0


@test("the history beside a ring is bounded, while readers ask for all of it: it begins later and later, times go on, and old files are gone from the disk")
def bounded():
    reader = view()
    first_ns, begins, most, whole_ns = reader.trace["first_ns"], [], 0, 0
    asking = Asking(reader, 4)
    while len(begins) < 3:
        last = begins[-1] if begins else -1

        def begins_later():
            nonlocal most, whole_ns
            said = now(reader)
            on_disk = sum(files_without_names(reader.process.pid).values())
            most = max(most, said["trace_bytes"] + max(said["index_bytes"], on_disk))
            assert said["whole_ns"] >= whole_ns and said["phase"] == "recording", (said, whole_ns)
            whole_ns = said["whole_ns"]
            return said.get("kept_from_ns", -1) > last and said
        begins.append(wait_until(begins_later, "the history begins later")["kept_from_ns"])
        trace = reader.json("/trace")
        assert trace["first_ns"] == first_ns and trace["begin_ns"] >= begins[-1] and trace["whole_ns"] > trace["begin_ns"], trace
        assert any(sum(lane["ns"]) for lane in trace["lanes"] if lane["kind"] == "thread"), trace
    asking.end()
    print(f"# at most {most / RING_BYTES:.1f} times the ring; begins {[round(ns / 1e9, 1) for ns in begins]}")
    assert most < BOUND_BYTES, most
    wait_until(lambda: len(files_without_names(reader.process.pid)) <= 2, "files of histories that were replaced are closed")
    end_command()
    when_whole(reader)
    trace = reader.json("/trace")
    assert trace["first_ns"] == first_ns and trace["whole_ns"] >= whole_ns and kept_from(reader) >= begins[-1], trace
    reader.end()
    assert_nothing_attached()


def absolute(reader, from_ns, to_ns):
    """How each thread spent a stretch of time, of CLOCK_MONOTONIC, by its number: (running, runnable, all)."""
    trace = reader.json("/trace")
    threads = {lane["id"]: lane["thread"] for lane in trace["lanes"] if lane["kind"] == "thread"}
    got = reader.json(f"/stretch?from={from_ns - trace['first_ns']}&to={to_ns - trace['first_ns']}&lanes={','.join(map(str, threads))}")
    assert (got["from_ns"], got["to_ns"]) == (from_ns - trace["first_ns"], to_ns - trace["first_ns"]), (got, from_ns, to_ns)
    return {threads[lane["lane"]]: (lane["ns"][1], lane["ns"][3], sum(lane["ns"])) for lane in got["lanes"] if sum(lane["ns"])}


def save(reader, name, query=""):
    status, _, body = reader.get(f"/save{query}")
    assert status == 200, (query, status, body[:300])
    with open(name, "wb") as file:
        file.write(body)
    return name


def when_still(reader):
    """Nothing comes, and all that came is shown."""
    last = [None, 0]

    def is_same():
        said = now(reader)["whole_ns"]
        last[:] = [said, last[1] + 1 if said == last[0] else 0]
        return last[1] > 20
    wait_until(is_same, "nothing comes any more")


@test("what the page says of a time that the ring still has is what the saved trace says, to the ns; events have the same times; what is gone is refused")
def exact():
    reader = view("-o", "kept.pinch")
    first_ns, kept_ns = reader.trace["first_ns"], -1
    for _ in range(2):
        kept_ns = when_overwritten(reader, kept_ns)["kept_from_ns"]
    recorder = reader.recorder()
    os.kill(recorder, signal.SIGSTOP)           # nothing is overwritten meanwhile
    when_still(reader)
    of_saved = Viewer(save(reader, "saved.pinch"))
    saved_ns, shown = of_saved.trace["first_ns"], reader.json("/trace")
    assert shown["first_ns"] == first_ns < saved_ns, (shown["first_ns"], first_ns, saved_ns)
    begin_ns = max(shown["begin_ns"] + first_ns, saved_ns + of_saved.trace["begin_ns"]) + 1000
    third_ns = (min(shown["whole_ns"] + first_ns, saved_ns + of_saved.trace["whole_ns"]) - 1000 - begin_ns) // 3
    for i in range(3):
        place = begin_ns + i * third_ns, begin_ns + (i + 1) * third_ns
        here, there = absolute(reader, *place), absolute(of_saved, *place)
        assert here and here == there, (here, there)

    def event(of, time_ns):
        wait_until(lambda: of.json("/events?row=0&count=1")["is_counted"], "events have their rows")
        row = of.json(f"/events/at?time={time_ns - of.trace['first_ns']}")["row"]
        got = of.json(f"/events?row={row}&count=1")["events"][0]
        return got["time_ns"] + of.trace["first_ns"], got["event"], got["thread"], got["text"]
    reader.trace = shown
    for i in range(4):
        here, there = event(reader, begin_ns + i * third_ns), event(of_saved, begin_ns + i * third_ns)
        assert here == there, (here, there, begin_ns + i * third_ns)

    part = Viewer(save(reader, "part.pinch", f"?from={begin_ns + third_ns - first_ns}&to={begin_ns + 2 * third_ns - first_ns}"))
    assert part.trace["first_ns"] == begin_ns + third_ns
    place = begin_ns + third_ns, part.trace["first_ns"] + part.trace["whole_ns"]
    here, there = absolute(reader, *place), absolute(part, *place)
    assert here == there, (here, there, third_ns)
    part.end()
    assert reader.get(f"/report?from={begin_ns + third_ns - first_ns}&to={begin_ns + 2 * third_ns - first_ns}")[0] == 200
    for path in ("/save", "/report"):
        status, _, body = reader.get(f"{path}?from=1000&to={begin_ns + third_ns - first_ns}")
        assert status == 500 and b"has overwritten the begin of that" in body, (path, status, body)
    of_saved.end()
    os.kill(recorder, signal.SIGCONT)
    end_command()
    when_whole(reader)
    last, kept = reader.json("/trace"), Viewer("kept.pinch")
    assert last["first_ns"] == first_ns < kept.trace["first_ns"]
    place = kept.trace["first_ns"] + kept.trace["begin_ns"], kept.trace["first_ns"] + kept.trace["whole_ns"]
    assert place == (last["begin_ns"] + first_ns, last["whole_ns"] + first_ns), (place, last["begin_ns"], last["whole_ns"], first_ns)
    assert absolute(reader, *place) == absolute(kept, *place)
    kept.end()
    reader.end()


main()
