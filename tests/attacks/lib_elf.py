# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes 64-bit ELF files in place, as somebody does who forges one: nothing else of them changes."""
import struct

SHT_SYMTAB, SHT_DYNSYM = 2, 11


class Elf:
    """The bytes of a file; save() writes them elsewhere."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        assert self.bytes[:6] == b"\x7fELF\x02\x01", path
        at, = struct.unpack_from("<Q", self.bytes, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.bytes, 0x3a)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, at + i * size) for i in range(count)]
        self.names = self.sections[names]

    def string(self, section, at):
        begin = section[4] + at
        return bytes(self.bytes[begin:self.bytes.index(0, begin)])

    def section(self, name):
        """Where it begins in the file and its size in bytes."""
        for section in self.sections:
            if self.string(self.names, section[0]) == name:
                return section[4], section[5]
        raise KeyError(name)

    def symbols(self):
        """The place of each symbol's entry in the file, with its name."""
        for section in self.sections:
            if section[1] not in (SHT_SYMTAB, SHT_DYNSYM):
                continue
            for at in range(section[4], section[4] + section[5], 24):
                name, = struct.unpack_from("<I", self.bytes, at)
                yield at, self.string(self.sections[section[6]], name)

    def value(self, name):
        """(address, size) of a symbol."""
        for at, found in self.symbols():
            address, size = struct.unpack_from("<QQ", self.bytes, at + 8)
            if found == name and address:
                return address, size
        raise KeyError(name)

    def move(self, name, distance):
        """Moves a symbol's address, in all tables; its end stays."""
        moved = 0
        for at, found in self.symbols():
            address, size = struct.unpack_from("<QQ", self.bytes, at + 8)
            if found == name and address:
                struct.pack_into("<QQ", self.bytes, at + 8, address + distance, size - distance)
                moved += 1
        assert moved, name

    def replace(self, old, new, section=None):
        """Other bytes of the same length, wherever they are in the file or in a section."""
        assert len(old) == len(new)
        begin, size = self.section(section) if section else (0, len(self.bytes))
        part = bytes(self.bytes[begin:begin + size])
        assert old in part, old
        self.bytes[begin:begin + size] = part.replace(old, new)

    def save(self, path, mode=0o755):
        with open(path, "wb") as file:
            file.write(self.bytes)
        import os
        os.chmod(path, mode)
