#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What pinch whatif predicts of programs, against what they do when that is really so."""
import os
import sys

from lib import Skip, main, pinch, program, script, test
from whatif_model import TRIES, check_path, compare, compare_code, record, whatif


def compare_shape(shape, *options, percent=50):
    path = program("made_faster")
    compare((path, shape), (path, shape, percent), "--scale", percent / 100, *options)


@test("lock: held half as long, what is slowest then is what the threads do without it")
def lock():
    compare_shape("lock", "--lock", "table_lock")


@test("hold: threads that compute with the lock, half as long")
def hold():
    compare_shape("hold", "--lock", "table_lock")


@test("hold: a quarter as long")
def hold_quarter():
    compare_shape("hold", "--lock", "table_lock", percent=25)


@test("stage: a stage of a pipeline that computes half as long for each item")
def stage():
    compare_shape("stage", "--waits", "take_result")


@test("server: another process that answers twice as fast")
def server():
    compare_shape("server", "--cause", "sleep")


@test("condition: items that come twice as fast")
def condition():
    compare_shape("condition", "--lock", "not_empty")


@test("straggler: who comes last to the barrier comes in half the time")
def straggler():
    compare_shape("straggler", "--lock", "step_barrier")


@test("serial: a phase that one thread computes alone, in half the time")
def serial():
    compare_shape("serial", "--waits", "await_merge")


@test("crowd: on two CPUs instead of one, and on one instead of two")
def crowd():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("this machine has one CPU")
    path = program("made_faster")
    one, two = ("taskset", "-c", cpus[0], path, "crowd"), ("taskset", "-c", f"{cpus[0]},{cpus[1]}", path, "crowd")
    compare(one, two, "--cpus", 2)
    compare(two, one, "--cpus", 1)


@test("histogram: a hot line takes half the time")
def code_histogram():
    compare_code("histogram")


@test("kmeans: four threads at a barrier, one of which has the most to do in each turn, in half the time")
def code_kmeans():
    compare_code("kmeans")


@test("compressor: what threads do one after the other takes half the time")
def code_compressor():
    compare_code("compressor")


@test("matrix: rows in half the time, of which one thread has more than the others")
def code_matrix():
    compare_code("matrix")


@test("code by its function, its line and its path; what gains most has code, and no waits at a barrier")
def code():
    record("t.pinch", program("changed_code"), "kmeans")
    predicted = {options: whatif(*options) for options in
            (("--function", "hot"), ("--path", "turn;hot"), ("--path", "role_main;turn;hot"),
             ("--function", "turn"))}
    hot, turn, path, all_of_it = (predicted[o] for o in (("--function", "hot"), ("--path", "turn;hot"),
                                                    ("--path", "role_main;turn;hot"), ("--function", "turn")))
    assert hot == {**turn, "kind": "function", "name": "hot"} and hot["gain"] > 0.1, (hot, turn)
    assert abs(path["samples"] - hot["samples"]) < 0.1 * hot["samples"], (path, hot)
    assert 0.9 * hot["all_samples"] < all_of_it["samples"] and all_of_it["gain"] > hot["gain"], all_of_it
    check_path(hot)
    same = whatif("--function", "hot", "--scale", 1)
    assert {same[n] for n in ("predicted_ns", "least_ns", "most_ns")} == {same["recorded_ns"]}, same
    gains = [whatif("--function", "hot", "--scale", tenths / 10)["gain"] for tenths in (8, 4, 0)]
    assert gains == sorted(gains) and gains[0] > 0, gains
    ranks = whatif()["elements"]
    functions = {rank["name"]: rank for rank in ranks if rank["kind"] == "function"}
    assert functions["hot"]["predicted_ns"] == hot["predicted_ns"] and "turn" not in functions, ranks
    assert not any(rank["name"] in ("turn_barrier", "barrier") for rank in ranks), ranks
    with open(os.path.join(os.path.dirname(script("x")), "changed_work.h"), encoding="utf-8") as file:
        line = next(i for i, text in enumerate(file, 1) if "count * hot_percent" in text)
    by_line = whatif("--line", f"changed_work.h:{line + 1}")
    assert abs(by_line["samples"] - hot["samples"]) < 0.1 * hot["samples"], (by_line, hot)


