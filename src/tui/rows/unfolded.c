/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/rows/unfolded.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"

enum all { AS_IT_BEGINS, ALL_FOLDED, ALL_UNFOLDED };

struct unfolded {
	enum all all;
	struct table *choices; /* of the user since, by key */
};

static const char choice_folded, choice_unfolded;

struct unfolded *unfolded_new(void)
{
	struct unfolded *unfolded = xcalloc(1, sizeof(*unfolded));

	unfolded->choices = table_new();
	return unfolded;
}

void unfolded_free(struct unfolded *unfolded)
{
	if (!unfolded)
		return;
	table_free(unfolded->choices);
	free(unfolded);
}

bool unfolded_has(const struct unfolded *unfolded, uint64_t key, bool begins_so)
{
	const char *choice = table_find(unfolded->choices, key);

	if (choice)
		return choice == &choice_unfolded;
	return unfolded->all == AS_IT_BEGINS ? begins_so : unfolded->all == ALL_UNFOLDED;
}

void unfolded_set(struct unfolded *unfolded, uint64_t key, bool is_unfolded)
{
	table_put(unfolded->choices, key, (char *)(is_unfolded ? &choice_unfolded : &choice_folded));
}

void unfolded_set_all(struct unfolded *unfolded, bool is_unfolded)
{
	table_free(unfolded->choices);
	unfolded->choices = table_new();
	unfolded->all = is_unfolded ? ALL_UNFOLDED : ALL_FOLDED;
}

bool unfolded_is_all(const struct unfolded *unfolded)
{
	return unfolded->all == ALL_UNFOLDED;
}
