/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/configurations.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "report/report.h"

static uint64_t most_of(const struct report_group *group)
{
	uint64_t most_ns = 0;

	for (size_t i = 0; i < group->row_count; i++)
		if (group->threads[i].cmetric_ns > most_ns)
			most_ns = group->threads[i].cmetric_ns;
	return most_ns;
}

static struct configuration_group *get(struct configurations *all, struct table *by_key, size_t *capacity, uint64_t key)
{
	uintptr_t at = (uintptr_t)table_find(by_key, key);

	if (at)
		return &all->groups[at - 1];
	ARRAY_GROW(all->groups, all->group_count, *capacity, 16);
	all->groups[all->group_count] = (struct configuration_group){
		.parts = xcalloc(all->count, sizeof(*all->groups->parts)),
		.order = all->group_count,
	};
	table_put(by_key, key, (void *)(uintptr_t)(all->group_count + 1));
	return &all->groups[all->group_count++];
}

/* Where there are most of them, the name stands for all. */
static void add(struct configuration_group *group, size_t run, const struct report_group *from)
{
	struct configuration_part *part = &group->parts[run];

	part->thread_count += from->thread_count;
	part->cmetric_ns += from->cmetric_ns;
	if (most_of(from) > part->most_ns)
		part->most_ns = most_of(from);
	if (from->thread_count > group->most_threads) {
		group->most_threads = from->thread_count;
		group->name = from->name;
	}
	if (part->cmetric_ns > group->most_ns)
		group->most_ns = part->cmetric_ns;
}

static int by_cmetric(const void *a, const void *b)
{
	const struct configuration_group *x = a, *y = b;

	if (x->most_ns != y->most_ns)
		return x->most_ns < y->most_ns ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void configurations_find(const struct report *const *reports, size_t count, struct configurations *out)
{
	struct table *by_key = table_new();
	size_t capacity = 0;

	*out = (struct configurations){ .reports = reports, .count = count };
	for (size_t run = 0; run < count; run++)
		for (size_t i = 0; i < reports[run]->group_count; i++)
			add(get(out, by_key, &capacity, reports[run]->groups[i].key), run, &reports[run]->groups[i]);
	table_free(by_key);
	if (out->group_count)
		qsort(out->groups, out->group_count, sizeof(*out->groups), by_cmetric);
}

void configurations_fini(struct configurations *configurations)
{
	for (size_t i = 0; i < configurations->group_count; i++)
		free(configurations->groups[i].parts);
	free(configurations->groups);
	*configurations = (struct configurations){ 0 };
}
