/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known about a place in the code: its function, its lines, and what was inlined there. */
#include <stdio.h>
#include <string.h>

#include "symbol/dwarf/dwarf_lines.h"
#include "symbol/elf/demangle.h"
#include "symbol/elf/go_table.h"
#include "symbol/object/object_internal.h"

/* Adds a string to the answer; its place there, 0 when there is none. */
static uint32_t put_text(struct answer *answer, const char *string)
{
	size_t size_bytes = string ? strlen(string) + 1 : 0;
	uint32_t place = answer->text_bytes;

	if (size_bytes <= 1 || size_bytes > sizeof(answer->text) - answer->text_bytes)
		return 0;
	memcpy(answer->text + place, string, size_bytes);
	answer->text_bytes += size_bytes;
	return place;
}

/* Adds as much of a string as a name may have. */
static uint32_t put_name(struct answer *answer, const char *string)
{
	char name[ANSWER_NAME_BYTES];

	snprintf(name, sizeof(name), "%s", string ? string : "");
	return put_text(answer, name);
}

/* Adds what a linker's name means; from '@' on it has the version of its library. */
static uint32_t put_function(struct answer *answer, const char *linked, const char *suffix)
{
	char symbol[ANSWER_NAME_BYTES * 4], name[ANSWER_NAME_BYTES];
	size_t length;

	if (!linked)
		return 0;
	/* '@' cannot begin a version at the start of a name. */
	length = linked[0] ? 1 + strcspn(linked + 1, "@") : 0;
	snprintf(symbol, sizeof(symbol), "%.*s", (int)(length < sizeof(symbol) ? length : sizeof(symbol) - 1), linked);
	demangle(symbol, name, sizeof(name) - strlen(suffix));
	strcat(name, suffix);
	return put_text(answer, name);
}

/*
 * Puts a path before the one that begins at path[at], and returns where the longer one begins:
 * at itself when there is nothing to put, or no space. Too long a path is more use with its end.
 */
static size_t prepend(char *path, size_t at, const char *folder)
{
	const char *rest = path + at;
	size_t length = folder ? strlen(folder) : 0;

	if (!length || rest[0] == '/')
		return at;
	/* Debian gives both from the top of its build: "./sql/lock.cc" in "./builddir/sql". */
	if (folder[0] != '/' && !strncmp(rest, "./", 2))
		return at;
	while (!strncmp(path + at, "./", 2))
		at += 2;
	if (length >= at)
		return at;
	path[--at] = '/';
	at -= length;
	memcpy(path + at, folder, length);
	return at;
}

static uint32_t put_file(struct answer *answer, const struct source_frame *frame)
{
	char path[ANSWER_NAME_BYTES];
	size_t length = frame->file ? strlen(frame->file) : 0, at;

	if (!length)
		return 0;
	if (length >= sizeof(path))
		return put_text(answer, frame->file + length - sizeof(path) + 1);
	at = sizeof(path) - 1 - length;
	memcpy(path + at, frame->file, length + 1);
	at = prepend(path, at, frame->folder);
	at = prepend(path, at, frame->root);
	return put_text(answer, path + at);
}

static void put_go(struct object *object, uint64_t address, bool wants_lines, struct answer *answer)
{
	const struct go_table *go = object_go_table(object);
	struct go_place place;

	if (!go || !go_table_find(go, address, &place))
		return;
	answer->frame_count = 1;
	answer->frames[0].function = put_name(answer, place.function);
	if (wants_lines) {
		answer->frames[0].file = put_name(answer, place.file);
		answer->frames[0].line = place.line;
	}
	elf_offset_at(object->program.elf, place.start, &answer->function_offset);
}

static void put_lines(struct object *object, uint64_t address, struct answer *answer)
{
	struct source_frame frames[SOURCE_FRAMES_MAX];
	size_t count, out = 0;

	object_open_dwarf(object);
	count = object->dwarf ? dwarf_lines_find(object->dwarf, address, frames) : 0;
	for (size_t i = 0; i < count; i++) {
		/* Of too many, the innermost ones and the function itself say most. */
		if (out == SYMBOL_INLINE_MAX - 1 && i + 1 < count)
			continue;
		answer->frames[out].function = put_function(answer, frames[i].function, "");
		answer->frames[out].file = put_file(answer, &frames[i]);
		answer->frames[out++].line = frames[i].line;
	}
	answer->frame_count = out;
}

void object_find(struct object *object, uint64_t file_offset, bool wants_lines, struct answer *answer)
{
	struct elf_symbol function;
	struct cfi_function nameless;
	const char *suffix = "";
	uint64_t address;
	bool is_found;

	memset(answer, 0, offsetof(struct answer, text));
	answer->text[answer->text_bytes++] = '\0';
	answer->function_offset = UINT64_MAX;
	if (object->flags & ANSWER_NOT_ELF || !elf_address_at(object->program.elf, file_offset, &address)) {
		answer->flags = object->flags;
		return;
	}
	object_open_symbols(object);
	is_found = elf_symbols_find(object->symbols, address, &function);
	if (!is_found && elf_plt_find(object->program.elf, address, &function)) {
		is_found = true;
		suffix = "@plt";
	}
	/* A stub has none, and to make sure of that all units would be examined. */
	if (wants_lines && !suffix[0])
		put_lines(object, address, answer);
	/* What a stripped program of Go's still has. */
	if (!answer->frame_count && !suffix[0])
		put_go(object, address, wants_lines, answer);
	if (is_found) {
		/* The symbol tells clones and aliases apart; the debug information may not. */
		if (!answer->frame_count)
			answer->frame_count = 1;
		answer->frames[answer->frame_count - 1].function = put_function(answer, function.name, suffix);
		elf_offset_at(object->program.elf, function.start, &answer->function_offset);
	}
	if (answer->function_offset == UINT64_MAX && object_cfi_function(object, address, &nameless))
		elf_offset_at(object->program.elf, nameless.begin, &answer->function_offset);
	answer->flags = object->flags | (wants_lines ? 0 : ANSWER_BY_SYMBOLS);
}
