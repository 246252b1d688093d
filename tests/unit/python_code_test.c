/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code objects as each version lays them out, in memory that ends where the test says. */
#include "test.h"

#include <string.h>

#include "symbol/python/python_code.h"

enum { BASE = 0x10000, BYTES = 1 << 18, CODE = 0x0, NAME = 0x200, FILE_NAME = 0x8000, TABLE = 0x10000 };

static uint8_t memory_bytes[BYTES];
static size_t readable_bytes;
static struct python_code code;
static const struct python_version *version;

static bool read_memory(void *data __attribute__((unused)), uint64_t address, void *bytes, size_t size_bytes)
{
	if (address < BASE || address - BASE > readable_bytes || size_bytes > readable_bytes - (address - BASE))
		return false;
	memcpy(bytes, memory_bytes + (address - BASE), size_bytes);
	return true;
}

static void put(size_t at, uint64_t value, size_t size_bytes)
{
	memcpy(memory_bytes + at, &value, size_bytes);
}

/* Units of unit_bytes, as they lie in a string. */
static void put_string(size_t at, const void *units, uint64_t count, uint32_t unit_bytes, bool is_ascii)
{
	put(at + 16, count, 8);
	put(at + 32, unit_bytes << 2 | 1 << 5 | (uint32_t)is_ascii << 6, 4);
	memcpy(memory_bytes + at + (is_ascii ? version->code.ascii_text : version->code.text), units,
	       count * unit_bytes);
}

static void begin(uint32_t number)
{
	version = python_version_find(number);
	memset(memory_bytes, 0, sizeof(memory_bytes));
	readable_bytes = BYTES;
	put(CODE, 1, 8);
	put(TABLE, UINT32_MAX, 8); /* it lives forever (3.12) */
	put(CODE + version->code.first_line, 42, 4);
	put(CODE + version->code.qualified_name, BASE + NAME, 8);
	put(CODE + version->code.file_name, BASE + FILE_NAME, 8);
	put(CODE + version->code.line_table, BASE + TABLE, 8);
	put_string(NAME, "Class.method", 12, 1, true);
	put_string(FILE_NAME, "/srv/program.py", 15, 1, true);
	put(TABLE + 16, 3, 8);
	memcpy(memory_bytes + TABLE + 32, "\xf0\x01\x02", 3);
}

static bool read_code(struct python_code_key *key)
{
	struct memory_reader memory = { read_memory, NULL };

	return python_code_read_key(&memory, &version->code, BASE + CODE, key) &&
	       python_code_read(&memory, &version->code, key, &code);
}

TEST(a_code_object_of_each_version_is_read)
{
	struct python_code_key key;

	for (uint32_t number = 0x030b; number <= 0x030d; number++) {
		begin(number);
		CHECK(read_code(&key));
		CHECK_EQUAL(key.first_line, 42);
		CHECK_STRING(code.name, "Class.method");
		CHECK_STRING(code.file, "/srv/program.py");
		CHECK_EQUAL(code.table_bytes, 3);
		CHECK(!memcmp(code.table, "\xf0\x01\x02", 3));
	}
}

TEST(versions_before_and_after_are_not_known)
{
	CHECK(!python_version_find(0x030a) && !python_version_find(0x030e));
	CHECK(!python_version_find(0) && !python_version_find(1));
}

TEST(strings_of_all_kinds_become_utf_8)
{
	static const uint8_t latin[] = { 'g', 'r', 0xf6, 0xdf, 'e' };
	static const uint16_t wide[] = { 0x540d, 'x', 0x7ff, 0x800 };
	static const uint32_t widest[] = { 0x10280, 'y', 0xe4 };
	struct python_code_key key;

	begin(0x030c);
	put_string(NAME, latin, 5, 1, false);
	CHECK(read_code(&key));
	CHECK_STRING(code.name, "größe");
	put_string(NAME, wide, 4, 2, false);
	CHECK(read_code(&key));
	CHECK_STRING(code.name, "名x\u07ff\u0800");
	put_string(NAME, widest, 3, 4, false);
	CHECK(read_code(&key));
	CHECK_STRING(code.name, "𐊀yä");
}

