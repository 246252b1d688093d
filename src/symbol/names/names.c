/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/names/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/names/notes.h"

/* The table's keys are hashes: strings with equal ones are chained. */
struct name {
	struct name *next;
	char text[];
};

struct names {
	struct arena *arena;
	struct table *table;
	size_t bytes_max, bytes_left;
	struct notes *notes; /* NULL once they know that there is no space */
};

struct names *names_new(size_t bytes_max, struct notes *notes)
{
	struct names *names = xcalloc(1, sizeof(*names));

	names->arena = arena_new();
	names->table = table_new();
	names->bytes_max = names->bytes_left = bytes_max;
	names->notes = notes;
	return names;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	table_free(names->table);
	arena_free(names->arena);
	free(names);
}

static void note_full(struct names *names)
{
	if (names->notes)
		notes_add(names->notes, "the names exceed %zu MB: later ones are shown as offsets",
			  names->bytes_max >> 20);
	names->notes = NULL;
}

const char *names_get(struct names *names, const char *string)
{
	struct name *first, *name;
	size_t size_bytes;
	uint64_t key;

	if (!string || !string[0])
		return NULL;
	key = hash_string(1, string);
	first = table_find(names->table, key);
	size_bytes = sizeof(*name) + strlen(string) + 1;
	for (name = first; name; name = name->next)
		if (!strcmp(name->text, string))
			return name->text;
	if (size_bytes > names->bytes_left) {
		note_full(names);
		return NULL;
	}
	names->bytes_left -= size_bytes;
	name = arena_alloc(names->arena, size_bytes);
	strcpy(name->text, string);
	name->next = first;
	table_put(names->table, key, name);
	return name->text;
}
