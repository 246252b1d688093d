/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "helper/confine.h"
#include "symbol_fixture.h"

static struct fixture fixture;

static bool is_frame(size_t i, const char *function, const char *line)
{
	const struct symbol_frame *frame = &fixture.frames[i];

	if (i >= fixture.count || !frame->function || strcmp(frame->function, function))
		return false;
	if (!line)
		return !frame->file && !frame->line;
	return frame->file && strstr(frame->file, "/symbol_inputs/inlined.c") && frame->line == input_line(line);
}

/* True for the full knowledge of place_inlined: the line and both inlined calls. */
static bool has_inlined_lines(void)
{
	return fixture.count == 3 && is_frame(0, "innermost", "asm") && is_frame(1, "middle", "middle") &&
	       is_frame(2, "outer", "outer") && fixture.frames[0].is_inlined && fixture.frames[1].is_inlined &&
	       !fixture.frames[2].is_inlined;
}

static bool has_function_only(const char *function)
{
	return fixture.count == 1 && is_frame(0, function, NULL) && !fixture.frames[0].is_inlined;
}

static bool has_offset_only(const char *module, uint64_t offset)
{
	return fixture.count == 1 && !fixture.frames[0].function && !strcmp(fixture.frames[0].module, module) &&
	       fixture.frames[0].offset == offset;
}

TEST(lines_and_inlined_calls_are_found_in_every_form_of_debug_information)
{
	static const char *const names[] = {
		"pie",        "fixed",         "dwarf4", "lines_only", "compressed",
		"no_aranges", "libinlined.so", "linked", "anonymous",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *twin = i < 7 ? names[i] : "pie";

		if (!strcmp(names[i], "anonymous"))
			twin = "anonymous_full";
		fixture_begin(&fixture);
		resolve_in(&fixture, names[i], twin, "place_inlined");
		if (!has_inlined_lines())
			print_error("in %s: %s %s:%u\n", names[i], fixture.frames[0].function, fixture.frames[0].file,
				    fixture.frames[0].line);
		CHECK(has_inlined_lines());
		CHECK_STRING(fixture.frames[2].module, names[i]);
		CHECK_EQUAL(fixture.frames[2].offset, input_offset(twin, "place_inlined"));
		fixture_end(&fixture);
	}
}

TEST(files_given_from_the_root_of_a_build_are_not_looked_for_in_its_folders)
{
	static const char *const names[] = { "debian4", "debian5" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		fixture_begin(&fixture);
		resolve_in(&fixture, names[i], names[i], "place_inlined");
		CHECK(has_inlined_lines());
		CHECK_STRING(fixture.frames[0].file, "./source/symbol_inputs/inlined.c");
		CHECK_STRING(fixture.frames[2].file, "./source/symbol_inputs/inlined.c");
		fixture_end(&fixture);
	}
}

/* Line i of a unit's source is for byte i - UNIT_LINES_BEFORE. */
enum { UNITS = 30, UNIT_LINES = 20000, UNIT_LINES_BEFORE = 4 };

TEST(many_units_take_no_more_memory_than_few)
{
	struct symbol_request requests[UNITS];
	uint64_t begin_bytes, start[UNITS];
	char name[32];

	fixture_begin(&fixture);
	begin_bytes = symbols_memory_bytes(fixture.symbols);
	CHECK_THAT(begin_bytes, >, 0);
	push_map(&fixture, 10, NOBODY, MAP_START, MAP_BYTES, 0, input("units"));
	for (unsigned int i = 0; i < UNITS; i++) {
		snprintf(name, sizeof(name), "unit_%u", i + 1);
		start[i] = input_offset("units", name);
		requests[i] = (struct symbol_request){
			.pid = NOBODY,
			.time_ns = UINT64_MAX,
			.is_return = true,
			.address = MAP_START + start[i] + UNIT_LINES / 2 + i + 1,
		};
	}
	symbols_prepare(fixture.symbols, requests, UNITS);
	for (unsigned int i = 0; i < UNITS; i++) {
		resolve(&fixture, start[i] + UNIT_LINES / 2 + i);
		snprintf(name, sizeof(name), "unit_%u", i + 1);
		CHECK_EQUAL(fixture.count, 1);
		CHECK_STRING(fixture.frames[0].function, name);
		CHECK_EQUAL(fixture.frames[0].line, UNIT_LINES_BEFORE + UNIT_LINES / 2 + i);
		/* Back and forth, without preparation. */
		resolve(&fixture, start[UNITS - 1 - i] + UNIT_LINES - 1);
		CHECK_EQUAL(fixture.frames[0].line, UNIT_LINES_BEFORE + UNIT_LINES - 1);
	}
	/* Kept, the lines of these units would take twice as much. */
	if (!IS_SANITIZED)
		CHECK_THAT(symbols_memory_bytes(fixture.symbols) - begin_bytes, <, 12 << 20);
	fixture_end(&fixture);
}

