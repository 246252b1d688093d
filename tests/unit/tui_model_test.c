/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "graph_fixture.h"
#include "report_fixture.h"
#include "stacks/fold.h"
#include "tui/model.h"
#include "tui/rows/rows.h"
#include "tui/terminal/line.h"

enum { MANY = 100000, SCREEN_LINES = 20 };

static struct model *new_model(const struct report *report, enum page_number page)
{
	struct model *model = model_new(&(struct model_options){ .has_unicode = true });

	model_set_report(model, report);
	model_set_size(model, 80, SCREEN_LINES);
	model_go_to(model, page);
	return model;
}

static bool row_has(struct model *model, size_t i, const char *part)
{
	struct text line = { 0 };
	bool is_there;

	model_put_row(model, i, &line);
	is_there = strstr(line.bytes, part);
	text_fini(&line);
	return is_there;
}

static bool cursor_is_on(struct model *model, const char *part)
{
	return row_has(model, model_cursor(model), part);
}

static void search(struct model *model, const char *pattern, bool is_backwards)
{
	model_search(model, pattern, is_backwards, false);
	while (model_search_on(model, 3) == SEARCH_GOING_ON)
		;
}

/* Paths with names of functions "f0" and so on. */
struct many {
	struct report report;
	struct report_path *paths;
	struct report_frame (*frames)[8];
	char (*names)[32];
};

static struct many many_paths(size_t count)
{
	struct many many = {
		.paths = calloc(count, sizeof(*many.paths)),
		.frames = calloc(count, sizeof(*many.frames)),
		.names = calloc(count, sizeof(*many.names)),
	};

	for (size_t i = 0; i < count; i++) {
		snprintf(many.names[i], sizeof(many.names[i]), "f%zu", i);
		for (size_t k = 0; k < 8; k++)
			many.frames[i][k] = (struct report_frame){
				.function = many.names[i],
				.line = k + 1,
			};
		many.paths[i] = (struct report_path){
			.rank = i + 1,
			.frames = many.frames[i],
			.frame_count = 8,
			.cmetric_ns = count - i,
			.slices = i,
			.key = i + 1,
			.cause = i % 2 ? CAUSE_LOCK : CAUSE_FILE,
			.group = i % 2 ? GROUP_SYNCHRONISATION : GROUP_IO,
		};
	}
	many.report.paths = many.paths;
	many.report.path_count = many.report.totals.paths = count;
	many.report.target.wall_ns = 1000;
	return many;
}

static void many_free(struct many *many)
{
	free(many->paths);
	free(many->frames);
	free(many->names);
}

/* What a screen shows, as the drawing side does it. */
static void look(struct model *model)
{
	struct text line = { 0 };
	size_t top = model_top(model), count = model_count(model);

	for (size_t i = top; i < top + SCREEN_LINES && i < count; i++) {
		line.length = 0;
		model_put_row(model, i, &line);
	}
	CHECK_THAT(model_cursor(model), >=, top);
	CHECK_THAT(model_cursor(model), <, top + SCREEN_LINES);
	text_fini(&line);
}

TEST(of_100000_rows_only_those_are_made_text_of_that_are_seen)
{
	struct many many = many_paths(MANY);
	struct model *model = new_model(&many.report, PAGE_PATHS);
	size_t looks = 0;

	CHECK_EQUAL(model_count(model), MANY);
	for (int i = 0; i < 300; i++, looks++) {
		model_move(model, i % 3 ? 1 : 17);
		look(model);
	}
	for (int i = 0; i < 300; i++, looks++) {
		model_move_screens(model, i < 200 ? 1 : -1);
		look(model);
	}
	model_move(model, MANY);
	look(model);
	CHECK(cursor_is_on(model, "f99999"));
	model_move(model, -MANY);
	look(model);
	CHECK(cursor_is_on(model, "f0"));
	CHECK_THAT(model_formatted(model), <=, (looks + 2) * SCREEN_LINES + 2);
	/* Neither a newer report nor another page or order makes more of them. */
	model_set_report(model, &many.report);
	model_next_sort(model);
	model_toggle(model);
	CHECK_THAT(model_count(model), >, MANY);
	CHECK_THAT(model_formatted(model), <=, (looks + 2) * SCREEN_LINES + 2);
	model_free(model);
	many_free(&many);
}

TEST(unfolding_more_than_fits_is_bounded_and_said)
{
	struct many many = many_paths(MANY);
	struct model *model = new_model(&many.report, PAGE_PATHS);

	model_unfold_all(model);
	CHECK_EQUAL(model_count(model), ROWS_MAX);
	CHECK(row_has(model, ROWS_MAX - 1, "too many rows to show"));
	model_unfold_all(model);
	CHECK_EQUAL(model_count(model), MANY);
	model_free(model);
	many_free(&many);
}

