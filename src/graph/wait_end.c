/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/wait_end.h"

enum graph_kind wait_end_kind(const struct state_value *ended)
{
	if (ended->why != READY_WOKEN)
		return GRAPH_UNKNOWN;
	switch (ended->how) {
	case WAKER_EXIT:
	case WAKER_THREAD:
		return ended->thread ? GRAPH_THREAD : GRAPH_UNKNOWN;
	case WAKER_SIGNAL:
		return ended->thread ? GRAPH_THREAD : GRAPH_SIGNAL;
	case WAKER_PROCESS:
	case WAKER_KERNEL:
		return ended->thread ? GRAPH_THREAD : GRAPH_OTHER;
	case WAKER_TIMER:
		return GRAPH_TIMER;
	case WAKER_DISK:
		return GRAPH_DISK;
	case WAKER_NETWORK:
		return GRAPH_NETWORK;
	case WAKER_INTERRUPT:
		return GRAPH_INTERRUPT;
	}
	return GRAPH_UNKNOWN;
}

struct graph_wait graph_wait_of(uint32_t thread, const struct state *state)
{
	return (struct graph_wait){
		.object = state->value.object,
		.stack = state->value.stack,
		.thread = thread,
		.time_ns = state->begin_ns,
		.syscall = state->value.syscall,
		.operation = state->value.operation,
		.cause = state->value.why,
		.state = state->value.how,
	};
}
