/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of threads that could run, and have no CPU: others have it, or a limit takes it away. */
#include "findings/patterns/draft.h"

#include <stdlib.h>
#include <string.h>

#include "findings/parts/findings_waits.h"

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
		who = rivals[i].count == 1 ? arena_printf(findings->arena, "%s (%s)", rivals[i].name,
							  findings_pid_words(findings, rivals[i].pid))
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

/* --- Who had the machine's other CPUs -------------------------------------------------------------- */

static uint64_t time_of_name(const struct report_resources *resources, const char *name, size_t *count)
{
	uint64_t sum_ns = 0;

	*count = 0;
	for (size_t i = 0; i < resources->cpu_user_count; i++) {
		if (strcmp(resources->cpu_users[i].name, name) != 0)
			continue;
		sum_ns += resources->cpu_users[i].cpu_ns;
		(*count)++;
	}
	return sum_ns;
}

bool patterns_have_neighbours(const struct report *report, struct cpu_neighbours *out)
{
	const struct report_resources *resources = &report->resources;

	*out = (struct cpu_neighbours){ 0 };
	for (size_t i = 0; i < resources->cpu_user_count; i++) {
		const struct report_cpu_user *user = &resources->cpu_users[i];
		size_t count;
		uint64_t cpu_ns = time_of_name(resources, user->name, &count);

		out->all_ns += user->cpu_ns;
		if (cpu_ns <= out->most_ns)
			continue;
		out->most_ns = cpu_ns;
		out->name = user->name;
		out->pid = count == 1 ? user->pid : 0;
		out->count = count;
	}
	return out->name && !report->balance.threads.cpus_allowed && out->all_ns >= cpu_wait_ns(report) / 2;
}

static double cpus_of(const struct report *report, uint64_t cpu_ns)
{
	return draft_share(cpu_ns, report->target.wall_ns);
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

/* Threads may wait for one CPU, and nobody for the other one, which neighbours have: what ran instead does not say that. */
static void say_neighbours(struct findings *findings, struct report_finding *row)
{
	const struct report *report = &findings->report;
	struct cpu_neighbours neighbours;

	if (is_others_cpu(report) || !patterns_have_neighbours(report, &neighbours))
		return;
	draft_say(findings, row, "other processes had %.2f of %u CPUs: %.2f %s %s", cpus_of(report, neighbours.all_ns),
		  report->target.cpu_count, cpus_of(report, neighbours.most_ns), neighbours.name,
		  neighbours.pid ? arena_printf(findings->arena, "(%s)", findings_pid_words(findings, neighbours.pid))
				 : arena_printf(findings->arena, "(%zu processes)", neighbours.count));
}

/* --- Findings -------------------------------------------------------------------------------------- */

/* Less than a few time slices is how programs begin, not what holds them back. */
static const uint64_t short_ns_min = 10000000;

/* Whether it is a finding; of a program that hardly ever runs it is no loss. */
static bool is_short_of_cpus(const struct findings *findings)
{
	const struct report *report = &findings->report;
	double active_ns = report->balance.threads.running_ns + cpu_wait_ns(report);

	return cpu_wait_ns(report) >= short_ns_min && draft_lost(findings, cpu_wait_ns(report)) >= 0.05 &&
	       cpu_wait_ns(report) >= 0.25 * active_ns && cpu_wait_ns(report) >= 0.2 * report->target.wall_ns;
}

bool patterns_lose_cpus(const struct findings *findings)
{
	struct cpu_neighbours neighbours;

	return is_short_of_cpus(findings) &&
	       (is_others_cpu(&findings->report) || patterns_have_neighbours(&findings->report, &neighbours));
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

/* Who had the CPUs, if it was not the program. */
static const char *others_words(struct findings *findings)
{
	const struct report *report = &findings->report;
	struct cpu_neighbours neighbours;

	if (is_others_cpu(report))
		return ", mostly while other processes have it";
	if (!patterns_have_neighbours(report, &neighbours))
		return "";
	return arena_printf(findings->arena, ", while other processes have %.1f of %u CPUs",
			    cpus_of(report, neighbours.all_ns), report->target.cpu_count);
}

/* More threads could run than there are CPUs for. */
static void add_runqueue(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;
	double active_ns = report->balance.threads.running_ns + cpu_wait_ns(report);
	double share = draft_lost(findings, cpu_wait_ns(report));
	struct report_finding *row;

	if (!is_short_of_cpus(findings))
		return;
	row = draft_add(findings, draft, PATTERN_CPU_WAIT, CAUSE_PREEMPTED, share,
			"threads that could run wait for a CPU%s%s", others_words(findings), bound_words(findings));
	draft_say(findings, row,
		  "on average %.1f threads could run, and %.1f had a CPU: they waited %.0f %% of that time",
		  report->totals.parallelism, draft_share(report->balance.threads.running_ns, report->target.wall_ns),
		  100 * draft_share(cpu_wait_ns(report), active_ns));
	say_neighbours(findings, row);
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

void patterns_add_cpus(struct findings *findings, struct draft *draft)
{
	add_runqueue(findings, draft);
	add_throttled(findings, draft);
}
