/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/interned.h"

#include <stddef.h>

#include "base/table.h"

enum { STRINGS_MAX = 1 << 18 };

uint32_t interned_number(struct interned *interned, const char *string, bool *is_first)
{
	uint64_t key = hash_string(1, string);
	uintptr_t number;

	if (!interned->numbers)
		interned->numbers = table_new();
	number = (uintptr_t)table_find(interned->numbers, key);
	*is_first = !number && interned->count < STRINGS_MAX;
	if (*is_first) {
		number = ++interned->count;
		table_put(interned->numbers, key, (void *)number);
	}
	return number;
}

void interned_fini(struct interned *interned)
{
	if (interned->numbers)
		table_free(interned->numbers);
	*interned = (struct interned){ 0 };
}
