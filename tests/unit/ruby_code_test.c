/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ruby's methods and blocks as each version lays them out, in memory that ends where the test says. */
#include "test.h"

#include <string.h>

#include "ruby_format.h"
#include "symbol/python/python_lines.h"
#include "symbol/ruby/ruby_code.h"

enum {
	BASE = 0x100000,
	BYTES = 1 << 20,
	SEQUENCE = BASE + 0x1000,
	ENTRY = BASE + 0x1100,
	DEFINITION = BASE + 0x1200,
	BODY = BASE + 0x2000,
	NAME = BASE + 0x3000,
	PATH = BASE + 0x8000,
	PATHS = BASE + 0xf000,
	LINES = BASE + 0x10000,
	POSITIONS = BASE + 0x20000,
	UNITS = BASE + 0x40000, /* never read */
	CLASS = BASE + 0x50000,
	CLASS_BYTES = 0x1000,
	KEY = 0x4321, /* of the names of classes */
	LINES_MAX = 5461,
};

/* Of classes: each has its object, its extension, its table of variables and their values. */
enum { BASIC_OBJECT, OBJECT, WORKER, WORKER_SINGLETON, HELPERS, MODULE_CLASS, INCLUDED };

static uint32_t random_state;
static uint8_t memory_bytes[BYTES];
static size_t readable_bytes;
static struct ruby_code code;
static const struct ruby_version *version;

static bool read_memory(void *data __attribute__((unused)), uint64_t address, void *bytes, size_t size_bytes)
{
	if (address < BASE || address - BASE > readable_bytes || size_bytes > readable_bytes - (address - BASE))
		return false;
	memcpy(bytes, memory_bytes + (address - BASE), size_bytes);
	return true;
}

static void put(uint64_t address, uint64_t value, size_t size_bytes)
{
	memcpy(memory_bytes + (address - BASE), &value, size_bytes);
}

static void put_string(uint64_t address, const char *text, bool is_outside)
{
	size_t length = strlen(text);
	uint64_t at = address + (is_outside ? 0x40 : version->has_embedded_length ? 24 : 16);

	memset(memory_bytes + (address - BASE), 0, 40);
	put(address, RUBY_STRING | (is_outside ? 1 << 13 : 0), 8);
	if (is_outside || version->has_embedded_length)
		put(address + 16, length, 8);
	else
		put(address, RUBY_STRING | length << 14, 8);
	if (is_outside)
		put(address + 24, at, 8);
	memcpy(memory_bytes + (at - BASE), text, length);
}

static uint64_t class_at(uint32_t i)
{
	return CLASS + i * CLASS_BYTES;
}

/* With a variable "Misleading", and the name or what it is the singleton of. */
static void put_class(uint32_t i, enum ruby_kind kind, uint64_t class, uint64_t superclass, const char *name,
		      uint64_t attached)
{
	uint64_t address = class_at(i), entries = address + 0x200;

	put(address, kind | (attached ? 1 << 12 : 0), 8);
	put(address + 8, class, 8);
	put(address + 16, superclass, 8);
	put(address + 24, address + 0x100, 8);
	put(address + 0x108, address + 0x180, 8);
	put(address + 0x180 + 32, 1, 8);
	put(address + 0x180 + 40, 3, 8);
	put(address + 0x180 + 48, entries, 8);
	put(entries + 24 + 8, KEY + 1, 8);
	put(entries + 24 + 16, address + 0x300, 8);
	put_string(address + 0x300, "Misleading", false);
	put(entries + 48 + 8, attached ? KEY + 2 : KEY, 8);
	put(entries + 48 + 16, attached ? attached : address + 0x400, 8);
	if (name)
		put_string(address + 0x400, name, strlen(name) > 20);
}

static void put_classes(void)
{
	put_class(BASIC_OBJECT, RUBY_CLASS, 0, 0, "BasicObject", 0);
	put_class(OBJECT, RUBY_CLASS, 0, class_at(BASIC_OBJECT), "Object", 0);
	put_class(WORKER, RUBY_CLASS, 0, class_at(OBJECT), "Server::Worker", 0);
	put_class(WORKER_SINGLETON, RUBY_CLASS, 0, class_at(OBJECT), NULL, class_at(WORKER));
	put_class(MODULE_CLASS, RUBY_CLASS, 0, class_at(OBJECT), "Module", 0);
	put_class(HELPERS, RUBY_MODULE, class_at(MODULE_CLASS), 0, "Server::Helpers::OfAllKinds", 0);
	put_class(INCLUDED, RUBY_INCLUDED, class_at(HELPERS), 0, NULL, 0);
}

