/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ran on two sides: threads whose code is known at each moment, sampled at a period with a random phase.
 * Estimates must be as far from the truth as they say and add up; what did not change must not be told, what
 * changed by more than the errors must be.
 */
#include "test.h"

#include <math.h>

#include "base/memory.h"
#include "compare/code_changes.h"
#include "compare/configurations.h"
#include "compare/sampled_code.h"
#include "compare/side_code.h"
#include "graph/graph_label.h"
#include "report/report.h"
#include "stacks/fold.h"
#include "whatif/run_code.h"

enum { RUNS = 300, CODES = 4, THREADS = 6, PERIOD_NS = 3000000, STRETCHES = 2000, PARTS_MAX = THREADS * STRETCHES };

/* Innermost first: each code is called by outer(), which main() calls; the last one calls itself. */
static const struct report_frame frames[CODES][4] = {
	{ { .function = "alpha" }, { .function = "outer" }, { .function = "main" } },
	{ { .function = "beta" }, { .function = "outer" }, { .function = "main" } },
	{ { .function = "gamma" }, { .function = "outer" }, { .function = "main" } },
	{ { .function = "delta" }, { .function = "delta" }, { .function = "outer" }, { .function = "main" } },
};

static struct world {
	uint32_t random;
	struct fold_rules *fold;
	struct graph_labels *labels;
	struct run_place places[CODES];
	struct run_code code;
	struct ran_part *parts;
	size_t part_count;
	double truth_ns[CODES], all_ns;
	double few_ns; /* what the last thread ran, which may have no sample */
} w;

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

static void begin(uint32_t seed)
{
	w = (struct world){ .random = seed * 2654435761u + 1, .fold = fold_rules_new() };
	w.labels = graph_labels_new(&(struct graph_names){ .fold = w.fold });
	w.parts = xcalloc(PARTS_MAX, sizeof(*w.parts));
	for (size_t i = 0; i < CODES; i++)
		w.places[i] = (struct run_place){ .frames = frames[i],
						  .frame_count = i == CODES - 1 ? 4 : 3,
						  .is_named = true };
	w.code.places = w.places;
	w.code.place_count = CODES;
}

static void end(void)
{
	free(w.code.samples);
	free(w.parts);
	graph_labels_free(w.labels);
	fold_rules_free(w.fold);
}

static void add_sample(uint32_t thread, uint64_t time_ns, uint32_t place)
{
	ARRAY_GROW(w.code.samples, w.code.sample_count, w.code.sample_capacity, 1024);
	w.code.samples[w.code.sample_count++] = (struct run_sample_at){ time_ns, thread, place };
	w.places[place].count++;
}

/*
 * One thread for count stretches of 0.2 to 4 ms, each of one code: of slower, more_percent longer ones. Between
 * them it does not run. Each stretch is a part if has_executions; else there is one part.
 */
static void live(uint32_t thread, size_t count, uint32_t slower, uint32_t more_percent, bool has_executions)
{
	uint64_t now_ns = 1000000 + pick(1000000), next_ns = now_ns + pick(PERIOD_NS), ran_ns = 0;
	uint64_t begin_ns = now_ns;

	for (size_t i = 0; i < count; i++) {
		uint32_t place = pick(CODES);
		uint64_t length_ns = 200000 + pick(3800000);

		if (place == slower)
			length_ns += length_ns * more_percent / 100;
		if (has_executions)
			w.parts[w.part_count++] = (struct ran_part){ thread, now_ns, now_ns + length_ns, length_ns };
		for (; next_ns < now_ns + length_ns; next_ns += PERIOD_NS)
			add_sample(thread, next_ns, place);
		w.truth_ns[place] += length_ns;
		w.all_ns += length_ns;
		ran_ns += length_ns;
		now_ns += length_ns;
		/* Timers of a thread that does not run find nothing. */
		now_ns += pick(500000);
		if (next_ns < now_ns)
			next_ns += PERIOD_NS * (1 + (now_ns - next_ns) / PERIOD_NS);
	}
	w.few_ns = ran_ns;
	if (!has_executions)
		w.parts[w.part_count++] = (struct ran_part){ thread, begin_ns, now_ns, ran_ns };
}

