#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What root's pinch writes: who plants links, FIFOs and files where outputs are going to be gets neither another's
file changed or made, nor what is written, nor lets pinch wait for ever.
"""
import os
import shutil
import signal
import stat
import subprocess

from lib_attacks import FULL, NOBODY

from lib import BUILD, PINCH, Skip, main, pinch, read, start, test, wait_until

HANG_S = 30
TRUE = "/bin/true"

# What writes a file: its words, with OUT where the file is named; t and u are traces.
READERS = [
    "report -q -o OUT t", "report -q --json OUT t", "report -q --html OUT t", "report -q --folded OUT t",
    "report -q --csv OUT t", "klock -q --html OUT t", "graph -o OUT t", "graph --json OUT t", "graph --html OUT t",
    "graph --dot OUT t", "critical-path -o OUT t", "critical-path --json OUT t", "whatif -o OUT t",
    "whatif --json OUT t", "spans -o OUT t", "spans --json OUT t", "compare -o OUT t u", "compare --json OUT t u",
    "compare --html OUT t u", "cut --from 0s -o OUT t", "merge -o OUT t u",
]
TRACERS = [
    f"record -q -o OUT -- {TRUE}", f"record -q --ring 1M -o OUT -- {TRUE}", f"run -q --trace OUT -- {TRUE}",
    f"run -q --json OUT -- {TRUE}", f"run -q --html OUT -- {TRUE}",
]

# What reads the history of states of a trace, which it makes before.
OF_STATES = ["graph TRACE", "critical-path TRACE", "whatif TRACE", "spans TRACE", "compare TRACE TRACE",
             "report -q --html page.html TRACE", "klock -q --html page.html TRACE"]


def trace(name="t"):
    result = pinch("record", "-q", "-o", name, "--span", "files=openat..close", "--", "/bin/sh", "-c", "sleep 0.05 & wait")
    assert result.status == 0, result.text


def begin():
    """Two traces, root's file that is not to be changed, and the attacker's directories."""
    os.chmod(".", 0o755)
    os.umask(0o022)
    for name in ("t", "u"):
        trace(name)
    with open("victim", "w", encoding="utf-8") as file:
        file.write("root's\n")
    os.chmod("victim", 0o640)
    os.mkdir("sticky")
    os.chmod("sticky", 0o1777)
    os.mkdir("foreign")
    os.chown("foreign", NOBODY, NOBODY)
    os.mkdir("shared")
    os.chmod("shared", 0o777)


def state_of(path):
    status = os.lstat(path)
    return read(path, "rb")[:80], status.st_ino, status.st_uid, status.st_gid, status.st_mode


def give(path):
    os.lchown(path, NOBODY, NOBODY)


def plant_link(path):
    os.symlink(os.path.abspath("victim"), path)
    give(path)


def plant_dangling(path):
    os.symlink(os.path.abspath("made"), path)
    give(path)


def plant_fifo(path):
    os.mkfifo(path)
    os.chmod(path, 0o666)
    give(path)


def plant_file(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write("nobody's, who can write it as well as read it\n")
    os.chmod(path, 0o666)
    give(path)


def plant_name(path):
    os.link("victim", path)


PLANTS = {"link": plant_link, "dangling": plant_dangling, "fifo": plant_fifo, "file": plant_file,
          "name": plant_name}


def assert_private(path, what):
    """A file of root's, for nobody else, and with something in it."""
    status = os.lstat(path)
    assert stat.S_ISREG(status.st_mode) and status.st_size, f"{what}: nothing was written"
    assert status.st_uid == 0 and not status.st_mode & 0o077, f"{what}: {status}"


def attack(words, place, plant):
    out = f"{place}/out"
    before = state_of("victim")
    PLANTS[plant](out)
    handle = os.open(out, os.O_RDWR | os.O_NONBLOCK) if plant in ("fifo", "file") else -1
    what = f"{words} with a {plant} in {place}"
    try:
        result = pinch(*words.replace("OUT", out).split(), limit_s=HANG_S)
        after = state_of("victim")
        assert after == before, f"{what}: root's file was {before}, is {after}"
        assert not os.path.lexists("made"), f"{what}: a file was made where the link leads"
        if result.status == 0:
            assert_private(out, what)
        else:
            assert "cannot write" in result.text, f"{what}: {result.status} {result.text}"
        if handle >= 0:
            try:
                got = os.read(handle, 100)
            except BlockingIOError:
                got = b""
            assert got in (b"", b"nobody's, who can write it as well as read it\n"), f"{what}: nobody can read {got}"
    finally:
        if handle >= 0:
            os.close(handle)
        os.unlink(out)
    left = os.listdir(place)
    assert not left, f"{what}: {left} is left"


