/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a Go program's file says of its runtime. */
#include "symbol/dwarf/dwarf_file.h"
#include "symbol/go/go_layout.h"
#include "symbol/object/object_internal.h"

void object_go_layout(struct object *object, struct go_layout *layout)
{
	if (!object_go_table(object)) {
		*layout = (struct go_layout){ .result = GO_IS_NONE };
		return;
	}
	object_open_dwarf(object);
	object_open_debug(object);
	go_layout_find(object->program.elf, object->debug.elf, object->go, object->dwarf ? object->dwarf->units : NULL,
		       layout);
}

bool object_read_goroutines(struct object *object, const struct object_mapping *mapping, struct go_question *question,
			    struct go_answer *answer)
{
	uint64_t address;

	if (!elf_address_at(object->program.elf, mapping->file_offset, &address))
		return false;
	question->table = object_go_table(object);
	question->bias = mapping->start - address;
	go_read(question, answer);
	return true;
}
