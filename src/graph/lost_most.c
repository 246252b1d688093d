/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/lost_most.h"

#include <stdlib.h>

#include "base/memory.h"
#include "graph/graph.h"
#include "graph/wait_end.h"
#include "graph/wait_walk.h"
#include "states/states.h"
#include "values.h"
#include "waits/files.h"

/* So much more lost time weighs than other time. */
enum { WEIGHT = 9 };

/* Lost time WEIGHT times, less all other time. */
typedef __int128 weighed_ns;

/* A thread whose states are gone through. */
struct search {
	struct wait_walk walk;
	struct state state; /* to be added next */
	uint32_t thread;
	/* The best stretch that ends where it has come to. */
	uint64_t begin_ns, lost_ns;
	weighed_ns weight; /* 0: it has none */
};

struct searches {
	struct states *states;
	const struct files *files;
	uint64_t from_ns, to_ns;
	struct search *open;
	size_t open_count;
	struct lost_stretch *best;
	weighed_ns best_weight;
};

/* --- What is lost ------------------------------------------------------------------------------ */

/* The program asked whoever is at the other end for something. */
static bool is_for_server(const struct searches *searches, const struct state *state)
{
	const struct file_info *file;

	if ((state->value.why != CAUSE_SOCKET && state->value.why != CAUSE_POLL) || !searches->files)
		return false;
	file = files_find(searches->files, state->value.object);
	return file && file->kind == FILE_SOCKET && !file->is_server;
}

/* In which it did something, could have, or was served. */
static uint64_t busy_ns(struct states *states, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
	static const unsigned int busy[] = {
		SHARE_RUNNING,
		SHARE_SPINNING,
		SHARE_RUNNABLE,
		SHARE_BLOCKED + CAUSE_FILE,
		SHARE_BLOCKED + CAUSE_PAGE_FAULT,
		SHARE_BLOCKED + CAUSE_KERNEL_LOCK,
	};
	uint64_t ns[SHARES] = { 0 }, sum_ns = 0;

	states_add_shares(states, thread, begin_ns, end_ns, ns);
	for (size_t i = 0; i < sizeof(busy) / sizeof(*busy); i++)
		sum_ns += ns[busy[i]];
	return sum_ns < end_ns - begin_ns ? sum_ns : end_ns - begin_ns;
}

static uint64_t lost_in_wait(const struct searches *searches, const struct state *state, uint64_t begin_ns,
			     uint64_t end_ns)
{
	enum graph_kind kind = wait_end_kind(&state->ended);

	switch (state->value.why) {
	case CAUSE_FILE:
	case CAUSE_PAGE_FAULT:
	case CAUSE_KERNEL_LOCK:
		return end_ns - begin_ns;
	case CAUSE_SLEEP:
	case CAUSE_STOPPED:
	case CAUSE_JOIN:
	case CAUSE_CHILD:
		return 0;
	}
	if (kind == GRAPH_DISK || (kind != GRAPH_TIMER && is_for_server(searches, state)))
		return end_ns - begin_ns;
	if (kind != GRAPH_THREAD || state->value.why == CAUSE_POLL)
		return 0;
	/* Who has a lock that is waited for holds others up, whatever he does. */
	if (state->value.why == CAUSE_LOCK)
		return end_ns - begin_ns;
	return busy_ns(searches->states, state->ended.thread, begin_ns, end_ns);
}

static uint64_t lost_in(const struct searches *searches, const struct state *state, uint64_t begin_ns, uint64_t end_ns)
{
	if (state->kind == STATE_RUNNABLE)
		return end_ns - begin_ns;
	return state->kind == STATE_BLOCKED ? lost_in_wait(searches, state, begin_ns, end_ns) : 0;
}

/* --- Where most is lost ------------------------------------------------------------------------ */

static void add_state(struct searches *searches, struct search *search)
{
	const struct state *state = &search->state;
	uint64_t begin_ns = state->begin_ns > searches->from_ns ? state->begin_ns : searches->from_ns;
	uint64_t end_ns = state->end_ns < searches->to_ns ? state->end_ns : searches->to_ns;
	uint64_t lost_ns = lost_in(searches, state, begin_ns, end_ns);

	if (!search->weight) {
		search->begin_ns = begin_ns;
		search->lost_ns = 0;
	}
	search->lost_ns += lost_ns;
	search->weight += (weighed_ns)WEIGHT * lost_ns - (weighed_ns)(end_ns - begin_ns - lost_ns);
	if (search->weight < 0)
		search->weight = 0;
	if (search->weight < searches->best_weight || !search->weight)
		return;
	if (search->weight == searches->best_weight && search->thread >= searches->best->thread)
		return;
	searches->best_weight = search->weight;
	*searches->best = (struct lost_stretch){ search->thread, search->begin_ns, end_ns, search->lost_ns };
}

/* Adds the states that begin before until_ns. Returns whether there are more. */
static bool go_on(struct searches *searches, struct search *search, uint64_t until_ns)
{
	while (search->state.begin_ns < until_ns) {
		add_state(searches, search);
		if (!wait_walk_next(&search->walk, &search->state))
			return false;
	}
	return true;
}

/* All threads together, so that each block of states is unpacked once for all of them. */
static void go_through(struct searches *searches)
{
	uint64_t until_ns = searches->from_ns;

	while (searches->open_count) {
		size_t left = 0;

		until_ns = states_next_block_ns(searches->states, until_ns);
		for (size_t i = 0; i < searches->open_count; i++)
			if (go_on(searches, &searches->open[i], until_ns))
				searches->open[left++] = searches->open[i];
		searches->open_count = left;
	}
}

bool lost_most_find(struct states *states, const struct files *files, const uint32_t *threads, size_t count,
		    uint64_t from_ns, uint64_t to_ns, struct lost_stretch *out)
{
	struct searches searches = {
		.states = states,
		.files = files,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.open = xcalloc(count + 1, sizeof(*searches.open)),
		.best = out,
	};

	*out = (struct lost_stretch){ 0 };
	for (size_t i = 0; i < count; i++) {
		struct search *search = &searches.open[searches.open_count];

		search->thread = threads[i];
		wait_walk_begin(states, threads[i], from_ns, to_ns, &search->walk);
		if (wait_walk_next(&search->walk, &search->state))
			searches.open_count++;
	}
	go_through(&searches);
	free(searches.open);
	return searches.best_weight > 0;
}
