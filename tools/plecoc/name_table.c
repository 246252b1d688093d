/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which names are taken: a hash table with linear probing, at most half full. */
#include "name_table.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"

static size_t hash_fnv(const char *key)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *key; key++)
		hash = (hash ^ (unsigned char)*key) * 0x100000001b3;
	return hash ^ hash >> 32;
}

/* The slot that holds key, or the free one where it belongs. */
static struct name_entry *find_slot(const struct name_table *table, const char *key)
{
	size_t mask = table->slot_count - 1, i = hash_fnv(key) & mask;

	while (table->slots[i].key && strcmp(table->slots[i].key, key))
		i = (i + 1) & mask;
	return &table->slots[i];
}

static void name_table_grow(struct name_table *table)
{
	struct name_table old = *table;
	size_t i;

	table->slot_count = old.slot_count ? 2 * old.slot_count : 16;
	table->slots = xrealloc(NULL, table->slot_count * sizeof(*table->slots));
	memset(table->slots, 0, table->slot_count * sizeof(*table->slots));
	for (i = 0; i < old.slot_count; i++)
		if (old.slots[i].key)
			*find_slot(table, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

void name_table_fini(struct name_table *table)
{
	size_t i;

	for (i = 0; i < table->slot_count; i++)
		free(table->slots[i].key);
	free(table->slots);
	*table = (struct name_table){ 0 };
}

const struct name_entry *name_table_add(struct name_table *table, const struct name_entry *entry)
{
	struct name_entry *slot;

	if (2 * table->count >= table->slot_count)
		name_table_grow(table);
	slot = find_slot(table, entry->key);
	if (slot->key)
		return slot;
	*slot = *entry;
	slot->key = xstrndup(entry->key, strlen(entry->key));
	table->count++;
	return NULL;
}
