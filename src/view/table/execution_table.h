/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The executions of a trace that were grouped, as a table for other programs. */
#pragma once

#include <stdint.h>

struct executions;
struct groups;
struct text;

/*
 * CSV by RFC 4180, with one line of names, and a line for each execution: the number of its group from 1 on, 0: it is an outlier; the
 * numbers of the threads in which it ended and began; ns since first_ns when it began and ended; and its figures, which are values.
 */
void execution_table_put(struct text *out, const struct executions *executions, const struct groups *groups,
			 const double *values, uint64_t first_ns);