static const char *const names[CODES] = { "alpha", "beta", "gamma", "delta" };

static void play(uint32_t seed, uint32_t slower, uint32_t more_percent, bool has_executions, struct side_code *out)
{
	const struct sampled_options options = { .spreads = has_executions };

	begin(seed);
	for (uint32_t thread = 1; thread <= THREADS; thread++)
		live(thread, thread == THREADS ? 4 : 50 + pick(300), slower, more_percent, has_executions);
	side_code_init(out);
	sampled_code_add(out, &w.code, w.labels, w.parts, w.part_count, &options);
}

TEST(estimates_are_as_far_from_the_truth_as_they_say_and_add_up)
{
	size_t inside = 0, asked = 0;

	for (uint32_t seed = 0; seed < RUNS; seed++) {
		struct side_code code;
		double self_ns = 0;

		play(seed, CODES, 0, false, &code);
		for (size_t i = 0; i < CODES; i++) {
			const struct side_function *function = side_code_find(&code, names[i]);

			CHECK(function != NULL);
			self_ns += function->self.ns;
			inside += fabs(function->self.ns - w.truth_ns[i]) <= 2 * function->self.error_ns;
			asked++;
			CHECK(fabs(function->self.ns - function->total.ns) <= 1);
		}
		CHECK(self_ns <= w.all_ns * (1 + 1e-9) && self_ns >= w.all_ns - w.few_ns - 1);
		CHECK(fabs(side_code_find(&code, "main")->total.ns - self_ns) <= 1e-6 * w.all_ns);
		CHECK(side_code_find(&code, "main")->self.ns == 0);
		CHECK(side_code_find(&code, "nobody") == NULL);
		side_code_fini(&code);
		end();
	}
	CHECK(inside >= 0.93 * asked);
}

/* How many comparisons of so many told anything of a code, and of how many it was that one, and the way it changed. */
static size_t tell(uint32_t more_percent, bool has_executions, size_t *right)
{
	size_t told = 0;

	*right = 0;
	for (uint32_t seed = 0; seed < RUNS; seed++) {
		struct side_code sides[2];
		struct code_changes changes;
		double scales[2];

		play(2 * seed + 1000, CODES, 0, has_executions, &sides[0]);
		scales[0] = 1e9 / w.all_ns;
		end();
		play(2 * seed + 1001, 1, more_percent, has_executions, &sides[1]);
		scales[1] = 1e9 / w.all_ns;
		end();
		code_changes_find(sides, scales, 0, true, &changes);
		told += changes.count > 0;
		*right += changes.count > 0 && !strcmp(changes.list[0].name, "beta") &&
			  changes.list[0].self.is_significant && changes.list[0].self.delta_ns > 0 &&
			  changes.list[0].total.delta_ns > 0;
		for (size_t i = 0; i < changes.count; i++)
			CHECK(changes.list[i].self.is_significant || changes.list[i].total.is_significant);
		code_changes_fini(&changes);
		side_code_fini(&sides[0]);
		side_code_fini(&sides[1]);
	}
	return told;
}

TEST(a_share_that_did_not_change_is_told_by_chance_in_one_of_twenty_at_most)
{
	size_t right;

	/* Stretches are of random length: the truth differs, too, and may be told: shares are compared with shares. */
	CHECK(tell(0, true, &right) <= 0.05 * RUNS);
}

TEST(code_that_took_twice_as_long_is_told_as_the_first_one_with_the_right_sign)
{
	size_t right;

	tell(100, false, &right);
	CHECK(right >= 0.95 * RUNS);
	tell(100, true, &right);
	CHECK(right >= 0.95 * RUNS);
}