TEST(the_cursor_and_what_is_unfolded_stay_with_their_path_when_the_order_changes)
{
	struct many before = many_paths(50), after = many_paths(50);
	struct model *model = new_model(&before.report, PAGE_PATHS);
	size_t above, cursor;

	/* In the newer one all others have overtaken f20. */
	for (size_t i = 0; i < 50; i++) {
		size_t from = i == 49 ? 20 : i < 20 ? i : i + 1;

		after.paths[i] = before.paths[from];
	}
	model_move(model, 20);
	model_unfold(model);
	CHECK(cursor_is_on(model, "f20") && row_has(model, 21, "20 critical slices of"));
	above = model_cursor(model) - model_top(model);
	model_set_report(model, &after.report);
	cursor = model_cursor(model);
	CHECK_EQUAL(cursor, 49);
	CHECK(cursor_is_on(model, "f20"));
	CHECK(cursor - model_top(model) == above || model_count(model) - model_top(model) == SCREEN_LINES);
	CHECK(row_has(model, 50, "20 critical slices of"));
	model_free(model);
	many_free(&before);
	many_free(&after);
}

TEST(the_cursor_stays_where_it_was_when_its_row_is_gone)
{
	struct many many = many_paths(30);
	struct model *model = new_model(&many.report, PAGE_PATHS);

	model_move(model, 25);
	many.report.path_count = 10;
	many.report.totals.paths = 10;
	model_set_report(model, &many.report);
	CHECK_EQUAL(model_cursor(model), 9);
	CHECK_EQUAL(model_count(model), 10);
	many.report.path_count = many.report.totals.paths = 0;
	model_set_report(model, &many.report);
	CHECK_EQUAL(model_count(model), 0);
	CHECK_EQUAL(model_cursor(model), 0);
	model_move(model, 5);
	model_fold(model);
	model_toggle(model);
	model_free(model);
	many_free(&many);
}

TEST(folding_leads_to_the_row_above_and_then_folds_that)
{
	struct many many = many_paths(3);
	struct model *model = new_model(&many.report, PAGE_PATHS);

	model_move(model, 1);
	model_toggle(model);
	model_move(model, 2);
	CHECK_EQUAL(model_cursor(model), 3);
	model_fold(model);
	CHECK_EQUAL(model_cursor(model), 1);
	CHECK_THAT(model_count(model), >, 3);
	model_fold(model);
	CHECK_EQUAL(model_count(model), 3);
	CHECK_EQUAL(model_cursor(model), 1);
	model_free(model);
	many_free(&many);
}

TEST(each_order_of_a_page_is_its_own_and_they_come_round)
{
	struct many many = many_paths(40);
	struct model *model = new_model(&many.report, PAGE_PATHS);

	CHECK_STRING(model_sort_name(model), "CMetric");
	CHECK(row_has(model, 0, "f0"));
	model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "samples");
	CHECK(row_has(model, 0, "f39"));
	model_next_sort(model);
	model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "cause");
	CHECK(row_has(model, 0, "file"));
	CHECK(row_has(model, 39, "lock"));
	/* Equal ones stay as the report has them. */
	CHECK(row_has(model, 1, "f2") && row_has(model, 2, "f4"));
	model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "CMetric");
	model_go_to(model, PAGE_SUMMARY);
	CHECK(!model_sort_name(model));
	model_next_sort(model);
	model_free(model);
	many_free(&many);
}

TEST(a_filter_leaves_what_has_it_in_a_name_or_cause)
{
	struct report_fixture *fixture = report_fixture_new("pipeline");
	struct many many = many_paths(40);
	struct model *model = new_model(&many.report, PAGE_PATHS);

	model_set_filter(model, "LOC");
	CHECK_EQUAL(model_count(model), 20);
	CHECK(model_is_filtered(model));
	model_set_filter(model, "synchro");
	CHECK_EQUAL(model_count(model), 20);
	model_set_filter(model, "no such cause");
	CHECK_EQUAL(model_count(model), 0);
	model_set_filter(model, "");
	CHECK_EQUAL(model_count(model), 40);
	CHECK(!model_is_filtered(model));

	model_set_report(model, report_fixture_get(fixture));
	model_go_to(model, PAGE_THREADS);
	CHECK_EQUAL(model_count(model), 7);
	model_set_filter(model, "ran");
	CHECK_EQUAL(model_count(model), 1);
	CHECK(row_has(model, 0, "rank"));
	model_toggle(model);
	CHECK_EQUAL(model_count(model), 17); /* what it says of itself, and 15 threads */
	model_go_to(model, PAGE_SUMMARY);
	CHECK(!model_is_filtered(model));
	CHECK_STRING(model_filter(model), "ran");
	model_free(model);
	many_free(&many);
	report_fixture_free(fixture);
}

