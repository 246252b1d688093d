/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits whose stacks are kept by chance: whatever the chances and the lengths, what call paths are said to have
 * waited is no more than was waited, for each object and in each cause; and it is right on average.
 */
#include "waits_fixture.h"

#include <math.h>

#include "findings/parts/findings_waits.h"

enum { FILES = 40, STACKS = 5, WAITS = 400, SEEDS = 50, LENGTH_MAX = 2000, KLOCK = 0x1000 };

static struct findings findings;
static struct wait_bounds *bounds;
static uint32_t random_state;

static uint32_t pick(uint32_t count)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % count;
}

static void finish_and_bound(void)
{
	finish();
	findings.input.waits = waits;
	findings.arena = arena_new();
	bounds = findings_bounds_new(&findings);
}

static void end_bounds(void)
{
	findings_bounds_free(bounds);
	arena_free(findings.arena);
	end();
}

/* Of a file; files of no known kind are read. */
static struct wait_sum exact(uint64_t name)
{
	const struct wait_file *file;

	for (size_t cursor = 0; (file = waits_next_file(waits, &cursor));)
		if (file->file == name)
			return file->sum;
	return (struct wait_sum){ 0 };
}

static struct wait_amount as_amount(struct wait_sum sum)
{
	return (struct wait_amount){ {
		[WAIT_COUNT] = sum.count,
		[WAIT_BUSY_NS] = sum.wait_ns - sum.idle_ns,
		[WAIT_IDLE_NS] = sum.idle_ns,
	} };
}

static void check_at_most(const struct wait_amount *part, const struct wait_amount *all)
{
	for (size_t m = WAIT_COUNT; m <= WAIT_IDLE_NS; m++)
		CHECK_THAT(part->of[m], <, all->of[m] * (1 + 1e-9) + 1e-6);
}

static void check_equal(const struct wait_amount *x, const struct wait_amount *y)
{
	check_at_most(x, y);
	check_at_most(y, x);
}

/* Each stack is kept with its own chance, as it was written down. */
static void wait_by_chance(uint64_t object, bool is_klock, uint64_t stack, double chance, uint64_t wait_ns)
{
	uint32_t keep = chance < 1 ? chance * 0x1p32 : 0;
	bool is_kept = !keep || pick(1u << 16) < chance * (1u << 16);

	if (is_klock)
		wait_long_for_klock(object, is_kept ? stack : 0, keep, wait_ns);
	else
		wait_long_for(object, is_kept ? stack : 0, keep, wait_ns);
}

/* From a nanosecond to some seconds, evenly by the number of digits. */
static uint64_t any_length(void)
{
	return exp2(pick(3300) / 100.);
}

static double any_chance(void)
{
	return pick(3) ? exp2(-(double)pick(120) / 10) : 1;
}

static void check_paths(struct wait_amount *own, struct wait_amount *sums)
{
	const struct wait_path *path;

	for (size_t cursor = 0; (path = waits_next_path(waits, &cursor));) {
		struct wait_parts parts = findings_parts(bounds, path);

		check_at_most(&path->certain, &parts.own);
		CHECK_THAT(wait_amount_ns(&parts.own), >, path->max_ns - 1e-6);
		CHECK(parts.max_ns >= path->max_ns);
		if (path->cause == CAUSE_PIPE)
			wait_amount_add(&own[path->object >> 5], &parts.own, 1);
		wait_amount_add(&sums[path->cause], &parts.own, 1);
		wait_amount_add(&sums[path->cause], &parts.others, 1);
	}
}

TEST(no_rows_are_more_than_their_totals)
{
	for (uint32_t seed = 1; seed <= 20 * SEEDS; seed++) {
		struct wait_amount own[FILES + 1] = { 0 }, sums[CAUSES] = { 0 }, all;
		uint32_t files_used = 1 + seed % FILES;

		random_state = seed;
		begin();
		for (size_t i = 0, waits_made = 1 + pick(WAITS); i < waits_made; i++) {
			bool is_klock = !pick(4);
			uint64_t object = is_klock ? KLOCK : name_of(1 + pick(files_used), KIND_PIPE);

			wait_by_chance(object, is_klock, 1 + pick(STACKS), any_chance(), any_length());
		}
		finish_and_bound();
		check_paths(own, sums);
		for (size_t i = 1; i <= FILES; i++) {
			all = as_amount(exact(name_of(i, KIND_PIPE)));
			check_at_most(&own[i], &all);
		}
		for (enum wait_cause cause = 0; cause < CAUSES; cause++) {
			all = as_amount(waits_by_cause(waits, cause));
			check_at_most(&sums[cause], &all);
		}
		end_bounds();
	}
}

/* Three call paths wait for one file, one seldom and long; the kernel side keeps by length, roughly. */
TEST(estimates_are_right_on_average)
{
	enum { RUNS = 2000, PATHS = 3 };
	static const uint64_t length_ns[PATHS] = { 5000, 7000, 90000 };
	static const uint32_t times[PATHS] = { 300, 100, 40 };
	struct wait_amount sums[PATHS + 1] = { 0 };

	for (uint32_t run = 1; run <= RUNS; run++) {
		const struct wait_path *path;

		random_state = run * 2654435761u;
		begin();
		for (size_t i = 0; i < PATHS; i++)
			for (uint32_t k = 0; k < times[i]; k++)
				wait_by_chance(name_of(1, KIND_PIPE), false, 1 + i, length_ns[i] / 1e5, length_ns[i]);
		finish_and_bound();
		for (size_t cursor = 0; (path = waits_next_path(waits, &cursor));) {
			struct wait_parts parts = findings_parts(bounds, path);

			wait_amount_add(&sums[path->stack], &parts.own, 1. / RUNS);
		}
		end_bounds();
	}
	for (size_t i = 0; i < PATHS; i++) {
		CHECK_THAT(fabs(sums[i + 1].of[WAIT_COUNT] / times[i] - 1), <, 0.02);
		CHECK_THAT(fabs(wait_amount_ns(&sums[i + 1]) / (times[i] * length_ns[i]) - 1), <, 0.02);
	}
}

