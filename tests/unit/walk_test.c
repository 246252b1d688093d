/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of Python between native ones, which are found by frame pointers. */
#include "test.h"

#include <string.h>

#include "unwind/walk.h"

enum {
	BASE = 0x7000,          /* of the copy */
	SP = BASE + 128,        /* behind the red zone */
	INTERPRETER = 0x100000, /* code of the interpreter's file */
	OTHER = 0x500000,
	FRAMES = 6,
	FRAME_WORDS = 4,
	WORDS = 16 + FRAMES * FRAME_WORDS + 8,
	DEPTH = 32,
};

static uint64_t stack[WORDS], registers[17];

static uint64_t place_of(uint32_t frame)
{
	return SP + 8 * FRAME_WORDS * frame;
}

/* Each frame takes 4 words, of which the last two are the caller's frame pointer and the return address. */
static void begin(const uint64_t *code, uint32_t count)
{
	memset(stack, 0, sizeof(stack));
	memset(registers, 0, sizeof(registers));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t *frame = stack + 16 + FRAME_WORDS * i;

		frame[2] = i + 1 < count ? place_of(i + 1) + 16 : 0;
		frame[3] = i + 1 < count ? code[i + 1] : 0;
	}
	registers[16] = code[0];
	registers[7] = SP;
	registers[6] = SP + 16;
}

static uint64_t managed(uint64_t i)
{
	return STACK_FRAME_MANAGED | i << STACK_MANAGED_SHIFT << 3;
}

static uint32_t walk(const uint64_t *words, size_t count, uint32_t depth, uint64_t *frames)
{
	const struct unwind_tables tables = { 0 };
	const struct unwind_copy copy = { registers, stack, sizeof(stack) };
	const struct unwind_python python = { words, count, INTERPRETER, 0x1000 };
	enum stack_end end;

	return unwind_walk(&tables, &copy, count ? &python : NULL, depth, frames, &end);
}

static const uint64_t code[FRAMES] = {
	OTHER, INTERPRETER + 0x10, OTHER + 0x20, INTERPRETER + 0x30, INTERPRETER + 0x40, OTHER + 0x50,
};

static void check(const uint64_t *frames, uint32_t count, const uint64_t *expected, uint32_t expected_count)
{
	CHECK_EQUAL(count, expected_count);
	for (uint32_t i = 0; i < count; i++) {
		if (expected[i] & STACK_FRAME_MANAGED)
			CHECK_EQUAL(frames[i], expected[i]);
		else
			CHECK_EQUAL(frames[i] & STACK_FRAME_ADDRESS, expected[i]);
	}
}

TEST(frames_of_python_follow_the_native_frame_with_their_anchor)
{
	const uint64_t words[] = { managed(1), managed(2), place_of(1) + 8, managed(3), place_of(4) };
	const uint64_t expected[] = { code[0], code[1], managed(1), managed(2), code[2],
				      code[3], code[4], managed(3), code[5] };
	uint64_t frames[DEPTH];

	begin(code, FRAMES);
	check(frames, walk(words, 5, DEPTH, frames), expected, 9);
}

TEST(without_frames_of_python_there_are_the_native_ones)
{
	uint64_t frames[DEPTH];

	begin(code, FRAMES);
	check(frames, walk(NULL, 0, DEPTH, frames), code, FRAMES);
}

TEST(an_anchor_in_another_file_s_frame_is_none)
{
	const uint64_t words[] = { managed(1), place_of(2) };
	uint64_t frames[DEPTH];

	begin(code, FRAMES);
	check(frames, walk(words, 2, DEPTH, frames), code, FRAMES);
}

TEST(frames_without_an_anchor_are_left_out)
{
	const uint64_t words[] = { managed(1), managed(2) };
	uint64_t frames[DEPTH];

	begin(code, FRAMES);
	check(frames, walk(words, 2, DEPTH, frames), code, FRAMES);
}

TEST(there_are_no_more_frames_than_the_depth)
{
	const uint64_t words[] = { managed(1), managed(2), managed(3), place_of(1) };
	const uint64_t expected[] = { code[0], code[1], managed(1), managed(2) };
	uint64_t frames[DEPTH];

	begin(code, FRAMES);
	check(frames, walk(words, 4, 4, frames), expected, 4);
}
