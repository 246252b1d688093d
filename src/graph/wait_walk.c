/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/wait_walk.h"

#include <sys/syscall.h>

#include "graph/wait_end.h"

enum { STATES_AHEAD_MAX = 512 };

/* A sleep has no other end than its time. */
static bool has_timed_out(const struct state *state)
{
	return state->kind == STATE_BLOCKED && state->value.why != CAUSE_SLEEP &&
	       wait_end_kind(&state->ended) == GRAPH_TIMER;
}

static bool is_same_wait(const struct state *a, const struct state *b)
{
	return a->value.object == b->value.object && a->value.stack == b->value.stack &&
	       a->value.syscall == b->value.syscall && a->value.why == b->value.why;
}

/* A signal ends whatever wait it meets, and so does the end of the process. */
static bool is_for_something(const struct state_value *ended)
{
	enum graph_kind kind = wait_end_kind(ended);

	return ended->how != WAKER_SIGNAL && ended->syscall != SYS_exit_group && kind != GRAPH_TIMER &&
	       kind != GRAPH_UNKNOWN;
}

/* Between two waits for it the thread is busy for less long than with the first: it only looks what has come. */
static void look_ahead(struct wait_walk *walk, const struct state *first)
{
	uint64_t waited_ns = first->end_ns - first->begin_ns, busy_ns = 0;
	struct state_walk ahead;
	struct state state;

	walk->ended = (struct state_value){ 0 };
	walk->until_ns = first->end_ns;
	states_walk(walk->states.states, walk->states.thread, first->end_ns, UINT64_MAX, &ahead);
	for (unsigned int i = 0; i < STATES_AHEAD_MAX && state_walk_next(&ahead, &state); i++) {
		uint64_t ns = state.end_ns - state.begin_ns;

		if (state.kind == STATE_UNKNOWN)
			return;
		if (state.kind != STATE_BLOCKED) {
			busy_ns += ns;
			if (busy_ns > waited_ns)
				return;
			continue;
		}
		if (!is_same_wait(first, &state))
			return;
		if (!has_timed_out(&state)) {
			if (is_for_something(&state.ended))
				walk->ended = state.ended;
			return;
		}
		waited_ns = ns;
		busy_ns = 0;
		walk->until_ns = state.end_ns;
	}
}

void wait_walk_begin(struct states *states, uint32_t thread, uint64_t from_ns, uint64_t to_ns, struct wait_walk *walk)
{
	*walk = (struct wait_walk){ 0 };
	states_walk(states, thread, from_ns, to_ns, &walk->states);
}

/* Who ended it in the end waited itself for this thread then: that the time was over was what set both to work. */
static bool did_wait_for_it(const struct wait_walk *walk, uint64_t time_ns)
{
	struct state state;

	return walk->ended.thread && states_at(walk->states.states, walk->ended.thread, time_ns, &state) &&
	       state.kind == STATE_BLOCKED && state.ended.thread == walk->states.thread;
}

bool wait_walk_next(struct wait_walk *walk, struct state *out)
{
	if (!state_walk_next(&walk->states, out))
		return false;
	if (!has_timed_out(out))
		return true;
	if (out->begin_ns >= walk->until_ns)
		look_ahead(walk, out);
	if (walk->ended.why == READY_WOKEN && !did_wait_for_it(walk, out->end_ns))
		out->ended = walk->ended;
	return true;
}
