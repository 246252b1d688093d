# SPDX-License-Identifier: GPL-2.0-or-later
"""What pinch whatif predicts of a program, beside how long a changed one takes."""
import os

from lib import Skip, parse, pinch, program

# On a machine that does other things as well, what is the shortest of so many runs counts.
TRIES = 5


# What others want of this machine is no part of the comparison: the programs come before them.
FIRST = ("chrt", "-r", "1")


def record(path, *command):
    result = pinch("record", "-q", "-o", path, "--", *FIRST, *command)
    assert result.status == 0, result.text
    return result.out


def record_speed(path, *command):
    """How many ns of a CPU a part of the program's work took, if the program says how much that was; else 1."""
    work = record(path, *command).strip()
    if not work.isdigit():
        return 1
    report = pinch("report", "-q", "--json", "-", path)
    assert report.status == 0, report.text
    return parse(report.out, "report")["balance"]["threads"]["running_ns"] / int(work)


def whatif(*options, trace="t.pinch"):
    result = pinch("whatif", "--json", "-", *options, trace)
    assert result.status == 0, result.text
    return parse(result.out, "whatif")


def off(a, b):
    return a / b - 1


def check_path(answer):
    """The parts of the critical path are the replay."""
    parts_ns = sum(part["ns"] for part in answer["path"])
    sum_ns = parts_ns * answer["recorded_ns"] / answer["replay_ns"]
    assert abs(off(sum_ns, answer["predicted_ns"])) < 1e-6, (sum_ns, answer["predicted_ns"])
    assert answer["least_ns"] <= answer["predicted_ns"] <= answer["most_ns"], answer


def compare(before, after, *options):
    """
    Predicts how long the command before takes with the options, and runs the command after. That takes as long as it
    would have taken if the CPUs had been as fast as for the one before.
    """
    prediction, was_ns, tried = None, None, []
    for _ in range(TRIES):
        speed = record_speed("t.pinch", *before) / record_speed("after.pinch", *after)
        answer, is_ns = whatif(*options), whatif(trace="after.pinch")["recorded_ns"] * speed
        check_path(answer)
        # The fewer others the machine worked for, the more it is the program that is measured, and what is said of it.
        prediction = min(prediction or answer, answer, key=lambda a: a["predicted_ns"])
        was_ns = min(was_ns or is_ns, is_ns)
        tried.append(f"recorded {prediction['recorded_ns'] / 1e6:.0f} ms, replay {prediction['replay_error']:+.1%}, "
                     f"predicted {prediction['predicted_ns'] / 1e6:.0f} ms ({prediction['least_ns'] / 1e6:.0f} to "
                     f"{prediction['most_ns'] / 1e6:.0f}), it was {was_ns / 1e6:.0f} ms, "
                     f"{off(prediction['predicted_ns'], was_ns):+.1%}")
        if abs(prediction["replay_error"]) <= 0.02 and abs(off(prediction["predicted_ns"], was_ns)) <= 0.10:
            break
    else:
        if abs(prediction["replay_error"]) > 0.02:
            raise Skip("this machine is too busy: " + tried[-1])
        raise AssertionError("\n".join(tried))
    if os.environ.get("V"):
        print(f"# {options}: {'; '.join(tried)}")


def compare_code(shape):
    path = program("changed_code")
    compare((path, shape), (path, shape, 50), "--function", "hot")
