/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/verdict/verdict_cpu.h"

#include <string.h>

#include "findings/parts/findings_internal.h"

/* So much of the time is most of it. */
static const double most_min = 0.5;

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

const struct report_blocker *verdict_rival(struct findings *findings)
{
	const struct report_thread_balance *threads = &findings->report.balance.threads;
	struct report_blocker *blocker;

	for (size_t i = 0; i < threads->rival_count; i++) {
		const struct report_rival *rival = &threads->ran_instead[i];
		size_t count;

		if (rival->kind != RIVAL_PROCESS || !rival->name ||
		    time_of_name(threads, rival->name, &count) <
			    most_min * (threads->cpu_wait_ns - threads->throttled_ns))
			continue;
		blocker = arena_alloc(findings->arena, sizeof(*blocker));
		*blocker = (struct report_blocker){ .name = rival->name, .pid = count == 1 ? rival->pid : 0 };
		return blocker;
	}
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
