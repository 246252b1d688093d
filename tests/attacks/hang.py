#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Programs whose memory or files answer their own threads, and nobody else: pages of userfaultfd and
files of FUSE that pinch waits for as long as the program likes, some of them deaf to SIGKILL. Beside
each runs a sound program.

pinch must end in time, by itself and by Ctrl-C; give a report with status 0, whose account closes, that
knows the sound program's functions and says of which process something could not be read; and leave no
process but those that the kernel does not let die, which hold none of its outputs and go with the attack.
"""
import os
import re
import select
import shutil
import signal
import subprocess
import sys

from lib_attacks import NOBODY, attacker
from lib import PINCH, Skip, check_laws, functions_of, is_alive, is_polling, links_of, main, parse_report, read, \
    read_line, start, status_of, stop, test, wait_until

TRACED_S = 2
END_S = 15              # for a run that traces for TRACED_S
INTERRUPT_S = 3
DRIP_S = 10             # with all the time that a process may take
SOUND = {"bystander_work", "bystander_sleep"}

# CPython reads a function's qualified name where the function is made, and for nobody but its users.
PYTHON = """
import ctypes, mmap, os, select, signal, sys, threading, time
signal.alarm(120)
def hang_here():
    time.sleep(0.001)
    return sum(range(2000))
def give(address):
    QUALIFIED_NAME = 128        # of a code object, from 3.11 to 3.13
    ctypes.c_void_p.from_address(id(hang_here.__code__) + QUALIFIED_NAME).value = address
    print("ready", flush=True)
    while True:
        hang_here()
"""

UFFD = PYTHON + """
import fcntl, struct
libc = ctypes.CDLL(None, use_errno=True)
UFFDIO_API, UFFDIO_REGISTER, MISSING = 0xc018aa3f, 0xc020aa00, 1
page = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
fd = libc.syscall(323, os.O_CLOEXEC | os.O_NONBLOCK)
if fd < 0:
    sys.exit("userfaultfd: " + os.strerror(ctypes.get_errno()))
fcntl.ioctl(fd, UFFDIO_API, bytearray(struct.pack("QQQ", 0xaa, 0, 0)))
fcntl.ioctl(fd, UFFDIO_REGISTER, bytearray(struct.pack("QQQQ", address, mmap.PAGESIZE, MISSING, 0)))
def tell():
    while True:
        select.select([fd], [], [])
        os.read(fd, 32)
        print("held read", flush=True)
threading.Thread(target=tell, daemon=True).start()
give(address)
"""

FUSE_PAGE = PYTHON + """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
fd = os.open(sys.argv[1], os.O_RDONLY)
give(libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_PRIVATE, fd, 0))
"""

# Each page is given, later than anybody waits for, and taken away again. Many functions have names there.
DRIP = PYTHON + """
import fcntl, struct
DELAY_S, FUNCTIONS, MADV_DONTNEED = 0.8, 40, 4
libc = ctypes.CDLL(None, use_errno=True)
UFFDIO_API, UFFDIO_REGISTER, UFFDIO_COPY, MISSING = 0xc018aa3f, 0xc020aa00, 0xc028aa03, 1
size = FUNCTIONS * mmap.PAGESIZE
pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
fd = libc.syscall(323, os.O_CLOEXEC | os.O_NONBLOCK)
if fd < 0:
    sys.exit("userfaultfd: " + os.strerror(ctypes.get_errno()))
fcntl.ioctl(fd, UFFDIO_API, bytearray(struct.pack("QQQ", 0xaa, 0, 0)))
fcntl.ioctl(fd, UFFDIO_REGISTER, bytearray(struct.pack("QQQQ", address, size, MISSING, 0)))
name = "dripping"
content = ctypes.create_string_buffer(ctypes.string_at(id(name), sys.getsizeof(name)), mmap.PAGESIZE)
def tell():
    while True:
        select.select([fd], [], [])
        at = struct.unpack("QQQQ", os.read(fd, 32))[2] & -mmap.PAGESIZE
        print("held read", flush=True)
        time.sleep(DELAY_S)
        fcntl.ioctl(fd, UFFDIO_COPY, bytearray(struct.pack("QQQQq", at, ctypes.addressof(content),
                                                           mmap.PAGESIZE, 0, 0)))
        time.sleep(0.01)
        libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(mmap.PAGESIZE), MADV_DONTNEED)
