/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are a .gopclntab, except for its magic number: what it says is valid, or nothing. */
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/go_table.h"

static const uint64_t text = 0x400000;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	static const uint8_t header[] = { 0xf0, 0xff, 0xff, 0xff, 0, 0, 1, 8 };
	struct unwind_table unwind;
	struct go_table *table;
	uint8_t *copy;

	if (size_bytes < sizeof(header))
		return 0;
	copy = malloc(size_bytes);
	memcpy(copy, bytes, size_bytes);
	memcpy(copy, header, sizeof(header));
	copy[0] |= bytes[0] & 1;
	table = go_table_new(copy, size_bytes, text);
	for (uint64_t address = text; table && address < text + 4096; address += 7) {
		struct go_place place;

		if (go_table_find(table, address, &place) &&
		    (!strlen(place.function) || (place.file && !strlen(place.file))))
			abort();
	}
	if (table) {
		go_table_unwind(table, &unwind);
		if (!unwind_table_is_valid(&unwind))
			abort();
		unwind_table_fini(&unwind);
	}
	go_table_free(table);
	free(copy);
	return 0;
}
