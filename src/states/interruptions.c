/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/interruptions.h"

#include <stdlib.h>

#include "base/memory.h"
#include "states/activity.h"

enum { NESTED_MAX = 16 };

struct gathered {
	struct interruption *list;
	size_t count, capacity;
	uint64_t from_ns, to_ns;
	uint32_t cpu;
};

static void append(struct gathered *gathered, const struct interruption *part)
{
	if (part->begin_ns >= part->end_ns)
		return;
	ARRAY_GROW(gathered->list, gathered->count, gathered->capacity, 16);
	gathered->list[gathered->count++] = *part;
}

static void gather(void *data, const struct activity *activity)
{
	struct gathered *gathered = data;

	if (activity->kind == ACTIVITY_DISK || activity->resource != gathered->cpu)
		return;
	append(gathered, &(struct interruption){
				 activity->begin_ns > gathered->from_ns ? activity->begin_ns : gathered->from_ns,
				 activity->end_ns < gathered->to_ns ? activity->end_ns : gathered->to_ns,
				 activity->kind,
				 activity->detail,
			 });
}

/* Of two that begin together the outer one first: a device's interrupt may come within a softirq. */
static int by_begin(const void *a, const void *b)
{
	const struct interruption *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? 1 : -1;
	return (int)y->kind - x->kind;
}

/* Those that are under way, the innermost one last. */
struct nest {
	struct interruption open[NESTED_MAX];
	unsigned int depth;
	uint64_t at_ns; /* up to where it is known */
	struct gathered out;
};

/* Says what is innermost up to time_ns, and forgets what ends before. */
static void emit_up_to(struct nest *nest, uint64_t time_ns)
{
	while (nest->depth && nest->at_ns < time_ns) {
		struct interruption part = nest->open[nest->depth - 1];

		part.begin_ns = nest->at_ns;
		if (part.end_ns > time_ns)
			part.end_ns = time_ns;
		append(&nest->out, &part);
		if (part.end_ns > nest->at_ns)
			nest->at_ns = part.end_ns;
		if (nest->open[nest->depth - 1].end_ns <= nest->at_ns)
			nest->depth--;
	}
	if (time_ns > nest->at_ns)
		nest->at_ns = time_ns;
}

struct interruption *interruptions_of(struct activities *activities, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
				      size_t *count)
{
	struct gathered gathered = { .from_ns = from_ns, .to_ns = to_ns, .cpu = cpu };
	struct nest nest = { .at_ns = from_ns };

	activities_each(activities, from_ns, to_ns, gather, &gathered);
	if (gathered.count)
		qsort(gathered.list, gathered.count, sizeof(*gathered.list), by_begin);
	for (size_t i = 0; i < gathered.count; i++) {
		emit_up_to(&nest, gathered.list[i].begin_ns);
		if (nest.depth < NESTED_MAX)
			nest.open[nest.depth++] = gathered.list[i];
	}
	emit_up_to(&nest, to_ns);
	free(gathered.list);
	*count = nest.out.count;
	return nest.out.list;
}