@test("replayed as they were, planted programs take as long as they took, within 2 %")
def replayed():
    for name in ("sleep_holding", "barrier_straggler", "cond_wait", "pipe_pair", "tcp_slow", "join_late",
                 "semaphore_gate", "fifo_pair"):
        tried = []
        for _ in range(TRIES):
            record("t.pinch", program(name))
            tried.append(whatif()["replay_error"])
            if abs(tried[-1]) <= 0.02:
                break
        else:
            raise AssertionError(f"{name}: {tried}")


@test("four threads at a barrier on two CPUs: replayed as it was, it takes as long, within 2 %")
def four_at_barrier():
    for _ in range(2):
        record("t.pinch", program("changed_code"), "kmeans")
        prediction = whatif()
        assert abs(prediction["replay_error"]) <= 0.02, prediction


@test("what gains most comes first: the lock that is slept with, its path and its cause")
def ranking():
    record("t.pinch", program("sleep_holding"))
    ranks = whatif()["elements"]
    assert len(ranks) <= 10 and {"kind": "lock", "name": "held_lock"}.items() <= ranks[0].items(), ranks
    gains = [rank["gain"] for rank in ranks]
    assert gains == sorted(gains, reverse=True) and gains[0] > 0.4, gains
    nothing = whatif("--scale", 0, "--lock", "held_lock")
    assert nothing["predicted_ns"] < 0.1 * nothing["recorded_ns"], nothing
    same = whatif("--scale", 1, "--lock", "held_lock")
    assert {same[n] for n in ("predicted_ns", "least_ns", "most_ns")} == {same["recorded_ns"]}, same


@test("a function is ranked by its waits with callees, and not if nearly all of these are a callee's")
def nested():
    record("t.pinch", program("made_faster"), "nested")
    paths = {rank["name"]: rank for rank in whatif()["elements"] if rank["kind"] == "waits"}
    # Of waits for the lock not all have stacks; without them it sleeps in sleep_us(), mostly.
    assert paths and paths.keys() <= {"inner", "sleep_us"}, paths
    for name, rank in paths.items():
        prediction = whatif("--waits", name)
        assert prediction["predicted_ns"] == rank["predicted_ns"], (prediction, rank)
    assert whatif("--waits", "outer")["gain"] >= prediction["gain"], prediction


@test("a queue of one item costs sleeping and waking: without these it is faster, as with a larger queue")
def queue():
    path = program("changed_code")
    record("t.pinch", path, "queue", 2, 100, 1)
    record("after.pinch", path, "queue", 2, 100, 1000)
    reported, was = whatif("--wakeups", "not_full", "--scale", 0), whatif(trace="after.pinch")
    assert reported["gain"] > 0.2 and was["recorded_ns"] < reported["recorded_ns"], (reported, was["recorded_ns"])
    # With a larger queue some sleep, too.
    assert reported["predicted_ns"] > 0.5 * was["recorded_ns"], (reported, was["recorded_ns"])
    ranks = whatif()["elements"]
    assert any(rank["kind"] == "wakeups" and rank["name"] == "not_full" for rank in ranks), ranks


@test("text, a file, and messages of one line with their exit status")
def forms():
    record("t.pinch", program("sleep_holding"))
    result = pinch("whatif", "-o", "text", "--cause", "sleep", "t.pinch")
    assert result.status == 0 and not result.out, result.text
    with open("text", encoding="utf-8") as file:
        text = file.read()
    assert "replay error" in text and "With cause sleep taking half the time: " in text, text
    for arguments, status, about in (
            (("nothing",), 1, "nothing"), ((), 2, "no trace given"), (("text",), 1, "text is not a pinch trace"),
            (("--lock", "nobody", "t.pinch"), 1, "nobody"), (("--scale", "2", "t.pinch"), 2, "--scale"),
            (("--scale", "nan", "t.pinch"), 2, "--scale"), (("--cpus", "0", "t.pinch"), 2, "--cpus"),
            (("--lock", "a", "--path", "b", "t.pinch"), 2, "only one"), (("--line", "12", "t.pinch"), 2, "--line"),
            (("--function", "nobody", "t.pinch"), 1, "nobody"), (("--path", ";;", "t.pinch"), 1, ";;")):
        result = pinch("whatif", *arguments)
        assert result.status == status and about in result.text and result.text.count("\n") == 1, \
            (arguments, result.status, result.text)


if __name__ == "__main__":
    sys.exit(main())
