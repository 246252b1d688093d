#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The server of pinch view for groups of executions: tiles and sums against the history of threads, groups and means against pinch compare."""
import os
import signal
import threading

from lib import LIMIT_S, main, parse, pinch, program, read, test, wait_until
from lib_view import Tile, Viewer

REQUEST = "request=recvfrom(fd=socket)..sendto"
QUESTIONS = ("", "groups=3", "groups=2&feature=duration,lost.lock", "cycle=socket", "groups=4&between=2,4")
SHIFTS = (8, 12, 17, 20, 23)


def viewer(*arguments):
    result = pinch("record", "-q", "-o", "t.pinch", "--span", REQUEST, "--", program("span_server"))
    assert result.status == 0, result.text
    return Viewer(*arguments, "t.pinch")


def options(question):
    return [word for pair in question.split("&") if pair for word in ("--" + pair.split("=")[0], pair.split("=")[1])]


def members(listed, number):
    return [i for i, group in enumerate(listed["groups"]) if group == number]


def sums_of_lane(reader, path, shift, lane, length_ns):
    """ns by share, by all tiles of an execution, or of a group as long as its longest one."""
    sums = {}
    for index in range((length_ns >> (shift + 8)) + 1):
        status, headers, body = reader.get(f"{path}&shift={shift}&index={index}&lanes={lane}")
        assert status == 200 and "immutable" in headers["Cache-Control"], (status, body)
        tile = Tile(body)
        for share, ns in tile.lane(False).items():
            sums[share] = sums.get(share, 0) + ns
        assert tile.at == len(body), "there is more in a tile than a lane"
    return sums


def used(ns):
    return {share: one for share, one in enumerate(ns) if one}


@test("groups are those of pinch compare, and their means are its figures")
def groups():
    reader = viewer()
    for question in QUESTIONS:
        listed = reader.json("/executions/list?" + question)
        result = pinch("compare", "--json", "-", *options(question), "t.pinch")
        assert result.status == 0, result.text
        compared = parse(result.out, "compare")
        sizes = [group["duration_ns"]["n"] for group in compared["groups"]]
        assert sizes == [len(members(listed, i + 1)) for i in range(listed["count"])], (question, sizes)
        between = [int(one) for one in question.partition("between=")[2].split(",") if one] or [1, listed["count"]]
        figures = {figure["name"]: figure for figure in compared["figures"]}
        for side, number in zip(("first", "second"), between):
            mine = members(listed, number)
            assert close(sum(listed["lengths_ns"][i] for i in mine) / len(mine), figures["duration"][side]["mean"])
            for share, name in enumerate(reader.trace["shares"]):
                figure = {"unknown": "unknown", "running": "cpu.running", "spinning": "cpu.spinning", "runnable": "cpu.waiting"}.get(name, "lost." + name)
                mean = figures[figure][side]["mean"] if figure in figures else 0
                assert close(listed["sums"][number][share] / len(mine), mean), (question, number, name)
    reader.end()


def close(a, b):
    return abs(a - b) <= 1 + 1e-9 * abs(b)


@test("what tiles say of an execution, and of a group, adds up to what their threads did then, at every width")
def tiles():
    reader = viewer()
    lanes = {lane["thread"]: lane["id"] for lane in reader.trace["lanes"] if lane["kind"] == "thread"}
    for question in ("groups=3", "cycle=socket"):
        listed = reader.json("/executions/list?" + question)
        for number in range(1, listed["count"] + 1):
            mine, path = members(listed, number), f"/executions/tiles?{question}&group={number}"
            for shift in SHIFTS[2:]:
                whole = sums_of_lane(reader, path, shift, 0, max(listed["lengths_ns"][i] for i in mine))
                assert whole == used(listed["sums"][number]), (question, number, shift)
            for place in mine[:3] + mine[-3:]:
                begin_ns, length_ns = listed["begins_ns"][place], listed["lengths_ns"][place]
                told = reader.json(f"/stretch?from={begin_ns}&to={begin_ns + length_ns}&lanes={lanes[listed['threads'][place]]}")["lanes"][0]["ns"]
                for shift in SHIFTS if length_ns < 1_000_000 else SHIFTS[2:]:
                    assert sums_of_lane(reader, path, shift, mine.index(place) + 1, length_ns) == used(told), (question, place, shift)
    reader.end()


