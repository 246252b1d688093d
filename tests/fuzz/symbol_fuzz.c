/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks for names, lines and missing frames all over a program. Runs in this process, so crashes of libelf and libdw
 * show, which the tool survives in its worker.
 */
#include "programs.h"
#include "symbol/object/object.h"

static struct answer answer;

static void check(const struct answer *answer, uint32_t place)
{
	if (place >= answer->text_bytes || strlen(answer->text + place) >= ANSWER_NAME_BYTES)
		abort();
}

static void check_answer(const struct answer *answer)
{
	if (answer->frame_count > SYMBOL_INLINE_MAX || answer->text_bytes > ANSWER_TEXT_BYTES)
		abort();
	for (uint32_t i = 0; i < answer->frame_count; i++) {
		check(answer, answer->frames[i].function);
		check(answer, answer->frames[i].file);
	}
}

static uint64_t place_of(unsigned int i, size_t size_bytes)
{
	/* Where small programs have their code, and everywhere else. */
	return i < 24 ? 0x1000 + i * 0x14 : (uint64_t)i * size_bytes / 32;
}

/* Of calls and functions in the first code of small programs; the callee is one of these, or in another file. */
static void ask_missing(struct object *object, unsigned int i)
{
	object_find_missing(object,
			    &(struct missing_question){
				    .file_offset = 0x1000 + i,
				    .callee_offset = i % 2 ? 0x1000 + i * 16 % 1024 : UINT64_MAX,
				    .callee_name = i % 4 ? "" : "outer",
				    .is_entry = i % 16 == 0,
				    .wants_lines = true,
			    },
			    &answer);
	check_answer(&answer);
	if (answer.flags & ANSWER_GOES_ON && !answer.frames[0].function)
		abort();
}

static void ask_here(int fd, size_t size_bytes)
{
	struct object *object = object_new(fd, NULL, "/nowhere/program");
	struct unwind_file file;

	for (unsigned int i = 0; i < 32; i++) {
		object_find(object, place_of(i, size_bytes), i % 8 != 7, &answer);
		check_answer(&answer);
	}
	for (unsigned int i = 0; i < 1024; i++)
		ask_missing(object, i);
	if (!object_unwind_file(object, &file)) {
		if (!unwind_table_is_valid(&file.table) || !file.table.row_count)
			abort();
		unwind_file_fini(&file);
	}
	object_free(object);
}

static struct fuzz_program programs[] = {
	{ .name = "pie" },  { .name = "dwarf4" }, { .name = "compressed" }, { .name = "lines_only" },
	{ .name = "mini" }, { .name = "names" },  { .name = "no_lines" },
};

enum { PROGRAM_COUNT = sizeof(programs) / sizeof(*programs) };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	int fd = programs_open(programs, PROGRAM_COUNT, bytes, &size_bytes);

	ask_here(fd, size_bytes);
	return 0;
}
