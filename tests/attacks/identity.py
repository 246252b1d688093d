#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Files that pass themselves off as others: a user without privileges runs forged copies of a program of root's, with
its build-id and its name, while root traces both. Root's program checks its own results, and its report.
"""
import json
import os
import shutil
import signal
import subprocess

from lib_attacks import FULL, NOBODY, as_nobody, attacker
from lib_elf import Elf

from lib import LIMIT_S, PINCH, Skip, find, is_polling, links_of, main, pinch, read_line, start, status_of, stop, test, wait_until

CALLS = 1000000 if FULL else 10000      # of a function with a probe, each about 5 us
CALLS_AT_ONCE = 50000
HOSTS = 100000 if FULL else 10000


# --- Programs ---------------------------------------------------------------------------------------------------

def directories():
    """One of root's and one of the attacker's, where both can be reached; and a cache of this test alone."""
    os.chmod(".", 0o755)
    os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")
    os.makedirs("cache", mode=0o700, exist_ok=True)
    os.makedirs("root", exist_ok=True)
    os.makedirs("nobody", exist_ok=True)
    os.chown("nobody", NOBODY, NOBODY)


def copies(forge, name="identity", original=None):
    """A program of root's and its forged copy, which forge() has changed."""
    directories()
    original = original or attacker("identity")
    paths = [os.path.abspath(os.path.join(folder, name)) for folder in ("root", "nobody")]
    shutil.copyfile(original, paths[0])
    os.chmod(paths[0], 0o755)
    forged = Elf(original)
    forge(forged)
    forged.save(paths[1])
    os.chown(paths[1], NOBODY, NOBODY)
    return paths


def run(*command, is_attacker, env=None):
    """A program that waits for lines, ready."""
    process = start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **(env or {})},
                    preexec_fn=as_nobody if is_attacker else None)
    assert read_line(process) == b"ready\n", command
    return process


def ask(process, count):
    """So many calls, some at a time: each is answered in seconds, however busy the machine is."""
    wrong = 0
    while count:
        some = min(count, CALLS_AT_ONCE)
        process.stdin.write(b"%d\n" % some)
        process.stdin.flush()
        answer = read_line(process)
        assert answer, f"the victim has died: {process.wait()}"
        wrong += int(answer)
        count -= some
    return wrong


def end(process):
    """Its last words were heard, if it had any."""
    process.stdin.close()
    process.wait()


# --- Tracers ----------------------------------------------------------------------------------------------------

def probe_count(tracer):
    count = 0
    for fd in os.listdir(f"/proc/{tracer.pid}/fd"):
        try:
            with open(f"/proc/{tracer.pid}/fdinfo/{fd}", encoding="ascii") as file:
                text = file.read()
                count += "uprobe" in text or "uretprobe" in text
        except OSError:
            continue
    return count


def steps(tracer):
    """How often it has waited for something."""
    return int(status_of(tracer.pid).get("voluntary_ctxt_switches", 0))


def trace(*options, probes):
    """A tracer that has put so many probes in; more may come."""
    tracer = start(PINCH, "attach", "-q", "--json", "report.json", "--trace", "t.pinch", *options, stderr=subprocess.PIPE)

    def has_probes():
        assert tracer.poll() is None, f"it has ended with {tracer.poll()}: {tracer.stderr.read().decode()}"
        return probe_count(tracer) >= probes
    if probes:
        wait_until(has_probes, "the probes")
    return tracer


def finish(tracer):
    """The report."""
    tracer.send_signal(signal.SIGINT)
    _, err = tracer.communicate(timeout=2 * LIMIT_S)
    assert tracer.returncode == 0, err.decode()
    with open("report.json", encoding="utf-8") as file:
        return json.load(file)


def move_symbol(elf):
    elf.move(b"traced_function", 1)


def pids(*processes):
    return ",".join(str(process.pid) for process in processes)


# --- Probes -----------------------------------------------------------------------------------------------------

