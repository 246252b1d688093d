/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elf/usdt_notes.h"

#include <string.h>

#include "symbol/elf/elf_file.h"

enum { NOTE_TYPE = 3, NOTE_ALIGNMENT = 4, ADDRESS_BYTES = 8 };

static const char owner[] = "stapsdt";

static uint64_t padded(uint64_t size_bytes)
{
	return (size_bytes + NOTE_ALIGNMENT - 1) & ~(uint64_t)(NOTE_ALIGNMENT - 1);
}

/* A part of the cursor's bytes, which goes on behind it and what fills it up; the last one need not be filled up. */
static struct byte_cursor take_part(struct byte_cursor *cursor, uint64_t size_bytes)
{
	struct byte_cursor part = byte_cursor_new("", 0);
	uint64_t left = byte_cursor_left(cursor);

	if (size_bytes > left) {
		byte_cursor_fail(cursor);
		return part;
	}
	part = byte_cursor_new(cursor->at, size_bytes);
	byte_cursor_skip(cursor, padded(size_bytes) < left ? padded(size_bytes) : left);
	return part;
}

struct usdt_reader {
	uint64_t base_address;
	void (*on_note)(void *data, const struct usdt_note *note);
	void *data;
};

static void take_note(const struct usdt_reader *reader, struct byte_cursor content)
{
	struct usdt_note note = { .address = byte_cursor_number(&content, ADDRESS_BYTES) };
	uint64_t base = byte_cursor_number(&content, ADDRESS_BYTES), distance;

	note.semaphore = byte_cursor_number(&content, ADDRESS_BYTES);
	note.provider = byte_cursor_string(&content);
	note.name = byte_cursor_string(&content);
	note.arguments = byte_cursor_string(&content);
	if (content.is_bad)
		return;
	/* In a file that was moved after linking, addresses in notes are still those from before. */
	distance = base && reader->base_address ? reader->base_address - base : 0;
	note.address += distance;
	note.semaphore += note.semaphore ? distance : 0;
	reader->on_note(reader->data, &note);
}

void usdt_notes_read(struct byte_cursor notes, uint64_t base_address,
		     void (*on_note)(void *data, const struct usdt_note *note), void *data)
{
	const struct usdt_reader reader = { base_address, on_note, data };

	while (byte_cursor_left(&notes)) {
		uint64_t name_bytes = byte_cursor_number(&notes, 4), content_bytes = byte_cursor_number(&notes, 4);
		uint64_t type = byte_cursor_number(&notes, 4);
		struct byte_cursor name = take_part(&notes, name_bytes), content = take_part(&notes, content_bytes);

		if (type == NOTE_TYPE && name_bytes == sizeof(owner) && byte_cursor_left(&name) == sizeof(owner) &&
		    !memcmp(name.at, owner, sizeof(owner)))
			take_note(&reader, content);
	}
}

void usdt_notes_each(Elf *elf, void (*on_note)(void *data, const struct usdt_note *note), void *data)
{
	GElf_Shdr base;
	bool has_base = elf_find_section(elf, ".stapsdt.base", &base);

	usdt_notes_read(elf_debug_section(elf, ".note.stapsdt"), has_base ? base.sh_addr : 0, on_note, data);
}
