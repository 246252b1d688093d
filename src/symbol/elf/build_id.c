/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elf/build_id.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

enum {
	SEGMENTS_MAX = 128,
	NOTES_BYTES_MAX = 4096, /* of one segment; the build-id is among the first notes */
};

bool build_id_is_same(const struct build_id *a, const struct build_id *b)
{
	return a->size_bytes == b->size_bytes && !memcmp(a->bytes, b->bytes, a->size_bytes);
}

static bool find_in_notes(const uint8_t *notes, size_t size_bytes, struct build_id *build_id)
{
	size_t at = 0;

	while (size_bytes - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note; /* 32-bit files have the same layout */
		size_t name, value;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		value = name + (((size_t)note.n_namesz + 3) & ~(size_t)3);
		if (value > size_bytes || note.n_descsz > size_bytes - value)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(notes + name, "GNU", 4) &&
		    note.n_descsz) {
			if (note.n_descsz > BUILD_ID_BYTES_MAX)
				return false;
			memcpy(build_id->bytes, notes + value, note.n_descsz);
			build_id->size_bytes = note.n_descsz;
			return true;
		}
		at = value + (((size_t)note.n_descsz + 3) & ~(size_t)3);
		if (at > size_bytes)
			return false;
	}
	return false;
}

static bool find_in_segment(int fd, uint64_t offset, uint64_t size_bytes, struct build_id *build_id)
{
	uint8_t notes[NOTES_BYTES_MAX];
	ssize_t n;

	if (size_bytes > sizeof(notes))
		size_bytes = sizeof(notes);
	if (offset > INT64_MAX)
		return false;
	n = pread(fd, notes, size_bytes, offset);
	return n > 0 && find_in_notes(notes, n, build_id);
}

void build_id_read(int fd, struct build_id *build_id)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr header32;
		Elf64_Ehdr header64;
	} file;
	bool is_64;
	uint64_t at;
	unsigned int count, entry_bytes;

	*build_id = (struct build_id){ 0 };
	if (pread(fd, &file, sizeof(file), 0) != sizeof(file) || memcmp(file.ident, ELFMAG, SELFMAG) ||
	    file.ident[EI_DATA] != ELFDATA2LSB)
		return;
	is_64 = file.ident[EI_CLASS] == ELFCLASS64;
	at = is_64 ? file.header64.e_phoff : file.header32.e_phoff;
	count = is_64 ? file.header64.e_phnum : file.header32.e_phnum;
	entry_bytes = is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (at > INT32_MAX)
		return;
	for (unsigned int i = 0; i < count && i < SEGMENTS_MAX; i++, at += entry_bytes) {
		union {
			Elf32_Phdr segment32;
			Elf64_Phdr segment64;
		} u;

		if (pread(fd, &u, entry_bytes, at) != entry_bytes)
			return;
		if ((is_64 ? u.segment64.p_type : u.segment32.p_type) != PT_NOTE)
			continue;
		if (find_in_segment(fd, is_64 ? u.segment64.p_offset : u.segment32.p_offset,
				    is_64 ? u.segment64.p_filesz : u.segment32.p_filesz, build_id))
			return;
	}
}