TEST(a_search_goes_round_the_page_both_ways_and_says_when_it_fails)
{
	struct many many = many_paths(100);
	struct model *model = new_model(&many.report, PAGE_PATHS);

	search(model, "f7", false);
	CHECK(cursor_is_on(model, "f7"));
	search(model, NULL, false);
	CHECK(cursor_is_on(model, "f70"));
	search(model, NULL, true);
	search(model, NULL, true);
	CHECK(cursor_is_on(model, "f79"));
	search(model, NULL, false);
	CHECK(cursor_is_on(model, "f7"));
	CHECK_EQUAL(model_cursor(model), 7);
	model_search(model, "nothing like it", false, true);
	CHECK_EQUAL(model_search_on(model, 10), SEARCH_GOING_ON);
	CHECK_EQUAL(model_search_on(model, 1000), SEARCH_FAILED);
	CHECK_EQUAL(model_cursor(model), 7);
	/* Small letters stand for capitals, capitals for themselves. */
	search(model, "F9", false);
	CHECK_EQUAL(model_cursor(model), 7);
	search(model, "LOCK", false);
	CHECK_EQUAL(model_cursor(model), 7);
	search(model, "lock", false);
	CHECK_EQUAL(model_cursor(model), 9);
	model_free(model);
	many_free(&many);
}

TEST(a_search_sees_what_the_screen_cuts_off)
{
	struct many many = many_paths(3);
	struct model *model = new_model(&many.report, PAGE_PATHS);
	static const char name[] = "a::name::that::is::much::longer::than::its::column::on::a::small::screen::is::end";

	many.frames[2][0].function = name;
	search(model, "longer::than", false);
	CHECK_EQUAL(model_cursor(model), 2);
	CHECK(!cursor_is_on(model, "longer::than"));
	model_free(model);
	many_free(&many);
}

TEST(each_page_keeps_its_own_cursor)
{
	struct many many = many_paths(30);
	struct model *model = new_model(&many.report, PAGE_PATHS);

	model_move(model, 12);
	model_go_to(model, PAGE_LOCKS);
	CHECK_EQUAL(model_cursor(model), 0);
	model_show_help(model, true);
	CHECK(model_is_help(model));
	CHECK_THAT(model_count(model), >, 10);
	model_move(model, 3);
	model_go_to(model, PAGE_PATHS);
	CHECK(!model_is_help(model));
	CHECK_EQUAL(model_cursor(model), 12);
	model_free(model);
	many_free(&many);
}

/* 300 mutexes that objects of one type have, one with a name, and one that stands alone. */
TEST(locks_of_a_class_are_one_row_that_unfolds)
{
	enum { COUNT = 302 };
	struct report_lock *locks = calloc(COUNT, sizeof(*locks));
	struct report report = { .locks = locks, .lock_count = COUNT };
	char(*objects)[16] = calloc(COUNT, sizeof(*objects));
	struct model *model;

	for (size_t i = 0; i < COUNT; i++) {
		snprintf(objects[i], sizeof(objects[i]), "0x%zx", 0x1000 + i);
		locks[i] = (struct report_lock){
			.address = objects[i],
			.kind = "mutex",
			.where = "Account::transfer",
			.waits = 2,
			.wait_ns = 1000,
			.p99_ns = 700 + i,
			.max_ns = 900,
			.key = i + 1,
		};
	}
	locks[0].name = "registry_mutex";
	locks[COUNT - 1].where = "main";
	report.balance.threads.total_ns = report.balance.threads.busy_ns = 1000000;
	model = new_model(&report, PAGE_LOCKS);
	CHECK_EQUAL(model_count(model), 3);
	CHECK(row_has(model, 0, "300 mutex locks in Account::transfer"));
	CHECK(row_has(model, 0, "300 us") && row_has(model, 0, "600"));
	CHECK(row_has(model, 1, "registry_mutex  mutex") && row_has(model, 2, "0x112d"));
	model_toggle(model);
	CHECK_EQUAL(model_count(model), 303);
	CHECK(row_has(model, 1, "0x1001"));
	model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "waits");
	CHECK(row_has(model, 0, "300 mutex"));
	model_next_sort(model);
	model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "p99");
	/* Of no lock of the class more. */
	CHECK(row_has(model, 0, "1.00 us") && row_has(model, 0, "0x112d"));
	CHECK(row_has(model, 1, "1.00 us") && row_has(model, 1, "300 mutex"));
	model_free(model);
	free(objects);
	free(locks);
}

