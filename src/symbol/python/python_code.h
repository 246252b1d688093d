/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a code object of CPython's in the memory of another process, which may hold anything.
 *
 * Owns: what is known of CPython: where its versions have what, its code objects and their lines.
 * Used by: symbol/ruby, symbol/object, symbol/worker, symbol/names, symbol.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/answer/answer.h"
#include "symbol/answer/memory_reader.h"
#include "symbol/python/python_layout.h"

/* What tells code objects apart that had one address after each other. */
struct python_code_key {
	uint64_t name, file, table; /* addresses */
	uint64_t unit_count;        /* of code */
	uint32_t first_line;
};

/* Strings are UTF-8, with the bytes of a file name that are none as they are; cut if too long. */
struct python_code {
	char name[MANAGED_NAME_BYTES];
	char file[MANAGED_PATH_BYTES];
	uint8_t table[MANAGED_TABLE_BYTES];
	size_t table_bytes; /* 0: too long, or not to be read */
};

/* What tells code objects apart that had one address, as one number. */
uint64_t python_code_identity(const struct python_code_key *key);

/* False if there is none: it was freed. */
bool python_code_read_key(const struct memory_reader *memory, const struct python_code_layout *layout, uint64_t address,
			  struct python_code_key *key);

/* False unless it has a name. */
bool python_code_read(const struct memory_reader *memory, const struct python_code_layout *layout,
		      const struct python_code_key *key, struct python_code *code);
