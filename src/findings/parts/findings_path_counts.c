/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many call paths there are: those asked for, and those that findings rest on, which are the same for any report. */
#include "findings/parts/findings_internal.h"

size_t findings_paths_made(const struct findings *findings, size_t count)
{
	size_t count_max = findings->input.path_count_max;

	if (count_max < FINDINGS_PATHS_READ)
		count_max = FINDINGS_PATHS_READ;
	return count < count_max ? count : count_max;
}

size_t findings_paths_read(const struct report *report)
{
	return report->path_count < FINDINGS_PATHS_READ ? report->path_count : FINDINGS_PATHS_READ;
}

void findings_end_paths(struct findings *findings)
{
	struct report *report = &findings->report;
	struct report_finding *rows = arena_alloc(findings->arena, report->finding_count * sizeof(*rows));

	if (report->path_count <= findings->input.path_count_max)
		return;
	report->path_count = findings->input.path_count_max;
	for (size_t i = 0; i < report->finding_count; i++) {
		rows[i] = report->findings[i];
		if (rows[i].path_rank > report->path_count)
			rows[i].path_rank = 0;
	}
	report->findings = rows;
}
