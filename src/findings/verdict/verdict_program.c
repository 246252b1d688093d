/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/verdict/verdict_program.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "findings/parts/findings_internal.h"

/* A program is what most is about if it has so much of the threads, or of the time. */
static const double most_min = 0.8;

/* Threads of one program. */
struct share {
	const char *name;
	uint32_t pid, tid;
	bool is_of_several_processes, is_of_several_threads;
	double weight;
};

enum { PROGRAMS_MAX = 64 };

struct shares {
	struct share rows[PROGRAMS_MAX];
	size_t count;
	double weight;
};

/* Names of processes, those of their first threads, by pid + 1; of others any thread's. The caller frees the table. */
static struct table *name_processes(const struct report *report)
{
	struct table *names = table_new();

	for (size_t i = 0; i < report->thread_count; i++) {
		const struct report_thread *thread = &report->threads[i];
		uint64_t key = (uint64_t)thread->host_pid + 1;

		if (thread->host_tid == thread->host_pid || !table_find(names, key))
			table_put(names, key, (void *)thread->name);
	}
	return names;
}

static bool has_several_programs(const struct report *report, const struct table *names)
{
	const char *first = NULL;

	for (size_t i = 0; i < report->thread_count; i++) {
		const char *name = table_find(names, (uint64_t)report->threads[i].host_pid + 1);

		if (!report->threads[i].host_pid) /* several that have ended */
			continue;
		if (!first)
			first = name;
		else if (strcmp(first, name) != 0)
			return true;
	}
	return false;
}

static void add(struct shares *shares, const struct table *names, const struct report_thread *thread, double weight)
{
	const char *name = table_find(names, (uint64_t)thread->host_pid + 1);
	size_t i = 0;

	if (!(weight > 0))
		return;
	shares->weight += weight;
	while (i < shares->count && strcmp(shares->rows[i].name, name) != 0)
		i++;
	if (i == PROGRAMS_MAX)
		return;
	if (i == shares->count) {
		shares->rows[shares->count++] = (struct share){ .name = name,
								.pid = thread->host_pid,
								.tid = thread->host_tid,
								.is_of_several_threads = thread->thread_count > 1 };
	}
	shares->rows[i].is_of_several_processes |= shares->rows[i].pid != thread->host_pid;
	shares->rows[i].is_of_several_threads |= shares->rows[i].tid != thread->host_tid;
	shares->rows[i].weight += weight;
}

/* Threads that waited there. */
static void add_waiters(const struct report *report, const struct report_wait *wait, const struct table *names,
			struct shares *shares)
{
	struct table *waiters = table_new();

	for (uint64_t i = 0; i < wait->threads; i++)
		table_put(waiters, wait->waiters[i], waiters);
	for (size_t i = 0; i < report->thread_count; i++)
		if (report->threads[i].number && table_find(waiters, report->threads[i].number))
			add(shares, names, &report->threads[i], 1);
	table_free(waiters);
}

static bool is_on_path(const struct report_path *path, const char *name)
{
	for (size_t i = 0; i < path->thread_name_count; i++)
		if (!strcmp(path->thread_names[i], name))
			return true;
	return false;
}

static void add_all(struct findings *findings, const struct report_finding *finding, const struct report_path *path,
		    const struct table *names, struct shares *shares)
{
	const struct report *report = &findings->report;

	if (finding && finding->wait_rank) {
		add_waiters(report, &report->waits[finding->wait_rank - 1], names, shares);
		return;
	}
	if (finding && finding->path_rank)
		path = &report->paths[finding->path_rank - 1];
	for (size_t i = 0; i < report->thread_count; i++) {
		const struct report_thread *thread = &report->threads[i];

		if (finding && finding->pattern == PATTERN_CPU_WAIT)
			add(shares, names, thread, thread->cpu_wait_ns);
		else if (path && is_on_path(path, thread->name))
			add(shares, names, thread, thread->running_ns);
	}
}

const struct report_blocker *verdict_program(struct findings *findings, const struct report_finding *finding,
					     const struct report_path *path)
{
	struct table *names = name_processes(&findings->report);
	struct shares shares = { 0 };
	struct report_blocker *out = NULL;

	if (has_several_programs(&findings->report, names))
		add_all(findings, finding, path, names, &shares);
	for (size_t i = 0; i < shares.count; i++) {
		const struct share *share = &shares.rows[i];

		if (share->weight < most_min * shares.weight)
			continue;
		out = arena_alloc(findings->arena, sizeof(*out));
		out->name = share->name;
		out->pid = share->is_of_several_processes ? 0 : share->pid;
		/* Whoever waits for each other are several. */
		if (!share->is_of_several_threads &&
		    !(finding && (finding->pattern == PATTERN_DEADLOCK || finding->pattern == PATTERN_HANG)))
			out->tid = share->tid;
	}
	table_free(names);
	return out;
}

/* Its name, unless the process is called so, too. */
static const char *thread_name(const struct report *report, const struct report_blocker *program)
{
	for (size_t i = 0; program->tid && i < report->thread_count; i++)
		if (report->threads[i].host_tid == program->tid && strcmp(report->threads[i].name, program->name) != 0)
			return report->threads[i].name;
	return NULL;
}

const char *verdict_program_words(struct findings *findings, const struct report_blocker *program)
{
	const char *words, *thread;

	if (!program)
		return "";
	words = program->pid ? arena_printf(findings->arena, "%s (%s)", program->name,
					    findings_pid_words(findings, program->pid))
			     : program->name;
	thread = thread_name(&findings->report, program);
	return thread ? arena_printf(findings->arena, "%s, thread %s: ", words, thread)
		      : arena_printf(findings->arena, "%s: ", words);
}
