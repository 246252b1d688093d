/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups: the best there are of a few points, tried one by one; mixtures of which it is known who belongs
 * to whom; and silhouettes by their definition.
 */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "compare/groups.h"
#include "compare/kmeans.h"

enum { TINY_MAX = 8, COLUMNS = 3, EXECUTIONS_MAX = 400 };

static uint32_t random_state;

static double pick(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state / 4294967296.0;
}

static unsigned int pick_below(unsigned int limit)
{
	return pick() * limit;
}

/* --- k-means ---------------------------------------------------------------------------------- */

static double squares_of(const struct points *points, const uint8_t *group_of)
{
	double sum = 0;

	for (size_t i = 0; i < points->rows; i++) {
		double centre[COLUMNS] = { 0 };
		size_t size = 0;

		for (size_t j = 0; j < points->rows; j++) {
			if (group_of[j] != group_of[i])
				continue;
			size++;
			for (unsigned int c = 0; c < COLUMNS; c++)
				centre[c] += points->values[j * COLUMNS + c];
		}
		for (unsigned int c = 0; c < COLUMNS; c++)
			centre[c] /= size;
		sum += points_distance_squared(points->values + i * COLUMNS, centre, COLUMNS);
	}
	return sum;
}

static double best_squares(const struct points *points, unsigned int groups)
{
	uint8_t group_of[TINY_MAX] = { 0 };
	double best = INFINITY;
	size_t at;

	do {
		best = fmin(best, squares_of(points, group_of));
		for (at = 0; at < points->rows && ++group_of[at] == groups; at++)
			group_of[at] = 0;
	} while (at < points->rows);
	return best;
}

TEST(of_a_few_points_the_best_groups_are_found)
{
	double values[TINY_MAX * COLUMNS];

	random_state = 1;
	for (int round = 0; round < 1000; round++) {
		struct points points = { values, 3 + pick_below(TINY_MAX - 3), COLUMNS };
		unsigned int groups = 2 + pick_below(2);
		struct kmeans result;
		double best;

		for (size_t i = 0; i < points.rows * COLUMNS; i++)
			values[i] = round % 2 ? pick() : pick_below(4);
		best = best_squares(&points, groups);
		kmeans(&points, groups, &result);
		if (fabs(squares_of(&points, result.group_of) - result.squares) > 1e-9)
			fail_msg("round %d: squares", round);
		if (result.squares > best + 1e-9)
			fail_msg("round %d: %zu points, %u groups: %g, not %g", round, points.rows, groups,
				 result.squares, best);
		kmeans_fini(&result);
	}
}

static double naive_silhouette(const struct points *points, const uint8_t *group_of)
{
	double sum = 0;

	for (size_t i = 0; i < points->rows; i++) {
		double mean[4] = { 0 }, other = INFINITY, own;
		size_t count[4] = { 0 };

		for (size_t j = 0; j < points->rows; j++) {
			if (j == i)
				continue;
			count[group_of[j]]++;
			mean[group_of[j]] += sqrt(points_distance_squared(points->values + i * COLUMNS,
									  points->values + j * COLUMNS, COLUMNS));
		}
		for (unsigned int g = 0; g < 4; g++)
			if (g != group_of[i] && count[g])
				other = fmin(other, mean[g] / count[g]);
		if (!count[group_of[i]] || isinf(other))
			continue;
		own = mean[group_of[i]] / count[group_of[i]];
		if (fmax(own, other) > 0)
			sum += (other - own) / fmax(own, other);
	}
	return sum / points->rows;
}

TEST(silhouettes_are_what_their_definition_says)
{
	enum { ROWS = 30 };
	double values[ROWS * COLUMNS];
	uint8_t group_of[ROWS];

	random_state = 2;
	for (int round = 0; round < 1000; round++) {
		struct points points = { values, 1 + pick_below(ROWS), COLUMNS };
		unsigned int groups = 1 + pick_below(4);

		for (size_t i = 0; i < points.rows * COLUMNS; i++)
			values[i] = round % 2 ? pick() : pick_below(3);
		for (size_t i = 0; i < points.rows; i++)
			group_of[i] = pick_below(groups);
		if (fabs(silhouette(&points, group_of, groups) - naive_silhouette(&points, group_of)) > 1e-9)
			fail_msg("round %d", round);
	}
}

/* --- Mixtures --------------------------------------------------------------------------------- */

static struct {
	double values[EXECUTIONS_MAX][FIGURES];
	uint8_t kind_of[EXECUTIONS_MAX];
	size_t count;
} mixture;

