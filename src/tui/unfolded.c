/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/unfolded.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"

struct unfolded {
	bool is_all;
	struct table *exceptions;	/* keys for which the contrary holds */
};

struct unfolded *unfolded_new(void)
{
	struct unfolded *unfolded = xcalloc(1, sizeof(*unfolded));

	unfolded->exceptions = table_new();
	return unfolded;
}

void unfolded_free(struct unfolded *unfolded)
{
	if (!unfolded)
		return;
	table_free(unfolded->exceptions);
	free(unfolded);
}

bool unfolded_has(const struct unfolded *unfolded, uint64_t key)
{
	return !table_find(unfolded->exceptions, key) == unfolded->is_all;
}

void unfolded_set(struct unfolded *unfolded, uint64_t key, bool is_unfolded)
{
	if (is_unfolded == unfolded->is_all)
		table_take(unfolded->exceptions, key);
	else
		table_put(unfolded->exceptions, key, unfolded);
}

void unfolded_set_all(struct unfolded *unfolded, bool is_unfolded)
{
	table_free(unfolded->exceptions);
	unfolded->exceptions = table_new();
	unfolded->is_all = is_unfolded;
}

bool unfolded_is_all(const struct unfolded *unfolded)
{
	return unfolded->is_all;
}
