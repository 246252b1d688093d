/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of JavaScript in a heap as V8 lays it out, in memory that ends where the test says. */
#include "test.h"

#include <string.h>

#include "symbol/v8/v8_function.h"
#include "symbol/v8/v8_memory.h"
#include "symbol/v8/v8_string.h"

enum {
	BASE = 0x10000,
	BYTES = 4 << 20,
	STRINGS_MAX = 64,
	/* Types of objects. */
	SHARED = 262,
	SCOPE = 261,
	SCRIPT = 167,
	ARRAY = 175,
	ODDBALL = 131,
	ONE_BYTE = 8,
	SEQUENTIAL = 0,
	CONS = 1,
	EXTERNAL = 2,
	SLICED = 3,
	THIN = 5,
	EXTERNAL_PLAIN = 0x10,
	/* Of a ScopeInfo. */
	SAVED_CLASS = 1 << 10,
	NAMED = 3 << 12,
	INFERRED = 1 << 14,
};

/* As V8 11.3 has them. */
static const struct v8_heap heap_11 = {
	.is_known = 1,
	.object_map = 0,
	.map_type = 12,
	.shared_type = SHARED,
	.scope_type = SCOPE,
	.script_type = SCRIPT,
	.array_type = ARRAY,
	.string_type_end = 128,
	.string_form_mask = 7,
	.string_is_one_byte = ONE_BYTE,
	.form_sequential = SEQUENTIAL,
	.form_cons = CONS,
	.form_external = EXTERNAL,
	.form_sliced = SLICED,
	.form_thin = THIN,
	.shared_name = 16,
	.shared_script = 32,
	.shared_token = 44,
	.script_name = 16,
	.script_source = 8,
	.script_line_ends = 56,
	.script_line_offset = 24,
	.string_length = 12,
	.string_characters = 16,
	.cons_first = 16,
	.cons_second = 24,
	.sliced_parent = 16,
	.sliced_offset = 24,
	.thin_actual = 16,
	.external_resource = 16,
	.array_length = 8,
	.array_items = 16,
	.scope_local_count = 2,
	.scope_locals = 3,
};

static uint8_t memory_bytes[BYTES];
static size_t readable_bytes, used_bytes;
static struct v8_heap heap;
static struct v8_function function;
static uint32_t readings;

static bool read_memory(void *data __attribute__((unused)), uint64_t address, void *bytes, size_t size_bytes)
{
	readings++;
	if (address < BASE || address - BASE > readable_bytes || size_bytes > readable_bytes - (address - BASE))
		return false;
	memcpy(bytes, memory_bytes + (address - BASE), size_bytes);
	return true;
}

static const struct memory_reader reader = { read_memory, NULL };

static void begin(void)
{
	memset(memory_bytes, 0, sizeof(memory_bytes));
	readable_bytes = BYTES;
	used_bytes = 64;
	heap = heap_11;
}

static void put(uint64_t object, size_t offset, uint64_t value, size_t size_bytes)
{
	memcpy(memory_bytes + (object - 1 - BASE) + offset, &value, size_bytes);
}

static uint64_t integer(int32_t value)
{
	return (uint64_t)(uint32_t)value << 32;
}

static uint64_t allocate(size_t size_bytes)
{
	uint64_t object = BASE + used_bytes + 1;

	used_bytes += (size_bytes + 7) / 8 * 8;
	assert_true(used_bytes <= BYTES);
	return object;
}

/* An object of that type. */
static uint64_t make(uint16_t type, size_t size_bytes)
{
	uint64_t map = allocate(32), object = allocate(size_bytes);

	put(map, 12, type, 2);
	put(object, 0, map, 8);
	return object;
}

static uint64_t make_string(const char *text)
{
	uint64_t string = make(ONE_BYTE | SEQUENTIAL, 16 + strlen(text));

	put(string, 12, strlen(text), 4);
	memcpy(memory_bytes + (string - 1 - BASE) + 16, text, strlen(text));
	return string;
}

static uint64_t make_wide(const uint16_t *units, uint32_t count)
{
	uint64_t string = make(SEQUENTIAL, 16 + 2 * count);

	put(string, 12, count, 4);
	memcpy(memory_bytes + (string - 1 - BASE) + 16, units, 2 * count);
	return string;
}

/* Of two parts, or one and a number. */
static uint64_t make_of_parts(uint16_t form, uint32_t length, uint64_t first, uint64_t second)
{
	uint64_t string = make(ONE_BYTE | form, 32);

	put(string, 12, length, 4);
	put(string, 16, first, 8);
	put(string, 24, second, 8);
	return string;
}

