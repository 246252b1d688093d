# SPDX-License-Identifier: GPL-2.0-or-later
"""
web_client.py PORT PATH COUNT
Asks for the same COUNT times over one connection, as soon as there is a line of input. Prints a line when
it has got all answers.
"""
import ctypes
import http.client
import sys

PR_SET_NAME = 15

port, path, count = sys.argv[1:]
ctypes.CDLL(None).prctl(PR_SET_NAME, b"client")
connection = http.client.HTTPConnection("127.0.0.1", int(port))
connection.connect()
sys.stdin.readline()
for _ in range(int(count)):
    connection.request("GET", path)
    answer = connection.getresponse()
    assert answer.status == 200 and answer.read() == b"ok", answer.status
print("done", flush=True)
