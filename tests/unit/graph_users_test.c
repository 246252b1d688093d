/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What those did whose requests disks had while a thread waited for one, against tables with a row for each nanosecond. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "graph/graph.h"
#include "session/session.h"
#include "session/threads.h"
#include "state_stage.h"
#include "states/activity.h"
#include "states/states.h"
#include "values.h"

enum { SEEDS = 300, BEGIN = 1000, LENGTH = 12000, THREADS = 4, ISSUERS = 6, REQUESTS_MAX = 400, NS_MAX = 600 };
enum { SYSCALL_READ = 0, SYSCALL_NANOSLEEP = 35 };

/* What a thread does; a thread that was woken is READY for a nanosecond. */
enum doing { RUNS, READS, SLEEPS, READY, DOINGS };

static struct {
	uint32_t seed, random;
	struct activity_log *log;
	struct state_stage stage;
	enum doing doing[THREADS + 1][LENGTH];
	int requests[ISSUERS + 1][LENGTH]; /* under way; those above THREADS are of no thread */
	uint32_t issuers[REQUESTS_MAX];
	size_t ends[REQUESTS_MAX];
	size_t request_count;
} w;

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

static void emit_state(uint32_t number, size_t at, struct state_change change)
{
	change.thread = threads_get(w.stage.threads, number);
	change.time_ns = BEGIN + at;
	w.stage.listener->on_change(w.stage.listener->data, &change);
}

static void begin_doing(uint32_t number, size_t at, enum doing doing)
{
	struct ev_sched_switch out = {
		.state = SWITCH_SLEEPING,
		.syscall = doing == READS ? SYSCALL_READ : SYSCALL_NANOSLEEP,
	};
	struct ev_sched_wake wake = { .context = WAKE_HARDIRQ, .syscall = SYSCALL_NONE };

	if (doing == RUNS)
		emit_state(number, at, (struct state_change){ .phase = PHASE_RUNNING, .cpu = number });
	else if (doing == READY)
		emit_state(number, at, (struct state_change){ .phase = PHASE_RUNNABLE, .wake = &wake });
	else
		emit_state(number, at, (struct state_change){ .phase = PHASE_BLOCKED, .out = &out });
}

static void go_on(uint32_t number, size_t at)
{
	enum doing before = at ? w.doing[number][at - 1] : READY, now = before;

	if (before == READY)
		now = RUNS;
	else if (!pick(200))
		now = before == RUNS ? READS + pick(2) : READY;
	w.doing[number][at] = now;
	if (!at || now != before)
		begin_doing(number, at, now);
}

static struct ev_header header_of(enum event_id id, size_t at, uint32_t thread)
{
	return (struct ev_header){
		.subsys = id >> 16,
		.event = id & 0xffff,
		.time_ns = BEGIN + at,
		.thread = thread,
	};
}

static void begin_request(size_t at)
{
	uint32_t issuer = 1 + pick(ISSUERS);
	size_t end = at + 1 + pick(NS_MAX), number = w.request_count++;
	struct ev_system_block_issue issue = {
		.header = header_of(EV_SYSTEM_BLOCK_ISSUE, at, issuer <= THREADS ? issuer : 0),
		.request = 1 + number,
		.tid = 50 + issuer,
		.bytes = 4096,
	};

	w.issuers[number] = issuer;
	w.ends[number] = end < LENGTH ? end : LENGTH;
	session_hand_out(w.stage.session, &issue.header);
	for (size_t i = at; i < w.ends[number]; i++)
		w.requests[issuer][i]++;
}

static void end_requests(size_t at)
{
	for (size_t i = 0; i < w.request_count; i++) {
		struct ev_system_block_complete complete = {
			.header = header_of(EV_SYSTEM_BLOCK_COMPLETE, at, 0),
			.request = 1 + i,
			.bytes = 4096,
			.is_last = 1,
		};

		if (w.ends[i] == at)
			session_hand_out(w.stage.session, &complete.header);
	}
}

static void play(uint32_t seed)
{
	memset(&w, 0, sizeof(w));
	w.seed = w.random = seed;
	state_stage_open(&w.stage);
	w.log = activity_log_new(w.stage.session, w.stage.writer);
	for (size_t at = 0; at < LENGTH; at++) {
		end_requests(at);
		for (uint32_t number = 1; number <= THREADS; number++)
			go_on(number, at);
		if (!pick(150) && w.request_count < REQUESTS_MAX)
			begin_request(at);
	}
	activity_log_finish(w.log, BEGIN + LENGTH);
	state_stage_finish(&w.stage, BEGIN + LENGTH);
}

static void end(void)
{
	activity_log_free(w.log);
	state_stage_close(&w.stage);
}

/* --- The same, naively ------------------------------------------------------------------------ */

static double expected[ISSUERS + 1][DOINGS], expected_all[ISSUERS + 1];
static unsigned int pieces;

static int all_requests(size_t at)
{
	int all = 0;

	for (uint32_t i = 1; i <= ISSUERS; i++)
		all += w.requests[i][at];
	return all;
}

