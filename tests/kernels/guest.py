# SPDX-License-Identifier: GPL-2.0-or-later
"""One guest: qemu with a kernel and an archive, its lines as they come, its end whatever happens."""
import os
import selectors
import subprocess
import time

MEMORY_MB = 2048
CPUS = 2
QEMU = "qemu-system-x86_64"


class Hang(Exception):
    """The guest was killed."""


class Guest:
    """
    Emulated, so that it works everywhere; KVM=1 asks for the hardware's help. The kernel's console
    goes to a file, the tests' lines come through a pipe.
    """

    def __init__(self, kernel, archive, console, limit_s):
        accelerator = ["-accel", "kvm", "-cpu", "host"] if os.environ.get("KVM") == "1" else \
            ["-accel", "tcg,thread=multi", "-cpu", "max"]
        # The counter that all CPUs have is the only clock that reads fast in an emulation.
        arguments = ["console=ttyS0", "rdinit=/init", "panic=-1", "oops=panic", "tsc=reliable", "loglevel=5"]
        self.limit_s = limit_s
        self.process = subprocess.Popen(
            [QEMU, *accelerator, "-smp", str(CPUS), "-m", f"{MEMORY_MB}M", "-nodefaults", "-display",
             "none", "-no-reboot", "-kernel", kernel, "-initrd", archive, "-append", " ".join(arguments),
             "-serial", f"file:{console}", "-serial", "stdio"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def lines(self):
        """Each line of the tests; Hang when there is still one to come at the limit."""
        end = time.monotonic() + self.limit_s
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while True:
                left_s = end - time.monotonic()
                if left_s <= 0:
                    raise Hang(f"killed after {self.limit_s} s")
                if not selector.select(left_s):
                    continue
                data = os.read(self.process.stdout.fileno(), 65536)
                if not data:
                    break
                *complete, pending = (pending + data).split(b"\n")
                for line in complete:
                    yield line.decode("utf-8", "replace").rstrip("\r")
        if pending:
            yield pending.decode("utf-8", "replace")

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
