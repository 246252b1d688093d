/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for a disk, and whose requests that had meanwhile: random ones, whose parts add up. */
#include "test.h"

#include <stdbool.h>
#include <string.h>

#include "graph/graph.h"
#include "session/session.h"
#include "session/threads.h"
#include "state_stage.h"
#include "states/activity.h"
#include "states/states.h"
#include "values.h"

enum { SEEDS = 1000, WAITS_MAX = 12, PERIOD = 1000, BEGIN = 100000, GREP = 77, SYSCALL_READ = 0 };

static struct {
	uint32_t random;
	struct activity_log *activities_log;
	struct state_stage stage;
	uint64_t waited_ns, grep_ns;
} w;

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

static void emit_state(uint64_t time_ns, struct state_change change)
{
	const struct state_listener *listener = w.stage.listener;

	change.thread = threads_get(w.stage.threads, 1);
	change.time_ns = time_ns;
	listener->on_change(listener->data, &change);
}

static struct ev_header header_of(enum event_id id, uint64_t time_ns)
{
	return (struct ev_header){ .subsys = id >> 16, .event = id & 0xffff, .time_ns = time_ns };
}

static void emit_request(uint64_t number, uint64_t begin_ns, uint64_t end_ns)
{
	struct ev_system_block_issue issue = {
		.header = header_of(EV_SYSTEM_BLOCK_ISSUE, begin_ns),
		.request = number,
		.tid = GREP,
		.bytes = 4096,
	};
	struct ev_system_block_complete complete = {
		.header = header_of(EV_SYSTEM_BLOCK_COMPLETE, end_ns),
		.request = number,
		.bytes = 4096,
		.is_last = 1,
	};

	session_hand_out(w.stage.session, &issue.header);
	session_hand_out(w.stage.session, &complete.header);
}

/* Half of the waits have a request of somebody else in them, the others have none. */
static void wait_once(uint64_t number, bool has_system)
{
	struct ev_sched_switch out = { .state = SWITCH_SLEEPING, .syscall = SYSCALL_READ };
	struct ev_sched_wake wake = { .context = WAKE_HARDIRQ, .syscall = SYSCALL_NONE };
	uint64_t begin_ns = BEGIN + number * PERIOD, end_ns = begin_ns + 200 + pick(500);

	emit_state(begin_ns - 100, (struct state_change){ .phase = PHASE_RUNNING });
	emit_state(begin_ns, (struct state_change){ .phase = PHASE_BLOCKED, .out = &out });
	if (has_system && pick(2)) {
		uint64_t from_ns = begin_ns + pick(100), ns = 1 + pick(100);

		emit_request(number + 1, from_ns, from_ns + ns);
		w.grep_ns += ns;
	}
	emit_state(end_ns, (struct state_change){ .phase = PHASE_RUNNABLE, .wake = &wake });
	w.waited_ns += end_ns - begin_ns;
}

/* has_system: the trace has requests, one of them before all waits. */
static struct states *play(uint32_t seed, bool has_system)
{
	uint64_t count;

	memset(&w, 0, sizeof(w));
	w.random = seed;
	state_stage_open(&w.stage);
	w.activities_log = activity_log_new(w.stage.session, w.stage.writer);
	if (has_system)
		emit_request(WAITS_MAX + 1, BEGIN / 2, BEGIN / 2 + 10);
	count = 1 + pick(WAITS_MAX);
	for (uint64_t i = 0; i < count; i++)
		wait_once(i, has_system);
	activity_log_finish(w.activities_log, BEGIN + WAITS_MAX * PERIOD);
	state_stage_finish(&w.stage, BEGIN + WAITS_MAX * PERIOD);
	return w.stage.states;
}

static void end(void)
{
	activity_log_free(w.activities_log);
	state_stage_close(&w.stage);
}

static uint64_t sum_ns(const struct graph *graph, enum graph_kind kind, enum graph_kind parent)
{
	uint64_t ns = 0;

	for (size_t i = 1; i < graph->count; i++)
		if (graph->nodes[i].kind == kind && graph->nodes[graph->nodes[i].parent].kind == parent)
			ns += graph->nodes[i].ns;
	return ns;
}

static void check(uint32_t seed, bool has_system)
{
	struct states *states = play(seed, has_system);
	uint64_t idle_ns = has_system ? w.waited_ns - w.grep_ns : 0;
	struct graph graph;

	graph_of_threads(states, &(uint32_t){ 1 }, 1,
			 &(struct graph_options){
				 .from_ns = 0,
				 .to_ns = UINT64_MAX,
			 },
			 &graph);
	CHECK_EQUAL(sum_ns(&graph, GRAPH_DISK, GRAPH_WAIT), w.waited_ns);
	CHECK_EQUAL(sum_ns(&graph, GRAPH_OTHER, GRAPH_DISK), w.grep_ns);
	CHECK_EQUAL(sum_ns(&graph, GRAPH_DISK_IDLE, GRAPH_DISK), idle_ns);
	graph_fini(&graph);
	end();
}

TEST(below_a_disk_is_who_had_it_and_the_time_in_which_nobody_had)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++)
		check(seed, true);
}

TEST(nothing_is_below_a_disk_when_nobody_has_reported_requests)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++)
		check(seed, false);
}
