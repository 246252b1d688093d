/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/same_wait.h"

#include "base/clock.h"
#include "lanes/lanes.h"
#include "query/trace_states.h"
#include "session/threads.h"
#include "states/states.h"

struct search {
	const struct trace_states *all;
	const struct lanes *lanes;
	uint32_t pid;
	const struct state *wait;
	uint32_t *thread;
	struct state *found;
};

static bool is_same(const struct search *search, const struct state *state)
{
	const struct state_value *wanted = &search->wait->value, *value = &state->value;

	return state->kind == STATE_BLOCKED && value->stack && value->object == wanted->object &&
	       value->syscall == wanted->syscall;
}

static bool search_thread(const struct search *search, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	struct state_walk walk;

	states_walk(search->all->states, thread, from_ns, to_ns, &walk);
	while (state_walk_next(&walk, search->found))
		if (is_same(search, search->found)) {
			*search->thread = thread;
			return true;
		}
	return false;
}

static bool search_stretch(const struct search *search, uint64_t from_ns, uint64_t to_ns)
{
	for (size_t i = 0; i < search->lanes->thread_count; i++) {
		uint32_t thread = search->lanes->threads[i].number;

		if (threads_get(search->all->threads, thread)->pid == search->pid &&
		    search_thread(search, thread, from_ns, to_ns))
			return true;
	}
	return false;
}

bool same_wait_find(const struct trace_states *all, const struct lanes *lanes, uint32_t thread,
		    const struct state *wait, uint64_t budget_ns, uint32_t *found_thread, struct state *found)
{
	struct search search = {
		.all = all,
		.lanes = lanes,
		.pid = threads_get(all->threads, thread)->pid,
		.wait = wait,
		.thread = found_thread,
		.found = found,
	};
	uint64_t deadline_ns = clock_ns() + budget_ns, begin_ns = states_begin_ns(all->states);
	uint64_t before_ns = wait->begin_ns, behind_ns = wait->begin_ns, end_ns = states_end_ns(all->states);
	uint64_t step_ns = 1000000;

	if (!wait->value.object)
		return false;
	/* Twice as far each time, to both sides. */
	while ((before_ns > begin_ns || behind_ns < end_ns) && clock_ns() < deadline_ns) {
		uint64_t from_ns = before_ns - begin_ns > step_ns ? before_ns - step_ns : begin_ns;
		uint64_t to_ns = end_ns - behind_ns > step_ns ? behind_ns + step_ns : end_ns;

		if (search_stretch(&search, from_ns, before_ns) || search_stretch(&search, behind_ns, to_ns))
			return true;
		before_ns = from_ns;
		behind_ns = to_ns;
		step_ns *= 2;
	}
	return false;
}
