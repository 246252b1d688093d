/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spin/spin_graph.h"

#include <string.h>

enum { HASH_SIZE = 512 };

struct exploration {
	struct spin_graph *graph;
	struct spin_decoder *decoder;
	const struct spin_code *code;
	int16_t by_address[HASH_SIZE]; /* open addressing; 0: free, else the step's number + 1 */
};

/*
 * The number of the step at an address, decoded if it was not seen before; -1: there is none, or
 * SPIN_UNEXPLORED.
 */
static int step_at(struct exploration *exploration, uint64_t address, int before)
{
	const struct spin_code *code = exploration->code;
	struct spin_graph *graph = exploration->graph;
	uint64_t offset = address - code->address;
	size_t slot = address * 0x9e3779b97f4a7c15 >> 32 & (HASH_SIZE - 1);

	for (; exploration->by_address[slot]; slot = (slot + 1) & (HASH_SIZE - 1))
		if (graph->steps[exploration->by_address[slot] - 1].address == address)
			return exploration->by_address[slot] - 1;
	if (offset >= code->size)
		return -1;
	if (graph->count == SPIN_STEPS_MAX)
		return SPIN_UNEXPLORED;
	if (!spin_decode(exploration->decoder, code->bytes + offset, code->size - offset, address,
			 &graph->steps[graph->count]))
		return -1;
	graph->behind[graph->count] = graph->target[graph->count] = -1;
	graph->before[graph->count] = before;
	exploration->by_address[slot] = ++graph->count;
	return graph->count - 1;
}

bool spin_graph_explore(struct spin_graph *graph, struct spin_decoder *decoder, const struct spin_code *code,
			uint64_t ip)
{
	struct exploration exploration = { .graph = graph, .decoder = decoder, .code = code };

	graph->count = 0;
	if (step_at(&exploration, ip, -1) < 0)
		return false;
	/* Steps are numbered as they are seen, so this is breadth first. */
	for (size_t i = 0; i < graph->count; i++) {
		const struct spin_step *step = &graph->steps[i];

		if (step->control == SPIN_NEXT || step->control == SPIN_BRANCH)
			graph->behind[i] = step_at(&exploration, step->address + step->size, i);
		if (step->control == SPIN_JUMP || step->control == SPIN_BRANCH)
			graph->target[i] = step_at(&exploration, step->target, i);
	}
	return true;
}

/* The steps of within that lead to one of a set; the set itself is not looked through. */
static spin_set leading_to(const struct spin_graph *graph, spin_set within, const uint8_t *ways, spin_set reached)
{
	spin_set left = within & ~reached, before;

	do {
		before = reached;
		/* Most steps lead to the one behind, which has the higher number. */
		for (spin_set rest = left; rest;) {
			int i = (uint64_t)(rest >> 64) ? 127 - __builtin_clzll(rest >> 64) : 63 - __builtin_clzll(rest);

			rest &= ~SPIN_BIT(i);
			if (spin_graph_next(graph, i, ways ? ways[i] : 3) & reached)
				reached |= SPIN_BIT(i);
		}
		left &= ~reached;
	} while (reached != before);
	return reached;
}

static spin_set reached_from(const struct spin_graph *graph, spin_set within, const uint8_t *ways, spin_set from)
{
	spin_set reached = 0;

	for (spin_set todo = from; todo;) {
		int i = spin_set_first(todo);
		spin_set next = spin_graph_next(graph, i, ways ? ways[i] : 3) & within & ~reached;

		todo &= ~SPIN_BIT(i);
		reached |= next;
		todo |= next;
	}
	return reached;
}

spin_set spin_graph_cycle(const struct spin_graph *graph, spin_set within, const uint8_t ways[SPIN_STEPS_MAX], int step)
{
	spin_set reached;

	if (!(within & SPIN_BIT(step)))
		return 0;
	reached = reached_from(graph, within, ways, SPIN_BIT(step));
	if (!(reached & SPIN_BIT(step)))
		return 0;
	return reached & leading_to(graph, within, ways, SPIN_BIT(step));
}

int spin_graph_head(const struct spin_graph *graph, spin_set cycle)
{
	int head = spin_set_first(cycle);

	for (spin_set rest = cycle; rest; rest &= rest - 1) {
		int i = spin_set_first(rest);

		if (graph->steps[i].address < graph->steps[head].address)
			head = i;
	}
	return head;
}

spin_set spin_graph_shortest(const struct spin_graph *graph)
{
	spin_set steps = 0;
	int last = -1;

	for (size_t i = 0; i < graph->count && last < 0; i++)
		if (!graph->behind[i] || !graph->target[i])
			last = i;
	for (; last >= 0; last = graph->before[last])
		steps |= SPIN_BIT(last);
	return steps;
}

/* Adds the loop of the jump from step back to head, after those that are no larger. */
static size_t add_loop(const struct spin_graph *graph, spin_set cycle, int step, int head, struct spin_body *loops,
		       size_t count)
{
	struct spin_body loop = { .steps = SPIN_BIT(head), .head = head };
	size_t i;

	if (step != head)
		loop.steps |= leading_to(graph, cycle & ~SPIN_BIT(head), NULL, SPIN_BIT(step));
	for (i = 0; i < count; i++)
		if (loops[i].steps == loop.steps)
			return count;
	if (count == SPIN_LOOPS_MAX)
		return count;
	for (i = count; i && spin_set_count(loops[i - 1].steps) > spin_set_count(loop.steps); i--)
		loops[i] = loops[i - 1];
	loops[i] = loop;
	return count + 1;
}

size_t spin_graph_loops(const struct spin_graph *graph, spin_set cycle, struct spin_body loops[SPIN_LOOPS_MAX])
{
	size_t count = 0;

	for (spin_set rest = cycle; rest; rest &= rest - 1) {
		int i = spin_set_first(rest);

		for (spin_set heads = spin_graph_next(graph, i, 3) & cycle; heads; heads &= heads - 1) {
			int head = spin_set_first(heads);

			if (graph->steps[head].address <= graph->steps[i].address)
				count = add_loop(graph, cycle, i, head, loops, count);
		}
	}
	return count;
}
