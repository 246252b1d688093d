/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that scripts make of events and activities. */
#include "test.h"

#include <stdio.h>

#include "activity/script_table.h"
#include "script_fixture.h"

static struct script_stage stage;

static void open_script(const char *text)
{
	script_stage_begin(&stage);
	if (script_stage_open(&stage, text))
		test_fail(__FILE__, __LINE__, "%s", stage.why.bytes);
}

/* What finish() with this body has said. */
static const char *said_by(const char *body)
{
	char text[1024];

	snprintf(text, sizeof(text), "function on_event(e) end function finish() %s end", body);
	open_script(text);
	if (script_stage_finish(&stage))
		return stage.why.bytes;
	return stage.said.length ? stage.said.bytes : "";
}

static struct activity an_activity(void)
{
	static const struct activity_parameter parameters[] = {
		{ .name = "mutex", .type = PARAMETER_INTEGER, .integer = 7 },
		{ .name = "what", .type = PARAMETER_STRING, .string = "x" },
	};

	return (struct activity){
		.name = "held",
		.begin_ns = 1000,
		.end_ns = 3500,
		.thread = 2,
		.cpu = CPU_UNKNOWN,
		.parameters = parameters,
		.parameter_count = 2,
	};
}

TEST(a_table_has_columns_with_units_and_rows_of_numbers_texts_and_nothing)
{
	assert_string_equal(
		said_by("statistics { title = 'a', show = 'bars', columns = { 'who', { name = 'how long', unit = 'ns' },"
			" { name = 'size', unit = 'bytes' }, { name = 'n', unit = 'count' } },"
			" rows = { { 'x', 1, 2.5, nil }, {}, { [4] = 3 } } }"),
		"bars a: who/ how long/ns size/bytes n/count | x 1 2.5 - | - - - - | - - - 3\n");
	script_stage_end(&stage);
}

TEST(numbers_that_are_not_finite_are_cells_without_a_meaning)
{
	struct table_cell cells[] = { { .type = CELL_REAL, .real = 0.0 / 0.0 },
				      { .type = CELL_REAL, .real = 1e308 * 10 },
				      { .type = CELL_TEXT, .text = "1" },
				      { .type = CELL_EMPTY } };

	for (size_t i = 0; i < 4; i++)
		CHECK(!table_cell_is_finite(&cells[i]));
	CHECK(table_cell_is_finite(&(struct table_cell){ .type = CELL_INTEGER, .integer = INT64_MIN }));
}

TEST(more_rows_than_there_is_space_for_are_counted)
{
	said_by("local rows, row = {}, { 7 } for i = 1, 1000000 do rows[i] = row end"
		" statistics { title = 'a', columns = { 'n' }, rows = rows }");
	CHECK_EQUAL(stage.table_count, 1);
	CHECK_EQUAL(stage.row_count, TABLE_ROWS_MAX);
	CHECK_EQUAL(stage.rows_left_out, 1000000 - TABLE_ROWS_MAX);
	script_stage_end(&stage);
	said_by("local rows, columns = {}, {} for i = 1, 16 do columns[i] = 'c' .. i end for i = 1, 9000 do rows[i] = {} end"
		" statistics { title = 'a', columns = columns, rows = rows }");
	CHECK_EQUAL(stage.row_count, TABLE_CELLS_MAX / 16);
	CHECK_EQUAL(stage.rows_left_out, 9000 - TABLE_CELLS_MAX / 16);
	script_stage_end(&stage);
}

TEST(long_texts_are_cut_between_characters_and_all_of_them_have_a_bound)
{
	said_by("statistics { title = 'a', columns = { 'n' }, rows = { { ('x'):rep(300) }, { 'x' .. ('\xc3\xa4'):rep(300) } } }");
	CHECK_EQUAL(stage.texts_cut, 2);
	CHECK(strstr(stage.said.bytes, "\xc3\xa4\n") != NULL);
	script_stage_end(&stage);
	said_by("local rows = {} for i = 1, 9000 do rows[i] = { ('x'):rep(200) } end"
		" statistics { title = 'a', columns = { 'n' }, rows = rows }");
	CHECK_EQUAL(stage.row_count, TABLE_TEXT_BYTES_MAX / 200 + 1);
	CHECK_EQUAL(stage.rows_left_out, 9000 - stage.row_count);
	script_stage_end(&stage);
}

