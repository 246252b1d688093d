/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The binary search, against one that examines each value. */
#include "test.h"

#include "base/bound.h"

enum { COUNT_MAX = 40 };

/* Sorted; each value occurs up to three times. */
static void fill(uint32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = i * 2 / 3 * 2;
}

static size_t find_slowly(const uint32_t *values, size_t begin, size_t end, uint32_t value)
{
	while (begin < end && values[begin] < value)
		begin++;
	return begin;
}

TEST(it_finds_what_looking_at_each_value_finds)
{
	uint32_t values[COUNT_MAX];

	fill(values, COUNT_MAX);
	for (size_t begin = 0; begin <= COUNT_MAX; begin++)
		for (size_t end = begin; end <= COUNT_MAX; end++)
			for (uint32_t value = 0; value < 2 * COUNT_MAX; value++) {
				size_t found = find_slowly(values, begin, end, value);

				CHECK(BOUND(begin, end, i, values[i] < value) == found);
				CHECK(BOUND_BACK(begin, end, i, values[i] < value) == found);
			}
}

TEST(in_an_empty_range_nothing_is_asked)
{
	size_t asked = 0;

	CHECK(BOUND(7, 7, i, asked++ < i) == 7);
	CHECK(BOUND(7, 3, i, asked++ < i) == 7);
	CHECK(BOUND_BACK(7, 7, i, asked++ < i) == 7);
	CHECK(!asked);
}

TEST(a_million_values_take_20_questions)
{
	size_t asked = 0, begins = 0, ends = 1000000;

	CHECK(BOUND(begins++, ends++, i, (asked++, i < 777777)) == 777777);
	CHECK(asked <= 20);
	CHECK(begins == 1 && ends == 1000001);
}

TEST(from_the_end_what_is_near_it_takes_few_questions)
{
	size_t asked = 0, begins = 0, ends = 1000000;

	CHECK(BOUND_BACK(begins++, ends++, i, (asked++, i < 999999)) == 999999);
	CHECK(asked <= 3);
	asked = 0;
	CHECK(BOUND_BACK(begins++, ends++, i, (asked++, i < 3)) == 3);
	CHECK(asked <= 40);
	CHECK(begins == 2 && ends == 1000002);
}
