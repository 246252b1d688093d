/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open addressing with linear probing; taking an entry shifts its followers back, so
 * there are no tombstones and long runs never slow down.
 */
#include "base/table.h"

#include <stdlib.h>

#include "base/memory.h"

struct slot {
	uint64_t key;
	void *value; /* NULL: free */
};

struct table {
	struct slot *slots;
	size_t size; /* slots, a power of two */
	size_t count;
};

enum { TABLE_SIZE_FIRST = 8 };

uint64_t hash_u64(uint64_t value)
{
	/* The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
	return value ^ (value >> 31);
}

uint64_t hash_string(uint64_t seed, const char *string)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ seed; /* FNV-1a */

	for (; *string; string++)
		hash = (hash ^ (unsigned char)*string) * 0x100000001b3ull;
	return hash_u64(hash);
}

struct table *table_new(void)
{
	struct table *table = xcalloc(1, sizeof(*table));

	table->size = TABLE_SIZE_FIRST;
	table->slots = xcalloc(table->size, sizeof(*table->slots));
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	free(table->slots);
	free(table);
}

static struct slot *slot_of(const struct table *table, uint64_t key)
{
	size_t i = hash_u64(key) & (table->size - 1);

	while (table->slots[i].value && table->slots[i].key != key)
		i = (i + 1) & (table->size - 1);
	return &table->slots[i];
}

void *table_find(const struct table *table, uint64_t key)
{
	return slot_of(table, key)->value;
}

static void grow(struct table *table)
{
	struct slot *old = table->slots;
	size_t old_size = table->size;

	table->size *= 2;
	table->slots = xcalloc(table->size, sizeof(*table->slots));
	for (size_t i = 0; i < old_size; i++)
		if (old[i].value)
			*slot_of(table, old[i].key) = old[i];
	free(old);
}

void table_put(struct table *table, uint64_t key, void *value)
{
	struct slot *slot = slot_of(table, key);

	if (!slot->value) {
		if ((table->count + 1) * 2 > table->size) {
			grow(table);
			slot = slot_of(table, key);
		}
		table->count++;
	}
	*slot = (struct slot){ key, value };
}

void *table_take(struct table *table, uint64_t key)
{
	struct slot *slot = slot_of(table, key);
	size_t mask = table->size - 1;
	size_t hole = slot - table->slots;
	void *value = slot->value;

	if (!value)
		return NULL;
	table->count--;
	for (size_t i = (hole + 1) & mask; table->slots[i].value; i = (i + 1) & mask) {
		size_t home = hash_u64(table->slots[i].key) & mask;

		/* An entry may fill the hole unless its home lies after it. */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			table->slots[hole] = table->slots[i];
			hole = i;
		}
	}
	table->slots[hole].value = NULL;
	return value;
}

size_t table_count(const struct table *table)
{
	return table->count;
}

void *table_next(const struct table *table, size_t *cursor)
{
	while (*cursor < table->size) {
		void *value = table->slots[(*cursor)++].value;

		if (value)
			return value;
	}
	return NULL;
}
