/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "tui/terminal/output_lines.h"

static void add(struct output_lines *output, const char *string)
{
	output_lines_add(output, string, strlen(string));
}

TEST(pieces_become_lines_and_the_last_one_may_be_open)
{
	struct output_lines *output = output_lines_new();

	CHECK_EQUAL(output_lines_count(output), 0);
	add(output, "one\ntw");
	CHECK_EQUAL(output_lines_count(output), 2);
	CHECK_STRING(output_lines_at(output, 0, NULL), "one");
	CHECK_STRING(output_lines_at(output, 1, NULL), "tw");
	add(output, "o\r\n\n");
	CHECK_EQUAL(output_lines_count(output), 3);
	CHECK_STRING(output_lines_at(output, 1, NULL), "two");
	CHECK_STRING(output_lines_at(output, 2, NULL), "");
	output_lines_free(output);
}

TEST(the_last_10000_lines_are_kept_and_the_others_counted)
{
	struct output_lines *output = output_lines_new();
	char line[32];
	uint64_t number;

	for (int i = 0; i < 25000; i++) {
		snprintf(line, sizeof(line), "line %d\n", i);
		add(output, line);
	}
	CHECK_EQUAL(output_lines_count(output), OUTPUT_LINES_MAX);
	CHECK_EQUAL(output_lines_losses(output).lines, 15000);
	CHECK(!output_lines_losses(output).bytes);
	CHECK_STRING(output_lines_at(output, 0, &number), "line 15000");
	CHECK_EQUAL(number, 15000);
	CHECK_STRING(output_lines_at(output, 9999, &number), "line 24999");
	CHECK_EQUAL(number, 24999);
	output_lines_free(output);
}

TEST(lines_without_end_are_cut_and_what_is_lost_is_counted)
{
	struct output_lines *output = output_lines_new();
	static char long_line[100000];

	memset(long_line, 'x', sizeof(long_line));
	output_lines_add(output, long_line, sizeof(long_line));
	output_lines_add(output, long_line, 10);
	add(output, "\nnext\n");
	CHECK_EQUAL(strlen(output_lines_at(output, 0, NULL)), OUTPUT_LINE_BYTES_MAX);
	CHECK_EQUAL(output_lines_losses(output).bytes, sizeof(long_line) + 10 - OUTPUT_LINE_BYTES_MAX);
	CHECK_STRING(output_lines_at(output, 1, NULL), "next");
	output_lines_free(output);
}

TEST(all_lines_together_have_a_bound)
{
	struct output_lines *output = output_lines_new();
	static char line[OUTPUT_LINE_BYTES_MAX + 1];
	size_t bytes = 0;

	memset(line, 'y', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\n';
	for (int i = 0; i < 9000; i++)
		output_lines_add(output, line, sizeof(line));
	for (size_t i = 0; i < output_lines_count(output); i++)
		bytes += strlen(output_lines_at(output, i, NULL));
	CHECK_THAT(bytes, <=, OUTPUT_BYTES_MAX);
	CHECK_EQUAL(output_lines_count(output) + output_lines_losses(output).lines, 9000);
	output_lines_free(output);
}

TEST(tabs_and_zero_bytes_leave_a_string)
{
	struct output_lines *output = output_lines_new();

	output_lines_add(output, "a\tb\0c\n", 6);
	CHECK_STRING(output_lines_at(output, 0, NULL), "a       b\\x00c");
	output_lines_free(output);
}