/* Where they are waited for is unknown: their stacks were not kept. */
TEST(locks_without_a_place_are_one_row_a_kind)
{
	struct report_lock locks[] = {
		{ .address = "0x1000", .kind = "futex", .waits = 2, .wait_ns = 3000, .key = 1 },
		{ .address = "0x2000", .kind = "pi-mutex", .waits = 2, .wait_ns = 2000, .key = 2 },
		{ .address = "0x3000", .kind = "futex", .waits = 2, .wait_ns = 1000, .key = 3 },
	};
	struct report report = { .locks = locks, .lock_count = sizeof(locks) / sizeof(*locks) };
	struct model *model;

	report.balance.threads.total_ns = report.balance.threads.busy_ns = 100000;
	model = new_model(&report, PAGE_LOCKS);
	CHECK_EQUAL(model_count(model), 2);
	CHECK(row_has(model, 0, "2 futex locks, place unknown") && row_has(model, 0, "4.00 us"));
	CHECK(row_has(model, 1, "0x2000  pi-mutex"));
	model_toggle(model);
	CHECK_EQUAL(model_count(model), 4);
	CHECK(row_has(model, 1, "0x1000") && row_has(model, 2, "0x3000"));
	model_free(model);
}

/* --- Kernel locks -------------------------------------------------------------------- */

struct many_klocks {
	struct report report;
	struct report_klock *locks;
	char (*names)[32];
};

/* "l0" and so on, each waited for less than the one before, and more often. */
static struct many_klocks many_klocks(size_t count)
{
	static const struct report_frame frames[] = {
		{ .function = "down_read", .is_kernel = true },
		{ .function = "serve", .file = "s.c", .line = 7 },
	};
	static const struct report_klock_stack stack = { .frames = frames, .frame_count = 2 };
	static const struct report_klock_waiter waiters[] = {
		{ .name = "worker", .pid = 5, .tid = 6, .waits = 2, .wait_ns = 900, .max_ns = 800, .stack = 1 },
		{ .name = "worker", .context = WAKE_SOFTIRQ, .pid = 5, .tid = 6, .waits = 1, .wait_ns = 100 },
	};
	static const struct report_klock_owner owner = { "holder", 9, 2, 700, 1 };
	static const struct report_klock_path path = { 3, 1100, 1 };
	struct many_klocks many = {
		.locks = calloc(count, sizeof(*many.locks)),
		.names = calloc(count, sizeof(*many.names)),
	};

	for (size_t i = 0; i < count; i++) {
		snprintf(many.names[i], sizeof(many.names[i]), "l%zu", i);
		many.locks[i] = (struct report_klock){
			.name = many.names[i],
			.kind = i % 2 ? "mutex" : "rwsem read",
			.address = "0x1",
			.where = "serve",
			.waits = i + 2,
			.wait_ns = 1000 + count - i,
			.mean_ns = (1000 + count - i) / (i + 2),
			.p50_ns = i * 7 % 50,
			.max_ns = i * 11 % 50,
			.waiters = waiters,
			.waiter_count = 2,
			.owners = &owner,
			.owner_count = 1,
			.paths = &path,
			.path_count = 1,
			.acquisitions = 100 + i * 13 % 50,
			.take_ns = 5000,
			.holds = 4,
			.hold_ns = 4000 + i * 17 % 50,
			.max_hold_ns = 2500,
		};
	}
	many.report.kernel_locks = (struct report_klocks){
		.locks = many.locks,
		.lock_count = count,
		.waited_count = count,
		.stacks = &stack,
		.stack_count = 1,
		.waits = 1,
		.wait_ns = 1,
	};
	many.report.balance.threads.busy_ns = 1000000;
	return many;
}

static void many_klocks_free(struct many_klocks *many)
{
	free(many->locks);
	free(many->names);
}

TEST(of_100000_locks_of_the_kernel_only_those_are_made_text_of_that_are_seen)
{
	struct many_klocks many = many_klocks(MANY);
	struct model *model = new_model(&many.report, PAGE_KLOCKS);
	size_t looks = 0;

	CHECK_EQUAL(model_count(model), MANY + 1);
	for (int i = 0; i < 300; i++, looks++) {
		model_move_screens(model, i % 3 ? 17 : -3);
		if (i % 50 == 0)
			model_toggle(model);
		look(model);
	}
	model_move(model, 2 * MANY);
	look(model);
	CHECK(cursor_is_on(model, "l99999"));
	model_next_sort(model);
	look(model);
	CHECK(cursor_is_on(model, "l99999"));
	CHECK_THAT(model_cursor(model), <, 50);
	CHECK_THAT(model_formatted(model), <=, (looks + 2) * SCREEN_LINES + 2);
	model_unfold_all(model);
	CHECK_EQUAL(model_count(model), ROWS_MAX);
	look(model);
	CHECK_THAT(model_formatted(model), <=, (looks + 3) * SCREEN_LINES + 2);
	model_free(model);
	many_klocks_free(&many);
}

