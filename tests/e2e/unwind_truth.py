# SPDX-License-Identifier: GPL-2.0-or-later
"""
Random programs that know their own stack (tests/unwind/generate.py) block at several places: there,
the kernel side's unwinder finds the frames that the program says, all of them and no others.

Environment: PROGRAMS, how many; SEED, the number of the first one. With PROGRAMS=1 SEED=N KEEP=1
the program that failed is kept.
"""
import bisect
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys

import lib
from lib import ROOT, test

sys.path.insert(0, os.path.join(ROOT, "tests", "unwind"))
import generate     # noqa: E402
from random_program import COMPILERS, Program   # noqa: E402

PROBE = os.path.join(lib.BUILD, "tests", "unwind_probe")
PROGRAMS = int(os.environ.get("PROGRAMS", 60))
SEED = int(os.environ.get("SEED", 0))
AT_ONCE = 2
COMPILE_LIMIT_S = 120
FAILURES_SHOWN = 5
TRACED_LEVELS = ("-O0", "-O2", "-O3")

# Of libc's and the runtime: below what calls shadow_block(), and above main() or a constructor.
INNERMOST_MAX = 2
OUTERMOST_MAX = 6
BETWEEN_MAX = 24

TAIL, EXACT = 1, 2                  # enum of shadow.h
COMPLETE, NO_TABLE = 0, 2           # enum stack_end
STACK_ENDS = ("complete", "truncated", "no_table", "unreadable")


# --- What a program tells -------------------------------------------------------------------------

class Text:
    """Which addresses belong to the functions of the generated program, and not to libc in it."""

    def __init__(self, path, place_of, address):
        own = {name for name, _, _ in self.symbols(f"{path}.o") if not name.startswith("shadow_")}
        found = self.symbols(path if place_of == "main" else f"{path}.so")
        self.ranges = sorted((begin, begin + size, name) for name, begin, size in found
                             if name in own and size)
        self.bias = address - next(begin for name, begin, _ in found if name == place_of)

    @staticmethod
    def symbols(path):
        """Functions: (name, address, size in bytes)."""
        done = subprocess.run(["nm", "--defined-only", "-CS", path], capture_output=True,
                              text=True, check=True)
        lines = re.findall(r"^(\w+) (?:(\w+) )?[tTwWuU] (.*)$", done.stdout, re.MULTILINE)
        return [(lib.base_name(name).split(".")[0], int(begin, 16), int(size or "0", 16))
                for begin, size, name in lines]

    def function_of(self, address):
        """Of a return address: that of the call before it. None when it is none of ours."""
        place = address - self.bias - 1
        i = bisect.bisect(self.ranges, (place + 1,)) - 1
        if i >= 0 and self.ranges[i][0] <= place < self.ranges[i][1]:
            return self.ranges[i][2]
        return None


def texts_of(directory, words):
    texts = [Text(f"{directory}/main", "main", words["main"])]
    if words["library"]:
        texts.append(Text(f"{directory}/library", "t_inside", words["library"]))
    return texts


def own_function(texts, address):
    return next((name for name in (t.function_of(address) for t in texts) if name), None)


class Failure(Exception):
    pass


def truth_of(entries):
    """[(address, kind)], innermost first, with what tail calls left double taken once."""
    frames = []
    for address, kind in reversed(entries):
        if frames and frames[-1][0] == address and frames[-1][1] == TAIL and kind != EXACT:
            frames[-1] = (address, kind)
        else:
            frames.append((address, kind))
    return [address for address, _ in reversed(frames)]


def why_different(truth, stack, end, ends, is_own):
    """None when the stack is the truth. Between two frames of the program nothing may lie."""
    at = unknown = 0
    if any(is_guessed for _, is_guessed in stack):
        return "a frame is guessed"
    for i, (frame, _) in enumerate(stack):
        if at < len(truth) and frame == truth[at]:
            at, unknown = at + 1, 0
            continue
        if is_own(frame):
            return f"frame {i}, {frame:#x}, is not what the program tells: " \
                   f"{hex(truth[at]) if at < len(truth) else 'the end'}"
        # Only libc's callers are libc's: what calls the program's functions they tell.
        if at and is_own(truth[at - 1]):
            return f"frame {i}, {frame:#x}, lies between two of the program"
        unknown += 1
        limit = INNERMOST_MAX if not at else BETWEEN_MAX if at < len(truth) else OUTERMOST_MAX
        if unknown > limit:
            return f"more than {limit} frames that are not the program's, up to frame {i}"
    if at < len(truth):
        return f"{len(truth) - at} frames are missing from {truth[at]:#x} on"
    return None if end in ends else f"it ends with {end}, not complete"


