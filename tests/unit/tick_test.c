/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Periods of timers beside the kernel's tick: which moments of a tick they come to within a second. */
#include "test.h"

#include <stdlib.h>

#include "collect/tick.h"

enum { SECOND_NS = 1000000000, SAMPLES_MAX = 20000 };

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The longest part of a tick that no timer comes to. */
static uint64_t longest_gap_ns(uint64_t period_ns, uint64_t tick_ns)
{
	static uint64_t moments[SAMPLES_MAX];
	uint64_t gap_ns, count = SECOND_NS / period_ns;

	for (uint64_t i = 0; i < count; i++)
		moments[i] = i * period_ns % tick_ns;
	qsort(moments, count, sizeof(*moments), by_number);
	gap_ns = moments[0] + tick_ns - moments[count - 1];
	for (uint64_t i = 1; i < count; i++)
		if (moments[i] - moments[i - 1] > gap_ns)
			gap_ns = moments[i] - moments[i - 1];
	return gap_ns;
}

TEST(timers_come_to_all_moments_of_a_tick_within_a_second)
{
	static const uint64_t ticks_ns[] = { 1000000, 3333333, 4000000, 10000000 };
	uint64_t changed = 0;

	for (size_t i = 0; i < sizeof(ticks_ns) / sizeof(*ticks_ns); i++)
		for (uint64_t hz = 100; hz <= 10000; hz += hz < 200 ? 1 : 7) {
			uint64_t wanted_ns = SECOND_NS / hz, period_ns = tick_pass_over(wanted_ns, ticks_ns[i]);

			CHECK_THAT(period_ns, <=, wanted_ns);
			CHECK_THAT(period_ns, >=, wanted_ns * 3 / 4);
			changed += period_ns != wanted_ns;
			if (period_ns % ticks_ns[i])
				CHECK_THAT(longest_gap_ns(period_ns, ticks_ns[i]) * 8, <=, ticks_ns[i] + 8);
		}
	CHECK(changed);
}

TEST(what_meets_few_moments_is_made_a_little_shorter)
{
	CHECK_EQUAL(tick_pass_over(1000000, 4000000), 968750);
	CHECK_EQUAL(tick_pass_over(3333333, 4000000), 3229167);
	CHECK_EQUAL(tick_pass_over(333333, 4000000), 322917);
	CHECK_EQUAL(tick_pass_over(3257328, 4000000), 3257328);
}

TEST(multiples_of_the_tick_stay_and_so_does_all_where_there_is_none)
{
	CHECK_EQUAL(tick_pass_over(4000000, 4000000), 4000000);
	CHECK_EQUAL(tick_pass_over(12000000, 4000000), 12000000);
	CHECK_EQUAL(tick_pass_over(1000000, 0), 1000000);
}
