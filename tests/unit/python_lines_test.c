/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "symbol/python/python_lines.h"

/* An entry's first byte. */
#define ENTRY(form, length) (0x80 | (form) << 3 | ((length)-1))

static void check_lines(const void *table, size_t size_bytes, const uint32_t *lines, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		CHECK_EQUAL(python_line_find(table, size_bytes, 100, i), lines[i]);
	CHECK_EQUAL(python_line_find(table, size_bytes, 100, count), 0);
	CHECK_EQUAL(python_line_find(table, size_bytes, 100, UINT32_MAX), 0);
}

TEST(an_entry_covers_as_many_units_of_code_as_it_says)
{
	static const uint8_t table[] = { ENTRY(0, 2), 0x12, ENTRY(11, 1), 1, 2, ENTRY(12, 8), 3, 4 };
	static const uint32_t lines[] = { 100, 100, 101, 103, 103, 103, 103, 103, 103, 103, 103 };

	check_lines(table, sizeof(table), lines, 11);
}

TEST(forms_with_columns_alone_stay_on_the_line)
{
	static const uint8_t table[] = { ENTRY(0, 1), 0x12, ENTRY(9, 1), 0x7f, ENTRY(10, 1), 1, 2 };
	static const uint32_t lines[] = { 100, 100, 100 };

	check_lines(table, sizeof(table), lines, 3);
}

TEST(lines_go_up_and_down_by_signed_numbers)
{
	static const uint8_t table[] = {
		ENTRY(13, 1), 6,                          /* + 3 */
		ENTRY(13, 1), 5,                          /* - 2 */
		ENTRY(14, 1), 0x40 | 2, 1,    0,    3, 4, /* + 33 */
		ENTRY(14, 1), 0x40 | 3, 1,    0,    3, 4, /* - 33 */
		ENTRY(13, 1), 0x40,     0x40, 0x40, 1,    /* + 2^17 */
	};
	static const uint32_t lines[] = { 103, 101, 134, 101, 101 + (1 << 17) };

	check_lines(table, sizeof(table), lines, 5);
}

TEST(code_without_a_line_does_not_change_it_for_the_rest)
{
	static const uint8_t table[] = { ENTRY(13, 1), 2, ENTRY(15, 2), ENTRY(0, 1), 0x12 };
	static const uint32_t lines[] = { 101, 0, 0, 101 };

	check_lines(table, sizeof(table), lines, 4);
}

TEST(an_empty_table_knows_no_line)
{
	check_lines("", 0, NULL, 0);
}

TEST(a_table_that_ends_within_an_entry_is_read_no_further)
{
	static const uint8_t whole[] = { ENTRY(14, 1), 0x40 | 2, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40 };

	for (size_t size_bytes = 1; size_bytes <= sizeof(whole); size_bytes++) {
		uint8_t *table = malloc(size_bytes);

		memcpy(table, whole, size_bytes);
		python_line_find(table, size_bytes, 100, 0);
		python_line_find(table, size_bytes, 100, 5);
		free(table);
	}
}
