# SPDX-License-Identifier: GPL-2.0-or-later
"""
bcc's offcputime, of its libbpf-tools: time off the CPU by stack, summed up in the kernel. It starts no command:
it is there before the command begins, and then traces all user threads of the machine.
"""

import os
import signal
import subprocess

import processes
from processes import Failure

PROGRAM = "offcputime"      # Debian: libbpf-tools


class OffCpuTime:
    name = PROGRAM

    def __init__(self, place):
        self.place = place
        self.out = os.path.join(place.directory, "offcputime")

    def cannot_run(self):
        """Why; None: it can."""
        try:
            done = subprocess.run([self.place.find(PROGRAM), "-u", "1"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  timeout=processes.READY_LIMIT_S, text=True)
        except Failure as failure:
            return str(failure)
        except subprocess.TimeoutExpired:
            return "it does not end"
        return (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1] if done.returncode else None

    def run(self, command, **options):
        return self.around(None, lambda: processes.timed(self.place.stamp, self.place.directory, [], command,
                                                         **options))

    def around(self, pid, work):
        # It takes one process and does not follow children.
        whom = ["-p", str(pid)] if pid and not processes.children(pid) else ["-u"]
        with open(self.out, "wb") as out:
            process = processes.start([self.place.find(PROGRAM), *whom], stdout=out, stderr=out)
        processes.until(lambda: has_bpf_link(process.pid), process, PROGRAM)
        result = work()
        process.send_signal(signal.SIGINT)
        if processes.wait(process, processes.RUN_LIMIT_S):
            raise Failure(f"{PROGRAM}:\n{processes.tail(self.out)}")
        result["data_bytes"] = os.path.getsize(self.out)
        os.unlink(self.out)
        return result


def has_bpf_link(pid):
    """Whether its program is attached; nothing that it prints says so."""
    try:
        files = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return False
    return "anon_inode:bpf_link" in files
