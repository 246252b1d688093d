# SPDX-License-Identifier: GPL-2.0-or-later
"""The three ways to run a workload: alone, under pinch, under `perf sched record`."""

import json
import os
import re
import signal
import subprocess
import time

import processes
from processes import Failure, Terminal, timed


class Untraced:
    name = "untraced"

    def __init__(self, place):
        self.place = place

    def run(self, command, **options):
        return timed(self.place.stamp, self.place.directory, [], command, **options)

    def around(self, pid, work):
        """Does work() while the process pid is traced; what work() returned, and more."""
        return work()


class Perf:
    """`perf sched record` examines the whole machine, whatever runs under it."""

    name = "perf"

    def __init__(self, place):
        self.place = place
        self.data = os.path.join(place.directory, "perf.data")

    def _argv(self):
        # Reading build ids comes after the end and changes no wall time, but has made perf 6.1
        # abort, and would leave copies of programs in ~/.debug.
        return [self.place.perf, "sched", "record", "--no-buildid", "--no-buildid-cache", "-o",
                self.data]

    def _measured(self, result):
        result["data_bytes"] = os.path.getsize(self.data)
        os.unlink(self.data)
        return result

    def run(self, command, **options):
        return self._measured(timed(self.place.stamp, self.place.directory, self._argv() + ["--"],
                                    command, **options))

    def around(self, pid, work):
        control, ack = (os.path.join(self.place.directory, name) for name in ("ctl", "ack"))
        for path in control, ack:
            os.mkfifo(path)
        ack_fd = os.open(ack, os.O_RDONLY | os.O_NONBLOCK)
        log_path = os.path.join(self.place.directory, "perf.log")
        try:
            with open(log_path, "wb") as log:
                process = processes.start(
                    self._argv() + ["--control", f"fifo:{control},{ack}"], stderr=log)
            self._wait_ready(process, control, ack_fd, log_path)
            result = work()
            processes.stop(process, signal.SIGINT)
        finally:
            os.close(ack_fd)
            os.unlink(control)
            os.unlink(ack)
        return self._measured(result)

    @staticmethod
    def _wait_ready(process, control, ack_fd, log_path):
        def has_opened():
            try:
                return os.open(control, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:         # ENXIO: perf has not opened its end yet
                return None

        def has_answered():
            try:
                return b"ack" in os.read(ack_fd, 64)
            except BlockingIOError:
                return False

        control_fd = []
        try:
            processes.until(lambda: control_fd.append(fd) or True
                            if (fd := has_opened()) is not None else False,
                            process, "perf sched record")
            os.write(control_fd[0], b"ping\n")
            processes.until(has_answered, process, "perf sched record")
        except Failure as failure:
            raise Failure(f"{failure}\n{processes.tail(log_path)}") from None
        finally:
            for fd in control_fd:
                os.close(fd)


class PerfDwarf(Perf):
    """perf copies 8 KB of the stack at each switch, and unwinds it when asked to show it."""

    name = "dwarf"

    def _argv(self):
        return [self.place.perf, "record", "-e", "sched:sched_switch", "--call-graph", "dwarf",
                "-m", "16M", "--no-buildid", "--no-buildid-cache", "-o", self.data]

    def _measured(self, result):
        with processes.start([self.place.perf, "script", "--no-inline", "-F", "ip,sym", "-i",
                              self.data], stderr=subprocess.DEVNULL) as script:
            if processes.wait(script, processes.RUN_LIMIT_S):
                raise Failure("perf script failed")
        return super()._measured(result)


class GetStack:
    """The kernel's helper, which follows frame pointers: bench/get_stack.c."""

    name = "get_stack"

    def __init__(self, place):
        self.place = place
        self.json_path = os.path.join(place.directory, "get_stack.json")

    def run(self, command, **options):
        result = timed(self.place.stamp, self.place.directory,
                       [self.place.built("bench/get_stack"), self.json_path], command, **options)
        with open(self.json_path) as file:
            result["stacks"] = json.load(file)
        os.unlink(self.json_path)
        return result


class Pinch:
    name = "pinch"

    def __init__(self, place, options=()):
        self.place = place
        self.options = list(options)
        self.json_path = os.path.join(place.directory, "report.json")
        self.text_path = os.path.join(place.directory, "report.txt")
        self.polls = False          # look while the command runs, at the expense of its time
        self.kernel_side = {}       # as last read: see KernelSide
        self.rss_peak_bytes = 0
        self.worker_rss_peak_bytes = 0      # of the process that reads debug information

    def _argv(self, command):
        return [self.place.pinch, command, "--json", self.json_path, "-o", self.text_path,
                *self.options]

    def _look(self, process):
        kernel_side = self.place.kernel_side.read(process.pid)
        if kernel_side:                     # else it was faster than we
            self.kernel_side = kernel_side
        self.rss_peak_bytes = max(self.rss_peak_bytes, peak_rss_bytes(process.pid))

    def _look_until_end(self, process):
        """The command is over: this disturbs nobody."""
        self._look(process)
        while process.poll() is None:
            self.rss_peak_bytes = max(self.rss_peak_bytes, peak_rss_bytes(process.pid))
            self.worker_rss_peak_bytes = max(self.worker_rss_peak_bytes,
                                             worker_rss_peak_bytes(process.pid))
            time.sleep(0.005)

    def _measured(self, result):
        with open(self.json_path) as file:
            result["report"] = json.load(file)
        with open(self.text_path) as file:
            result["text"] = file.read()
        os.unlink(self.json_path)
        os.unlink(self.text_path)
        result["rss_peak_bytes"] = self.rss_peak_bytes
        result["worker_rss_peak_bytes"] = self.worker_rss_peak_bytes
        result.update(self.kernel_side)
        self.kernel_side, self.rss_peak_bytes, self.worker_rss_peak_bytes = {}, 0, 0
        return result

    def run(self, command, **options):
        return self._measured(timed(self.place.stamp, self.place.directory,
                                    self._argv("run") + ["--"], command,
                                    meanwhile=self._look if self.polls else None,
                                    at_end=self._look_until_end, **options))

    def attach(self, pid):
        """Starts `pinch attach`; its progress line says when it traces."""
        terminal = Terminal()
        process = processes.start(self._argv("attach") + ["-p", str(pid)], stderr=terminal.slave)
        terminal.attach()
        try:
            processes.until(lambda: terminal.shows(rb"pinch: [0-9.]+ s  "), process,
                            "pinch attach")
        except Failure as failure:
            raise Failure(f"{failure}\n{terminal.text()}") from None
        return process, terminal

    def around(self, pid, work):
        process, terminal = self.attach(pid)
        result = work()
        self._look(process)
        with processes.on_time():
            end_s = time.monotonic()
            process.send_signal(signal.SIGINT)
            self._look_until_end(process)
            status = processes.wait(process, processes.RUN_LIMIT_S)
            result["after_s"] = time.monotonic() - end_s
        if status:
            raise Failure(f"pinch attach: status {status}\n{terminal.text()}")
        del result["ready_s"]       # that of the load, which nobody traced
        return self._measured(result)


def status_bytes(pid, field):
    """A size from /proc/PID/status; 0 when the process is gone."""
    try:
        with open(f"/proc/{pid}/status") as file:
            found = re.search(rf"^{field}:\s*(\d+) kB", file.read(), re.M)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def peak_rss_bytes(pid):
    return status_bytes(pid, "VmHWM")


def worker_rss_peak_bytes(pid):
    """The file's pages that it examined are part of it."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = file.read().split()
    except OSError:
        return 0
    return max((peak_rss_bytes(child) for child in children if is_worker(child)), default=0)


def is_worker(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read() == "pinch-symbols\n"
    except OSError:
        return False


class KernelSide:
    """
    What a running pinch holds in the kernel: its programs with their cost, and its maps. Read from
    /proc/PID/fdinfo, which costs pinch nothing; names come from bpftool, once, by the tags that
    the kernel computes from the programs' instructions. Programs that are equal are shown as one.
    """

    def __init__(self, place):
        self.names = {}
        with processes.Stamp(place.stamp, place.directory) as stamp:
            process = processes.start([place.pinch, "run", "-q", "--", *stamp.prefix, "cat"],
                                      stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            if not stamp.read(process):
                raise Failure("pinch does not work here: " +
                              process.stderr.read().decode(errors="replace"))
            tags = {info["prog_tag"] for info in self._fdinfo(process.pid, "bpf-prog")}
            shown = subprocess.run([place.bpftool, "-j", "prog", "show"], check=True,
                                   stdout=subprocess.PIPE).stdout
            for program in json.loads(shown):
                if program["tag"] in tags:
                    names = self.names.setdefault(program["tag"], [])
                    if program["name"] not in names:
                        names.append(program["name"])
            process.stdin.close()
            process.stderr.close()
            processes.wait(process, processes.STOP_LIMIT_S)

    @staticmethod
    def _fdinfo(pid, kind):
        seen = set()
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{fd}") != f"anon_inode:{kind}":
                    continue
                with open(f"/proc/{pid}/fdinfo/{fd}") as file:
                    info = dict(line.split(":\t", 1) for line in file.read().splitlines()
                                if ":\t" in line)
                identity = info.get("prog_id") or info.get("map_id")
                if identity not in seen:
                    seen.add(identity)
                    yield info
        except OSError:             # it has ended, or closed this one
            return

    def read(self, pid):
        """Empty when pinch has ended or has closed its programs."""
        programs = {}
        for info in self._fdinfo(pid, "bpf-prog"):
            name = ", ".join(self.names.get(info["prog_tag"], [info["prog_tag"]]))
            counts = programs.setdefault(name, {"run_ns": 0, "runs": 0, "missed": 0})
            counts["run_ns"] += int(info["run_time_ns"])
            counts["runs"] += int(info["run_cnt"])
            counts["missed"] += int(info.get("recursion_misses", 0))
        maps = [int(info["memlock"]) for info in self._fdinfo(pid, "bpf-map")]
        return {"programs": programs, "maps_bytes": sum(maps)} if programs and maps else {}
