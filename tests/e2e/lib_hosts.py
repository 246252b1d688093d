# SPDX-License-Identifier: GPL-2.0-or-later
"""
What tests of several hosts share. This machine is all of the hosts: tests/hosts/as_host.c gives a trace a boot, a name and a clock
of its own, so how far they really are apart is known.
"""
import json
import os
import signal
import socket
import subprocess

from lib import BUILD, PINCH, Skip, pinch, program, read_line, start, stop

AS_HOST = os.path.join(BUILD, "tests", "as_host")
BOOTS = [f"{n:032x}" for n in (0xaaaa, 0xbbbb, 0xcccc)]
ID_SHIFT = 22


def serve():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{s.getsockname()[1]}"
    server = start(PINCH, "clocks", "--serve", address, stdout=subprocess.PIPE)
    assert address.encode() in read_line(server)
    return server, address


def record_at_once(*names):
    """Traces NAME0.pinch of one moment, each with the clock of this machine beside its own."""
    server, address = serve()
    tracers = [start(PINCH, "record", "-q", "-o", f"{name}0.pinch", "--clock", address, "--",
                     program("mutex_storm"), 3, 20000, stdout=subprocess.DEVNULL) for name in names]
    for tracer in tracers:
        assert tracer.wait(60) == 0
    stop(server, signal.SIGTERM)


def as_host(name, number, skew_ns, drift_ppm, peer=None):
    """NAME0.pinch of that host as NAME.pinch; peer: number, skew and drift of the host that it has asked."""
    arguments = [f"{name}0.pinch", f"{name}.pinch", f"host{number}", BOOTS[number], skew_ns, drift_ppm]
    if peer:
        arguments += [BOOTS[peer[0]], *peer[1:]]
    subprocess.run([AS_HOST, *map(str, arguments)], check=True, timeout=60)


def merge(*names):
    result = pinch("merge", "-o", "all.pinch", *(f"{name}.pinch" for name in names))
    assert result.status == 0 and not result.text, result.text
    result = pinch("check", "all.pinch")
    assert result.status == 0, result.out
    return dump("all.pinch")


def dump(trace):
    result = pinch("dump", "--json", trace)
    assert result.status == 0, result.text
    return [json.loads(line) for line in result.out.splitlines()]


def lives(events):
    """Of each thread by its id: what it did, when."""
    tids, found = {}, {}
    for e in events:
        if e["event"] in ("thread.BORN", "thread.FOUND"):
            tids[e["thread"]] = e["fields"]["tid"]
        elif e["event"] in ("sched.WAKE", "sched.SAMPLE") and e["thread"] in tids:
            found.setdefault(tids[e["thread"]], []).append((e["event"], e["time_ns"]))
    return found


def hosts(events):
    return [e["fields"] for e in events if e["event"] == "clock.HOST"]


def check_times(original, merged, host, uncertainty_ns, skew_ns, drift_ppm):
    """All that a host's threads did is in the merged trace, at its time by host 0's clock."""
    before, after = lives(dump(f"{original}0.pinch")), lives(merged)
    assert before
    for tid, events in before.items():
        moved = after[tid + (host << ID_SHIFT)]
        assert [what for what, _ in moved] == [what for what, _ in events]
        for (_, then), (_, now) in zip(events, moved):
            then += round(skew_ns + drift_ppm * 1e-6 * then)
            assert abs(now - then) <= uncertainty_ns + 2, (now - then, uncertainty_ns)



# --- Three programs, each in a network namespace ----------------------------------------

