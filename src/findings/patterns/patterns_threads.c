/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of how threads get on: alone, one for all, without a CPU, without effect. */
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

/* Waiting for a CPU that somebody else had. */
static uint64_t cpu_wait_ns(const struct report *report)
{
	return report->balance.threads.cpu_wait_ns - report->balance.threads.throttled_ns;
}

/* Adds a part to a list, unless it is next to nothing. */
static const char *with_rival(struct findings *findings, const char *list, uint64_t part_ns, const char *who)
{
	double share = draft_share(part_ns, cpu_wait_ns(&findings->report));

	if (share < 0.01)
		return list;
	return arena_printf(findings->arena, "%s%s%.0f %% %s", list, *list ? ", " : "", 100 * share, who);
}

/* Processes of one name that had the CPU. */
struct rivals {
	const char *name;
	uint32_t pid;
	uint64_t wait_ns, count;
};

enum { RIVALS_MAX = 16 };

/* Adds one to those of its name; false: there is no space for another name. */
static bool add_rival(struct rivals *rivals, size_t *count, const struct report_rival *rival)
{
	size_t i = 0;

	while (i < *count && strcmp(rivals[i].name, rival->name) != 0)
		i++;
	if (i == RIVALS_MAX)
		return false;
	if (i == *count)
		rivals[(*count)++] = (struct rivals){ .name = rival->name, .pid = rival->pid };
	rivals[i].wait_ns += rival->wait_ns;
	rivals[i].count++;
	return true;
}

static int rivals_by_time(const void *a, const void *b)
{
	const struct rivals *x = a, *y = b;

	return x->wait_ns != y->wait_ns ? (x->wait_ns < y->wait_ns ? 1 : -1) : strcmp(x->name, y->name);
}

/* "80 % neighbour (4 processes)", of the first ones. rest_ns: what the others had is added. */
static const char *rivals_words(struct findings *findings, struct rivals *rivals, size_t count, uint64_t *rest_ns)
{
	enum { NAMES_TOLD = 3 };
	const char *words = "";

	if (count)
		qsort(rivals, count, sizeof(*rivals), rivals_by_time);
	for (size_t i = 0; i < count; i++) {
		const char *who;

		if (i >= NAMES_TOLD) {
			*rest_ns += rivals[i].wait_ns;
			continue;
		}
		who = rivals[i].count == 1 ? arena_printf(findings->arena, "%s (pid %u)", rivals[i].name, rivals[i].pid)
					   : arena_printf(findings->arena, "%s (%llu processes)", rivals[i].name,
							  (unsigned long long)rivals[i].count);
		words = with_rival(findings, words, rivals[i].wait_ns, who);
	}
	return words;
}

/* Who had the CPUs: processes by name, and all others of a kind together. */
static void say_rivals(struct findings *findings, struct report_finding *row)
{
	const struct report *report = &findings->report;
	const struct report_cpu_taken *taken = report->balance.threads.cpu_taken;
	uint64_t program_ns = 0, process_ns = 0, kernel_ns = 0;
	struct rivals rivals[RIVALS_MAX];
	const char *processes, *list;
	size_t count = 0;

	for (size_t i = 0; i < report->balance.threads.rival_count; i++) {
		const struct report_rival *rival = &report->balance.threads.ran_instead[i];

		if (rival->kind == RIVAL_PROGRAM)
			program_ns += rival->wait_ns;
		else if (rival->kind == RIVAL_KERNEL)
			kernel_ns += rival->wait_ns;
		else if (rival->kind == RIVAL_PROCESS && !(rival->name && add_rival(rivals, &count, rival)))
			process_ns += rival->wait_ns;
	}
	processes = rivals_words(findings, rivals, count, &process_ns);
	list = with_rival(findings, "", program_ns, "threads of this program");
	if (*processes)
		list = *list ? arena_printf(findings->arena, "%s, %s", list, processes) : processes;
	list = with_rival(findings, list, process_ns, "other processes");
	list = with_rival(findings, list, kernel_ns, "kernel threads");
	if (*list)
		draft_say(findings, row, "running instead: %s", list);
	if (taken && taken->text && program_ns)
		draft_say(findings, row, "of this program: %s", taken->text);
}

/* Whether more of it went to other processes than to anybody else. */
static bool is_others_cpu(const struct report *report)
{
	uint64_t process_ns = 0;

	for (size_t i = 0; i < report->balance.threads.rival_count; i++)
		if (report->balance.threads.ran_instead[i].kind == RIVAL_PROCESS)
			process_ns += report->balance.threads.ran_instead[i].wait_ns;
	return process_ns > cpu_wait_ns(report) / 2;
}

/* ": each of them may run on 1 of 2 CPUs (affinity or cpuset)"; "": on all, or it is not known. */
static const char *bound_words(struct findings *findings)
{
	const struct report *report = &findings->report;
	uint64_t allowed = report->balance.threads.cpus_allowed;

	return allowed ? arena_printf(findings->arena, ": each of them may run on %llu of %u CPUs (affinity or cpuset)",
				      (unsigned long long)allowed, report->target.cpu_count)
		       : "";
}

/* More threads could run than there are CPUs for; of a program that hardly ever runs it is no loss. */
static void add_runqueue(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;
	double active_ns = report->balance.threads.running_ns + cpu_wait_ns(report);
	double share = draft_lost(findings, cpu_wait_ns(report));
	struct report_finding *row;

	if (share < 0.05 || cpu_wait_ns(report) < 0.25 * active_ns ||
	    cpu_wait_ns(report) < 0.2 * report->target.wall_ns)
		return;
	row = draft_add(findings, draft, PATTERN_CPU_WAIT, CAUSE_PREEMPTED, share,
			"threads that could run wait for a CPU%s%s",
			is_others_cpu(report) ? ", mostly while other processes have it" : "", bound_words(findings));
	draft_say(findings, row,
		  "on average %.1f threads could run, and %.1f had a CPU: they waited %.0f %% of that time",
		  report->totals.parallelism, draft_share(report->balance.threads.running_ns, report->target.wall_ns),
		  100 * draft_share(cpu_wait_ns(report), active_ns));
	say_rivals(findings, row);
}

/* A cgroup may not use more of the CPUs than it is allowed to. */
static void add_throttled(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;
	double share = draft_lost(findings, report->balance.threads.throttled_ns);
	struct report_finding *row;

	if (share < finding_share_min)
		return;
	row = draft_add(findings, draft, PATTERN_CPU_LIMIT, CAUSE_THROTTLED, share,
			"the CPU limit of the cgroup throttles threads for %.0f %% of their active time",
			100 * draft_share(report->balance.threads.throttled_ns,
					  report->balance.threads.running_ns + report->balance.threads.cpu_wait_ns));
	draft_say(findings, row, "a thread was throttled for up to %s at a time",
		  words_duration(findings, report->balance.threads.throttled_max_ns));
}

void patterns_add_threads(struct findings *findings, struct draft *draft)
{
	add_serial(findings, draft);
	add_hot(findings, draft);
	add_runqueue(findings, draft);
	add_throttled(findings, draft);
}
