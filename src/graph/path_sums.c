/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/path_sums.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/graph_label.h"

/* Whether it is a wait that no thread of the path ends. */
static bool is_wait(const struct path_part *part)
{
	switch (part->kind) {
	case GRAPH_RUNNING:
	case GRAPH_SPINNING:
	case GRAPH_CPU:
	case GRAPH_CPU_LIMIT:
	case GRAPH_INTERRUPTED:
	case GRAPH_SOFTIRQ:
	case GRAPH_ABSENT:
		return false;
	default:
		return part->wait.time_ns;
	}
}

const char *path_part_who(struct graph_labels *labels, const struct path_part *part)
{
	return graph_label(labels, &(struct graph_node){ .kind = GRAPH_THREAD, .id = part->thread });
}

const char *path_part_what(struct graph_labels *labels, const struct path_part *part)
{
	struct graph_node node = {
		.kind = is_wait(part) ? GRAPH_WAIT : part->kind,
		.id = part->other,
		.wait = part->wait,
	};

	return graph_label(labels, &node);
}

const char *path_part_end(struct graph_labels *labels, const struct path_part *part)
{
	struct graph_node node = { .kind = part->kind, .id = part->other };

	if (!is_wait(part))
		return NULL;
	/* It waits for who waits for it, further up. */
	if (part->kind == GRAPH_THREAD)
		return "each other";
	return graph_label(labels, &node);
}

static uint64_t key_of(struct graph_labels *labels, const struct path_part *part)
{
	const char *end = path_part_end(labels, part);
	uint64_t key = hash_string(part->kind, path_part_who(labels, part));

	key = hash_string(key, path_part_what(labels, part));
	return end ? hash_string(key, end) : key;
}

static int by_time(const void *a, const void *b)
{
	const struct path_sum *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->part.begin_ns < y->part.begin_ns ? -1 : x->part.begin_ns > y->part.begin_ns;
}

struct path_sum *path_sums(const struct critical_path *path, struct graph_labels *labels, size_t *count)
{
	struct path_sum *sums = xcalloc(path->count + 1, sizeof(*sums)), *sum;
	struct table *by_key = table_new();
	size_t n = 0;

	for (size_t i = 0; i < path->count; i++) {
		const struct path_part *part = &path->parts[i];
		uint64_t ns = part->end_ns - part->begin_ns, key = key_of(labels, part);

		sum = table_find(by_key, key);
		if (!sum) {
			sum = &sums[n++];
			sum->part = *part;
			table_put(by_key, key, sum);
		}
		sum->ns += ns;
		sum->count++;
		if (ns > sum->max_ns)
			sum->max_ns = ns;
	}
	table_free(by_key);
	qsort(sums, n, sizeof(*sums), by_time);
	*count = n;
	return sums;
}
