#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Whose perf-PID.map and jit-PID.dump are believed: those of the process's own user, regular files, reached
as the process reaches them, where what the file is called is all that anybody else could have chosen. Each
test puts a file there that says PLANTED, in some way that is not the process's own; the report must not say
it, neither at the beginning nor while the program is traced, and a note must say of which process a file
was not believed. The tests that begin with "its own" are of files that have to be believed.
"""
import ctypes
import os
import subprocess
import sys

import bomb_maker
from bomb_maker import jit_record
from lib_attacks import NOBODY, attacker, as_nobody
from lib import PINCH, Skip, check_laws, finish, main, parse_report, read, read_line, start, status_of, stop, \
    test, wait_until

OTHER = 1234            # a user that nobody is
PLANTED = "planted_name"
OWN = "own_name"
TRACED_S = 1
CHANGED_S = 5           # where something changes meanwhile: seconds pass between two looks at a file

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18


def check(result, what):
    if result:
        raise OSError(ctypes.get_errno(), what)


def mount(source, target, kind, flags, data=None):
    encoded = [None if s is None else s.encode() for s in (source, target, kind, data)]
    check(libc.mount(encoded[0], encoded[1], encoded[2], flags, encoded[3]), f"mount {target}")


def private_mounts():
    check(libc.unshare(CLONE_NEWNS), "unshare")
    mount(None, "/", None, MS_REC | MS_PRIVATE)


def private_tmp():
    """A /tmp of its own, sticky and for everybody, in a mount namespace of its own."""
    private_mounts()
    mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777")


def as_other():
    os.setgroups([])
    os.setresgid(OTHER, OTHER, OTHER)
    os.setresuid(OTHER, OTHER, OTHER)


class Program:
    """One that runs code without a name. begin: what it does to itself before, such as as_nobody."""

    def __init__(self, begin=None, *prefix):
        # Who is nobody later cannot look into the build directory.
        fd = os.open(attacker("mapper"), os.O_RDONLY)
        self.process = start(*prefix, f"/proc/self/fd/{fd}", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             preexec_fn=begin, pass_fds=(fd,))
        os.close(fd)
        assert read_line(self.process) == b"ready\n"
        self.pid = self.process.pid
        self.own_pid = int(status_of(self.pid)["NSpid"].split()[-1])

    def map(self, path):
        self.process.stdin.write(f"{path}\n".encode())
        self.process.stdin.flush()
        assert read_line(self.process) == b"mapped\n"

    def root(self, path):
        """A path as the program sees it."""
        return f"/proc/{self.pid}/root{path}"

    @property
    def map_path(self):
        return f"/tmp/perf-{self.own_pid}.map"


def map_of(name):
    return f"10000000 1000 {name}\n".encode()


def dump_of(name):
    return bomb_maker.JIT_HEADER + jit_record(name.encode())


def put(path, content, owner=None, mode=0o644):
    """A new file; owner: its user and group, root unless given."""
    with open(path, "xb", opener=lambda p, f: os.open(p, f, mode)) as file:
        file.write(content)
        os.fchmod(file.fileno(), mode)
        if owner is not None:
            os.fchown(file.fileno(), owner, owner)
    return path


class Missed(Exception):
    """It was over before something could be changed: nothing is tested."""


def traced(program, while_tracing=None):
    process = start(PINCH, "attach", "-q", "-p", program.pid, "--json", "report.json", "-o", "report.txt", "-v",
                    "--duration", f"{CHANGED_S if while_tracing else TRACED_S}s", stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        if while_tracing:
            while_tracing(process)
    except Missed:
        finish(process)
        raise
    result = finish(process)
    assert result.status == 0, result.text
    report = parse_report(read("report.json", "rb"))
    check_laws(report)
    return report, result.text + read("report.txt", "rb").decode("utf-8", "replace") + read("report.json")


def check_refused(program, while_tracing=None, needs_note=True):
    report, text = traced(program, while_tracing)
    assert PLANTED not in text, f"{PLANTED} is in the report"
    about = [note for note in report["notes"] if str(program.pid) in note and
             ("map" in note or "JIT" in note or "jit" in note)]
    assert about or not needs_note, f"no note says that a file of process {program.pid} was not believed: " \
                                    f"{report['notes']}"


def check_believed(program):
    report, text = traced(program)
    assert OWN in text, f"{OWN} is not in the report; {report['notes']}"


def with_tmp(program, test_it):
    """Whatever happens the file goes: it is in this machine's /tmp if the program's is."""
    try:
        test_it()
    finally:
        for path in (program.root(program.map_path),):
            try:
                os.unlink(path)
            except OSError:
                pass


def refused_map(program, make, **options):
    """make(path) puts a file where the program's map would be."""
    def test_it():
        make(program.root(program.map_path))
        check_refused(program, **options)
    with_tmp(program, test_it)


# --- Believed ---------------------------------------------------------------------------------------

