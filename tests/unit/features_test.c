/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Features against lists: random lives of threads and random events, and what of them lies in random
 * executions, counted one by one.
 */
#include "test.h"

#include <string.h>
#include <sys/syscall.h>

#include "session/session.h"
#include "session/threads.h"
#include "spans/features.h"
#include "state_stage.h"
#include "states/states.h"
#include "values.h"

enum { ROUNDS = 1000, THREADS = 3, PARTS_MAX = 400, EXECUTIONS = 40, EVENTS = 300, FACTS = 7 };

static struct {
	uint32_t random;
	uint64_t now_ns, begin_ns;
	struct state_stage stage;
	struct part {
		uint64_t begin_ns, end_ns;
		unsigned int share;
	} parts[THREADS][PARTS_MAX];
	size_t part_count[THREADS];
	struct execution list[EXECUTIONS];
	struct features features[EXECUTIONS];
	struct execution_parts execution_parts; /* one for each */
	struct fact {
		uint64_t time_ns;
		uint32_t thread;
		struct features more;
	} facts[EVENTS];
} w;

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

/* --- Lives ------------------------------------------------------------------------------------ */

static void end_part(uint32_t i)
{
	if (w.part_count[i])
		w.parts[i][w.part_count[i] - 1].end_ns = w.now_ns;
}

static void change(uint32_t i, unsigned int share, struct state_change recorded)
{
	end_part(i);
	w.parts[i][w.part_count[i]++] = (struct part){ w.now_ns, 0, share };
	recorded.thread = threads_get(w.stage.threads, i + 1);
	recorded.time_ns = w.now_ns;
	w.stage.listener->on_change(w.stage.listener->data, &recorded);
}

static void step(void)
{
	static const uint16_t calls[] = { SYS_futex, SYS_nanosleep, SYS_wait4 };
	static const enum wait_cause causes[] = { CAUSE_LOCK, CAUSE_SLEEP, CAUSE_CHILD };
	struct ev_sched_wake wake = { .context = WAKE_HARDIRQ, .syscall = SYSCALL_NONE };
	struct ev_sched_switch out = { .state = SWITCH_RUNNABLE };
	uint32_t i = pick(THREADS), call = pick(3);
	unsigned int share = w.part_count[i] ? w.parts[i][w.part_count[i] - 1].share : SHARE_UNKNOWN;

	w.now_ns += 1 + pick(50);
	if (w.part_count[i] == PARTS_MAX) {
		return;
	} else if (share == SHARE_RUNNABLE) {
		change(i, SHARE_RUNNING, (struct state_change){ .phase = PHASE_RUNNING, .cpu = i });
	} else if (share != SHARE_RUNNING) {
		change(i, SHARE_RUNNABLE, (struct state_change){ .phase = PHASE_RUNNABLE, .wake = &wake });
	} else if (pick(3)) {
		out.state = SWITCH_SLEEPING;
		out.syscall = calls[call];
		out.operation = 0x80;
		change(i, SHARE_BLOCKED + causes[call], (struct state_change){ .phase = PHASE_BLOCKED, .out = &out });
	} else {
		change(i, SHARE_RUNNABLE, (struct state_change){ .phase = PHASE_RUNNABLE, .out = &out });
	}
}

static void live(void)
{
	state_stage_open(&w.stage);
	for (uint32_t n = 1 + pick(3 * PARTS_MAX); n > 0; n--)
		step();
	w.now_ns += 10;
	for (uint32_t i = 0; i < THREADS; i++)
		end_part(i);
	state_stage_finish(&w.stage, w.now_ns);
}

