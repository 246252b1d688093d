/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the rows of a trace that somebody wants to see, step by step, in the order of the trace. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct row_choice_options;
struct row_index;
struct row_pass;
struct trace_reader;

/*
 * choice: NULL: all rows, if search is NULL, too. search: a text that is in their lines, in upper or lower case;
 * borrowed. 0, or a negative errno after a message.
 */
int row_pass_open(const char *path, uint64_t first_ns, const struct row_choice_options *choice, const char *search,
		  struct row_pass **out);
void row_pass_close(struct row_pass *pass);

/* What it reads; nobody else may say from where on. */
const struct trace_reader *row_pass_trace(const struct row_pass *pass);

/*
 * Goes on for about budget_ns, and tells the index, which is of the same trace, of each chunk that is counted.
 * 1: there is more to count; 0; or a negative errno after a message: it does not come further.
 */
int row_pass_step(struct row_pass *pass, struct row_index *index, uint64_t budget_ns);

/*
 * The same in two parts, row_pass_count() first. row_pass_read() may run a script: it touches nothing but the pass, and ends with the chunk at the
 * latest: 0, or a negative errno after a message. row_pass_count() tells the index of a chunk that is read: it returns as row_pass_step().
 */
int row_pass_read(struct row_pass *pass, uint64_t budget_ns);
int row_pass_count(struct row_pass *pass, struct row_index *index);
