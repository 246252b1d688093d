#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
price_client.py PORT
Four threads ask a server for prices, with a timeout of 10 s: each wait begins with a poll that has a limit. What holds
them back is the server, which is not part of this program.
"""
import http.client
import sys

import planted


def fetch_price(connection):
    connection.request("GET", "/price")
    return connection.getresponse().read()


def run_prices():
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=10)
    while True:
        fetch_price(connection)
        planted.done()


planted.run_all(*[run_prices] * 4)
