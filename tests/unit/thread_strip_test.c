/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "account/measures/thread_strip.h"
#include "values.h"

static struct thread_strip strip, other;

static uint64_t sum_of(const struct thread_strip *s, uint8_t phase)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < STRIP_PARTS; i++)
		sum_ns += phase == PHASE_RUNNING    ? s->parts[i].running_ns
			  : phase == PHASE_RUNNABLE ? s->parts[i].runnable_ns
						    : s->parts[i].blocked_ns;
	return sum_ns;
}

TEST(time_goes_to_the_parts_that_it_lies_in)
{
	memset(&strip, 0, sizeof(strip));
	thread_strip_add(&strip, PHASE_RUNNING, 0, 10);
	CHECK_EQUAL(strip.shift, 0);
	for (size_t i = 0; i < STRIP_PARTS; i++)
		CHECK_EQUAL(strip.parts[i].running_ns, i < 10);
	thread_strip_add(&strip, PHASE_BLOCKED, 10, 119);
	CHECK_EQUAL(strip.shift, 1);
	CHECK_EQUAL(strip.parts[4].running_ns, 2);
	CHECK(!strip.parts[4].blocked_ns);
	CHECK_EQUAL(strip.parts[5].blocked_ns, 2);
	CHECK_EQUAL(strip.parts[59].blocked_ns, 1);
}

TEST(no_time_is_lost_however_wide_the_parts_become)
{
	uint64_t now_ns = 0, spent_ns[5] = { 0 };
	uint32_t random = 3;

	memset(&strip, 0, sizeof(strip));
	for (int i = 0; i < 100000; i++) {
		uint8_t phase = PHASE_BLOCKED + i % 3;
		uint64_t part_ns;

		random = random * 1103515245 + 12345;
		part_ns = i % 997 ? random >> 12 : (uint64_t)random << 6;
		thread_strip_add(&strip, phase, now_ns, now_ns + part_ns);
		now_ns += part_ns;
		spent_ns[phase] += part_ns;
	}
	CHECK_EQUAL(sum_of(&strip, PHASE_RUNNING), spent_ns[PHASE_RUNNING]);
	CHECK_EQUAL(sum_of(&strip, PHASE_RUNNABLE), spent_ns[PHASE_RUNNABLE]);
	CHECK_EQUAL(sum_of(&strip, PHASE_BLOCKED), spent_ns[PHASE_BLOCKED]);
	CHECK_EQUAL(strip.shift, thread_strip_shift_for(now_ns));
	/* More than half of them are used, or they would not have been widened. */
	CHECK_THAT(now_ns >> strip.shift, >=, STRIP_PARTS / 2);
}

TEST(what_is_neither_alive_nor_known_leaves_no_mark)
{
	memset(&strip, 0, sizeof(strip));
	thread_strip_add(&strip, PHASE_DEAD, 0, 50);
	thread_strip_add(&strip, PHASE_UNKNOWN, 0, 50);
	CHECK(!sum_of(&strip, PHASE_RUNNING) && !sum_of(&strip, PHASE_RUNNABLE));
	CHECK(!sum_of(&strip, PHASE_BLOCKED));
}

TEST(the_last_moment_of_time_is_no_trap)
{
	memset(&strip, 0, sizeof(strip));
	thread_strip_add(&strip, PHASE_RUNNING, 0, UINT64_MAX);
	CHECK_EQUAL(sum_of(&strip, PHASE_RUNNING), UINT64_MAX);
}

TEST(strips_of_different_widths_add_up)
{
	memset(&strip, 0, sizeof(strip));
	memset(&other, 0, sizeof(other));
	thread_strip_add(&strip, PHASE_RUNNING, 0, 8);
	thread_strip_add(&other, PHASE_RUNNING, 4, 500);
	thread_strip_merge(&strip, &other);
	CHECK_EQUAL(strip.shift, 4);
	CHECK_EQUAL(other.shift, 4);
	CHECK_EQUAL(sum_of(&strip, PHASE_RUNNING), 504);
	CHECK_EQUAL(strip.parts[0].running_ns, 20);
	memset(&other, 0, sizeof(other));
	thread_strip_add(&other, PHASE_BLOCKED, 20, 21);
	thread_strip_merge(&strip, &other);
	CHECK_EQUAL(other.shift, 0);
	CHECK_EQUAL(strip.parts[1].blocked_ns, 1);
}
