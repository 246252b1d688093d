# SPDX-License-Identifier: GPL-2.0-or-later
"""
Functions of JavaScript in call paths of Node.js, which is started without any flag: their names, files and lines,
against the program's own text.

NODE=/path/to/node tests another one.
"""
import json
import os
import re
import signal
import subprocess
import sys

import lib
from lib import PINCH, read, run, script, start, test, wait_until

MODULES = ("[javascript]", "[node]")
BURN_MS = 250
MANAGED_JAVASCRIPT = 2  # of events/values.h

# What calls what, innermost first, in names.js.
CHAINS = [
    ("burn", "add", "count", "compute"),
    ("burn", "Parser", "compute"),
    ("burn", "#scan", "parse", "compute"),
    ("burn", "each", "map", "of", "compute"),
    ("burn", "名前", "compute"),
    ("burn", "numbers", "next", "compute"),
    ("burn", "evaluated", "compute"),
    ("burn", "fetchAll"),
    ("burn", "onTimer", "listOnTimeout"),
    ("burn", "inWorker"),
]


def node():
    path = os.environ.get("NODE") or lib.find("node")
    if not path:
        raise lib.Skip("node is not installed")
    return path


def names_of(stack):
    return [f["function"] for f in stack if f["module"] in MODULES]


def lines_of(path):
    """The line in which each function of a program begins, as its comments say."""
    found = {}
    for number, line in enumerate(read(path).splitlines(), 1):
        match = re.search(r"// @(\S+)$", line)
        if match:
            found[match[1]] = number
    return found


def all_stacks(report):
    return [p["stack"] for p in report["paths"]] + [w["stack"] for w in report["waits"]]


def has_chain(names, chain):
    """The names follow each other, perhaps with some of Node.js between them."""
    rest = iter(names)
    return names[:1] == [chain[0]] and all(name in rest for name in chain)


def check_names(report):
    lines = lines_of(script("names.js"))
    stacks = all_stacks(report)
    for chain in CHAINS:
        assert any(has_chain(names_of(s), chain) for s in stacks), (chain, [names_of(s) for s in stacks])
    seen = set()
    for frame in (f for s in stacks for f in s):
        if frame["module"] == "[javascript]" and (frame["file"] or "").endswith("names.js"):
            name = frame["function"]
            if name in lines:
                assert frame["line"] == lines[name], (frame, lines[name])
                seen.add(name)
            assert not frame["is_guessed"] and not frame["is_inlined"], frame
    assert {name for chain in CHAINS for name in chain if name in lines} <= seen, (lines.keys(), seen)


def run_names(*options):
    return run(node(), script("names.js"), BURN_MS, options=["--nmin", 100, "--top", 1000, *options])


@test("Node.js without flags: functions of all kinds have their names, files and lines")
def all_kinds():
    check_names(run_names().report)


@test("Node.js without flags: a replay of the trace has the same names")
def replay():
    result = lib.pinch("record", "-o", "t.pinch", "--nmin", 100, "--", node(), script("names.js"), BURN_MS)
    assert result.status == 0, result.text
    reports = []
    for name in ("a.json", "b.json"):
        result = lib.pinch("report", "--top", 1000, "--json", name, "t.pinch")
        assert result.status == 0, result.text
        reports.append(lib.parse_report(read(name, "rb")))
    assert reports[0] == reports[1]
    check_names(reports[0])
    events = [json.loads(line) for line in lib.pinch("dump", "--json", "t.pinch").out.splitlines()]
    functions = [e for e in events if e["event"] == "space.MANAGED_CODE" and e["fields"]["language"] == MANAGED_JAVASCRIPT]
    assert {"burn", "parse"} <= {e["fields"]["function"][0] for e in functions}, functions[:5]


def shares(report):
    """Of all frames of generated code and of JavaScript, those with a name, each as heavy as its path."""
    named = nameless = 0
    for path in report["paths"]:
        for frame in path["stack"]:
            if frame["module"] in (*MODULES, "[jit]"):
                if frame["function"]:
                    named += path["cmetric_ns"]
                else:
                    nameless += path["cmetric_ns"]
    return named, nameless