@test("its own: a perf-PID.map of the process's user")
def own_map():
    for begin, owner in ((None, 0), (as_nobody, NOBODY), (as_other, OTHER)):
        program = Program(begin)
        with_tmp(program, lambda: (put(program.map_path, map_of(OWN), owner), check_believed(program)))
        stop(program.process)


@test("its own: a perf-PID.map in a mount namespace of its own")
def own_namespace():
    program = Program(lambda: (private_tmp(), as_other()))
    put(program.root(program.map_path), map_of(OWN), OTHER)
    check_believed(program)


@test("its own: a jitdump that the process has mapped")
def own_dump():
    os.chmod(".", 0o777)
    program = Program(as_other)
    path = os.path.abspath(f"jit-{program.pid}.dump")
    put(path, dump_of(OWN), OTHER)
    program.map(path)
    check_believed(program)


# --- Other users' files --------------------------------------------------------------------------

@test("a perf-PID.map of nobody in a sticky /tmp names nothing of a process of root")
def sticky():
    refused_map(Program(), lambda path: put(path, map_of(PLANTED), NOBODY))


@test("a perf-PID.map of one user names nothing of a process of another")
def other_user():
    refused_map(Program(as_other), lambda path: put(path, map_of(PLANTED), NOBODY))


@test("a perf-PID.map of root names nothing of a process of another user")
def of_root():
    refused_map(Program(as_other), lambda path: put(path, map_of(PLANTED), 0))


@test("a setuid program is its own user's: a map of who has started it names nothing")
def real_user():
    # Its real user is the one who started it, its effective user is root.
    program = Program(lambda: (os.setgroups([]), os.setresuid(OTHER, 0, 0)))
    refused_map(program, lambda path: put(path, map_of(PLANTED), OTHER))


@test("a jitdump that another user owns names nothing, though the process has mapped it")
def dump_of_other():
    program = Program()
    path = os.path.abspath(f"jit-{program.pid}.dump")
    put(path, dump_of(PLANTED), NOBODY)
    program.map(path)
    check_refused(program)


@test("a jitdump of root names nothing of a process of another user")
def dump_of_root():
    os.chmod(".", 0o755)
    program = Program(as_other)
    path = os.path.abspath(f"jit-{program.pid}.dump")
    put(path, dump_of(PLANTED), 0)
    program.map(path)
    check_refused(program)


# --- Other kinds of files ---------------------------------------------------------------------------

@test("a perf-PID.map that is a symbolic link is not followed")
def symbolic():
    put("target", map_of(PLANTED))
    target = os.path.abspath("target")
    refused_map(Program(), lambda path: os.symlink(target, path))


@test("a perf-PID.map that is a link to a file of its own user, put there by another, is not followed")
def symbolic_by_other():
    put("target", map_of(PLANTED))
    target = os.path.abspath("target")

    def link(path):
        os.symlink(target, path)
        os.lchown(path, NOBODY, NOBODY)
    refused_map(Program(), link)


@test("a perf-PID.map that is a hard link to another file of its user is not believed")
def hard_link():
    # Where protected_hardlinks is off anybody can make one of a file that is only similar.
    program = Program()
    secret = put(f"/tmp/pinch-attack-{os.getpid()}", map_of(PLANTED))
    try:
        refused_map(program, lambda path: os.link(secret, path))
    finally:
        os.unlink(secret)


@test("a perf-PID.map that is a FIFO, a socket, a directory or a device is no map, and opens nothing")
def odd_files():
    def fifo(path):
        os.mkfifo(path)

    def device(path):
        os.mknod(path, 0o644 | 0o020000, os.makedev(1, 5))      # zero

    for make in (fifo, device):
        program = Program()
        refused_map(program, make)
        stop(program.process)
    program = Program()
    path = program.map_path
    os.mkdir(path)
    try:
        check_refused(program)
    finally:
        os.rmdir(path)


# --- Namespaces -------------------------------------------------------------------------------------

@test("a perf-PID.map that is another user's file, bound there in a mount namespace, is not believed")
def bind():
    put("foreign", map_of(PLANTED), NOBODY)
    foreign = os.path.abspath("foreign")

    def begin():
        private_mounts()
        fd = os.open(foreign, os.O_RDONLY)
        mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777")
        path = put(f"/tmp/perf-{os.getpid()}.map", b"")
        mount(f"/proc/self/fd/{fd}", path, None, MS_BIND)
    program = Program(begin)
    assert PLANTED in read(program.root(program.map_path))
    check_refused(program)


@test("a perf-PID.map in the machine's /tmp names nothing of a process that has a /tmp of its own")
def other_tmp():
    program = Program(private_tmp)
    path = put(program.map_path, map_of(PLANTED))
    try:
        check_refused(program, needs_note=False)
    finally:
        os.unlink(path)


