/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "waits/history.h"

/* A thread that is active and not, by turns, while the share grows by 1 / n of the time. */
enum { STEPS = 5000, STEP_NS_MAX = 1000 };

static struct {
	uint64_t time_ns[STEPS + 1], share_ns[STEPS + 1], cmetric_ns[STEPS + 1], busy_ns[STEPS + 1];
	struct history history;
	uint32_t random;
} w;

static uint32_t pick(uint32_t count)
{
	w.random = w.random * 1103515245 + 12345;
	return (w.random >> 8) % count;
}

/* At even steps it becomes active, at odd ones it blocks; some of its waits are for work too. */
static void live(uint32_t seed)
{
	w.random = seed;
	for (int i = 0; i <= STEPS; i++) {
		bool is_active = i % 2 == 0;

		history_add(&w.history, &(struct history_point){
						.time_ns = w.time_ns[i],
						.share_ns = w.share_ns[i],
						.cmetric_ns = w.cmetric_ns[i],
						.busy_ns = w.busy_ns[i],
						.is_active = is_active,
					});
		if (i < STEPS) {
			uint64_t dt = 1 + pick(STEP_NS_MAX), share = dt / (1 + pick(4));

			w.time_ns[i + 1] = w.time_ns[i] + dt;
			w.share_ns[i + 1] = w.share_ns[i] + share;
			w.cmetric_ns[i + 1] = w.cmetric_ns[i] + (is_active ? share : 0);
			w.busy_ns[i + 1] = w.busy_ns[i] + (is_active ? dt : pick(dt + 1));
		}
	}
}

TEST(the_last_changes_are_exact)
{
	w.time_ns[0] = 100;
	for (uint32_t seed = 1; seed < 20; seed++) {
		live(seed);
		for (int i = STEPS - HISTORY_EXACT + 1; i <= STEPS; i++) {
			struct history_sum sum = history_at(&w.history, w.time_ns[i], w.share_ns[i]);

			CHECK_EQUAL(sum.cmetric_ns, w.cmetric_ns[i]);
			CHECK_EQUAL(sum.busy_ns, w.busy_ns[i]);
		}
		history_fini(&w.history);
	}
}

TEST(within_a_stretch_of_activity_the_share_reports)
{
	live(5);
	for (int i = STEPS - HISTORY_EXACT + 2; i < STEPS; i += 2) {
		uint64_t share_ns = (w.share_ns[i] + w.share_ns[i + 1]) / 2;
		struct history_sum sum = history_at(&w.history, w.time_ns[i] + 1, share_ns);

		CHECK_EQUAL(sum.cmetric_ns, w.cmetric_ns[i] + share_ns - w.share_ns[i]);
		CHECK(sum.busy_ns == w.busy_ns[i] + 1 || w.time_ns[i] + 1 >= w.time_ns[i + 1]);
	}
	history_fini(&w.history);
}

TEST(what_is_long_ago_is_known_to_a_part_of_its_age)
{
	for (uint32_t seed = 1; seed < 20; seed++) {
		live(seed);
		CHECK_THAT(w.history.count, <=, HISTORY_CAPACITY);
		for (int i = 0; i <= STEPS; i++) {
			struct history_sum sum = history_at(&w.history, w.time_ns[i], w.share_ns[i]);
			double age_ns = w.time_ns[STEPS] - w.time_ns[i];
			double error = ((double)sum.busy_ns - w.busy_ns[i]) / (age_ns + STEP_NS_MAX);

			CHECK_THAT(error, <=, 0.05);
			CHECK_THAT(error, >=, -0.05);
		}
		history_fini(&w.history);
	}
}

TEST(changes_at_one_moment_find_space)
{
	for (int i = 0; i < 3 * HISTORY_CAPACITY; i++)
		history_add(&w.history, &(struct history_point){ .time_ns = 100, .is_active = i % 2 });
	CHECK_THAT(w.history.count, <=, HISTORY_CAPACITY);
	history_fini(&w.history);
}

/* 64 times as long as before, each time: a run of months. */
TEST(however_long_it_lives_there_is_space)
{
	uint64_t time_ns = 0;

	for (uint64_t step_ns = 1000; step_ns < 1ull << 56; step_ns *= 2)
		for (int i = 0; i < 64; i++)
			history_add(&w.history, &(struct history_point){ .time_ns = time_ns += step_ns });
	for (int i = 0; i < 100000; i++)
		history_add(&w.history, &(struct history_point){ .time_ns = time_ns += 100 });
	CHECK_THAT(w.history.count, <=, HISTORY_CAPACITY);
	CHECK_EQUAL(w.history.points[0].time_ns, 1000);
	history_fini(&w.history);
}

TEST(figures_never_fall_with_time)
{
	struct history_sum before = { 0 };

	live(3);
	for (int i = 0; i <= STEPS; i++) {
		struct history_sum sum = history_at(&w.history, w.time_ns[i], w.share_ns[i]);

		CHECK_THAT(sum.cmetric_ns, >=, before.cmetric_ns);
		CHECK_THAT(sum.busy_ns, >=, before.busy_ns);
		before = sum;
	}
	history_fini(&w.history);
}

TEST(before_its_life_a_thread_was_nothing)
{
	struct history_sum sum;

	live(1);
	sum = history_at(&w.history, 99, 0);
	CHECK(!sum.cmetric_ns && !sum.busy_ns);
	history_fini(&w.history);
	sum = history_at(&w.history, 1000, 1000);
	CHECK(!sum.cmetric_ns && !sum.busy_ns);
}