threading.Thread(target=tell, daemon=True).start()
functions = []
for i in range(FUNCTIONS):
    scope = {"time": time}
    exec("def hang_%d():\\n    time.sleep(0.001)\\n    return sum(range(2000))" % i, scope)
    functions.append(scope["hang_%d" % i])
    ctypes.c_void_p.from_address(id(functions[i].__code__) + 128).value = address + i * mmap.PAGESIZE
print("ready", flush=True)
while True:
    for function in functions:
        function()
"""

# As UFFD, of another user than root: what the kernel asks of it takes a privilege that it has only at first.
UFFD_OF_USER = UFFD.replace("fcntl.ioctl(fd, UFFDIO_API", "os.setgroups([]); os.setresgid(*3 * [int(sys.argv[1])]); "
                            "os.setresuid(*3 * [int(sys.argv[1])])\nfcntl.ioctl(fd, UFFDIO_API", 1)

SOUND_PYTHON = """
import time
def sound_python():
    time.sleep(0.001)
    return sum(range(2000))
print("ready", flush=True)
while True:
    sound_python()
"""


class Attack:
    """A program that holds up who examines it. server: what has to end for all of it to end."""

    def __init__(self, *command, pass_fds=()):
        with open("attack.err", "wb") as errors:
            self.server = start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                pass_fds=pass_fds)
        self.pid = self.server.pid
        line = read_line(self.server)
        if line != b"ready\n":
            stop(self.server)
            raise Skip("no attack: " + (read("attack.err").strip() or repr(line)))
        self.held = []

    def take_lines(self, limit_s=0):
        """What it says of whom it holds up."""
        while select.select([self.server.stdout], [], [], limit_s)[0]:
            line = read_line(self.server).decode().strip()
            if not line:
                break
            if line.startswith("held "):
                self.held.append(line)
        return self.held

    def end(self):
        self.take_lines()
        stop(self.server)


class FuseAttack(Attack):
    """The program sees source's files by FUSE at a place that nobody else sees."""

    def __init__(self, place, *command, hold=(), pass_fds=()):
        if "fuse" not in read("/proc/filesystems"):
            raise Skip("this kernel has no FUSE")
        if not os.path.exists("/dev/fuse"):
            raise Skip("there is no /dev/fuse")
        words = [word for name in hold for word in ("-o", name)]
        super().__init__(attacker("hang_fuse"), *words, "source", place, *command, pass_fds=pass_fds)
        self.pid = wait_until(lambda: child_of(self.server.pid), "the server's child")


def child_of(pid):
    return int((read(f"/proc/{pid}/task/{pid}/children").split() or ["0"])[0])


def bystander():
    process = start(attacker("bystander"), stdout=subprocess.PIPE)
    assert read_line(process) == b"ready\n"
    return process


PF_EXITING = 0x4        # as /proc/PID/stat has it


def session_of(leader):
    """Who is left of what pinch started: all are in its session."""
    found = []
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            if os.getsid(pid) == leader and is_alive(pid):
                found.append(pid)
        except ProcessLookupError:
            pass
    return found


def is_abandoned(pid):
    """It has been killed, and the kernel does not let it die yet."""
    try:
        if int(read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[6]) & PF_EXITING:
            return True
    except FileNotFoundError:
        return True
    status = status_of(pid)
    pending = int(status.get("SigPnd", "0"), 16) | int(status.get("ShdPnd", "0"), 16)
    return bool(pending >> (signal.SIGKILL - 1) & 1) or status.get("State", "Z")[0] in "ZXD"


