/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hashed part: open addressing with linear probing; taking an entry shifts its followers back, so
 * there are no tombstones and long runs never slow down.
 */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* So many pointers for each entry are what the hash would take, too. */
enum { TABLE_SIZE_FIRST = 8, DIRECT_SIZE_FIRST = 16, DIRECT_SPARSE_MAX = 4 };

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
	free(table->direct);
	free(table->slots);
	free(table);
}

static struct table_slot *slot_of(const struct table *table, uint64_t key)
{
	size_t i = hash_u64(key) & (table->size - 1);

	while (table->slots[i].value && table->slots[i].key != key)
		i = (i + 1) & (table->size - 1);
	return &table->slots[i];
}

void *table_find_hashed(const struct table *table, uint64_t key)
{
	return slot_of(table, key)->value;
}

/* Puts each hashed entry where it belongs now, of so many slots. */
static void place_again(struct table *table, size_t size)
{
	struct table_slot *old = table->slots;
	size_t old_size = table->size;

	table->size = size;
	table->slots = xcalloc(table->size, sizeof(*table->slots));
	for (size_t i = 0; i < old_size; i++) {
		if (!old[i].value)
			continue;
		if (old[i].key < table->direct_size) {
			table->direct[old[i].key] = old[i].value;
			table->hashed--;
		} else {
			*slot_of(table, old[i].key) = old[i];
		}
	}
	free(old);
}

static void grow_direct(struct table *table, uint64_t key)
{
	size_t size = table->direct_size ? table->direct_size : DIRECT_SIZE_FIRST;

	while (size <= key)
		size *= 2;
	table->direct = xrealloc(table->direct, size, sizeof(*table->direct));
	memset(table->direct + table->direct_size, 0, (size - table->direct_size) * sizeof(*table->direct));
	table->direct_size = size;
	if (table->hashed)
		place_again(table, table->size);
}

static void put_hashed(struct table *table, uint64_t key, void *value)
{
	struct table_slot *slot = slot_of(table, key);

	if (!slot->value) {
		if ((table->hashed + 1) * 2 > table->size) {
			place_again(table, table->size * 2);
			slot = slot_of(table, key);
		}
		table->hashed++;
		table->count++;
	}
	*slot = (struct table_slot){ key, value };
}

void table_put(struct table *table, uint64_t key, void *value)
{
	if (key >= table->direct_size && key < (table->count + 1) * DIRECT_SPARSE_MAX)
		grow_direct(table, key);
	if (key >= table->direct_size) {
		put_hashed(table, key, value);
		return;
	}
	table->count += !table->direct[key];
	table->direct[key] = value;
}

static void *take_hashed(struct table *table, uint64_t key)
{
	struct table_slot *slot = slot_of(table, key);
	size_t mask = table->size - 1;
	size_t hole = slot - table->slots;
	void *value = slot->value;

	if (!value)
		return NULL;
	table->hashed--;
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

void *table_take(struct table *table, uint64_t key)
{
	void *value;

	if (key >= table->direct_size) {
		value = take_hashed(table, key);
	} else {
		value = table->direct[key];
		table->direct[key] = NULL;
	}
	table->count -= value != NULL;
	return value;
}

size_t table_count(const struct table *table)
{
	return table->count;
}

void *table_next(const struct table *table, size_t *cursor)
{
	while (*cursor < table->direct_size + table->size) {
		size_t i = (*cursor)++;
		void *value = i < table->direct_size ? table->direct[i] : table->slots[i - table->direct_size].value;

		if (value)
			return value;
	}
	return NULL;
}
