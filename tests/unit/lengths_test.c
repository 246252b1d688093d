/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps of lengths, and what part of all does not exceed which, against the lengths themselves. */
#include "test.h"

#include <string.h>

#include "klocks/lengths.h"

enum { COUNT = 500 };

static uint32_t random_state;

static uint32_t pick(uint32_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint64_t)random_state * limit >> 32;
}

TEST(each_step_begins_where_the_one_before_ends)
{
	CHECK_EQUAL(length_index(0), 0);
	for (size_t i = 0; i + 1 < LENGTHS; i++) {
		CHECK_EQUAL(length_index(length_limit_ns(i) - 1), i);
		CHECK_EQUAL(length_index(length_limit_ns(i)), i + 1);
		CHECK_THAT(length_limit_ns(i), <, length_limit_ns(i + 1));
	}
}

TEST(the_first_steps_are_of_128_ns_and_the_others_of_a_quarter_of_a_power_of_two)
{
	for (size_t i = 0; i < LENGTH_PARTS; i++)
		CHECK_EQUAL(length_limit_ns(i), 128 * (i + 1));
	for (size_t i = LENGTH_PARTS; i < LENGTHS; i++) {
		uint64_t begin_ns = length_limit_ns(i - 1), step_ns = length_limit_ns(i) - begin_ns;

		CHECK_THAT(step_ns * LENGTH_PARTS, <=, begin_ns);
		CHECK_THAT(step_ns * LENGTH_PARTS * 2, >, begin_ns);
	}
}

TEST(what_is_above_all_steps_is_in_the_last_one)
{
	CHECK_EQUAL(length_index(UINT64_MAX), LENGTHS - 1);
	CHECK_EQUAL(length_index(length_limit_ns(LENGTHS - 1)), LENGTHS - 1);
}

TEST(of_what_is_above_all_steps_the_quantile_is_the_longest)
{
	uint32_t lengths[LENGTHS] = { [LENGTHS - 1] = 10 };

	CHECK_EQUAL(lengths_quantile_ns(lengths, 10, UINT64_MAX / 2, 0.5), UINT64_MAX / 2);
}

TEST(of_nothing_all_quantiles_are_0)
{
	uint32_t lengths[LENGTHS] = { 0 };

	CHECK(!lengths_quantile_ns(lengths, 0, 0, 0.5) && !lengths_quantile_ns(lengths, 0, 0, 0.99));
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* By sorting them all: the first one that so many do not exceed. */
static uint64_t quantile_of(const uint64_t *sorted, size_t count, double part)
{
	size_t at = 0;

	while (at + 1 < count && at + 1 < part * count)
		at++;
	return sorted[at];
}

TEST(a_quantile_is_at_most_a_step_above_that_of_the_lengths)
{
	static const double parts[] = { 0.25, 0.5, 0.75, 0.9, 0.99, 1 };

	random_state = 1;
	for (int round = 0; round < 300; round++) {
		uint64_t all[COUNT];
		uint32_t lengths[LENGTHS] = { 0 };
		size_t count = 1 + pick(COUNT);

		for (size_t i = 0; i < count; i++) {
			all[i] = (uint64_t)pick(UINT32_MAX) << pick(12) >> pick(32);
			lengths[length_index(all[i])]++;
		}
		qsort(all, count, sizeof(*all), by_length);
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			uint64_t exact_ns = quantile_of(all, count, parts[i]);
			uint64_t recorded_ns = lengths_quantile_ns(lengths, count, all[count - 1], parts[i]);

			CHECK_THAT(recorded_ns, >=, exact_ns);
			CHECK_THAT(recorded_ns, <=, length_limit_ns(length_index(exact_ns)));
			CHECK_THAT(recorded_ns, <=, all[count - 1]);
		}
	}
}