TEST(a_lock_of_the_kernel_unfolds_to_owners_waiters_and_paths_and_these_to_stacks)
{
	struct many_klocks many = many_klocks(2);
	struct model *model = new_model(&many.report, PAGE_KLOCKS);

	model_move(model, 1);
	model_toggle(model);
	CHECK(row_has(model, 3, "2 waits: mean 501 ns, by 2 threads"));
	CHECK(row_has(model, 5, "taken 100 times; acquiring took 5.00 us in total"));
	CHECK(row_has(model, 6, "held: mean 1.00 us, max 2.50 us, total 4.00 us"));
	CHECK(row_has(model, 7, "at 0x1") && row_has(model, 8, "waited for in serve"));
	CHECK(row_has(model, 10, "69.9 %") && row_has(model, 10, "thread holder (tid 9), for example in down_read"));
	CHECK(row_has(model, 12, "89.8 %") && row_has(model, 12, "thread worker (tid 6)"));
	CHECK(row_has(model, 13, "softirq on worker (tid 6)"));
	/* An estimate that is more than the whole. */
	CHECK(row_has(model, 15, "100.0 %") && row_has(model, 15, "serve"));
	CHECK(row_has(model, 16, "l1"));
	for (size_t i = 15; i >= 10; i--) {
		size_t before = model_count(model);

		if (i == 14 || i == 13 || i == 11) /* titles, and what has no stack */
			continue;
		model_move(model, -2 * MANY);
		model_move(model, i);
		model_toggle(model);
		CHECK_EQUAL(model_count(model), before + 2);
		CHECK(row_has(model, i + 2, "serve"));
	}
	model_free(model);
	many_klocks_free(&many);
}

TEST(locks_of_the_kernel_are_sorted_by_each_figure_and_filtered_by_names)
{
	struct many_klocks many = many_klocks(40);
	struct model *model = new_model(&many.report, PAGE_KLOCKS);

	CHECK(row_has(model, 0, "all kernel locks") && row_has(model, 1, "l0") && row_has(model, 40, "l39"));
	model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "waits");
	CHECK(row_has(model, 1, "l39"));
	model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "mean");
	CHECK(row_has(model, 1, "520 ns") && row_has(model, 1, "l0"));
	model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "median");
	CHECK(row_has(model, 1, "49 ns") && row_has(model, 1, "l7"));
	model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "longest");
	CHECK(row_has(model, 1, "49 ns") && row_has(model, 1, "l9"));
	model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "waited");

	model_set_filter(model, "RWSEM");
	CHECK_EQUAL(model_count(model), 20);
	CHECK(row_has(model, 1, "l2  rwsem read"));
	model_set_filter(model, "l3");
	CHECK_EQUAL(model_count(model), 11);
	for (const char *const *filter = (const char *const[]){ "worker", "holder", "serve", "kernel-lock", NULL };
	     *filter; filter++) {
		model_set_filter(model, *filter);
		CHECK_EQUAL(model_count(model), 40);
	}
	model_set_filter(model, "softirq");
	CHECK_EQUAL(model_count(model), 0);
	model_free(model);
	many_klocks_free(&many);
}

TEST(what_was_only_taken_is_among_locks_of_the_kernel_and_these_are_sorted_by_that_where_it_was_counted)
{
	struct many_klocks many = many_klocks(30);
	struct report_klocks *klocks = &many.report.kernel_locks;
	struct model *model = new_model(&many.report, PAGE_KLOCKS);

	for (int i = 0; i < 5; i++)
		model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "waited");
	klocks->counts_acquisitions = true;
	klocks->acquisitions = 3000;
	for (size_t i = 0; i < 29; i++)
		many.locks[i].is_counted = true;
	many.locks[29] = (struct report_klock){
		.name = "quiet",
		.kind = "mutex",
		.address = "0x2",
		.where = "take_it",
		.is_counted = true,
		.acquisitions = 1,
	};
	model_set_report(model, &many.report);
	for (int i = 0; i < 5; i++)
		model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "taken");
	CHECK(row_has(model, 0, "3,000") && row_has(model, 1, "149"));
	CHECK(row_has(model, 30, "quiet"));
	model_next_sort(model);
	CHECK_STRING(model_sort_name(model), "held");
	CHECK(row_has(model, 1, "l26") && row_has(model, 30, "quiet"));
	model_move(model, 30);
	model_toggle(model);
	CHECK_EQUAL(model_count(model), 35);
	CHECK(row_has(model, 32, "taken 1 time; acquiring took 0 ns in total"));
	CHECK(row_has(model, 33, "at 0x2") && row_has(model, 34, "first taken in take_it"));
	model_move(model, -30);
	model_toggle(model);
	CHECK(row_has(model, 2, "is unknown"));
	klocks->take_cost_ns = klocks->hold_cost_ns = 120;
	CHECK(row_has(model, 1, "recording a wait took") &&
	      row_has(model, 2, "recording an acquisition took 120 ns and 120 ns"));
	model_free(model);
	many_klocks_free(&many);
}

