/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pattern is a row of items: a class of characters with a repetition, or something without one. match_items() goes over them and calls
 * itself where there is a choice. All its results but MATCH_FAILED end the search.
 */
#include "activity/lua/lua_match.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 200 };

static enum match_result match_items(struct match *match, const char *at, const char *item, const char **end);

static enum match_result malformed(struct match *match, const char *what)
{
	match->what_is_wrong = what;
	return MATCH_MALFORMED;
}

/* Where the class ends that begins at item; NULL: it does not. */
static const char *class_end(struct match *match, const char *item)
{
	bool is_set = *item == '[';
	bool is_escape = *item++ == '%';

	if (is_escape) {
		if (item == match->pattern_end)
			match->what_is_wrong = "malformed pattern (ends with '%')";
		return item == match->pattern_end ? NULL : item + 1;
	}
	if (!is_set)
		return item;
	item += item < match->pattern_end && *item == '^';
	for (bool is_first = true; item < match->pattern_end && (is_first || *item != ']'); is_first = false)
		item += *item == '%' ? 2 : 1;
	if (item >= match->pattern_end) {
		match->what_is_wrong = "malformed pattern (missing ']')";
		return NULL;
	}
	return item + 1;
}

/* Whether a character is in the class that a letter behind % means. */
static bool is_in_letter(unsigned char c, unsigned char letter)
{
	bool is_in;

	switch (tolower(letter)) {
	case 'a':
		is_in = isalpha(c);
		break;
	case 'c':
		is_in = iscntrl(c);
		break;
	case 'd':
		is_in = isdigit(c);
		break;
	case 'g':
		is_in = isgraph(c);
		break;
	case 'l':
		is_in = islower(c);
		break;
	case 'p':
		is_in = ispunct(c);
		break;
	case 's':
		is_in = isspace(c);
		break;
	case 'u':
		is_in = isupper(c);
		break;
	case 'w':
		is_in = isalnum(c);
		break;
	case 'x':
		is_in = isxdigit(c);
		break;
	default:
		return letter == c;
	}
	return isupper(letter) ? !is_in : is_in;
}

/* Of a set "[...]" that ends before end. */
static bool is_in_set(struct match *match, unsigned char c, const char *item, const char *end)
{
	bool is_inverted = item[1] == '^';
	const unsigned char *at = (const unsigned char *)item + 1 + is_inverted;
	const unsigned char *last = (const unsigned char *)end - 1; /* the bracket */

	for (; at < last; at++) {
		match->steps++;
		if (*at == '%' && at + 1 < last) {
			if (is_in_letter(c, *++at))
				return !is_inverted;
		} else if (at + 2 < last && at[1] == '-') {
			if (at[0] <= c && c <= at[2])
				return !is_inverted;
			at += 2;
		} else if (*at == c) {
			return !is_inverted;
		}
	}
	return is_inverted;
}

static bool is_in_class(struct match *match, unsigned char c, const char *item, const char *end)
{
	switch (*item) {
	case '.':
		return true;
	case '%':
		return is_in_letter(c, item[1]);
	case '[':
		return is_in_set(match, c, item, end);
	default:
		return (unsigned char)*item == c;
	}
}

static bool is_single(struct match *match, const char *at, const char *item, const char *end)
{
	match->steps++;
	return at < match->subject_end && is_in_class(match, *at, item, end);
}

static enum match_result match_greedy(struct match *match, const char *at, const char *item, const char *class_ends,
				      size_t least, const char **end)
{
	size_t count = 0;

	while (is_single(match, at + count, item, class_ends))
		count++;
	for (;; count--) {
		enum match_result result;

		if (count < least)
			return MATCH_FAILED;
		result = match_items(match, at + count, class_ends + 1, end);
		if (result != MATCH_FAILED || !count)
			return result;
	}
}

static enum match_result match_lazy(struct match *match, const char *at, const char *item, const char *class_ends,
				    const char **end)
{
	for (;; at++) {
		enum match_result result = match_items(match, at, class_ends + 1, end);

		if (result != MATCH_FAILED)
			return result;
		if (!is_single(match, at, item, class_ends))
			return MATCH_FAILED;
	}
}

static enum match_result match_optional(struct match *match, const char *at, const char *item, const char *class_ends,
					const char **end)
{
	enum match_result result = MATCH_FAILED;

	if (is_single(match, at, item, class_ends))
		result = match_items(match, at + 1, class_ends + 1, end);
	return result == MATCH_FAILED ? match_items(match, at, class_ends + 1, end) : result;
}

static enum match_result begin_capture(struct match *match, const char *at, const char *item, const char **end)
{
	bool is_position = item + 1 < match->pattern_end && item[1] == ')';
	enum match_result result;

	if (match->capture_count == MATCH_CAPTURES_MAX)
		return malformed(match, "too many captures");
	match->captures[match->capture_count++] =
		(struct match_capture){ at, is_position ? CAPTURE_POSITION : CAPTURE_OPEN };
	result = match_items(match, at, item + (is_position ? 2 : 1), end);
	if (result == MATCH_FAILED)
		match->capture_count--;
	return result;
}

static enum match_result end_capture(struct match *match, const char *at, const char *item, const char **end)
{
	enum match_result result;
	uint32_t i = match->capture_count;