TEST(what_is_no_table_is_an_error_of_its_line)
{
	static const struct {
		const char *body, *said;
	} cases[] = {
		{ "statistics()", "the argument has to be a table" },
		{ "statistics(setmetatable({}, {}))", "the argument has a metatable" },
		{ "statistics { columns = { 'a' }, rows = {} }", "title has to be a string" },
		{ "statistics { title = ('x'):rep(101), columns = { 'a' }, rows = {} }",
		  "title has to have 1 to 100 bytes" },
		{ "statistics { title = 'a\\0b', columns = { 'a' }, rows = {} }", "title has to have 1 to 100 bytes" },
		{ "statistics { title = 'a', columns = {}, rows = {} }", "a list of 1 to 16 columns" },
		{ "statistics { title = 'a', columns = { 1 }, rows = {} }", "the name of a column has to be a string" },
		{ "statistics { title = 'a', columns = { { name = 'a', unit = 'miles' } }, rows = {} }", "unit" },
		{ "statistics { title = 'a', columns = { 'a' } }", "rows has to be a table" },
		{ "statistics { title = 'a', columns = { 'a' }, rows = { 1 } }", "a row has to be a table" },
		{ "statistics { title = 'a', columns = { 'a' }, rows = { { 1, 2 } } }",
		  "more cells than there are columns" },
		{ "statistics { title = 'a', columns = { 'a' }, rows = { { print } } }", "rows[1][1] has to be" },
		{ "local t = {} t[1] = t statistics { title = 'a', columns = { 'a' }, rows = { t } }",
		  "rows[1][1] has to be" },
		{ "local r = setmetatable({}, { __index = function() while true do end end })"
		  " statistics { title = 'a', columns = { 'a' }, rows = { r } }",
		  "a row has a metatable" },
		{ "statistics { title = 'a', columns = { 'a' }, rows = {}, show = 'pie' }", "show has to be" },
		{ "statistics { title = 'a', columns = { 'a' }, rows = {}, show = 'line' }", "two columns" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *said = said_by(cases[i].body);

		if (!strstr(said, cases[i].said) || !strstr(said, "test.lua:1: "))
			test_fail(__FILE__, __LINE__, "%s: %s", cases[i].body, said);
		CHECK_EQUAL(stage.table_count, 0);
		script_stage_end(&stage);
	}
}

TEST(only_finish_gives_tables)
{
	open_script("function on_event(e) statistics { title = 'a', columns = { 'a' }, rows = {} } end");
	CHECK(script_stage_event(&stage, script_stage_switch(&stage, 3000)));
	CHECK(strstr(stage.why.bytes, "only finish()") != NULL);
	script_stage_end(&stage);
}

TEST(a_handler_gets_an_activity_with_its_thread_and_parameters)
{
	struct activity activity = an_activity();

	open_script(
		"function on_activity(a) print(a.name, a.source, a.begin, a['end'], a.length, a.thread, a.end_thread, a.thread_name,"
		" a.tid, a.pid, a.application, a.cpu, a.is_message, a.parameters.mutex, a.parameters.what) end");
	stage.host.context = stage.context;
	CHECK(stage.parts.has_activity_handler && !stage.parts.has_decoder);
	CHECK_EQUAL(script_stage_activity(&stage, &activity), 0);
	assert_string_equal(stage.said.bytes,
			    "held\tnil\t1000\t3500\t2500\t2\t2\tworker\t501\t500\tapp\tnil\tfalse\t7\tx\n");
	script_stage_end(&stage);
}

TEST(a_handler_sees_the_activities_of_its_own_script_at_once_and_makes_none)
{
	open_script("local own = 0 function on_event(e) activity { name = 'x', begin = 1, ['end'] = 2 } print(own) end"
		    " function on_activity(a) own = own + 1"
		    " if own == 2 then activity { name = 'y', begin = 1, ['end'] = 2 } end end");
	CHECK_EQUAL(script_stage_event(&stage, script_stage_switch(&stage, 3000)), 0);
	CHECK(strstr(stage.said.bytes, "\n1\n") != NULL);
	CHECK(script_stage_event(&stage, script_stage_switch(&stage, 3000)));
	CHECK(strstr(stage.why.bytes, "on_activity() cannot make another one") != NULL);
	script_stage_end(&stage);
}

TEST(a_handler_that_fails_within_pcall_does_not_end_the_handling)
{
	open_script(
		"local seen = 0 function on_event(e) pcall(activity, { name = 'x', begin = 1, ['end'] = 2 }) print(seen) end"
		" function on_activity(a) seen = seen + 1 error('no') end");
	CHECK_EQUAL(script_stage_event(&stage, script_stage_switch(&stage, 3000)), 0);
	CHECK_EQUAL(script_stage_event(&stage, script_stage_switch(&stage, 3000)), 0);
	CHECK(strstr(stage.said.bytes, "\n2\n") != NULL);
	script_stage_end(&stage);
}

TEST(a_handler_that_does_not_end_is_stopped_for_good)
{
	struct activity activity = an_activity();

	open_script("function on_activity(a) while true do end end");
	CHECK(script_stage_activity(&stage, &activity));
	CHECK(strstr(stage.why.bytes, "stopped") != NULL);
	script_stage_end(&stage);
}
