/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Indirect dependencies: who had the CPU, or the disks, that a thread wanted. */
#include "graph/graph_internal.h"

#include <stdlib.h>

#include "states/activity.h"
#include "states/interruptions.h"
#include "states/states.h"

/* Who has the CPU that the thread waits for: the one that it had to leave, or else the one that it gets. */
static bool find_cpu(struct graph_builder *b, uint32_t thread, const struct state *state, uint32_t *cpu)
{
	struct state beside;
	bool has_left = state->value.why == READY_PREEMPTED || state->value.why == READY_THROTTLED;
	uint64_t time_ns = has_left ? state->begin_ns - 1 : state->end_ns;

	if (!states_at(b->states, thread, time_ns, &beside) ||
	    (beside.kind != STATE_RUNNING && beside.kind != STATE_SPINNING))
		return false;
	*cpu = beside.cpu;
	return true;
}

static void add_rival(struct graph_builder *b, size_t node, const struct cpu_state *rival)
{
	uint64_t ns = rival->end_ns - rival->begin_ns;

	if (!ns)
		return;
	if (rival->thread)
		graph_add(b, node, GRAPH_THREAD, rival->thread, NULL, ns);
	else if (rival->tid)
		graph_add(b, node, GRAPH_OTHER, rival->tid, NULL, ns);
	else
		graph_add(b, node, GRAPH_IDLE, 0, NULL, ns);
}

/* What one block of states ends with, the next one begins with. */
static bool goes_on(const struct cpu_state *rival, const struct cpu_state *piece)
{
	return rival->end_ns == piece->begin_ns && rival->thread == piece->thread && rival->tid == piece->tid;
}

void graph_add_rivals(struct graph_builder *b, size_t node, uint32_t thread, const struct state *state,
		      uint64_t begin_ns, uint64_t end_ns)
{
	struct cpu_state piece, rival = { 0 };
	uint64_t recorded_ns = 0;
	struct cpu_walk walk;
	uint32_t cpu;

	if (!find_cpu(b, thread, state, &cpu))
		goto add_rest;
	states_walk_cpu(b->states, cpu, begin_ns, end_ns, &walk);
	while (cpu_walk_next(&walk, &piece)) {
		recorded_ns += piece.end_ns - piece.begin_ns;
		if (goes_on(&rival, &piece)) {
			rival.end_ns = piece.end_ns;
			continue;
		}
		add_rival(b, node, &rival);
		rival = piece;
	}
	add_rival(b, node, &rival);

add_rest:
	if (recorded_ns < end_ns - begin_ns)
		graph_add(b, node, GRAPH_UNKNOWN, 0, NULL, end_ns - begin_ns - recorded_ns);
}

void graph_add_running(struct graph_builder *b, size_t node, const struct state *state, uint64_t begin_ns,
		       uint64_t end_ns)
{
	uint64_t own_ns = end_ns - begin_ns;
	size_t count;
	struct interruption *parts =
		interruptions_of(states_activities(b->states), state->cpu, begin_ns, end_ns, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t ns = parts[i].end_ns - parts[i].begin_ns;

		graph_add(b, node, parts[i].kind == ACTIVITY_INTERRUPT ? GRAPH_INTERRUPTED : GRAPH_SOFTIRQ,
			  parts[i].number, NULL, ns);
		own_ns -= ns;
	}
	free(parts);
	if (own_ns)
		graph_add(b, node, state->kind == STATE_SPINNING ? GRAPH_SPINNING : GRAPH_RUNNING, 0, NULL, own_ns);
}

void graph_add_disk_users(struct graph_builder *b, size_t node, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t idle_ns;
	size_t count;
	struct activities *activities = states_activities(b->states);
	struct disk_user *users = disk_users_of(activities, begin_ns, end_ns, &count, &idle_ns);

	for (size_t i = 0; i < count; i++)
		if (users[i].ns)
			graph_add(b, node, users[i].thread ? GRAPH_THREAD : GRAPH_OTHER,
				  users[i].thread ? users[i].thread : users[i].tid, NULL, users[i].ns);
	if (idle_ns && activities_are_recorded(activities))
		graph_add(b, node, GRAPH_DISK_IDLE, 0, NULL, idle_ns);
	free(users);
}