/* The line at which each unit begins; a line that is that of the unit before does not begin there. */
static void put_lines(const uint32_t *lines, uint32_t unit_count)
{
	uint64_t counts[6] = { 0 }, blocks[256][10] = { { 0 } };
	uint32_t count = 0;

	for (uint32_t unit = 0; unit < unit_count; unit++) {
		bool begins = !unit || lines[unit] != lines[unit - 1];

		if (begins)
			put(LINES + count++ * version->line_bytes, lines[unit], 4);
		if (unit < 54)
			counts[unit / 9] |= (uint64_t)count << unit % 9 * 7;
		else if (begins)
			blocks[(unit - 54) / 512][2 + (unit - 54) % 512 / 64] |= 1ull << (unit - 54) % 64;
	}
	memcpy(memory_bytes + (POSITIONS - BASE), counts, sizeof(counts));
	memcpy(memory_bytes + (POSITIONS - BASE) + sizeof(counts), blocks, sizeof(blocks));
	put(BODY + version->lines, LINES, 8);
	put(BODY + version->lines + 16, count, 4);
	put(BODY + version->lines + 24, POSITIONS, 8);
	put(BODY + 4, unit_count, 4);
}

static void begin(uint32_t number)
{
	static const uint32_t lines[] = { 43, 43, 44 };

	version = ruby_version_find(number);
	memset(memory_bytes, 0, sizeof(memory_bytes));
	readable_bytes = BYTES;
	put(SEQUENCE, RUBY_OBJECT_CODE, 8);
	put(SEQUENCE + 16, BODY, 8);
	put(ENTRY, RUBY_OBJECT_METHOD, 8);
	put(ENTRY + 16, DEFINITION, 8);
	put(ENTRY + 32, class_at(WORKER), 8);
	put(DEFINITION + 8, SEQUENCE, 8);
	put(BODY + 8, UNITS, 8);
	put(BODY + 64, PATH, 8);
	put(BODY + 80, NAME, 8);
	put(BODY + 88, version->has_fixnum_line ? 42 << 1 | 1 : 42, 4);
	put_string(NAME, "run", false);
	put_string(PATH, "/srv/program/server.rb", true);
	put_lines(lines, 3);
	put_classes();
}

static bool read_key(uint64_t address, uint64_t unit, struct ruby_code_key *key)
{
	struct ruby_memory memory = { read_memory, NULL, version };

	return ruby_code_read_key(&memory, address, (UNITS / 8 + unit) & STACK_MANAGED_INDEX, key);
}

static bool read_code(uint64_t address)
{
	struct ruby_memory memory = { read_memory, NULL, version };
	struct ruby_code_key key;

	return read_key(address, 1, &key) && ruby_code_read(&memory, &key, &code);
}

static const uint32_t numbers[] = { 0x0300, 0x0301, 0x0302, 0x0303 };

#define EACH_VERSION(i) for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)

TEST(a_block_of_each_version_is_read)
{
	struct ruby_code_key key;

	EACH_VERSION(i)
	{
		begin(numbers[i]);
		CHECK(read_key(SEQUENCE, 1, &key));
		CHECK_EQUAL(key.lines.first_line, 42);
		CHECK_EQUAL(ruby_code_first_index(&key), UNITS / 8 & STACK_MANAGED_INDEX);
		CHECK(read_code(SEQUENCE));
		CHECK_STRING(code.name, "run");
		CHECK_STRING(code.file, "/srv/program/server.rb");
		CHECK_EQUAL(python_line_find(code.table, code.table_bytes, 42, 0), 43);
		CHECK_EQUAL(python_line_find(code.table, code.table_bytes, 42, 1), 43);
		CHECK_EQUAL(python_line_find(code.table, code.table_bytes, 42, 2), 44);
		CHECK_EQUAL(python_line_find(code.table, code.table_bytes, 42, 3), 0);
	}
}