@test("what is planted where a report or a derived trace goes: root's files are as they were, nobody can read it")
def reports():
    begin()
    for words in READERS:
        for place in ("sticky", "foreign", "shared") if FULL else ("foreign",):
            for plant in PLANTS if FULL or words == READERS[0] else ("link", "dangling", "file"):
                attack(words, place, plant)
    attack(READERS[1], "sticky", "link")
    attack(READERS[1], "sticky", "fifo")


@test("what is planted where a run that traces writes: the same")
def traces():
    begin()
    for words in TRACERS:
        for place in ("sticky", "foreign", "shared") if FULL else ("sticky",):
            for plant in PLANTS if FULL or words == TRACERS[0] else ("link", "file"):
                attack(words, place, plant)


# --- The history of states ----------------------------------------------------------------------

def plant_states(place, count):
    """Links at FILE.states and at FILE.states.PID for the next processes; how many."""
    last = int(read("/proc/sys/kernel/ns_last_pid"))
    names = [f"{place}/t.states"] + [f"{place}/t.states.{pid}" for pid in range(last + 1, last + 1 + count)]
    for name in names:
        if os.path.lexists(name):
            os.unlink(name)
        os.symlink(os.path.abspath("victim" if len(name) % 2 else "made"), name)
        give(name)
    return set(names)


def clear(place):
    for name in os.listdir(place):
        os.unlink(f"{place}/{name}")


@test("links planted for the history of states, for every process id: root's files are as they were, and none is made")
def states():
    begin()
    before = state_of("victim")
    for place in ("sticky", "foreign", "shared") if FULL else ("foreign", "sticky"):
        for words in OF_STATES:
            shutil.copy("t", f"{place}/t")
            names = plant_states(place, 3000 if FULL else 500)
            result = pinch(*words.replace("TRACE", f"{place}/t").split(), limit_s=HANG_S)
            what = f"{words} in {place}"
            assert state_of("victim") == before, f"{what}: root's file was {before}, is {state_of('victim')}"
            assert not os.path.lexists("made"), f"{what}: a file was made where a link leads"
            assert result.status == 0, f"{what}: {result.text}"
            made = {f"{place}/{name}" for name in os.listdir(place)} - names - {f"{place}/t"}
            assert not made, f"{what}: {made}"
            clear(place)


@test("a FIFO where the history of states is looked for: no query waits for it")
def states_fifo():
    begin()
    shutil.copy("t", "foreign/t")
    plant_fifo("foreign/t.states")
    os.mkfifo("t.states")
    assert pinch("graph", "foreign/t", limit_s=HANG_S).status == 0
    result = pinch("graph", "t", limit_s=HANG_S)
    assert result.status in (0, 1), result.text
    assert stat.S_ISFIFO(os.lstat("t.states").st_mode)


@test("a history of states that somebody else wrote is not believed, wherever it lies")
def states_of_others():
    begin()
    cache = os.path.join(os.environ["XDG_CACHE_HOME"], "pinch", "states")
    assert pinch("graph", "t").status == 0
    for place in (".", "foreign", "sticky"):
        if place != ".":
            shutil.copy2("t", f"{place}/t")
            shutil.copy2("t.states", f"{place}/t.states")
        give(f"{place}/t.states")
        inode = os.stat(f"{place}/t.states").st_ino
        before = set(os.listdir(cache)) if os.path.exists(cache) else set()
        assert pinch("graph", f"{place}/t").status == 0
        if place == ".":
            assert os.stat("t.states").st_ino != inode and os.stat("t.states").st_uid == 0, "it was believed"
        else:
            made = [name for name in set(os.listdir(cache)) - before if name.endswith(".states")]
            assert len(made) == 1, f"in {place}: {made} was made"
            assert_private(os.path.join(cache, made[0]), place)
            assert os.stat(f"{place}/t.states").st_ino == inode


