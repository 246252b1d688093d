/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that left no frame, of the programs that tails.c is compiled to. */
#include "test.h"

#include <unistd.h>

#include "symbol_fixture.h"

#define LIBRARY_START 0x7f1000000000ull

static struct fixture fixture;

__attribute__((constructor)) static void choose_script(void)
{
	inputs_script = "build_tails.sh";
}

/* All have the same functions; one that was stripped has those of its twin. */
static const struct build {
	const char *name, *twin;
	bool has_lines;
	uint64_t base;
	bool is_plain; /* a switch has a table of addresses, and nothing says that it has none of functions */
} builds[] = {
	{ "gcc5", "gcc5", true, MAP_START, false },    { "gcc4", "gcc4", true, MAP_START, false },
	{ "no_plt", "no_plt", true, 0, false },        { "no_debug", "no_plt", false, 0, true },
	{ "plain", "plain", false, MAP_START, false }, { "stripped", "plain", false, MAP_START, false },
	{ "clang", "clang", true, MAP_START, false },  { "clang4", "clang4", true, MAP_START, false },
};

enum { BUILDS = sizeof(builds) / sizeof(*builds), CALLER_BYTES = 64 };

static void read_code(const char *name, uint64_t offset, uint8_t *code, size_t size_bytes)
{
	FILE *file = fopen(input(name), "r");

	CHECK(file && !fseek(file, offset, SEEK_SET));
	CHECK_EQUAL(fread(code, 1, size_bytes, file), size_bytes);
	fclose(file);
}

/* Where the first call in a function returns to. */
static uint64_t return_address(const struct build *build, const char *caller)
{
	uint64_t address = input_address(build->twin, caller);
	uint8_t code[CALLER_BYTES];

	read_code(build->name, input_offset(build->twin, caller), code, sizeof(code));
	for (size_t i = 0; i + 6 < sizeof(code); i++) {
		if (code[i] == 0xe8 && !code[i + 4] == !(code[i + 3] & 0x80))
			return build->base + address + i + 5;
		if (code[i] == 0xff && code[i + 1] == 0x15)
			return build->base + address + i + 6;
		if (code[i] == 0xff && (code[i + 1] & 0xf8) == 0xd0)
			return build->base + address + i + 2;
	}
	abort();
}

static void begin(const struct build *build)
{
	fixture_begin(&fixture);
	push_code(&fixture, 10, NOBODY, build->base, build->name);
	push_code(&fixture, 20, NOBODY, LIBRARY_START, "libtails.so");
}

/* wanted: what is put back, innermost first, with a space after each. */
static void check_between(const struct build *build, const char *caller, uint64_t callee, const char *wanted)
{
	struct symbol_call call = { .callee = callee + 1, .return_address = return_address(build, caller) };
	struct symbol_frame frames[SYMBOL_TAIL_MAX];
	char found[256] = "";
	size_t count = symbols_between(fixture.symbols, NOBODY, UINT64_MAX, &call, frames, SYMBOL_TAIL_MAX);

	for (size_t i = 0; i < count; i++) {
		strcat(found, frames[i].function ? frames[i].function : "?");
		strcat(found, " ");
	}
	if (strcmp(found, wanted))
		print_error("%s, %s: %s\n", build->name, caller, found);
	CHECK_STRING(found, wanted);
}

static void check(const char *caller, const char *callee, const char *wanted)
{
	for (size_t i = 0; i < BUILDS; i++) {
		if (access(input(builds[i].name), R_OK))
			continue;
		begin(&builds[i]);
		check_between(&builds[i], caller, builds[i].base + input_address(builds[i].twin, callee), wanted);
		fixture_end(&fixture);
	}
}

/* The callee is in the library. */
static void check_library(const char *caller, const char *callee, const char *wanted)
{
	for (size_t i = 0; i < BUILDS; i++) {
		if (access(input(builds[i].name), R_OK))
			continue;
		begin(&builds[i]);
		check_between(&builds[i], caller, LIBRARY_START + input_address("libtails.so", callee), wanted);
		fixture_end(&fixture);
	}
}

TEST(what_a_call_leads_to_has_nothing_before_it)
{
	check("call_last", "last", "");
}

TEST(the_functions_of_the_only_way_are_put_back)
{
	check("call_one", "last", "three two one ");
	check("call_one", "three", "two one ");
	check("call_one", "one", "");
}

TEST(what_all_ways_have_in_common_is_put_back)
{
	check("call_either", "last", "join either ");
}

TEST(of_a_ring_of_jumps_only_the_function_that_was_called_is_certain)
{
	check("call_ping", "last", "ping ");
}

TEST(a_jump_to_nobody_knows_where_leaves_the_function_that_was_called)
{
	check("call_through", "last", "through ");
	check("call_doubtful", "last", "doubtful ");
}

TEST(an_indirect_call_says_nothing)
{
	check("call_pointer", "last", "");
}

TEST(a_function_that_cannot_lead_to_the_callee_is_not_put_back)
{
	check("call_other", "last", "");
}

