#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Files that a program has mapped, and that are dear to read. Beside it runs a sound program.

Tracing begins no more than STARTUP_S later than with as many plain files, and ends no more than END_S
later; pinch and its helpers stay below MEMORY_BYTES together; no event and no sample is lost; the sound
program's functions have their names; and each of these files has either its function and its line in the
report, or a note that names it. FULL: each alone and larger, 2,000 mutated programs, and the whole machine.
"""
import os
import struct
import subprocess
import sys
import threading
import time

import bomb_maker
from bomb_maker import BOMBS
from elf_maker import CODE_OFFSET, MB
from lib_attacks import FULL, NOBODY, attacker
from lib import PINCH, Skip, check_laws, functions_of, main, parse_report, pinch, read, read_line, start, stop, \
    test

TRACED_S = 2 if FULL else 1
STARTUP_S = 2
END_S = 10
MEMORY_BYTES = 300 * MB
HANG_S = 300 if FULL else 90     # what is still running then is stopped
SOUND = {"bystander_work", "bystander_sleep"}
SMALL_FILES = 30
MUTANTS = 2000 if FULL else 30
MUTANTS_AT_ONCE = 50
MUTANT_SEED = 1


class Mapper:
    """A program that maps files, and runs code in them."""

    def __init__(self):
        self.process = start(attacker("mapper"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert read_line(self.process) == b"ready\n"
        self.pid = self.process.pid

    def map(self, path, offset=0):
        self.process.stdin.write(f"{offset} {os.path.abspath(path)}\n".encode())
        self.process.stdin.flush()
        said = read_line(self.process)
        assert said == b"mapped\n", f"{path}: {said}"


class Memory(threading.Thread):
    """
    The most that a process and its descendants have in memory at a time, each page counted once. Not counted: pages
    of files that are mapped and not written to, which the kernel takes back when it likes.
    """

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak_bytes, self.is_over = pid, 0, threading.Event()
        self.start()

    def run(self):
        while not self.is_over.wait(0.05):
            self.peak_bytes = max(self.peak_bytes, sum(map(self.of, self.family(self.pid))))

    def family(self, pid):
        try:
            children = [c for task in os.listdir(f"/proc/{pid}/task")
                        for c in read(f"/proc/{pid}/task/{task}/children").split()]
        except OSError:
            children = []
        return [pid] + [p for child in children for p in self.family(int(child))]

    @staticmethod
    def of(pid):
        try:
            lines = read(f"/proc/{pid}/smaps_rollup").splitlines()
        except OSError:
            return 0
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))

    def end(self):
        self.is_over.set()
        self.join()
        return self.peak_bytes


class Run:
    """One pinch, with what it took."""

    def __init__(self, *options):
        begun = time.monotonic()
        process = start(PINCH, "attach", "-q", "--top", "1000", "--json", "report.json", "-o", "report.txt",
                        "--duration", f"{TRACED_S}s", *options, stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        memory = Memory(process.pid)
        try:
            err = process.communicate(timeout=HANG_S)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise AssertionError(f"still running after {HANG_S} s") from None
        finally:
            self.peak_bytes = memory.end()
        self.wall_s = time.monotonic() - begun
        assert process.returncode == 0, f"exit status {process.returncode}: {err.decode('utf-8', 'replace')}"
        self.report = parse_report(read("report.json", "rb"))
        self.startup_s = self.report["cost"]["startup_ns"] / 1e9


def traced(files, *options):
    """files: (path, offset of the code in it)."""
    mapper = Mapper()
    for path, offset in files:
        mapper.map(path, offset)
    run = sound_run(mapper, *options)
    stop(mapper.process)
    return run


def sound_run(mapper, *options):
    sound = start(attacker("bystander"), stdout=subprocess.PIPE)
    assert read_line(sound) == b"ready\n"
    run = Run("-p", f"{mapper.pid},{sound.pid}", *options)
    stop(sound)
    return run


def plain_files(count):
    files = []
    for i in range(count):
        path = os.path.abspath(f"plain_{i}.so")
        bomb_maker.plain(path, f"plain_{i}")
        files.append((path, CODE_OFFSET))
    return files


def frames_by_module(report):
    found = {}
    for path in report["paths"]:
        for frame in path["stack"]:
            found.setdefault(frame["module"], []).append(frame)
    return found


def check_run(run, base):
    """Everything that is the same for all bombs, together: what is wrong, in a list."""
    wrong = []
    if run.startup_s > base.startup_s + STARTUP_S:
        wrong.append(f"start-up took {run.startup_s:.1f} s, {base.startup_s:.1f} s with plain files")
    if run.wall_s > base.wall_s + END_S:
        wrong.append(f"the run took {run.wall_s:.1f} s, {base.wall_s:.1f} s with plain files")
    if run.peak_bytes > MEMORY_BYTES:
        wrong.append(f"{run.peak_bytes / MB:.0f} MB in memory, {base.peak_bytes / MB:.0f} MB with plain files")
    losses = {key: run.report["losses"][key] for key in ("samples", "records", "gaps", "mappings")
              if run.report["losses"][key]}
    if losses:
        wrong.append(f"lost: {losses}")
    if not {name for path in run.report["paths"] for name in functions_of(path)} & SOUND:
        wrong.append("the sound program's functions have no names")
    check_laws(run.report, is_lossless=False)
    return wrong


def check_named(report, names):
    """Each file is complete in the report, or a note says that it is not."""
    frames, notes = frames_by_module(report), "\n".join(report["notes"])
    missing = [name for name in names if name not in notes and not any(
        frame.get("function") and frame.get("line") for frame in frames.get(name, ()))]
    return [f"neither complete nor in a note: {missing}; notes: {notes[:2000]!r}"] if missing else []


def check_twice(attempt):
    """attempt() measures, and returns what is wrong. Other programs have the CPUs too: what is wrong is so again."""
    wrong = attempt()
    if wrong:
        wrong = attempt()
    assert not wrong, "; ".join(wrong)


def check_bombs(files):
    """files: (path, offset) of bombs, which are all mapped by one program."""
    plain = plain_files(len(files))

    def attempt():
        base = traced(plain)
        run = traced(files)
        return check_run(run, base) + check_named(run.report, [os.path.basename(path) for path, _ in files])
    check_twice(attempt)


def give_away(path):
    """To another user, as an attacker's would be: what root's own files may cost is for root to say."""
    for each in [path, *(os.path.join(directory, name) for directory, _, names in os.walk(path) for name in names)]:
        os.chown(each, NOBODY, NOBODY, follow_symlinks=False)


def make_bomb(name):
    os.makedirs(name, exist_ok=True)        # some have neighbours
    path = os.path.abspath(f"{name}/bomb_{name}.so")
    try:
        BOMBS[name](path, FULL)
    except OSError as error:
        raise Skip(f"cannot make {name}: {error}") from None
    give_away(os.path.abspath(name))
    return path, CODE_OFFSET


@test("thirty small files whose sections unpack to nearly a gigabyte each")
def small_files():
    files = []
    for i in range(SMALL_FILES):
        path = os.path.abspath(f"packed_{i}.so")
        bomb_maker.packed(path, f"packed_{i}", 128 * MB)
        give_away(path)
        files.append((path, CODE_OFFSET))
    check_bombs(files)


def add_bomb_test(name):
    @test(f"a program file: {name}" + (f", {BOMBS[name].__doc__.rstrip('.')}" if BOMBS[name].__doc__ else ""))
    def one_bomb():
        check_bombs([make_bomb(name)])


if FULL:
    for bomb in BOMBS:
        add_bomb_test(bomb)
else:
    @test("a program file of each kind of bomb, all in one program")
    def all_bombs():
        check_bombs([make_bomb(name) for name in BOMBS])


# --- Files of JIT compilers ------------------------------------------------------------------------

def with_jit_file(path_of, make, size, is_mapped=False):
    """The same program without its file and with it; the file must neither hold up nor cost."""
    def attempt():
        mapper = Mapper()
        base = sound_run(mapper)
        path = path_of(mapper.pid)
        try:
            make(path, size)
            if is_mapped:
                mapper.map(path)
            run = sound_run(mapper)
        finally:
            os.unlink(path)
        stop(mapper.process)
        wrong, notes = check_run(run, base), "\n".join(run.report["notes"])
        # Code that such a file names has its name, or a note says of which process the file was not read to its end.
        if str(mapper.pid) not in notes and "generated" not in str(run.report["paths"]):
            wrong.append(f"neither a name nor a note about process {mapper.pid}: {run.report['notes']}")
        return wrong
    check_twice(attempt)


def in_tmp(pid):
    return f"/tmp/perf-{pid}.map"


def here(pid):
    return os.path.abspath(f"jit-{pid}.dump")


@test("a jitdump of 320 MB that says nothing")
def jit_empty():
    with_jit_file(here, bomb_maker.jit_dump_empty, 320 * MB, True)


@test("a jitdump of 320 MB that says the same name four million times")
def jit_full():
    with_jit_file(here, bomb_maker.jit_dump_full, 320 * MB, True)


@test("a perf-PID.map of ten million lines")
def map_lines():
    with_jit_file(in_tmp, bomb_maker.map_lines, 240 * MB)


@test("a perf-PID.map of a gigabyte without the end of a line")
def map_sparse():
    with_jit_file(in_tmp, bomb_maker.map_sparse, 1024 * MB)


@test("a perf-PID.map of lines of a megabyte")
def map_long():
    with_jit_file(in_tmp, bomb_maker.map_long, (1024 if FULL else 256) * MB)


if FULL:
    @test("a jitdump of 320 MB while the whole machine is traced")
    def jit_all():
        mapper = Mapper()
        base = Run("--all")
        path = here(mapper.pid)
        bomb_maker.jit_dump_empty(path, 320 * MB)
        mapper.map(path)
        run = Run("--all")
        stop(mapper.process)
        # Other programs of the machine may lose events for reasons of their own, but not more of them.
        assert run.report["losses"]["samples"] <= base.report["losses"]["samples"], run.report["losses"]
        assert run.report["losses"]["records"] <= base.report["losses"]["records"], run.report["losses"]
        assert run.startup_s <= base.startup_s + STARTUP_S, (run.startup_s, base.startup_s)
        assert run.wall_s <= base.wall_s + END_S, (run.wall_s, base.wall_s)


# --- Mutations ---------------------------------------------------------------------------------------

def function_in(content, name):
    """Where a function is in an ELF file: its begin and end. The linker gives .text the same offset as address."""
    at, count = struct.unpack_from("<Q", content, 40)[0], struct.unpack_from("<H", content, 60)[0]
    for i in range(count):
        kind, offset, size, link = struct.unpack_from("<4xI16xQQI", content, at + 64 * i)
        if kind != 2:
            continue
        strings = struct.unpack_from("<Q", content, at + 64 * link + 24)[0]
        for entry in range(offset, offset + size, 24):
            name_at, value, length = struct.unpack_from("<I4xQQ", content, entry)
            begin = strings + name_at
            if content[begin:content.index(b"\0", begin)] == name.encode():
                return value, value + length
    raise Skip(f"no {name} in the program to mutate")


def with_build_id(content, number):
    """The same program under another build-id: what says that it is another one is read as one."""
    begin = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
    assert content.count(begin) == 1, "the program to mutate has no build-id"
    at = content.index(begin) + len(begin)
    return content[:at] + struct.pack("<QQI", number, 0, 0) + content[at + 20:]


def mutants(first, count, name="mutant", mutate=bomb_maker.mutate):
    content = read(attacker("mutant"), "rb")
    kept = function_in(content, "mutant_work")
    files = []
    for seed in range(first, first + count):
        path = os.path.abspath(f"{name}_{seed}.so")
        with open(path, "wb") as file:
            file.write(mutate(with_build_id(content, seed), kept, seed))
        give_away(path)
        files.append((path, kept[0]))
    return files


@test(f"{MUTANTS} mutated copies of a program with debug information")
def mutated():
    plain = mutants(0, min(MUTANTS, MUTANTS_AT_ONCE), "sound", lambda content, kept, seed: content)
    for first in range(MUTANT_SEED, MUTANT_SEED + MUTANTS, MUTANTS_AT_ONCE):
        files = mutants(first, min(MUTANTS_AT_ONCE, MUTANT_SEED + MUTANTS - first))

        def attempt():
            base = traced(plain)
            assert "mutant_work" in str(base.report["paths"]), base.report["notes"]
            run = traced(files, "--trace", "t.pinch")
            return [f"seeds from {first}: {text}" for text in check_run(run, base)]
        check_twice(attempt)
        result = pinch("report", "--json", "again.json", "t.pinch")
        assert result.status == 0, f"seeds from {first}: {result.text}"
        check_laws(parse_report(read("again.json", "rb")), is_lossless=False)
        for path, _ in files:
            os.unlink(path)


if __name__ == "__main__":
    sys.exit(main())
