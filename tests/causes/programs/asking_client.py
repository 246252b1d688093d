# SPDX-License-Identifier: GPL-2.0-or-later
"""
asking_client.py PORT THREADS [TIMEOUT_S [udp]]
Each thread asks the service at PORT of loopback and waits for the answer, again and again: fetch_price(). A line is
printed for each answer.
"""
import socket
import sys
import threading

PORT, THREADS = int(sys.argv[1]), int(sys.argv[2])
TIMEOUT_S = float(sys.argv[3]) if len(sys.argv) > 3 else None
IS_UDP = sys.argv[4:] == ["udp"]


def connect():
    while True:
        asked = socket.socket(type=socket.SOCK_DGRAM if IS_UDP else socket.SOCK_STREAM)
        asked.connect(("127.0.0.1", PORT))
        if not IS_UDP:
            return asked
        asked.settimeout(1)
        try:                    # its service may not be there yet
            fetch_price(asked)
            return asked
        except OSError:
            asked.close()


def fetch_price(asked):
    asked.sendall(b"price of 17\n")
    return asked.recv(100)


def work():
    asked = connect()
    asked.settimeout(TIMEOUT_S)
    while True:
        price = fetch_price(asked)
        sum(range(len(price) * 100))
        sys.stdout.write("answer\n")
        sys.stdout.flush()


threads = [threading.Thread(target=work) for _ in range(THREADS - 1)]
for thread in threads:
    thread.start()
work()
