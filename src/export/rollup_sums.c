/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/rollup_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"

enum { ROWS_MAX = 16384, KEYS = 6 };

static const char others[] = "[others]";

struct rollup_sums {
	struct arena *arena;
	struct table *by_key;
	struct rollup_row **rows;
	size_t count, capacity;
};

struct rollup_sums *rollup_sums_new(void)
{
	struct rollup_sums *sums = xcalloc(1, sizeof(*sums));

	sums->arena = arena_new();
	sums->by_key = table_new();
	return sums;
}

void rollup_sums_free(struct rollup_sums *sums)
{
	if (!sums)
		return;
	arena_free(sums->arena);
	table_free(sums->by_key);
	free(sums->rows);
	free(sums);
}

static const char *part_of(const struct rollup_key *key, unsigned int part)
{
	const char *const parts[KEYS] = { key->host, key->process, key->group, key->state, key->object, key->path };

	return parts[part];
}

static uint64_t hash_of(const struct rollup_key *key)
{
	uint64_t hash = 1;

	for (unsigned int part = 0; part < KEYS; part++)
		hash = hash_string(hash_u64(hash + part), part_of(key, part));
	return hash;
}

static struct rollup_row *add_row(struct rollup_sums *sums, uint64_t hash, const struct rollup_key *key)
{
	struct rollup_row *row = arena_alloc(sums->arena, sizeof(*row));

	row->key = (struct rollup_key){
		.host = arena_strdup(sums->arena, key->host),
		.process = arena_strdup(sums->arena, key->process),
		.group = arena_strdup(sums->arena, key->group),
		.state = arena_strdup(sums->arena, key->state),
		.object = arena_strdup(sums->arena, key->object),
		.path = arena_strdup(sums->arena, key->path),
	};
	ARRAY_GROW(sums->rows, sums->count, sums->capacity, 256);
	sums->rows[sums->count++] = row;
	table_put(sums->by_key, hash, row);
	return row;
}

/* There are not very many states, so that their rows of all others have no bound of their own. */
static struct rollup_row *row_of(struct rollup_sums *sums, const struct rollup_key *key)
{
	const struct rollup_key rest = { "", others, others, key->state, others, "" };
	uint64_t hash = hash_of(key);
	struct rollup_row *row = table_find(sums->by_key, hash);

	if (row)
		return row;
	if (sums->count < ROWS_MAX)
		return add_row(sums, hash, key);
	hash = hash_of(&rest);
	row = table_find(sums->by_key, hash);
	return row ? row : add_row(sums, hash, &rest);
}

void rollup_sums_add(struct rollup_sums *sums, const struct rollup_key *key, uint64_t ns, uint64_t cmetric_ns)
{
	struct rollup_row *row = row_of(sums, key);

	row->ns += ns;
	row->cmetric_ns += cmetric_ns;
	row->count++;
	row->lengths[length_index(ns)]++;
	if (ns > row->max_ns)
		row->max_ns = ns;
}

static int compare(const void *a, const void *b)
{
	const struct rollup_row *left = *(const struct rollup_row *const *)a;
	const struct rollup_row *right = *(const struct rollup_row *const *)b;
	int order = 0;

	if (left->ns != right->ns)
		return left->ns < right->ns ? 1 : -1;
	for (unsigned int part = 0; !order && part < KEYS; part++)
		order = strcmp(part_of(&left->key, part), part_of(&right->key, part));
	return order;
}

const struct rollup_row *const *rollup_sums_rows(struct rollup_sums *sums, size_t *count)
{
	if (sums->count)
		qsort(sums->rows, sums->count, sizeof(*sums->rows), compare);
	*count = sums->count;
	return (const struct rollup_row *const *)sums->rows;
}
