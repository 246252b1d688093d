/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sites of USDT probes of a file, as far as a probe can be put there. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "symbol/elf/usdt_argument.h"
#include "symbol/elf/usdt_notes.h"
#include "symbol/object/object_internal.h"
#include "symbol/object/probe_place.h"

enum { SEMAPHORE_BYTES = 2, NOP = 0x90, LONG_NOP = 0x1f0f };

struct usdt_search {
	struct object *object;
	const char *pattern;
	uint64_t to_skip;
	struct symbol_usdt *found;
};

static bool is_wanted(const struct usdt_search *search, const struct usdt_note *note)
{
	char name[2 * USDT_NAME_BYTES];

	if (!usdt_name_is_valid(note->provider, USDT_NAME_BYTES) || !usdt_name_is_valid(note->name, USDT_NAME_BYTES))
		return false;
	snprintf(name, sizeof(name), "%s:%s", note->provider, note->name);
	return !fnmatch(search->pattern, name, 0);
}

/* sdt.h puts an instruction there that does nothing. */
static bool is_nop(const struct object *object, uint64_t file_offset)
{
	uint8_t code[2];

	if (probe_place_read(object, file_offset, code, sizeof(code)) != sizeof(code))
		return false;
	return code[0] == NOP || (code[0] | code[1] << 8) == LONG_NOP;
}

/* It is counted up by the kernel: it has to lie in data of the file that may be written to. */
static bool find_semaphore(Elf *elf, uint64_t address, uint64_t *file_offset)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		uint64_t at;

		if (!gelf_getphdr(elf, i, &header) || header.p_type != PT_LOAD || !(header.p_flags & PF_W) ||
		    header.p_flags & PF_X || address < header.p_vaddr)
			continue;
		at = address - header.p_vaddr;
		if (header.p_filesz < SEMAPHORE_BYTES || at > header.p_filesz - SEMAPHORE_BYTES ||
		    __builtin_add_overflow(header.p_offset, at, file_offset))
			continue;
		return *file_offset <= INT64_MAX;
	}
	return false;
}

static bool find_place(const struct usdt_search *search, const struct usdt_note *note, struct usdt_place *place)
{
	struct object *object = search->object;

	*place = (struct usdt_place){ 0 };
	if (!probe_place_find(object, note->address, 1, true, &place->file_offset) ||
	    !is_nop(object, place->file_offset))
		return false;
	if (note->semaphore && !find_semaphore(object->program.elf, note->semaphore, &place->semaphore_offset))
		return false;
	strcpy(place->provider, note->provider);
	strcpy(place->name, note->name);
	place->argument_count = usdt_arguments_parse(note->arguments, place->arguments);
	return true;
}

static void on_note(void *data, const struct usdt_note *note)
{
	struct usdt_search *search = data;
	struct symbol_usdt *found = search->found;
	struct usdt_place place;

	if (found->has_more || !is_wanted(search, note))
		return;
	if (search->to_skip) {
		search->to_skip--;
		return;
	}
	if (found->count + found->doubtful_count == USDT_PLACES_MAX_ANSWER)
		found->has_more = true;
	else if (find_place(search, note, &place))
		found->places[found->count++] = place;
	else
		found->doubtful_count++;
}

void object_find_usdt(struct object *object, const char *pattern, uint64_t first, struct symbol_usdt *found)
{
	struct usdt_search search = { object, pattern, first, found };

	memset(found, 0, sizeof(*found));
	if (object->program.elf && gelf_getclass(object->program.elf) == ELFCLASS64)
		usdt_notes_each(object->program.elf, on_note, &search);
}
