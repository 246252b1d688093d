/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits whose stacks are kept by chance: the parts of the estimates that are told of each file are what
 * was waited for it, and what is told of others is no more than was waited for files without a stack.
 */
#include "waits_fixture.h"

#include <math.h>

#include "findings/parts/findings_waits.h"

enum { FILES = 40, STACKS = 5, WAITS = 400, SEEDS = 50, LENGTH_MAX = 2000 };

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

static bool is_near(double x, double y)
{
	return fabs(x - y) < 1e-6 * (1 + fabs(y));
}

/* Of a file; files of no known kind are read. */
static uint64_t exact_ns(uint64_t name)
{
	const struct wait_file *file;

	for (size_t cursor = 0; (file = waits_next_file(waits, &cursor));)
		if (file->file == name)
			return file->sum.wait_ns;
	return 0;
}

TEST(the_rows_of_a_file_are_what_was_waited_for_it)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		double own_ns[FILES + 1] = { 0 }, sum_ns = 0, total_ns = 0;
		const struct wait_path *path;

		random_state = seed;
		begin();
		for (size_t i = 0; i < WAITS; i++) {
			uint64_t name = name_of(1 + pick(FILES), KIND_PIPE);
			bool is_kept = !pick(8);

			wait_long_for(name, is_kept ? 1 + pick(STACKS) : 0, 1u << 29, 1 + pick(LENGTH_MAX));
		}
		finish_and_bound();
		for (size_t cursor = 0; (path = waits_next_path(waits, &cursor));) {
			struct wait_parts parts = findings_parts(bounds, path);

			CHECK_THAT(parts.own, >, 0);
			CHECK_THAT(parts.others, >=, 0);
			CHECK((parts.own < 1 || !parts.others));
			CHECK_THAT(path->wait_ns * parts.own, >, path->max_ns - 1e-6);
			own_ns[path->object >> 5] += path->wait_ns * parts.own;
			sum_ns += path->wait_ns * (parts.own + parts.others);
		}
		for (size_t i = 1; i <= FILES; i++)
			if (own_ns[i])
				CHECK(is_near(own_ns[i], exact_ns(name_of(i, KIND_PIPE))));
		total_ns = waits_by_cause(waits, CAUSE_PIPE).wait_ns;
		CHECK_THAT(sum_ns, <, total_ns * (1 + 1e-9));
		end_bounds();
	}
}

TEST(the_rows_of_a_lock_of_the_kernel_are_what_was_waited_for_it)
{
	enum { LOCK = 0x1000 };
	const struct wait_path *path;
	const struct wait_lock *lock;
	double own_ns = 0;
	size_t cursor;

	random_state = 1;
	begin();
	for (size_t i = 0; i < WAITS; i++)
		wait_long_for_klock(LOCK, pick(8) ? 0 : 1 + pick(STACKS), 1u << 29, 1 + pick(LENGTH_MAX));
	finish_and_bound();
	for (cursor = 0; (path = waits_next_path(waits, &cursor));)
		own_ns += path->wait_ns * findings_parts(bounds, path).own;
	cursor = 0;
	lock = waits_next_lock(waits, &cursor);
	CHECK(lock);
	CHECK_EQUAL(lock->object, LOCK);
	CHECK(is_near(own_ns, lock->sum.wait_ns));
	end_bounds();
}

TEST(what_one_stack_stands_for_beyond_its_file_was_waited_for_others)
{
	const struct wait_path *path;
	struct wait_parts parts;
	size_t cursor = 0;

	begin();
	for (uint64_t i = 1; i <= 8; i++)
		wait_long_for(name_of(i, KIND_PIPE), i == 3 ? 7 : 0, 1u << 29, 100);
	finish_and_bound();
	path = waits_next_path(waits, &cursor);
	CHECK(path);
	CHECK_EQUAL(path->wait_ns, 800);
	CHECK(!waits_next_path(waits, &cursor));
	parts = findings_parts(bounds, path);
	CHECK(is_near(parts.own, 1. / 8) && is_near(parts.others, 7. / 8));
	end_bounds();
}

TEST(chance_alone_makes_no_others)
{
	const struct wait_path *path;
	struct wait_parts parts;
	size_t cursor = 0;

	begin();
	for (size_t i = 0; i < 4; i++)
		wait_long_for(name_of(1, KIND_PIPE), i % 2 ? 7 : 0, 1u << 29, 100);
	finish_and_bound();
	path = waits_next_path(waits, &cursor);
	CHECK(path);
	CHECK_EQUAL(path->wait_ns, 1600);
	CHECK(!waits_next_path(waits, &cursor));
	parts = findings_parts(bounds, path);
	CHECK(is_near(parts.own, 1. / 4) && !parts.others);
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

		CHECK_EQUAL(parts.own, 1);
		CHECK(!parts.others);
	}
	CHECK_EQUAL(paths, 6);
	end_bounds();
}
