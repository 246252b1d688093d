/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/wait_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"

enum { HASH_SEED = 1 };

static const char several[] = "";

struct wait_places {
	struct arena *arena;
	struct table *of; /* the only place, or several, by what is there */
};

struct wait_places *wait_places_new(void)
{
	struct wait_places *places = xcalloc(1, sizeof(*places));

	places->arena = arena_new();
	places->of = table_new();
	return places;
}

void wait_places_free(struct wait_places *places)
{
	if (!places)
		return;
	table_free(places->of);
	arena_free(places->arena);
	free(places);
}

void wait_places_add(struct wait_places *places, const char *what, const char *place)
{
	uint64_t key = hash_string(HASH_SEED, what);
	const char *known = table_find(places->of, key);

	if (!known)
		table_put(places->of, key, arena_strdup(places->arena, place));
	else if (known != several && strcmp(known, place))
		table_put(places->of, key, (char *)several);
}

const char *wait_places_find(const struct wait_places *places, const char *what)
{
	const char *known = table_find(places->of, hash_string(HASH_SEED, what));

	return known == several ? NULL : known;
}