TEST(what_is_prepared_need_not_be_mapped)
{
	struct symbol_request requests[] = {
		{ .pid = NOBODY, .time_ns = 20, .address = 0 },
		{ .pid = NOBODY, .time_ns = 20, .address = 0, .is_return = true },
		{ .pid = NOBODY + 1, .time_ns = 20, .address = UINT64_MAX },
		{ .pid = NOBODY, .time_ns = 20, .address = MAP_START + MAP_BYTES - 1 },
	};

	fixture_begin(&fixture);
	symbols_prepare(fixture.symbols, NULL, 0);
	push_map(&fixture, 10, NOBODY, MAP_START, MAP_BYTES, 0, input("pie"));
	symbols_prepare(fixture.symbols, requests, sizeof(requests) / sizeof(*requests));
	resolve_in(&fixture, "pie", "pie", "place_inlined");
	CHECK(has_inlined_lines());
	fixture_end(&fixture);
}

TEST(a_return_address_means_the_call_before_it)
{
	uint64_t end;

	fixture_begin(&fixture);
	push_map(&fixture, 10, NOBODY, MAP_START, MAP_BYTES, 0, input("pie"));
	/* The first byte of a function: the byte before it is not in that function. */
	end = MAP_START + input_offset("pie", "place_local") + 1;
	fixture.count = symbols_resolve(fixture.symbols, NOBODY, 20, end, true, fixture.frames, SYMBOL_INLINE_MAX);
	CHECK_EQUAL(fixture.count, 1);
	CHECK(is_frame(0, "local_function", "local"));
	CHECK_EQUAL(fixture.frames[0].offset, end - MAP_START);
	end = MAP_START + input_offset("pie", "local_function");
	fixture.count = symbols_resolve(fixture.symbols, NOBODY, 20, end, true, fixture.frames, SYMBOL_INLINE_MAX);
	CHECK(!fixture.frames[0].function || strcmp(fixture.frames[0].function, "local_function"));
	fixture_end(&fixture);
}

TEST(without_debug_information_the_symbol_table_names_the_function)
{
	fixture_begin(&fixture);
	resolve_in(&fixture, "no_lines", "pie", "place_inlined");
	CHECK(has_function_only("outer"));
	resolve(&fixture, input_offset("pie", "place_local"));
	CHECK(has_function_only("local_function"));
	CHECK(has_note(&fixture, "no debug information for no_lines", "-dbgsym"));
	fixture_end(&fixture);
}

TEST(lines_without_their_dwo_file_still_have_the_function)
{
	fixture_begin(&fixture);
	resolve_in(&fixture, "split", "split", "place_inlined");
	CHECK_EQUAL(fixture.count, 1);
	CHECK(is_frame(0, "outer", "asm"));
	fixture_end(&fixture);
}

TEST(a_packed_symbol_table_is_read)
{
	if (access(input("mini"), R_OK))
		skip();
	fixture_begin(&fixture);
	resolve_in(&fixture, "mini", "pie", "place_local");
	CHECK(has_function_only("local_function"));
	fixture_end(&fixture);
}

TEST(what_debug_files_share_is_read_and_missed_when_it_is_gone)
{
	if (access(input("shared.dwz"), R_OK))
		skip(); /* dwz is not installed */
	fixture_begin(&fixture);
	resolve_in(&fixture, "shared1", "shared1", "place_inlined");
	CHECK(has_inlined_lines());
	fixture_end(&fixture);
	CHECK(!rename(input("shared.dwz"), input("moved.dwz")));
	fixture_begin(&fixture);
	resolve_in(&fixture, "shared1", "shared1", "place_inlined");
	CHECK(has_function_only("outer"));
	CHECK(has_note(&fixture, "shares data", "missing one"));
	fixture_end(&fixture);
}