/* --- Executions and what happens in them ------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
	const struct execution *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static uint64_t moment(void)
{
	return w.begin_ns + pick(w.now_ns - w.begin_ns + 20);
}

static void choose_executions(void)
{
	for (size_t i = 0; i < EXECUTIONS; i++) {
		uint64_t a = moment(), b = moment();

		w.list[i] = (struct execution){
			.thread = 1 + pick(THREADS),
			.begin_ns = a < b ? a : b,
			.end_ns = a < b ? b : a,
		};
		w.list[i].begin_thread = w.list[i].thread;
	}
	qsort(w.list, EXECUTIONS, sizeof(*w.list), by_begin);
}

static int by_time(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static void hand_out(struct session *session, enum event_id id, struct fact *fact, void *event, uint32_t thread)
{
	struct ev_header *header = event;

	header->time_ns = fact->time_ns;
	header->thread = thread;
	header->subsys = id >> 16;
	header->event = id & 0xffff;
	session_hand_out(session, header);
}

static void emit_fact(struct session *session, struct fact *fact)
{
	struct ev_sched_switch out = {
		.state = SWITCH_SLEEPING,
		.syscall = SYS_read,
		.object = 1,
		.owners = { 1 + pick(5000) },
	};
	struct ev_sched_wake wake = { .waker = fact->thread, .context = WAKE_THREAD };
	struct ev_system_interrupt interrupt = { 0 };
	struct ev_system_softirq softirq = { 0 };
	struct ev_system_block_issue issue = { .bytes = 512 * (1 + pick(9)) };

	switch (pick(FACTS)) {
	case 0:
		fact->more = (struct features){ .io_count = 1, .io_bytes = out.owners[0] };
		hand_out(session, EV_SCHED_SWITCH, fact, &out, fact->thread);
		break;
	case 1:
		fact->more = (struct features){ .wakes = 1 };
		hand_out(session, EV_SCHED_WAKE, fact, &wake, 77);
		break;
	case 2:
		fact->more = (struct features){ .interrupts = 1 };
		hand_out(session, EV_SYSTEM_INTERRUPT, fact, &interrupt, fact->thread);
		break;
	case 3:
		fact->more = (struct features){ .softirqs = 1 };
		hand_out(session, EV_SYSTEM_SOFTIRQ, fact, &softirq, fact->thread);
		break;
	case 4:
		fact->more = (struct features){ .block_count = 1, .block_bytes = issue.bytes };
		hand_out(session, EV_SYSTEM_BLOCK_ISSUE, fact, &issue, fact->thread);
		break;
	case 5: /* Who is preempted reads nothing. */
		out.state = SWITCH_RUNNABLE;
		hand_out(session, EV_SCHED_SWITCH, fact, &out, fact->thread);
		break;
	default: /* An interrupt that comes into a thread wakes for itself. */
		wake.context = WAKE_HARDIRQ;
		hand_out(session, EV_SCHED_WAKE, fact, &wake, 77);
	}
}

static void happen(void)
{
	struct session *session = session_new(1, 1 << 20);
	struct feature_counts *counts = feature_counts_new(session, &w.execution_parts, w.features);

	for (size_t i = 0; i < EVENTS; i++)
		w.facts[i] = (struct fact){ .time_ns = moment(), .thread = pick(THREADS + 2) };
	qsort(w.facts, EVENTS, sizeof(*w.facts), by_time);
	for (size_t i = 0; i < EVENTS; i++)
		emit_fact(session, &w.facts[i]);
	feature_counts_free(counts);
	session_free(session);
}

/* --- Naively ---------------------------------------------------------------------------------- */

static struct features naive(const struct execution *execution)
{
	struct features sum = { .duration_ns = execution->end_ns - execution->begin_ns };
	uint32_t number = execution->thread - 1;

	for (size_t i = 0; i < w.part_count[number]; i++) {
		const struct part *part = &w.parts[number][i];

		for (uint64_t ns = part->begin_ns; ns < part->end_ns; ns++)
			sum.ns[part->share] += ns >= execution->begin_ns && ns < execution->end_ns;
		sum.count[part->share] += part->begin_ns < part->end_ns && part->begin_ns < execution->end_ns &&
					  part->end_ns > execution->begin_ns && execution->begin_ns < execution->end_ns;
	}
	for (size_t i = 0; i < EVENTS; i++) {
		const struct fact *fact = &w.facts[i];

		if (fact->thread != execution->thread || fact->time_ns < execution->begin_ns ||
		    fact->time_ns >= execution->end_ns)
			continue;
		sum.io_count += fact->more.io_count;
		sum.io_bytes += fact->more.io_bytes;
		sum.wakes += fact->more.wakes;
		sum.interrupts += fact->more.interrupts;
		sum.softirqs += fact->more.softirqs;
		sum.block_count += fact->more.block_count;
		sum.block_bytes += fact->more.block_bytes;
	}
	return sum;
}

static void check(void)
{
	for (size_t i = 0; i < EXECUTIONS; i++) {
		struct features expected = naive(&w.list[i]);
		uint64_t shares[SHARES] = { 0 };

		assert_memory_equal(&w.features[i], &expected, sizeof(expected));
		states_add_shares(w.stage.states, w.list[i].thread, w.list[i].begin_ns, w.list[i].end_ns, shares);
		assert_memory_equal(shares, expected.ns, sizeof(shares));
	}
}

static void end(void)
{
	state_stage_close(&w.stage);
}

TEST(random_executions_have_what_lists_have)
{
	for (uint32_t seed = 1; seed <= ROUNDS; seed++) {
		memset(&w, 0, sizeof(w));
		w.random = seed;
		w.now_ns = w.begin_ns = 1000000;
		live();
		choose_executions();
		for (size_t i = 0; i < EXECUTIONS; i++) {
			execution_parts_add(w.stage.states, &w.list[i], i, &w.execution_parts);
			CHECK_EQUAL(w.execution_parts.count, i + 1);
			features_of_execution(&w.list[i], &w.features[i]);
			features_of_states(w.stage.states, &w.execution_parts.list[i], &w.features[i]);
		}
		happen();
		check();
		free(w.execution_parts.list);
		end();
	}
}
