/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings of processes, or threads, that live for so short that to begin and to end them is most of what they do: there
 * are many of them, each ran for little, and together they had much of the CPUs.
 */
#include "findings/patterns/draft.h"

#include <string.h>

#include "findings/parts/findings_waits.h"

/* So many a second, each of which ran no longer; together so much of what ran, and of the wall time. */
enum { RATE_MIN = 20, RAN_NS_MAX = 5000000, COUNT_MIN = 50 };
static const double running_min = 0.3, wall_min = 0.1;

struct lives {
	uint64_t count, running_ns, cpu_wait_ns;
	bool are_processes; /* or else threads of such */
};

static struct lives lives_of(const struct report_group *group)
{
	struct lives lives = { .are_processes = true };

	for (size_t i = 0; i < group->row_count; i++) {
		const struct report_thread *thread = &group->threads[i];

		lives.count += thread->thread_count;
		lives.running_ns += thread->running_ns;
		lives.cpu_wait_ns += thread->cpu_wait_ns;
		lives.are_processes &= thread->host_tid == thread->host_pid;
	}
	return lives;
}

static bool are_short(const struct report *report, const struct lives *lives)
{
	double wall_s = report->target.wall_ns / 1e9;

	return lives->count >= COUNT_MIN && lives->count >= RATE_MIN * wall_s &&
	       lives->running_ns <= lives->count * RAN_NS_MAX &&
	       lives->running_ns >= running_min * report->balance.threads.running_ns &&
	       lives->running_ns >= wall_min * report->target.wall_ns;
}

static bool starts(const char *syscall)
{
	return syscall && (!strncmp(syscall, "clone", 5) || !strcmp(syscall, "fork") || !strcmp(syscall, "vfork"));
}

/* Where others wait for them to begin or to end, most of the time; 0: that is not known. */
static uint32_t rank_of_starter(const struct report *report)
{
	for (size_t i = 0; i < report->wait_count; i++)
		if (report->waits[i].cause == CAUSE_CHILD || starts(report->waits[i].syscall))
			return i + 1;
	return 0;
}

static void add_group(struct findings *findings, struct draft *draft, const struct report_group *group,
		      const struct lives *lives)
{
	const struct report *report = &findings->report;
	uint32_t rank = lives->are_processes ? rank_of_starter(report) : 0;
	const struct report_wait *wait = rank ? &report->waits[rank - 1] : NULL;
	const char *where = wait ? words_place(findings, wait->frames, wait->frame_count) : NULL;
	struct report_finding *row = draft_add(
		findings, draft, PATTERN_SHORT_LIVED, lives->are_processes ? CAUSE_CHILD : CAUSE_ON_CPU,
		draft_lost(findings, lives->running_ns + lives->cpu_wait_ns),
		"%llu short-lived %s named %s began%s%s, and ran for %s each", (unsigned long long)lives->count,
		lives->are_processes ? "processes" : "threads", group->name, where ? " in " : "", where ? where : "",
		words_duration(findings, lives->running_ns / lives->count));

	if (!row)
		return;
	row->wait_rank = rank;
	row->object = group->name;
	draft_say(findings, row, "%.0f %% of all CPU time is theirs; %.0f began in a second",
		  100 * draft_share(lives->running_ns, report->balance.threads.running_ns),
		  draft_share(lives->count, report->target.wall_ns / 1e9));
}

void patterns_add_short_lived(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->group_count; i++) {
		const struct report_group *group = &report->groups[i];
		struct lives lives = lives_of(group);

		if (!group->is_start_function && are_short(report, &lives))
			add_group(findings, draft, group, &lives);
	}
}
