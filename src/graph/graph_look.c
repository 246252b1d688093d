/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Goes through what threads did in the stretches that are to be examined: through those of many nodes together,
 * in the order of time, so that each block of states is unpacked once for all of them.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "graph/graph_internal.h"
#include "graph/wait_walk.h"
#include "states/states.h"

struct look {
	struct wait_walk walk;
	struct state state; /* to be added next */
	size_t node;
	uint32_t stretch;
	uint64_t rest_ns; /* that no state has had yet */
};

struct looks {
	struct graph_builder *b;
	struct awaited {
		uint64_t begin_ns;
		size_t node;
		uint32_t stretch;
	} * awaited; /* by when they begin */
	size_t awaited_count, awaited_capacity, begun_count;
	struct look *open;
	size_t open_count, open_capacity;
};

static void end_look(const struct looks *looks, const struct look *look)
{
	/* A root counts the time that it lived. */
	if (look->rest_ns && looks->b->stretches[look->stretch].above != NO_STRETCH)
		graph_add(looks->b, look->node, GRAPH_ABSENT, 0, NULL, look->rest_ns);
}

static void begin_look(struct looks *looks, const struct awaited *awaited)
{
	const struct stretch *stretch = &looks->b->stretches[awaited->stretch];
	struct look *look;

	ARRAY_GROW(looks->open, looks->open_count, looks->open_capacity, 64);
	look = &looks->open[looks->open_count];
	look->node = awaited->node;
	look->stretch = awaited->stretch;
	look->rest_ns = stretch->ns;
	wait_walk_begin(looks->b->states, stretch->thread, stretch->begin_ns, stretch->end_ns, &look->walk);
	if (wait_walk_next(&look->walk, &look->state))
		looks->open_count++;
	else
		end_look(looks, look);
}

/* Adds the states that begin before until_ns. Returns whether there are more. */
static bool go_on(const struct looks *looks, struct look *look, uint64_t until_ns)
{
	struct stretch stretch = looks->b->stretches[look->stretch];

	while (look->state.begin_ns < until_ns) {
		uint64_t begin_ns = look->state.begin_ns, end_ns = look->state.end_ns;

		if (begin_ns < stretch.begin_ns)
			begin_ns = stretch.begin_ns;
		if (end_ns > stretch.end_ns)
			end_ns = stretch.end_ns;
		graph_add_state(looks->b, look->node, look->stretch, &look->state, begin_ns, end_ns);
		look->rest_ns -= graph_part_ns(looks->b, look->stretch, begin_ns, end_ns);
		if (!wait_walk_next(&look->walk, &look->state)) {
			end_look(looks, look);
			return false;
		}
	}
	return true;
}

static void look_until(struct looks *looks, uint64_t until_ns)
{
	size_t left = 0;

	while (looks->begun_count < looks->awaited_count && looks->awaited[looks->begun_count].begin_ns < until_ns)
		begin_look(looks, &looks->awaited[looks->begun_count++]);
	for (size_t i = 0; i < looks->open_count; i++)
		if (go_on(looks, &looks->open[i], until_ns))
			looks->open[left++] = looks->open[i];
	looks->open_count = left;
}

static void await(struct looks *looks, size_t node)
{
	const struct graph_builder *b = looks->b;

	for (uint32_t i = b->pending[node].first; i != NO_STRETCH; i = b->stretches[i].next) {
		ARRAY_GROW(looks->awaited, looks->awaited_count, looks->awaited_capacity, 1024);
		looks->awaited[looks->awaited_count++] = (struct awaited){ b->stretches[i].begin_ns, node, i };
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct awaited *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->stretch > y->stretch) - (x->stretch < y->stretch);
}

void graph_look_at(struct graph_builder *b, size_t first, size_t count,
		   bool (*is_wanted)(struct graph_builder *b, size_t node))
{
	struct looks looks = { .b = b };
	uint64_t now_ns = 0;

	for (size_t node = first; node < first + count; node++)
		if (b->pending[node].first != NO_STRETCH && is_wanted(b, node))
			await(&looks, node);
	if (looks.awaited)
		qsort(looks.awaited, looks.awaited_count, sizeof(*looks.awaited), by_begin);
	while (looks.open_count || looks.begun_count < looks.awaited_count) {
		if (!looks.open_count && now_ns < looks.awaited[looks.begun_count].begin_ns)
			now_ns = looks.awaited[looks.begun_count].begin_ns;
		now_ns = states_next_block_ns(b->states, now_ns);
		look_until(&looks, now_ns);
	}
	free(looks.awaited);
	free(looks.open);
}
