/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits with a timeout that are repeated for the same thing are one, which what ended the last has ended. */
#include "waits_fixture.h"

#include <linux/futex.h>
#include <stdlib.h>

enum { WAITER = 1, HOLDER, OBJECT = 0x1000, WAITER_STACK = 5, HOLDER_STACK = 6, SLEEP_STACK = 7 };

static void found_holder(void)
{
	struct ev_thread_found e = {
		.header = header_of(EV_THREAD_FOUND, HOLDER),
		.tid = 2,
		.pid = 1,
		.phase = PHASE_RUNNING,
	};

	push(&e, sizeof(e));
}

static void leave(uint32_t thread, uint16_t cpu, uint16_t syscall, uint64_t object, uint64_t stack)
{
	struct ev_sched_switch e = {
		.header = header_of(EV_SCHED_SWITCH, thread),
		.state = SWITCH_SLEEPING,
		.flags = SWITCH_HAS_STACK,
		.stack = stack,
		.cpu = cpu,
		.syscall = syscall,
		.operation = syscall == SYS_futex ? FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG : 0,
		.object = object,
	};

	push(&e, sizeof(e));
}

/* By waker, or by a timer: 0. Then it has its CPU. */
static void come(uint32_t thread, uint16_t cpu, uint32_t waker)
{
	struct ev_sched_wake wake = {
		.header = header_of(EV_SCHED_WAKE, thread),
		.waker = waker,
		.tid = waker,
		.pid = 1,
		.context = waker ? WAKE_THREAD : WAKE_HARDIRQ,
		.flags = waker ? WAKE_HAS_STACK : 0,
		.syscall = waker ? SYS_futex : SYSCALL_NONE,
		.stack = waker ? HOLDER_STACK : 0,
	};
	struct ev_sched_switch in = {
		.header = header_of(EV_SCHED_SWITCH, 0),
		.next = thread,
		.cpu = cpu,
		.syscall = SYSCALL_NONE,
	};

	push(&wake, sizeof(wake));
	push(&in, sizeof(in));
}

/* Its waiting, by who ended it; counts: how often. */
static double waited_by(enum waker_kind kind, double *count)
{
	const struct wait_path *path;
	double wait_ns = 0;
	size_t cursor = 0;

	*count = 0;
	while ((path = waits_next_path(waits, &cursor))) {
		if (path->stack != WAITER_STACK)
			continue;
		for (const struct wait_waker *waker = path->wakers; waker; waker = waker->next) {
			if (waker->kind != kind)
				continue;
			*count += waker->count;
			wait_ns += waker->wait_ns;
		}
	}
	return wait_ns;
}

static void wait_in_part(uint64_t object, uint64_t wait_ns, uint32_t waker, uint64_t then_runs_ns)
{
	leave(WAITER, 0, SYS_futex, object, WAITER_STACK);
	now_ns += wait_ns;
	come(WAITER, 0, waker);
	now_ns += then_runs_ns;
}

TEST(who_ends_the_last_part_has_ended_all_of_them)
{
	double count;

	begin();
	found_holder();
	for (int i = 0; i < 3; i++)
		wait_in_part(OBJECT, 5000000, 0, 10000);
	wait_in_part(OBJECT, 1000000, HOLDER, 10000);
	finish();
	/* The holder ran all the time. */
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_CONDITION).wait_ns, 16000000);
	CHECK(!waits_by_cause(waits, CAUSE_CONDITION).idle_ns);
	CHECK(waited_by(WAKER_THREAD, &count) == 16000000 && count == 4);
	CHECK(waited_by(WAKER_TIMER, &count) == 0 && count == 0);
	end();
}