@test("a trace that says it is another one, of the same size, has a history of states of its own")
def forged_identity():
    begin()
    data = bytearray(read("t", "rb"))
    with open("sticky/t", "wb") as file:
        file.write(data)
    with open("foreign/t", "wb") as file:
        file.write(data)
    cache = os.path.join(os.environ["XDG_CACHE_HOME"], "pinch", "states")
    for path in ("sticky/t", "foreign/t"):
        assert pinch("graph", path).status == 0
    names = [name for name in os.listdir(cache) if name.startswith(data[24:32][::-1].hex())]
    assert len(names) == 2, names


@test("a cache that somebody else can write is not used, and nothing is made in it")
def foreign_cache():
    begin()
    shutil.copy("t", "sticky/t")
    for owner, mode in ((NOBODY, 0o755), (0, 0o777), (0, 0o1777)):
        os.mkdir("cache")
        os.chmod("cache", mode)
        os.chown("cache", owner, owner)
        result = pinch("graph", "sticky/t", env={**os.environ, "XDG_CACHE_HOME": os.path.abspath("cache")})
        assert result.status == 1 and "XDG_CACHE_HOME" in result.text, result.text
        assert os.listdir("sticky") == ["t"], os.listdir("sticky")
        shutil.rmtree("cache")


# --- What is left, and what goes on working ------------------------------------------------------

@test("killed while it makes a history of states: nothing of it is left, nor of versions that left some")
def killed():
    generator = os.path.join(BUILD, "bench", "trace_gen")
    if not os.path.exists(generator):
        raise Skip("trace_gen is not built here")
    begin()
    subprocess.run([generator, "big", "3000000"], check=True, stdout=subprocess.DEVNULL)
    for name in ("big.states.1", "big.states.4194303"):
        with open(name, "w", encoding="utf-8"):
            pass
    before = set(os.listdir("."))

    def is_writing(pid):
        links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        return any("(deleted)" in link or ".states." in link for link in links if os.getcwd() in link)

    process = start(PINCH, "graph", "big", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: is_writing(process.pid), "the states to be written")
    assert process.poll() is None, "it ended before it was killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    made = set(os.listdir(".")) - before
    assert not made, f"{made} is left"
    assert pinch("graph", "big").status == 0
    left = {name for name in os.listdir(".") if name.startswith("big.")}
    assert left == {"big.states"}, left


@test("links of root's, and of users to what is theirs, lead where they should")
def own_links():
    begin()
    os.mkdir("real")
    os.symlink("../real", "sticky/mine")
    os.symlink("../victim", "sticky/own")
    os.mkdir("home")
    os.mkdir("home/traces")
    give("home/traces")
    os.symlink("../home/traces", "foreign/traces")
    give("foreign/traces")
    for out, file in (("sticky/mine/report", "real/report"), ("foreign/traces/report", "home/traces/report"),
                      ("sticky/own", "victim")):
        result = pinch("report", "-q", "-o", out, "t")
        assert result.status == 0, result.text
        assert read(file).startswith("pinch: "), file
    assert os.path.islink("sticky/own") and os.stat("victim").st_mode & 0o777 == 0o640
    # Of somebody else to what is root's: what is named lies there, and so would what is not.
    os.symlink("../real", "foreign/real")
    give("foreign/real")
    result = pinch("report", "-q", "-o", "foreign/real/other", "t")
    assert result.status == 1 and "symbolic link" in result.text, result.text
    assert os.listdir("real") == ["report"], os.listdir("real")


@test("what output_check() opened before tracing leaves nothing, whatever becomes of the run")
def unused():
    begin()
    os.mkdir("out")
    outputs = ["--json", "out/j", "--html", "out/h", "--trace", "out/t", "-o", "out/o"]
    result = pinch("run", *outputs, "--", "./missing")
    assert result.status == 127 and os.listdir("out") == [], (result.text, os.listdir("out"))
    process = start(PINCH, "run", "-q", *outputs, "--", "/bin/sleep", 1000, stderr=subprocess.DEVNULL)
    wait_until(lambda: os.path.exists("out/t"), "the trace")
    children = read(f"/proc/{process.pid}/task/{process.pid}/children").split()
    process.send_signal(signal.SIGKILL)
    process.wait()
    for pid in children:
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
    assert os.listdir("out") == ["t"], os.listdir("out")


if __name__ == "__main__":
    raise SystemExit(main())
