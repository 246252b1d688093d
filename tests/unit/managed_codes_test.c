/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code objects in this process's own memory. */
#include "test.h"

#include <string.h>
#include <unistd.h>

#include "helper/opener.h"
#include "helper/pair.h"
#include "session/session.h"
#include "symbol/managed_codes.h"
#include "symbol/names/names.h"
#include "symbol/names/notes.h"
#include "symbol/python/python_layout.h"
#include "symbol/worker/worker.h"
#include "unwind/v8_heap.h"
#include "values.h"

enum { SECOND = 1000000000 };

static const uint64_t limit_ns = 60000000000;

struct string {
	uint8_t head[48];
	char text[64];
};

struct code {
	_Alignas(16) uint8_t object[256];
	struct string name, file;
	uint8_t table[64];
};

static struct session *session;
static struct helper_pair *pair;
static struct opener *opener;
static struct worker *worker;
static struct notes *notes;
static struct names *names;
static struct managed_codes *codes;
static uint32_t seen_space;
static const struct python_version *version;

static void on_stuck(void *data, uint32_t pid, const char *path)
{
	(void)data, (void)pid, (void)path;
	fail_msg("reading memory got stuck");
}

static void on_code(void *data, const struct ev_header *header)
{
	(void)data;
	managed_codes_add_python(codes, seen_space, (const struct ev_space_python_code *)header);
}

static void on_function(void *data, const struct ev_header *header)
{
	(void)data;
	managed_codes_add(codes, seen_space, (const struct ev_space_managed_code *)header);
}

static void begin(void)
{
	static const struct event_handler handlers[] = { { EV_SPACE_PYTHON_CODE, on_code },
							 { EV_SPACE_MANAGED_CODE, on_function },
							 { 0 } };

	session = session_new(1, 1 << 20);
	session_subscribe(session, handlers, NULL);
	pair = helper_pair_new(worker_roles());
	opener = opener_new(pair, on_stuck, NULL);
	worker = worker_new(pair, opener);
	notes = notes_new();
	names = names_new(1 << 20, NULL);
	codes = managed_codes_new(session, worker, names, notes);
	version = python_version_find(0x030b);
}

static void end(void)
{
	managed_codes_free(codes);
	names_free(names);
	notes_free(notes);
	worker_free(worker);
	opener_free(opener);
	helper_pair_free(pair);
	session_free(session);
}

static void put(uint8_t *object, size_t at, uint64_t value, size_t size_bytes)
{
	memcpy(object + at, &value, size_bytes);
}

static void set_string(struct string *string, const char *text)
{
	put(string->head, 16, strlen(text), 8);
	put(string->head, 32, 1 << 2 | 1 << 5 | 1 << 6, 4);
	strcpy(string->text, text);
}

/* Two units of code: the first line, and the one after it. */
static void set_code(struct code *code, const char *name, const char *file, uint32_t first_line)
{
	set_string(&code->name, name);
	set_string(&code->file, file);
	put(code->object, 0, 1, 8); /* something refers to it */
	put(code->table, 0, 1, 8);
	put(code->object, 16, 3, 8);
	put(code->object, version->code.first_line, first_line, 4);
	put(code->object, version->code.qualified_name, (uintptr_t)&code->name, 8);
	put(code->object, version->code.file_name, (uintptr_t)&code->file, 8);
	put(code->object, version->code.line_table, (uintptr_t)code->table, 8);
	put(code->table, 16, 5, 8);
	memcpy(code->table + 32, "\x80\x01\xd8\x01\x02", 5);
}

/* A function of JavaScript, as a V8 that lays it out so has it: its name alone. */
struct function {
	_Alignas(16) uint64_t words[8];
	uint64_t maps[3][2]; /* of functions, strings and other objects */
	uint64_t name[4];
};

static const struct v8_heap heap = {
	.is_known = 1,
	.map_type = 8,
	.shared_type = 262,
	.scope_type = 261,
	.script_type = 167,
	.string_type_end = 128,
	.string_form_mask = 7,
	.string_is_one_byte = 8,
	.form_cons = 1,
	.shared_name = 8,
	.shared_script = 16,
	.shared_token = 24,
	.string_length = 8,
	.string_characters = 16,
};

static uint64_t word_of(const void *object)
{
	return (uintptr_t)object + 1;
}

