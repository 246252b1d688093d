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

/* It had the CPU, so it ran: that needs no look of its own. */
static void add_rival_thread(struct graph_builder *b, size_t node, uint32_t stretch, const struct cpu_state *rival,
			     uint64_t ns)
{
	size_t at = graph_add(b, node, GRAPH_THREAD, rival->thread, NULL, ns);
	struct state_walk walk;
	struct state state;

	if (at == node)
		return;
	states_walk(b->states, rival->thread, rival->begin_ns, rival->end_ns, &walk);
	while (state_walk_next(&walk, &state)) {
		uint64_t begin_ns = state.begin_ns > rival->begin_ns ? state.begin_ns : rival->begin_ns;
		uint64_t end_ns = state.end_ns < rival->end_ns ? state.end_ns : rival->end_ns;

		if (state.kind != STATE_RUNNING && state.kind != STATE_SPINNING)
			continue;
		graph_add_running(b, at, stretch, &state, begin_ns, end_ns);
		ns -= graph_part_ns(b, stretch, begin_ns, end_ns);
	}
	if (ns)
		graph_add(b, at, GRAPH_UNKNOWN, 0, NULL, ns);
}

static void add_rival(struct graph_builder *b, size_t node, uint32_t stretch, const struct cpu_state *rival)
{
	uint64_t ns = graph_part_ns(b, stretch, rival->begin_ns, rival->end_ns);

	if (!ns)
		return;
	if (rival->thread)
		add_rival_thread(b, node, stretch, rival, ns);
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

void graph_add_rivals(struct graph_builder *b, size_t node, uint32_t stretch, const struct state *state,
		      uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t rest_ns = graph_part_ns(b, stretch, begin_ns, end_ns);
	struct cpu_state piece, rival = { .begin_ns = begin_ns, .end_ns = begin_ns };
	struct cpu_walk walk;
	uint32_t cpu;

	if (!find_cpu(b, b->stretches[stretch].thread, state, &cpu))
		goto add_rest;
	states_walk_cpu(b->states, cpu, begin_ns, end_ns, &walk);
	while (cpu_walk_next(&walk, &piece)) {
		rest_ns -= graph_part_ns(b, stretch, piece.begin_ns, piece.end_ns);
		if (goes_on(&rival, &piece)) {
			rival.end_ns = piece.end_ns;
			continue;
		}
		add_rival(b, node, stretch, &rival);
		rival = piece;
	}
	add_rival(b, node, stretch, &rival);

add_rest:
	if (rest_ns)
		graph_add(b, node, GRAPH_UNKNOWN, 0, NULL, rest_ns);
}

void graph_add_running(struct graph_builder *b, size_t node, uint32_t stretch, const struct state *state,
		       uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t own_ns = graph_part_ns(b, stretch, begin_ns, end_ns);
	size_t count;
	struct interruption *parts =
		interruptions_of(states_activities(b->states), state->cpu, begin_ns, end_ns, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t ns = graph_part_ns(b, stretch, parts[i].begin_ns, parts[i].end_ns);

		if (ns)
			graph_add(b, node, parts[i].kind == ACTIVITY_INTERRUPT ? GRAPH_INTERRUPTED : GRAPH_SOFTIRQ,
				  parts[i].number, NULL, ns);
		own_ns -= ns;
	}
	free(parts);
	if (own_ns)
		graph_add(b, node, state->kind == STATE_SPINNING ? GRAPH_SPINNING : GRAPH_RUNNING, 0, NULL, own_ns);
}

static bool is_below_disk(const struct graph_builder *b, uint32_t stretch)
{
	for (; stretch != NO_STRETCH; stretch = b->stretches[stretch].above)
		if (b->stretches[stretch].has_disk)
			return true;
	return false;
}

static void add_disk_use(struct graph_builder *b, size_t node, uint32_t stretch, const struct disk_use *use,
			 uint64_t ns)
{
	if (!ns)
		return;
	if (use->thread)
		graph_add_thread(b, node,
				 &(struct stretch){
					 .begin_ns = use->begin_ns,
					 .end_ns = use->end_ns,
					 .ns = ns,
					 .thread = use->thread,
					 .above = stretch,
					 .has_disk = true,
				 });
	else
		graph_add(b, node, GRAPH_OTHER, use->tid, NULL, ns);
}

void graph_add_disk_users(struct graph_builder *b, size_t node, uint32_t stretch, uint64_t begin_ns, uint64_t end_ns)
{
	struct activities *activities = states_activities(b->states);
	uint64_t idle_ns, at_ns = begin_ns;
	struct disk_use *uses;
	size_t count;

	if (is_below_disk(b, stretch)) {
		b->graph->nodes[node].is_cycle = true;
		return;
	}
	uses = disk_uses_of(activities, begin_ns, end_ns, &count, &idle_ns);
	/* One behind the other, their parts are as long as the wait. */
	for (size_t i = 0; i < count; i++) {
		add_disk_use(b, node, stretch, &uses[i], graph_part_ns(b, stretch, at_ns, at_ns + uses[i].ns));
		at_ns += uses[i].ns;
	}
	idle_ns = graph_part_ns(b, stretch, at_ns, end_ns);
	if (idle_ns && activities_are_recorded(activities))
		graph_add(b, node, GRAPH_DISK_IDLE, 0, NULL, idle_ns);
	free(uses);
}
