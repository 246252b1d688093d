/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the executions of a trace are to be grouped, and which groups are compared: options of pinch compare as parameters of a request. */
#pragma once

#include <stddef.h>

struct request;
struct text;

enum { GROUP_WORD_BYTES = 512, GROUP_OPTIONS = 5, GROUP_ARGUMENTS_MAX = 2 * GROUP_OPTIONS };

/* By the order of the options; empty: not given. */
struct group_question {
	char words[GROUP_OPTIONS][GROUP_WORD_BYTES];
};

/* Parameters: span, cycle, groups, feature, between. What they say is checked by pinch compare. */
void group_question_read(const struct request *request, struct group_question *out);

/* Adds the options and what they are to arguments, which has room for GROUP_ARGUMENTS_MAX; they are borrowed. Returns how many. */
size_t group_question_put_arguments(const struct group_question *question, const char **arguments);

/* Puts what tells it from other questions. */
void group_question_put_key(const struct group_question *question, struct text *out);
