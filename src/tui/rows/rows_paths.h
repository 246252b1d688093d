/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows for call paths and for the functions in which they were. */
#pragma once

#include <stddef.h>

struct report_function;
struct row;
struct rows;

/* A function with its lines below it; count_all: samples of which its own are a share. */
void rows_add_function(struct rows *rows, const struct row *parent, size_t number,
		       const struct report_function *function, size_t count_all);