@test("a file of the machine's root is not that of a user namespace's root")
def bind_of_root():
    """uid 0 inside is OTHER outside, and the file is of 0 outside: nobody's, seen from inside."""
    program = UserNamespace("0 1234 1")
    put(program.root(program.map_path), map_of(PLANTED), 0)
    check_refused(program)


class UserNamespace(Program):
    """In a user namespace with these lines of uid_map, and mounts of its own."""

    def __init__(self, uid_map, inside=0):
        here, there = os.pipe()
        back, done = os.pipe()

        def begin():
            # A tmpfs of the machine's, so that the test can put files of any user there.
            private_tmp()
            if libc.unshare(CLONE_NEWUSER):
                os._exit(99)
            os.write(there, b"x")
            if os.read(back, 1) != b"x":
                os._exit(99)
            os.setresgid(inside, inside, inside)
            os.setresuid(inside, inside, inside)
        pid = os.fork()
        if not pid:     # writes the maps of the one that waits for it
            os.close(there)
            if os.read(here, 1) != b"x":
                os._exit(1)
            try:
                child = int(read(f"/proc/{os.getppid()}/task/{os.getppid()}/children").split()[-1])
                for name in ("uid_map", "gid_map"):
                    with open(f"/proc/{child}/{name}", "w") as file:
                        file.write(uid_map)
                os.write(done, b"x")
            except (OSError, ValueError, IndexError) as error:
                print(f"# uid_map: {error}", flush=True)
                os._exit(1)
            os._exit(0)
        try:
            super().__init__(begin)
        except Exception as error:
            raise Skip(f"no user namespaces here: {error}") from None
        finally:
            for fd in (here, there, back, done):
                os.close(fd)
            os.waitpid(pid, 0)


@test("its own: a perf-PID.map of the user that a user namespace's root is outside")
def own_user_namespace():
    program = UserNamespace("0 1234 1")
    put(program.root(program.map_path), map_of(OWN), OTHER)
    check_believed(program)


@test("a file of nobody names nothing of a process whose user has no number outside, or that of nobody inside")
def unmapped():
    # It is 65534 inside and OTHER outside; the file is 65534's outside.
    program = UserNamespace(f"0 1233 1\n{NOBODY} {OTHER} 1", NOBODY)
    put(program.root(program.map_path), map_of(PLANTED), NOBODY)
    check_refused(program)


# --- While it is traced -------------------------------------------------------------------------------

TRIES = 10              # the file is read while the report is made, which does not take long


def again(test_it):
    """Until it is not missed."""
    for _ in range(TRIES):
        try:
            return test_it()
        except Missed:
            pass
    raise AssertionError(f"in {TRIES} runs pinch ended before the file was changed: nothing is tested")


def wait_read(path, process):
    """Until somebody has read the file, which put_old() made."""
    wait_until(lambda: process.poll() is not None or os.stat(path).st_atime > 1, "pinch to read the file")
    if process.poll() is not None:
        raise Missed


def put_old(path):
    """A file of which the time says whether it was read."""
    put(path, b"20000000 1000 elsewhere\n")
    os.utime(path, (1, 1))


@test("a perf-PID.map that another user's file replaces while it is read names nothing")
def replaced():
    program = Program()
    path = program.map_path

    def replace(process):
        wait_read(path, process)
        os.unlink(path)
        put(path, map_of(PLANTED), NOBODY)

    again(lambda: with_tmp(program, lambda: (put_old(path), check_refused(program, replace, needs_note=False))))


@test("a perf-PID.map that is given to another user while it is read is read no further")
def given_away():
    program = Program()
    path = program.map_path

    def give(process):
        wait_read(path, process)
        os.chown(path, NOBODY, NOBODY)
        with open(path, "ab") as file:
            file.write(map_of(PLANTED))

    again(lambda: with_tmp(program, lambda: (put_old(path), check_refused(program, give, needs_note=False))))


@test("a perf-PID.map that others can write is not believed")
def writable():
    refused_map(Program(), lambda path: put(path, map_of(PLANTED), 0, 0o666))


def grouped(path, name, group):
    """Writable by a group, as files are that are made under a umask of 002."""
    put(path, map_of(name), 0, 0o664)
    os.chown(path, -1, group)


@test("a perf-PID.map that a group can write is not believed, unless it is the process's own")
def group_writable():
    program = Program()
    refused_map(program, lambda path: grouped(path, PLANTED, NOBODY))
    notes = parse_report(read("report.json", "rb"))["notes"]
    assert any("other users can write" in note for note in notes), notes
    with_tmp(program, lambda: (grouped(program.map_path, OWN, os.getegid()), check_believed(program)))


@test("a jitdump that a group can write is not believed")
def dump_group_writable():
    program = Program()
    path = os.path.abspath(f"jit-{program.pid}.dump")
    put(path, dump_of(PLANTED), 0, 0o664)
    os.chown(path, -1, NOBODY)
    program.map(path)
    check_refused(program)


if __name__ == "__main__":
    sys.exit(main(jobs=3))