TEST(a_switch_is_no_way_out_and_a_table_of_functions_is_one)
{
	for (size_t i = 0; i < BUILDS; i++) {
		const struct build *build = &builds[i];

		if (access(input(build->name), R_OK))
			continue;
		begin(build);
		check_between(build, "call_chosen", build->base + input_address(build->twin, "last"),
			      build->is_plain ? "chosen " : "straight chosen ");
		check_between(build, "call_by_table", build->base + input_address(build->twin, "last"), "by_table ");
		fixture_end(&fixture);
	}
}

TEST(a_part_of_a_function_that_lies_elsewhere_is_the_function)
{
	for (size_t i = 0; i < 2; i++) {
		begin(&builds[i]);
		check_between(&builds[i], "call_rare", MAP_START + input_address(builds[i].name, "rare.cold"), "");
		fixture_end(&fixture);
	}
}

TEST(ways_lead_to_other_files)
{
	check_library("call_outside", "outside", "");
	check_library("call_put", "outside", "put ");
	check_library("call_put_either", "outside", "put_either ");
}

TEST(a_function_of_another_file_may_have_several_names)
{
	check_library("call_outside_alias", "outside", "");
	check_library("call_put_alias", "outside", "put_alias ");
}

TEST(ways_go_on_in_another_file)
{
	check_library("call_outside", "within", "outside ");
	check_library("call_put", "within", "outside put ");
	check_library("call_put_alias", "within", "outside_alias put_alias ");
	check_library("call_put_either", "within", "put_either ");
}

TEST(what_was_asked_for_ahead_is_the_same)
{
	static const char *const callers[] = { "call_one", "call_either", "call_ping", "call_chosen", "call_last" };
	enum { CALLERS = sizeof(callers) / sizeof(*callers) };
	static const char *const wanted[CALLERS] = { "three two one ", "join either ", "ping ", "straight chosen ",
						     "" };
	const struct build *build = &builds[0];
	struct symbol_request requests[2 * CALLERS];

	begin(build);
	for (size_t i = 0; i < CALLERS; i++) {
		requests[2 * i] = (struct symbol_request){
			.pid = NOBODY,
			.time_ns = UINT64_MAX,
			.address = build->base + input_address(build->name, "last") + 1,
		};
		requests[2 * i + 1] = (struct symbol_request){
			.pid = NOBODY,
			.time_ns = UINT64_MAX,
			.address = return_address(build, callers[i]),
			.is_return = true,
			.has_callee = true,
		};
	}
	symbols_prepare(fixture.symbols, requests, 2 * CALLERS);
	for (size_t i = 0; i < CALLERS; i++)
		check_between(build, callers[i], requests[0].address - 1, wanted[i]);
	fixture_end(&fixture);
}

TEST(a_frame_that_was_put_back_has_the_line_of_its_jump)
{
	for (size_t i = 0; i < BUILDS; i++) {
		struct symbol_frame frames[SYMBOL_TAIL_MAX];
		struct symbol_call call;

		if (!builds[i].has_lines || access(input(builds[i].name), R_OK))
			continue;
		begin(&builds[i]);
		call = (struct symbol_call){
			.callee = builds[i].base + input_address(builds[i].name, "last"),
			.return_address = return_address(&builds[i], "call_one"),
		};
		CHECK_EQUAL(symbols_between(fixture.symbols, NOBODY, UINT64_MAX, &call, frames, SYMBOL_TAIL_MAX), 3);
		for (size_t k = 0; k < 3; k++) {
			CHECK_EQUAL(frames[k].line / 100, k + 1);
			CHECK(strstr(frames[k].file, "tails.c"));
			CHECK_STRING(frames[k].module, builds[i].name);
		}
		fixture_end(&fixture);
	}
}

static void push_title(uint64_t time_ns, const char *program, const char *file)
{
	struct ev_thread_title e = {
		.header = { .time_ns = time_ns, .subsys = EV_THREAD_TITLE >> 16, .event = EV_THREAD_TITLE & 0xffff },
		.pid = NOBODY,
	};

	snprintf(e.program, sizeof(e.program), "%s", program);
	snprintf(e.file, sizeof(e.file), "%s", file);
	CHECK(!session_push(fixture.session, 0, &e, sizeof(e)));
	session_advance(fixture.session, time_ns + 1);
}

TEST(what_is_put_back_has_the_name_that_its_process_runs_the_file_under)
{
	for (size_t i = 0; i < BUILDS; i++) {
		struct symbol_frame frames[SYMBOL_TAIL_MAX];
		struct symbol_call call;
		size_t count;

		if (access(input(builds[i].name), R_OK))
			continue;
		begin(&builds[i]);
		push_title(30, "server", builds[i].name);
		call = (struct symbol_call){
			.callee = builds[i].base + input_address(builds[i].twin, "last"),
			.return_address = return_address(&builds[i], "call_one"),
		};
		count = symbols_between(fixture.symbols, NOBODY, UINT64_MAX, &call, frames, SYMBOL_TAIL_MAX);
		CHECK_EQUAL(count, 3);
		for (size_t k = 0; k < count; k++)
			CHECK_STRING(frames[k].program, "server");
		fixture_end(&fixture);
	}
}
