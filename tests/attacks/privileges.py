#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What pinch and its helpers may do while a program is traced: as /proc shows it, and as the kernel answers
when one of them tries, which it is made to as by code that took it over. And that the command of `pinch run`
hears nothing of this.
"""
import os
import re
import stat
import subprocess
import sys

from lib_attacks import ATTACHER, CLOCK, ENGINE, NOBODY, OPENER, SERVERS, SOUND, SPAWNER, WORKER, Tracing, attacker
from lib import finish, is_alive, main, pinch, read, start, status_of, stop, test, wait_until

CAPABILITIES = {"CHOWN": 0, "DAC_OVERRIDE": 1, "DAC_READ_SEARCH": 2, "FOWNER": 3, "KILL": 5, "SETGID": 6, "SETUID": 7, "SETPCAP": 8, "SYS_PTRACE": 19,
                "SYS_ADMIN": 21, "SYS_NICE": 23, "PERFMON": 38, "BPF": 39, "CHECKPOINT_RESTORE": 40}

# Each process by its name; there are no others. capabilities: what it may have, effective and permitted; it has
# none that are inheritable or ambient. bounding: the same of those it could ever have; None: not asked. limits: the
# highest value. descriptors: of what kind, besides /dev/null.
ROLES = {
    ENGINE: dict(uid=None, capabilities={"BPF", "SYS_NICE"}, bounding={"BPF", "SYS_NICE"}, limits={},
                 descriptors=None),
    OPENER: dict(uid=None, capabilities={"SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE", "SYS_ADMIN"},
                 bounding=None, limits={"Max core file size": 0}, descriptors=r"(?!anon_inode:)"),
    SPAWNER: dict(uid=None, capabilities={"SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE", "SYS_ADMIN",
                                          "SETUID", "SETGID", "SETPCAP", "SYS_NICE", "KILL"},
                  bounding=None, limits={"Max core file size": 0}, descriptors=r"socket:|anon_inode:\[pidfd\]"),
    WORKER: dict(uid=NOBODY, capabilities=set(), bounding=set(),
                 limits={"Max processes": 64, "Max open files": 1 << 16, "Max data size": 4 << 30,
                         "Max address space": 256 << 30, "Max stack size": 64 << 20, "Max file size": 0,
                         "Max cpu time": 3600, "Max core file size": 0},
                 descriptors=r"socket:|pipe:|/memfd:|/(?!proc/|sys/|dev/)|/proc/\d+/statm$|/\d+/statm$"),
    SERVERS: dict(uid=None, capabilities=set(), bounding=set(),
                  limits={"Max data size": 1 << 30, "Max core file size": 0}, descriptors=r"socket:"),
    ATTACHER: dict(uid=None, capabilities={"SYS_PTRACE", "DAC_READ_SEARCH", "SETUID", "SETGID"}, bounding=None,
                   limits={"Max core file size": 0}, descriptors=r"socket:"),
    CLOCK: dict(uid=NOBODY, capabilities=set(), bounding=set(), limits={"Max core file size": 0}, descriptors=r"socket:|pipe:"),
}

# What must not get into the kernel, with arguments that do nothing there: name, number, arguments.
ANYWHERE = [
    ("execve", 59, 0, 0, 0), ("execveat", 322, -100, 0, 0, 0, 0), ("ptrace", 101, 0xffff, 0, 0, 0),
    ("mount", 165, 0, 0, 0, 0, 0), ("init_module", 175, 0, 0, 0), ("kexec_load", 246, 0, 0, 0, 0),
    ("userfaultfd", 323, 0xffffffff), ("io_uring_setup", 425, 0, 0),
]
FORBIDDEN = {
    ENGINE: ANYWHERE + [
        ("bpf prog load", 321, 5, 0, 0), ("bpf link create", 321, 28, 0, 0), ("bpf obj pin", 321, 6, 0, 0),
        ("perf_event_open", 298, 0, 0, 0, 0, 0), ("socket", 41, 2, 1, 0), ("socket", 41, 1, 1, 0),
        ("fork", 57), ("clone", 56, 0x10000, 0, 0, 0, 0), ("clone3", 435, 0, 0), ("setuid", 105, 0),
        ("process_vm_readv", 310, 1, 0, 0, 0, 0, 0), ("unshare", 272, 0), ("setns", 308, -1, 0),
        ("keyctl", 250, 0xffff, 0, 0, 0, 0), ("reboot", 169, 0, 0, 0),
        ("x32 open", 0x40000002, "@/etc/passwd", 0, 0),
    ],
    OPENER: ANYWHERE + [
        ("bpf", 321, 0xffff, 0, 0), ("perf_event_open", 298, 0, 0, 0, 0, 0), ("socket", 41, 2, 1, 0),
        ("clone", 56, 0x10000, 0, 0, 0, 0), ("setuid", 105, 0), ("creat", 85, "@/no/such/file", 0o600),
        ("openat", 257, -100, "@/etc/passwd", 2, 0), ("unlink", 87, "@/no/such/file"),
    ],
    WORKER: ANYWHERE + [
        ("open", 2, "@/etc/passwd", 0, 0), ("openat", 257, -100, "@/", 0, 0),
        ("openat2", 437, -100, "@/etc/passwd", 0, 24), ("creat", 85, "@/no/such/file", 0o600),
        ("unlink", 87, "@/no/such/file"), ("socket", 41, 2, 1, 0), ("socket", 41, 1, 1, 0),
        ("socketpair", 53, 99, 1, 0, 0), ("connect", 42, -1, 0, 0), ("bind", 49, -1, 0, 0),
        ("fork", 56, 0x10000, 0, 0, 0, 0), ("clone3", 435, 0, 0), ("kill", 62, 1, 0),
        ("process_vm_readv", 310, 1, 0, 0, 0, 0, 0), ("pidfd_open", 434, 1, 0), ("bpf", 321, 0xffff, 0, 0),
        ("perf_event_open", 298, 0, 0, 0, 0, 0), ("setuid", 105, 0), ("unshare", 272, 0),
        ("keyctl", 250, 0xffff, 0, 0, 0, 0), ("chmod", 90, "@/no/such/file", 0), ("add_key", 248, 0, 0, 0, 0, 0),
        ("mmap shared", 9, 0, 4096, 3, 0x21, -1, 0), ("mmap shared and validated", 9, 0, 4096, 3, 0x23, -1, 0),
        ("mmap of a stack", 9, 0, 4096, 3, 0x122, -1, 0), ("mmap to execute", 9, 0, 4096, 5, 0x22, -1, 0),
        ("memfd_create", 319, "@file", 0), ("write", 1, 0, "@text", 1), ("ftruncate", 77, 0, 0),
        ("fcntl of seals", 72, 0, 1033, 0),
        ("tgkill of others", 234, -1, 1, 0), ("fcntl of a copy", 72, 0, 0, 0),
        ("fcntl of an owner", 72, 0, 8, 1), ("fcntl of a lock", 72, 0, 6, 0),
        ("x32 open", 0x40000002, "@/etc/passwd", 0, 0),
    ],
    # It is the caller's user: root, who owns what it must not reach.
    SERVERS: ANYWHERE + [
        ("read a file", 257, -100, "@/etc/shadow", 0, 0), ("list a directory", 257, -100, "@/root", 0, 0),
        ("read a process", 257, -100, "@/proc/1/environ", 0, 0), ("open a device", 257, -100, "@/dev/kmsg", 1, 0),
        ("make a file", 257, -100, "@/tmp/pinch-servers", 0o101, 0o600), ("creat", 85, "@/root/pinch-servers", 0o600),
        ("write to what it may read", 257, -100, "@/etc/hosts", 1, 0), ("truncate", 76, "@/no/such/file", 0),
        ("cut off what it may read", 257, -100, "@/etc/hosts", 0o1000, 0),
        ("chmod", 90, "@/no/such/file", 0), ("fchmod", 91, -1, 0), ("fchmodat2", 452, -100, "@/no/such/file", 0, 0),
        ("chown", 92, "@/no/such/file", 0, 0), ("setxattr", 188, "@/no/such/file", 0, 0, 0, 0),
        ("unlink", 87, "@/etc"), ("rmdir", 84, "@/etc"), ("mkdir", 83, "@/tmp/pinch-servers", 0o700),
        ("link", 86, "@/etc/hosts", "@/tmp/pinch-servers"), ("symlink", 88, "@/etc/hosts", "@/tmp/pinch-servers"),
        ("kill", 62, 0xffffff, 0), ("tgkill", 234, -1, 1, 0), ("pidfd_open", 434, 0xffffff, 0),
        ("prlimit64", 302, 0xffffff, 7, 0, 0), ("fork", 57), ("bpf", 321, 0xffff, 0, 0),
        ("unix socket", 41, 1, 1, 0), ("bind", 49, -1, 0, 0), ("listen", 50, -1, 0), ("unshare", 272, 0),
        ("keyctl", 250, 0xffff, 0, 0, 0, 0), ("setpriority", 141, 0, 0xffffff, 0),
    ],
}
# It starts copies of itself and becomes other users, but no program and nobody in another namespace.
FORBIDDEN[ATTACHER] = ANYWHERE + [
    ("bpf", 321, 0xffff, 0, 0), ("perf_event_open", 298, 0, 0, 0, 0, 0), ("socket", 41, 2, 1, 0),
    ("netlink socket", 41, 16, 3, 0), ("clone of a namespace", 56, 0x10000011, 0, 0, 0, 0), ("clone3", 435, 0, 0),
    ("unshare", 272, 0), ("setns", 308, -1, 0), ("kill", 62, 0xffffff, 0), ("tgkill", 234, -1, 1, 0),
    ("process_vm_readv", 310, 1, 0, 0, 0, 0, 0), ("process_vm_writev", 311, 1, 0, 0, 0, 0, 0),
    ("pidfd_getfd", 438, -1, 0, 0), ("openat to write", 257, -100, "@/etc/passwd", 1, 0),
    ("openat to cut off", 257, -100, "@/no/such/file", 0o1001, 0), ("creat", 85, "@/no/such/file", 0o600),
    ("write", 1, -1, "@text", 1), ("chmod", 90, "@/no/such/file", 0), ("chown", 92, "@/no/such/file", 0, 0),
    ("rename", 82, "@/no/such/file", "@/no/such/other"), ("bind", 49, -1, 0, 0), ("listen", 50, -1, 0),
    ("keyctl", 250, 0xffff, 0, 0, 0, 0), ("reboot", 169, 0, 0, 0), ("x32 open", 0x40000002, "@/etc/passwd", 0, 0),
]
FORBIDDEN[CLOCK] = ANYWHERE + [
    ("open", 2, "@/etc/passwd", 0, 0), ("openat", 257, -100, "@/", 0, 0), ("socket", 41, 2, 1, 0), ("connect", 42, -1, 0, 0),
    ("bind", 49, -1, 0, 0), ("fork", 56, 0x10000, 0, 0, 0, 0), ("clone3", 435, 0, 0), ("kill", 62, 1, 0), ("setuid", 105, 0),
    ("bpf", 321, 0xffff, 0, 0), ("unshare", 272, 0), ("mmap", 9, 0, 4096, 3, 0x22, -1, 0), ("x32 open", 0x40000002, "@/etc/passwd", 0, 0),
]
# What its work takes.
ALLOWED_TO_SERVERS = [
    ("read a name server", 257, -100, "@/etc/resolv.conf", 0, 0), ("read a library", 257, -100, "@/usr/lib/os-release", 0, 0),
    ("socket", 41, 2, 1, 0), ("list its cache", 257, -100, "@cache/debuginfod_client", 0, 0),
    ("make a file there", 257, -100, "@cache/debuginfod_client/file", 0o101, 0o600),
    ("make a directory there", 83, "@cache/debuginfod_client/directory", 0o700),
    ("name it anew", 82, "@cache/debuginfod_client/file", "@cache/debuginfod_client/other"),
    ("remove it", 87, "@cache/debuginfod_client/other"),
]
# By the entry of 32-bit programs, where numbers mean something else: getpid, which anybody may call.
FORBIDDEN_32 = [("32-bit getpid", 20)]

# EPERM, EACCES, ENOSYS: it did not get there.
REFUSALS = {-1, -13, -38}


def names_of(mask):
    known = {number: name for name, number in CAPABILITIES.items()}
    return {known.get(bit, str(bit)) for bit in range(64) if int(mask, 16) >> bit & 1}


def limits_of(pid):
    """Of /proc/PID/limits, the soft and the hard one; None: no limit."""
    limits = {}
    for line in read(f"/proc/{pid}/limits").splitlines()[1:]:
        name, soft, hard = re.match(r"(.{25}) (\S+)\s+(\S+)", line).groups()
        limits[name.strip()] = [None if value == "unlimited" else int(value) for value in (soft, hard)]
    return limits


def wrong_status(pid, role, besides=frozenset()):
    """besides: capabilities that the engine may have as well."""
    expected, status, wrong = ROLES[role], status_of(pid), []
    if role != ENGINE:
        besides = set()
    if expected["uid"] is not None:
        for field in ("Uid", "Gid"):
            if set(map(int, status[field].split())) != {expected["uid"]}:
                wrong.append(f"{field} {status[field]}")
        if status["Groups"]:
            wrong.append(f"groups {status['Groups']}")
    for field, allowed in (("CapInh", set()), ("CapAmb", set()), ("CapPrm", expected["capabilities"]),
                           ("CapEff", expected["capabilities"]), ("CapBnd", expected["bounding"])):
        if allowed is not None and names_of(status[field]) - allowed - (besides if allowed else set()):
            wrong.append(f"{field} {status[field]}")
    if status["NoNewPrivs"] != "1":
        wrong.append("it could get new privileges")
    if status["Seccomp"] != "2":
        wrong.append(f"Seccomp {status['Seccomp']}")
    return wrong


def wrong_limits(pid, role):
    limits = limits_of(pid)
    return [f"{name}: {limits[name]}" for name, most in ROLES[role]["limits"].items()
            if any(value is None or value > most for value in limits[name])]


def wrong_descriptors(pid, role):
    allowed, wrong = ROLES[role]["descriptors"], []
    if allowed is None:
        return []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        path = os.readlink(f"/proc/{pid}/fd/{fd}")
        info = dict(line.split(":", 1) for line in read(f"/proc/{pid}/fdinfo/{fd}").splitlines() if ":" in line)
        may_write = int(info["flags"], 8) & 3
        if path == "/dev/null":
            continue
        is_directory = stat.S_ISDIR(os.stat(f"/proc/{pid}/fd/{fd}").st_mode) and role == WORKER
        if not re.match(allowed, path) or is_directory or \
                may_write and not re.match(r"socket:|pipe:|/memfd:|anon_inode:\[pidfd\]", path):
            wrong.append(f"{fd}: {path}{' to write' if may_write else ''}")
    wrong += [line for line in read(f"/proc/{pid}/maps").splitlines() if "anon_inode:" in line]
    return [f"descriptors: {wrong}"] if wrong else []


def with_servers(cache="cache"):
    """The environment with a server that nobody is, and a cache."""
    return dict(os.environ, DEBUGINFOD_URLS="http://127.0.0.1:9", XDG_CACHE_HOME=os.path.abspath(cache))


def wrong_processes(tracing, options, besides, env):
    family = {pid: status_of(pid).get("Name") for pid in tracing.family()}
    unknown = {pid: name for pid, name in family.items() if name not in ROLES}
    wrong = [f"unknown processes: {unknown}"] if unknown else []
    wrong += [f"there is no {role}" for role in ROLES
              if role not in family.values() and (role != SERVERS or env) and
              (role != ATTACHER or "--java-map" in options) and (role != CLOCK or "scope" in options)]
    for pid, role in family.items():
        if role in ROLES:
            found = wrong_status(pid, role, besides) + wrong_limits(pid, role) + wrong_descriptors(pid, role)
            wrong += [f"{role}: {text}" for text in found]
    return wrong


def check_processes(*options, besides=frozenset(), env=None):
    tracing = Tracing(*options, env=env)
    wrong = ["nothing was looked at"]

    # A helper that loads its libraries has them open, one by one, and is confined then.
    def is_right():
        nonlocal wrong
        try:
            wrong = wrong_processes(tracing, options, besides, env)
        except FileNotFoundError as error:
            wrong = [f"closed as it was looked at: {error}"]
        return not wrong

    try:
        wait_until(is_right, "processes as they should be", 5)
    except AssertionError as error:
        raise AssertionError("; ".join(wrong)) from error
    result = tracing.end()
    assert result.status == 0, result.text


@test("pinch attach: its processes have the privileges, limits and descriptors that they need, and no others")
def attach_processes():
    check_processes()


@test("pinch record: its processes have the privileges, limits and descriptors that they need, and no others")
def record_processes():
    check_processes("record", "-o", "t.pinch")


@test("pinch scope: its processes have the privileges, limits and descriptors that they need, and no others")
def scope_processes():
    check_processes("scope", "--listen", "127.0.0.1:0")


@test("pinch attach --dns: the same, and what it takes to probe functions of files that are met later")
def probing_processes():
    check_processes("attach", "--dns", "-o", "report.txt", besides={"PERFMON", "SYS_ADMIN"})


@test("a report into another user's directory: the same, and what it takes to write there; it is written")
def writing_processes():
    os.mkdir("theirs")
    os.chown("theirs", NOBODY, NOBODY)
    os.chmod("theirs", 0o755)
    check_processes("attach", "-o", "theirs/report.txt", besides={"DAC_OVERRIDE", "FOWNER", "CHOWN"})
    assert "Time of all threads" in read("theirs/report.txt")


@test("with debuginfod servers: the same, and a process that asks them, of the caller's user with no capability")
def asking_processes():
    check_processes(env=with_servers())


@test("with --java-map: the same, and a process that becomes the users of JVMs")
def attaching_processes():
    check_processes("attach", "--java-map", "-o", "report.txt")


@test("the worker has no network, and sees no files")
def worker_namespaces():
    tracing = Tracing()
    worker = tracing.find(WORKER)
    assert worker, "there is no worker"
    net = os.readlink(f"/proc/{worker}/ns/net") != os.readlink("/proc/self/ns/net")
    has_seccomp = status_of(worker)["Seccomp"] == "2"
    seen = os.listdir(f"/proc/{worker}/root")
    tracing.end()
    assert net or has_seccomp, "it is in the network namespace of the machine, and may call socket()"
    assert not seen or has_seccomp, f"its root directory has {seen[:5]}, and it may open them"


def inject(pid, number, *arguments, is_32=False):
    """What the kernel says: a number; None when it killed the process."""
    done = subprocess.run([attacker("inject"), *(["-i"] if is_32 else []), str(pid), str(number),
                           *map(str, arguments)], capture_output=True, text=True, timeout=30)
    kind, _, value = done.stdout.strip().partition(" ")
    assert kind in ("result", "killed"), f"{done.stdout}{done.stderr}"
    return int(value) if kind == "result" else None


def check_forbidden(role):
    tracing, wrong = None, []
    calls = [(call, False) for call in FORBIDDEN[role]] + [(call, True) for call in FORBIDDEN_32]
    for (name, number, *arguments), is_32 in calls:
        # One that was killed has a successor in another pinch: this one may do without.
        pid = tracing and tracing.find(role)
        if not pid:
            if tracing:
                stop(tracing.process)
                stop(tracing.target)
            options = {ATTACHER: ("attach", "--java-map", "-o", "report.txt"), CLOCK: ("scope", "--listen", "127.0.0.1:0")}.get(role, ())
            tracing = Tracing(*options, env=with_servers() if role == SERVERS else None)
            pid = wait_until(lambda: tracing.find(role), f"a process called {role}", 5)
        result = inject(pid, number, *arguments, is_32=is_32)
        if result is not None and result not in REFUSALS:
            wrong.append(f"{name}: {result}")
        if result is None:
            wait_until(lambda: not is_alive(pid), "what was killed to end")
    stop(tracing.process)
    stop(tracing.target)
    assert not wrong, f"the kernel took from {role}: {', '.join(wrong)}"


@test("pinch, taken over while it traces, starts nothing, loads nothing, reaches no process and no network")
def engine_calls():
    check_forbidden(ENGINE)


@test("the worker, taken over, opens nothing, starts nothing, reaches nobody")
def worker_calls():
    check_forbidden(WORKER)


@test("the opener, taken over, starts nothing, writes nothing, reaches no network")
def opener_calls():
    check_forbidden(OPENER)


@test("who asks servers, taken over, reaches no file but its own, no process and nobody on this machine")
def servers_calls():
    check_forbidden(SERVERS)


@test("who asks JVMs, taken over, starts no program, writes to no file that is there, reaches no network")
def attacher_calls():
    check_forbidden(ATTACHER)


@test("who answers for the clock, taken over, opens nothing, starts nothing, reaches nobody else")
def clock_calls():
    check_forbidden(CLOCK)


@test("who asks servers reads who they are, and writes to its cache, which it makes")
def servers_work():
    tracing = Tracing(env=with_servers())
    pid = wait_until(lambda: tracing.find(SERVERS), f"a process called {SERVERS}", 5)
    wrong = []
    for name, number, *arguments in ALLOWED_TO_SERVERS:
        arguments = [word.replace("@cache", "@" + os.path.abspath("cache")) if isinstance(word, str) else word
                     for word in arguments]
        result = inject(pid, number, *arguments)
        if result is None or result < 0:
            wrong.append(f"{name}: {result}")
    tracing.end()
    assert not wrong, f"it could not: {', '.join(wrong)}"
    assert os.path.isdir("cache/debuginfod_client/directory")


@test("a worker that dies is replaced, and names are found all the same")
def successor():
    tracing = Tracing("attach", "-o", "report.txt", "--duration", "2s")
    first = tracing.find(WORKER)
    os.kill(first, 9)
    wait_until(lambda: not is_alive(first), "the worker to die")
    result = finish(tracing.process)
    stop(tracing.target)
    assert result.status == 0, result.text
    text = read("report.txt")
    assert any(name in text for name in SOUND), text


FIELDS = ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp",
          "SigIgn", "SigBlk")


@test("the command of pinch run has all that it would have without pinch")
def command():
    def facts(text):
        lines = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        return {field: lines[field].split() for field in FIELDS}, [
            line.split() for line in text.splitlines() if line.startswith("Max ")]
    script = "cat /proc/self/status /proc/self/limits; readlink /proc/self/ns/*"
    alone = finish(start("sh", "-c", script, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE))
    result = pinch("run", "-o", "report.txt", "--", "sh", "-c", script)
    assert result.status == 0, result.text
    assert facts(result.out.decode()) == facts(alone.out.decode()), (result.out, alone.out)
    assert result.out.split(b"\n")[-8:] == alone.out.split(b"\n")[-8:]


if __name__ == "__main__":
    sys.exit(main())
