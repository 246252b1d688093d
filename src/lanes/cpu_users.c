/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/cpu_users.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "graph/graph_label.h"
#include "query/trace_states.h"
#include "results/results.h"
#include "states/states.h"
#include "values.h"

struct user {
	uint32_t thread, tid; /* both 0: nobody */
	uint64_t ns;
};

struct users {
	struct user *list;
	size_t count, capacity;
};

static struct user *user_of(struct users *users, const struct cpu_state *state)
{
	for (size_t i = 0; i < users->count; i++)
		if (users->list[i].thread == state->thread && users->list[i].tid == state->tid)
			return &users->list[i];
	ARRAY_GROW(users->list, users->count, users->capacity, 8);
	users->list[users->count] = (struct user){ state->thread, state->tid, 0 };
	return &users->list[users->count++];
}

static int by_time(const void *a, const void *b)
{
	const struct user *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

/* The CPU that the thread got when it had waited long enough. */
static bool find_cpu(const struct trace_states *all, uint32_t thread, const struct state *ready, uint32_t *cpu)
{
	struct state next;

	if (ready->kind != STATE_RUNNABLE || !states_at(all->states, thread, ready->end_ns, &next))
		return false;
	*cpu = next.cpu;
	return (next.kind == STATE_RUNNING || next.kind == STATE_SPINNING) && next.cpu < CPUS_MAX;
}

static const char *name_of(struct graph_labels *labels, const struct user *user)
{
	struct graph_node node = { .kind = GRAPH_THREAD, .id = user->thread };

	if (!user->thread && !user->tid)
		return "nobody: it was idle";
	if (!user->thread)
		node = (struct graph_node){ .kind = GRAPH_OTHER, .id = user->tid };
	return graph_label(labels, &node);
}

size_t cpu_users_of(const struct trace_states *all, struct graph_labels *labels, uint32_t thread,
		    const struct state *ready, struct result_cpu_user *users, uint32_t *cpu)
{
	struct users found = { 0 };
	struct cpu_state state;
	struct cpu_walk walk;
	size_t count;

	if (!find_cpu(all, thread, ready, cpu))
		return 0;
	states_walk_cpu(all->states, *cpu, ready->begin_ns, ready->end_ns, &walk);
	while (cpu_walk_next(&walk, &state))
		user_of(&found, &state)->ns += state.end_ns - state.begin_ns;
	if (found.count)
		qsort(found.list, found.count, sizeof(*found.list), by_time);
	count = found.count < CPU_USERS_MAX ? found.count : CPU_USERS_MAX;
	for (size_t i = 0; i < count; i++)
		users[i] = (struct result_cpu_user){
			.thread = found.list[i].thread,
			.who = name_of(labels, &found.list[i]),
			.ns = found.list[i].ns,
		};
	free(found.list);
	return count;
}
