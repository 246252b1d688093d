/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which names are taken, and by what. The table owns its keys and borrows the names and sources of
 * the declarations. The zero value is an empty table.
 */
#pragma once

#include <stddef.h>

#include "schema.h"

struct name_entry {
	char *key; /* NULL: a free slot */
	struct declaration declaration;
	const char *scope; /* the subsystem of an event; else NULL */
};

struct name_table {
	struct name_entry *slots;
	size_t count, slot_count; /* slot_count is 0 or a power of two */
};

void name_table_fini(struct name_table *table);

/* Adds the entry and returns NULL; if its key is taken, adds nothing and returns that one. */
const struct name_entry *name_table_add(struct name_table *table, const struct name_entry *entry);
