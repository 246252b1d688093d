/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views of a report for other programs: csv.c, folded.c, timelines.c. */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "test.h"
#include "view/html/timelines.h"
#include "view/table/csv.h"
#include "view/table/folded.h"

static const struct report_frame frames[] = {
	{ .function = "inner;part", .is_inlined = true },
	{ .module = "lib.so", .offset = 0x1f0 },
	{ .function = "entry", .is_kernel = true },
};

static const struct report_path paths[] = {
	{ .rank = 1, .cmetric_ns = 2500600, .frames = frames, .frame_count = 3 },
	{ .rank = 2, .cmetric_ns = 3000 },
	{ .rank = 3, .cmetric_ns = 400, .frames = frames, .frame_count = 1 },
};

TEST(folded_paths_are_outermost_first_in_whole_microseconds)
{
	struct report report = { .paths = paths, .path_count = 3 };
	struct text text = { 0 };

	folded_put(&text, &report);
	CHECK_STRING(text.bytes, "entry_[k];lib.so+0x1f0;inner:part_[i] 2501\n[no stack] 3\n");
	text_fini(&text);
}

/* The row behind the titles. */
static bool is_row(const struct report *report, const char *expected)
{
	struct text text = { 0 };
	const char *row;
	bool is_same;

	csv_put(&text, report);
	row = strstr(text.bytes, "\r\n") + 2;
	is_same = !strcmp(row, expected);
	text_fini(&text);
	return is_same;
}

TEST(a_table_without_rows_has_titles)
{
	CHECK(is_row(&(struct report){ 0 }, ""));
}

TEST(names_in_a_table_are_quoted_escaped_and_no_formulas)
{
	const struct report_lock locks[] = {
		{ .name = "=cmd|\"x\",\n1", .kind = "mutex", .waits = 2, .wait_ns = 30, .idle_ns = 4, .max_ns = 20 },
	};

	CHECK(is_row(&(struct report){ .locks = locks, .lock_count = 1 },
		     "lock,1,\"'=cmd|\"\"x\"\",\\x0a1\",\"mutex\",,,,,2,,,,,30,4,0,0,20,0\r\n"));
}

static json_t *timelines_of(const struct report *report)
{
	struct text text = { 0 };
	json_t *root;

	CHECK(!timelines_put_report(&text, report));
	root = json_loads(text.bytes, 0, NULL);
	text_fini(&text);
	return root;
}

static json_int_t number_at(const json_t *root, const char *of, const char *state, size_t at)
{
	return json_integer_value(json_array_get(json_object_get(json_object_get(root, of), state), at));
}

TEST(time_lines_tell_each_thread_and_the_sum_of_all)
{
	const struct report_strip_part strip[] = { { 0.25, 0.5, 0 }, { 0, 0, 1 } };
	struct report_thread threads[TIMELINE_ROWS_MAX + 2] = { { .name = "first", .tid = 7, .strip = strip } };
	const struct report_group group = { .threads = threads, .row_count = TIMELINE_ROWS_MAX + 2 };
	const struct report report = { .groups = &group, .group_count = 1, .strip_count = 2, .strip_part_ns = 50 };
	json_t *root, *first;

	for (size_t i = 1; i < TIMELINE_ROWS_MAX + 2; i++)
		threads[i].strip = strip;
	root = timelines_of(&report);
	first = json_array_get(json_object_get(root, "threads"), 0);
	CHECK_EQUAL(json_array_size(json_object_get(root, "threads")), TIMELINE_ROWS_MAX);
	CHECK_EQUAL(json_integer_value(json_object_get(root, "left_out")), 2);
	CHECK_EQUAL(json_integer_value(json_object_get(root, "part_ns")), 50);
	CHECK_EQUAL(number_at(first, "states", "running", 0), 250);
	CHECK_EQUAL(number_at(first, "states", "blocked", 1), 1000);
	CHECK_EQUAL(number_at(root, "all", "runnable", 0), 500 * (TIMELINE_ROWS_MAX + 2));
	json_decref(root);
}

TEST(without_strips_there_are_no_time_lines)
{
	struct text text = { 0 };

	CHECK_EQUAL(timelines_put_report(&text, &(struct report){ 0 }), -ENODATA);
	CHECK(!text.length);
}
