/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that wait for a CPU for long, while others take many turns on it. */
#include "test.h"

#include "session/session.h"
#include "values.h"
#include "waits/cpu_waits.h"
#include "waits/others.h"

enum { TURN_NS = 10, TURNS = 3000, WAITS = 10, OTHERS = 3, FIRST_OTHER = 70 };

static struct session *session;
static struct others *others;
static struct cpu_waits *waits;
static uint64_t now_ns;

static void push(struct ev_sched_switch e, uint32_t thread)
{
	e.header = (struct ev_header){
		.time_ns = now_ns,
		.thread = thread,
		.subsys = EV_SCHED_SWITCH >> 16,
		.event = EV_SCHED_SWITCH & 0xffff,
	};
	e.state = SWITCH_RUNNABLE;
	CHECK(!session_push(session, 0, &e, sizeof(e)));
}

/* Thread 1 leaves the CPU, OTHERS others have it in turn, and it gets it again. */
static void wait_for_turns(uint32_t turns)
{
	uint32_t other = FIRST_OTHER;

	push((struct ev_sched_switch){ .value = other }, 1);
	for (uint32_t i = 0; i < turns; i++) {
		uint32_t next = FIRST_OTHER + (i + 1) % OTHERS;

		now_ns += TURN_NS;
		push((struct ev_sched_switch){ .value = other, .object = next }, 0);
		other = next;
	}
	now_ns += TURN_NS;
	push((struct ev_sched_switch){ .next = 1, .value = other }, 0);
	now_ns += TURN_NS;
}

static uint64_t recorded_ns(void)
{
	const struct rival *rival;
	uint64_t sum_ns = 0;
	size_t cursor = 0;

	while ((rival = cpu_waits_next(waits, &cursor))) {
		CHECK_EQUAL(rival->kind, RIVAL_PROCESS);
		sum_ns += rival->wait_ns;
	}
	return sum_ns;
}

static void begin(void)
{
	now_ns = 1000;
	session = session_new(1, 64 << 20);
	others = others_new(session);
	waits = cpu_waits_new(session, others);
}

static void end(void)
{
	cpu_waits_free(waits);
	others_free(others);
	session_free(session);
}

TEST(who_had_the_cpu_longest_ago_is_known_once_so_long_a_wait_was_seen)
{
	uint64_t wait_ns = (TURNS + 1) * TURN_NS;

	begin();
	/* Room is doubled where it was too small. */
	for (int i = 0; i < WAITS; i++)
		wait_for_turns(TURNS);
	session_finish(session);
	CHECK_THAT(recorded_ns(), <, WAITS * wait_ns);
	CHECK_THAT(recorded_ns(), >=, (WAITS - 3) * wait_ns);
	CHECK_EQUAL(cpu_waits_rival_count(waits), OTHERS);
	end();
}

TEST(nobody_is_made_up_for_what_does_not_fit)
{
	enum { FAR_TOO_MANY = 40000 };

	begin();
	for (int i = 0; i < WAITS; i++)
		wait_for_turns(FAR_TOO_MANY);
	session_finish(session);
	CHECK(recorded_ns());
	CHECK_THAT(recorded_ns(), <, WAITS * (uint64_t)FAR_TOO_MANY * TURN_NS / 2);
	end();
}

TEST(no_time_of_short_waits_is_lost)
{
	uint64_t wait_ns = 0;

	begin();
	for (uint32_t turns = 0; turns < 500; turns++) {
		wait_for_turns(turns);
		wait_ns += (turns + 1) * TURN_NS;
	}
	session_finish(session);
	CHECK_EQUAL(recorded_ns(), wait_ns);
	end();
}
