#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Rows of a trace that are asked for at random, beside what pinch dump prints of all of it: of traces of real programs,
whole, damaged, merged, and a flight recorder's.
"""
import json
import os
import random
import subprocess
import sys

from lib import BUILD, Skip, main, pinch, program, read, test

ROWS_PRINT = os.path.join(BUILD, "tests", "rows_print")


def record(*command, options=(), out="t.pinch"):
    result = pinch("record", "-q", "-o", out, *options, "--", *command)
    assert result.status == 0, result.text
    return out


def dump(*options, trace="t.pinch", status=0):
    result = pinch("dump", *options, trace)
    assert result.status == status, result.text
    return result.out.decode().split("\n")[:-1]


def ask(questions, words=(), trace="t.pinch"):
    """What the list of events answers, a question at a time."""
    if not os.path.exists(ROWS_PRINT):
        raise Skip("rows_print is not built here")
    result = subprocess.run([ROWS_PRINT, trace, *words], input="\n".join(questions) + "\n", stdout=subprocess.PIPE,
                            encoding="utf-8", check=True, timeout=60)
    decoder, answers, at = json.JSONDecoder(), [], 0
    while at < len(result.stdout):
        answer, at = decoder.raw_decode(result.stdout, at)
        answers.append(answer)
        at += 1
    assert len(answers) == len(questions), (len(answers), questions)
    return answers


def line_of(row):
    """As pinch dump prints it."""
    sign, ns = "-" if row["time_ns"] < 0 else "", abs(row["time_ns"])
    head = f"{sign}{ns // 10**9}.{ns % 10**9:09} {row['thread']} {row['event']}"
    return f"{head} {row['text']}" if row["text"] else head


def all_rows(count, **arguments):
    answers = ask(["count"] + [f"get {row} 256" for row in range(0, count, 256)], **arguments)
    assert answers[0]["rows"] == count, (answers[0], count)
    return [row for answer in answers[1:] for row in answer["events"]]


def check_jumps(lines, chance, words=(), trace="t.pinch", is_guessed=False):
    """Rows at random are these lines; before they are counted, too, where that can be."""
    jumps = [(chance.randrange(len(lines)), chance.randint(1, 200)) for _ in range(60)] if lines else []
    times = sorted(chance.randrange(3 * 10**9) for _ in range(20))
    questions = [f"get {row} {count}" for row, count in jumps]
    asked = [*(questions if is_guessed else []), "count", *questions, *(f"at {ns}" for ns in times)]
    answers = ask(asked, words, trace)
    if is_guessed:
        check_answers(answers[:len(jumps)], jumps, lines, False)
        answers = answers[len(jumps):]
    assert answers[0]["rows"] == len(lines), (words, answers[0], len(lines))
    check_answers(answers[1:len(jumps) + 1], jumps, lines, True)
    shown = [int(line.split(" ", 1)[0].replace(".", "")) for line in lines]
    for ns, answer in zip(times, answers[len(jumps) + 1:]):
        assert answer["row"] == next((i for i, time_ns in enumerate(shown) if time_ns >= ns), len(lines)), (ns, answer)


def check_answers(answers, jumps, lines, is_counted):
    for answer, (row, count) in zip(answers, jumps):
        got = answer["events"]
        assert (answer["first"], answer["rows"], answer["is_counted"]) == (row, len(lines), is_counted), answer
        assert got and len(got) <= count, (len(got), count)
        assert [e["row"] for e in got] == list(range(row, row + len(got)))
        assert [line_of(e) for e in got] == lines[row:row + len(got)], row


def check_cpus(lines, rows):
    """Where events are is what filters of CPUs choose; behind several gaps it may be unknown."""
    assert [line_of(row) for row in rows] == lines
    unknown = 0
    for cpu in range(os.cpu_count()):
        wanted, at = dump("--cpu", cpu), 0
        found = [line_of(row) for row in rows if row["cpu"] == cpu]
        for line in wanted:
            at += at < len(found) and found[at] == line
        assert at == len(found), (cpu, found[at])
        unknown += len(wanted) - at
    assert unknown <= len(rows) / 1000, unknown


@test("rows at random are the lines of a dump, and say who and where")
def whole():
    record(program("mutex_storm"), 4, 60000)
    lines = dump()
    check_jumps(lines, random.Random(1), is_guessed=True)
    rows = all_rows(len(lines))
    check_cpus(lines, rows)
    storm = [row for row in rows if row["process"] == "mutex_storm"]
    assert len({row["tid"] for row in storm}) >= 5 and {row["name"] for row in storm} >= {"mutex_storm"}
    assert {row["host"] for row in rows} == {""}


@test("rows of filters are those of a dump with them")
def filtered():
    record(program("mutex_storm"), 4, 20000)
    lines, chance = dump(), random.Random(2)
    last_ns = int(lines[-1].split()[0].replace(".", ""))
    threads = sorted({line.split()[1] for line in lines})
    choices = {"cpu": ["0", "1", "63"], "process": ["mutex_storm", "nobody"], "thread": threads, "host": ["other"],
               "subsystem": ["sched", "thread", "none"], "event": ["SWITCH", "sched.WAKE", "thread.BORN"]}
    for _ in range(25):
        chosen = [(kind, word) for kind in chance.sample(list(choices), chance.choice((0, 1, 1, 2)))
                  for word in chance.sample(choices[kind], chance.randint(1, min(2, len(choices[kind]))))]
        if [kind for kind, _ in chosen].count("thread") > 1:
            continue    # a dump takes several; so do rows, but not in the words of this test
        options = [word for kind, value in chosen for word in (f"--{kind}", value)]
        words = [f"{kind}={value}" for kind, value in chosen]
        for name in ("from", "to"):
            if chance.random() < 0.3:
                ns = 1 + chance.randrange(last_ns)
                options += [f"--{name}", f"{ns}ns"]
                words.append(f"{name}={ns}")
        search = chance.choice((None, None, "WAKE", "next=1", "nothing like that"))
        if search:
            words.append(f"search={search}")
        wanted = [line for line in dump(*options) if not search or search.lower() in line.lower()]
        check_jumps(wanted, chance, words)


@test("a flight recorder's rows are the lines of a dump")
def ring():
    record(program("mutex_storm"), 4, 200000, options=("--ring", "2M"))
    lines = dump()
    check_jumps(lines, random.Random(3))
    check_jumps([line for line in lines if " sched.WAKE " in line], random.Random(4), ["event=WAKE"])


@test("what is damaged has no rows, and all others are there")
def damaged():
    chance = random.Random(5)
    whole = read(record(program("mutex_storm"), 4, 60000), "rb")
    for _ in range(4):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(64, len(data))] ^= 1 << chance.randrange(8)
        with open("bad.pinch", "wb") as file:
            file.write(data)
        status = pinch("dump", "bad.pinch").status
        lines = dump(trace="bad.pinch", status=status)
        check_jumps(lines, chance, trace="bad.pinch")


@test("rows of a merged trace are the lines of its dump")
def merged():
    for name in ("a", "b"):
        record(program("mutex_storm"), 3, 5000, out=f"{name}.pinch")
    result = pinch("merge", "-o", "t.pinch", "a.pinch", "b.pinch")
    assert result.status == 0, result.text
    lines = dump()
    check_jumps(lines, random.Random(6), is_guessed=True)
    check_cpus(lines, all_rows(len(lines)))


if __name__ == "__main__":
    sys.exit(main())
