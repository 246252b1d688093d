/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known about a place in the code: its function, its lines, and what was inlined there. */
#include <string.h>

#include "symbol/dwarf/dwarf_lines.h"
#include "symbol/elf/go_table.h"
#include "symbol/object/object_internal.h"

static void put_go(struct object *object, uint64_t address, bool wants_lines, struct answer *answer)
{
	const struct go_table *go = object_go_table(object);
	struct go_place place;

	if (!go || !go_table_find(go, address, &place))
		return;
	answer->frame_count = 1;
	answer->frames[0].function = object_put_name(answer, place.function);
	if (wants_lines) {
		answer->frames[0].file = object_put_name(answer, place.file);
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
		answer->frames[out].function = object_put_function(answer, frames[i].function, "");
		answer->frames[out].file = object_put_file(answer, &frames[i]);
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
		answer->frames[answer->frame_count - 1].function = object_put_function(answer, function.name, suffix);
		elf_offset_at(object->program.elf, function.start, &answer->function_offset);
	}
	if (answer->function_offset == UINT64_MAX && object_cfi_function(object, address, &nameless))
		elf_offset_at(object->program.elf, nameless.begin, &answer->function_offset);
	answer->flags = object->flags | (wants_lines ? 0 : ANSWER_BY_SYMBOLS);
}