/* The issuer has requests from begin to end, within one wait. */
static void note_use(uint32_t issuer, size_t begin, size_t end)
{
	size_t length[DOINGS] = { 0 };
	double share = 0;

	for (size_t at = begin; at < end; at++) {
		share += (double)w.requests[issuer][at] / all_requests(at);
		if (issuer <= THREADS)
			length[w.doing[issuer][at]]++;
		pieces += at > begin && (all_requests(at) != all_requests(at - 1) ||
					 (issuer <= THREADS && w.doing[issuer][at] != w.doing[issuer][at - 1]));
	}
	pieces++;
	expected_all[issuer] += share;
	for (enum doing doing = 0; doing < DOINGS; doing++)
		expected[issuer][doing] += share * length[doing] / (end - begin);
}

/* A wait that goes on at the end is for nobody knows what. */
static size_t ended_until(uint32_t waiter)
{
	size_t until = LENGTH;

	while (until && w.doing[waiter][until - 1] == READS)
		until--;
	return until;
}

static void note_all(uint32_t waiter)
{
	size_t until = ended_until(waiter);

	memset(expected, 0, sizeof(expected));
	memset(expected_all, 0, sizeof(expected_all));
	pieces = 0;
	for (uint32_t issuer = 1; issuer <= ISSUERS; issuer++)
		for (size_t at = 0, next; at < until; at = next) {
			next = at + 1;
			if (w.doing[waiter][at] != READS || !w.requests[issuer][at])
				continue;
			while (next < LENGTH && w.doing[waiter][next] == READS && w.requests[issuer][next])
				next++;
			note_use(issuer, at, next);
		}
}

/* --- Comparison ------------------------------------------------------------------------------- */

static void check_near(const char *what, uint32_t issuer, uint64_t ns, double expected_ns)
{
	if (fabs(ns - expected_ns) > 2 * pieces + 2)
		fail_msg("seed %u: %s of %u: %llu, not %g", w.seed, what, issuer, (unsigned long long)ns, expected_ns);
}

static size_t find(const struct graph *graph, size_t parent, enum graph_kind kind, uint32_t id)
{
	if (parent == SIZE_MAX)
		return SIZE_MAX;
	for (size_t i = graph->nodes[parent].first; i != SIZE_MAX; i = graph->nodes[i].next)
		if (graph->nodes[i].kind == kind &&
		    (kind == GRAPH_WAIT ? graph->nodes[i].wait.syscall : graph->nodes[i].id) == id)
			return i;
	return SIZE_MAX;
}

static uint64_t ns_of(const struct graph *graph, size_t at)
{
	return at == SIZE_MAX ? 0 : graph->nodes[at].ns;
}

static void check_user(const struct graph *graph, size_t disk, uint32_t issuer, uint32_t waiter)
{
	bool is_thread = issuer <= THREADS;
	size_t user = find(graph, disk, is_thread ? GRAPH_THREAD : GRAPH_OTHER, is_thread ? issuer : 50 + issuer), read;

	check_near("all", issuer, ns_of(graph, user), expected_all[issuer]);
	if (!is_thread || user == SIZE_MAX)
		return;
	if (issuer == waiter) {
		CHECK(graph->nodes[user].is_cycle && graph->nodes[user].first == SIZE_MAX);
		return;
	}
	read = find(graph, user, GRAPH_WAIT, SYSCALL_READ);
	check_near("running", issuer, ns_of(graph, find(graph, user, GRAPH_RUNNING, 0)), expected[issuer][RUNS]);
	check_near("sleeping", issuer, ns_of(graph, find(graph, user, GRAPH_WAIT, SYSCALL_NANOSLEEP)),
		   expected[issuer][SLEEPS]);
	check_near("reading", issuer, ns_of(graph, read), expected[issuer][READS]);
	/* All who use the disk then are above. */
	if (read != SIZE_MAX && find(graph, read, GRAPH_DISK, 0) != SIZE_MAX)
		CHECK(graph->nodes[find(graph, read, GRAPH_DISK, 0)].is_cycle);
}

static void check_sums(const struct graph *graph)
{
	for (size_t i = 0; i < graph->count; i++) {
		uint64_t sum_ns = 0;

		for (size_t child = graph->nodes[i].first; child != SIZE_MAX; child = graph->nodes[child].next)
			sum_ns += graph->nodes[child].ns;
		if (graph->nodes[i].first != SIZE_MAX && sum_ns != graph->nodes[i].ns)
			fail_msg("seed %u: node %zu is not the sum of its parts", w.seed, i);
	}
}

TEST(below_a_disk_is_what_those_did_whose_requests_it_had)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		uint32_t waiter = 1 + seed % THREADS;
		struct graph graph;
		size_t disk;

		play(seed);
		note_all(waiter);
		graph_of_threads(w.stage.states, &waiter, 1, &(struct graph_options){ .to_ns = UINT64_MAX }, &graph);
		check_sums(&graph);
		disk = find(&graph, find(&graph, 0, GRAPH_WAIT, SYSCALL_READ), GRAPH_DISK, 0);
		for (uint32_t issuer = 1; issuer <= ISSUERS; issuer++)
			check_user(&graph, disk, issuer, waiter);
		graph_fini(&graph);
		end();
	}
}
