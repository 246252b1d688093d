#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
A pinch that is not root's but has capabilities: those of README.md are enough for what it says, no more are asked
for, and what is missing is named. Whoever may not execute it gets nothing.
"""
import os
import re
import shutil
import subprocess
import sys

from lib_attacks import as_nobody, attacker
from lib import PINCH, ROOT, Skip, base_name, check_laws, find, finish, functions_of, main, parse_report, read, \
    read_line, start, status_of, test, wait_attached, wait_until

LEAST = {"cap_bpf", "cap_perfmon", "cap_sys_ptrace"}
OTHER = 1               # daemon


def pinch_with(capabilities):
    """A copy that has these, in a directory where nobody may write."""
    if not find("setcap"):
        raise Skip("setcap is not installed")
    os.chmod(".", 0o777)
    shutil.copy(PINCH, "pinch")
    os.chmod("pinch", 0o755)
    done = subprocess.run([find("setcap"), ",".join(sorted(capabilities)) + "+ep", "pinch"], capture_output=True)
    if done.returncode:
        raise Skip(f"no capabilities can be given to files here: {done.stderr.decode().strip()}")
    shutil.copy(attacker("user_turns"), "turns")
    os.chmod("turns", 0o755)
    return os.path.abspath("pinch")


def begin(*command, preexec_fn=as_nobody, env=None, **options):
    home = os.path.abspath("home")
    if not os.path.exists(home):
        os.mkdir(home)
        os.chmod(home, 0o777)
    words = dict(os.environ if env is None else env, HOME=home, XDG_CACHE_HOME=home)
    return start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 preexec_fn=preexec_fn, env=words, **options)


def as_other():
    os.setgroups([])
    os.setresgid(OTHER, OTHER, OTHER)
    os.setresuid(OTHER, OTHER, OTHER)


def assert_turns(path):
    report = parse_report(read(path, "rb"))
    check_laws(report, is_lossless=False)       # its priority is not raised
    assert not report["totals"]["accounting_error_ns"], report["totals"]
    found = {base_name(f) for w in report["waits"] for f in functions_of(w)}
    assert {"await_turn", "take_turns"} <= found, found
    return report


@test("README.md gives a binary three capabilities, to the members of a group")
def readme():
    text = read(os.path.join(ROOT, "README.md"))
    line, = re.findall(r"`(chgrp .*setcap [^`]*)`", text)
    assert set(re.search(r"setcap (\S+)\+ep", line).group(1).split(",")) == LEAST, line
    assert re.search(r"chmod 0?7[0-7]0 ", line), line


@test("with these nobody runs a command, attaches to another user's program, in namespaces too, and to all")
def least():
    pinch = pinch_with(LEAST)
    result = finish(begin(pinch, "run", "-q", "--json", "run.json", "--", "./turns"), b"1\n")
    assert result.status == 0, result.text
    assert_turns("run.json")
    unshare = [find("unshare"), "--user", "--map-root-user", "--mount", "sh", "-c",
               "mount -t tmpfs none /mnt && cp turns /mnt/turns && exec /mnt/turns"]
    can_unshare = not subprocess.run([*unshare[:4], "true"], preexec_fn=as_other, capture_output=True).returncode
    for command in ["./turns"], unshare if can_unshare else None:
        if not command:
            continue
        target = begin(*command, preexec_fn=as_other)
        read_line(target)
        process = begin(pinch, "attach", "-q", "--json", "attach.json", "-p", str(target.pid))
        wait_attached(process)
        target.stdin.write(b"1\n")
        target.stdin.close()
        assert target.wait(60) == 0
        result = finish(process)
        assert result.status == 0, result.text
        assert_turns("attach.json")
        os.unlink("attach.json")
    result = finish(begin(pinch, "attach", "-q", "--json", "all.json", "--all", "--duration", "200ms"))
    assert result.status == 0, result.text
    assert parse_report(read("all.json", "rb"))["totals"]["threads"] > 1


def checked(capabilities):
    """pinch check: its status, and {a line's first words: whether it is ok, MISSING or limited, and the rest}."""
    result = finish(begin(pinch_with(capabilities), "check"))
    lines = re.findall(r"^  (ok|MISSING|limited) +([^:]*): (.*)$", result.out.decode(), re.M)
    return result.status, {what: (state, found) for state, what, found in lines}


@test("pinch check names what is missing, and asks for no more than is needed")
def check():
    status, lines = checked(LEAST)
    assert status == 0 and lines["privileges to trace"][0] == "ok", lines
    state, found = lines["privileges for all features"]
    assert state == "limited" and set(re.findall(r"CAP_\w+", found)) == \
        {"CAP_DAC_READ_SEARCH", "CAP_CHECKPOINT_RESTORE", "CAP_SYS_ADMIN", "CAP_SYS_NICE"}, found
    for lacking in "cap_bpf", "cap_perfmon":
        status, lines = checked(LEAST - {lacking})
        state, found = lines["privileges to trace"]
        assert status == 1 and state == "MISSING" and re.findall(r"CAP_\w+", found) == [lacking.upper()], found
        result = finish(begin(pinch_with(LEAST - {lacking}), "run", "--", "true"))
        said = re.findall(r"missing (CAP_\w+)", result.text)
        assert result.status == 125 and said == [lacking.upper()], result.text


@test("functions are followed with CAP_SYS_ADMIN besides, and else a note says that they are not")
def functions():
    for capabilities, is_enough in (LEAST, False), (LEAST | {"cap_sys_admin"}, True):
        pinch = pinch_with(capabilities)
        result = finish(begin(pinch, "record", "-q", "-o", "t.pinch", "--span", "turns:take_turns", "--", "./turns"),
                        b"1\n")
        assert result.status == 0, result.text
        dumped = finish(begin(PINCH, "dump", "t.pinch", preexec_fn=None)).out
        assert (b"span.BEGIN" in dumped) == is_enough, f"{capabilities}: {is_enough}"
        text = finish(begin(PINCH, "report", "-v", "t.pinch", preexec_fn=None)).out.decode()
        assert ("ermission denied" in text) != is_enough, text[-1500:]
        os.unlink("t.pinch")


@test("what does not trace has none of the binary's capabilities: reading a trace")
def reading():
    pinch = pinch_with(LEAST)
    result = finish(begin(pinch, "record", "-q", "-o", "t.pinch", "--", "./turns"), b"1\n")
    assert result.status == 0, result.text
    # It has more to say than fits into the pipe.
    process = begin(pinch, "dump", "t.pinch")
    wait_until(lambda: "pipe_write" in read(f"/proc/{process.pid}/wchan") or process.poll() is not None,
               "the pipe to be full")
    status = status_of(process.pid)
    process.stdout.read()
    assert process.wait(60) == 0
    assert {int(status[c], 16) for c in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}, status


@test("who is not in the group may not execute it: neither capabilities nor a copy give him any")
def group():
    pinch = pinch_with(LEAST)
    os.chmod(pinch, 0o750)
    result = subprocess.run(["/bin/sh", "-c", f"{pinch} check || cp {pinch} mine"], preexec_fn=as_nobody,
                            capture_output=True)
    assert result.returncode and b"ermission denied" in result.stderr, result.stderr
    assert not os.path.exists("mine")
    os.chmod(pinch, 0o755)
    subprocess.run(["cp", pinch, "mine"], preexec_fn=as_nobody, check=True)
    assert finish(begin(os.path.abspath("mine"), "run", "--", "true")).status == 125


if __name__ == "__main__":
    sys.exit(main())