def is_reading(pid):
    return lib.read(f"/proc/{pid}/syscall").startswith("0 0x0 ")


def read_stack(process):
    """What the program says when it blocks: {word: address} and its frames. None at its end."""
    words, entries = {}, []
    while True:
        line = lib.read_line(process).decode().split()
        if not line:
            return None
        if line[0] == "blocked":
            lib.wait_until(lambda: is_reading(words["pid"]), "the program to block")
            return words, entries
        address, kind = int(line[1], 16), int(line[2])
        if line[0] == "frame":
            entries.append((address, kind))
        else:
            words[line[0]] = address


def each_stop(process, directory):
    """Lets the program run; at each place where it blocks: (its texts, the true stack)."""
    texts = None
    while reported := read_stack(process):
        words, entries = reported
        texts = texts or texts_of(directory, words)
        yield texts, truth_of(entries)
        process.stdin.write(b"\n")
        process.stdin.flush()


# --- The unwinder on the host ---------------------------------------------------------------------

def probe(pid):
    done = subprocess.run([PROBE, "--print", str(pid)], capture_output=True, text=True,
                          timeout=lib.LIMIT_S)
    lines = done.stdout.splitlines()
    if done.returncode or not lines or not lines[-1].startswith("end "):
        raise Failure(f"the probe failed: {done.stdout}{done.stderr}")
    stack = [(int(line.split()[0], 16), "guessed" in line) for line in lines[:-1]]
    return stack, int(lines[-1].split()[1])


def module_of(pid, address):
    for line in lib.read(f"/proc/{pid}/maps").splitlines():
        words = line.split()
        begin, end = (int(n, 16) for n in words[0].split("-"))
        if begin <= address < end:
            return f"{os.path.basename(words[5]) if len(words) > 5 else '?'}" \
                   f"+{address - begin + int(words[2], 16):#x}"
    return "?"


def describe(pid, frames, texts):
    lines = []
    for frame in frames:
        lines.append(f"  {frame:#x} {module_of(pid, frame)} {own_function(texts, frame) or ''}")
    return lines


def ends_of(program):
    """
    How its stacks may end. ld.so, which calls a library's constructors, tells nothing of who
    called the code that it begins with.
    """
    if program.root.kind == "constructor" and program.root.unit:
        return COMPLETE, NO_TABLE
    return COMPLETE,


def check_stacks(process, directory, program):
    """Each place where the program blocks; returns how many there are."""
    count, is_whole = 0, False
    for texts, truth in each_stop(process, directory):
        stack, end = probe(process.pid)
        reason = why_different(truth, stack, end, ends_of(program),
                               lambda frame: own_function(texts, frame))
        if reason:
            raise Failure("\n".join(
                [f"stop {count}: {reason}", "the program tells:",
                 *describe(process.pid, truth, texts), f"ours, end {end}:",
                 *describe(process.pid, [frame for frame, _ in stack], texts)]))
        count += 1
        is_whole = is_whole or own_function(texts, truth[0]) == program.innermost.title
    status = process.wait(lib.LIMIT_S)
    if status or not is_whole:
        raise Failure(f"the program ended with {status} after {count} stops, "
                      f"{'' if is_whole else 'not '}at the end of its chain")
    return count


