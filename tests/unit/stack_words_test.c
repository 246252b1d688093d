/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks in words are known again by what their frames are: names of frames are dropped meanwhile, and others lie where they lay. */
#include "test.h"

#include <string.h>

#include "export/frames_key.h"
#include "export/stack_words.h"
#include "report/report_frame.h"

enum { FRAMES = 2 };

TEST(frames_that_lie_where_others_lay_have_words_of_their_own)
{
	struct stack_words *words = stack_words_new();
	struct report_frame frames[FRAMES] = { { .function = "read" }, { .function = "main" } };

	CHECK_STRING(stack_words_of(words, frames, FRAMES), "read < main");
	frames[0].function = "write";
	CHECK_STRING(stack_words_of(words, frames, FRAMES), "write < main");
	CHECK_STRING(stack_words_of(words, frames + 1, 1), "main");
	stack_words_free(words);
}

TEST(frames_with_the_same_names_have_the_same_words_wherever_they_lie)
{
	struct stack_words *words = stack_words_new();
	struct report_frame frames[FRAMES] = { { .function = "read" }, { .function = "main" } }, copy[FRAMES];
	const char *first = stack_words_of(words, frames, FRAMES);

	memcpy(copy, frames, sizeof(copy));
	CHECK(stack_words_of(words, copy, FRAMES) == first);
	stack_words_free(words);
}

TEST(a_key_tells_apart_what_is_shown_of_frames)
{
	const struct report_frame one = { .function = "f", .file = "f.c", .line = 3, .module = "m" };
	const struct report_frame nameless = { .module = "m", .offset = 16 };
	struct report_frame other = one;

	other.offset = 5;
	CHECK(frames_key(&one, 1) == frames_key(&other, 1)); /* it has a name, which is shown in place of the offset */
	other = one;
	other.line = 4;
	CHECK(frames_key(&one, 1) != frames_key(&other, 1));
	other = one;
	other.file = "g.c";
	CHECK(frames_key(&one, 1) != frames_key(&other, 1));
	other = one;
	other.module = "n";
	CHECK(frames_key(&one, 1) != frames_key(&other, 1));
	other = nameless;
	other.offset = 17;
	CHECK(frames_key(&nameless, 1) != frames_key(&other, 1));
	CHECK(frames_key(&one, 1) != frames_key(&nameless, 1));
	CHECK(frames_key(&one, 0) != frames_key(&one, 1));
}