/* Running takes 1 ms; each kind waits for something of its own, longer than the kind before. */
static void add_execution(unsigned int kind, double scale)
{
	static const uint8_t causes[] = { CAUSE_SLEEP, CAUSE_LOCK, CAUSE_FILE, CAUSE_SOCKET };
	double *values = mixture.values[mixture.count];
	double running_ns = scale * 1e6 * (0.9 + 0.2 * pick());
	double waiting_ns = scale * 10e6 * pow(1.5, kind) * (0.9 + 0.2 * pick());

	memset(values, 0, sizeof(mixture.values[0]));
	values[FIGURE_SHARES + SHARE_RUNNING] = running_ns;
	values[FIGURE_SHARES + SHARE_RUNNABLE] = running_ns * 0.05 * pick();
	values[FIGURE_SHARES + SHARE_BLOCKED + causes[kind]] = waiting_ns;
	values[FIGURE_WAITS + causes[kind]] = 1 + pick_below(3);
	values[FIGURE_DURATION] = running_ns + values[FIGURE_SHARES + SHARE_RUNNABLE] + waiting_ns;
	mixture.kind_of[mixture.count++] = kind;
}

static void make_mixture(unsigned int kinds, double scale)
{
	mixture.count = 0;
	for (unsigned int kind = 0; kind < kinds; kind++)
		for (size_t i = 5 + pick_below(60); i-- > 0;)
			add_execution(kind, scale);
}

static void group(unsigned int wanted, struct groups *groups)
{
	groups_make(mixture.values[0], mixture.count, &(struct groups_options){ .wanted = wanted }, groups);
}

static void swap(size_t a, size_t b)
{
	double values[FIGURES];
	uint8_t kind = mixture.kind_of[a];

	memcpy(values, mixture.values[a], sizeof(values));
	memcpy(mixture.values[a], mixture.values[b], sizeof(values));
	memcpy(mixture.values[b], values, sizeof(values));
	mixture.kind_of[a] = mixture.kind_of[b];
	mixture.kind_of[b] = kind;
}

static void shuffle(void)
{
	for (size_t i = mixture.count; i-- > 1;)
		swap(i, pick_below(i + 1));
}

static void check_kinds(int round, unsigned int kinds, const struct groups *groups)
{
	if (groups->count != kinds)
		fail_msg("round %d: %u groups of %u kinds", round, groups->count, kinds);
	for (size_t i = 0; i < mixture.count; i++)
		if (groups->of[i] != mixture.kind_of[i])
			fail_msg("round %d: execution %zu of kind %u is in group %u", round, i, mixture.kind_of[i],
				 groups->of[i]);
}

TEST(kinds_of_executions_are_found_and_so_is_their_number)
{
	random_state = 3;
	for (int round = 0; round < 1000; round++) {
		unsigned int kinds = 2 + pick_below(3);
		struct groups groups;

		make_mixture(kinds, pow(10, pick_below(7) - 3.0));
		shuffle();
		group(round % 3 ? 0 : kinds, &groups);
		check_kinds(round, kinds, &groups);
		CHECK_THAT(groups.silhouette, >, 0.5);
		CHECK(!groups.outlier_count);
		groups_fini(&groups);
	}
}

TEST(groups_do_not_depend_on_the_order)
{
	random_state = 4;
	for (int round = 0; round < 300; round++) {
		struct groups before, after;
		size_t counts[2][GROUPS_MAX] = { { 0 } };

		mixture.count = 0;
		for (size_t i = 4 + pick_below(60); i-- > 0;)
			add_execution(pick_below(3), pow(10, 2 * pick()));
		group(0, &before);
		/* Who belongs to whom goes along. */
		memcpy(mixture.kind_of, before.of, mixture.count);
		shuffle();
		group(0, &after);
		CHECK_EQUAL(before.count, after.count);
		CHECK_EQUAL(before.silhouette, after.silhouette);
		CHECK(!memcmp(after.of, mixture.kind_of, mixture.count));
		for (size_t i = 0; i < mixture.count; i++)
			if (after.of[i] != GROUP_OUTLIER)
				counts[0][after.of[i]]++;
		CHECK(!memcmp(counts[0], after.sizes, sizeof(after.sizes)));
		groups_fini(&before);
		groups_fini(&after);
	}
}

TEST(what_is_like_no_other_is_an_outlier_unless_it_took_longest)
{
	random_state = 5;
	for (int round = 0; round < 300; round++) {
		struct groups groups;
		size_t alone;

		/* One that only runs, and not for longer than others wait. */
		make_mixture(2, 1);
		alone = mixture.count;
		add_execution(0, 1);
		memset(mixture.values[alone], 0, sizeof(mixture.values[alone]));
		mixture.values[alone][FIGURE_SHARES + SHARE_RUNNING] = 5e6;
		mixture.values[alone][FIGURE_DURATION] = 5e6;
		mixture.kind_of[alone] = GROUP_OUTLIER;
		shuffle();
		group(0, &groups);
		check_kinds(round, 2, &groups);
		CHECK_EQUAL(groups.outlier_count, 1);
		groups_fini(&groups);
	}
}

