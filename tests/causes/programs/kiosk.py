# SPDX-License-Identifier: GPL-2.0-or-later
"""
kiosk.py PORT PAUSE_S
A service of one thread that wakes up every PAUSE_S to look for connections, and answers one HTTP request of each.
"""
import socket
import sys
import time

PAUSE_S = float(sys.argv[2])
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nopen"


def serve(connection):
    with connection:
        connection.setblocking(True)
        connection.recv(4096)
        connection.sendall(ANSWER)


def look_for_guests(listener):
    try:
        while True:
            serve(listener.accept()[0])
    except BlockingIOError:
        pass


def keep_open(listener):
    while True:
        time.sleep(PAUSE_S)
        look_for_guests(listener)


with socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64) as listening:
    listening.setblocking(False)
    keep_open(listening)
