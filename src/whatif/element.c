/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/element.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/graph_label.h"
#include "whatif/lives.h"

const char *element_kind_name(enum element_kind kind)
{
	static const char *const names[ELEMENT_KINDS] = { "lock", "path", "cause" };

	return names[kind];
}

static const char *lock_name(struct graph_labels *labels, const struct graph_wait *wait)
{
	switch (wait->cause) {
	case CAUSE_LOCK:
	case CAUSE_CONDITION:
	case CAUSE_BARRIER:
	case CAUSE_SEMAPHORE:
	case CAUSE_KERNEL_LOCK:
		return graph_wait_object(labels, wait);
	}
	return NULL;
}

/* NULL: it is none of that kind. */
static const char *name_of(struct graph_labels *labels, enum element_kind kind, const struct graph_wait *wait)
{
	switch (kind) {
	case ELEMENT_LOCK:
		return lock_name(labels, wait);
	case ELEMENT_PATH:
		return graph_wait_function(labels, wait);
	default:
		return wait_cause_name(wait->cause);
	}
}

static bool is_of(struct graph_labels *labels, enum element_kind kind, const char *name, const struct graph_wait *wait)
{
	const char *own;

	if (kind == ELEMENT_PATH)
		return graph_wait_is_in(labels, wait, name);
	own = name_of(labels, kind, wait);
	return own && !strcmp(own, name);
}

size_t element_choose(const struct lives *lives, struct graph_labels *labels, enum element_kind kind, const char *name,
		      bool *is_chosen)
{
	size_t count = 0;

	for (size_t i = 0; i < lives->wait_count; i++) {
		is_chosen[i] = is_of(labels, kind, name, &lives->waits[i].wait);
		count += is_chosen[i];
	}
	return count;
}

static int by_time(const void *a, const void *b)
{
	const struct element *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add(struct element *elements, size_t *count, struct table *by_name, enum element_kind kind,
		const char *name, const struct lives_wait *wait)
{
	uint64_t key = hash_string(kind + 1, name);
	struct element *element = table_find(by_name, key);

	if (!element) {
		element = &elements[(*count)++];
		*element = (struct element){ .kind = kind, .name = name };
		table_put(by_name, key, element);
	}
	element->ns += wait->ns;
	element->count += wait->count;
}

struct element *elements_of(const struct lives *lives, struct graph_labels *labels, size_t *count)
{
	struct element *elements = xcalloc(ELEMENT_KINDS * lives->wait_count + 1, sizeof(*elements));
	struct table *by_name = table_new();

	*count = 0;
	for (size_t i = 0; i < lives->wait_count; i++) {
		const struct lives_wait *wait = &lives->waits[i];

		if (wait->wait.cause == CAUSE_JOIN || wait->wait.cause == CAUSE_CHILD)
			continue;
		for (enum element_kind kind = 0; kind < ELEMENT_KINDS; kind++) {
			const char *name = name_of(labels, kind, &wait->wait);

			if (name)
				add(elements, count, by_name, kind, name, wait);
		}
	}
	table_free(by_name);
	qsort(elements, *count, sizeof(*elements), by_time);
	return elements;
}