static void set_function(struct function *function, const char *name)
{
	function->maps[0][1] = heap.shared_type;
	function->maps[1][1] = heap.string_is_one_byte;
	function->maps[2][1] = heap.string_type_end;
	function->words[0] = word_of(function->maps[0]);
	function->words[1] = word_of(function->name);
	function->words[2] = word_of(function->words + 4);
	function->words[4] = word_of(function->maps[2]);
	function->name[0] = word_of(function->maps[1]);
	function->name[1] = strlen(name);
	memcpy(function->name + 2, name, strlen(name));
}

static uint64_t frame_of_function(const struct function *function)
{
	return STACK_FRAME_MANAGED | (uintptr_t)function->words << STACK_MANAGED_SHIFT | STACK_MANAGED_JAVASCRIPT;
}

static uint64_t frame_of(const struct code *code, uint64_t index)
{
	return STACK_FRAME_MANAGED | (uintptr_t)code->object << STACK_MANAGED_SHIFT | index;
}

static void see_of(uint32_t pid, uint32_t space, uint64_t time_ns, uint64_t frame)
{
	struct ev_space_exit now = {
		.header = { .time_ns = time_ns, .subsys = TRACE_SUBSYS_SPACE, .event = TRACE_EVENT_SPACE_EXIT },
	};

	session_hand_out(session, &now.header);
	seen_space = space;
	managed_codes_look(codes, pid, space, time_ns, &(struct managed_runtimes){ .python = version, .v8 = &heap },
			   frame);
	worker_settle(worker, limit_ns);
	CHECK_THAT(worker_poll_fd(worker), <, 0);
}

static void see(uint32_t space, uint64_t time_ns, uint64_t frame)
{
	see_of(getpid(), space, time_ns, frame);
}

TEST(a_frame_is_known_by_its_code_and_line)
{
	static struct code code;
	struct managed_place place;

	begin();
	set_code(&code, "function", "file.py", 7);
	CHECK(!managed_codes_find(codes, 1, 10, frame_of(&code, 0), &place));
	see(1, 10, frame_of(&code, 0));
	CHECK(managed_codes_find(codes, 1, 10, frame_of(&code, 0), &place));
	CHECK_STRING(place.function, "function");
	CHECK_STRING(place.file, "file.py");
	CHECK_EQUAL(place.line, 7);
	CHECK_EQUAL(place.first_line, 7);
	CHECK(managed_codes_find(codes, 1, 10, frame_of(&code, 1), &place));
	CHECK_EQUAL(place.line, 8);
	CHECK(managed_codes_find(codes, 1, 10, frame_of(&code, 2), &place) && !place.line);
	/* Before its first instruction. */
	CHECK(managed_codes_find(codes, 1, 10, frame_of(&code, STACK_MANAGED_INDEX), &place));
	CHECK_EQUAL(place.line, 7);
	CHECK(!managed_codes_find(codes, 2, 10, frame_of(&code, 0), &place));
	end();
}

TEST(equal_functions_of_two_spaces_are_one_place)
{
	static struct code code, other;
	struct managed_place places[3];

	begin();
	set_code(&code, "function", "file.py", 7);
	set_code(&other, "function", "file.py", 8);
	see(1, 10, frame_of(&code, 0));
	see(2, 10, frame_of(&code, 0));
	see(2, 10, frame_of(&other, 0));
	CHECK(managed_codes_find(codes, 1, 10, frame_of(&code, 0), &places[0]));
	CHECK(managed_codes_find(codes, 2, 10, frame_of(&code, 0), &places[1]));
	CHECK(managed_codes_find(codes, 2, 10, frame_of(&other, 0), &places[2]));
	CHECK_EQUAL(places[0].hash, places[1].hash);
	CHECK_THAT(places[0].hash, !=, places[2].hash);
	end();
}

TEST(another_function_in_the_memory_of_one_that_is_gone_counts_from_when_it_was_seen)
{
	static struct code code;
	struct managed_place place;

	begin();
	set_code(&code, "first", "file.py", 7);
	see(1, SECOND, frame_of(&code, 0));
	set_code(&code, "second", "file.py", 9);
	/* Not so soon. */
	see(1, SECOND + 1, frame_of(&code, 0));
	CHECK(managed_codes_find(codes, 1, 3ull * SECOND, frame_of(&code, 0), &place));
	CHECK_STRING(place.function, "first");
	see(1, 3ull * SECOND, frame_of(&code, 0));
	CHECK(managed_codes_find(codes, 1, 3ull * SECOND, frame_of(&code, 0), &place));
	CHECK_STRING(place.function, "second");
	CHECK(managed_codes_find(codes, 1, 2ull * SECOND, frame_of(&code, 0), &place));
	CHECK_STRING(place.function, "first");
	CHECK(managed_codes_find(codes, 1, 0, frame_of(&code, 0), &place));
	CHECK_STRING(place.function, "first");
	end();
}