/* Memory that was one file's inode may be another's later. */
TEST(locks_that_had_one_address_are_unfolded_each_for_itself)
{
	struct many_klocks many = many_klocks(3);
	struct model *model = new_model(&many.report, PAGE_KLOCKS);
	size_t unfolded;

	many.locks[1].kind = many.locks[0].kind;
	model_move(model, 1);
	model_toggle(model);
	unfolded = model_count(model);
	CHECK(row_has(model, unfolded - 2, "l1") && row_has(model, unfolded - 1, "l2"));
	/* And it stays with its lock when that is not the first any more. */
	many.locks[0] = (struct report_klock){ .name = "new", .kind = "mutex", .address = "0x2", .waits = 1 };
	many.locks[1].name = many.names[0];
	many.locks[2].name = many.names[1];
	model_set_report(model, &many.report);
	CHECK_EQUAL(model_count(model), unfolded);
	CHECK_EQUAL(model_cursor(model), 2);
	CHECK(row_has(model, 1, "new"));
	CHECK(cursor_is_on(model, "l0"));
	model_free(model);
	many_klocks_free(&many);
}

TEST(a_cause_unfolds_to_its_waits_and_these_to_stacks_and_wakers)
{
	struct report_fixture *fixture = report_fixture_new("lock");
	struct model *model = new_model(report_fixture_get(fixture), PAGE_BALANCE);
	size_t before = model_count(model);

	search(model, "lock  ", false);
	model_toggle(model);
	CHECK_EQUAL(model_count(model), before + 1);
	model_move(model, 1);
	CHECK(cursor_is_on(model, "work_mutex"));
	model_toggle(model);
	search(model, "ended by", false);
	CHECK(cursor_is_on(model, "83.0 %  ended by threads multi_mutex"));
	model_toggle(model);
	search(model, "multi_mutex.cpp:28", false);
	CHECK(cursor_is_on(model, "big_work(int)"));
	model_free(model);
	report_fixture_free(fixture);
}

TEST(boilerplate_of_a_stack_is_one_row_that_unfolds)
{
	struct report_fixture *fixture = report_fixture_new("lock");
	struct fold_rules *fold = fold_rules_new();
	struct model *model = model_new(&(struct model_options){ .fold = fold, .has_unicode = true });
	size_t folded;

	model_set_report(model, report_fixture_get(fixture));
	model_set_size(model, 80, 60);
	model_go_to(model, PAGE_PATHS);
	model_toggle(model);
	search(model, "C++ thread start", false);
	CHECK(cursor_is_on(model, "6 frames"));
	folded = model_count(model);
	model_toggle(model);
	CHECK_EQUAL(model_count(model), folded + 6);
	model_move(model, 6);
	CHECK(cursor_is_on(model, "clone3"));
	model_free(model);
	fold_rules_free(fold);
	report_fixture_free(fixture);
}

TEST(a_path_of_4096_bytes_is_cut_in_its_row_and_whole_below_it)
{
	static char path[4097];
	struct report_file file = { .path = path, .cause = CAUSE_FILE, .wait_ns = 5, .waits = 1 };
	struct report report = { .files = &file, .file_count = 1 };
	struct text line = { 0 }, whole = { 0 };
	struct model *model;

	for (size_t i = 0; i < 4096; i++)
		path[i] = i % 100 ? 'a' + i % 26 : '/';
	memcpy(path + 4086, "/the_end.c", 10);
	report.balance.threads.total_ns = report.balance.threads.busy_ns = 10;
	model = new_model(&report, PAGE_IO);
	CHECK_EQUAL(model_count(model), 2);
	CHECK(row_has(model, 1, "the_end.c"));
	model_move(model, 1);
	model_toggle(model);
	for (size_t i = 2; i < model_count(model) - 2; i++) {
		line.length = 0;
		model_put_row(model, i, &line);
		CHECK_THAT(line_columns(line.bytes), <=, 80);
		text_put(&whole, line.bytes + strspn(line.bytes, " >"));
	}
	CHECK_STRING(whole.bytes, path);
	text_fini(&line);
	text_fini(&whole);
	model_free(model);
}