def start_pinch(attack, sound, *options):
    """In a session of its own, as a terminal would have it."""
    return start(PINCH, "attach", "-q", "-p", f"{attack.pid},{sound.pid}", "--json", "report.json", "-o",
                 "report.txt", *options, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE, start_new_session=True)


def end_of(process, attack, limit_s, what):
    """Its end, with those of its outputs. Whatever happens nothing stays in state D."""
    try:
        out, err = process.communicate(timeout=limit_s)
        left = [pid for pid in session_of(process.pid) if not is_abandoned(pid)]
        state = None
    except subprocess.TimeoutExpired:
        attack.take_lines()
        state = {pid: (status_of(pid).get("Name"), status_of(pid).get("State"))
                 for pid in session_of(process.pid)}
    attack.end()
    if state is not None:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"{what}: not ended within {limit_s} s; {state}; {attack.held[:8]}")
    assert not left, f"left behind: {[(pid, status_of(pid).get('Name')) for pid in left]}"
    wait_until(lambda: not session_of(process.pid), "what pinch abandoned to end with the attack")
    text = err.decode("utf-8", "replace")
    assert process.returncode == 0, f"{what}: exit status {process.returncode}\n{text}"
    return text


def check_report(attack, sound, needs_note, needs_names=True):
    report = parse_report(read("report.json", "rb"))
    check_laws(report)
    assert set(report["target"]["pids"]) == {attack.pid, sound.pid}, report["target"]
    assert {t["pid"] for t in report["threads"]} >= {attack.pid, sound.pid}
    names = {name for path in report["paths"] for name in functions_of(path)}
    assert names & SOUND or not needs_names, f"the sound program's functions are not among {sorted(names)[:20]}"
    about = [note for note in report["notes"] if re.search(rf"\b{attack.pid}\b", note)]
    assert about or not needs_note, f"no note names process {attack.pid}: {report['notes']}"


def check_ends(make, needs_hold=True, while_tracing=None, needs_note=True, holds_late=False,
               interrupt_s=INTERRUPT_S):
    """
    By itself, then by Ctrl-C while somebody is held up; needs_hold: pinch has to look there; needs_note: and to
    say so; holds_late: it looks there only for its report, or not long enough to say so before.
    """
    attack, sound = make(), bystander()
    process = start_pinch(attack, sound, "--duration", f"{TRACED_S}s")
    if while_tracing:
        while_tracing(attack, process)
    end_of(process, attack, END_S, "with --duration")
    assert attack.held or not needs_hold, "the attack held up nobody: what is tested here?"
    check_report(attack, sound, needs_hold and needs_note)
    attack = make()
    process = start_pinch(attack, sound)
    if while_tracing:
        while_tracing(attack, process)
    wait_until(lambda: process.poll() is not None or is_tracing(process) and
               (attack.take_lines() or not needs_hold or holds_late), "pinch to trace while it is held up", END_S)
    os.killpg(process.pid, signal.SIGINT)
    end_of(process, attack, interrupt_s, "with Ctrl-C")
    check_report(attack, sound, needs_hold and needs_note and not holds_late, needs_names=False)


def is_tracing(process):
    return links_of(process.pid) and is_polling(process.pid)


def put_source(**files):
    """What the FUSE server shows: name and content, a path to copy or bytes."""
    os.makedirs("source", exist_ok=True)
    os.makedirs("place", exist_ok=True)
    for name, content in files.items():
        if isinstance(content, bytes):
            with open(f"source/{name}", "wb") as file:
                file.write(content)
        else:
            shutil.copy(content, f"source/{name}")


@test("a Python function whose name lies on a userfaultfd page holds up nothing")
def python_uffd():
    check_ends(lambda: Attack(sys.executable, "-c", UFFD))


@test("Python functions whose names come page by page, each just in time, hold up little")
def python_drip():
    check_ends(lambda: Attack(sys.executable, "-c", DRIP), holds_late=True, interrupt_s=DRIP_S)


HANGERS = 25