TEST(a_process_that_cannot_be_read_has_no_names)
{
	static struct code code;
	struct managed_place place;

	begin();
	set_code(&code, "function", "file.py", 7);
	/* It is too short to be what the frame ran. */
	see(1, 10, frame_of(&code, 3));
	CHECK(!managed_codes_find(codes, 1, 10, frame_of(&code, 0), &place));
	see_of(0x7ffffff0, 1, 10, frame_of(&code, 0));
	CHECK(!managed_codes_find(codes, 1, 10, frame_of(&code, 0), &place));
	see(1, 10, STACK_FRAME_MANAGED | 0x1000ull << STACK_MANAGED_SHIFT);
	end();
}

/* Two units on line 8, one on line 9. */
static void add_ruby(uint64_t address, uint32_t first_index)
{
	static const char text[] = "Worker#run\0worker.rb\0\xe9\x02\xe8\x02";
	struct {
		struct ev_space_managed_code e;
		char text[32];
	} event = {
		.e = {
			.header = { .time_ns = 10, .subsys = TRACE_SUBSYS_SPACE, .event = TRACE_EVENT_SPACE_MANAGED_CODE },
			.first_line = 7,
			.address = address,
			.first_index = first_index,
			.function_bytes = 11,
			.file_bytes = 10,
			.table_bytes = 4,
			.language = MANAGED_RUBY,
		},
	};

	memcpy((char *)&event + sizeof(event.e), text, sizeof(text) - 1);
	managed_codes_add(codes, 1, &event.e);
}

TEST(a_frame_of_ruby_has_the_line_of_the_instruction_before_its_next_one)
{
	static const uint32_t firsts[] = { 0, 1000, STACK_MANAGED_INDEX - 1, STACK_MANAGED_INDEX };
	static const uint32_t lines[] = { 8, 8, 8, 9 };
	struct managed_place place;

	for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
		begin();
		add_ruby(0x10000, firsts[i]);
		for (uint32_t next = 0; next < 4; next++) {
			uint64_t index = (firsts[i] + next) & STACK_MANAGED_INDEX;

			CHECK(managed_codes_find(
				codes, 1, 20, STACK_FRAME_MANAGED | 0x10000ull << STACK_MANAGED_SHIFT | index, &place));
			CHECK_EQUAL(place.language, MANAGED_RUBY);
			CHECK_STRING(place.function, "Worker#run");
			CHECK_STRING(place.file, "worker.rb");
			CHECK_EQUAL(place.line, lines[next]);
		}
		end();
	}
}

TEST(a_function_of_javascript_has_its_name)
{
	static struct function function;
	struct managed_place place;

	begin();
	set_function(&function, "parse");
	see(1, 10, frame_of_function(&function));
	CHECK(managed_codes_find(codes, 1, 10, frame_of_function(&function), &place));
	CHECK_STRING(place.function, "parse");
	CHECK(!place.file && !place.line);
	CHECK_EQUAL(place.language, MANAGED_JAVASCRIPT);
	CHECK(managed_codes_has(codes, 1) && !managed_codes_has(codes, 2));
	end();
}

/* The time of a try, and whether it has an effect. */
static bool is_found_again(const struct function *function, uint64_t time_ns)
{
	struct managed_place place;

	managed_codes_look_again(codes, getpid(), time_ns);
	return managed_codes_find(codes, 1, time_ns, frame_of_function(function), &place);
}

TEST(what_the_garbage_collector_was_moving_is_tried_again_a_few_times)
{
	static struct function function;

	for (int tries = 0; tries <= 5; tries++) {
		uint64_t time_ns = 10;

		begin();
		set_function(&function, "parse");
		function.name[0] = 7; /* a map that cannot be read */
		see(1, time_ns, frame_of_function(&function));
		CHECK(!is_found_again(&function, time_ns + 1));
		for (int i = 0; i < tries; i++)
			CHECK(!is_found_again(&function, time_ns += SECOND));
		set_function(&function, "parse");
		CHECK_EQUAL(is_found_again(&function, time_ns + SECOND), tries < 5);
		end();
	}
}
