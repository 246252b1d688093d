/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What causes took of some time, in order. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "findings/blame/blame_internal.h"

static int parts_by_time(const void *a, const void *b)
{
	const struct blame_part *x = *(struct blame_part *const *)a, *y = *(struct blame_part *const *)b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->root->key < y->root->key ? -1 : x->root->key > y->root->key;
}

const struct blame_part *blame_list_parts(struct table *parts)
{
	struct blame_part **rows = xcalloc(table_count(parts) + 1, sizeof(*rows)), *part;
	const struct blame_part *first = NULL;
	size_t cursor = 0, count = 0;

	while ((part = table_next(parts, &cursor)))
		rows[count++] = part;
	qsort(rows, count, sizeof(*rows), parts_by_time);
	for (size_t i = count; i--;) {
		rows[i]->next = first;
		first = rows[i];
	}
	free(rows);
	table_free(parts);
	return first;
}
