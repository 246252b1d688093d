# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of pinch view, asked as its page asks it."""
import http.client
import json
import re
import signal
import subprocess

import lib
from lib import PINCH, start, stop

TILE_COLUMNS, CPU_IDLE = 256, 3


class Viewer:
    """A server that was started, and a reader with its cookie."""

    def __init__(self, *arguments, page="/", **options):
        self.process = start(PINCH, "view", *arguments, stderr=subprocess.PIPE, **options)
        self.link = self.next_link()
        self.port = int(re.search(r":(\d+)/", self.link).group(1))
        status, headers, _ = self.ask(self.link[self.link.index(page + "?"):])
        assert status == 303 and headers["Location"] == page, (status, headers)
        self.cookie = headers["Set-Cookie"].split(";")[0]
        self.trace = lib.wait_until(self.when_ready, "the history of states is made")

    def next_link(self):
        return re.search(r"http://[^; \n]+", self.process.stderr.readline().decode()).group()

    def ask(self, path, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=lib.LIMIT_S)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None and "Content_Length" not in headers:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        reply = connection.getresponse()
        result = reply.status, reply.headers, reply.read()
        connection.close()
        return result

    def get(self, path, **headers):
        return self.ask(path, Cookie=self.cookie, **headers)

    def post(self, path, body=b"", **headers):
        return self.ask(path, method="POST", body=body, Cookie=self.cookie, **{"Origin": f"http://127.0.0.1:{self.port}", **headers})

    def json(self, path):
        status, _, body = self.get(path)
        assert status == 200, (path, status, body)
        return json.loads(body)

    def when_ready(self):
        trace = self.json("/trace")
        return trace if trace["is_ready"] else None

    def recorder(self):
        """The process that records what is shown: its child that has not become another program."""
        def line(pid):
            with open(f"/proc/{pid}/cmdline") as file:
                return file.read()

        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return next(int(pid) for pid in file.read().split() if line(pid).startswith(line(self.process.pid)))

    def end(self):
        assert stop(self.process, signal.SIGINT) == 0


# --- Tiles, as the page reads them ----------------------------------------------------------------

class Tile:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def slices(self, is_cpu, add):
        for _ in range(self.number()):
            self.number()
            length, share, _ = self.number(), self.number(), self.number()
            if share != CPU_IDLE if is_cpu else share == 3:
                self.number()
            add(share, length)

    def columns(self, add):
        left = TILE_COLUMNS
        while left:
            repeat = self.number()
            left -= repeat
            for _ in range(self.number()):
                add(self.number(), self.number() * repeat)

    def lane(self, is_cpu):
        """ns by share."""
        sums = {}

        def add(share, ns):
            sums[share] = sums.get(share, 0) + ns

        kind = self.number()
        if kind == 1:
            self.slices(is_cpu, add)
        elif kind == 2:
            self.columns(add)
        return sums


def sums_of_tiles(reader, shift, more=""):
    """ns by share of each lane, by all tiles of that width; more: further parameters."""
    trace, width = reader.trace, 1 << (shift + 8)
    first = -trace["origin_ns"] // width
    last = (trace["whole_ns"] - trace["origin_ns"]) // width
    sums = [{} for _ in trace["lanes"]]
    for index in range(first, last + 1):
        status, headers, body = reader.get(f"/tiles?shift={shift}&index={index}&lanes=0-{len(sums) - 1}{more}")
        assert status == 200 and "immutable" in headers["Cache-Control"], (status, body)
        tile = Tile(body)
        for lane, total in zip(trace["lanes"], sums):
            for share, ns in tile.lane(lane["kind"] == "cpu").items():
                total[share] = total.get(share, 0) + ns
        assert tile.at == len(body), "there is more in a tile than lanes"
    return sums