@test("columns of an execution, and sums of a part of it, are what its thread did in each of them")
def columns():
    reader = viewer()
    lanes = {lane["thread"]: lane["id"] for lane in reader.trace["lanes"] if lane["kind"] == "thread"}
    listed = reader.json("/executions/list?groups=3")
    number = listed["count"]
    mine = members(listed, number)
    for row, place in enumerate(mine[:4]):
        begin_ns, length_ns = listed["begins_ns"][place], listed["lengths_ns"][place]
        for step_ns in (length_ns // 7 + 1, length_ns // 2 + 1):
            for from_ns in range(0, length_ns, step_ns):
                to_ns = min(from_ns + step_ns, length_ns)
                told = reader.json(f"/stretch?from={begin_ns + from_ns}&to={begin_ns + to_ns}&lanes={lanes[listed['threads'][place]]}")["lanes"][0]["ns"]
                ours = reader.json(f"/executions/stretch?groups=3&group={number}&from={from_ns}&to={from_ns + step_ns}&lanes={row + 1}")["lanes"][0]["ns"]
                assert ours == told, (place, from_ns, to_ns)
        slice_, whose = (reader.json(path) for path in (f"/executions/slice?groups=3&group={number}&lane={row + 1}&time={length_ns // 2}",
                                                        f"/slice?thread={listed['threads'][place]}&time={begin_ns + length_ns // 2}"))
        assert slice_ == whose and slice_["begin_ns"] <= begin_ns + length_ns // 2 < slice_["end_ns"], (slice_, whose)
    reader.end()


@test("the table of executions has a line each, whose figures are those that are compared")
def table():
    viewer().end()
    result = pinch("compare", "--executions", "-", "--groups", "3", "t.pinch")
    assert result.status == 0, result.text
    names, *lines = [line.split(",") for line in result.out.decode().splitlines()]
    rows = [dict(zip(names, map(int, line))) for line in lines]
    assert len(rows) == 120 and names[:6] == ["group", "thread", "begin_thread", "begin_ns", "end_ns", "duration"], names
    for row in rows:
        assert row["duration"] == row["end_ns"] - row["begin_ns"] and 0 <= row["group"] <= 3, row
        assert row["unknown"] + sum(ns for name, ns in row.items() if name.startswith(("cpu.", "lost."))) == row["duration"], row
    both = pinch("compare", "--executions", "e.csv", "t.pinch", "t.pinch")
    assert both.status == 2 and "--executions" in both.text, both.text


@test("what a group did together is found step by step, once")
def drawn():
    reader = viewer()
    for group in (1, 2):
        steps = [reader.json(f"/executions/drawn?groups=2&group={group}")]
        while not steps[-1]["is_ready"]:
            steps.append(reader.json(f"/executions/drawn?groups=2&group={group}"))
        done = [step["done"] for step in steps]
        assert done == sorted(done) and done[-1] == 1 and reader.json(f"/executions/drawn?groups=2&group={group}") == steps[-1], steps
    reader.end()


@test("means of a time are those of its executions, with the spread and the effect that pinch compare finds")
def means():
    reader = viewer()
    question = "groups=2"
    listed = reader.json("/executions/list?" + question)
    result = pinch("compare", "--json", "-", *options(question), "t.pinch")
    figures = {figure["name"]: figure for figure in parse(result.out, "compare")["figures"]}
    found = {reader.trace["shares"][state["share"]]: state for state in reader.json(f"/executions/means?{question}&group=1&other=2&from=0&to={1 << 60}")["states"]}
    for state, figure in (("lock", "lost.lock"), ("running", "cpu.running")):
        for side in ("first", "second"):
            assert found[state][side]["n"] == figures[figure][side]["n"]
            assert all(close(found[state][side][what], figures[figure][side][what]) for what in ("mean", "deviation")), (state, side)
        assert abs(found[state]["d"] - figures[figure]["d"]) < 1e-6 and 0 <= found[state]["p"] <= 1, found[state]
    for first, last in ((0, 10 ** 6), (10 ** 5, 3 * 10 ** 6), (10 ** 12, 10 ** 12 + 1)):
        part = reader.json(f"/executions/means?{question}&group=1&other=2&from={first}&to={last}")
        for side, number in (("first", 1), ("second", 2)):
            lanes = len(members(listed, number))
            each = reader.json(f"/executions/stretch?{question}&group={number}&from={first}&to={last}&lanes=1-{lanes}")["lanes"]
            sums = {share: sum(lane["ns"][share] for lane in each) / lanes for share in range(len(reader.trace["shares"]))}
            said = {state["share"]: state[side]["mean"] for state in part["states"]}
            assert all(close(said.get(share, 0), mean) for share, mean in sums.items()), (first, side, said, sums)
    reader.end()


@test("wrong requests get an error of one line, and the server goes on")
def wrong_requests():
    reader = viewer()
    for path, expected in (("tiles?group=1", 400), ("tiles?group=9&shift=20&index=0&lanes=0", 400), ("tiles?shift=20&index=0&lanes=0", 400),
                           ("tiles?group=1&shift=20&index=0&lanes=0-9999", 400), ("tiles?group=1&shift=99&index=0&lanes=0", 400),
                           ("tiles?group=-1&shift=20&index=0&lanes=0", 400), ("slice?group=1&lane=0&time=0", 400), ("slice?group=1&lane=1&time=-1", 400),
                           ("slice?group=1&lane=1&time=99999999999", 404), ("stretch?group=1&from=2&to=1&lanes=0", 400),
                           ("list?groups=9", 500), ("list?feature=nothing", 500), ("list?span=nothing", 500), ("list?cycle=--help", 500),
                           ("list?between=1,1", 500), ("drawn?group=9", 400), ("drawn", 400), ("means?group=1&other=9&from=0&to=1", 400), ("means?group=1&other=2&from=2&to=1", 400), ("report?between=x", 500), ("nothing", 404)):
        status, _, body = reader.get("/executions/" + path)
        assert status == expected and body.count(b"\n") == 1 and body.endswith(b"\n"), (path, status, body)
    status, headers, body = reader.get("/executions/report?groups=3")
    assert status == 200 and b'data-part="comparison"' in body, body[:300]
    choices = reader.json("/executions/choices")
    assert choices["spans"] == [{"name": "request", "count": 120}] and "sleep" in choices["causes"] and "lost.lock" in choices["figures"], choices
    reader.end()


def stop_grouping(reader, questions):
    """Asks for groups until the process that makes them is stopped while it does: the question, the process, and who asks."""
    pid = reader.process.pid
    for question in questions:
        answers = []
        asker = threading.Thread(target=lambda path="/executions/list?" + question, to=answers: to.append(reader.json(path)))
        asker.start()
        while asker.is_alive():
            children = [int(child) for task in os.listdir(f"/proc/{pid}/task") for child in read_children(pid, task)]
            if children:
                os.kill(children[0], signal.SIGSTOP)
                return question, children[0], asker, answers
        asker.join()
    raise AssertionError("all groups were made before anybody saw it")


def read_children(pid, task):
    try:
        return read(f"/proc/{pid}/task/{task}/children").split()
    except OSError:
        return []  # that thread has ended


@test("while executions are grouped for one reader, the others are answered, and none is grouped twice")
def grouped_meanwhile():
    reader = viewer()
    before = reader.json("/executions/list?groups=2")
    question, child, asker, answers = stop_grouping(reader, [f"groups={n}&feature={figure}" for n in (2, 3, 4) for figure in ("duration", "lost.lock", "cpu.running")])
    try:
        assert reader.json("/trace")["is_ready"]
        assert reader.json("/executions/list?groups=2") == before, "what is grouped is gone"
        assert reader.get("/executions/tiles?groups=2&group=1&shift=20&index=0&lanes=0")[0] == 200
        assert reader.json("/executions/list?groups=5")["count"] == 5, "others wait for it"
        for _ in range(30):
            assert reader.json("/executions/list?" + question) == {"is_ready": False}
        waiting = [threading.Thread(target=reader.get, args=(f"/executions/tiles?{question}&group=1&shift=20&index=0&lanes=0",)) for _ in range(4)]
        for one in waiting:
            one.start()
        wait_until(lambda: reader.get(f"/executions/slice?{question}&group=1&lane=1&time=0")[0] == 503 or not asker.is_alive(), "no more readers wait")
        assert reader.json("/trace")["is_ready"], "those who wait keep all threads"
    finally:
        os.kill(child, signal.SIGCONT)
    for one in [asker, *waiting]:
        one.join(LIMIT_S)
    assert answers and answers[0]["is_ready"] and answers[0] == reader.json("/executions/list?" + question)
    reader.end()


@test("the link leads to the page of executions, and only of one trace file")
def links():
    viewer().end()
    reader = Viewer("--compare", "t.pinch", page="/executions")
    assert reader.get("/executions")[0] == 200 and reader.get("/")[0] == 200
    reader.end()
    for arguments in (("--compare", "t.pinch", "t.pinch"), ("--compare",), ("--compare", "tcp:127.0.0.1:1"), ("--compare", "--", "/bin/true")):
        result = pinch("view", *arguments)
        assert result.status == 2 and "--compare" in result.text and result.text.count("\n") == 1, (arguments, result.text)


main()