TEST(a_stripped_program_gives_offsets_of_functions_and_a_note)
{
	fixture_begin(&fixture);
	resolve_in(&fixture, "stripped", "pie", "place_local");
	CHECK(has_offset_only("stripped", input_offset("pie", "local_function")));
	CHECK(has_note(&fixture, "for stripped", "-dbgsym"));
	fixture_end(&fixture);
}

TEST(a_debug_file_of_another_build_is_not_used)
{
	fixture_begin(&fixture);
	resolve_in(&fixture, "stale", "anonymous_full", "place_local");
	CHECK(has_offset_only("stale", input_offset("anonymous_full", "local_function")));
	CHECK(has_note(&fixture, "debug file of stale", "another build"));
	fixture_end(&fixture);
}

TEST(no_note_reports_a_file_that_nobody_asked_about)
{
	const char *const *notes;

	fixture_begin(&fixture);
	push_map(&fixture, 10, NOBODY, MAP_START, MAP_BYTES, 0, input("stripped"));
	CHECK_EQUAL(symbols_notes(fixture.symbols, &notes), 0);
	fixture_end(&fixture);
}

TEST(cpp_and_rust_names_are_demangled)
{
	static const char *const names[][2] = {
		{ "_ZN5cache5Store6methodEi", "cache::Store::method(int)" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
		{ "plain.constprop.0", "plain [clone .constprop.0]" },
	};

	fixture_begin(&fixture);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		resolve_in(&fixture, "names", "names", names[i][0]);
		CHECK_EQUAL(fixture.count, 1);
		CHECK_STRING(fixture.frames[0].function, names[i][1]);
	}
	fixture_end(&fixture);
}

TEST(stubs_of_shared_libraries_have_the_name_of_what_they_call)
{
	uint64_t end = input_offset("pie", "main");
	unsigned int count = 0, resolver_count = 0;

	fixture_begin(&fixture);
	push_map(&fixture, 10, NOBODY, MAP_START, MAP_BYTES, 0, input("pie"));
	/* Stubs lie before the code proper. */
	for (uint64_t at = input_offset("pie", "_init"); at < end; at += 4) {
		resolve(&fixture, at);
		count += has_function_only("pause@plt");
		resolver_count += has_function_only("_dl_runtime_resolve@plt");
	}
	CHECK(count == 4 || count == 8); /* 16 bytes, or two stubs with branch tracking */
	CHECK_EQUAL(resolver_count, 4);  /* where all stubs lead for the first time */
	fixture_end(&fixture);
}

TEST(damaged_files_give_offsets)
{
	static const char *const names[] = { "truncated_half", "truncated_header", "empty" };

	fixture_begin(&fixture);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		resolve_in(&fixture, names[i], "pie", "place_local");
		CHECK(has_offset_only(names[i], input_offset("pie", "place_local")));
	}
	fixture_end(&fixture);
}

TEST(what_is_no_regular_file_is_not_opened)
{
	uint64_t offset = input_offset("pie", "place_local");
	char command[512];

	snprintf(command, sizeof(command), "mkfifo %s", input("fifo"));
	CHECK(!system(command));
	fixture_begin(&fixture);
	resolve_in(&fixture, "fifo", "pie", "place_local");
	CHECK(has_offset_only("fifo", offset));
	push_map(&fixture, 100, NOBODY, MAP_START, MAP_BYTES, 0, "/dev/tty");
	resolve(&fixture, offset);
	CHECK(has_offset_only("tty", offset));
	push_map(&fixture, 200, NOBODY, MAP_START, MAP_BYTES, 0, inputs_path());
	resolve(&fixture, offset);
	CHECK_EQUAL(fixture.count, 1);
	CHECK(!fixture.frames[0].function);
	fixture_end(&fixture);
}