TEST(bytes_of_a_file_name_that_are_no_utf_8_come_back)
{
	static const uint16_t escaped[] = { 'a', 0xdcff, 0xdc80, 'b' }, halves[] = { 0xd800, 0xdfff };
	static const uint32_t beyond[] = { 0x110000 };
	struct python_code_key key;

	begin(0x030d);
	put_string(FILE_NAME, escaped, 4, 2, false);
	CHECK(read_code(&key));
	CHECK_STRING(code.file, "a\xff\x80"
				"b");
	put_string(FILE_NAME, halves, 2, 2, false);
	CHECK(read_code(&key));
	CHECK_STRING(code.file, "\ufffd\ufffd");
	put_string(FILE_NAME, beyond, 1, 4, false);
	CHECK(read_code(&key));
	CHECK_STRING(code.file, "\ufffd");
}

TEST(a_long_name_is_cut_between_characters)
{
	uint16_t units[2000];
	struct python_code_key key;

	begin(0x030b);
	for (size_t i = 0; i < 2000; i++)
		units[i] = 0x540d;
	put_string(NAME, units, 2000, 2, false);
	CHECK(read_code(&key));
	CHECK_EQUAL(strlen(code.name), (MANAGED_NAME_BYTES - 1) / 3 * 3);
	put(NAME + 16, UINT64_MAX, 8);
	CHECK(read_code(&key));
	CHECK_EQUAL(strlen(code.name), (MANAGED_NAME_BYTES - 1) / 3 * 3);
}

TEST(what_is_no_string_is_no_name)
{
	struct python_code_key key;

	begin(0x030b);
	put(NAME + 32, 0, 4);
	CHECK(!read_code(&key));
	put(NAME + 32, 3 << 2 | 1 << 5, 4);
	CHECK(!read_code(&key));
	begin(0x030b);
	put(NAME + 16, 0, 8);
	CHECK(!read_code(&key));
	begin(0x030b);
	put(CODE + version->code.qualified_name, 0, 8);
	CHECK(!read_code(&key));
}

TEST(a_table_that_is_too_large_is_left_out)
{
	struct python_code_key key;

	begin(0x030b);
	put(TABLE + 16, MANAGED_TABLE_BYTES, 8);
	CHECK(read_code(&key));
	CHECK_EQUAL(code.table_bytes, MANAGED_TABLE_BYTES);
	put(TABLE + 16, MANAGED_TABLE_BYTES + 1, 8);
	CHECK(read_code(&key) && !code.table_bytes);
	put(TABLE + 16, UINT64_MAX, 8);
	CHECK(read_code(&key) && !code.table_bytes);
	CHECK_STRING(code.name, "Class.method");
}

TEST(what_was_freed_is_not_read)
{
	struct python_code_key key;

	begin(0x030b);
	put(TABLE, 0x7f1200345670, 8); /* of the next free block */
	CHECK(read_code(&key) && !code.table_bytes);
	put(CODE, 0x7f1200345670, 8);
	CHECK(!read_code(&key));
	put(CODE, 0, 8);
	CHECK(!read_code(&key));
}

TEST(memory_may_end_anywhere)
{
	struct python_code_key key;

	begin(0x030d);
	for (readable_bytes = 0; readable_bytes < TABLE + 64; readable_bytes++) {
		bool has_name = readable_bytes >= NAME + (size_t)version->code.ascii_text + 12;
		bool has_table = readable_bytes >= TABLE + 32 + 3;

		CHECK_EQUAL(read_code(&key), has_name);
		if (has_name) {
			CHECK_STRING(code.name, "Class.method");
			CHECK_EQUAL(code.table_bytes != 0, has_table);
		}
	}
}
