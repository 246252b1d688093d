/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of how threads get on: alone, one for all, without effect. */
#include "findings/patterns/draft.h"

#include <stdlib.h>
#include <string.h>

#include "findings/parts/findings_waits.h"
#include "findings/parts/words.h"
#include "report/report_nameless.h"

/* Waiting that was not idle, except for threads to end: that is what a parent does that has no work. */
static double waited_ns(const struct report *report)
{
	double sum_ns = 0;

	for (size_t i = 0; i < report->balance.threads.cause_count; i++) {
		const struct report_cause *cause = &report->balance.threads.causes[i];

		if (!cause->is_active && cause->cause != CAUSE_JOIN && cause->cause != CAUSE_CHILD)
			sum_ns += cause->wait_ns - cause->idle_ns;
	}
	return sum_ns;
}

/* How many threads there are on average that have something to do or wait for it. */
static double count_busy(const struct report *report)
{
	return draft_share(report->balance.threads.running_ns + report->balance.threads.cpu_wait_ns + waited_ns(report),
			   report->target.wall_ns);
}

/* Whether the others wait meanwhile, and not just have nothing to do. */
static bool do_others_wait(const struct report *report, double alone_ns)
{
	double others = count_busy(report) - 1;

	return waited_ns(report) >= 0.3 * alone_ns * (others > 1 ? others : 1);
}

/* The function that most samples of the path fell into; NULL: none has most, or there are only stack tops. */
static const char *sampled_in(const struct report_path *path)
{
	const struct report_function *first = path->functions;
	uint64_t count = 0;

	for (size_t i = 0; i < path->function_count; i++)
		count += path->functions[i].samples - path->functions[i].stack_tops;
	return count && 2 * (first->samples - first->stack_tops) > count ? first->name : NULL;
}

static double time_alone_ns(const struct report *report)
{
	for (size_t i = 0; i < report->level_count; i++)
		if (report->parallelism[i].active == 1)
			return report->parallelism[i].ns;
	return 0;
}

/* What is lost in a share of the time in which one is active alone: nothing if no other has anything to do on average. */
static double lost_alone(const struct report *report, double share)
{
	double busy = count_busy(report);

	return busy > 1 ? share * (1 - 1 / busy) : 0;
}

/* One thread alone is active for long, and more are there. */
static void add_serial(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;
	double alone_ns = time_alone_ns(report);
	double share = draft_share(alone_ns, report->target.wall_ns), lost = lost_alone(report, share);
	const struct report_path *path = report->path_count ? &report->paths[0] : NULL;
	const char *where, *sampled;
	struct report_finding *row;

	if (report->totals.alive_max < 3 || share < 0.3 || lost < finding_share_min || !path ||
	    path->cmetric_ns < 0.5 * alone_ns || !do_others_wait(report, alone_ns))
		return;
	/* Its frames are where it ended: in a wait, for all that is known. */
	where = words_place(findings, path->frames, path->frame_count);
	sampled = sampled_in(path);
	if (sampled && report_nameless_length(sampled))
		where = where ? where : words_function(findings, sampled);
	else if (sampled && (!where || strncmp(where, sampled, strlen(sampled)) != 0))
		where = sampled;
	row = draft_add(findings, draft, PATTERN_SERIAL_PHASE, path->cause, lost,
			"for %.0f %% of the wall time only one thread was active%s%s", 100 * share,
			where ? ", mostly in " : "", where ? where : "");
	if (row)
		row->path_rank = 1;
	draft_say(findings, row, "the top call path has %.0f %% of the wall time", 100 * path->wall_share);
}

/* The path by which a thread of that name spends most of its time; 0: none is known. */
static uint32_t path_rank_of(const struct report *report, const char *name)
{
	for (size_t i = 0; i < findings_paths_read(report); i++)
		for (size_t k = 0; k < report->paths[i].thread_name_count; k++)
			if (!strcmp(report->paths[i].thread_names[k], name))
				return report->paths[i].rank;
	return 0;
}

/* One thread of a pool does most of its work. */
static void add_hot(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->group_count; i++) {
		const struct report_group *group = &report->groups[i];
		const struct report_thread *top = group->threads;
		struct report_finding *row;
		double share;

		if (group->thread_count < 3 || group->imbalance < 2 || top->thread_count != 1)
			continue;
		share = draft_share(top->cmetric_ns, report->target.wall_ns);
		if (share < 0.3 || top->cmetric_ns < 0.5 * group->cmetric_ns)
			continue;
		row = draft_add(findings, draft, PATTERN_HOT_THREAD, CAUSE_ON_CPU,
				share * (1 - 1.0 / group->thread_count),
				"thread %u (%s) does most of the work of %llu threads of the same kind", top->tid,
				top->name, (unsigned long long)group->thread_count);
		if (row) {
			row->blocker = top->name;
			row->path_rank = path_rank_of(report, top->name);
		}
		draft_say(findings, row, "it carries %.1f times the mean of %s", group->imbalance, group->name);
	}
}

void patterns_add_threads(struct findings *findings, struct draft *draft)
{
	add_serial(findings, draft);
	add_hot(findings, draft);
}