	while (i && match->captures[i - 1].length != CAPTURE_OPEN)
		i--;
	if (!i)
		return malformed(match, "invalid pattern capture");
	match->captures[i - 1].length = at - match->captures[i - 1].begin;
	result = match_items(match, at, item + 1, end);
	if (result == MATCH_FAILED)
		match->captures[i - 1].length = CAPTURE_OPEN;
	return result;
}

/* "%bxy": balanced; returns where it ends, NULL: it does not match, or is malformed. */
static const char *balanced_end(struct match *match, const char *at, const char *item)
{
	size_t depth = 0;

	if (match->pattern_end - item < 4) {
		match->what_is_wrong = "malformed pattern (missing arguments to '%b')";
		return NULL;
	}
	if (at == match->subject_end || *at != item[2])
		return NULL;
	for (; at < match->subject_end; at++) {
		match->steps++;
		if (*at == item[3] && !--depth)
			return at + 1;
		if (*at == item[2] && (item[2] != item[3] || !depth))
			depth++;
	}
	return NULL;
}

static enum match_result match_balanced(struct match *match, const char *at, const char *item, const char **end)
{
	const char *next = balanced_end(match, at, item);

	if (match->what_is_wrong)
		return MATCH_MALFORMED;
	return next ? match_items(match, next, item + 4, end) : MATCH_FAILED;
}

/* "%f[set]": between a character that is not in the set and one that is. */
static enum match_result match_frontier(struct match *match, const char *at, const char *item, const char **end)
{
	const char *set = item + 2, *set_end;
	unsigned char before = at == match->subject ? '\0' : at[-1];
	unsigned char here = at == match->subject_end ? '\0' : *at;

	if (set >= match->pattern_end || *set != '[')
		return malformed(match, "missing '[' after '%f' in pattern");
	set_end = class_end(match, set);
	if (!set_end)
		return MATCH_MALFORMED;
	if (is_in_set(match, before, set, set_end) || !is_in_set(match, here, set, set_end))
		return MATCH_FAILED;
	return match_items(match, at, set_end, end);
}

/* "%1": what a capture before has. */
static enum match_result match_again(struct match *match, const char *at, const char *item, const char **end)
{
	uint32_t i = item[1] - '1';
	const struct match_capture *capture;

	if (item[1] == '0' || i >= match->capture_count || match->captures[i].length == CAPTURE_OPEN)
		return malformed(match, "invalid capture index in pattern");
	capture = &match->captures[i];
	if (capture->length == CAPTURE_POSITION)
		return MATCH_FAILED;
	match->steps += capture->length;
	if (match->subject_end - at < capture->length || memcmp(at, capture->begin, capture->length))
		return MATCH_FAILED;
	return match_items(match, at + capture->length, item + 2, end);
}

/* An item that is a class of characters: with what follows where there is a choice, else alone: behind it, then. */
static enum match_result match_class(struct match *match, const char **at, const char **item, const char **end)
{
	const char *class_ends = class_end(match, *item), *begin = *item;

	if (!class_ends)
		return MATCH_MALFORMED;
	switch (class_ends < match->pattern_end ? *class_ends : '\0') {
	case '*':
		return match_greedy(match, *at, begin, class_ends, 0, end);
	case '+':
		return match_greedy(match, *at, begin, class_ends, 1, end);
	case '-':
		return match_lazy(match, *at, begin, class_ends, end);
	case '?':
		return match_optional(match, *at, begin, class_ends, end);
	}
	if (!is_single(match, *at, begin, class_ends))
		return MATCH_FAILED;
	++*at;
	*item = class_ends;
	return MATCH_GOES_ON;
}

static enum match_result match_item(struct match *match, const char **at, const char **item, const char **end)
{
	bool is_last = *item + 1 == match->pattern_end;

	switch (**item) {
	case '(':
		return begin_capture(match, *at, *item, end);
	case ')':
		return end_capture(match, *at, *item, end);
	case '$':
		if (!is_last)
			break;
		*end = *at;
		return *at == match->subject_end ? MATCH_FOUND : MATCH_FAILED;
	case '%':
		if (is_last)
			break;
		if ((*item)[1] == 'b')
			return match_balanced(match, *at, *item, end);
		if ((*item)[1] == 'f')
			return match_frontier(match, *at, *item, end);
		if (isdigit((unsigned char)(*item)[1]))
			return match_again(match, *at, *item, end);
		break;
	}
	return match_class(match, at, item, end);
}

static enum match_result match_items(struct match *match, const char *at, const char *item, const char **end)
{
	enum match_result result = MATCH_GOES_ON;

	if (match->depth == DEPTH_MAX)
		return malformed(match, "pattern too complex");
	match->depth++;
	while (result == MATCH_GOES_ON) {
		if (++match->steps > match->steps_max) {
			result = MATCH_TOO_LONG;
		} else if (item == match->pattern_end) {
			*end = at;
			result = MATCH_FOUND;
		} else {
			result = match_item(match, &at, &item, end);
		}
	}
	match->depth--;
	return result;
}

enum match_result match_at(struct match *match, const char *at, const char **end)
{
	match->capture_count = 0;
	match->depth = 0;
	return match_items(match, at, match->pattern, end);
}