static uint64_t undefined(void)
{
	return make(ODDBALL, 16);
}

/* What a function's ScopeInfo says. */
struct scope {
	uint32_t flags;
	uint32_t local_count;
	uint64_t name, inferred;
	int32_t begin, end;
	bool is_new; /* positions first, flags as a plain number */
};

static uint64_t make_scope(const struct scope *scope)
{
	uint64_t object = make(SCOPE, (16 + 2 * (size_t)scope->local_count) * 8);
	size_t at = 8;

	put(object, at, scope->is_new ? scope->flags : integer(scope->flags), 8);
	at += 16; /* parameters */
	put(object, at, integer(scope->local_count), 8);
	at += 8;
	if (scope->is_new) {
		put(object, at, integer(scope->begin), 8);
		put(object, at + 8, integer(scope->end), 8);
		at += 16;
	}
	if (scope->local_count < 75) {
		for (uint32_t i = 0; i < scope->local_count; i++, at += 8)
			put(object, at, make_string("local"), 8);
	} else {
		put(object, at, undefined(), 8);
		at += 8;
	}
	at += 8 * (size_t)scope->local_count;
	at += scope->flags & SAVED_CLASS ? 8 : 0;
	if (scope->flags & NAMED) {
		put(object, at, scope->name, 8);
		at += 16;
	}
	if (scope->flags & INFERRED) {
		put(object, at, scope->inferred, 8);
		at += 8;
	}
	if (!scope->is_new) {
		put(object, at, integer(scope->begin), 8);
		put(object, at + 8, integer(scope->end), 8);
	}
	return object;
}

static uint64_t make_script(uint64_t name, uint64_t source, uint64_t line_ends)
{
	uint64_t script = make(SCRIPT, 104);

	put(script, 16, name, 8);
	put(script, 8, source, 8);
	put(script, 56, line_ends, 8);
	return script;
}

static uint64_t make_function(uint64_t name, uint64_t script, uint16_t token)
{
	uint64_t shared = make(SHARED, 56);

	put(shared, 16, name, 8);
	put(shared, 32, script, 8);
	put(shared, 44, token, 2);
	return shared;
}

static bool read_function(uint64_t shared)
{
	struct v8_function_key key;

	return v8_function_read_key(&reader, &heap, shared - 1, &key) &&
	       v8_function_read(&reader, &heap, &key, &function);
}

static const char source[] = "a();\nfunction f() {\n}\r\nclass C {\n  m() {}\r  n() {}\n}\n";

static uint64_t make_script_of(const char *text)
{
	return make_script(make_string("/srv/program.js"), make_string(text), undefined());
}

TEST(a_function_has_its_name_file_and_line)
{
	struct scope scope = { NAMED, 0, 0, 0, 15, 21, false };

	for (int is_new = 0; is_new < 2; is_new++)
		for (uint32_t locals = 0; locals < 200; locals += 37) {
			begin();
			heap.scope_locals = is_new ? 5 : 3;
			heap.scope_has_positions = is_new;
			scope.is_new = is_new;
			scope.local_count = locals;
			scope.flags = NAMED | (locals % 2 ? SAVED_CLASS : 0);
			scope.name = make_string("f");
			CHECK(read_function(make_function(make_scope(&scope), make_script_of(source), 9)));
			CHECK_STRING(function.name, "f");
			CHECK_STRING(function.file, "/srv/program.js");
			CHECK_EQUAL(function.line, 2);
		}
}

TEST(a_function_without_a_name_has_the_one_that_was_inferred)
{
	struct scope scope = { NAMED | INFERRED, 3, 0, 0, 15, 21, false };

	begin();
	scope.name = make_string("");
	scope.inferred = make_string("Server.handle");
	CHECK(read_function(make_function(make_scope(&scope), make_script_of(source), 0)));
	CHECK_STRING(function.name, "Server.handle");
	scope.name = 0;
	CHECK(read_function(make_function(make_scope(&scope), make_script_of(source), 0)));
	CHECK_STRING(function.name, "Server.handle");
	scope.inferred = undefined();
	CHECK(read_function(make_function(make_scope(&scope), make_script_of(source), 0)));
	CHECK_STRING(function.name, "");
	CHECK_EQUAL(function.line, 2);
}

TEST(what_v8_itself_is_made_of_has_a_name_alone)
{
	begin();
	CHECK(read_function(make_function(make_string("map"), undefined(), 0xffff)));
	CHECK_STRING(function.name, "map");
	CHECK_STRING(function.file, "");
	CHECK_EQUAL(function.line, 0);
}

