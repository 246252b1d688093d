#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The end-to-end tests on one of Debian's kernels, in an emulated machine. TAP: the tests of the guest
under the names of their suites, and two of our own, that it came to its end and that its kernel has
nothing to complain of. A kernel that cannot be had is one skipped test.

Usage: kernel.py NAME [--quick] [--result]; NAME as in get_kernel.sh. --quick makes a choice of the
tests; --result leaves result.json for table.py.
Environment: O, the build directory; KVM=1, to use the hardware's help. Leaves NAME's directory in
O/kernels, with the guest's console.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import guest
import image

BUILD = os.path.abspath(os.environ.get("O", os.path.join(image.ROOT, "build")))

# An emulated CPU is about ten times slower, and waits for its host's CPUs.
SETTINGS = "LIMIT_S=400 JITTER_NS=20000000"
SUITES = ("planted", "attach", "unwind", "python", "causes", "oracle", "system", "spans", "bad_input",
          "acquisitions", "usdt")
LIMIT_S = 3000

# Start, attach, stacks, names, processes and ends: what a kernel may be different in.
QUICK = {
    "planted": "known_serial|inline_chain|short_children|exec_thread",
    "attach": "blocked threads|namespace",
    "unwind": "mutex_storm|first_steps",
    "python": "known places|generators",
    "causes": "cond_wait|robust_mutex|fifo_pair|tcp_slow:|unix_pair|signal_ends|stolen|cpu_limit",
    "oracle": "pipeline_stages",
    "system": "all threads|packets",
    "spans": "by system calls|calls itself",
    "klock": "klock_pipe|klock_netns",
    "acquisitions": "each acquisition|adds functions",
    "usdt": "each hit|semaphore|between two probes",
}
QUICK_LIMIT_S = 1500

# Time that the host took away makes lockups and stalls.
COMPLAINT = re.compile(r"BUG: (?!soft lockup|workqueue lockup)|WARNING: |Oops: |Kernel panic")
# It cannot go on.
CRASH = re.compile(r"Oops: |Kernel panic")
TRIES = 1 if os.environ.get("KVM") == "1" else 2
RESULT = re.compile(r"(not )?ok \d+ - (.*?)(?: # SKIP (.*))?$")


class Tap:
    """Counts tests, and keeps their lines."""

    def __init__(self):
        self.number = 0
        self.passed, self.failed, self.skipped = 0, [], []
        self.text = []

    def say(self, line):
        self.text.append(line)

    def result(self, is_ok, sentence, reason=None):
        self.number += 1
        self.say(f"{'' if is_ok else 'not '}ok {self.number} - {sentence}"
                 + (f" # SKIP {reason}" if reason is not None else ""))
        if not is_ok:
            self.failed.append(sentence)
        elif reason is not None:
            self.skipped.append([sentence, reason])
        else:
            self.passed += 1


def find_kernel(name, directory):
    """The path of the kernel's image, or None and the reason."""
    if not shutil.which(guest.QEMU):
        return None, f"{guest.QEMU} is not installed"
    done = subprocess.run([os.path.join(image.HERE, "get_kernel.sh"), name, directory],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return None, done.stderr.strip().replace("\n", "; ")
    return done.stdout.split()[0], None


def commands(is_quick):
    def command(suite, only):
        return f"{SETTINGS} ONLY='{only}' /usr/bin/python3 tests/e2e/{suite}.py"
    return [command(s, o) for s, o in QUICK.items()] if is_quick else \
        [command(s, "") for s in SUITES]


def follow(lines, tap):
    """Passes the guest's tests on; what it says of itself."""
    facts = {"begun": 0, "ended": 0, "is_done": False}
    suite, is_tested = "", False
    for line in lines:
        result = RESULT.match(line)
        words = line.split()
        if result:
            is_tested = True
            tap.result(not result[1], f"{suite}: {result[2]}", result[3])
        elif line.startswith("# booted "):
            facts["boot_s"], facts["release"] = float(words[2]), words[3]
            facts["version"] = " ".join(words[4:])
        elif line.startswith("# begin "):
            suite, is_tested = os.path.basename(words[-1]).removesuffix(".py"), False
        elif line.startswith("# end "):
            if not is_tested or words[2] not in ("0", "1"):
                tap.result(False, f"{suite}: it ends with its results, not with status {words[2]}")
        elif line.startswith("# done "):
            facts["is_done"], facts["total_s"] = True, float(words[2])
        elif not line.startswith("1.."):
            tap.say(line if line.startswith("#") else f"# {line}")
    return facts


def complaints(console):
    with open(console, encoding="utf-8", errors="replace") as file:
        return [line.strip() for line in file if COMPLAINT.search(line)]


def run(name, kernel, directory, is_quick, tap):
    archive, console = (os.path.join(directory, f) for f in ("initramfs", "console"))
    image.make(archive, BUILD, commands(is_quick))
    machine = guest.Guest(kernel, archive, console, QUICK_LIMIT_S if is_quick else LIMIT_S)
    facts, reason = {}, "it ended before its tests"
    try:
        facts = follow(machine.lines(), tap)
    except guest.Hang as hang:
        reason = str(hang)
    finally:
        machine.stop()
        os.unlink(archive)
    tap.result(bool(facts.get("is_done")), f"{name}: the guest boots and comes to its end")
    if not facts.get("is_done"):
        with open(console, encoding="utf-8", errors="replace") as file:
            tap.say(f"# {reason}\n# " + "# ".join(file.readlines()[-20:]).rstrip())
    found = complaints(console)
    tap.result(not found, f"{name}: the kernel warns of nothing")
    for line in found[:10]:
        tap.say(f"# {line}")
    return facts


def has_crashed(directory):
    with open(os.path.join(directory, "console"), encoding="utf-8", errors="replace") as file:
        return CRASH.search(file.read())


def run_all(name, kernel, directory, is_quick):
    """
    The facts and the tests of the last run. Once in some forty the emulated kernel has died, at address 0, while programs
    were attached to functions of its locks, whose code changes then; whether the emulator or the kernel is wrong is not
    known. So an emulated one has two tries, and what the first one ended with is printed.
    """
    for left in reversed(range(TRIES)):
        tap = Tap()
        facts = run(name, kernel, directory, is_quick, tap)
        if facts.get("is_done") or not left or not has_crashed(directory):
            return facts, tap
        print("\n".join(f"# before: {line}" for line in "\n".join(tap.text).splitlines()), flush=True)


def main():
    options = [word for word in sys.argv[1:] if word.startswith("--")]
    name, = [word for word in sys.argv[1:] if not word.startswith("--")]
    is_quick = "--quick" in options
    directory = os.path.join(BUILD, "kernels", name)
    os.makedirs(directory, exist_ok=True)
    tap, facts = Tap(), {}
    kernel, reason = find_kernel(name, directory)
    if kernel:
        facts, tap = run_all(name, kernel, directory, is_quick)
    else:
        tap.result(True, f"{name}: the tests on this kernel", reason)
    print("\n".join(tap.text))
    if "--result" in options:
        with open(os.path.join(directory, "result.json"), "w") as file:
            json.dump({**facts, "name": name, "is_quick": is_quick, "passed": tap.passed, "failed": tap.failed,
                       "skipped": tap.skipped}, file, indent=1)
    print(f"1..{tap.number}")
    return 1 if tap.failed else 0


# Whoever ends us ends the guest, too.
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
sys.exit(main())