def unwind_by_probe(directory, program):
    process = lib.start(f"{directory}/main", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        return check_stacks(process, directory, program)
    finally:
        lib.stop(process)
        lib.processes.remove(process)


# --- The kernel's own -----------------------------------------------------------------------------

def traced_paths(report, own):
    """
    The call paths to shadow_block(): {(the program's functions, innermost first; its end)}. The program's own stack lacks
    what went on by a jump, and was put back.
    """
    paths = set()
    for path in report["paths"]:
        names = lib.functions_of({"stack": [frame for frame in path["stack"] if not frame["is_tail_call"]]})
        if "shadow_block" in names and not any(frame["is_guessed"] for frame in path["stack"]):
            paths.add((" < ".join(name for name in names if name in own), path["stack_end"]))
    return paths


def why_untrue(reported, whole, cut):
    """What is wrong with the paths. Those from before pinch had the tables may be cut off."""
    return [
        *(f"missing: {names}" for names in reported
          if names not in whole and not any(names.startswith(part) for part in cut)),
        *(f"not found: {names}" for names in whole.difference(reported)),
        *(f"not how any begins: {part}" for part in cut
          if not any(names.startswith(part) for names in reported)),
    ]


def unwind_by_pinch(directory, program):
    """Traces the program: the call paths in the report are what it says. Counts the whole ones."""
    reported, own = [], set()
    report = f"{directory}/report.json"
    process = lib.start(lib.PINCH, "run", "--json", report, "--nmin", 4, "--top", 1000, "--critical-slices", "-q", "--",
                        f"{directory}/main", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE)
    for texts, truth in each_stop(process, directory):
        names = [own_function(texts, address) for address in truth]
        if not reported:
            own = {name for text in texts for _, _, name in text.ranges}
        reported.append(" < ".join(name for name in names if name))
    result = lib.finish(process)
    if result.status:
        raise Failure(f"pinch ended with {result.status}: {result.text}")
    found = traced_paths(lib.parse_report(lib.read(report, "rb")), own)
    ends = {STACK_ENDS[end] for end in ends_of(program)}
    whole = {names for names, end in found if end in ends}
    wrong = why_untrue(reported, whole, {names for names, end in found if end not in ends})
    if wrong:
        raise Failure("\n".join(wrong))
    return len(whole.intersection(reported))


# --- Programs -------------------------------------------------------------------------------------

def run_program(seed, unwind):
    """(stacks compared, None), or what is wrong."""
    directory = os.path.abspath(str(seed))
    os.makedirs(directory)
    program = Program(seed)
    commands = generate.write(program, directory)
    try:
        for command in commands:
            done = subprocess.run(command, cwd=directory, capture_output=True, text=True,
                                  timeout=COMPILE_LIMIT_S)
            if done.returncode:
                raise Failure(f"{shlex.join(command)}:\n{done.stderr[:2000]}")
        return unwind(directory, program), None
    except Exception as error:
        what = str(error) if isinstance(error, Failure) else repr(error)
        return 0, "\n".join([f"seed {seed}: {what}", "built by:",
                             *(f"  {shlex.join(command)}" for command in commands)])
    finally:
        if not os.environ.get("KEEP"):
            shutil.rmtree(directory)


def run_programs(what, seeds, unwind):
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(run_program, seeds, [unwind] * len(seeds)))
    failures = [text for _, text in results if text]
    print(f"# {what}: {len(seeds)} programs, {sum(count for count, _ in results)} stacks, "
          f"{len(failures)} programs failed", flush=True)
    shown = "\n".join(failures[:FAILURES_SHOWN])
    assert not failures, f"{len(failures)} of {len(seeds)} programs differ\n{shown}"
    return [count for count, _ in results]


def run_compiler(compiler):
    if not lib.find(compiler):
        raise lib.Skip(f"{compiler} is not installed")
    seeds = [seed for seed in range(SEED, SEED + PROGRAMS)
             if COMPILERS[seed % 4] == compiler]
    run_programs(compiler, seeds, unwind_by_probe)


@test("gcc's C programs: the stack is what the functions tell")
def gcc():
    run_compiler("gcc")


@test("clang's C programs: the stack is what the functions tell")
def clang():
    run_compiler("clang")


@test("gcc's C++ programs, with exceptions in flight: the stack is what the functions tell")
def gxx():
    run_compiler("g++")


@test("clang's C++ programs, with exceptions in flight: the stack is what the functions tell")
def clangxx():
    run_compiler("clang++")


@test("traced by pinch: the call paths of the places where programs block are what they tell")
def traced():
    seeds = {}
    for seed in range(SEED, SEED + 100):
        program = Program(seed)
        if lib.find(program.compiler):
            seeds.setdefault((program.compiler, program.options[0]), seed)
    counts = run_programs("pinch", [seed for (_, level), seed in seeds.items()
                                    if level in TRACED_LEVELS], unwind_by_pinch)
    assert sum(counts) > len(counts), "hardly a stack was whole"


if __name__ == "__main__":
    sys.exit(lib.main())
