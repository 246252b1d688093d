/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes by thread: of many threads, what they tell of any columns is what the blocks tell, with lost records, waits whose cause came late
 * and threads that come and go; of few threads nothing is kept.
 */
#include "test.h"

#include <string.h>

#include "session/session.h"
#include "session/threads.h"
#include "state_columns.h"
#include "state_stage.h"
#include "states/state_log.h"
#include "states/states.h"
#include "states/thread_windows.h"
#include "states/thread_log.h"
#include "trace/trace_reader.h"
#include "values.h"

enum {
	MANY = THREAD_LOG_THREADS_MIN + 100,
	FEW = THREAD_LOG_THREADS_MIN / 2,
	CHANGES = 12 << 16, /* more than a window has */
	STEP_NS = 2000,
	LATE_STACK = 0x77,
	GAP_ONE_IN = 60000,
	END_ONE_IN = 500,
	LATE_ONE_IN = 3,
	ALL_SHIFT_MAX = 21, /* a model of all threads takes long: each unpacks all blocks anew */
};

static const uint64_t begin_ns = 1ull << 40;

static struct {
	struct state_stage stage;
	enum life { ENDED, RUNS, WAITS } lives[MANY];
	uint64_t now_ns, random;
} w;

static uint64_t pick(uint64_t below)
{
	w.random = w.random * 6364136223846793005ull + 1442695040888963407ull;
	return (w.random >> 33) % below;
}

static enum wait_cause cause_of(void *data, const struct thread *thread, uint64_t time_ns, uint64_t stack,
				const struct wait_facts *facts, enum wait_cause cause)
{
	(void)data, (void)thread, (void)time_ns, (void)facts;
	return stack == LATE_STACK ? CAUSE_BARRIER : cause;
}

static void tell(uint32_t number, struct state_change change)
{
	change.thread = threads_get(w.stage.threads, number);
	change.time_ns = w.now_ns;
	w.stage.listener->on_change(w.stage.listener->data, &change);
}

static void block(uint32_t number)
{
	struct ev_sched_switch out = { .state = SWITCH_SLEEPING, .syscall = 35 };

	tell(number, (struct state_change){ .phase = PHASE_BLOCKED, .out = &out });
}

static void wake(uint32_t number)
{
	struct ev_sched_wake e = { .context = WAKE_HARDIRQ };

	if (pick(LATE_ONE_IN) == 0) {
		e.flags = WAKE_HAS_WAIT_STACK;
		e.wait_stack = LATE_STACK;
	}
	tell(number, (struct state_change){ .phase = PHASE_RUNNABLE, .wake = &e });
	tell(number, (struct state_change){ .phase = PHASE_RUNNING, .cpu = number % 4 });
}

static void lose_records(void)
{
	struct ev_collect_gap e = {
		.header = { .subsys = EV_COLLECT_GAP >> 16, .event = EV_COLLECT_GAP & 0xffff, .time_ns = w.now_ns },
		.lost = 1,
	};

	session_hand_out(w.stage.session, &e.header);
}

static void change_one(uint32_t count)
{
	uint32_t number = 1 + pick(count);
	enum life *life = &w.lives[number - 1];

	if (*life == RUNS && !pick(END_ONE_IN)) {
		tell(number, (struct state_change){ .phase = PHASE_DEAD });
		*life = ENDED;
	} else if (*life == RUNS) {
		block(number);
		*life = WAITS;
	} else if (*life == WAITS) {
		wake(number);
		*life = RUNS;
	} else {
		tell(number, (struct state_change){ .phase = PHASE_RUNNABLE });
		*life = RUNS;
	}
}

static void live(uint32_t count, uint32_t changes)
{
	memset(&w, 0, sizeof(w));
	state_stage_open_naming(&w.stage, cause_of);
	state_log_subscribe(w.stage.log, w.stage.session);
	w.now_ns = begin_ns;
	for (uint32_t i = 0; i < changes; i++) {
		w.now_ns += 1 + pick(2 * STEP_NS);
		if (pick(GAP_ONE_IN))
			change_one(count);
		else
			lose_records();
	}
	state_stage_finish(&w.stage, w.now_ns);
}

static size_t chunks_by_thread(void)
{
	size_t count, found = 0;
	const struct trace_place *places = trace_reader_places(states_file(w.stage.states), &count);

	for (size_t i = 0; i < count; i++)
		found += places[i].kind == TRACE_CHUNK_STATE_THREADS;
	return found;
}

/* Columns of all of the time, and of its middle; of all threads, some beside each other, and some that are far apart. */
static void check_columns(unsigned int shift)
{
	uint64_t middle_ns = begin_ns + (w.now_ns - begin_ns) / 2;
	uint32_t all[MANY], apart[] = { 1, THREAD_LOG_GROUP, THREAD_LOG_GROUP + 1, MANY, MANY + 1 };

	for (uint32_t i = 0; i < MANY; i++)
		all[i] = i + 1;
	if (shift < ALL_SHIFT_MAX)
		CHECK(thread_columns_agree(w.stage.states, all, MANY, middle_ns, shift));
	CHECK(thread_columns_agree(w.stage.states, all + pick(MANY - 10), 10, middle_ns, shift));
	CHECK(thread_columns_agree(w.stage.states, apart, 5, middle_ns, shift));
	CHECK(thread_columns_agree(w.stage.states, apart, 5, w.now_ns, shift));
	CHECK(thread_columns_agree(w.stage.states, apart, 5, begin_ns, shift));
}

TEST(changes_by_thread_add_up_to_those_of_blocks)
{
	live(MANY, CHANGES);
	CHECK(chunks_by_thread() >= 4); /* two of each window */
	for (unsigned int shift = 12; shift < 24; shift++)
		check_columns(shift);
	state_stage_close(&w.stage);
}

TEST(of_few_threads_changes_are_in_blocks_alone)
{
	live(FEW, CHANGES / 4);
	CHECK_EQUAL(chunks_by_thread(), 0);
	state_stage_close(&w.stage);
}