def check_calls(order, *options):
    """The victim's calls, with its function probed, and the attacker's copy seen before it or after it."""
    good, forged = copies(move_symbol)
    processes = {}
    for who in order:
        processes[who] = run({"victim": good, "attacker": forged}[who], "calls", is_attacker=who == "attacker")
    victim = processes["victim"]
    assert ask(victim, 1000) == 0
    chosen = options or ("-p", pids(*(processes[who] for who in order)))
    tracer = trace("--span", "f=identity:traced_function", *chosen, probes=2)
    wrong = ask(victim, CALLS)
    report = finish(tracer)
    assert wrong == 0, f"{wrong} of {CALLS} calls returned something wrong"
    assert ask(victim, 1000) == 0
    for process in processes.values():
        end(process)
    return report


@test("--span -p: a forged copy that is mapped first does not move the probe in root's program")
def span_attacker_first():
    report = check_calls(("attacker", "victim"))
    assert any("no function" in note or "not point to the beginning of a function" in note for note in report["notes"]), report["notes"]


@test("--span -p: a forged copy that is mapped last does not either")
def span_victim_first():
    check_calls(("victim", "attacker"))


@test("--span --all: nor with every program traced")
def span_all():
    check_calls(("attacker", "victim"), "--all")
    check_calls(("victim", "attacker"), "--all")


@test("--span: executions of root's program are all there")
def span_counts():
    good, forged = copies(move_symbol)
    attacker_process = run(forged, "calls", is_attacker=True)
    victim = run(good, "calls", is_attacker=False)
    tracer = start(PINCH, "record", "-q", "-o", "t.pinch", "--span", "f=identity:traced_function",
                   "-p", pids(attacker_process, victim), stderr=subprocess.PIPE)
    wait_until(lambda: probe_count(tracer) >= 2 and links_of(tracer.pid) and is_polling(tracer.pid),
               "the probes")
    assert ask(victim, 2000) == 0
    end(victim)
    end(attacker_process)
    assert tracer.wait(60) == 0, tracer.stderr.read()
    result = pinch("spans", "--json", "-", "t.pinch")
    assert result.status == 0, result.text
    span, = json.loads(result.out)["spans"]
    assert span["executions"] == 2000, span


