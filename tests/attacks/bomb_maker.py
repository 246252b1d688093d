# SPDX-License-Identifier: GPL-2.0-or-later
"""
Files that are dear to read: each is a function that writes one. Their code is called bomb_NAME, and is at
elf_maker.CODE_OFFSET. large: as large as it takes to hurt; else so that they hurt what has no bound.
"""
import functools
import random
import struct

import elf_maker
from elf_maker import ALLOC, CODE, CODE_OFFSET, COMPRESSED, MB, NOTE, PROGBITS, STRTAB, SYMTAB, Elf, Hole, \
    Repeated, common_entry, compressed, compressed_old, frame_entry, inlined, leb, line_program, subprogram, \
    unit, with_dwarf, xz_bomb

BOMBS = {}


def bomb(function):
    BOMBS[function.__name__] = function
    return function


def plain(path, name="plain"):
    """None: what a compiler might write."""
    with_dwarf(Elf(f"bomb_{name}"), unit(*subprogram(f"bomb_{name}".encode()))).write(path)


@functools.lru_cache
def packed_zeros(size):
    return compressed(Hole(size))


@functools.lru_cache
def packed_old_zeros(size):
    return compressed_old(Hole(size))


def packed(path, name, size):
    """Each section that a tool unpacks, of zeros; a small file."""
    elf = Elf(f"bomb_{name}")
    for section in (".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_ranges",
                    ".debug_frame", ".eh_frame"):
        elf.add(section, PROGBITS, packed_zeros(size), flags=COMPRESSED)
    elf.write(path)


@bomb
def packed_large(path, large):
    packed(path, "packed_large", 1024 * MB if large else 256 * MB)


@bomb
def packed_lie(path, large):
    """What a section unpacks to is said to be an exabyte, and 16 MB, of which there is 1 KB."""
    elf = Elf("bomb_packed_lie")
    for section, claimed in ((".debug_info", 1 << 60), (".debug_line", 16 * MB), (".debug_abbrev", (1 << 64) - 1),
                             (".eh_frame", 1 << 40), (".debug_frame", 1 << 33)):
        elf.add(section, PROGBITS, compressed(bytes(1024), claimed), flags=COMPRESSED)
    elf.write(path)


@bomb
def packed_old(path, large):
    elf = Elf("bomb_packed_old")
    for section in (".zdebug_info", ".zdebug_abbrev", ".zdebug_line", ".zdebug_str", ".zdebug_frame"):
        elf.add(section, PROGBITS, packed_old_zeros(512 * MB if large else 128 * MB))
    elf.write(path)


@bomb
def mini_debug(path, large):
    """.gnu_debugdata, which holds the symbols of a file without any."""
    nested = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64, 0, 0)
    Elf(None).add(".gnu_debugdata", PROGBITS, xz_bomb(4096 * MB if large else 256 * MB, nested)).write(path)


@bomb
def symbols(path, large):
    """Ten million functions."""
    elf = Elf(None)
    elf.add(".strtab", STRTAB, b"\0bomb_symbols\0")
    strings = len(elf.sections)
    symbol = Elf.symbol(1, CODE_OFFSET, len(CODE))
    elf.add(".symtab", SYMTAB, bytes(24), Repeated(symbol, 10_000_000 if large else 2_000_000), link=strings,
            info=1, entry=24)
    elf.write(path)


