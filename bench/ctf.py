# SPDX-License-Identifier: GPL-2.0-or-later
"""
What perf recorded as a trace in CTF 1.8, for readers of such: a stream for each CPU, in packets, with events
laid out as LTTng's kernel tracer does, behind headers of 16 bits for the event and 32 for the time.
"""

import os
import re
import struct
import subprocess

from processes import Failure

PACKET_BYTES = 1 << 20
PACKET_HEADER = struct.Struct("<IIQQQQI")     # magic, stream, first and last time, bits of content, of all, CPU
EVENT_HEADER = struct.Struct("<HI")
COMM_BYTES = 16
TIME_NS_MAX = (1 << 32) - 1     # between two events of a packet

LINE = re.compile(r"\s*\[(\d+)\]\s+(\d+)\.(\d{9}):\s+(\S+?):\s+(.*)")
NUMBER = re.compile(r"-?\d+(?: \[\w+\])?")          # some have a unit
FIELD = re.compile(r"(\w+)=(.*?)(?=(?: ==>)? \w+=|$)")

METADATA = """/* CTF 1.8 */
typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
typealias integer {{ size = 64; align = 8; signed = true; }} := int64_t;
typealias integer {{ size = 8; align = 8; signed = true; encoding = UTF8; }} := char_t;
clock {{ name = monotonic; freq = 1000000000; }};
typealias integer {{ size = 32; align = 8; signed = false; map = clock.monotonic.value; }} := time32_t;
typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := time64_t;
trace {{
	major = 1; minor = 8; byte_order = le;
	packet.header := struct {{ uint32_t magic; uint32_t stream_id; }};
}};
stream {{
	id = 0;
	packet.context := struct {{
		time64_t timestamp_begin; time64_t timestamp_end;
		uint64_t content_size; uint64_t packet_size; uint32_t cpu_id;
	}};
	event.header := struct {{ uint16_t id; time32_t timestamp; }};
}};
{events}"""


class Kind:
    """An event's number, and its fields as they are in the first one: numbers, or names of threads."""

    def __init__(self, number, name, fields):
        self.number, self.name = number, name
        self.fields = [(key, re.fullmatch(NUMBER, value) is not None) for key, value in fields]
        self.packed = struct.Struct("<" + "".join("q" if is_number else f"{COMM_BYTES}s"
                                                  for _, is_number in self.fields))

    def values(self, fields):
        given = dict(fields)
        for key, is_number in self.fields:
            value = given.get(key, "0" if is_number else "")
            yield int(value.split()[0]) if is_number else value.encode()[:COMM_BYTES]

    def metadata(self):
        fields = " ".join(f"int64_t _{key};" if is_number else f"char_t _{key}[{COMM_BYTES}];"
                          for key, is_number in self.fields)
        return (f'event {{ name = "{self.name}"; id = {self.number}; stream_id = 0; '
                f"fields := struct {{ {fields} }}; }};\n")


class Stream:
    """One CPU's file."""

    def __init__(self, path, cpu):
        self.file, self.cpu = open(path, "wb"), cpu
        self.packet, self.begin_ns, self.end_ns = bytearray(), 0, 0

    def add(self, time_ns, header, payload):
        if len(self.packet) + len(header) + len(payload) + PACKET_HEADER.size > PACKET_BYTES or \
                time_ns - self.end_ns > TIME_NS_MAX:
            self.flush()
        if not self.packet:
            self.begin_ns = time_ns
        self.end_ns = time_ns
        self.packet += header + payload

    def flush(self):
        if not self.packet:
            return
        bits = 8 * (PACKET_HEADER.size + len(self.packet))
        self.file.write(PACKET_HEADER.pack(0xc1fc1fc1, 0, self.begin_ns, self.end_ns, bits, bits, self.cpu))
        self.file.write(self.packet)
        self.packet.clear()

    def close(self):
        self.flush()
        self.file.close()


def convert(perf, data, path):
    """Writes the trace to a directory, which must not be there yet. Returns how many events it has."""
    kinds, streams, count = {}, {}, 0
    os.mkdir(path)
    with subprocess.Popen([perf, "script", "-i", data, "--ns", "-F", "cpu,time,event,trace"], text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as script:
        for line in script.stdout:
            match = LINE.fullmatch(line.rstrip("\n"))
            if not match:
                continue
            cpu, seconds, rest_ns, name, text = match.groups()
            time_ns, fields = int(seconds) * 10**9 + int(rest_ns), FIELD.findall(text)
            if name not in kinds:
                kinds[name] = Kind(len(kinds), name, fields)
            kind = kinds[name]
            if cpu not in streams:
                streams[cpu] = Stream(os.path.join(path, f"channel_{int(cpu)}"), int(cpu))
            streams[cpu].add(time_ns, EVENT_HEADER.pack(kind.number, time_ns & 0xffffffff),
                             kind.packed.pack(*kind.values(fields)))
            count += 1
    for stream in streams.values():
        stream.close()
    if script.returncode or not count:
        raise Failure(f"perf script reads nothing of {data}")
    with open(os.path.join(path, "metadata"), "w", encoding="utf-8") as file:
        file.write(METADATA.format(events="".join(kind.metadata() for kind in kinds.values())))
    return count