@test("Node.js without flags: nearly all of its frames of JavaScript have a name")
def share():
    named, nameless = shares(run_names().report)
    print(f"# {100 * named / (named + nameless):.1f} % have a name", flush=True)
    # An isolate that ends, that of the worker, takes its functions along before they are read.
    assert named > 0 and nameless < 0.05 * named, (named, nameless)


SERVER = """
"use strict";
const http = require("http");
const text = JSON.stringify(Array.from({ length: 200000 }, (_, id) => ({ id, name: "a name", lines: [1, 2, 3] })));
function importOrders(request) {
  return String(JSON.parse(text).length);
}
const server = http.createServer((request, response) => response.end(importOrders(request)));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
"""


@test("Node.js without flags: the report names the function that keeps a server busy, with file and line")
def headline():
    with open("server.js", "w") as file:
        file.write(SERVER)
    server = start(node(), "server.js", stdout=subprocess.PIPE)
    port = int(lib.read_line(server))
    tracer = start(PINCH, "attach", "--json", "report.json", "-o", "report.txt", "-p", server.pid,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        wait_until(lambda: tracer.poll() is not None or lib.links_of(tracer.pid), "pinch to attach")
        client = subprocess.run([node(), "-e", f"""
            const http = require("http");
            let left = 20;
            const next = () => left-- && http.get("http://127.0.0.1:{port}/", (answer) => {{
              answer.resume(); answer.on("end", next);
            }});
            next();
        """], timeout=lib.LIMIT_S)
        assert client.returncode == 0
        tracer.send_signal(signal.SIGINT)
        result = lib.finish(tracer)
        assert result.status == 0, result.text
    finally:
        lib.stop(server)
    # V8's own threads may want the CPUs, too: then the lack of them is said first, and the code below.
    report = lib.parse_report(read("report.json", "rb"))
    said = report["verdict"]["lines"] + [f["title"] for f in report["findings"][:2]]
    text = " ".join(read("report.txt").split())
    assert re.search(r"\bimportOrders \(\S*server\.js:5\)", text), text
    assert not any("+0x" in words for words in said), said


# A program that says it has a V8, and has on its stack what V8 would have: a frame of a function of JavaScript.
FAKE = r"""
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#define NUMBER(name, value) __attribute__((visibility("default"))) const int name = value;
NUMBERS
static uint64_t heap[4096] __attribute__((aligned(4096)));
void wait_shortly(void)
{
	struct timespec a_while = { 0, 1000000 };

	nanosleep(&a_while, 0);
}
void javascript(uint64_t context, uint64_t function);
__asm__(".text\n.globl javascript\n.type javascript, @function\njavascript:\n"
	"push %rbp\nmov %rsp, %rbp\nsub $32, %rsp\nmov %rdi, -8(%rbp)\nmov %rsi, -16(%rbp)\n"
	"call wait_shortly\nleave\nret\n.size javascript, . - javascript\n");
static uint64_t word(size_t i)
{
	return (uint64_t)&heap[i] + 1;
}
static void string(size_t i, const char *text)
{
	heap[i] = word(900);
	heap[i + 1] = strlen(text) << 32;
	memcpy(&heap[i + 2], text, strlen(text));
}
int main(void)
{
	heap[901] = 8ull << 32;          /* maps: of strings, */
	heap[911] = 262ull << 32;        /* of SharedFunctionInfos, */
	heap[921] = 167ull << 32;        /* of Scripts */
	heap[0] = 0;                     /* a JSFunction */
	heap[3] = word(100);
	heap[100] = word(910);           /* its SharedFunctionInfo */
	heap[102] = word(200);           /* name */
	heap[104] = word(300);           /* script */
	heap[300] = word(920);
	heap[302] = word(400);
	string(200, "forged");
	string(400, "/srv/forged.js");
	FILL
	for (int i = 0; i < 300; i++)
		javascript(word(0), word(0));
	return 0;
}
"""

# What node exports.
NUMBERS = {
    "_ZN2v88internal7Version6major_E": 11, "_ZN2v88internal7Version6minor_E": 3, "v8dbg_TaggedSize": 8,
    "v8dbg_HeapObjectTag": 1, "v8dbg_HeapObjectTagMask": 3, "v8dbg_SmiShiftSize": 31, "v8dbg_off_fp_context": -8,
    "v8dbg_off_fp_function": -16, "v8dbg_class_JSFunction__shared__SharedFunctionInfo": 24,
    "v8dbg_scopeinfo_idx_ncontextlocals": 2, "v8dbg_scopeinfo_idx_first_vars": 3,
    "v8dbg_class_HeapObject__map__Map": 0, "v8dbg_class_Map__instance_type__uint16_t": 12,
    "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE": 262, "v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE": 261,
    "v8dbg_type_Script__SCRIPT_TYPE": 167, "v8dbg_type_FixedArray__FIXED_ARRAY_TYPE": 175,
    "v8dbg_FirstNonstringType": 128, "v8dbg_StringRepresentationMask": 7, "v8dbg_OneByteStringTag": 8,
    "v8dbg_SeqStringTag": 0, "v8dbg_ConsStringTag": 1, "v8dbg_ExternalStringTag": 2, "v8dbg_SlicedStringTag": 3,
    "v8dbg_ThinStringTag": 5, "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object": 16,
    "v8dbg_class_SharedFunctionInfo__script_or_debug_info__HeapObject": 32,
    "v8dbg_class_SharedFunctionInfo__raw_function_token_offset__int16_t": 44, "v8dbg_class_Script__name__Object": 16,
    "v8dbg_class_Script__source__Object": 8, "v8dbg_class_Script__line_ends__Object": 56,
    "v8dbg_class_String__length__int32_t": 12, "v8dbg_class_SeqOneByteString__chars__char": 16,
    "v8dbg_class_ConsString__first__String": 16, "v8dbg_class_ConsString__second__String": 24,
    "v8dbg_class_SlicedString__parent__String": 16, "v8dbg_class_SlicedString__offset__SMI": 24,
    "v8dbg_class_ThinString__actual__String": 16, "v8dbg_class_ExternalString__resource__Object": 16,
    "v8dbg_class_FixedArrayBase__length__SMI": 8, "v8dbg_class_FixedArray__data__uintptr_t": 16,
}


def fake(fill="", **changed):
    """The frames of the stacks that wait, behind wait_shortly(), and the report."""
    if not lib.find("gcc"):
        raise lib.Skip("gcc is not installed")
    with open("fake.c", "w") as file:
        file.write(FAKE.replace("FILL", fill).replace("NUMBERS", "\n".join(
            f"NUMBER({name}, {value})" for name, value in {**NUMBERS, **changed}.items())))
    subprocess.run(["gcc", "-g", "-O1", "-rdynamic", "-o", "fake", "fake.c"], check=True)
    report = run("./fake", options=["--nmin", 100, "--critical-slices"]).report
    stacks = [p["stack"] for p in report["paths"] if "wait_shortly" in [f["function"] for f in p["stack"]]]
    assert stacks, lib.describe(report)
    frames = []
    for stack in stacks:
        functions = [f["function"] for f in stack]
        assert "main" in functions, functions
        frames.append(stack[functions.index("wait_shortly") + 1])
    return frames, report


@test("a program that has what V8 has shows what it says of its function")
def forged():
    frames, _ = fake()
    assert any((f["function"], f["file"], f["module"]) == ("forged", "/srv/forged.js", "[javascript]")
               for f in frames), frames


@test("a V8 of an unknown version has a note, and native frames")
def unknown_version():
    frames, report = fake(_ZN2v88internal7Version6major_E=99)
    assert all(f["function"] == "javascript" and f["module"] == "fake" for f in frames), frames
    assert any("V8 99.3" in note for note in report["notes"]), report["notes"]


@test("what a program has in the heap of its V8 may be anything")
def hostile():
    fills = ["for (int i = 0; i < 4096; i++) heap[i] = word(0);",       # all leads to itself
             "memset(heap, 0xff, sizeof(heap));",
             "heap[200] = word(930); heap[931] = 9ull << 32; heap[202] = heap[203] = word(200);",   # a string of itself
             "heap[201] = ~0ull;",
             "heap[102] = 0xffffffff81000001; heap[104] = 0xffffffff81000001;"]
    for fill in fills:
        frames, report = fake(fill)
        assert not any(f["function"] == "forged" for f in frames) or "heap[201]" in fill, (fill, frames)
        assert report["stacks"]["ns"] < 0.5 * report["target"]["wall_ns"], report["stacks"]


if __name__ == "__main__":
    sys.exit(lib.main(jobs=2))
