# SPDX-License-Identifier: GPL-2.0-or-later
"""
Takes connections, one after the other: accepting_server.py BACKLOG PAUSE_S [PATH | tick]. Prints where it listens. tick: wakes
up after each pause to look for those who have come meanwhile.
"""
import socket
import sys
import time

backlog, pause_s, option = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""


def serve(connection):
    with connection:
        connection.recv(1)
        connection.sendall(b"a")


def serve_guests(listener):
    while True:
        serve(listener.accept()[0])
        if pause_s:
            time.sleep(pause_s)


def look_for_guests(listener):
    listener.setblocking(False)
    while True:
        time.sleep(pause_s)
        try:
            while True:
                connection = listener.accept()[0]
                connection.setblocking(True)
                serve(connection)
        except BlockingIOError:
            pass


if "/" in option:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(option)
else:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
listening.listen(backlog)
print(option if "/" in option else listening.getsockname()[1], flush=True)
(look_for_guests if option == "tick" else serve_guests)(listening)
