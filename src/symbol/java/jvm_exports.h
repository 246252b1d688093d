/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the library of a HotSpot machine exports about itself: where its tables are. */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helper/given.h"

/* As given_pieces() does; false when nothing can be read. */
struct jvm_memory {
	bool (*read)(void *data, struct memory_piece *pieces, size_t count, void *bytes);
	void *data;
};

/* Addresses of words that the library exports; as the file has them. */
struct jvm_exports {
	uint64_t structs, types; /* where the tables are */
	/* Of an entry for a field: how large it is, and where it has what. */
	uint64_t field_bytes, field_type, field_name, field_kind, field_is_static, field_offset, field_address;
	/* Of one for a type. */
	uint64_t type_bytes, type_name, type_size;
};

/* False: the file does not export all of them. */
bool jvm_exports_find(Elf *elf, struct jvm_exports *exports);