def inside_an_instruction(library):
    """How far from the beginning of getaddrinfo() a byte is that no instruction begins with."""
    if not find("objdump"):
        raise Skip("objdump is not here")
    address, _ = Elf(library).value(b"getaddrinfo")
    listed = subprocess.run(["objdump", "-d", f"--start-address={address}", f"--stop-address={address + 64}",
                             library], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        words = line.split("\t")
        if len(words) > 2 and len(words[1].split()) > 1:
            return int(words[0].strip(" :"), 16) - address + 1
    raise AssertionError(listed)


def check_hosts(order, *options):
    """The same of getaddrinfo() in a C library of root's own, and a forged one of the attacker's."""
    libraries = [line.split()[2] for line in subprocess.run(["ldd", attacker("identity")], capture_output=True,
                                                            text=True, check=True).stdout.splitlines()
                 if "libc.so.6" in line]
    distance = inside_an_instruction(libraries[0])
    good, forged = copies(lambda elf: elf.move(b"getaddrinfo", distance), "libc.so.6", libraries[0])
    shutil.copy(attacker("identity"), "root/identity")
    processes = {}
    for who in order:
        folder = os.path.dirname({"victim": good, "attacker": forged}[who])
        processes[who] = run(os.path.abspath("root/identity"), "hosts", is_attacker=who == "attacker",
                             env={"LD_LIBRARY_PATH": folder})
    victim = processes["victim"]
    assert ask(victim, 100) == 0
    chosen = options or ("-p", pids(*(processes[who] for who in order)))
    # Those of pinch's own library, and the victim's.
    tracer = trace("--dns", *chosen, probes=4)
    wrong = ask(victim, HOSTS)
    finish(tracer)
    assert wrong == 0, f"{wrong} of {HOSTS} hosts were resolved to something wrong"
    for process in processes.values():
        end(process)


@test("--dns -p: a forged C library does not move the probe in root's, whichever is mapped first")
def hosts():
    check_hosts(("attacker", "victim"))
    check_hosts(("victim", "attacker"))


@test("--dns --all: nor with every program traced")
def hosts_all():
    check_hosts(("attacker", "victim"), "--all")


class Loop:
    """An attacker that does something again and again, without privileges, until it is ended."""

    def __init__(self, script, *arguments):
        self.process = start("/usr/bin/python3", "-c", script, *arguments, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, preexec_fn=as_nobody)
        assert read_line(self.process) == b"ready\n"

    def end(self):
        end(self.process)


SWAP = """
import os, select, subprocess, sys
good, forged, place = sys.argv[1:]
is_said = False
while not select.select([sys.stdin], [], [], 0)[0]:
    for target in forged, good:
        os.symlink(target, place + ".new")
        os.rename(place + ".new", place)
        process = subprocess.Popen([place, "calls"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        os.unlink(place)
        os.symlink(forged if target == good else good, place)
        if not is_said:
            print("ready", flush=True)
            is_said = True
        process.communicate()
"""


@test("--span --all: copies that are swapped while they are looked at do not move it")
def span_swapped():
    good, forged = copies(move_symbol)
    place = os.path.abspath("nobody/swapped/identity")
    os.makedirs(os.path.dirname(place))
    os.chown(os.path.dirname(place), NOBODY, NOBODY)
    victim = run(good, "calls", is_attacker=False)
    loop = Loop(SWAP, good, forged, place)
    tracer = trace("--span", "f=identity:traced_function", "--all", probes=2)
    wrong = sum(ask(victim, CALLS // 10) for _ in range(10))
    finish(tracer)
    loop.end()
    assert wrong == 0, f"{wrong} of {CALLS} calls returned something wrong"
    end(victim)


REWRITE = """
import os, select, sys
path, first, second = sys.argv[1:]
versions = [open(name, "rb").read() for name in (first, second)]
print("ready", flush=True)
fd = os.open(path, os.O_WRONLY)
turn = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    os.pwrite(fd, versions[turn % 2], 0)
    turn += 1
"""


@test("--span: a file that is written anew while it is read harms nobody, and is left alone")
def span_rewritten():
    good, forged = copies(move_symbol)
    os.makedirs("nobody/written")
    written = os.path.abspath("nobody/written/identity")
    shutil.copyfile(good, written)
    os.chown(written, NOBODY, NOBODY)
    loop = Loop(REWRITE, written, good, forged)
    mapper = run(good, "map", written, is_attacker=True)
    victim = run(good, "calls", is_attacker=False)
    tracer = trace("--span", "f=identity:traced_function", "-p", pids(mapper, victim), probes=2)
    wrong = ask(victim, CALLS)
    # It examines what it has probes in with each step.
    begun = steps(tracer)
    wait_until(lambda: steps(tracer) >= begun + 100, "a hundred steps")
    report = finish(tracer)
    loop.end()
    end(mapper)
    assert wrong == 0, f"{wrong} of {CALLS} calls returned something wrong"
    assert any("written to" in note or "function" in note for note in report["notes"]), report["notes"]
    end(victim)


@test("--span: one file that two overlays show is probed once, and tells each call once")
def span_overlays():
    directories()
    os.makedirs("lower")
    shutil.copy(attacker("identity"), "lower/identity")
    mounts = []
    try:
        for name in "one", "two":
            for folder in "upper", "spare", "merged":
                os.makedirs(f"{name}/{folder}")
            if subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"lowerdir=lower,upperdir={name}/upper,"
                               f"workdir={name}/spare", f"{name}/merged"], capture_output=True).returncode:
                raise Skip("no overlays here")
            mounts.append(f"{name}/merged")
        processes = [run(os.path.abspath(f"{mount}/identity"), "calls", is_attacker=False) for mount in mounts]
        tracer = start(PINCH, "record", "-q", "-o", "t.pinch", "--span", "f=identity:traced_function", "-p",
                       pids(*processes), stderr=subprocess.PIPE)
        wait_until(lambda: probe_count(tracer) >= 2, "the probes")
        # All mappings that there were are examined in one step.
        begun = steps(tracer)
        wait_until(lambda: steps(tracer) >= begun + 10, "a few steps")
        assert probe_count(tracer) == 2, f"{probe_count(tracer)} probes of one function"
        for process in processes:
            assert ask(process, 2000) == 0
            end(process)
        assert tracer.wait(2 * LIMIT_S) == 0, tracer.stderr.read()
    finally:
        for mount in mounts:
            subprocess.run(["umount", "-l", mount], check=True)
    result = pinch("spans", "--json", "-", "t.pinch")
    assert result.status == 0, result.text
    span, = json.loads(result.out)["spans"]
    assert span["executions"] == 4000, span


# --- Names ------------------------------------------------------------------------------------------------------

HONEST = ("honest_inner", "honest_middle", "honest_outer", "work")


def rename(elf):
    """Its functions are called otherwise, in symbols and in debug information, and so is its source."""
    elf.replace(b"honest_", b"forged_")
    elf.replace(b"identity.c\0", b"idforged.c\0")


def break_frames(elf):
    """Frames seem to be of other sizes."""
    # DW_CFA_def_cfa_offset of the frames of honest_inner() and the like
    begin, size = elf.section(b".eh_frame")
    part = bytearray(elf.bytes[begin:begin + size])
    for i in range(len(part) - 1):
        if part[i] == 0x0e and part[i + 1] in (0x10, 0x18, 0x20, 0x30, 0x40, 0x50, 0x60):
            part[i + 1] += 8
    elf.bytes[begin:begin + size] = part


def paths_of(report, name):
    """The call paths in which threads of this name are."""
    return [path for path in report["paths"] if name in path["thread_names"]]


def check_names(report):
    """The victim's paths have the victim's names; returns how many there are."""
    text = json.dumps(paths_of(report, "victim"))
    assert "forged" not in text, [w for w in text.split('"') if "forged" in w][:5]
    full = 0
    for path in paths_of(report, "victim"):
        functions = [frame["function"] for frame in path["stack"]]
        if "honest_outer" in functions or "honest_inner" in functions or "honest_middle" in functions:
            full += 1
    assert full, [[f["function"] for f in path["stack"]] for path in report["paths"]][:5]
    return full


def work(good, forged, order):
    programs = {"victim": good, "attacker": forged}
    return [run(programs[who], "work", who, is_attacker=who == "attacker") for who in order]


def traced_work(forge, order):
    good, forged = copies(forge)
    processes = work(good, forged, order)
    result = pinch("attach", "-q", "--json", "report.json", "--top", "50", "--duration", "1s", "-p", pids(*processes),
                   limit_s=2 * LIMIT_S)
    assert result.status == 0, result.text
    for process in processes:
        end(process)
    with open("report.json", encoding="utf-8") as file:
        return json.load(file)


@test("a forged copy of the same build-id gives root's program no names and lines, whichever is met first")
def names():
    for order in ("attacker", "victim"), ("victim", "attacker"):
        report = traced_work(rename, order)
        check_names(report)
        text = json.dumps(paths_of(report, "attacker"))
        assert "honest_" not in text, "the attacker's own names are lost"


@test("nor through the cache that runs share")
def names_cached():
    good, forged = copies(rename)
    for who in "attacker", "victim", "victim":
        process, = work(good, forged, (who,))
        result = pinch("attach", "-q", "--json", "report.json", "--duration", "1s", "-p", pids(process),
                       limit_s=2 * LIMIT_S)
        assert result.status == 0, result.text
        end(process)
        if who == "victim":
            with open("report.json", encoding="utf-8") as file:
                check_names(json.load(file))
    kept = b"".join(open(os.path.join("cache/pinch", name), "rb").read() for name in os.listdir("cache/pinch"))
    assert b"forged_" not in kept, "names of the attacker's file are kept"
    assert b"honest_" in kept, "nothing of root's program is kept"


@test("nor through a trace, nor one that is merged or cut")
def names_recorded():
    good, forged = copies(rename)
    processes = work(good, forged, ("attacker", "victim"))
    result = pinch("record", "-q", "-o", "t.pinch", "--duration", "1s", "-p", pids(*processes), limit_s=2 * LIMIT_S)
    assert result.status == 0, result.text
    for number, who in enumerate(("attacker", "victim")):
        result = pinch("record", "-q", "-o", f"{number}.pinch", "--duration", "1s", "-p", pids(processes[number]),
                       limit_s=2 * LIMIT_S)
        assert result.status == 0, result.text
    for process in processes:
        end(process)
    result = pinch("merge", "-o", "merged.pinch", "0.pinch", "1.pinch")
    assert result.status == 0, result.text
    for path in "t.pinch", "merged.pinch":
        result = pinch("report", "-q", "--json", "report.json", "--top", "50", path)
        assert result.status == 0, result.text
        with open("report.json", encoding="utf-8") as file:
            check_names(json.load(file))


@test("nor where a stack goes: unwind tables are those of the file itself")
def frames():
    for order in ("attacker", "victim"), ("victim", "attacker"):
        report = traced_work(break_frames, order)
        check_names(report)
        for path in paths_of(report, "victim"):
            functions = [frame["function"] for frame in path["stack"]]
            if "honest_inner" in functions:
                at = functions.index("honest_inner")
                assert functions[at:at + 4] == list(HONEST), functions


NAMESPACE = """
set -e
mkdir -p "$2/.build-id/$3"
cp "$4" "$2/.build-id/$3/$5.debug"
mount --bind "$2" /usr/lib/debug
exec "$1" work attacker
"""


@test("nor does a debug file that the attacker shows in a file tree of his own, of the very program that root runs")
def debug_file():
    if not find("objcopy") or not find("unshare"):
        raise Skip("objcopy or unshare is not here")
    os.makedirs("/usr/lib/debug", exist_ok=True)
    good, forged = copies(rename)
    text = subprocess.run(["readelf", "-n", good], capture_output=True, text=True, check=True).stdout
    build_id = text.split("Build ID:")[1].split()[0]
    subprocess.run(["objcopy", "--only-keep-debug", forged, "nobody/forged.debug"], check=True)
    os.chown("nobody/forged.debug", NOBODY, NOBODY)
    subprocess.run(["strip", good], check=True)
    attacker_process = start("unshare", "-Urm", "/bin/sh", "-c", NAMESPACE, "sh", good,
                             os.path.abspath("nobody/debug"), build_id[:2], os.path.abspath("nobody/forged.debug"),
                             build_id[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             preexec_fn=as_nobody)
    if read_line(attacker_process) != b"ready\n":
        raise Skip(f"no namespace for users: {attacker_process.stderr.read().decode()}")
    victim, = work(good, forged, ("victim",))
    result = pinch("attach", "-q", "--json", "report.json", "--top", "50", "--duration", "1s", "-p",
                   pids(attacker_process, victim), limit_s=2 * LIMIT_S)
    assert result.status == 0, result.text
    end(victim)
    stop(attacker_process)
    with open("report.json", encoding="utf-8") as file:
        report = json.load(file)
    assert paths_of(report, "victim"), "nothing of the victim is in the report"
    text = json.dumps(paths_of(report, "victim"))
    assert "forged" not in text, "the victim's functions have names that the attacker chose"


if __name__ == "__main__":
    main()