TEST(memory_without_a_file_has_its_own_names)
{
	static const char *const names[][2] = {
		{ "//anon", "[jit]" },
		{ "", "[jit]" },
		{ "[heap]", "[jit]" },
		{ "[vsyscall]", "[vsyscall]" },
		{ "anon_inode:[thing]", "anon_inode:[thing]" },
		{ "/memfd:code (deleted)", "memfd:code" },
		{ "/memfd:doublemapper (deleted)", "[jit]" },
	};

	fixture_begin(&fixture);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		push_map(&fixture, 10 + i, NOBODY, MAP_START, MAP_BYTES, 0, names[i][0]);
		resolve(&fixture, 0x123);
		CHECK_EQUAL(fixture.count, 1);
		CHECK(!fixture.frames[0].function);
		CHECK_STRING(fixture.frames[0].module, names[i][1]);
	}
	fixture.count = symbols_resolve(fixture.symbols, NOBODY + 1, 20, 0x1234, false, fixture.frames, 1);
	CHECK(has_offset_only("[anon]", 0x1234));
	fixture_end(&fixture);
}

TEST(a_library_loaded_in_place_of_another_counts_from_then_on)
{
	uint64_t address = MAP_START + input_offset("pie", "place_local");
	uint64_t library = input_offset("libinlined.so", "place_inlined");

	fixture_begin(&fixture);
	push_map(&fixture, 100, NOBODY, MAP_START, MAP_BYTES, 0, input("no_lines"));
	push_map(&fixture, 200, NOBODY, MAP_START, MAP_BYTES, 0, input("libinlined.so"));
	fixture.count =
		symbols_resolve(fixture.symbols, NOBODY, 150, address, false, fixture.frames, SYMBOL_INLINE_MAX);
	CHECK(has_function_only("local_function"));
	resolve(&fixture, library);
	CHECK(has_inlined_lines());
	fixture_end(&fixture);
}

TEST(equal_files_in_different_processes_are_one_place)
{
	uint64_t offset = input_offset("pie", "place_local"), found[3];
	uint32_t module[3];

	fixture_begin(&fixture);
	push_map(&fixture, 10, NOBODY, MAP_START, MAP_BYTES, 0, input("pie"));
	push_map(&fixture, 10, NOBODY + 1, MAP_START + MAP_BYTES, MAP_BYTES, 0, input("pie"));
	CHECK(!symbols_place(fixture.symbols, NOBODY, 20, MAP_START + offset, false, &module[0], &found[0]));
	CHECK(!symbols_place(fixture.symbols, NOBODY + 1, 20, MAP_START + MAP_BYTES + offset, false, &module[1],
			     &found[1]));
	CHECK(!symbols_place(fixture.symbols, NOBODY, 20, MAP_START + offset, true, &module[2], &found[2]));
	CHECK_EQUAL(module[0], module[1]);
	CHECK_EQUAL(module[0], module[2]);
	CHECK_EQUAL(found[0], offset);
	CHECK_EQUAL(found[1], offset);
	CHECK_EQUAL(found[2], input_offset("pie", "local_function"));
	CHECK_EQUAL(symbols_place(fixture.symbols, NOBODY, 20, 0x10, false, &module[0], &found[0]), -ENOENT);
	fixture_end(&fixture);
}

TEST(functions_that_have_lost_their_names_are_one_place_each)
{
	uint64_t at[] = {
		input_offset("pie", "place_local"), input_offset("pie", "place_local") + 1,
		input_offset("pie", "place_inlined"),
	}, found[3];
	uint32_t module;

	fixture_begin(&fixture);
	push_map(&fixture, 10, NOBODY, MAP_START, MAP_BYTES, 0, input("stripped"));
	for (size_t i = 0; i < 3; i++)
		CHECK(!symbols_place(fixture.symbols, NOBODY, 20, MAP_START + at[i], true, &module, &found[i]));
	CHECK_EQUAL(found[0], input_offset("pie", "local_function"));
	CHECK_EQUAL(found[1], found[0]);
	CHECK_EQUAL(found[2], input_offset("pie", "outer"));
	fixture_end(&fixture);
}

TEST(more_frames_than_asked_for_are_left_out)
{
	fixture_begin(&fixture);
	resolve_in(&fixture, "pie", "pie", "place_inlined");
	fixture.count = symbols_resolve(fixture.symbols, NOBODY, UINT64_MAX,
					MAP_START + input_offset("pie", "place_inlined"), false, fixture.frames, 1);
	CHECK_EQUAL(fixture.count, 1);
	CHECK(is_frame(0, "innermost", "asm"));
	fixture_end(&fixture);
}
