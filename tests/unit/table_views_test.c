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

static struct text csv_of(const struct report *report)
{
	struct text text = { 0 };

	csv_put(&text, report);
	return text;
}

/* Where the cell of a column begins in the only row; no cell before it has a comma or a line break in it. */
static const char *cell(const struct text *text, const char *column)
{
	const char *title = text->bytes, *at = strstr(text->bytes, "\r\n") + 2;
	size_t length = strlen(column);

	while (strncmp(title, column, length) || !strchr(",\r", title[length])) {
		title = strchr(title, ',') + 1;
		at = strchr(at, ',') + 1;
	}
	return at;
}

static bool is_cell(const struct text *text, const char *column, const char *expected)
{
	const char *at = cell(text, column);
	size_t length = strlen(expected);

	return !strncmp(at, expected, length) && strchr(",\r", at[length]);
}

TEST(a_table_without_rows_has_titles)
{
	struct text text = csv_of(&(struct report){ 0 });

	CHECK(!strncmp(text.bytes, "table,", 6) && strstr(text.bytes, ",spurious_wakeups,"));
	CHECK(strstr(text.bytes, "\r\n") + 2 == text.bytes + text.length);
	text_fini(&text);
}

TEST(names_in_a_table_are_quoted_escaped_and_no_formulas)
{
	const struct report_lock lock = { .name = "=cmd|\"x\"\n1", .kind = "mutex" };
	struct text text = csv_of(&(struct report){ .locks = &lock, .lock_count = 1 });

	CHECK(is_cell(&text, "table", "lock"));
	CHECK(is_cell(&text, "name", "\"'=cmd|\"\"x\"\"\\x0a1\""));
	text_fini(&text);
}

TEST(a_row_has_all_its_members_and_nothing_in_columns_of_others)
{
	const struct report_file file = {
		.path = "/f",
		.device = { 8, 1 },
		.is_deleted = true,
		.cause = CAUSE_PAGE_FAULT,
		.waits = 2,
		.wait_ns = 30,
		.transfer.read_ns = 7,
		.other_end.peer_share = 0.25,
	};
	struct text text = csv_of(&(struct report){ .files = &file, .file_count = 1 });

	CHECK(is_cell(&text, "path", "\"/f\"") && is_cell(&text, "device", "8:1"));
	CHECK(is_cell(&text, "is_deleted", "true") && is_cell(&text, "cause", "\"page-fault\""));
	CHECK(is_cell(&text, "waits", "2") && is_cell(&text, "wait_ns", "30") && is_cell(&text, "read_ns", "7"));
	CHECK(is_cell(&text, "peer_share", "0.25") && is_cell(&text, "peer_pid", "") && is_cell(&text, "tid", ""));
	text_fini(&text);
}

TEST(a_stack_is_one_cell)
{
	struct text text = csv_of(&(struct report){ .paths = paths, .path_count = 1 });

	CHECK(is_cell(&text, "stack", "\"inner;part < lib.so < entry\"") && is_cell(&text, "rank", "1"));
	text_fini(&text);
}

/* The cell of the first row that is called so. */
static bool is_cell_of(const struct text *text, const char *row, const char *column, const char *expected)
{
	struct text one = { 0 };
	char begin[64];
	const char *at;
	bool is_so;

	snprintf(begin, sizeof(begin), "\r\n%s,", row);
	at = strstr(text->bytes, begin);
	CHECK(at != NULL);
	text_put_bytes(&one, text->bytes, strstr(text->bytes, "\r\n") + 2 - text->bytes);
	text_put(&one, at + 2);
	is_so = is_cell(&one, column, expected);
	text_fini(&one);
	return is_so;
}

TEST(functions_their_lines_and_whole_stacks_are_rows_with_times_of_self_and_total)
{
	const struct report_line lines[] = { { "a.c", 12, 30 }, { "a.c", 13, 4 } };
	const struct report_code_function function = {
		.name = "pack",
		.module = "prog",
		.self = { .samples = 34, .cpu_ns = 500, .cmetric_ns = 300, .cmetric_error_ns = 20 },
		.total = { .samples = 40, .cpu_ns = 600 },
		.lines = lines,
		.line_count = 2,
	};
	const struct report_code_stack stack = {
		.samples = 5, .cpu_ns = 70, .frames = paths[0].frames, .frame_count = paths[0].frame_count
	};
	struct report report = { .paths = paths, .path_count = 1 };
	struct text text;

	report.code =
		(struct report_code){ .functions = &function, .function_count = 1, .stacks = &stack, .stack_count = 1 };
	text = csv_of(&report);
	CHECK(is_cell_of(&text, "function", "name", "\"pack\"") && is_cell_of(&text, "function", "module", "\"prog\""));
	CHECK(is_cell_of(&text, "function", "self.cmetric_ns", "300"));
	CHECK(is_cell_of(&text, "function", "self.cmetric_error_ns", "20"));
	CHECK(is_cell_of(&text, "function", "total.cpu_ns", "600") && is_cell_of(&text, "function", "cpu_ns", ""));
	CHECK(is_cell_of(&text, "line", "name", "\"pack\"") && is_cell_of(&text, "line", "file", "\"a.c\""));
	CHECK(is_cell_of(&text, "line", "line", "12") && is_cell_of(&text, "line", "samples", "30"));
	CHECK(is_cell_of(&text, "stack", "cpu_ns", "70") && is_cell_of(&text, "stack", "self.cpu_ns", ""));
	CHECK(is_cell_of(&text, "stack", "stack", "\"inner;part < lib.so < entry\""));
	text_fini(&text);
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

TEST(time_lines_report_each_thread_and_the_sum_of_all)
{
	const struct report_strip_part strip[] = { { 0.25, 0.5, 0 }, { 0, 0, 1 } };
	struct report_thread threads[TIMELINE_ROWS_MAX + 2] = { { .name = "first", .tid = 7, .strip = strip } };
	const struct report_group group = { .threads = threads, .row_count = TIMELINE_ROWS_MAX + 2 };
	const struct report report = {
		.groups = &group, .group_count = 1, .strip_count = 2, .strip_part_ns = 50, .strip_whole_ns = 80
	};
	json_t *root, *first;

	for (size_t i = 1; i < TIMELINE_ROWS_MAX + 2; i++)
		threads[i].strip = strip;
	root = timelines_of(&report);
	first = json_array_get(json_object_get(root, "threads"), 0);
	CHECK_EQUAL(json_array_size(json_object_get(root, "threads")), TIMELINE_ROWS_MAX);
	CHECK_EQUAL(json_integer_value(json_object_get(root, "left_out")), 2);
	CHECK_EQUAL(json_integer_value(json_object_get(root, "part_ns")), 50);
	CHECK_EQUAL(json_integer_value(json_object_get(root, "whole_ns")), 80);
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
