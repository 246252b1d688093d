/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/names/line_list.h"

#include <stdlib.h>
#include <string.h>

#include "report/report.h"

void line_list_add(struct report_line *lines, size_t *count, size_t count_max, const char *file, uint32_t line,
		   uint64_t samples)
{
	size_t i = 0;

	if (!file)
		return;
	while (i < *count && (lines[i].line != line || strcmp(lines[i].file, file) != 0))
		i++;
	if (i == count_max)
		return;
	if (i == *count)
		lines[(*count)++] = (struct report_line){ file, line, 0 };
	lines[i].samples += samples;
}

static int by_samples(const void *a, const void *b)
{
	const struct report_line *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return x->line < y->line ? -1 : x->line > y->line;
}

void line_list_sort(struct report_line *lines, size_t count)
{
	if (count)
		qsort(lines, count, sizeof(*lines), by_samples);
}
