#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Long answers of pinch view, and others meanwhile: what filters choose of a wide tile takes long on a large trace."""
import subprocess
import threading

from lib import main, program, test, wait_until
from lib_view import Viewer

EVENTS, COLUMN_BITS, SHIFT_MAX = 2_000_000, 8, 43
FILTERS = ["cpu=1", "cpu=2", "cpu=3", "object=no-such-name", "cpu=1&cpu=4"]


def viewer(*arguments):
    subprocess.run([program("../bench/trace_gen"), "t.pinch", str(EVENTS), *map(str, arguments)], check=True)
    reader = Viewer("t.pinch")
    wait_until(lambda: reader.json("/now")["phase"] != "indexing", "the index is made")
    reader.trace = reader.json("/trace")
    return reader


def wide_tile(reader):
    """The path of the tile that has all of the trace, of all lanes."""
    trace, shift = reader.trace, SHIFT_MAX
    while trace["origin_ns"] + (1 << (shift - 1 + COLUMN_BITS)) > trace["whole_ns"]:
        shift -= 1
    return f"/tiles?shift={shift}&index=0&lanes=0-{min(len(trace['lanes']), 100) - 1}"


def read(reader, path):
    status, _, body = reader.get(path)
    assert status == 200, (path, status, body)
    return body


class Asking(threading.Thread):
    def __init__(self, reader, path):
        super().__init__()
        self.reader, self.path, self.body = reader, path, None
        self.start()

    def run(self):
        self.body = read(self.reader, self.path)


def answered_meanwhile(reader, asking):
    """How many other requests, one after the other, are answered while all of these are still waited for."""
    count = 0
    while all(one.is_alive() for one in asking):
        reader.json("/now")
        count += 1
    return count


@test("others are answered while what a filter chooses of a wide tile is looked up")
def others():
    reader = viewer()
    path = f"{wide_tile(reader)}&{FILTERS[0]}"
    asking = Asking(reader, path)
    count = answered_meanwhile(reader, [asking])
    asking.join()
    assert count >= 5, f"{count} others were answered meanwhile"
    assert asking.body == read(reader, path), "it is not the same as what one gets who asks alone"
    reader.end()


@test("many filters at once get what each gets alone")
def many():
    reader = viewer()
    paths = [f"{wide_tile(reader)}&{chosen}" for chosen in FILTERS]
    alone = [read(reader, path) for path in paths]
    assert len(set(alone)) == len(alone), "filters choose the same"
    for _ in range(2):
        asking = [Asking(reader, path) for path in paths]
        answered_meanwhile(reader, asking)
        for one, body in zip(asking, alone):
            one.join()
            assert one.body == body, f"{one.path} gets something else when others ask, too"
    reader.end()


@test("a server that is stopped in the middle of a long answer ends")
def stopped():
    reader = viewer()

    def ask():
        try:
            reader.get(f"{wide_tile(reader)}&{FILTERS[0]}")
        except OSError:
            pass
    asking = threading.Thread(target=ask)
    asking.start()
    reader.json("/now")
    reader.end()
    asking.join()


@test("tiles of very many threads are the same whoever else asks")
def crowd():
    reader = viewer(2000)
    path = wide_tile(reader)
    alone = read(reader, path)
    asking = [Asking(reader, path) for _ in range(4)]
    answered_meanwhile(reader, asking)
    for one in asking:
        one.join()
        assert one.body == alone
    reader.end()


main()
