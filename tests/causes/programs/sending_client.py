# SPDX-License-Identifier: GPL-2.0-or-later
"""
sending_client.py PORT
Sends records to the service at PORT of loopback, in send_record(). A line is printed for each.
"""
import socket
import sys

RECORD = b"x" * (256 << 10)


def send_record(connection):
    connection.sendall(RECORD)


with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as to:
    while True:
        send_record(to)
        print("sent", flush=True)
