/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of code in rows by call path, the function that most of it is in, with what it calls. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct findings;
struct report_blocked_code;
struct report_frame;

/* Whether the function is one of those of the row. */
bool code_function_is_in(const struct report_blocked_code *row, const struct report_frame *function);

/* The time of all rows that are in the function, in ns. */
double code_function_ns(const struct report_blocked_code *rows, size_t count, const struct report_frame *function);

/*
 * The innermost of the user's own functions with a name, among those of the heaviest row, that has at least min_ns with what it
 * calls: a row from it on, with the sums of all that are in it; of the findings' arena. NULL: there is none. is_left_out: functions that do not
 * count; NULL: all do. rows: the heaviest first.
 */
const struct report_blocked_code *code_function_of(struct findings *findings, const struct report_blocked_code *rows,
						   size_t count, double min_ns,
						   bool (*is_left_out)(const struct findings *findings,
								       const struct report_frame *function));
