/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdlib.h>
#include <sys/syscall.h>

#include "session/session.h"
#include "session/threads.h"
#include "spans/cycles.h"
#include "state_stage.h"
#include "states/state_log.h"
#include "states/states.h"
#include "values.h"

enum { TICKER = 1, OTHER = 2, BEGIN_NS = 1000 };

static struct state_stage stage;
static struct executions found;

static void change(uint32_t number, uint64_t at_ns, struct state_change what)
{
	what.thread = threads_get(stage.threads, number);
	what.time_ns = BEGIN_NS + at_ns;
	stage.listener->on_change(stage.listener->data, &what);
}

static void run(uint32_t number, uint64_t at_ns)
{
	change(number, at_ns, (struct state_change){ .phase = PHASE_RUNNING, .cpu = number });
}

static void wait_in(uint32_t number, uint64_t at_ns, uint16_t syscall)
{
	struct ev_sched_switch e = { .state = SWITCH_SLEEPING, .syscall = syscall };

	change(number, at_ns, (struct state_change){ .phase = PHASE_BLOCKED, .out = &e });
}

static void wake(uint32_t number, uint64_t at_ns)
{
	struct ev_sched_wake e = { .context = WAKE_HARDIRQ, .syscall = SYSCALL_NONE };

	change(number, at_ns, (struct state_change){ .phase = PHASE_RUNNABLE, .wake = &e });
}

/* Of its CPU, since it got that. */
static void lose_records(uint64_t since_ns, uint64_t at_ns)
{
	struct ev_sched_switch got = {
		.header = { .subsys = EV_SCHED_SWITCH >> 16,
			    .event = EV_SCHED_SWITCH & 0xffff,
			    .time_ns = BEGIN_NS + since_ns },
		.next = TICKER,
		.cpu = TICKER,
	};
	struct ev_collect_gap e = {
		.header = { .subsys = EV_COLLECT_GAP >> 16,
			    .event = EV_COLLECT_GAP & 0xffff,
			    .time_ns = BEGIN_NS + at_ns },
		.lost = 1,
		.cpu = TICKER,
	};

	session_hand_out(stage.session, &got.header);
	session_hand_out(stage.session, &e.header);
}

/* Sleeps from 10 on, wakes at 100, 200 and 300, each time 30 before it sleeps again. */
static void begin(void)
{
	state_stage_open(&stage);
	state_log_subscribe(stage.log, stage.session);
	run(TICKER, 0);
	run(OTHER, 0);
	wait_in(TICKER, 10, SYS_clock_nanosleep);
	wake(TICKER, 100);
	run(TICKER, 120);
	wait_in(TICKER, 130, SYS_clock_nanosleep);
	wake(TICKER, 200);
	run(TICKER, 201);
}

static void finish(void)
{
	wait_in(TICKER, 230, SYS_clock_nanosleep);
	wake(TICKER, 300);
	run(TICKER, 301);
	state_stage_finish(&stage, BEGIN_NS + 400);
}

static void add_cycles(uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	cycles_add(stage.states, &(struct states_question){ &thread, 1, from_ns, to_ns, false, NULL }, CAUSE_SLEEP,
		   &found);
}

static void find(uint64_t from_ns, uint64_t to_ns)
{
	add_cycles(TICKER, from_ns, to_ns);
}

static void end(void)
{
	free(found.list);
	found = (struct executions){ 0 };
	state_stage_close(&stage);
}

TEST(a_cycle_lasts_from_the_wake_up_to_the_next_wait)
{
	begin();
	finish();
	find(0, UINT64_MAX);
	CHECK_EQUAL(found.count, 2);
	CHECK_EQUAL(found.list[0].thread, TICKER);
	CHECK_EQUAL(found.list[0].begin_ns, BEGIN_NS + 100);
	CHECK_EQUAL(found.list[0].end_ns, BEGIN_NS + 130);
	CHECK_EQUAL(found.list[1].begin_ns, BEGIN_NS + 200);
	CHECK_EQUAL(found.list[1].end_ns, BEGIN_NS + 230);
	end();
}

TEST(waits_for_another_cause_are_part_of_a_cycle)
{
	begin();
	wait_in(TICKER, 210, SYS_futex);
	wake(TICKER, 220);
	run(TICKER, 221);
	finish();
	find(0, UINT64_MAX);
	CHECK_EQUAL(found.count, 2);
	CHECK_EQUAL(found.list[1].end_ns, BEGIN_NS + 230);
	end();
}

TEST(a_cycle_is_within_the_time_that_is_asked_for)
{
	begin();
	finish();
	find(BEGIN_NS + 140, UINT64_MAX);
	CHECK_EQUAL(found.count, 1);
	CHECK_EQUAL(found.list[0].begin_ns, BEGIN_NS + 200);
	found.count = 0;
	find(0, BEGIN_NS + 220);
	CHECK_EQUAL(found.count, 1);
	CHECK_EQUAL(found.list[0].begin_ns, BEGIN_NS + 100);
	end();
}

TEST(a_cycle_with_lost_records_is_none)
{
	begin();
	lose_records(201, 215);
	finish();
	find(0, UINT64_MAX);
	CHECK_EQUAL(found.count, 1);
	CHECK_EQUAL(found.list[0].begin_ns, BEGIN_NS + 100);
	end();
}

TEST(a_thread_that_never_waits_has_no_cycle)
{
	begin();
	finish();
	add_cycles(OTHER, 0, UINT64_MAX);
	CHECK_EQUAL(found.count, 0);
	end();
}
