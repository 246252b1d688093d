/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits for files that would not be if the program's cgroup might use more memory: its limit was met, and pages were read
 * again that had been dropped, as the kernel counts them.
 */
#include "findings/patterns/draft.h"

#include <string.h>

#include "findings/parts/findings_waits.h"

/*
 * The limit must have been met so often, and for so many of the waits a page been read again: a read brings several in.
 * read_min: of what was waited for files, so much must have been in reads.
 */
enum { HITS_MIN = 10, PAGE_BYTES = 4096 };
static const double refaults_min = 0.5, read_min = 0.5;

/* Whether threads wait to read from files, or from one of them. */
static bool is_of_reads(const struct report *report, const char *path)
{
	double wait_ns = 0, read_ns = 0;

	for (size_t i = 0; i < report->file_count; i++) {
		const struct report_file *file = &report->files[i];

		if (file->cause != CAUSE_FILE || (path && strcmp(file->path, path) != 0))
			continue;
		wait_ns += file->wait_ns;
		read_ns += file->transfer.read_ns;
	}
	return wait_ns > 0 && read_ns >= read_min * wait_ns;
}

static const char *object_of(const struct report *report, const struct report_finding *row)
{
	if (row->root)
		return row->root->is_directory ? NULL : row->root->object;
	return row->wait_rank ? report->waits[row->wait_rank - 1].object : NULL;
}

/* Pages that came back, of those that such waits are for; 0: they are for something else. */
static uint64_t refaults_for(const struct report *report, const struct report_finding *row,
			     const struct report_memory_limit *limit)
{
	if (row->cause == CAUSE_PAGE_FAULT)
		return limit->file_refaults + limit->swap_refaults;
	if (row->cause == CAUSE_FILE && is_of_reads(report, object_of(report, row)))
		return limit->file_refaults;
	return 0;
}

/* Of all waits of its cause: what is read again is not known by file. */
static uint64_t waits_of_cause(const struct report *report, enum wait_cause cause)
{
	const struct report_thread_balance *threads = &report->balance.threads;

	for (size_t i = 0; i < threads->cause_count; i++)
		if (threads->causes[i].cause == cause)
			return threads->causes[i].waits;
	return 0;
}

static void add_limit(struct findings *findings, struct report_finding *row)
{
	const struct report *report = &findings->report;
	const struct report_memory_limit *limit = report->resources.memory_limits;
	uint64_t refaults = limit->hits >= HITS_MIN ? refaults_for(report, row, limit) : 0;
	uint64_t waits = waits_of_cause(report, row->cause);

	if (!waits || refaults < refaults_min * waits)
		return;
	row->memory_limit = limit;
	row->title = arena_printf(findings->arena, "%s: their cgroup may use no more than %s of memory", row->title,
				  words_size(findings, limit->limit_bytes));
	draft_say_first(findings, row,
			"the memory limit of cgroup %s was met %s: %s had been dropped and came back, %s in all",
			limit->cgroup, words_counted(findings, limit->hits, "time"),
			words_counted(findings, refaults, "page"), words_size(findings, refaults * PAGE_BYTES));
}

void patterns_add_limits(struct findings *findings, struct draft *draft)
{
	if (!findings->report.resources.memory_limit_count)
		return;
	for (size_t i = 0; i < draft->count; i++)
		add_limit(findings, &draft->rows[i]);
}
