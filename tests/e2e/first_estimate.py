#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report says would have made the run shorter, against pinch whatif on the same trace."""
import json
import os
import subprocess
import sys

from lib import main, pinch, program, read, read_line, start, test

GAIN_MIN = 0.02


def check(report):
    """What holds of any report that has some."""
    whatifs, run_ns = report["whatifs"], report["target"]["wall_ns"]
    assert len(whatifs) <= 3, whatifs
    assert len({w["predicted_ns"] for w in whatifs}) == len(whatifs), whatifs
    predicted = [w["predicted_ns"] for w in whatifs]
    assert predicted == sorted(predicted), "the best comes first"
    for whatif in whatifs:
        gain = whatif["run_ns"] - whatif["predicted_ns"]
        assert abs(whatif["run_ns"] - run_ns) <= 0.02 * run_ns, (whatif, run_ns)
        assert whatif["least_ns"] <= whatif["predicted_ns"] <= whatif["most_ns"] < whatif["run_ns"], whatif
        assert gain >= GAIN_MIN * whatif["run_ns"], whatif
        assert gain > max(whatif["most_ns"] - whatif["predicted_ns"], whatif["predicted_ns"] - whatif["least_ns"]), whatif


def told_by_whatif(trace, whatif):
    options = ["--cpus", whatif["name"]] if whatif["kind"] == "cpus" else \
        [f"--{whatif['kind']}", whatif["name"], "--scale", whatif["scale"]]
    result = pinch("whatif", "--json", "-", *options, trace)
    assert result.status == 0, result.text
    return json.loads(result.out)


@test("a report has what pinch whatif predicts, the report of the trace has the same, and neither leaves a file")
def same():
    # Whether the run's end is awaited by who is on a busy machine is up to that: then there is none.
    for _ in range(5):
        result = pinch("run", "--trace", "t.pinch", "--json", "live.json", "-o", "live.txt", "--",
                       program("changed_code"), "compressor", 100)
        assert result.status == 0, result.text
        live = json.loads(read("live.json"))
        check(live)
        replayed = pinch("report", "-q", "--json", "-", "t.pinch")
        assert json.loads(replayed.out)["whatifs"] == live["whatifs"], live["whatifs"]
        assert not os.path.exists("t.pinch.states"), "the index of the trace is left"
        if live["whatifs"]:
            break
    names = [whatif["name"] for whatif in live["whatifs"]]
    assert "hot" in names or "spend" in names, live["whatifs"]
    lines = read("live.txt").split("\nWhat if ")[1].split("\n\n")[0].split("\n")
    assert 2 <= len(lines) <= 4 and any("twice as fast" in line for line in lines), lines
    for whatif in live["whatifs"]:
        told = told_by_whatif("t.pinch", whatif)
        for key in ("predicted_ns", "least_ns", "most_ns"):
            assert told[key] == whatif[key], (whatif, told)
        assert told["recorded_ns"] == whatif["run_ns"], (whatif, told)


@test("a run of which no trace is asked for has it, too, and leaves nothing")
def without_trace():
    for _ in range(5):
        result = pinch("run", "--json", "live.json", "--", program("changed_code"), "compressor", 50)
        assert result.status == 0, result.text
        live = json.loads(read("live.json"))
        check(live)
        if live["whatifs"]:
            break
    assert live["whatifs"] and "What if" in result.text, result.text
    assert os.listdir() == ["live.json"], os.listdir()


@test("nothing is predicted of processes that go on, nor of a part of a run")
def parts():
    target = start(program("deadlock"), stdout=subprocess.PIPE)
    assert read_line(target) == b"stuck\n"
    result = pinch("attach", "--json", "live.json", "--duration", "200ms", "-p", target.pid)
    assert result.status == 0, result.text
    assert json.loads(read("live.json"))["whatifs"] == [] and "What if" not in result.text, result.text
    assert pinch("record", "-q", "-o", "t.pinch", "--", program("changed_code"), "compressor", 50).status == 0
    # How long pinch prepares before the command begins, and how long that takes, is up to the machine.
    lines = [line.split() for line in pinch("dump", "t.pinch").out.decode().splitlines()]
    begin_ms = next(1000 * float(line[0]) for line in lines if line[2] == "space.EXEC")
    middle_ms = int(begin_ms + 1000 * float(lines[-1][0])) // 2
    for part in ("--to", f"{middle_ms}ms"), ("--from", f"{middle_ms}ms"):
        assert pinch("cut", "-o", "part.pinch", *part, "t.pinch").status == 0
        assert json.loads(pinch("report", "-q", "--json", "-", "part.pinch").out)["whatifs"] == [], part


if __name__ == "__main__":
    sys.exit(main(jobs=2))
