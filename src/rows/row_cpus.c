/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows/row_cpus.h"

#include <stdlib.h>

#include "activity/named_event.h"
#include "base/memory.h"
#include "base/table.h"
#include "session/thread_cpus.h"
#include "states/states.h"
#include "values.h"

/* It ran, blocked and was woken; a gap between these makes a state of two and one of unknown. */
enum { STATES_BACK_MAX = 12 };

struct row_cpus {
	struct states *states; /* NULL: there are none */
	uint64_t first_ns;     /* of the chunk */
	struct thread_cpus *in_chunk;
	struct table *before; /* by thread: the CPU + 2, of what was asked for; 1: unknown */
};

struct row_cpus *row_cpus_new(struct states *states)
{
	struct row_cpus *cpus = xcalloc(1, sizeof(*cpus));

	cpus->states = states;
	cpus->in_chunk = thread_cpus_new();
	cpus->before = table_new();
	return cpus;
}

void row_cpus_free(struct row_cpus *cpus)
{
	if (!cpus)
		return;
	thread_cpus_free(cpus->in_chunk);
	table_free(cpus->before);
	free(cpus);
}

void row_cpus_begin_chunk(struct row_cpus *cpus, uint64_t first_ns)
{
	thread_cpus_free(cpus->in_chunk);
	table_free(cpus->before);
	cpus->first_ns = first_ns;
	cpus->in_chunk = thread_cpus_new();
	cpus->before = table_new();
}

void row_cpus_follow(struct row_cpus *cpus, const struct ev_header *known)
{
	thread_cpus_follow(cpus->in_chunk, known);
}

/* Where the thread ran last. */
static int32_t ask_states(struct row_cpus *cpus, uint32_t thread)
{
	uint64_t time_ns = cpus->first_ns;
	struct state state;

	for (int i = 0; i < STATES_BACK_MAX && states_at(cpus->states, thread, time_ns, &state); i++) {
		if (state.kind == STATE_RUNNING || state.kind == STATE_SPINNING)
			return state.cpu < CPUS_MAX ? (int32_t)state.cpu : -1;
		if (!state.begin_ns)
			break;
		time_ns = state.begin_ns - 1;
	}
	return -1;
}

static int32_t find_before(struct row_cpus *cpus, uint32_t thread)
{
	uintptr_t known = (uintptr_t)table_find(cpus->before, thread);

	if (!cpus->states || !thread)
		return -1;
	if (!known) {
		known = ask_states(cpus, thread) + 2;
		table_put(cpus->before, thread, (void *)known);
	}
	return (int32_t)known - 2;
}

int32_t row_cpus_find(struct row_cpus *cpus, const struct named_event *event)
{
	uint32_t said, thread = named_event_runner(event);
	int32_t cpu;

	if (named_event_says_cpu(event, &said))
		return said < CPUS_MAX ? (int32_t)said : -1;
	cpu = thread ? thread_cpus_find(cpus->in_chunk, thread) : -1;
	return cpu < 0 ? find_before(cpus, thread) : cpu;
}