TEST(lines_end_as_javascript_says)
{
	static const struct {
		const char *before;
		uint32_t line;
	} cases[] = { { "a();\n", 2 }, { "}\r\n", 4 }, { "class C {\n", 5 }, { "m() {}\r", 6 }, { "n() {}\n", 7 } };
	struct scope scope = { 0, 0, 0, 0, 0, 1000, false };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin();
		scope.begin = (int32_t)(strstr(source, cases[i].before) - source + strlen(cases[i].before));
		CHECK(read_function(make_function(make_scope(&scope), make_script_of(source), 0xffff)));
		CHECK_EQUAL(function.line, cases[i].line);
	}
}

/* The ends of all lines, as V8 lists them. */
static uint64_t make_line_ends(const char *text)
{
	uint32_t count = 0;
	uint64_t list = make(ARRAY, 16 + 8 * (strlen(text) + 1));

	for (size_t i = 0; text[i]; i++)
		if (text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n'))
			put(list, 16 + 8 * count++, integer(i), 8);
	put(list, 16 + 8 * count++, integer(strlen(text)), 8);
	put(list, 8, integer(count), 8);
	return list;
}

TEST(the_list_of_ends_gives_the_lines_that_the_source_does)
{
	struct scope scope = { 0, 0, 0, 0, 0, 1000, false };

	for (size_t i = 0; i < strlen(source); i++) {
		uint32_t line;
		uint64_t list;

		if (source[i] == '\n')
			continue;
		begin();
		scope.begin = i;
		CHECK(read_function(make_function(make_scope(&scope), make_script_of(source), 0xffff)));
		line = function.line;
		CHECK(line);
		list = make_line_ends(source);
		CHECK(read_function(make_function(make_scope(&scope),
						  make_script(make_string("x.js"), undefined(), list), 0xffff)));
		CHECK_EQUAL(function.line, line);
	}
}

TEST(a_script_that_begins_within_a_file_says_where)
{
	struct scope scope = { 0, 0, 0, 0, 5, 10, false };
	uint64_t script;

	begin();
	script = make_script_of(source);
	put(script, 24, integer(100), 8);
	CHECK(read_function(make_function(make_scope(&scope), script, 0xffff)));
	CHECK_EQUAL(function.line, 102);
	put(script, 24, integer(-1), 8);
	CHECK(read_function(make_function(make_scope(&scope), script, 0xffff)) && !function.line);
}

TEST(a_source_of_a_megabyte_has_no_lines)
{
	struct scope scope = { 0, 0, 0, 0, 1 << 20, 1 << 21, false };
	uint64_t text, script;

	begin();
	text = make(ONE_BYTE | SEQUENTIAL, 16 + (1 << 20) + 8);
	put(text, 12, (1 << 20) + 1, 4);
	memset(memory_bytes + (text - 1 - BASE) + 16, '\n', (1 << 20) + 1);
	script = make_script(make_string("x.js"), text, undefined());
	CHECK(read_function(make_function(make_scope(&scope), script, 0xffff)));
	CHECK_EQUAL(function.line, (1 << 20) + 1);
	scope.begin++;
	CHECK(read_function(make_function(make_scope(&scope), script, 0xffff)) && !function.line);
}

static const char *name_of(uint64_t string)
{
	if (!read_function(make_function(string, undefined(), 0xffff)))
		return NULL;
	return function.name;
}

TEST(an_object_that_is_being_moved_is_where_it_goes)
{
	uint64_t text, moved;

	begin();
	text = make_string("value");
	moved = make_string("value");
	put(text, 0, moved - 1, 8);
	CHECK_STRING(name_of(text), "value");
	put(text, 0, BASE - 8, 8);
	CHECK(!name_of(text));
}

TEST(strings_of_all_forms_become_utf_8)
{
	static const uint16_t wide[] = { 0x540d, 'x', 0xd800, 0xdc01, 0xdc00, 'y' };
	uint64_t first, second, text;

	begin();
	CHECK_STRING(name_of(make_string("gr\xf6\xdf")), "größ");
	CHECK_STRING(name_of(make_wide(wide, 6)), "名x\U00010001\ufffdy");
	first = make_string("get ");
	second = make_string("value");
	CHECK_STRING(name_of(make_of_parts(CONS, 9, first, second)), "get value");
	text = make_of_parts(CONS, 9, first, second);
	CHECK_STRING(name_of(make_of_parts(CONS, 14, text, second)), "get valuevalue");
	CHECK_STRING(name_of(make_of_parts(CONS, 4, first, make_string(""))), "get ");
	CHECK_STRING(name_of(make_of_parts(SLICED, 3, second, integer(1))), "alu");
	CHECK_STRING(name_of(make_of_parts(THIN, 5, second, 0)), "value");
	text = make_of_parts(CONS, 5, second, make_string(""));
	CHECK_STRING(name_of(make_of_parts(SLICED, 3, text, integer(2))), "lue");
	CHECK_STRING(name_of(make_of_parts(EXTERNAL, 3, 0, BASE + (second - 1 - BASE) + 16 + 2)), "lue");
}

TEST(what_cannot_be_read_whole_is_no_name)
{
	uint64_t text, part;

	begin();
	part = make_string("part");
	CHECK(!name_of(make_of_parts(EXTERNAL | EXTERNAL_PLAIN, 3, 0, part)));
	CHECK(!name_of(make_of_parts(CONS, 8, part, 0x123457)));
	CHECK(!name_of(make_of_parts(SLICED, 2, part, integer(-1))));
	CHECK(!name_of(make_of_parts(SLICED, 2, part, part)));
	CHECK(!name_of(0x7000000001));
	/* A string that is made of itself, in all ways. */
	text = make_of_parts(CONS, 8, part, part);
	put(text, 16, text, 8);
	CHECK(!name_of(text));
	text = make_of_parts(THIN, 8, part, part);
	put(text, 16, text, 8);
	CHECK(!name_of(text));
	text = make_of_parts(SLICED, 8, part, integer(0));
	put(text, 16, text, 8);
	CHECK(!name_of(text));
	/* An integer, or an object that is no string. */
	CHECK_STRING(name_of(integer(7)), "");
	CHECK_STRING(name_of(undefined()), "");
}

TEST(a_long_name_is_cut_between_characters)
{
	static uint16_t units[5000];

	begin();
	for (size_t i = 0; i < 5000; i++)
		units[i] = 0x540d;
	CHECK_EQUAL(strlen(name_of(make_wide(units, 5000))), (MANAGED_NAME_BYTES - 1) / 3 * 3);
}

TEST(what_is_no_function_is_none)
{
	struct v8_function_key key;
	uint64_t shared;

	begin();
	shared = make_function(make_string("f"), undefined(), 0);
	CHECK(v8_function_read_key(&reader, &heap, shared - 1, &key));
	put(shared, 0, make_string("x"), 8);
	CHECK(!v8_function_read_key(&reader, &heap, shared - 1, &key));
	CHECK(!v8_function_read_key(&reader, &heap, 0, &key));
	heap.is_known = 0;
	CHECK(!v8_function_read_key(&reader, &heap, shared - 1, &key));
}

TEST(functions_that_had_one_address_are_not_the_same)
{
	struct v8_function_key key = { 1, 2, 3 }, other = key;

	CHECK_EQUAL(v8_function_identity(&key), v8_function_identity(&other));
	other.name = 4;
	CHECK_THAT(v8_function_identity(&key), !=, v8_function_identity(&other));
	other = (struct v8_function_key){ 2, 1, 3 };
	CHECK_THAT(v8_function_identity(&key), !=, v8_function_identity(&other));
}

TEST(memory_may_end_anywhere)
{
	struct scope scope = { NAMED, 2, 0, 0, 15, 21, false };
	uint64_t shared;
	size_t end;

	begin();
	scope.name = make_string("f");
	shared = make_function(make_scope(&scope), make_script_of(source), 9);
	end = used_bytes;
	for (readable_bytes = 0; readable_bytes <= end; readable_bytes++) {
		readings = 0;
		if (read_function(shared) && function.line) {
			CHECK_STRING(function.name, "f");
			CHECK_EQUAL(function.line, 2);
		}
		CHECK_THAT(readings, <, 100);
	}
	CHECK(read_function(shared) && function.line == 2);
}

/* Whatever lies there, it is read in few steps, and what comes of it ends with a NUL. */
TEST(a_heap_of_noise_takes_few_readings)
{
	uint64_t random = 1;

	for (int round = 0; round < 2000; round++) {
		struct v8_function_key key;

		begin();
		for (size_t i = 0; i < 4096; i += 8) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			put(BASE + 1, i, random >> 62 ? BASE + (random >> 40) % 4096 / 8 * 8 + 1 : random, 8);
		}
		used_bytes = 4096;
		put(BASE + 1, 0, make(SHARED, 56), 8);
		key = (struct v8_function_key){ BASE + 1 + (random >> 20) % 4096 / 8 * 8, BASE + 1 + 512, 0xffff };
		readings = 0;
		v8_function_read(&reader, &heap, &key, &function);
		CHECK_THAT(readings, <, 2000);
		CHECK(memchr(function.name, 0, sizeof(function.name)) &&
		      memchr(function.file, 0, sizeof(function.file)));
	}
}
