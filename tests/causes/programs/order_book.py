#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Planted cause: three processes add orders to an SQLite data base. One of them also adds up totals, for 200 ms inside of
a transaction that writes: the others find it locked, sleep and try again. Cured: it adds up before it begins.
Known answer: the lock of orders.db, held by add_up_totals().
"""
import multiprocessing
import sqlite3
import time

import planted

PAUSE_S = 0.05
ORDER_PAUSE_S = 0.002  # without any, who has had the data base gets it again, before others have slept


def connect():
    base = sqlite3.connect("orders.db", timeout=30, isolation_level=None)
    base.execute("PRAGMA synchronous = OFF")
    return base


def add_up_totals():
    end_s = time.process_time() + 0.2
    total = 0
    while time.process_time() < end_s:
        total += sum(range(1000))
    return total


def add_order(base):
    base.execute("BEGIN IMMEDIATE")
    base.execute("INSERT INTO orders VALUES (1)")
    base.execute("COMMIT")


def run_totals():
    base = connect()
    while True:
        if planted.is_cured:
            add_up_totals()
        base.execute("BEGIN IMMEDIATE")
        if not planted.is_cured:
            add_up_totals()
        base.execute("UPDATE totals SET total = total + 1")
        base.execute("COMMIT")
        time.sleep(PAUSE_S)


def run_orders(orders):
    base = connect()
    while True:
        add_order(base)
        orders.put(1)
        time.sleep(ORDER_PAUSE_S)


def main():
    base = connect()
    base.execute("CREATE TABLE orders (number)")
    base.execute("CREATE TABLE totals (total)")
    base.execute("INSERT INTO totals VALUES (0)")
    base.close()
    orders = multiprocessing.SimpleQueue()
    multiprocessing.Process(target=run_totals, name="totals").start()
    for _ in range(2):
        multiprocessing.Process(target=run_orders, args=(orders,)).start()
    while orders.get():
        planted.done()


if __name__ == "__main__":
    main()
