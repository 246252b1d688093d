/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/critical_path.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "graph/wait_end.h"
#include "graph/wait_walk.h"
#include "states/activity.h"
#include "states/interruptions.h"
#include "states/states.h"

enum { DEPTH_MAX = 64 };

/* Threads that wait for each other, the outermost one first. */
struct chain {
	struct states *states;
	struct critical_path *path;
	uint32_t threads[DEPTH_MAX];
	unsigned int depth;
};

static bool is_same_doing(const struct path_part *a, const struct path_part *b)
{
	return a->end_ns == b->begin_ns && a->thread == b->thread && a->kind == b->kind && a->kind == GRAPH_RUNNING &&
	       a->depth == b->depth;
}

static void add(struct chain *chain, const struct path_part *part)
{
	struct critical_path *path = chain->path;

	if (path->count && is_same_doing(&path->parts[path->count - 1], part)) {
		path->parts[path->count - 1].end_ns = part->end_ns;
		return;
	}
	ARRAY_GROW(path->parts, path->count, path->capacity, 1024);
	path->parts[path->count++] = *part;
}

static bool is_in(const struct chain *chain, uint32_t thread)
{
	for (unsigned int i = 0; i < chain->depth; i++)
		if (chain->threads[i] == thread)
			return true;
	return false;
}

static void follow(struct chain *chain, uint32_t thread, uint64_t from_ns, uint64_t to_ns);

static enum graph_kind kind_of(const struct state *state)
{
	switch (state->kind) {
	case STATE_RUNNING:
		return GRAPH_RUNNING;
	case STATE_SPINNING:
		return GRAPH_SPINNING;
	case STATE_RUNNABLE:
		return state->value.why == READY_THROTTLED ? GRAPH_CPU_LIMIT : GRAPH_CPU;
	default:
		return GRAPH_UNKNOWN;
	}
}

/* It had a CPU: except for what interrupts took of that time. */
static void add_running(struct chain *chain, struct path_part part, uint32_t cpu)
{
	enum graph_kind kind = part.kind;
	uint64_t end_ns = part.end_ns;
	size_t count;
	struct interruption *interruptions =
		interruptions_of(states_activities(chain->states), cpu, part.begin_ns, end_ns, &count);

	for (size_t i = 0; i < count; i++) {
		const struct interruption *one = &interruptions[i];

		part.kind = kind;
		part.other = 0;
		part.end_ns = one->begin_ns;
		if (part.begin_ns < part.end_ns)
			add(chain, &part);
		part.kind = one->kind == ACTIVITY_INTERRUPT ? GRAPH_INTERRUPTED : GRAPH_SOFTIRQ;
		part.other = one->number;
		part.begin_ns = one->begin_ns;
		part.end_ns = one->end_ns;
		add(chain, &part);
		part.begin_ns = one->end_ns;
	}
	free(interruptions);
	part.kind = kind;
	part.other = 0;
	part.end_ns = end_ns;
	if (part.begin_ns < end_ns)
		add(chain, &part);
}

static void add_state(struct chain *chain, uint32_t thread, const struct state *state, uint64_t begin_ns,
		      uint64_t end_ns)
{
	struct path_part part = {
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.thread = thread,
		.kind = kind_of(state),
		.depth = chain->depth - 1,
	};

	if (state->kind == STATE_BLOCKED) {
		part.kind = wait_end_kind(&state->ended);
		part.wait = graph_wait_of(thread, state);
		if (part.kind == GRAPH_THREAD && !is_in(chain, state->ended.thread) && chain->depth < DEPTH_MAX) {
			follow(chain, state->ended.thread, begin_ns, end_ns);
			return;
		}
		if (part.kind == GRAPH_OTHER)
			part.other = state->ended.tid;
	}
	if (part.kind == GRAPH_RUNNING || part.kind == GRAPH_SPINNING)
		add_running(chain, part, state->cpu);
	else
		add(chain, &part);
}

/* Of who is waited for, that it did not live yet is part of the wait. */
static void fill(struct chain *chain, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns < end_ns && chain->depth > 1)
		add(chain, &(struct path_part){
				   .begin_ns = begin_ns,
				   .end_ns = end_ns,
				   .thread = thread,
				   .kind = GRAPH_ABSENT,
				   .depth = chain->depth - 1,
			   });
}

static void follow(struct chain *chain, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t at_ns = from_ns;
	struct wait_walk walk;
	struct state state;

	chain->threads[chain->depth++] = thread;
	wait_walk_begin(chain->states, thread, from_ns, to_ns, &walk);
	while (wait_walk_next(&walk, &state)) {
		uint64_t begin_ns = state.begin_ns > from_ns ? state.begin_ns : from_ns;
		uint64_t end_ns = state.end_ns < to_ns ? state.end_ns : to_ns;

		fill(chain, thread, at_ns, begin_ns);
		add_state(chain, thread, &state, begin_ns, end_ns);
		at_ns = end_ns;
	}
	fill(chain, thread, at_ns, to_ns);
	chain->depth--;
}

void critical_path_of(struct states *states, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		      struct critical_path *out)
{
	struct chain chain = { .states = states, .path = out };

	*out = (struct critical_path){ 0 };
	follow(&chain, thread, from_ns, to_ns);
}

void critical_path_fini(struct critical_path *path)
{
	free(path->parts);
	*path = (struct critical_path){ 0 };
}
