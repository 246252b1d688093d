# SPDX-License-Identifier: GPL-2.0-or-later
"""
What tests of pinch export share: traces, what pinch says of them in other ways, and protoc as a decoder.
"""
import json
import os
import shutil
import subprocess
from collections import defaultdict

from lib import HERE, LIMIT_S, Skip, parse_report, pinch, read

PROTO = os.path.join(HERE, "proto")
BLOCKED, RUNNABLE, RUNNING = "blocked", "runnable", "running"


def record(*command, options=()):
    result = pinch("record", "-q", "-o", "t.pinch", *options, "--", *command)
    assert result.status == 0, result.text


def export(form, *options, trace="t.pinch"):
    name = f"out.{form}"
    result = pinch("export", "--format", form, "-o", name, *options, trace)
    assert result.status == 0, result.text
    return read(name, "rb")


def report(trace="t.pinch"):
    result = pinch("report", "--json", "report.json", "-q", "--top", 1000, trace)
    assert result.status == 0, result.text
    return parse_report(read("report.json", "rb"))


def dump(*options, trace="t.pinch"):
    result = pinch("dump", "--json", *options, trace)
    assert result.status == 0, result.text
    return [json.loads(line) for line in result.out.splitlines()]


def protoc(proto, message, content):
    """What protoc says of it, as dictionaries of lists."""
    if not shutil.which("protoc"):
        raise Skip("there is no protoc: install protobuf-compiler")
    done = subprocess.run(["protoc", f"--decode={message}", f"--proto_path={PROTO}", proto], input=content,
                          capture_output=True, timeout=LIMIT_S, check=True)
    stack = [defaultdict(list)]
    for line in done.stdout.decode().splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith("{"):
            inner = defaultdict(list)
            stack[-1][line.split(" ", 1)[0]].append(inner)
            stack.append(inner)
        else:
            name, value = line.split(": ", 1)
            assert not name.isdigit(), f"a field that the format does not have: {line}"
            stack[-1][name].append(value)
    return stack[0]


def number(message, name, other=0):
    value = message[name][0] if message[name] else other
    return int(value, 0) if isinstance(value, str) else value


def kind_of(state):
    if state in ("running", "spinning"):
        return RUNNING
    return state if state in (RUNNABLE, "unknown") else BLOCKED
