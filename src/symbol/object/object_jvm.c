/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the library of a Java virtual machine says of it. */
#include <string.h>

#include "symbol/java/jvm_read.h"
#include "symbol/object/object_internal.h"

void object_read_jvm(struct object *object, const struct object_mapping *mapping, const struct jvm_memory *memory,
		     struct jvm_layout *layout, struct jvm_answer *answer)
{
	struct jvm_exports exports;
	uint64_t address;

	memset(answer, 0, sizeof(*answer));
	if (!elf_address_at(object->program.elf, mapping->file_offset, &address) ||
	    !jvm_exports_find(object->program.elf, &exports)) {
		answer->result = JVM_UNKNOWN;
		return;
	}
	jvm_read(memory, &exports, mapping->start - address, layout, answer);
}
