/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lua's patterns (Lua 5.4 reference manual, section 6.4.1), matched in a number of steps that is bounded: a pattern with several
 * repetitions can need a time that grows with a power of the subject's length, and Lua's own matcher cannot be stopped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MATCH_CAPTURES_MAX = 32 };

/* MATCH_GOES_ON: only inside lua_match.c. */
enum match_result { MATCH_FAILED, MATCH_FOUND, MATCH_MALFORMED, MATCH_TOO_LONG, MATCH_GOES_ON };

struct match_capture {
	const char *begin;
	ptrdiff_t length; /* bytes; negative: enum match_capture_kind */
};

/* A capture that has not ended yet; one that is a position, "()". */
enum match_capture_kind { CAPTURE_OPEN = -1, CAPTURE_POSITION = -2 };

struct match {
	const char *subject, *subject_end;
	const char *pattern, *pattern_end; /* without the anchor ^ */
	uint64_t steps, steps_max;
	const char *what_is_wrong; /* of a malformed pattern */
	uint32_t depth;
	uint32_t capture_count;
	struct match_capture captures[MATCH_CAPTURES_MAX];
};

/* Whether the pattern matches where `at` is in the subject. MATCH_FOUND: *end is where the match ends. */
enum match_result match_at(struct match *match, const char *at, const char **end);