TEST(a_method_has_the_name_of_its_class_where_that_can_be_read)
{
	EACH_VERSION(i)
	{
		bool has_class = numbers[i] <= 0x0301;

		begin(numbers[i]);
		CHECK(read_code(ENTRY));
		CHECK_STRING(code.name, has_class ? "Server::Worker#run" : "run");
		put(ENTRY + 32, class_at(WORKER_SINGLETON), 8);
		CHECK(read_code(ENTRY));
		CHECK_STRING(code.name, has_class ? "Server::Worker.run" : "run");
		put(ENTRY + 32, class_at(HELPERS), 8);
		CHECK(read_code(ENTRY));
		CHECK_STRING(code.name, has_class ? "Server::Helpers::OfAllKinds#run" : "run");
		put(ENTRY + 32, class_at(INCLUDED), 8);
		CHECK(read_code(ENTRY));
		CHECK_STRING(code.name, has_class ? "Server::Helpers::OfAllKinds#run" : "run");
	}
}

TEST(without_the_name_of_a_class_there_is_that_of_the_method)
{
	begin(0x0301);
	put(ENTRY + 32, 0, 8);
	CHECK(read_code(ENTRY));
	CHECK_STRING(code.name, "run");
	/* A chain that does not end in BasicObject, and one that does not end. */
	begin(0x0301);
	put(class_at(OBJECT) + 16, 0, 8);
	CHECK(read_code(ENTRY));
	CHECK_STRING(code.name, "run");
	put(class_at(OBJECT) + 16, class_at(WORKER), 8);
	CHECK(read_code(ENTRY));
	CHECK_STRING(code.name, "run");
	/* It is of no class. */
	begin(0x0301);
	put(class_at(WORKER), RUBY_STRING, 8);
	CHECK(read_code(ENTRY));
	CHECK_STRING(code.name, "run");
	/* It has no name yet. */
	begin(0x0301);
	put(class_at(WORKER) + 0x180 + 40, 2, 8);
	CHECK(read_code(ENTRY));
	CHECK_STRING(code.name, "run");
}

TEST(what_is_neither_method_nor_code_is_not_read)
{
	struct ruby_code_key key;

	begin(0x0301);
	put(SEQUENCE, RUBY_STRING, 8);
	CHECK(!read_key(SEQUENCE, 0, &key) && !read_key(ENTRY, 0, &key));
	begin(0x0301);
	put(DEFINITION, 1, 4); /* of C */
	CHECK(read_key(SEQUENCE, 0, &key) && !read_key(ENTRY, 0, &key));
	begin(0x0301);
	CHECK(!read_key(SEQUENCE + 4, 0, &key) && !read_key(0, 0, &key));
}

TEST(a_frame_that_is_not_in_the_code_is_not_its)
{
	struct ruby_code_key key;

	begin(0x0301);
	CHECK(read_key(SEQUENCE, 0, &key) && read_key(SEQUENCE, 3, &key));
	CHECK(!read_key(SEQUENCE, 4, &key) && !read_key(SEQUENCE, -1ull, &key));
}

TEST(versions_before_and_after_are_not_known)
{
	CHECK(!ruby_version_find(0x0207) && !ruby_version_find(0x0304));
	CHECK(!ruby_version_find(0) && !ruby_version_find(1));
}

TEST(paths_are_what_the_program_gave)
{
	begin(0x0301);
	put(BODY + 64, PATHS, 8);
	put(PATHS, RUBY_ARRAY | 1 << 13, 8);
	put(PATHS + 16, PATH, 8);
	CHECK(read_code(SEQUENCE));
	CHECK_STRING(code.file, "/srv/program/server.rb");
	put(PATHS, RUBY_ARRAY, 8);
	put(PATHS + 16, 2, 8);
	put(PATHS + 32, PATHS + 0x80, 8);
	put(PATHS + 0x80, PATH, 8);
	CHECK(read_code(SEQUENCE));
	CHECK_STRING(code.file, "/srv/program/server.rb");
	put(PATHS + 0x80, 8, 8);
	CHECK(read_code(SEQUENCE));
	CHECK_STRING(code.file, "");
}

