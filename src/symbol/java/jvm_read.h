/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads from a running HotSpot virtual machine where it keeps the code that it generates, and how: it describes its
 * own structures for debuggers, in tables whose addresses its library exports (OpenJDK: runtime/vmStructs.cpp). The
 * memory is another process's, and may hold anything.
 *
 * Owns: what is known of HotSpot: how it keeps its code.
 * Used by: symbol/object, symbol/worker.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helper/given.h"
#include "symbol/answer/answer.h"

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

/* bias: what addresses in memory are more than the file's. Fills in all of the answer. */
void jvm_read(const struct jvm_memory *memory, const struct jvm_exports *exports, uint64_t bias,
	      struct jvm_answer *answer);