@bomb
def symbols_sparse(path, large):
    """A table of nothing, on no disk."""
    elf = Elf(None)
    elf.add(".strtab", STRTAB, b"\0bomb_symbols_sparse\0")
    strings = len(elf.sections)
    elf.add(".symtab", SYMTAB, Hole((8192 if large else 1024) * MB // 24 * 24), link=strings, info=1, entry=24)
    elf.write(path)


@bomb
def names_long(path, large):
    """A name of 64 MB, of which each symbol has an end."""
    elf = Elf(None)
    size = 64 * MB if large else 8 * MB
    elf.add(".strtab", STRTAB, b"\0bomb_names_long", Repeated(b"x", size), b"\0")
    strings = len(elf.sections)
    elf.add(".symtab", SYMTAB, bytes(24), *[Elf.symbol(1 + i, CODE_OFFSET, len(CODE)) for i in range(10000)],
            link=strings, info=1, entry=24)
    elf.write(path)


@bomb
def names_mangled(path, large):
    """A C++ name of 300 bytes that says 2 to the power of 40."""
    def base36(number):
        digits = ""
        while number:
            digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36] + digits
            number //= 36
        return digits or "0"
    name = "_Z12bomb_mangled1AIiiE"
    for i in range(40):
        name += f"S_IS{base36(i)}_S{base36(i)}_E"
    Elf(name).write(path)


@bomb
def names_nested(path, large):
    """Pointers to pointers, a hundred thousand deep."""
    Elf("_Z11bomb_nested" + "P" * 100_000 + "i").write(path)


@bomb
def blocks_deep(path, large):
    """Millions of blocks, each in the one before."""
    count = 16_000_000 if large else 2_000_000
    with_dwarf(Elf("bomb_blocks_deep"), unit(*subprogram(
        b"bomb_blocks_deep", Repeated(leb(3), count), Repeated(b"\0", count)))).write(path)


@bomb
def inlines_deep(path, large):
    """Hundreds of thousands of inlined calls, each in the one before, of what is made from itself."""
    count = 1_000_000 if large else 200_000
    name = b"bomb_inlines_deep"
    first = 11 + 28 + 1 + len(name) + 1 + 16
    with_dwarf(Elf(name.decode()), unit(*subprogram(
        name, Repeated(inlined(first), count), Repeated(b"\0", count)))).write(path)


@bomb
def origins_cyclic(path, large):
    """A function whose specification is itself."""
    cycle = leb(5) + struct.pack("<IQQ", 11 + 28, CODE_OFFSET, len(CODE))
    with_dwarf(Elf("bomb_origins_cyclic"), unit(cycle)).write(path)


@bomb
def units_many(path, large):
    """A million compile units about the same code."""
    one = b"".join(unit(*subprogram(b"bomb_units_many")))
    with_dwarf(Elf("bomb_units_many"), [Repeated(one, 1_000_000 if large else 200_000)]).write(path)


@bomb
def lines_many(path, large):
    """A line program of a row a byte."""
    rows = Repeated(b"\x14", (256 if large else 32) * MB)
    with_dwarf(Elf("bomb_lines_many"), unit(*subprogram(b"bomb_lines_many")), line_program(rows)).write(path)


@bomb
def lines_packed(path, large):
    """The same in a small file."""
    rows = line_program(Repeated(b"\x14", (512 if large else 64) * MB))
    with_dwarf(Elf("bomb_lines_packed"), unit(*subprogram(b"bomb_lines_packed")), rows, compressed).write(path)


@bomb
def frames_many(path, large):
    """Millions of functions, each with a description that all have in common."""
    common = common_entry()
    one = frame_entry(len(common), 0, 0, 16)
    Elf("bomb_frames_many").add(".eh_frame", PROGBITS, Repeated(common + one, 4_000_000 if large else 500_000),
                                flags=ALLOC).write(path)


@bomb
def frames_long(path, large):
    """One function with a row for each of millions of places."""
    common, count = common_entry(), 16_000_000 if large else 2_000_000
    body = struct.pack("<IIiI", 13 + 3 * count, len(common) + 4, 0, 1 << 31 - 1) + b"\0"
    Elf("bomb_frames_long").add(".eh_frame", PROGBITS, common, body, Repeated(b"\x41\x0e\x10", count), bytes(4),
                                flags=ALLOC).write(path)


@bomb
def frames_remember(path, large):
    """A function that remembers its rules, and remembers them."""
    common, count = common_entry(), 64_000_000 if large else 8_000_000
    body = struct.pack("<IIiI", 13 + count, len(common) + 4, 0, 4096) + b"\0"
    Elf("bomb_frames_remember").add(".eh_frame", PROGBITS, common, body, Repeated(b"\x0a", count), bytes(4),
                                    flags=ALLOC).write(path)


@bomb
def frames_cyclic(path, large):
    """Descriptions that are their own, and lengths of exabytes."""
    own = frame_entry(0, 0, CODE_OFFSET, len(CODE), common=0)
    endless = struct.pack("<IQQ", 0xffffffff, (1 << 63) - 8, 0)
    Elf("bomb_frames_cyclic").add(".eh_frame", PROGBITS, own * 1000, endless, flags=ALLOC).add(
        ".debug_frame", PROGBITS, own * 1000 + endless).write(path)


@bomb
def notes_huge(path, large):
    """A build-id of 4 GB, after a gigabyte of empty notes."""
    note = struct.pack("<III", 4, 0xffffffff, 3) + b"GNU\0"
    Elf("bomb_notes_huge").add(".note.empty", NOTE, Hole(1200 * MB // 12 * 12), flags=ALLOC).add(
        ".note.gnu.build-id", NOTE, note, Hole(4096), flags=ALLOC).write(path)


@bomb
def sections_many(path, large):
    """More sections than 16 bits count, as the first one says."""
    Elf("bomb_sections_many").write(path)
    with open(path, "r+b") as file:
        headers = struct.unpack_from("<Q", file.read(64), 40)[0]
        file.seek(60)
        file.write(struct.pack("<HH", 0, 0xffff))
        file.seek(headers + 32)
        file.write(struct.pack("<QI", 1 << 24, 3))
        file.truncate(headers + 64 * (1 << 24))


@bomb
def sizes_false(path, large):
    """Sections that end far beyond the file."""
    elf = with_dwarf(Elf("bomb_sizes_false"), unit(*subprogram(b"bomb_sizes_false")))
    for name, claimed in ((".debug_str", 1 << 62), (".debug_ranges", (1 << 64) - 1), (".debug_loc", 1 << 40),
                          (".eh_frame", 1 << 50), (".gopclntab", 1 << 45)):
        elf.add(name, PROGBITS, bytes(64), claimed=claimed)
    elf.write(path)


@bomb
def go_functions(path, large):
    """Go's table, of a billion functions."""
    count = (64 if large else 4) * MB
    header = struct.pack("<IBBBBQQQQQQQQ", 0xfffffff1, 0, 0, 1, 8, count, 1, CODE_OFFSET, 128, 128, 128, 128, 128)
    Elf(None).add(".gopclntab", PROGBITS, header, Repeated(struct.pack("<II", 0, 64), count), flags=ALLOC).write(path)


@bomb
def debug_link(path, large):
    """A debug file of a terabyte beside it, whose checksum takes all of it."""
    Elf("bomb_debug_link").add(".gnu_debuglink", PROGBITS, b"neighbour.debug\0" + struct.pack("<I", 1)).write(path)
    neighbour = path[:path.rindex("/")] + "/neighbour.debug"
    plain(neighbour)
    with open(neighbour, "r+b") as file:
        file.truncate(1 << 40 if large else 64 << 30)


# --- Files of JIT compilers ---------------------------------------------------------------------

MAP_LINE = b"10000000 1000 generated\n"
JIT_HEADER = struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, 62, 0, 0, 0, 0)


def write_pieces(path, pieces):
    with open(path, "wb") as file:
        for piece in pieces:
            elf_maker.write_piece(file, piece)
        file.truncate()


def jit_record(name, address=0x10000000, size=0x1000):
    body = struct.pack("<IIQQQQ", 0, 0, address, address, size, 0) + name + b"\0"
    return struct.pack("<IIQ", 0, 16 + len(body), 0) + body


def jit_dump_empty(path, size):
    """As many records as fit, none of which says anything."""
    write_pieces(path, [JIT_HEADER, Repeated(struct.pack("<IIQ", 1, 16, 0), size // 16)])


def jit_dump_full(path, size):
    """As many names as fit."""
    record = jit_record(b"generated")
    write_pieces(path, [JIT_HEADER, Repeated(record, size // len(record))])


def map_lines(path, size):
    """As many lines as fit."""
    write_pieces(path, [Repeated(MAP_LINE, size // len(MAP_LINE))])


def map_sparse(path, size):
    """A line that never ends, on no disk."""
    write_pieces(path, [MAP_LINE, Hole(size)])


def map_long(path, size):
    """Lines of a megabyte."""
    line = b"10000000 1000 " + b"x" * MB + b"\n"
    write_pieces(path, [MAP_LINE, Repeated(line, size // len(line))])


# --- Mutations ------------------------------------------------------------------------------------

ODD = (0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 40,
       (1 << 63) - 1, 1 << 63, (1 << 64) - 1)


def mutate(content, kept, seed):
    """A copy with some bytes changed: headers and sections more often than the rest. kept: a range to leave."""
    chance = random.Random(seed)
    out = bytearray(content)
    at, count = struct.unpack_from("<Q", content, 40)[0], struct.unpack_from("<H", content, 60)[0]

    def put(where, value):
        if where + len(value) <= len(out) and not (where < kept[1] and where + len(value) > kept[0]):
            out[where:where + len(value)] = value

    for _ in range(chance.choice((1, 1, 2, 5, 20, 100))):
        kind = chance.randrange(6)
        if kind == 0:
            put(chance.randrange(len(out)), bytes([chance.randrange(256)]))
        elif kind == 1:         # a number
            width = chance.choice("BHIQ")
            number = chance.choice(ODD) & (1 << 8 * struct.calcsize(width)) - 1
            put(chance.randrange(len(out)), struct.pack("<" + width, number))
        elif kind == 2:         # a field of a section's header; not of the first 64 bytes, which exec reads
            field = chance.choice((("<I", 4), ("<Q", 8), ("<Q", 16), ("<Q", 24), ("<Q", 32), ("<I", 40),
                                   ("<I", 44), ("<Q", 48), ("<Q", 56)))
            number = chance.choice(ODD + (len(out), chance.randrange(len(out))))
            mask = (1 << 8 * struct.calcsize(field[0])) - 1
            put(at + 64 * chance.randrange(count) + field[1], struct.pack(field[0], number & mask))
        elif kind == 3:         # inside a section
            header = at + 64 * chance.randrange(count)
            offset, size = struct.unpack_from("<QQ", content, header + 24)
            if size and offset + size <= len(out):
                put(offset + chance.randrange(size), bytes([chance.randrange(256)]))
        elif kind == 4:         # a piece of it elsewhere
            size = chance.randrange(1, 64)
            begin = chance.randrange(len(out) - size)
            put(chance.randrange(len(out) - size), bytes(out[begin:begin + size]))
        elif kind == 5:         # the ELF header or the program headers
            put(chance.randrange(16, 64 + 56 * 12), bytes([chance.randrange(256)]))
    if chance.randrange(10) == 0:
        del out[chance.randrange(kept[1], len(out)):]
    return bytes(out)