@test("one user's many programs that hang hold up little, are named once, and leave others their names")
def many_of_one_user():
    hangers = [Attack(sys.executable, "-c", UFFD_OF_USER, str(NOBODY)) for _ in range(HANGERS)]
    sound = start(sys.executable, "-c", SOUND_PYTHON, stdout=subprocess.PIPE)
    assert read_line(sound) == b"ready\n"
    pids = ",".join(str(p) for p in [*(h.pid for h in hangers), sound.pid])
    process = start(PINCH, "attach", "-q", "-p", pids, "--top", "1000", "--json", "report.json", "-o", "report.txt",
                    "--duration", f"{TRACED_S}s", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, start_new_session=True)
    try:
        err = process.communicate(timeout=END_S)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"not ended within {END_S} s") from None
    finally:
        held = sum(bool(h.take_lines()) for h in hangers)
        for hanger in hangers:
            hanger.end()
        stop(sound)
    assert process.returncode == 0, err
    assert 3 <= held <= 8, f"{held} of {HANGERS} programs were looked at while they hung"
    report = parse_report(read("report.json", "rb"))
    check_laws(report)
    notes = [note for note in report["notes"] if f"user {NOBODY}" in note]
    assert len(notes) == 1, report["notes"]
    assert "sound_python" in {name for path in report["paths"] for name in functions_of(path)}, \
        f"the sound program's functions have no names; {report['notes']}"


@test("a Python function whose name lies on a page of a FUSE file holds up nothing")
def python_fuse():
    put_source(name=bytes(8192))
    place = os.path.abspath("place")
    check_ends(lambda: FuseAttack(place, sys.executable, "-c", FUSE_PAGE, f"{place}/name"))


def running_from_fuse(*hold):
    put_source(victim=attacker("bystander"))
    place = os.path.abspath("place")
    # What is not closed needs no note: nothing was waited for.
    check_ends(lambda: FuseAttack(place, f"{place}/victim", hold=hold), needs_note="flush" not in hold, holds_late="flush" in hold)


@test("a program on a FUSE file system that answers only the program holds up nothing")
def program_fuse():
    running_from_fuse()


@test("a program whose file can be opened and not read holds up nothing")
def program_read():
    running_from_fuse("read")


@test("a program whose file can be read and not closed holds up nothing, not even the end of pinch")
def program_close():
    running_from_fuse("flush")


@test("a file that is mapped while its program is traced, and does not answer, holds up nothing")
def mapped_late():
    put_source(library=attacker("bystander"))
    place = os.path.abspath("place")

    def map_it(attack, process):
        wait_until(lambda: process.poll() is not None or is_tracing(process), "pinch to trace")
        attack.server.stdin.write(f"{place}/library\n".encode())
        attack.server.stdin.flush()
        assert read_line(attack.server) == b"mapped\n"

    check_ends(lambda: FuseAttack(place, attacker("mapper")), while_tracing=map_it)


def on_place(place, name, *hold):
    """Over a directory of the program's mount namespace; the program itself is sound."""
    if not os.path.isdir(place):
        raise Skip(f"there is no {place}")
    shutil.copy(attacker(name), "victim")
    # What is in a mounted-over directory is reached by its descriptor.
    fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    check_ends(lambda: FuseAttack(place, f"/proc/self/fd/{fd}/victim", hold=hold, pass_fds=(fd,)),
               holds_late=True)


@test("a perf-PID.map in a /tmp that does not answer holds up nothing")
def perf_map_fuse():
    put_source()
    on_place("/tmp", "mapper")


@test("a perf-PID.map that can be opened and not read holds up nothing")
def perf_map_read():
    put_source(**{"any.map": b"10000000 1000 generated\n" * 1000})
    on_place("/tmp", "mapper", "read")


@test("a /usr/lib/debug that does not answer holds up nothing")
def debug_fuse():
    put_source()
    on_place("/usr/lib/debug", "bystander")


@test("arguments and environment on a userfaultfd page hold up nothing")
def arguments_uffd():
    check_ends(lambda: Attack(attacker("hang_uffd")), needs_hold=False)


if __name__ == "__main__":
    sys.exit(main(jobs=3))
