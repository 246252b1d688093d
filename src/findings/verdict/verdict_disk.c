/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/verdict/verdict_disk.h"

#include "findings/blame/blame.h"
#include "findings/parts/findings_internal.h"
#include "findings/parts/words.h"

enum { NEIGHBOURS_TOLD = 3, SECOND_NS = 1000000000 };

/* Others have to have moved so many bytes in a second, and one of them so much of what all moved. */
static const double neighbours_min = 1 << 20, told_min = 0.1;

static const struct report_root *root_of(const struct report_finding *finding)
{
	return finding->root ? finding->root : finding->blame ? finding->blame->root : NULL;
}

static double bytes_of(const struct report_storage_user *user)
{
	return (double)user->read_bytes + user->write_bytes;
}

static double sum_of(const struct report_resources *resources)
{
	double sum = 0;

	for (size_t i = 0; i < resources->storage_user_count; i++)
		sum += bytes_of(&resources->storage_users[i]);
	return sum;
}

const struct report_storage_user *verdict_disk_neighbour(const struct findings *findings,
							 const struct report_finding *finding)
{
	const struct report *report = &findings->report;
	const struct report_resources *resources = &report->resources;
	const struct report_root *root = root_of(finding);
	double others = sum_of(resources), own = (double)resources->read_bytes + resources->write_bytes;

	/* What the program moved is not known once it has ended. */
	if (!root || root->kind != ROOT_WAIT || root->cause != CAUSE_FILE || !report->target.is_running ||
	    finding->memory_limit || others <= own || others < neighbours_min * report->target.wall_ns / SECOND_NS)
		return NULL;
	return &resources->storage_users[0];
}

/* "wrote 812 MB", or what it read if that is more */
static const char *moved_words(struct findings *findings, uint64_t read_bytes, uint64_t write_bytes)
{
	return arena_printf(findings->arena, "%s %s", read_bytes > write_bytes ? "read" : "wrote",
			    words_size(findings, read_bytes > write_bytes ? read_bytes : write_bytes));
}

const char *verdict_disk_words(struct findings *findings, const struct report_finding *finding)
{
	const struct report_resources *resources = &findings->report.resources;
	const struct report_root *root = root_of(finding);
	const char *words = "";

	if (root && root->kind == ROOT_WAIT && root->taken_by)
		return arena_printf(findings->arena, "the disk worked for: %s", root->taken_by);
	if (!verdict_disk_neighbour(findings, finding))
		return NULL;
	for (size_t i = 0; i < resources->storage_user_count && i < NEIGHBOURS_TOLD; i++) {
		const struct report_storage_user *user = &resources->storage_users[i];

		if (bytes_of(user) < told_min * sum_of(resources))
			break;
		words = arena_printf(findings->arena, "%s%s%s (%s) %s", words, *words ? ", " : "", user->name,
				     findings_pid_words(findings, user->pid),
				     moved_words(findings, user->read_bytes, user->write_bytes));
	}
	return arena_printf(findings->arena, "beside it, %s, while it %s", words,
			    moved_words(findings, resources->read_bytes, resources->write_bytes));
}
