/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a state of a thread adds below its node: the paper's Algorithm 1. */
#include "graph/graph_internal.h"
#include "graph/wait_end.h"
#include "values.h"

/* Who is above waits all that time: to look at him again would lead nowhere. */
static bool is_above(const struct graph_builder *b, uint32_t stretch, uint32_t thread)
{
	for (; stretch != NO_STRETCH; stretch = b->stretches[stretch].above)
		if (b->stretches[stretch].thread == thread)
			return true;
	return false;
}

static void add_wait(struct graph_builder *b, size_t node, uint32_t stretch, const struct state *state,
		     uint64_t begin_ns, uint64_t end_ns)
{
	struct graph_wait wait = graph_wait_of(b->stretches[stretch].thread, state);
	enum graph_kind kind = wait_end_kind(&state->ended);
	uint32_t id = 0;
	size_t at;

	node = graph_add(b, node, GRAPH_WAIT, 0, &wait, end_ns - begin_ns);
	if (kind == GRAPH_THREAD)
		id = state->ended.thread;
	else if (kind == GRAPH_OTHER)
		id = state->ended.tid;
	at = graph_add(b, node, kind, id, NULL, end_ns - begin_ns);
	if (kind == GRAPH_DISK && at != node)
		graph_add_disk_users(b, at, begin_ns, end_ns);
	if (kind != GRAPH_THREAD || at == node)
		return;
	if (is_above(b, stretch, id))
		b->graph->nodes[at].is_cycle = true;
	else
		graph_add_stretch(b, at, id, stretch, begin_ns, end_ns);
}

void graph_add_state(struct graph_builder *b, size_t node, uint32_t stretch, const struct state *state,
		     uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t ns = end_ns - begin_ns;

	switch (state->kind) {
	case STATE_RUNNING:
	case STATE_SPINNING:
		graph_add_running(b, node, state, begin_ns, end_ns);
		break;
	case STATE_RUNNABLE:
		if (state->value.why == READY_THROTTLED) {
			graph_add(b, node, GRAPH_CPU_LIMIT, 0, NULL, ns);
			break;
		}
		node = graph_add(b, node, GRAPH_CPU, 0, NULL, ns);
		graph_add_rivals(b, node, b->stretches[stretch].thread, state, begin_ns, end_ns);
		break;
	case STATE_BLOCKED:
		add_wait(b, node, stretch, state, begin_ns, end_ns);
		break;
	case STATE_UNKNOWN:
		graph_add(b, node, GRAPH_UNKNOWN, 0, NULL, ns);
		break;
	}
}
