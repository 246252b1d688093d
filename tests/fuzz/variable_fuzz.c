/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As symbol_fuzz, for data: asks for variables and members all over a program's data, how it is
 * loaded, and for code.
 */
#include "programs.h"
#include "symbol/object/object.h"

enum { PLACES = 64 };

static struct variable_answer variable;
static struct segments_answer segments;
static struct code_answer code;

static void ask_variable(struct object *object, uint64_t address, bool wants_types)
{
	size_t size_bytes;

	object_find_variable(object, address, wants_types, &variable);
	size_bytes = offsetof(struct variable_answer, text) + variable.text_bytes;
	if (!variable_answer_is_valid(&variable, size_bytes) ||
	    strlen(variable.text + variable.name) >= ANSWER_NAME_BYTES ||
	    strlen(variable.text + variable.type) >= ANSWER_NAME_BYTES)
		abort();
}

static void ask_code(struct object *object, uint64_t file_offset, size_t size_bytes)
{
	object_read_code(object, file_offset, size_bytes, &code);
	if (!code_answer_is_valid(&code, offsetof(struct code_answer, code) + code.size_bytes) ||
	    code.size_bytes > size_bytes || code.file_offset > file_offset)
		abort();
}

static void ask(int fd)
{
	struct object *object = object_new(fd, NULL, "/nowhere/program");

	object_segments(object, &segments);
	if (!segments_answer_is_valid(&segments, sizeof(segments)))
		abort();
	for (uint32_t i = 0; i < segments.count; i++) {
		const struct segment *segment = &segments.segments[i];

		for (uint64_t j = 0; j < PLACES; j++) {
			uint64_t step = segment->memory_bytes / PLACES | 1;

			ask_variable(object, segment->address + j * step, j % 8 != 7);
			ask_variable(object, segment->address + j * 8, true);
		}
		ask_code(object, segment->file_offset + segment->file_bytes / 2, 64);
		ask_code(object, segment->file_offset, sizeof(code.code));
	}
	object_free(object);
}

static struct fuzz_program programs[] = {
	{ .name = "pie" },   { .name = "types" },     { .name = "cpp" },  { .name = "cpp_types" },
	{ .name = "clang" }, { .name = "clang_cpp" }, { .name = "dwz2" }, { .name = "declared" },
};

enum { PROGRAM_COUNT = sizeof(programs) / sizeof(*programs) };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	inputs_script = "build_objects.sh";
	ask(programs_open(programs, PROGRAM_COUNT, bytes, &size_bytes));
	return 0;
}
