/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table as Go's linker would write it for three functions. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/elf/go_table.h"
#include "unwind/rule.h"

enum { TEXT = 0x401000, NAMES = 0x100, UNITS = 0x200, FILES = 0x300, VALUES = 0x400, FUNCTIONS = 0x500, SIZE = 0x800 };

static uint8_t bytes[SIZE];

static void put(size_t at, uint64_t value, size_t size_bytes)
{
	memcpy(bytes + at, &value, size_bytes);
}

/* entry, record, name, list of stack moves, of files, of lines, flags */
static void put_function(uint32_t index, uint32_t begin, const char *name, uint32_t stack, uint32_t line, uint8_t flags)
{
	uint32_t record = 0x80 + index * 0x40, at = FUNCTIONS + record, name_at = 1 + index * 0x40;

	put(FUNCTIONS + index * 8, begin, 4);
	put(FUNCTIONS + index * 8 + 4, record, 4);
	strcpy((char *)bytes + NAMES + name_at, name);
	put(at, begin, 4);
	put(at + 4, name_at, 4);
	put(at + 16, stack, 4);
	put(at + 20, 0x40, 4);
	put(at + 24, line, 4);
	put(at + 32, 1, 4); /* of the units' files, the second one begins its */
	bytes[at + 41] = flags;
}

static struct go_table *make(uint64_t text)
{
	/* Zigzag: 2 * value, from -1 on; then how far. */
	static const uint8_t moved_24[] = { 2, 4, 48, 28, 47, 1, 0 }; /* 0, 24, 0 */
	static const uint8_t moved_0[] = { 2, 16, 0 };
	static const uint8_t lines[] = { 22, 8, 4, 24, 0 }; /* 10, then 12 */
	static const uint8_t files[] = { 2, 32, 0 };        /* 0 */

	memset(bytes, 0, sizeof(bytes));
	put(0, 0xfffffff1, 4);
	bytes[6] = 1;
	bytes[7] = 8;
	put(8, 3, 8);
	put(24, text, 8);
	put(32, NAMES, 8);
	put(40, UNITS, 8);
	put(48, FILES, 8);
	put(56, VALUES, 8);
	put(64, FUNCTIONS, 8);
	memcpy(bytes + VALUES + 0x10, moved_24, sizeof(moved_24));
	memcpy(bytes + VALUES + 0x20, moved_0, sizeof(moved_0));
	memcpy(bytes + VALUES + 0x30, lines, sizeof(lines));
	memcpy(bytes + VALUES + 0x40, files, sizeof(files));
	put(UNITS + 4, 3, 4);
	strcpy((char *)bytes + FILES + 3, "/src/work.go");
	put_function(0, 0, "main.(*Store).Put", 0x10, 0x30, 0);
	put_function(1, 0x40, "runtime.goexit", 0x20, 0x30, 1);
	put_function(2, 0x60, "runtime.sigreturn__sigaction", 0x20, 0x30, 0);
	put(FUNCTIONS + 3 * 8, 0x70, 4);
	return go_table_new(bytes, sizeof(bytes), TEXT);
}

TEST(a_place_has_a_function_a_file_and_a_line)
{
	struct go_table *table = make(TEXT);
	struct go_place place;

	CHECK(table && go_table_find(table, TEXT + 2, &place));
	CHECK_STRING(place.function, "main.(*Store).Put");
	CHECK_EQUAL(place.start, TEXT);
	CHECK_STRING(place.file, "/src/work.go");
	CHECK_EQUAL(place.line, 10);
	CHECK(go_table_find(table, TEXT + 8, &place));
	CHECK_EQUAL(place.line, 12);
	CHECK(go_table_find(table, TEXT + 0x41, &place));
	CHECK_EQUAL(place.start, TEXT + 0x40);
	CHECK(!go_table_find(table, TEXT - 1, &place) && !go_table_find(table, TEXT + 0x70, &place));
	go_table_free(table);
}

TEST(where_the_code_is_may_be_said_elsewhere)
{
	struct go_table *table = make(0);
	struct go_place place;

	CHECK(table && go_table_find(table, TEXT, &place));
	go_table_free(table);
}

TEST(the_stack_pointers_moves_make_rules)
{
	struct go_table *table = make(TEXT);
	struct unwind_table unwind;

	go_table_unwind(table, &unwind);
	CHECK(unwind_table_is_valid(&unwind));
	CHECK_EQUAL(unwind_table_find(&unwind, TEXT), rule_make(UNWIND_RSP, 1, UNWIND_RBP_SAME, 0));
	CHECK_EQUAL(unwind_table_find(&unwind, TEXT + 3), rule_make(UNWIND_RSP, 1, UNWIND_RBP_SAME, 0));
	CHECK_EQUAL(unwind_table_find(&unwind, TEXT + 4), rule_make(UNWIND_RSP, 4, UNWIND_RBP_AT_CFA, -2));
	CHECK_EQUAL(unwind_table_find(&unwind, TEXT + 31), rule_make(UNWIND_RSP, 4, UNWIND_RBP_AT_CFA, -2));
	CHECK_EQUAL(unwind_table_find(&unwind, TEXT + 32), rule_make(UNWIND_RSP, 1, UNWIND_RBP_SAME, 0));
	CHECK(!unwind_table_find(&unwind, TEXT + 33)); /* between two functions */
	CHECK_EQUAL(unwind_table_find(&unwind, TEXT + 0x40), UNWIND_END);
	CHECK_EQUAL(unwind_table_find(&unwind, TEXT + 0x5e), UNWIND_END);
	CHECK_EQUAL(unwind_table_find(&unwind, TEXT + 0x5f), UNWIND_SIGNAL);
	CHECK_EQUAL(unwind_table_find(&unwind, TEXT + 0x6f), UNWIND_SIGNAL);
	CHECK(!unwind_table_find(&unwind, TEXT + 0x70));
	unwind_table_fini(&unwind);
	go_table_free(table);
}

TEST(a_place_tells_how_far_the_stack_pointer_has_moved)
{
	struct go_table *table = make(TEXT);
	bool is_outermost = true;
	uint32_t moved_bytes;

	CHECK(go_table_moved(table, TEXT + 3, &moved_bytes, &is_outermost) && !moved_bytes && !is_outermost);
	CHECK(go_table_moved(table, TEXT + 4, &moved_bytes, &is_outermost) && moved_bytes == 24);
	CHECK(go_table_moved(table, TEXT + 31, &moved_bytes, &is_outermost) && moved_bytes == 24);
	CHECK(!go_table_moved(table, TEXT + 33, &moved_bytes, &is_outermost)); /* between two functions */
	CHECK(go_table_moved(table, TEXT + 0x40, &moved_bytes, &is_outermost) && is_outermost);
	CHECK(!go_table_moved(table, TEXT + 0x70, &moved_bytes, &is_outermost));
	go_table_free(table);
}

TEST(what_is_no_table_is_refused)
{
	go_table_free(make(TEXT));
	CHECK(!go_table_new(bytes, 40, TEXT) && !go_table_new(bytes, FUNCTIONS, TEXT));
	put(8, 1 << 20, 8); /* more functions than it has space for */
	CHECK(!go_table_new(bytes, sizeof(bytes), TEXT));
	go_table_free(make(TEXT));
	bytes[7] = 4;
	CHECK(!go_table_new(bytes, sizeof(bytes), TEXT));
	go_table_free(make(TEXT));
	put(0, 0xfffffffb, 4); /* Go 1.2 to 1.15 */
	CHECK(!go_table_new(bytes, sizeof(bytes), TEXT));
}