TEST(a_page_without_a_report_is_empty_and_stands_all_keys)
{
	struct model *model = model_new(&(struct model_options){ 0 });

	for (enum page_number page = 0; page < PAGES; page++) {
		if (!model_has_page(model, page))
			continue;
		model_go_to(model, page);
		model_unfold_all(model);
		model_toggle(model);
		model_fold(model);
		model_move_screens(model, 1);
		model_next_sort(model);
		model_search(model, "x", false, false);
		CHECK_EQUAL(model_search_on(model, 100), SEARCH_FAILED);
		CHECK_EQUAL(model_count(model), page == PAGE_OUTPUT);
	}
	model_free(model);
}

/* The model on the page of the graph, which is made. */
/* At first it is merged; the threads are wanted apart. */
static struct model *new_graph_model(struct graph_fixture *fixture, enum page_number page)
{
	static const struct report report;
	struct graphs_source source = graph_fixture_source(fixture);
	struct model *model = model_new(&(struct model_options){ .has_unicode = true, .graphs = &source });

	model_set_report(model, &report);
	model_set_size(model, 120, SCREEN_LINES);
	model_go_to(model, page);
	CHECK(model_wants_graph(model) && model_toggle_merged(model) && model_wants_graph(model));
	model_make_graph(model);
	CHECK(!model_wants_graph(model));
	return model;
}

TEST(of_a_graph_of_100000_nodes_only_those_rows_are_made_text_of_that_are_seen)
{
	struct graph_fixture *fixture = graph_fixture_new();
	struct model *model;
	size_t looks = 0;

	graph_fixture_add(fixture, SIZE_MAX, (struct graph_node){ .kind = GRAPH_THREADS, .ns = MANY });
	for (size_t i = 1; i < MANY; i++)
		graph_fixture_add(fixture, i < 50000 ? 0 : i - 49999,
				  (struct graph_node){
					  .kind = GRAPH_THREAD,
					  .id = i,
					  .ns = (MANY - i) / 10,
					  .count = i,
				  });
	model = new_graph_model(fixture, PAGE_GRAPH);
	CHECK_EQUAL(model_count(model), 50000);
	model_unfold_all(model);
	CHECK_EQUAL(model_count(model), MANY);
	for (int i = 0; i < 300; i++, looks++) {
		model_move_screens(model, i % 3 ? 17 : -3);
		look(model);
	}
	model_move(model, MANY);
	look(model);
	model_next_sort(model);
	look(model);
	CHECK_THAT(model_formatted(model), <=, (looks + 2) * SCREEN_LINES);
	CHECK_EQUAL(graph_fixture_trees(fixture), 1);
	model_free(model);
	graph_fixture_free(fixture);
}

TEST(of_a_path_of_100000_parts_the_longest_are_shown_and_the_rest_is_counted)
{
	struct graph_fixture *fixture = graph_fixture_new();
	struct model *model;
	size_t count;

	for (uint32_t i = 1; i <= 5; i++)
		graph_fixture_name(fixture, i, "one");
	for (size_t i = 0; i < MANY; i++)
		graph_fixture_add_part(fixture, (struct path_part){ .thread = 1 + i % 5, .kind = GRAPH_RUNNING },
				       i == 77777 ? 9000000 : 1 + i % 1000);
	model = new_graph_model(fixture, PAGE_CRITICAL);
	count = model_count(model);
	/* Whose it is, its sums, a heading behind an empty line, parts, and how many there are more. */
	CHECK_EQUAL(count, 1 + 5 + 2 + GRAPHS_LONGEST_MAX + 1);
	CHECK(row_has(model, count - 1, "90,000 shorter parts"));
	search(model, "9.00 ms", false);
	CHECK_THAT(model_cursor(model), >, 7);
	CHECK(cursor_is_on(model, "9.00 ms"));
	CHECK_THAT(model_formatted(model), <, 2 * count);
	model_free(model);
	graph_fixture_free(fixture);
}

TEST(switching_threads_apart_and_merged_keeps_what_is_unfolded_of_each)
{
	struct graph_fixture *fixture = graph_fixture_new();
	struct model *model;
	size_t folded, unfolded;

	graph_fixture_add_lock(fixture);
	model = new_graph_model(fixture, PAGE_GRAPH);
	folded = model_count(model);
	model_move(model, 1);
	CHECK(cursor_is_on(model, "main (tid 101)"));
	model_fold(model);
	unfolded = model_count(model);
	CHECK_THAT(unfolded, <, folded);
	CHECK(model_toggle_merged(model) && model_wants_graph(model));
	CHECK_EQUAL(model_count(model), 1);
	model_make_graph(model);
	CHECK_EQUAL(model_count(model), folded);
	CHECK(row_has(model, 1, "main "));
	CHECK_EQUAL(model_cursor(model), 0);
	CHECK(model_toggle_merged(model));
	model_make_graph(model);
	CHECK_EQUAL(model_count(model), unfolded);
	CHECK(row_has(model, 1, "main (tid 101)"));
	CHECK_EQUAL(graph_fixture_trees(fixture), 3);
	model_free(model);
	graph_fixture_free(fixture);
}

