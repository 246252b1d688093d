/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/known_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/answer/answer.h"

enum {
	BYTES_MAX = 4 << 20,
	INSTRUCTION_BYTES_MAX = 16, /* as object_read_code() has it */
};

struct known_code {
	struct arena *arena;
	struct table *table; /* struct code_answer by key_of() */
	size_t bytes;
};

struct known_code *known_code_new(void)
{
	struct known_code *known = xcalloc(1, sizeof(*known));

	known->arena = arena_new();
	known->table = table_new();
	return known;
}

void known_code_free(struct known_code *known)
{
	if (!known)
		return;
	arena_free(known->arena);
	table_free(known->table);
	free(known);
}

static uint64_t key_of(const struct code_place *place)
{
	return hash_u64(place->function ^ hash_u64(place->module ^ hash_u64(place->size_bytes)));
}

/* Otherwise what surrounds the place is answered, whatever function that is. */
static bool is_near_begin(const struct code_place *place)
{
	return place->offset >= place->function &&
	       place->offset - place->function + INSTRUCTION_BYTES_MAX <= place->size_bytes;
}

const struct code_answer *known_code_find(const struct known_code *known, const struct code_place *place)
{
	const struct code_answer *answer = is_near_begin(place) ? table_find(known->table, key_of(place)) : NULL;

	return answer && place->offset - place->function < answer->size_bytes ? answer : NULL;
}

void known_code_put(struct known_code *known, const struct code_place *place, const struct code_answer *answer)
{
	size_t bytes = offsetof(struct code_answer, code) + answer->size_bytes;

	if (!is_near_begin(place) || answer->file_offset != place->function)
		return;
	if (known->bytes + bytes > BYTES_MAX) {
		arena_free(known->arena);
		table_free(known->table);
		known->arena = arena_new();
		known->table = table_new();
		known->bytes = 0;
	}
	known->bytes += bytes;
	table_put(known->table, key_of(place), memcpy(arena_alloc(known->arena, bytes), answer, bytes));
}
