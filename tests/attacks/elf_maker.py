# SPDX-License-Identifier: GPL-2.0-or-later
"""
Writes ELF files from nothing, as no compiler does: sections that unpack to gigabytes, that are larger
than the file, that go round in circles. Each has code at CODE_OFFSET that can be called wherever the file
is mapped, so that a tracer wants its names, lines and callers; without the harm it would find them.
"""
import lzma
import struct
import zlib

CODE_OFFSET = 0x1000
CODE = bytes.fromhex(
    "55 4889e5"                 # push %rbp; mov %rsp, %rbp
    "b900000200 ffc9 75fc"      # mov $131072, %ecx; 1: dec %ecx; jnz 1b
    "4883ec10"                  # sub $16, %rsp
    "48c7042400000000"          # movq $0, (%rsp)
    "48c744240840420f00"        # movq $1000000, 8(%rsp)
    "4889e7 31f6"               # mov %rsp, %rdi; xor %esi, %esi
    "b823000000 0f05"           # nanosleep
    "c9 c3")                    # leave; ret

PROGBITS, SYMTAB, STRTAB, NOBITS, NOTE = 1, 2, 3, 8, 7
ALLOC, EXEC, COMPRESSED = 2, 4, 0x800
PT_LOAD, PT_NOTE = 1, 4
ZLIB_COMPRESSED = 1
STT_FUNC_GLOBAL = 0x12

MB = 1 << 20


class Hole:
    """Zeros that take no space on the disk."""

    def __init__(self, size):
        self.size = size


class Repeated:
    """The same bytes again and again."""

    def __init__(self, content, count):
        self.content = content
        self.count = count
        self.size = len(content) * count


def size_of(piece):
    return len(piece) if isinstance(piece, bytes) else piece.size