static uint32_t random_number(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

/* Lines that change at random, against the table. */
TEST(each_unit_has_its_line)
{
	static uint32_t lines[20000];
	static const uint32_t counts[] = { 1, 9, 53, 54, 55, 63, 64, 118, 119, 566, 567, 1100, 20000 };

	EACH_VERSION(i)
	{
		for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++) {
			uint32_t line = 42, changes = 0;

			begin(numbers[i]);
			for (uint32_t unit = 0; unit < counts[k]; unit++) {
				if (random_number() % 7 == 0 && changes < LINES_MAX - 1) {
					line = 1 + random_number() % 3000;
					changes++;
				}
				lines[unit] = line;
			}
			put_lines(lines, counts[k]);
			CHECK(read_code(SEQUENCE));
			CHECK_THAT(code.table_bytes, >, 0);
			for (uint32_t unit = 0; unit < counts[k]; unit++)
				CHECK_EQUAL(python_line_find(code.table, code.table_bytes, 42, unit), lines[unit]);
		}
	}
}

TEST(lines_that_make_no_sense_are_left_out)
{
	begin(0x0301);
	put(BODY + version->lines + 16, LINES_MAX + 1, 4);
	CHECK(read_code(SEQUENCE) && !code.table_bytes);
	put(BODY + version->lines + 16, 0, 4);
	CHECK(read_code(SEQUENCE) && !code.table_bytes);
	begin(0x0301);
	put(BODY + version->lines + 24, 0, 8);
	CHECK(read_code(SEQUENCE) && !code.table_bytes);
	begin(0x0301);
	put(BODY + 4, UINT32_MAX, 4);
	CHECK(read_code(SEQUENCE) && !code.table_bytes);
	/* More lines begin than there are. */
	begin(0x0301);
	put(POSITIONS, UINT64_MAX, 8);
	CHECK(read_code(SEQUENCE));
	CHECK_EQUAL(python_line_find(code.table, code.table_bytes, 42, 0), 0);
	put(LINES, UINT32_MAX, 4);
	put(BODY + version->lines + 16, 1, 4);
	CHECK(read_code(SEQUENCE));
	CHECK_EQUAL(python_line_find(code.table, code.table_bytes, 42, 0), 0);
}

TEST(a_long_name_is_cut_between_characters)
{
	static char name[3 * 2000 + 1];

	begin(0x0301);
	for (size_t i = 0; i < 2000; i++)
		memcpy(name + 3 * i, "名", 3);
	put_string(NAME, name, true);
	CHECK(read_code(SEQUENCE));
	CHECK_EQUAL(strlen(code.name), (MANAGED_NAME_BYTES - 1) / 3 * 3);
	put(NAME + 16, UINT64_MAX, 8);
	CHECK(read_code(SEQUENCE));
	CHECK_EQUAL(strlen(code.name), (MANAGED_NAME_BYTES - 1) / 3 * 3);
	/* With its class, too. */
	CHECK(read_code(ENTRY));
	CHECK_EQUAL(strncmp(code.name, "Server::Worker#名", 18), 0);
	CHECK_THAT(strlen(code.name), <, MANAGED_NAME_BYTES);
}

TEST(another_class_or_code_is_another_identity)
{
	struct ruby_code_key key, other;

	begin(0x0301);
	CHECK(read_key(ENTRY, 0, &key) && read_key(SEQUENCE, 0, &other));
	CHECK_THAT(ruby_code_identity(&key), !=, ruby_code_identity(&other));
	put(BODY + 8, UNITS + 8, 8);
	CHECK(read_key(ENTRY, 1, &other));
	CHECK_THAT(ruby_code_identity(&key), !=, ruby_code_identity(&other));
}

TEST(memory_may_end_anywhere)
{
	EACH_VERSION(i)
	{
		begin(numbers[i]);
		for (readable_bytes = 0; readable_bytes < CLASS + 8 * CLASS_BYTES - BASE; readable_bytes += 8)
			if (read_code(ENTRY))
				CHECK(strstr(code.name, "run"));
		CHECK(read_code(ENTRY));
	}
}
