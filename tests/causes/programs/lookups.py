# SPDX-License-Identifier: GPL-2.0-or-later
"""
lookups.py NAME_SERVER DELAY_S
Starts a name server, and looks names up, each once. A line is printed for each.
"""
import socket
import subprocess
import sys


def find_host(number):
    return socket.getaddrinfo(f"host{number}.example.test", 80, family=socket.AF_INET, type=socket.SOCK_STREAM)


started = subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=subprocess.PIPE, text=True)
print(started.stdout.readline().strip(), flush=True)
looked_up = 0
while True:
    find_host(looked_up)
    looked_up += 1
    print("found", flush=True)