TEST(the_rows_of_an_object_are_what_was_waited_for_it)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct wait_amount own[FILES + 1] = { 0 }, sums[CAUSES] = { 0 }, all;

		random_state = seed;
		begin();
		for (size_t i = 0; i < WAITS; i++) {
			wait_by_chance(name_of(1 + pick(FILES), KIND_PIPE), false, 1 + pick(STACKS), 1. / 8,
				       1 + pick(LENGTH_MAX));
			wait_by_chance(KLOCK, true, 1 + pick(STACKS), 1. / 8, 1 + pick(LENGTH_MAX));
		}
		finish_and_bound();
		check_paths(own, sums);
		for (size_t i = 1; i <= FILES; i++) {
			all = as_amount(exact(name_of(i, KIND_PIPE)));
			if (own[i].of[WAIT_COUNT])
				check_equal(&own[i], &all);
		}
		all = as_amount(waits_by_cause(waits, CAUSE_KERNEL_LOCK));
		check_equal(&sums[CAUSE_KERNEL_LOCK], &all);
		end_bounds();
	}
}

/* The only path and its stack's kin in length; returns whether there are others, too. */
static bool get_parts(struct wait_parts *parts, const struct wait_path **path)
{
	size_t cursor = 0;

	*path = waits_next_path(waits, &cursor);
	CHECK(*path);
	*parts = findings_parts(bounds, *path);
	return waits_next_path(waits, &cursor);
}

TEST(what_one_stack_stands_for_beyond_its_file_was_waited_for_others)
{
	const struct wait_path *path;
	struct wait_parts parts;

	begin();
	for (uint64_t i = 1; i <= 8; i++)
		wait_long_for(name_of(i, KIND_PIPE), i == 3 ? 7 : 0, 1u << 29, 100);
	finish_and_bound();
	CHECK(!get_parts(&parts, &path));
	CHECK_EQUAL(path->wait_ns, 800);
	CHECK_EQUAL(wait_amount_ns(&parts.own), 100);
	CHECK_EQUAL(wait_amount_ns(&parts.others), 700);
	CHECK_EQUAL(parts.others.of[WAIT_COUNT], 7);
	end_bounds();
}

TEST(chance_alone_makes_no_others)
{
	const struct wait_path *path;
	struct wait_parts parts;

	begin();
	for (size_t i = 0; i < 4; i++)
		wait_long_for(name_of(1, KIND_PIPE), i % 2 ? 7 : 0, 1u << 29, 100);
	finish_and_bound();
	CHECK(!get_parts(&parts, &path));
	CHECK_EQUAL(path->wait_ns, 1600);
	CHECK_EQUAL(wait_amount_ns(&parts.own), 400);
	CHECK(!parts.others.of[WAIT_COUNT]);
	end_bounds();
}

TEST(a_long_wait_without_a_stack_is_at_the_only_path_that_is_known)
{
	const struct wait_path *path;
	struct wait_parts parts;

	begin();
	for (size_t i = 0; i < 8; i++)
		wait_long_for(name_of(1, KIND_PIPE), i % 2 ? 7 : 0, 1u << 31, 100);
	wait_long_for(name_of(1, KIND_PIPE), 0, 1u << 31, 8000000000);
	finish_and_bound();
	CHECK(!get_parts(&parts, &path));
	CHECK_EQUAL(wait_amount_ns(&parts.own), 8000000800);
	CHECK_EQUAL(parts.own.of[WAIT_COUNT], 9);
	CHECK_EQUAL(parts.max_ns, 8000000000);
	end_bounds();
}

TEST(of_several_paths_short_waits_do_not_stand_for_long_ones)
{
	struct wait_amount own[FILES + 1] = { 0 }, sums[CAUSES] = { 0 };

	begin();
	for (size_t i = 0; i < 16; i++)
		wait_long_for(name_of(1, KIND_PIPE), i % 2 ? 7 + i / 8 : 0, 1u << 31, 100);
	wait_long_for(name_of(1, KIND_PIPE), 0, 1u << 31, 8000000000);
	finish_and_bound();
	check_paths(own, sums);
	CHECK_EQUAL(wait_amount_ns(&own[1]), 1600);
	CHECK_EQUAL(own[1].of[WAIT_COUNT], 16);
	end_bounds();
}

TEST(what_is_exact_stays)
{
	const struct wait_path *path;
	size_t cursor = 0, paths = 0;

	begin();
	for (uint64_t i = 0; i < 10; i++)
		wait_long_for(name_of(1 + i % 2, KIND_PIPE), 7 + i % 3, 0, 100 + i);
	finish_and_bound();
	for (; (path = waits_next_path(waits, &cursor)); paths++) {
		struct wait_parts parts = findings_parts(bounds, path);

		check_equal(&parts.own, &path->certain);
		CHECK(!parts.others.of[WAIT_COUNT]);
	}
	CHECK_EQUAL(paths, 6);
	end_bounds();
}