TEST(the_slowest_executions_are_in_groups_of_their_own_however_few_they_are)
{
	random_state = 8;
	for (int round = 0; round < 300; round++) {
		unsigned int few = 1 + pick_below(3);
		struct groups groups;

		make_mixture(2, 1);
		for (unsigned int i = 0; i < few; i++) {
			add_execution(1, 1000);
			mixture.kind_of[mixture.count - 1] = 2;
		}
		shuffle();
		group(0, &groups);
		CHECK(!groups.outlier_count);
		for (size_t i = 0; i < mixture.count; i++)
			for (size_t j = 0; j < i; j++)
				if ((mixture.kind_of[i] == 2) != (mixture.kind_of[j] == 2))
					CHECK(groups.of[i] != groups.of[j]);
		groups_fini(&groups);
	}
}

/* Two kinds that wait for different causes equally long, each of them slow or fast. */
TEST(groups_are_made_by_those_figures_alone_that_were_chosen)
{
	bool by_duration[FIGURES] = { [FIGURE_DURATION] = true };
	bool by_lock[FIGURES] = { [FIGURE_SHARES + SHARE_BLOCKED + CAUSE_LOCK] = true };

	random_state = 9;
	for (int round = 0; round < 300; round++) {
		struct groups_options options = { .wanted = 2, .by_figure = round % 2 ? by_duration : by_lock };
		bool is_slow[EXECUTIONS_MAX];
		struct groups groups;

		mixture.count = 0;
		for (size_t i = 0; i < 40; i++) {
			is_slow[i] = i % 4 == 0;
			add_execution(i % 2, is_slow[i] ? 20 : 1);
		}
		groups_make(mixture.values[0], mixture.count, &options, &groups);
		CHECK_EQUAL(groups.count, 2);
		for (size_t i = 0; i < mixture.count; i++)
			if (round % 2)
				CHECK_EQUAL(groups.of[i], is_slow[i]);
			else
				CHECK_EQUAL(groups.of[i] == groups.of[1], mixture.kind_of[i] == 1);
		groups_fini(&groups);
	}
}

TEST(what_is_all_the_same_is_one_group)
{
	struct groups groups;

	memset(&mixture, 0, sizeof(mixture));
	for (size_t i = 0; i < 50; i++)
		mixture.values[i][FIGURE_DURATION] = 1000;
	for (size_t count = 0; count <= 50; count += 5) {
		mixture.count = count;
		group(count % 2 ? 6 : 0, &groups);
		CHECK_EQUAL(groups.count, 1);
		CHECK_EQUAL(groups.sizes[0], count);
		CHECK(!groups.outlier_count);
		groups_fini(&groups);
	}
	mixture.count = 50;
	mixture.values[7][FIGURE_DURATION] = mixture.values[9][FIGURE_DURATION] = 5000;
	group(6, &groups);
	CHECK_EQUAL(groups.count, 2);
	CHECK_EQUAL(groups.sizes[0], 48);
	CHECK_EQUAL(groups.of[7], 1);
	CHECK_EQUAL(groups.of[9], 1);
	groups_fini(&groups);
}

TEST(many_executions_are_grouped_by_some_of_them)
{
	enum { MANY = 60000 };
	double(*values)[FIGURES] = xcalloc(MANY, sizeof(*values));
	struct groups groups;

	random_state = 6;
	for (size_t i = 0; i < MANY; i++) {
		mixture.count = 0;
		add_execution(i % 10 == 0, 1);
		memcpy(values[i], mixture.values[0], sizeof(values[i]));
	}
	groups_make(values[0], MANY, &(struct groups_options){ 0 }, &groups);
	CHECK_EQUAL(groups.count, 2);
	CHECK_EQUAL(groups.sizes[1], MANY / 10);
	CHECK(!groups.outlier_count);
	for (size_t i = 0; i < MANY; i++)
		CHECK_EQUAL(groups.of[i], i % 10 == 0);
	groups_fini(&groups);
	free(values);
}

TEST(what_is_just_a_little_unlike_the_others_is_no_outlier)
{
	struct groups groups;

	random_state = 7;
	make_mixture(2, 1);
	for (size_t i = 0; i < 3; i++) {
		add_execution(0, 2.5);
		mixture.kind_of[mixture.count - 1] = 0;
	}
	group(2, &groups);
	check_kinds(0, 2, &groups);
	groups_fini(&groups);
}