# Work is a number of rounds, not a time: what holds a request up is the same on a busy machine.
# Each message has the number of the request. Its events: what the client begins and ends, and what the database has done.
PARTS = """
import ctypes, os, socket, struct, sys, time
library = ctypes.CDLL(os.environ["PINCHTRACE"])
library.pinchtrace_register(b'{"0": {"name": "request", "events": {"0": "BEGIN", "1": "END", "2": "SCANNED"}}}')
BEGIN, END, SCANNED = range(3)
def event(kind, number):
    library.pinchtrace_event(0, kind, number)
def send(connection, number):
    connection.sendall(struct.pack("<Q", number))
def take(connection):
    got = b""
    while len(got) < 8:
        more = connection.recv(8 - len(got))
        if not more:
            sys.exit(0)
        got += more
    return struct.unpack("<Q", got)[0]
def connect(address, port):
    connection = socket.create_connection((address, port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection
def accept(address, port):
    listener = socket.create_server((address, port))
    print("ready", flush=True)
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection
def work(rounds):
    for _ in range(rounds):
        pass
"""
DATABASE = PARTS + """
def scan_table():
    work(1000000)
client = accept(sys.argv[1], 9001)
while True:
    number = take(client)
    scan_table()
    event(SCANNED, number)
    send(client, number)
"""
PROXY = PARTS + """
database = connect(sys.argv[2], 9001)
client = accept(sys.argv[1], 9000)
while True:
    number = take(client)
    work(50000)
    send(database, number)
    send(client, take(database))
"""
CLIENT = PARTS + """
proxy = connect(sys.argv[1], 9000)
pause_s = float(os.environ["PAUSE"])
for number in range(10):
    time.sleep(pause_s)
    os.getppid()
    event(BEGIN, number)
    work(20000 if pause_s else 0)
    send(proxy, number)
    take(proxy)
    work(20000)
    event(END, number)
    os.getpgid(0)
"""


def ip(*arguments):
    result = subprocess.run(["ip", *arguments], capture_output=True, text=True, timeout=60)
    if result.returncode:
        raise Skip(f"ip {' '.join(arguments)}: {result.stderr.strip()}")


class Namespaces:
    """client - proxy - database, each pair with a link of its own. delay: of each end's packets, as netem takes it; empty: none."""

    def __init__(self, pause_s, delay=""):
        self.pause_s, self.delay = pause_s, delay
        self.names = [f"pinch{os.getpid()}{name}" for name in "abc"]

    def __enter__(self):
        try:
            for name in self.names:
                ip("netns", "add", name)
                ip("-n", name, "link", "set", "lo", "up")
            for n in (0, 1):
                left, right = self.names[n:n + 2]
                ip("link", "add", f"l{n}", "netns", left, "type", "veth", "peer", "name", f"r{n}", "netns", right)
                for name, device, address in ((left, f"l{n}", f"10.91.{n}.1/24"), (right, f"r{n}", f"10.91.{n}.2/24")):
                    ip("-n", name, "addr", "add", address, "dev", device)
                    ip("-n", name, "link", "set", device, "up")
                    self.slow_down(name, device)
        except BaseException:
            self.__exit__()
            raise
        return self

    def slow_down(self, name, device):
        command = ("tc", "-n", name, "qdisc", "add", "dev", device, "root", "netem", "delay", *self.delay.split())
        if self.delay and subprocess.run(command, capture_output=True, timeout=60).returncode:
            raise Skip("the kernel has no netem")

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=60)

    def start(self, number, *command, is_host=False, stderr=None):
        """is_host: it sees a boot and a host name of its own, too."""
        if is_host:
            boot = f"boot{number}"
            with open(boot, "w", encoding="ascii") as file:
                file.write(BOOTS[number] + "\n")
            command = ("unshare", "--uts", "--mount", "sh", "-c", "hostname $0 && mount --bind $1 $2 && shift 2 && exec \"$@\"",
                       f"host{number}", boot, "/proc/sys/kernel/random/boot_id", *command)
        return start("ip", "netns", "exec", self.names[number], *command, stdout=subprocess.PIPE, stderr=stderr,
                     env=dict(os.environ, PINCHTRACE=os.path.join(BUILD, "libpinchtrace.so.0"), PAUSE=str(self.pause_s)))
