#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
How fast the server of pinch view answers, without a browser: bench/view.py BUILD_DIR [EVENTS...]. Of generated traces of so many
events: the size of trace and index, the time until the index is made, until an indexed trace is open, for the tiles of a first
picture, and for those of random pictures, none of which was asked for before, at all widths: what 60 lanes in 1,600 columns need.
"cpu" is the time that the server itself took for it: others on the machine do not count.
"""
import glob
import http.client
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

COLUMNS, LANES, TILE, PICTURES, SHIFT_MIN = 1600, 60, 256, 200, 12


class Server:
    """A pinch view with these arguments, and a reader."""

    def __init__(self, build, *arguments):
        begin = time.monotonic()
        self.process = subprocess.Popen([os.path.join(build, "pinch"), "view", *arguments], stderr=subprocess.PIPE)
        link = re.search(r"http://127.0.0.1:(\d+)(\S+?);", self.process.stderr.readline().decode())
        self.connection = http.client.HTTPConnection("127.0.0.1", int(link.group(1)))
        self.cookie = ""
        self.connection.request("GET", link.group(2))
        reply = self.connection.getresponse()
        reply.read()
        self.cookie = reply.headers["Set-Cookie"].split(";")[0]
        while json.loads(self.get("/now"))["phase"] == "indexing":
            time.sleep(0.01)
        self.trace, self.open_s = json.loads(self.get("/trace")), time.monotonic() - begin

    def get(self, path):
        self.connection.request("GET", path, headers={"Cookie": self.cookie})
        reply = self.connection.getresponse()
        body = reply.read()
        assert reply.status == 200, (path, body)
        return body

    def picture(self, from_ns, to_ns, lanes):
        """Seconds for the tiles of a picture: the columns are as wide as a pixel at least, and as half of one at most."""
        shift = SHIFT_MIN
        while (to_ns - from_ns) >> shift > COLUMNS:
            shift += 1
        width = TILE << shift
        begin = time.monotonic()
        for index in range((from_ns - self.trace["origin_ns"]) // width, (to_ns - 1 - self.trace["origin_ns"]) // width + 1):
            self.get(f"/tiles?shift={shift}&index={index}&lanes={lanes}")
        return time.monotonic() - begin

    def cpu_s(self):
        total_ns = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            with open(path) as stat:
                total_ns += int(stat.read().split()[0])
        return total_ns / 1e9

    def measure(self, from_ns, to_ns, lanes):
        """Of a picture: seconds, and those of the server's CPU time."""
        begin_s = self.cpu_s()
        wall_s = self.picture(from_ns, to_ns, lanes)
        return wall_s, self.cpu_s() - begin_s

    def rss_bytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1)) << 10

    def end(self):
        self.connection.close()
        self.process.send_signal(signal.SIGINT)
        self.process.stderr.close()
        self.process.wait()


def random_picture(server):
    trace = server.trace
    whole = trace["whole_ns"] - trace["begin_ns"]
    length = max(COLUMNS << SHIFT_MIN, int(whole / 2 ** random.uniform(0, 20)))
    begin = trace["begin_ns"] + random.randrange(max(1, whole - length))
    lanes = [lane["id"] for lane in trace["lanes"]]
    first = random.randrange(max(1, len(lanes) - LANES))
    return server.measure(begin, begin + length, f"{lanes[first]}-{lanes[min(first + LANES, len(lanes)) - 1]}")


def measure(build, trace):
    server = Server(build, trace)
    index_s, index_rss_bytes = server.open_s, server.rss_bytes()
    server.end()
    server = Server(build, trace)
    lanes = f"0-{min(LANES, len(server.trace['lanes'])) - 1}"
    first_s, _ = server.measure(server.trace["begin_ns"], server.trace["whole_ns"], lanes)
    pictures = [random_picture(server) for _ in range(PICTURES)]
    times, cpu_times = sorted(wall_s for wall_s, _ in pictures), sorted(cpu_s for _, cpu_s in pictures)
    result = {"index_s": index_s, "index_rss_bytes": index_rss_bytes, "open_s": server.open_s, "first_s": first_s, "median_s": statistics.median(times),
              "p95_s": times[PICTURES * 95 // 100], "max_s": times[-1], "p95_cpu_s": cpu_times[PICTURES * 95 // 100],
              "rss_bytes": server.rss_bytes(), "trace_bytes": os.path.getsize(trace),
              "index_bytes": os.path.getsize(trace + ".states")}
    server.end()
    return result


def main():
    build = sys.argv[1]
    random.seed(1)
    print(f"{'events':>13} {'trace MB':>9} {'index MB':>9} {'index s':>8} {'open ms':>8} {'first ms':>9} {'median ms':>10} "
          f"{'p95 ms':>8} {'max ms':>8} {'p95 cpu ms':>11} {'peak MB':>8}", flush=True)
    for events in [int(number) for number in sys.argv[2:]] or [1_000_000, 10_000_000, 100_000_000]:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
            trace = os.path.join(directory, "t.pinch")
            subprocess.run([os.path.join(build, "bench/trace_gen"), trace, str(events)], check=True)
            of = measure(build, trace)
        print(f"{events:>13,} {of['trace_bytes'] / 2 ** 20:>9.0f} {of['index_bytes'] / 2 ** 20:>9.0f} {of['index_s']:>8.1f} {1e3 * of['open_s']:>8.0f} {1e3 * of['first_s']:>9.0f} {1e3 * of['median_s']:>10.1f} "
              f"{1e3 * of['p95_s']:>8.1f} {1e3 * of['max_s']:>8.1f} {1e3 * of['p95_cpu_s']:>11.1f} {of['rss_bytes'] / 2 ** 20:>8.0f}", flush=True)


if __name__ == "__main__":
    main()
