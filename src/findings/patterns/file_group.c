/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/patterns/file_group.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "findings/names/common_directory.h"
#include "findings/parts/findings_internal.h"
#include "findings/parts/words.h"
#include "findings/patterns/draft.h"

/*
 * most_min: what the rest is for need not be in the directory. there_min: so much of the time that is asked about must have been
 * for files there, even if all of the rest is a part of it. whole_min: so much of all waiting for files is for as many files. call_min: so much of it is in a system
 * call that is said.
 */
enum { CALLS_MAX = 16, CALLS_SAID = 2 };

static const double most_min = 0.9, there_min = 0.5, whole_min = 0.8, call_min = 0.2;

static bool has_path(const struct report_file *file)
{
	return file->cause == CAUSE_FILE && *file->path == '/';
}

static double lost_ns_of(const struct report_file *file)
{
	return file->cause == CAUSE_FILE ? file->wait_ns - file->idle_ns : 0;
}

/* All files that were too many to be named. */
static bool is_others(const struct report_file *file)
{
	return !file->inode && !strcmp(file->path, "others");
}

static bool is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	return !strncmp(path, directory, length) && (!path[length] || path[length] == '/');
}

static double others_lost_ns(const struct report *report)
{
	for (size_t i = 0; i < report->file_count; i++)
		if (is_others(&report->files[i]))
			return lost_ns_of(&report->files[i]);
	return 0;
}

static double all_lost_ns(const struct report *report)
{
	double lost_ns = 0;

	for (size_t i = 0; i < report->file_count; i++)
		lost_ns += lost_ns_of(&report->files[i]);
	return lost_ns;
}

const char *file_group_words(struct findings *findings, const char *directory, double lost_ns)
{
	const struct report *report = &findings->report;
	uint64_t count = 0;

	for (size_t i = 0; i < report->file_count; i++)
		count += has_path(&report->files[i]) && is_below(report->files[i].path, directory);
	if (count < 2 || others_lost_ns(report) > 0 || lost_ns < whole_min * all_lost_ns(report))
		return arena_printf(findings->arena, "files under %s", words_object(findings, directory));
	return arena_printf(findings->arena, "%s under %s", words_counted(findings, count, "file"),
			    words_object(findings, directory));
}

/* System calls, and the time lost in waits for files in them. */
struct call_sums {
	struct call_sum {
		const char *call;
		double ns;
	} of[CALLS_MAX];
	size_t count;
	double all_ns;
};

static void add_call(struct call_sums *sums, const char *call, double ns)
{
	size_t i = 0;

	sums->all_ns += ns;
	while (i < sums->count && strcmp(sums->of[i].call, call))
		i++;
	if (i == CALLS_MAX)
		return;
	if (i == sums->count)
		sums->of[sums->count++] = (struct call_sum){ .call = call };
	sums->of[i].ns += ns;
}

static int sums_by_time(const void *a, const void *b)
{
	const struct call_sum *x = a, *y = b;

	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : strcmp(x->call, y->call);
}

void file_group_say_calls(struct findings *findings, struct report_finding *row, const char *directory)
{
	const struct report *report = &findings->report;
	struct call_sums sums = { .count = 0 };
	const char *words = "";

	for (size_t i = 0; i < report->wait_count; i++) {
		const struct report_wait *wait = &report->waits[i];

		if (wait->cause == CAUSE_FILE && wait->call && wait->object && is_below(wait->object, directory))
			add_call(&sums, wait->call, wait->wait_ns - wait->idle_ns);
	}
	qsort(sums.of, sums.count, sizeof(*sums.of), sums_by_time);
	for (size_t i = 0; i < sums.count && i < CALLS_SAID && sums.of[i].ns >= call_min * sums.all_ns; i++)
		words = arena_printf(findings->arena, "%s%s%.0f %% in %s", words, *words ? ", " : "",
				     100 * draft_share(sums.of[i].ns, sums.all_ns), sums.of[i].call);
	if (*words)
		draft_say(findings, row, "these waits: %s", words);
}

/* Files come by time, longest first. */
const char *file_group_directory(struct findings *findings, double lost_ns)
{
	const struct report *report = &findings->report;
	double all_ns = all_lost_ns(report), named_ns = all_ns - others_lost_ns(report), sum_ns = 0;
	const char *first = NULL;
	size_t length = 0, count = 0;

	for (size_t i = 0; i < report->file_count && sum_ns < most_min * named_ns; i++) {
		const struct report_file *file = &report->files[i];

		if (file->cause != CAUSE_FILE || is_others(file))
			continue;
		sum_ns += lost_ns_of(file);
		if (!has_path(file))
			return NULL;
		length = count++ ? common_directory(first, length, file->path) : directory_length(file->path);
		first = first ? first : file->path;
	}
	if (lost_ns - (all_ns - sum_ns) < there_min * lost_ns)
		return NULL;
	return length && count > 1 ? arena_printf(findings->arena, "%.*s", (int)length, first) : NULL;
}
