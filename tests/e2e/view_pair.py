#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The server of pinch view of two traces: each side answers as it does alone, and /compare is what pinch compare says."""
import lib
from lib import main, pinch, program, test
from lib_view import Viewer


def record(path, *arguments):
    result = pinch("record", "-q", "-o", path, "--", program("lock_convoy"), *arguments)
    assert result.status == 0, result.text


def viewer():
    record("a.pinch")
    record("b.pinch")
    reader = Viewer("a.pinch", "b.pinch")
    lib.wait_until(lambda: reader.json("/b/trace")["is_ready"], "the second trace is indexed")
    return reader


@test("each side answers as a viewer of its trace alone does")
def sides():
    reader = viewer()
    for name, prefix in (("a.pinch", ""), ("b.pinch", "/b")):
        alone = Viewer(name)
        for path in ("/trace", "/now", "/tiles?shift=20&index=0&lanes=0-2", "/stretch?from=0&to=100000000&lanes=0-2", "/waits?row=0&count=20"):
            one, other = reader.get(prefix + path), alone.get(path)
            assert one[0] == other[0] == 200 and one[2] == other[2], (prefix, path, one, other)
        alone.end()
    reader.end()


@test("what compares both is the page of pinch compare, of all and of a part of each")
def compared():
    reader = viewer()
    begins = [max(trace["begin_ns"], 0) for trace in (reader.trace, reader.json("/b/trace"))]
    for query in ("", f"?from={begins[0]}&to={begins[0] + 50_000_000}&from_b={begins[1] + 10_000_000}&to_b={begins[1] + 60_000_000}"):
        status, headers, body = reader.get("/compare" + query)
        assert status == 200 and headers["Content-Type"].startswith("text/html") and b'data-part="comparison"' in body, (query, status, body[:300])
    reader.end()


@test("wrong requests get an error of one line, also of the second side, and the server goes on")
def wrong_requests():
    reader = viewer()
    for path, expected in (("/b/", 404), ("/b", 404), ("/bx/trace", 404), ("/b/b/trace", 404), ("/b/compare", 404), ("/b/tiles", 400), ("/b/slice?lane=x&time=0", 400),
                           ("/compare?from=5&to=5", 400), ("/compare?from_b=5&to_b=5", 400), ("/compare?thread_b=x", 400),
                           ("/compare?" + "&".join(513 * ["thread_b=1"]), 400)):
        status, _, body = reader.get(path)
        assert status == expected and body.count(b"\n") == 1 and body.endswith(b"\n"), (path, status, body)
    assert reader.json("/trace") == reader.trace
    assert reader.ask("/b/trace")[0] == reader.ask("/compare")[0] == 403, "somebody without a cookie may ask"
    reader.end()


@test("what cannot be compared is refused, with what to do")
def refused():
    record("a.pinch")
    for arguments, status, words in ((("a.pinch", "a.pinch", "a.pinch"), 2, "at most two traces"), (("a.pinch", "tcp:127.0.0.1:1"), 2, "record it first"),
                                     (("-", "a.pinch"), 2, "record it first"), (("-o", "x.pinch", "a.pinch", "a.pinch"), 2, "-o"),
                                     (("a.pinch", "nothing"), 1, "nothing"), (("a.pinch", "--", "/bin/true"), 2, "stands before its --"),
                                     (("a.pinch", "a.pinch", "--", "/bin/true"), 2, "stands before its --")):
        result = pinch("view", *arguments)
        assert result.status == status and words in result.text, (arguments, result.status, result.text)


main()
