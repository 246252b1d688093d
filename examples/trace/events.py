#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
A program in Python that records events of its own, through the library's C interface:

    plecoc --json -o app.json app.pleco
    python3 events.py app.json
    pinch trace --list

Two threads answer requests.
"""
import ctypes
import json
import struct
import sys
import threading


class Events:
    """The library, and the numbers of the events that a file declares."""

    def __init__(self, path):
        with open(path) as file:
            text = file.read()
        self.numbers = {subsystem["name"]: (int(number), self.events_of(subsystem))
                        for number, subsystem in json.loads(text).items()}
        self.library = ctypes.CDLL("libpinchtrace.so.0")
        self.library.pinchtrace_event.argtypes = ctypes.c_uint16, ctypes.c_uint16, ctypes.c_uint32
        self.library.pinchtrace_event_payload.argtypes = (ctypes.c_uint16, ctypes.c_uint16, ctypes.c_uint32,
                                                          ctypes.c_char_p, ctypes.c_size_t)
        if self.library.pinchtrace_register(text.encode()):
            print("readers will not know the events' names", file=sys.stderr)

    @staticmethod
    def events_of(subsystem):
        return {event["name"]: int(number) for number, event in subsystem["events"].items()}

    def record(self, subsystem, event, argument, payload=b""):
        number, events = self.numbers[subsystem]
        if payload:
            self.library.pinchtrace_event_payload(number, events[event], argument, payload, len(payload))
        else:
            self.library.pinchtrace_event(number, events[event], argument)


def answer(events, number):
    events.record("request", "BEGIN", number)
    for part in range(2):
        # u64 bytes; u32 part; u32 reserved
        events.record("request", "PART", number, struct.pack("<QII", 1000 * number + part, part, 0))
    events.record("request", "END", number)


def work(events, first):
    for number in range(first, first + 3):
        answer(events, number)


def main():
    events = Events(sys.argv[1])
    events.record("app", "START", 0)
    threads = [threading.Thread(target=work, args=(events, 3 * i)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events.record("app", "STOP", 0)


if __name__ == "__main__":
    main()
