/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows for the frames of a call path, runs of boilerplate in one that unfolds. */
#pragma once

#include <stddef.h>

#include "values.h"

struct report_frame;
struct row;
struct rows;

/* Innermost first. number: of the first row, as with rows_add_text(). */
void rows_add_stack(struct rows *rows, const struct row *parent, size_t number, const struct report_frame *frames,
		    size_t count, enum stack_end end);
