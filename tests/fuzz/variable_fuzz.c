/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As symbol_fuzz, for data: the first byte picks a small program, the others are changes to it,
 * three bytes each: a place and what is there instead. With any other first byte, all is a program
 * file itself. Asks for variables and members all over its data, how it is loaded, and for code.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/object.h"
#include "symbol_fixture.c"

enum { PLACES = 64, PROGRAM_BYTES_MAX = 65536 };

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
	struct object *object = object_new(fd, 0, "/nowhere/program");

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

static struct {
	const char *name;
	uint8_t bytes[PROGRAM_BYTES_MAX];
	size_t size_bytes;
} programs[] = {
	{ .name = "pie" }, { .name = "types" }, { .name = "cpp" }, { .name = "cpp_types" },
	{ .name = "clang" }, { .name = "clang_cpp" }, { .name = "dwz2" }, { .name = "declared" },
};

enum { PROGRAM_COUNT = sizeof(programs) / sizeof(*programs) };

/* Builds them when they are first needed: what is kept of earlier runs does without. */
static void read_programs(void)
{
	static bool is_done;

	inputs_script = "build_objects.sh";
	for (size_t i = 0; i < PROGRAM_COUNT && !is_done; i++) {
		int fd = open(input(programs[i].name), O_RDONLY);

		if (fd < 0)
			continue;
		programs[i].size_bytes = read(fd, programs[i].bytes, PROGRAM_BYTES_MAX);
		close(fd);
	}
	is_done = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	static uint8_t program[PROGRAM_BYTES_MAX];
	size_t i = size_bytes ? bytes[0] : 0;
	int fd = memfd_create("program", MFD_CLOEXEC);

	if (i < PROGRAM_COUNT && size_bytes) {
		read_programs();
		memcpy(program, programs[i].bytes, programs[i].size_bytes);
		for (size_t at = 1; at + 3 <= size_bytes && programs[i].size_bytes; at += 3)
			program[(bytes[at] | bytes[at + 1] << 8) % programs[i].size_bytes] =
				bytes[at + 2];
		bytes = program;
		size_bytes = programs[i].size_bytes;
	}
	if (fd < 0 || write(fd, bytes, size_bytes) != (ssize_t)size_bytes)
		abort();
	ask(fd);
	return 0;
}
