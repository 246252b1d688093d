# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds a program back from outside: other programs and limits; and what it does to the machine itself."""
import contextlib
import dataclasses
import functools
import os
import random

import lib
import lib_limits
from lib_causes import Target, Truth, case
from lib_disk import forget
from lib_loads import Group, Load
from lib_programs import Lines, served, started, target, tool
from lib_services import planted, service_port, write_file


@contextlib.contextmanager
def neighbour(name, script, *before):
    """A shell that is called so and is not traced; before: what starts it."""
    os.symlink("/bin/sh", name)
    process = lib.start(*before, f"./{name}", "-c", script, start_new_session=True)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, lib.signal.SIGKILL)
        lib.stop(process)


@case("machine: a nightly job has a lock of a file for long", truth=Truth({"lock", "process"},
                                                                          [r"state\.lock", r"nightly-export"]),
      misleads="one thread, which hardly runs: it looks idle", verified="8.74e+03 units a second, 8.614e+04 without it")
def nightly_job(where, fault=True):
    write_file("state.lock", "")
    script = f"while :; do {{ flock 9; sleep {0.2 if fault else 0.001}; }} 9<>state.lock; sleep 0.02; done"
    with neighbour("nightly-export", script), started("/usr/bin/python3", planted("job_runner.py")) as process:
        yield target(process)


@case("machine: a process of real-time priority has one of the CPUs", truth=Truth({"cpu"}, [r"video-grabber"]),
      misleads="its own code is all that it runs", verified="122 units a second, 225.1 without it")
def realtime_hog(where, fault=True):
    script = "while :; do :; done" if fault else "sleep 1000"
    with neighbour("video-grabber", script, tool("chrt"), "-f", "10"), \
            started(lib.program("causes/order_worker")) as process:
        yield target(process)


@case("machine: a shell script starts commands for each line", truth=Truth({"process"}, [r"\bcut\b|\bsh\b|loop"]),
      misleads="both CPUs are used", verified="0.2 runs a second, 31.6 as one command")
def shell_loop(where, fault=True):
    write_file("prices", "".join(f"{number},{number % 97}\n" for number in range(300)))
    write_file("add_up", 'total=0\nwhile read line; do\n'
               "price=$(echo $line | cut -d, -f2)\ntotal=$((total + price))\ndone <prices\necho $total\n")
    yield Target(command=["/bin/sh", "add_up"] if fault else ["/usr/bin/cut", "-d,", "-f2", "prices"])


@case("machine: grep -r in a directory of small files that are not in memory", truth=Truth({"file"}, [r"/records\b"]),
      misleads="each file is read once: none stands out", verified="0.5 runs a second, 1.3 with the files in memory")
def cold_files(where, fault=True):
    rng = random.Random(1)
    for number in range(6000):
        write_file(f"records/{number % 60}/{number}", rng.randbytes(3000).hex())
    os.sync()
    for number in range(6000 if fault else 0):
        forget(f"records/{number % 60}/{number}")
    yield Target(command=[tool("grep"), "-r", "no such text", os.path.abspath("records")])


@case("machine: four threads in a cgroup that may use half of a CPU", truth=Truth({"cpu-limit"},
                                                                                  [r"quota|cgroup|limit"]),
      misleads="most of their time they look as if they waited for each other's CPU",
      verified="by what is set: four threads compute, and may use half of a CPU")
def many_throttled(where, fault=True):
    with lib_limits.limited(lib_limits.CPU, 0.5 if fault else 2) as procs, \
            started(tool("sh"), "-c", f"echo $$ >{procs}; exec {lib.program('causes/hit_counter')} cured",
                    fault=True) as process:
        yield target(process)


@case("machine: a container whose server sleeps before each answer", truth=Truth({"timer"}, [r"check_quota"]),
      misleads="it is named by its cgroup; its ids are others than the host's; a sleep is idle, as a rule",
      verified="by what is planted: the server is that of native cases, in a PID namespace and a cgroup")
def container(where, fault=True):
    port = service_port()
    with lib_limits.limited(lib_limits.CPU, 2) as procs:
        enter = f"echo $$ >{procs}; exec {tool('unshare')} --pid --fork --kill-child --mount-proc \"$@\""
        with served(tool("sh"), "-c", enter, "enter", lib.program("causes/quota_server"), port, port=port,
                    fault=fault) as server, \
                Load(clients=Group(functools.partial(Lines, port), b"quota", 4, 0)):
            yield dataclasses.replace(target(server, options=["--cgroup", os.path.dirname(procs)]), pids=[])


@case("machine: look-ups in a mapped file, and a memory limit below its size",
      truth=Truth({"memory"}, [r"catalog\.dat|cgroup|memory limit"]),
      misleads="page faults have no system call; the disk is not the cause",
      verified="10737 units a second, 17785 without it")
def mapped_limit(where, fault=True):
    with lib_limits.limited(lib_limits.MEMORY, 32 << 20) as procs, \
            started(lib.program("causes/mapped_catalog"), procs, fault=fault) as process:
        yield target(process)


@case("machine: a service writes its log into a pipe whose reader is slow",
      truth=Truth({"process"}, [r"log-shipper", r"log_request|service\.log"]),
      misleads="one thread, which hardly runs: it looks idle", verified="39.8 units a second, 3848 without it")
def slow_logger(where, fault=True):
    os.mkfifo("service.log")
    script = f"while read line; do {'sleep 0.02' if fault else ':'}; done <service.log"
    with neighbour("log-shipper", script), \
            started("/usr/bin/python3", planted("chatty_service.py"), os.path.abspath("service.log")) as process:
        yield target(process)
