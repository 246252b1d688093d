/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph_print.h"

#include <stdio.h>

#include "graph/critical_path.h"
#include "graph/graph.h"
#include "graph/graph_label.h"
#include "session/external_threads.h"
#include "session/syscalls.h"
#include "states/state_block.h"
#include "states/states.h"

static void print_thread(uint32_t number)
{
	printf("thread %s%u", thread_is_external(number) ? "o" : "", number & ~THREAD_EXTERNAL);
}

static void print_times(uint64_t begin_ns, uint64_t end_ns)
{
	printf("  %llu to %llu: ", (unsigned long long)begin_ns, (unsigned long long)end_ns);
}

static void print_number(const char *name, uint64_t number)
{
	if (number)
		printf(" %s %llu", name, (unsigned long long)number);
}

/* --- States ---------------------------------------------------------------------------------- */

static void print_wait(uint8_t cause, uint16_t syscall, uint64_t object, uint64_t stack)
{
	const char *name = syscall_name(syscall);

	printf("%s", wait_cause_name(cause));
	if (syscall == SYSCALL_NONE)
		printf(" in no call");
	else
		printf(" in %s", name ? name : "?");
	print_number("object", object);
	print_number("stack", stack);
}

/* Who or what made a thread runnable, or kept it so. */
static void print_ready(const struct state_value *value)
{
	static const char *const words[] = { "unknown", "born", "woken", "preempted", "throttled" };

	if (value->why != READY_WOKEN) {
		printf("%s", words[value->why]);
		return;
	}
	printf("by %s", waker_kind_name(value->how));
	if (value->thread) {
		printf(" of ");
		print_thread(value->thread);
	}
	print_number("tid", value->tid);
}

static void print_state(const struct state *state)
{
	print_times(state->begin_ns, state->end_ns);
	switch (state->kind) {
	case STATE_UNKNOWN:
		printf("unknown");
		break;
	case STATE_RUNNING:
	case STATE_SPINNING:
		printf("%s on ", state->kind == STATE_RUNNING ? "running" : "spinning");
		if (state->cpu < CPUS_MAX)
			printf("cpu %u", state->cpu);
		else
			printf("some cpu");
		break;
	case STATE_RUNNABLE:
		printf("runnable, ");
		print_ready(&state->value);
		break;
	case STATE_BLOCKED:
		printf("blocked, ");
		print_wait(state->value.why, state->value.syscall, state->value.object, state->value.stack);
		printf(", ended ");
		print_ready(&state->ended);
		break;
	}
	printf("\n");
}

void print_states(struct states *states, const struct question *question)
{
	struct state_walk walk;
	struct state state;

	states_walk(states, question->who, question->from_ns, question->to_ns, &walk);
	while (state_walk_next(&walk, &state))
		print_state(&state);
}

void print_cpu(struct states *states, const struct question *question)
{
	struct cpu_state piece;
	struct cpu_walk walk;

	states_walk_cpu(states, question->who, question->from_ns, question->to_ns, &walk);
	while (cpu_walk_next(&walk, &piece)) {
		print_times(piece.begin_ns, piece.end_ns);
		if (piece.thread)
			print_thread(piece.thread);
		else if (piece.tid)
			printf("tid %u", piece.tid);
		else
			printf("nobody");
		printf("\n");
	}
}

void print_shares(struct states *states, const struct question *question)
{
	static const char *const words[] = { "unknown", "running", "spinning", "runnable" };
	uint64_t ns[SHARES] = { 0 };

	states_add_shares(states, question->who, question->from_ns, question->to_ns, ns);
	for (unsigned int i = 0; i < SHARES; i++) {
		if (!ns[i])
			continue;
		if (i < SHARE_BLOCKED)
			printf("  %s", words[i]);
		else
			printf("  blocked, %s", wait_cause_name(i - SHARE_BLOCKED));
		printf(": %llu\n", (unsigned long long)ns[i]);
	}
}

/* --- Graphs and paths ------------------------------------------------------------------------ */

static void print_kind(enum graph_kind kind, uint32_t id, const struct graph_wait *wait)
{
	switch (kind) {
	case GRAPH_THREAD:
		print_thread(id);
		break;
	case GRAPH_OTHER:
		printf("tid %u", id);
		break;
	case GRAPH_WAIT:
		print_wait(wait->cause, wait->syscall, wait->object, wait->stack);
		break;
	case GRAPH_INTERRUPTED:
	case GRAPH_SOFTIRQ:
		printf("%s %u", graph_kind_name(kind), id);
		break;
	default:
		printf("%s", graph_kind_name(kind));
	}
}

static void print_node(const struct graph *graph, size_t at, int indent)
{
	const struct graph_node *node = &graph->nodes[at];

	printf("%*s", indent, "");
	print_kind(node->kind, node->id, &node->wait);
	printf(": %llu", (unsigned long long)node->ns);
	if (node->count > 1)
		printf(", %llu times, at most %llu", (unsigned long long)node->count, (unsigned long long)node->max_ns);
	printf("%s%s\n", node->is_cycle ? ", above" : "", node->is_cut ? ", cut" : "");
	for (size_t i = node->first; i != SIZE_MAX; i = graph->nodes[i].next)
		print_node(graph, i, indent + 2);
}

void print_graph(struct states *states, const struct question *question)
{
	struct graph_options options = {
		.from_ns = question->from_ns,
		.to_ns = question->to_ns,
		.depth_max = question->depth_max,
	};
	struct graph graph;

	graph_of_threads(states, &question->who, 1, &options, &graph);
	print_node(&graph, 0, 2);
	graph_fini(&graph);
}

static void print_part(const struct path_part *part)
{
	print_times(part->begin_ns, part->end_ns);
	printf("%*s", 2 * part->depth, "");
	print_thread(part->thread);
	printf(" ");
	if (part->wait.time_ns) {
		printf("blocked, ");
		print_wait(part->wait.cause, part->wait.syscall, part->wait.object, part->wait.stack);
		printf(", ended by ");
	}
	/* It waits for who waits for it. */
	if (part->kind == GRAPH_THREAD)
		printf("who is above");
	else
		print_kind(part->kind, part->other, NULL);
	printf("\n");
}

void print_path(struct states *states, const struct question *question)
{
	struct critical_path path;

	critical_path_of(states, question->who, question->from_ns, question->to_ns, &path);
	for (size_t i = 0; i < path.count; i++)
		print_part(&path.parts[i]);
	critical_path_fini(&path);
}
