/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source lines of a function, and how many samples are in each. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct report_line;

/* Adds samples to a line; one that is new finds space only below count_max. file NULL: it is not known. */
void line_list_add(struct report_line *lines, size_t *count, size_t count_max, const char *file, uint32_t line,
		   uint64_t samples);

/* Most samples first. */
void line_list_sort(struct report_line *lines, size_t count);
