/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/verdict/verdict_cpu.h"

#include <string.h>

#include "findings/code/code_function.h"
#include "findings/parts/findings_internal.h"
#include "findings/patterns/draft.h"

/*
 * So much of the time is most of it. saturated_min: so much of the CPUs is nearly all. bound_min: of the time that is not idle,
 * so much is most. SLICE_NS: whoever waits longer is not on its way to a CPU, but behind others that have it. code_min: so much of the time in which threads wait for a CPU that the program has is one function's, by
 * SAMPLES_MIN samples.
 */
static const double most_min = 0.5, saturated_min = 0.8, bound_min = 0.5, code_min = 0.5;
enum { SAMPLES_MIN = 5, SLICE_NS = 1000000 };

static double time_of_name(const struct report_thread_balance *threads, const char *name, size_t *count)
{
	double ns = 0;

	*count = 0;
	for (size_t i = 0; i < threads->rival_count; i++) {
		const struct report_rival *rival = &threads->ran_instead[i];

		if (rival->kind != RIVAL_PROCESS || !rival->name || strcmp(rival->name, name) != 0)
			continue;
		ns += rival->wait_ns;
		(*count)++;
	}
	return ns;
}

static const struct report_blocker *blocker_named(struct findings *findings, const char *name, uint32_t pid)
{
	struct report_blocker *blocker = arena_alloc(findings->arena, sizeof(*blocker));

	*blocker = (struct report_blocker){ .name = name, .pid = pid };
	return blocker;
}

const struct report_blocker *verdict_rival(struct findings *findings)
{
	const struct report_thread_balance *threads = &findings->report.balance.threads;
	struct cpu_neighbours neighbours;

	for (size_t i = 0; i < threads->rival_count; i++) {
		const struct report_rival *rival = &threads->ran_instead[i];
		size_t count;

		if (rival->kind != RIVAL_PROCESS || !rival->name ||
		    time_of_name(threads, rival->name, &count) <
			    most_min * (threads->cpu_wait_ns - threads->throttled_ns))
			continue;
		return blocker_named(findings, rival->name, count == 1 ? rival->pid : 0);
	}
	if (patterns_have_neighbours(&findings->report, &neighbours) &&
	    neighbours.most_ns >= most_min * neighbours.all_ns)
		return blocker_named(findings, neighbours.name, neighbours.pid);
	return NULL;
}

/* Who had the CPUs that threads waited for; NULL: that is not known. */
static const struct report_root *root_of_cpu(const struct report *report)
{
	for (size_t i = 0; i < report->blame.root_count; i++)
		if (report->blame.roots[i].kind == ROOT_CPU)
			return &report->blame.roots[i];
	return NULL;
}

static bool has_waiter(struct findings *findings, const struct report_wait *wait, const char *group)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->thread_count; i++) {
		const struct report_thread *thread = &report->threads[i];

		if (strcmp(findings_group_name(findings, thread->name), group) != 0)
			continue;
		for (uint64_t k = 0; k < wait->threads; k++)
			if (wait->waiters[k] == thread->number)
				return true;
	}
	return false;
}

bool verdict_is_own_shortage(struct findings *findings, const struct report_wait *wait)
{
	const struct report_root *root = root_of_cpu(&findings->report);
	double own_ns = 0;

	if (!root || !wait || (wait->cause != CAUSE_LOCK && wait->cause != CAUSE_KERNEL_LOCK))
		return false;
	for (size_t i = 0; i < root->user_count; i++)
		if (root->users[i].kind == RIVAL_PROGRAM && root->users[i].name &&
		    has_waiter(findings, wait, root->users[i].name))
			own_ns += root->users[i].ns;
	return own_ns >= most_min * root->ns;
}

bool verdict_is_saturated(const struct report *report)
{
	return report->target.cpu_count && report->totals.parallelism >= saturated_min * report->target.cpu_count;
}

bool verdict_has_all_cpus(const struct report *report)
{
	double useful_ns = (double)report->balance.threads.running_ns - report->balance.threads.spinning_ns;

	return report->target.cpu_count &&
	       useful_ns >= saturated_min * report->target.cpu_count * report->target.wall_ns;
}

/* What of the time in which threads waited for a CPU the program had it itself, or nobody. */
static double own_share(const struct report *report)
{
	const struct report_thread_balance *threads = &report->balance.threads;
	double own_ns = 0, waited_ns = (double)threads->cpu_wait_ns - threads->throttled_ns;

	for (size_t i = 0; i < threads->rival_count; i++)
		if (threads->ran_instead[i].kind == RIVAL_PROGRAM || threads->ran_instead[i].kind == RIVAL_IDLE)
			own_ns += threads->ran_instead[i].wait_ns;
	return own_ns < waited_ns ? own_ns / waited_ns : own_ns > 0;
}

/* Whether it had more to run than CPUs, for long at a time: the scheduler would have used them. */
static bool is_kept_from_cpus(const struct report *report)
{
	const struct report_thread_balance *threads = &report->balance.threads;

	for (size_t i = 0; i < threads->cause_count && verdict_is_saturated(report); i++)
		if (threads->causes[i].cause == CAUSE_PREEMPTED)
			return threads->causes[i].wait_ns >= threads->causes[i].waits * SLICE_NS;
	return false;
}

double verdict_weight(const struct report *report, const struct report_finding *finding)
{
	if (finding->pattern != PATTERN_CPU_WAIT || finding->share >= bound_min ||
	    report->balance.threads.cpus_allowed || verdict_has_all_cpus(report) || is_kept_from_cpus(report))
		return finding->share;
	return finding->share * (1 - own_share(report));
}

const struct report_blocked_code *verdict_cpu_code(struct findings *findings, const struct report_finding *finding)
{
	const struct report *report = &findings->report;
	const struct report_cpu_taken *taken = report->balance.threads.cpu_taken;

	if (finding->pattern != PATTERN_CPU_WAIT || !taken || taken->samples < SAMPLES_MIN ||
	    !verdict_has_all_cpus(report) || own_share(report) < code_min)
		return NULL;
	return code_function_of(findings, taken->code, taken->code_count, code_min * taken->ns, NULL);
}