TEST(of_the_same_side_nothing_is_told)
{
	const double scales[2] = { 1, 1 };
	struct code_changes changes;
	struct side_code code;

	play(7, 1, 50, false, &code);
	code_changes_find((const struct side_code[]){ code, code }, scales, 0, true, &changes);
	CHECK_EQUAL(changes.count, 0);
	CHECK_EQUAL(changes.unsure_count, 0);
	code_changes_fini(&changes);
	side_code_fini(&code);
	end();
}

TEST(what_is_missing_for_want_of_space_has_not_changed)
{
	const double scales[2] = { 1, 1 };
	struct side_code sides[2];
	struct code_changes changes;

	for (size_t i = 0; i < 2; i++)
		side_code_init(&sides[i]);
	*side_code_get(&sides[0], "gone") =
		(struct side_function){ .name = "gone", .samples = 1000, .self = { 1e9, 1e6 }, .total = { 1e9, 1e6 } };
	code_changes_find(sides, scales, 0, true, &changes);
	CHECK_EQUAL(changes.count, 1);
	CHECK(changes.list[0].self.delta_ns == -1e9);
	code_changes_fini(&changes);
	sides[1].is_cut = true;
	code_changes_find(sides, scales, 0, true, &changes);
	CHECK_EQUAL(changes.count, 0);
	code_changes_fini(&changes);
	for (size_t i = 0; i < 2; i++)
		side_code_fini(&sides[i]);
}

TEST(samples_of_few_carry_no_difference)
{
	const double scales[2] = { 1, 1 };
	struct side_code sides[2];
	struct code_changes changes;

	for (size_t i = 0; i < 2; i++)
		side_code_init(&sides[i]);
	*side_code_get(&sides[1], "rare") =
		(struct side_function){ .name = "rare", .samples = 3, .self = { 9e6, 5e6 }, .total = { 9e6, 5e6 } };
	code_changes_find(sides, scales, 0, true, &changes);
	CHECK_EQUAL(changes.count, 0);
	CHECK_EQUAL(changes.unsure_count, 1);
	code_changes_fini(&changes);
	for (size_t i = 0; i < 2; i++)
		side_code_fini(&sides[i]);
}

/* --- Groups of threads over runs ---------------------------------------------------------------- */

TEST(groups_of_runs_stand_side_by_side_under_the_name_of_the_most_threads)
{
	const struct report_thread threads[2] = { { .cmetric_ns = 70 }, { .cmetric_ns = 30 } };
	const struct report_group first[] = {
		{ .name = "pack-0", .thread_count = 1, .cmetric_ns = 70, .threads = threads, .row_count = 1, .key = 5 },
		{ .name = "read",
		  .thread_count = 1,
		  .cmetric_ns = 30,
		  .threads = threads + 1,
		  .row_count = 1,
		  .key = 6 },
	};
	const struct report_group second[] = {
		{ .name = "pack-*",
		  .thread_count = 2,
		  .cmetric_ns = 100,
		  .threads = threads,
		  .row_count = 2,
		  .key = 5 },
	};
	const struct report one = { .groups = first, .group_count = 2 }, two = { .groups = second, .group_count = 1 };
	const struct report *const reports[] = { &one, &two };
	struct configurations all;

	configurations_find(reports, 2, &all);
	CHECK_EQUAL(all.group_count, 2);
	CHECK(!strcmp(all.groups[0].name, "pack-*"));
	CHECK_EQUAL(all.groups[0].parts[0].cmetric_ns, 70);
	CHECK_EQUAL(all.groups[0].parts[1].cmetric_ns, 100);
	CHECK_EQUAL(all.groups[0].parts[1].thread_count, 2);
	CHECK_EQUAL(all.groups[0].parts[1].most_ns, 70);
	CHECK_EQUAL(all.groups[1].parts[1].thread_count, 0);
	CHECK_EQUAL(all.groups[1].parts[1].cmetric_ns, 0);
	configurations_fini(&all);
}
