/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ways have in common, against a look at all of them. */
#include "test.h"

#include <string.h>

#include "symbol/object/tail_ways.h"

enum { ROUNDS = 20000, WAYS_MAX = 5 };

struct way {
	struct tail_step steps[TAIL_STEPS_MAX];
	size_t count;
};

static uint32_t random_state;

static uint32_t pick(uint32_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint64_t)random_state * limit >> 32;
}

/* Of few functions, so that ways are alike; a jump belongs to its function. */
static void make(struct way *way)
{
	way->count = 1 + pick(TAIL_STEPS_MAX);
	for (size_t i = 0; i < way->count; i++) {
		way->steps[i].start = 1 + pick(2);
		way->steps[i].jump = way->steps[i].start * 100 + pick(2);
	}
}

static const struct tail_step *step(const struct way *way, size_t i, bool is_from_end)
{
	return &way->steps[is_from_end ? way->count - 1 - i : i];
}

/* How many steps all ways begin with, or end with. */
static size_t common_count(const struct way *ways, size_t count, bool is_from_end)
{
	for (size_t i = 0;; i++)
		for (size_t k = 0; k < count; k++)
			if (i == ways[k].count ||
			    step(&ways[k], i, is_from_end)->start != step(ways, i, is_from_end)->start)
				return i;
}

static size_t shortest(const struct way *ways, size_t count)
{
	size_t least = TAIL_STEPS_MAX;

	for (size_t i = 0; i < count; i++)
		least = ways[i].count < least ? ways[i].count : least;
	return least;
}

/* All ways are known: what is common at their begin comes first, then what of their end does not overlap it. */
static size_t expect_known(const struct way *ways, size_t count, uint64_t starts[TAIL_STEPS_MAX])
{
	size_t prefix = common_count(ways, count, false), suffix = common_count(ways, count, true), found = 0;

	if (suffix > shortest(ways, count) - prefix)
		suffix = shortest(ways, count) - prefix;
	for (size_t i = 0; i < prefix; i++)
		starts[found++] = ways[0].steps[i].start;
	for (size_t i = suffix; i--;)
		starts[found++] = step(&ways[0], i, true)->start;
	return found;
}

static void check(const struct tail_step *common, size_t count, const uint64_t *starts, size_t expected)
{
	CHECK_EQUAL(count, expected);
	for (size_t i = 0; i < count; i++)
		CHECK_EQUAL(common[i].start, starts[i]);
}

TEST(what_all_known_ways_have_in_common_is_what_a_look_at_all_of_them_says)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct tail_ways known = { 0 }, open = { 0 };
		struct tail_step common[TAIL_STEPS_MAX];
		uint64_t starts[TAIL_STEPS_MAX];
		struct way ways[WAYS_MAX];
		size_t count = 1 + pick(WAYS_MAX);

		for (size_t i = 0; i < count; i++) {
			make(&ways[i]);
			tail_ways_add(&known, ways[i].steps, ways[i].count);
		}
		check(common, tail_ways_common(&known, &open, common), starts, expect_known(ways, count, starts));
	}
}

TEST(of_a_way_that_is_open_only_its_begin_counts)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct tail_ways known = { 0 }, open = { 0 };
		struct tail_step common[TAIL_STEPS_MAX];
		uint64_t starts[TAIL_STEPS_MAX];
		struct way ways[WAYS_MAX];
		size_t count = 1 + pick(WAYS_MAX), known_count = pick(count), prefix;

		for (size_t i = 0; i < count; i++) {
			make(&ways[i]);
			tail_ways_add(i < known_count ? &known : &open, ways[i].steps, ways[i].count);
		}
		prefix = common_count(ways, count, false);
		for (size_t i = 0; i < prefix; i++)
			starts[i] = ways[0].steps[i].start;
		check(common, tail_ways_common(&known, &open, common), starts, prefix);
	}
}

TEST(a_jump_is_shown_only_if_all_ways_have_it)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct tail_ways known = { 0 }, open = { 0 };
		struct tail_step common[TAIL_STEPS_MAX];
		struct way ways[WAYS_MAX];
		size_t count = 1 + pick(WAYS_MAX), prefix;

		for (size_t i = 0; i < count; i++) {
			make(&ways[i]);
			tail_ways_add(&known, ways[i].steps, ways[i].count);
		}
		tail_ways_common(&known, &open, common);
		prefix = common_count(ways, count, false);
		for (size_t i = 0; i < prefix; i++) {
			bool is_same = true;

			for (size_t k = 0; k < count; k++)
				is_same &= ways[k].steps[i].jump == ways[0].steps[i].jump;
			CHECK_EQUAL(common[i].jump, is_same ? ways[0].steps[i].jump : 0);
		}
	}
}
