/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/element.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/graph_label.h"
#include "report/report_frame.h"
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

/* Elements by what they are called. */
struct list {
	struct element *elements;
	size_t count;
	struct table *by_name;
};

static uint64_t key_of(enum element_kind kind, const char *name)
{
	return hash_string(kind + 1, name);
}

static struct element *get(struct list *list, enum element_kind kind, const char *name)
{
	struct element *element = table_find(list->by_name, key_of(kind, name));

	if (!element) {
		element = &list->elements[list->count++];
		*element = (struct element){ .kind = kind, .name = name };
		table_put(list->by_name, key_of(kind, name), element);
	}
	return element;
}

/* All threads wait for each other's end in some function. */
static bool is_end(const struct lives_wait *wait)
{
	return wait->wait.cause == CAUSE_JOIN || wait->wait.cause == CAUSE_CHILD;
}

static void add(struct list *list, struct graph_labels *labels, const struct lives_wait *wait)
{
	for (enum element_kind kind = 0; kind < ELEMENT_KINDS; kind++) {
		const char *name = name_of(labels, kind, &wait->wait);
		struct element *element = name ? get(list, kind, name) : NULL;

		if (!element)
			continue;
		element->own_ns += wait->ns;
		if (kind == ELEMENT_PATH)
			continue;
		element->ns += wait->ns;
		element->count += wait->count;
	}
}

static bool is_further_in(const struct report_frame *frames, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (frames[i].function && !strcmp(frames[i].function, frames[at].function))
			return true;
	return false;
}

/* To the functions on its stack that have waits of their own. */
static void add_to_callers(struct list *list, struct graph_labels *labels, const struct lives_wait *wait)
{
	const struct report_frame *frames;
	size_t count = graph_wait_frames(labels, &wait->wait, &frames);

	for (size_t i = 0; i < count; i++) {
		const char *function = frames[i].function;
		struct element *element = function ? table_find(list->by_name, key_of(ELEMENT_PATH, function)) : NULL;

		if (element && !is_further_in(frames, i)) {
			element->ns += wait->ns;
			element->count += wait->count;
		}
	}
}

static size_t leave_out_callers(struct element *elements, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (elements[i].own_ns >= elements[i].ns / 2)
			elements[kept++] = elements[i];
	return kept;
}

struct element *elements_of(const struct lives *lives, struct graph_labels *labels, size_t *count)
{
	struct list list = {
		.elements = xcalloc(ELEMENT_KINDS * lives->wait_count + 1, sizeof(*list.elements)),
		.by_name = table_new(),
	};

	for (size_t i = 0; i < lives->wait_count; i++)
		if (!is_end(&lives->waits[i]))
			add(&list, labels, &lives->waits[i]);
	for (size_t i = 0; i < lives->wait_count; i++)
		if (!is_end(&lives->waits[i]))
			add_to_callers(&list, labels, &lives->waits[i]);
	table_free(list.by_name);
	*count = leave_out_callers(list.elements, list.count);
	qsort(list.elements, *count, sizeof(*list.elements), by_time);
	return list.elements;
}
