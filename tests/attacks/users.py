#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Who the command of pinch run is, and targets that are somebody else than who started them: the command of a user
gets nothing of root's, sudo's variables make nobody more than he was, a setuid program stays one under pinch and
is traced, and programs in namespaces of their own are named as in any other.
"""
import ctypes
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys

from lib_attacks import NOBODY, as_nobody, attacker
from lib import PINCH, Skip, base_name, check_laws, find, finish, functions_of, main, parse_report, pinch, read, \
    read_line, run, start, status_of, test, wait_attached, wait_until

# Of the command itself, in its own words.
TELL = r"""
import json, os, resource
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
serial = next((int(l.split()[0], 16) for l in open("/proc/keys") if " _ses" in l), None) \
    if os.path.exists("/proc/keys") else None
print(json.dumps({
    "uids": os.getresuid(), "gids": os.getresgid(), "groups": sorted(os.getgroups()),
    "caps": [int(status[c], 16) for c in ("CapInh", "CapPrm", "CapEff", "CapAmb")],
    "bounding": int(status["CapBnd"], 16), "no_new_privs": int(status["NoNewPrivs"]),
    "fds": sorted(int(fd) for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")),
    "masks": [status[m].strip() for m in ("SigBlk", "SigIgn")],
    "nice": os.nice(0), "limits": [resource.getrlimit(n) for n in range(16)],
    "oom": open("/proc/self/oom_score_adj").read(), "slack": open("/proc/self/timerslack_ns").read()
        if os.access("/proc/self/timerslack_ns", os.R_OK) else None,
    "cwd": os.getcwd(), "umask": os.umask(0), "environment": dict(os.environ)}))
"""

SUDO = ("SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND")
# Python's start may set these itself.
OWN_WORDS = ("LC_CTYPE", "_", "PWD", "SHLVL", "OLDPWD")


def environment(**words):
    """Ours, with these variables, and without what sudo may have set around the test."""
    env = {key: value for key, value in os.environ.items() if key not in SUDO}
    env.update(words)
    return env


def entry_of(*options, prefix=(), env=None, **popen):
    """What a command of pinch run says of itself."""
    result = pinch("run", "-q", *options, "--", "/usr/bin/python3", "-c", TELL, env=env or environment(),
                   prefix=prefix, **popen)
    assert result.status == 0, f"exit status {result.status}\n{result.text}"
    return json.loads(result.out)


def entry_alone(env=None):
    """The same without pinch."""
    done = subprocess.run(["/usr/bin/python3", "-c", TELL], stdin=subprocess.DEVNULL, capture_output=True,
                          env=env or environment(), check=True)
    return json.loads(done.stdout)


def is_entry(found, name):
    """The command is that user in every respect."""
    entry = pwd.getpwnam(name)
    assert found["uids"] == [entry.pw_uid] * 3 and found["gids"] == [entry.pw_gid] * 3, found
    assert found["groups"] == sorted(set(os.getgrouplist(name, entry.pw_gid))), found["groups"]
    assert found["caps"] == [0] * 4, found["caps"]
    assert found["fds"] == [0, 1, 2], found["fds"]
    words = found["environment"]
    assert (words["HOME"], words["USER"], words["LOGNAME"], words["SHELL"]) == \
        (entry.pw_dir, name, name, entry.pw_shell or "/bin/sh"), words


def refused(words, *options, env=None, status=125, prefix=(), **popen):
    """Nothing was run, and the message has these words."""
    result = pinch("run", "-q", *options, "--", "touch", os.path.abspath("run"), env=env or environment(),
                   prefix=prefix, **popen)
    assert result.status == status, f"exit status {result.status}\n{result.text}"
    assert not os.path.exists("run"), "the command was run"
    for word in words:
        assert word in result.text, f"{word!r} is not in: {result.text}"


# --- The command's user ---------------------------------------------------------------------------

@test("--user: the command has the user's ids, groups and variables, no capability and no descriptor of pinch's")
def nobody():
    is_entry(entry_of("--user", "nobody"), "nobody")
    is_entry(entry_of("--user", str(NOBODY)), "nobody")


@test("--user: the command has all groups of a user who is in several")
def groups():
    def count(entry):
        return len(set(os.getgrouplist(entry.pw_name, entry.pw_gid)))
    entry = max((e for e in pwd.getpwall() if e.pw_uid), key=count)
    if count(entry) < 2:
        raise Skip("no user here is in two groups")
    is_entry(entry_of("--user", entry.pw_name), entry.pw_name)


@test("--user UID:GID: ids without an entry; the group is the only one")
def numbers():
    command = entry_of("--user", "54321:12345")
    assert command["uids"] == [54321] * 3 and command["gids"] == [12345] * 3, command
    assert command["groups"] in ([], [12345]) and command["caps"] == [0] * 4, command
    assert command["environment"]["HOME"] == "/" and command["environment"]["USER"] == "54321"


@test("--user: all else is what the command has without pinch: limits, masks, priority, directory, umask, environment")
def untouched():
    env = environment(PINCH_TEST_WORD="kept")
    alone, command = entry_alone(env), entry_of("--user", "nobody", env=env)
    for key in ("limits", "masks", "nice", "oom", "cwd", "umask", "bounding", "no_new_privs"):
        assert command[key] == alone[key], f"{key}: {command[key]}, without pinch {alone[key]}"
    changed = {key for key in set(alone["environment"]) | set(command["environment"])
               if alone["environment"].get(key) != command["environment"].get(key)} - set(OWN_WORDS)
    assert changed <= {"HOME", "USER", "LOGNAME", "SHELL"}, changed


@test("--user: inheritable and ambient capabilities of pinch's do not reach the command")
def ambient():
    if not find("setpriv"):
        raise Skip("setpriv is not installed")
    # KEEP_CAPS and NO_SETUID_FIXUP: where a change of user alone takes no capability away.
    prefix = ["setpriv", "--inh-caps", "+net_raw,+sys_admin", "--ambient-caps", "+net_raw,+sys_admin",
              "--securebits", "+no_setuid_fixup"]
    is_entry(entry_of("--user", "nobody", prefix=prefix), "nobody")


@test("--user: what is in root's session keyring is out of the command's reach")
def keyring():
    libc = ctypes.CDLL(None, use_errno=True)
    join, add, search = 1, 248, 10

    def new_session():
        libc.syscall(250, join, None)
        if libc.syscall(add, b"user", b"pinch-test-key", b"secret", 6, -3) < 0:
            os._exit(99)
    look = "import ctypes; l = ctypes.CDLL(None, use_errno=True); " \
           f"print(l.syscall(250, {search}, -3, b'user', b'pinch-test-key', 0) >= 0)"
    results = [pinch("run", "-q", *options, "--", "/usr/bin/python3", "-c", look, env=environment(),
                     preexec_fn=new_session) for options in ((), ("--user", "nobody"))]
    if results[0].status == 99 or results[0].out.strip() != b"True":
        raise Skip("there are no keys here")
    assert results[1].out.strip() == b"False", results[1].out


@test("--user root: the command stays what pinch is, also under sudo")
def root():
    for env in (environment(), environment(SUDO_UID=str(NOBODY), SUDO_GID=str(NOBODY), SUDO_USER="nobody")):
        for name in ("root", "0"):
            command = entry_of("--user", name, env=env)
            assert command["uids"] == [0] * 3 and command["caps"][2], command
            assert command["environment"].get("HOME") == env.get("HOME")


@test("--user: who does not exist, is no word for a user, or cannot be become: nothing is run")
def unknown():
    refused(["no-such-user-here"], "--user", "no-such-user-here")
    for word in ("", "-1", "4294967295", "4294967295:0", "0x0", "1000:", ":0", "nobody:", "99999999999999999999",
                 " 0", "0 ", "+0", "nobody\n"):
        refused(["--user"], "--user", word)
    if find("setpriv"):
        refused(["as user nobody", "not permitted"], "--user", "nobody", prefix=[
            "setpriv", "--bounding-set", "-setuid,-setgid", "--inh-caps", "-setuid,-setgid"])


@test("--user: what the user may not execute is not executed, and the message says as whom")
def forbidden():
    os.mkdir("own", 0o700)
    shutil.copy("/bin/true", "own/true")
    result = pinch("run", "-q", "--user", "nobody", "--", os.path.abspath("own/true"), env=environment())
    assert result.status == 126 and "as user nobody" in result.text, result.text


@test("--user: with what runs already, or a trace, it is a wrong use")
def misused():
    for command in (("record", "--user", "nobody", "-p", str(os.getpid())),
                    ("klock", "--user", "nobody", "-p", str(os.getpid())), ("klock", "--user", "nobody", "t.pinch")):
        result = pinch(*command)
        assert result.status == 2 and "--user" in result.text, result.text
    assert pinch("attach", "--user", "nobody", "-p", str(os.getpid())).status == 2


@test("--user: the command is traced from its first instruction, and its account closes; record and klock, too")
def traced():
    place_for_nobody()
    result = run("./turns", options=("--user", "nobody"), input=b"1\n")
    assert result.out.split()[:2] == [str(NOBODY).encode()] * 2, result.out
    assert_turns(result.report)
    result = pinch("record", "-q", "-o", "t.pinch", "--user", "nobody", "--", "./turns", input=b"1\n")
    assert result.status == 0 and result.out.split()[0] == str(NOBODY).encode(), result.text
    assert pinch("report", "--json", "t.json", "t.pinch").status == 0
    assert_turns(parse_report(read("t.json", "rb")))
    result = pinch("klock", "-q", "--user", "nobody", "--", "./turns", input=b"1\n")
    assert result.status == 0 and result.out.split()[0] == str(NOBODY).encode(), result.text


@test("--user: signals that are sent to pinch reach the command")
def signals():
    process = start(PINCH, "run", "-q", "--user", "nobody", "--", "sh", "-c",
                    "trap 'echo caught; exit 7' TERM; echo ready; while :; do sleep 1 & wait; done",
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    assert read_line(process) == b"ready\n"
    process.send_signal(signal.SIGTERM)
    result = finish(process)
    assert result.status == 7 and b"caught" in result.out, f"{result.status}\n{result.text}"


# --- sudo -----------------------------------------------------------------------------------------

def sudo(uid=NOBODY, gid=NOBODY, user="nobody", **words):
    given = {"SUDO_UID": uid, "SUDO_GID": gid, "SUDO_USER": user}
    return environment(**{key: str(value) for key, value in given.items() if value is not None}, **words)


@test("sudo: the command runs as who called it, and a line says so unless -q is given")
def under_sudo():
    is_entry(entry_of(env=sudo()), "nobody")
    result = pinch("run", "-o", "r.txt", "--", "id", "-u", env=sudo())
    assert result.out == b"%d\n" % NOBODY and "nobody" in result.text and "--user root" in result.text, result.text
    assert "nobody" not in pinch("run", "-q", "--", "true", env=sudo()).text


@test("sudo: the command's groups are the user's, whatever SUDO_GID says")
def sudo_group():
    is_entry(entry_of(env=sudo(gid=0)), "nobody")


@test("sudo: of root who called it, the command is root's")
def sudo_root():
    assert entry_of(env=sudo(0, 0, "root"))["uids"] == [0] * 3


@test("sudo: variables that name nobody, or two users, are an error, never a command of root's")
def sudo_wrong():
    other = next(e for e in pwd.getpwall() if e.pw_uid not in (0, NOBODY))
    for env in (sudo(user=other.pw_name), sudo(uid=other.pw_uid), sudo(uid=0), sudo(user="root"),
                sudo(user="no-such-user-here"), sudo(uid=""), sudo(uid="-1"), sudo(uid="4294967296"),
                sudo(uid="65534x"), sudo(uid=" 0"), sudo(uid="4294967295"), sudo(gid="x"), sudo(gid=""),
                sudo(user=""), sudo(uid=None), sudo(user=None), sudo(uid=None, user=None)):
        refused(["sudo", "--user root"], env=env)


@test("sudo: its variables mean nothing to a pinch that root does not run")
def sudo_of_nobody():
    if not find("setcap"):
        raise Skip("setcap is not installed")
    os.chmod(".", 0o755)
    shutil.copy(PINCH, "pinch")
    subprocess.run([find("setcap"), "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_sys_admin+ep", "pinch"], check=True)
    os.mkdir("out")
    os.chown("out", NOBODY, NOBODY)
    for env in (sudo(0, 0, "root"), sudo("x", None, None)):
        process = start(os.path.abspath("pinch"), "run", "-q", "--", "/usr/bin/python3", "-c", TELL, cwd="out",
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                        preexec_fn=as_nobody)
        result = finish(process)
        assert result.status == 0, result.text
        command = json.loads(result.out)
        assert command["uids"] == [NOBODY] * 3 and command["caps"] == [0] * 4, command
    process = start(os.path.abspath("pinch"), "run", "-q", "--user", "root", "--", "true", cwd="out",
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env=environment(), preexec_fn=as_nobody)
    result = finish(process)
    assert result.status == 125 and "only root" in result.text, result.text


# --- Targets of others ------------------------------------------------------------------------------

TURNS = {"await_turn", "give_turn", "take_turns"}


def place_for_nobody(mode=0o755):
    """The target, where nobody can execute it."""
    os.chmod(".", 0o755)
    shutil.copy(attacker("user_turns"), "turns")
    os.chmod("turns", mode)


def assert_turns(report):
    """Its threads wait for each other, in its own functions, which have their names."""
    check_laws(report)
    found = {base_name(f) for w in report["waits"] for f in functions_of(w)}
    assert {"await_turn", "take_turns"} <= found, found
    assert any(w["cause"] == "condition" and "await_turn" in functions_of(w) for w in report["waits"]), \
        [(w["cause"], functions_of(w)[:3]) for w in report["waits"]]


def assert_plain(text):
    assert not re.search("[^\n -~\u00b1\u00b7-\uffff]", text), repr(text)


def attached(process, pid, lines=2):
    """Attaches to the target, lets it take its turns, and returns the report of that."""
    tracer = start(PINCH, "attach", "-v", "--json", "report.json", "-p", str(pid), stdin=subprocess.DEVNULL,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_attached(tracer)
    said = []
    for _ in range(lines):
        process.stdin.write(b"go\n")
        process.stdin.flush()
        said.append(read_line(process))
    process.stdin.close()
    assert process.wait(60) == 0, "the target is not who it was"
    result = finish(tracer)
    assert result.status == 0, result.text
    assert_plain(result.text)
    report = parse_report(read("report.json", "rb"))
    assert report["target"]["pids"] == [pid], report["target"]
    return report, said


def begin(*command, **options):
    return start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)


@test("a setuid program of root's that nobody runs keeps its privileges, and is traced: attached to, and run")
def setuid():
    if os.statvfs(".").f_flag & os.ST_NOSUID:
        raise Skip("setuid means nothing in the temporary directory")
    place_for_nobody(0o4755)
    expected = b"%d 0\n" % NOBODY
    process = begin("./turns", preexec_fn=as_nobody)
    real, effective, pid = read_line(process).split()
    assert (int(real), int(effective)) == (NOBODY, 0)
    report, said = attached(process, int(pid))
    assert said == [expected] * 2, said
    assert_turns(report)
    result = run("./turns", options=("--user", "nobody"), input=b"1\n2\n")
    assert result.out.splitlines(True)[1:] == [expected] * 2, result.out
    assert_turns(result.report)


NAMESPACES = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "--net", "--ipc", "--uts"]


def namespaces():
    """unshare as nobody; skips where that may not be done."""
    if not find("unshare"):
        raise Skip("unshare is not installed")
    words = [find("unshare"), *NAMESPACES]
    if subprocess.run([*words, "true"], preexec_fn=as_nobody, capture_output=True).returncode:
        raise Skip("nobody may not make namespaces here")
    return words


def inner_pid(process, name="turns"):
    """The pid out here of the process below that has this name."""
    def look():
        for pid in filter(str.isdigit, os.listdir("/proc")):
            status = status_of(pid)
            if status.get("Name") == name and status.get("NSpid", "").split()[-1:] != [pid] and \
                    is_below(int(pid), process.pid):
                return int(pid)
        return None
    return wait_until(look, f"{name} in its namespace")


def is_below(pid, ancestor):
    while pid > 1 and pid != ancestor:
        pid = int(status_of(pid).get("PPid", 0))
    return pid == ancestor


@test("a program of nobody's in namespaces of its own is traced, and named by files that are only there")
def in_namespaces():
    words = namespaces()
    place_for_nobody()
    # There, and only there, /mnt has the program; out here the path leads to nothing.
    process = begin(*words, "sh", "-c", "mount -t tmpfs none /mnt && cp turns /mnt/turns && exec /mnt/turns",
                    preexec_fn=as_nobody)
    assert read_line(process).split()[:2] == [b"0", b"0"]     # as it sees itself
    pid = inner_pid(process)
    assert status_of(pid)["Uid"].split() == [str(NOBODY)] * 4
    assert not os.path.exists("/mnt/turns")
    report, said = attached(process, pid)
    assert said == [b"0 0\n"] * 2, said
    assert_turns(report)
    lines = {f["line"] for w in report["waits"] for f in w["stack"] if f["function"] == "await_turn"}
    assert lines and None not in lines and 0 not in lines, lines


@test("pinch run: a command of nobody's that makes namespaces is followed into them, its account closes")
def into_namespaces():
    words = namespaces()
    place_for_nobody()
    result = run(*words, "./turns", options=("--user", "nobody"), input=b"1\n")
    assert result.out.splitlines()[-1] == b"0 0", result.out
    assert_plain(result.text)
    assert_turns(result.report)
    names = {t["name"] for t in result.report["threads"]}
    assert "turns" in names, names


@test("ids inside of a namespace are not taken for those of others outside of it")
def ids():
    words = namespaces()
    place_for_nobody()
    process = begin(*words, "./turns", preexec_fn=as_nobody)
    inside = int(read_line(process).split()[2])
    pid = inner_pid(process)
    assert inside != pid
    report, _ = attached(process, pid)
    assert {(t["pid"], t["host_pid"]) for t in report["threads"]} == {(inside, pid)}, report["threads"]


if __name__ == "__main__":
    sys.exit(main())
