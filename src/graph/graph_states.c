/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a state of a thread adds below its node: the paper's Algorithm 1. */
#include "graph/graph_internal.h"
#include "graph/wait_end.h"
#include "values.h"

static void add_wait(struct graph_builder *b, size_t node, uint32_t stretch, const struct state *state,
		     uint64_t begin_ns, uint64_t end_ns)
{
	struct graph_wait wait = graph_wait_of(b->stretches[stretch].thread, state);
	uint64_t ns = graph_part_ns(b, stretch, begin_ns, end_ns);
	enum graph_kind kind = wait_end_kind(&state->ended);
	size_t at;

	node = graph_add(b, node, GRAPH_WAIT, 0, &wait, ns);
	if (kind == GRAPH_THREAD) {
		graph_add_thread(b, node,
				 &(struct stretch){
					 .begin_ns = begin_ns,
					 .end_ns = end_ns,
					 .ns = ns,
					 .thread = state->ended.thread,
					 .above = stretch,
				 });
		return;
	}
	at = graph_add(b, node, kind, kind == GRAPH_OTHER ? state->ended.tid : 0, NULL, ns);
	if (kind == GRAPH_DISK && at != node)
		graph_add_disk_users(b, at, stretch, begin_ns, end_ns);
}

void graph_add_state(struct graph_builder *b, size_t node, uint32_t stretch, const struct state *state,
		     uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t ns = graph_part_ns(b, stretch, begin_ns, end_ns);

	/* A part that counts for less than a nanosecond. */
	if (!ns)
		return;
	switch (state->kind) {
	case STATE_RUNNING:
	case STATE_SPINNING:
		graph_add_running(b, node, stretch, state, begin_ns, end_ns);
		break;
	case STATE_RUNNABLE:
		if (state->value.why == READY_THROTTLED) {
			graph_add(b, node, GRAPH_CPU_LIMIT, 0, NULL, ns);
			break;
		}
		node = graph_add(b, node, GRAPH_CPU, 0, NULL, ns);
		graph_add_rivals(b, node, stretch, state, begin_ns, end_ns);
		break;
	case STATE_BLOCKED:
		add_wait(b, node, stretch, state, begin_ns, end_ns);
		break;
	case STATE_UNKNOWN:
		graph_add(b, node, GRAPH_UNKNOWN, 0, NULL, ns);
		break;
	}
}