def write_piece(file, piece):
    if isinstance(piece, Hole):
        file.seek(piece.size, 1)
    elif isinstance(piece, Repeated):
        some = max(1, min(piece.count, MB // len(piece.content)))
        for _ in range(piece.count // some):
            file.write(piece.content * some)
        file.write(piece.content * (piece.count % some))
    else:
        file.write(piece)


def deflated(piece, wbits=15):
    """A zlib stream that unpacks to a piece; a gigabyte of the same takes a megabyte."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, wbits)
    content = bytes(MB) if isinstance(piece, Hole) else piece.content if isinstance(piece, Repeated) else piece
    count = 1 if isinstance(piece, bytes) else piece.size // len(content)
    if isinstance(piece, Repeated) and len(content) < MB:
        content, count = content * (MB // len(content)), piece.size // (len(content) * (MB // len(content)))
    parts = [compressor.compress(content) for _ in range(count)]
    return b"".join(parts) + compressor.flush(), len(content) * count


def compressed(piece, claimed=None):
    """Of a section with SHF_COMPRESSED; claimed: the size that its header says."""
    stream, size = deflated(piece)
    return struct.pack("<IIQQ", ZLIB_COMPRESSED, 0, size if claimed is None else claimed, 1) + stream


def compressed_old(piece):
    """Of a .zdebug section."""
    stream, size = deflated(piece)
    return b"ZLIB" + struct.pack(">Q", size) + stream


def xz_bomb(size, begin=b""):
    """An xz stream of zeros, after what begins it."""
    compressor = lzma.LZMACompressor(lzma.FORMAT_XZ, preset=0)
    parts = [compressor.compress(begin)]
    parts += [compressor.compress(bytes(16 * MB)) for _ in range(size // (16 * MB))]
    return b"".join(parts) + compressor.flush()


class Elf:
    """function: the name of the code; None: it has no symbol."""

    def __init__(self, function):
        self.sections = []      # name, type, flags, pieces, link, info, entry, claimed size
        self.notes = []
        self.add(".text", PROGBITS, CODE, flags=ALLOC | EXEC)
        if function:
            names = b"\0" + function.encode() + b"\0"
            self.add(".strtab", STRTAB, names)
            symbols = bytes(24) + self.symbol(1, CODE_OFFSET, len(CODE))
            self.add(".symtab", SYMTAB, symbols, link=len(self.sections), info=1, entry=24)

    @staticmethod
    def symbol(name, address, size):
        return struct.pack("<IBBHQQ", name, STT_FUNC_GLOBAL, 0, 1, address, size)

    def add(self, name, kind, *pieces, flags=0, link=0, info=0, entry=0, claimed=None):
        """claimed: the size that is said, if not that of the pieces."""
        self.sections = [s for s in self.sections if s[0] != name or name != ".symtab"]
        self.sections.append((name, kind, flags, pieces, link, info, entry, claimed))
        return self

    def write(self, path):
        with open(path, "wb") as file:
            self.write_to(file)
        return path

    def write_to(self, file):
        headers, names, segments = [bytes(64)], b"\0", []
        order = self.sections + [(".shstrtab", STRTAB, 0, (b"",), 0, 0, 0, None)]
        at = CODE_OFFSET
        for name, kind, flags, pieces, link, info, entry, claimed in order:
            name_at = len(names)
            names += name.encode() + b"\0"
            if name == ".shstrtab":
                pieces = (names,)
            at = at + 15 & ~15
            file.seek(at)
            for piece in pieces:
                write_piece(file, piece)
            size = sum(map(size_of, pieces)) if claimed is None else claimed
            headers.append(struct.pack("<IIQQQQIIQQ", name_at, kind, flags, at if flags & ALLOC else 0, at,
                                       size, link, info, 16, entry))
            if kind == NOTE:
                segments.append(struct.pack("<IIQQQQQQ", PT_NOTE, 4, at, at, at, size, size, 4))
            at += sum(map(size_of, pieces))
            if flags & ALLOC:
                allocated = at
        segments.insert(0, struct.pack("<IIQQQQQQ", PT_LOAD, 5, 0, 0, 0, allocated, allocated, 4096))
        at = at + 15 & ~15
        file.seek(at)
        file.write(b"".join(headers))
        file.truncate()
        file.seek(0)
        file.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, at, 0, 64, 56,
                               len(segments), 64, len(headers), len(headers) - 1))
        file.write(b"".join(segments))


# --- DWARF ----------------------------------------------------------------------------------------

def leb(number):
    out = b""
    while True:
        byte, number = number & 0x7f, number >> 7
        out += bytes([byte | 0x80 if number else byte])
        if not number:
            return out


# Compile unit (1), subprogram (2), lexical block (3) and inlined subroutine (4), all but 5 with children.
ABBREVIATIONS = b"".join([
    leb(1), leb(0x11), b"\1", leb(0x03), leb(0x08), leb(0x11), leb(0x01), leb(0x12), leb(0x07), leb(0x10),
    leb(0x17), b"\0\0",
    leb(2), leb(0x2e), b"\1", leb(0x03), leb(0x08), leb(0x11), leb(0x01), leb(0x12), leb(0x07), b"\0\0",
    leb(3), leb(0x0b), b"\1", b"\0\0",
    # abstract_origin: ref4, low_pc, high_pc, call_file, call_line
    leb(4), leb(0x1d), b"\1", leb(0x31), leb(0x13), leb(0x11), leb(0x01), leb(0x12), leb(0x07), leb(0x58),
    leb(0x0b), leb(0x59), leb(0x0b), b"\0\0",
    # A subprogram whose name is that of its specification.
    leb(5), leb(0x2e), b"\0", leb(0x47), leb(0x13), leb(0x11), leb(0x01), leb(0x12), leb(0x07), b"\0\0",
    b"\0"])

INLINED_BYTES = 1 + 4 + 8 + 8 + 1 + 1


def unit(*children):
    """A compile unit about the code, and what begins it: (.debug_info's header, the pieces)."""
    begin = leb(1) + b"bomb.c\0" + struct.pack("<QQI", CODE_OFFSET, len(CODE), 0)
    pieces = [begin, *children, b"\0"]
    size = sum(map(size_of, pieces))
    return [struct.pack("<IHIB", size + 7, 4, 0, 8), *pieces]


def subprogram(name, *children):
    return [leb(2) + name + b"\0" + struct.pack("<QQ", CODE_OFFSET, len(CODE)), *children, b"\0"]


def inlined(origin):
    """An inlined call of the DIE at an offset in the unit, for all of the code; its children follow."""
    return leb(4) + struct.pack("<IQQBB", origin, CODE_OFFSET, len(CODE), 1, 7)


def line_program(*opcodes):
    """.debug_line, version 4."""
    header = struct.pack("<BBBbBB", 1, 1, 1, -3, 12, 13) + bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
    header += b"\0" + b"bomb.c\0\0\0\0" + b"\0"
    begin = b"\0\x09\x02" + struct.pack("<Q", CODE_OFFSET)
    end = b"\2" + leb(len(CODE)) + b"\0\1\1"
    pieces = [begin, *opcodes, end]
    size = sum(map(size_of, pieces))
    return [struct.pack("<IHI", 2 + 4 + len(header) + size, 4, len(header)) + header, *pieces]


def with_dwarf(elf, info, lines=None, pack=None):
    """pack: how sections are packed, such as compressed."""
    for name, pieces in ((".debug_info", info), (".debug_abbrev", [ABBREVIATIONS]),
                         (".debug_line", lines or line_program(b"\x14" * 8))):
        if pack:
            elf.add(name, PROGBITS, pack(joined(pieces)), flags=COMPRESSED)
        else:
            elf.add(name, PROGBITS, *pieces)
    return elf


def joined(pieces):
    return b"".join(p if isinstance(p, bytes) else bytes(p.size) if isinstance(p, Hole)
                    else p.content * p.count for p in pieces)


# --- Call frame information ----------------------------------------------------------------------

def common_entry(instructions=b"\x0c\x07\x08\x90\x01"):
    """A CIE of .eh_frame: 4-byte addresses, relative to where they stand."""
    body = struct.pack("<IB", 0, 1) + b"zR\0" + leb(1) + b"\x78" + b"\x10" + leb(1) + b"\x1b" + instructions
    body += bytes(-len(body) % 4)
    return struct.pack("<I", len(body)) + body


def frame_entry(at, section, begin, size, instructions=b"", common=0):
    """An FDE at an offset of the section, which is at that address; common: the offset of its CIE."""
    pointer = at + 4
    length = 4 + 4 + 4 + 1 + len(instructions)
    pad = -length % 4
    return struct.pack("<IIiI", length + pad, pointer - common & 0xffffffff, begin - (section + at + 8), size) + \
        b"\0" + instructions + bytes(pad)