TEST(what_is_not_repeated_at_once_or_for_something_else_was_ended_by_time)
{
	double count;

	begin();
	found_holder();
	wait_in_part(OBJECT, 5000000, 0, 10000);
	wait_in_part(OBJECT + 64, 1000000, HOLDER, 10000);
	wait_in_part(OBJECT, 5000000, 0, 60000);
	wait_in_part(OBJECT, 1000000, HOLDER, 10000);
	wait_in_part(OBJECT, 5000000, 0, 10000);
	finish();
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_CONDITION).idle_ns, 15000000);
	CHECK(waited_by(WAKER_THREAD, &count) == 2000000 && count == 2);
	CHECK(waited_by(WAKER_TIMER, &count) == 15000000 && count == 3);
	end();
}

TEST(the_two_words_of_a_condition_are_one_thing)
{
	begin();
	found_holder();
	for (int i = 0; i < 4; i++)
		wait_in_part(OBJECT + i % 2 * 4, 5000000, i < 3 ? 0 : HOLDER, 10000);
	finish();
	CHECK(!waits_by_cause(waits, CAUSE_CONDITION).idle_ns);
	end();
}

/* --- Beside the definition ----------------------------------------------------------------------- */

enum { PLAYS = 1000, PARTS_MAX = 6, CHANGES_MAX = 28, STEP_NS = 40000 };

/* When the holder was busy. */
struct timeline {
	uint64_t begins[CHANGES_MAX], ends[CHANGES_MAX];
	size_t count;
};

static uint64_t busy_between(const struct timeline *timeline, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t busy_ns = 0;

	for (size_t i = 0; i < timeline->count; i++) {
		uint64_t begin_ns = timeline->begins[i] > from_ns ? timeline->begins[i] : from_ns;
		uint64_t end_ns = timeline->ends[i] < to_ns ? timeline->ends[i] : to_ns;

		busy_ns += end_ns > begin_ns ? end_ns - begin_ns : 0;
	}
	return busy_ns;
}

static uint64_t above(uint64_t x, uint64_t y)
{
	return x > y ? x - y : 0;
}

/* A wait in parts, beside a holder that now runs and now sleeps, and ends it in the end. */
static void play(void)
{
	uint64_t parts_ns = 0, first_ns, last_ns = 0, idle_ns, waited_ns;
	struct timeline timeline = { .begins = { 0 }, .count = 1 };
	size_t parts = 1 + (size_t)rand() % PARTS_MAX;
	double count;

	begin();
	found_holder();
	first_ns = now_ns;
	for (size_t part = 0; part < parts; part++) {
		bool is_last = part + 1 == parts;
		size_t changes = 2 * ((size_t)rand() % 3);

		last_ns = now_ns;
		leave(WAITER, 0, SYS_futex, OBJECT, WAITER_STACK);
		for (size_t i = 0; i < changes; i++) {
			now_ns += 1 + (uint64_t)rand() % STEP_NS;
			if (i % 2) {
				come(HOLDER, 1, 0);
				timeline.begins[timeline.count++] = now_ns;
			} else {
				leave(HOLDER, 1, SYS_nanosleep, 0, SLEEP_STACK);
				timeline.ends[timeline.count - 1] = now_ns;
			}
		}
		now_ns += STEP_NS / 2 + (uint64_t)rand() % STEP_NS;
		come(WAITER, 0, is_last ? HOLDER : 0);
		if (is_last)
			break;
		parts_ns += now_ns - last_ns;
		now_ns += (uint64_t)rand() % 1000;
	}
	timeline.ends[timeline.count - 1] = now_ns;
	waited_ns = parts_ns + now_ns - last_ns;
	idle_ns = above(parts_ns, busy_between(&timeline, first_ns, last_ns)) +
		  above(now_ns - last_ns, busy_between(&timeline, last_ns, now_ns));
	finish();
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_CONDITION).wait_ns, waited_ns);
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_CONDITION).idle_ns, idle_ns);
	CHECK(waited_by(WAKER_THREAD, &count) == waited_ns && count == parts);
	end();
}

TEST(the_idle_time_of_a_wait_in_parts_is_that_in_which_its_ender_was_not_busy)
{
	srand(5);
	for (int i = 0; i < PLAYS; i++)
		play();
}
