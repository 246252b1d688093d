/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/longest.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

static int by_time(const void *a, const void *b, void *data)
{
	const double *ns = data;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (ns[x] != ns[y])
		return ns[x] < ns[y] ? 1 : -1;
	return (x > y) - (x < y);
}

size_t *longest_places(const double *ns, const size_t *parents, size_t count, size_t count_max, size_t *kept)
{
	size_t *order = xcalloc(count + 1, sizeof(*order)), *places = xcalloc(count + 1, sizeof(*places));
	bool *is_put = xcalloc(count + 1, sizeof(*is_put));

	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_time, (void *)ns);
	for (size_t i = 0; i < count && i < count_max; i++)
		for (size_t at = order[i]; at != SIZE_MAX && !is_put[at]; at = parents[at])
			is_put[at] = true;
	*kept = 0;
	for (size_t i = 0; i < count; i++)
		places[i] = is_put[i] ? (*kept)++ : SIZE_MAX;
	free(order);
	free(is_put);
	return places;
}