/* --- Random trees against lists ------------------------------------------------------------- */

enum { TREES = 1500, NODES_MAX = 40, NAMES = 6 };

static const char *const names[NAMES + 1] = { "", "ant", "bee", "cat", "beetle", "anteater", "dog" };

struct tree {
	size_t count, parents[NODES_MAX], shown[NODES_MAX], shown_count;
	struct graph_node nodes[NODES_MAX];
	const char *filter;
	bool is_by_count;
};

static uint32_t pick(uint32_t *random, uint32_t below)
{
	*random = *random * 1664525 + 1013904223;
	return (uint64_t)*random * below >> 32;
}

static void plant(struct tree *tree, uint32_t *random, struct graph_fixture *fixture)
{
	static const char *const filters[] = { "", "", "bee", "ANT", "cat", "t", "zebra" };

	*tree = (struct tree){
		.count = 1 + pick(random, NODES_MAX),
		.filter = filters[pick(random, 7)],
		.is_by_count = pick(random, 2),
	};
	for (size_t i = 0; i < tree->count; i++) {
		tree->parents[i] = i ? pick(random, i) : SIZE_MAX;
		tree->nodes[i] = (struct graph_node){
			.kind = GRAPH_THREAD,
			.id = 1 + pick(random, NAMES),
			.ns = 1 + pick(random, 9),
			.count = 1 + pick(random, 5),
			.max_ns = i,
		};
		graph_fixture_add(fixture, tree->parents[i], tree->nodes[i]);
	}
}

static bool is_named(const struct tree *tree, size_t node)
{
	char label[64];

	snprintf(label, sizeof(label), "%s (tid", names[tree->nodes[node].id]);
	return strcasestr(label, tree->filter);
}

static bool is_below(const struct tree *tree, size_t node, size_t above)
{
	for (; node != SIZE_MAX; node = tree->parents[node])
		if (node == above)
			return true;
	return false;
}

/* It has the filter in its name, or one above it or below it has. */
static bool passes(const struct tree *tree, size_t node)
{
	for (size_t i = 0; i < tree->count; i++)
		if (is_named(tree, i) && (is_below(tree, node, i) || is_below(tree, i, node)))
			return true;
	return false;
}

/* Who comes first of two children. */
static bool is_before(const struct tree *tree, size_t a, size_t b)
{
	const struct graph_node *x = &tree->nodes[a], *y = &tree->nodes[b];

	if (tree->is_by_count && x->count != y->count)
		return x->count > y->count;
	return x->ns != y->ns ? x->ns > y->ns : a < b;
}

static void lay_out(struct tree *tree, size_t node)
{
	bool is_recorded[NODES_MAX] = { false };

	if (!passes(tree, node))
		return;
	tree->shown[tree->shown_count++] = node;
	for (;;) {
		size_t next = SIZE_MAX;

		for (size_t i = 0; i < tree->count; i++)
			if (tree->parents[i] == node && !is_recorded[i] &&
			    (next == SIZE_MAX || is_before(tree, i, next)))
				next = i;
		if (next == SIZE_MAX)
			return;
		is_recorded[next] = true;
		lay_out(tree, next);
	}
}

static void check_rows(struct tree *tree, struct model *model)
{
	char label[64], figures[64];

	CHECK_EQUAL(model_count(model), tree->shown_count);
	for (size_t i = 0; i < tree->shown_count; i++) {
		const struct graph_node *node = &tree->nodes[tree->shown[i]];

		snprintf(label, sizeof(label), " %s (tid %u) ", names[node->id], 100 + node->id);
		snprintf(figures, sizeof(figures), " %u ns %8u ", (unsigned int)node->ns, (unsigned int)node->count);
		CHECK(row_has(model, i, label) && row_has(model, i, figures));
	}
}

TEST(rows_of_random_graphs_are_those_of_a_naive_walk)
{
	struct graph_fixture *fixture = graph_fixture_new();
	uint32_t random = 5;

	for (uint32_t i = 1; i <= NAMES; i++)
		graph_fixture_name(fixture, i, names[i]);
	for (int round = 0; round < TREES; round++) {
		struct model *model;
		struct tree tree;

		graph_fixture_clear(fixture);
		plant(&tree, &random, fixture);
		model = new_graph_model(fixture, PAGE_GRAPH);
		model_unfold_all(model);
		model_set_filter(model, tree.filter);
		if (tree.is_by_count)
			model_next_sort(model);
		lay_out(&tree, 0);
		check_rows(&tree, model);
		model_free(model);
	}
	graph_fixture_free(fixture);
}
