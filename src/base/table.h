/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table from 64-bit keys to pointers. The caller owns what the pointers lead to. Small numbers without many gaps, as threads and
 * CPUs have, are found at once; other keys by a hash.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct table_slot {
	uint64_t key;
	void *value; /* NULL: free */
};

/* Private to table.c and table_find(). */
struct table {
	void **direct; /* by key, of all keys below direct_size; NULL: none */
	size_t direct_size;
	struct table_slot *slots; /* of other keys */
	size_t size;              /* slots, a power of two */
	size_t hashed, count;     /* in slots; in all */
};

struct table *table_new(void);
void table_free(struct table *table);

/* By the hash of a key, which is not below direct_size. */
void *table_find_hashed(const struct table *table, uint64_t key);

/* The value put under key, or NULL. */
static inline void *table_find(const struct table *table, uint64_t key)
{
	return key < table->direct_size ? table->direct[key] : table_find_hashed(table, key);
}

/* Puts value (not NULL) under key, in place of any earlier one. */
void table_put(struct table *table, uint64_t key, void *value);

/* Takes the entry away and returns its value, NULL when there was none. */
void *table_take(struct table *table, uint64_t key);

size_t table_count(const struct table *table);

/*
 * Walks all entries in no particular order: start with *cursor = 0; NULL ends the walk.
 * Taking entries away during a walk may skip others; putting is not allowed.
 */
void *table_next(const struct table *table, size_t *cursor);

/* Mixes a 64-bit value so that each bit depends on all of the input's. */
uint64_t hash_u64(uint64_t value);

/* Of seed and the bytes of a string. */
uint64_t hash_string(uint64_t seed, const char *string);
