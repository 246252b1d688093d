# SPDX-License-Identifier: GPL-2.0-or-later
"""
Planted cause: very many objects that live on, and the collector of cycles goes through all of them for every few new ones.
Cured: those that live on are taken out of its sight.
Known answer: garbage collection.
"""
import gc

import planted


class Session:
    def __init__(self, number):
        self.number = number
        self.roles = [number]


def open_sessions(count):
    return [Session(number) for number in range(count)]


gc.set_threshold(700, 2, 0 if planted.is_cured else 1)
kept = open_sessions(400000)
if planted.is_cured:
    gc.freeze()
while True:
    # Each of them is part of a cycle, as parents and children are.
    for session in open_sessions(2000):
        session.roles.append(session)
    planted.done()
