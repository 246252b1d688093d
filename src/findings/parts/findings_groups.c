/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that do the same job stand together, so that the stages of a pipeline and the ranks
 * of a parallel job can be compared (GAPP, figures 4 and 5). Alike are threads whose names
 * differ in numbers only; where all threads bear the program's name, those that started in
 * the same function.
 */
#include "findings/parts/findings_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "account/code_samples.h"
#include "account/measures/thread_strip.h"
#include "base/pause.h"
#include "base/table.h"
#include "session/hosts.h"
#include "stacks/fold.h"

/* Examined for where threads began, besides each one's first path. */
enum { START_PATHS_MAX = 256, START_SAMPLES_MAX = 16384 };

struct group {
	const char *name;
	const char *host; /* NULL: all is of one */
	uint32_t host_number;
	bool is_start_function;
	struct report_thread *rows;
	size_t count, capacity;
	uint64_t thread_count, cmetric_ns;
	uint64_t key;
	struct thread_strip *strip; /* of all its threads; NULL: none */
};

const char *findings_group_name(struct findings *findings, const char *name)
{
	char *out = arena_alloc(findings->arena, strlen(name) + 1), *at = out;

	while (*name) {
		if (isdigit((unsigned char)*name)) {
			*at++ = '*';
			while (isdigit((unsigned char)*name))
				name++;
		} else {
			*at++ = *name++;
		}
	}
	*at = '\0';
	return out;
}

static struct report_thread as_row(struct findings *findings, const struct thread_metrics *metrics)
{
	const struct thread *thread = metrics->thread;
	uint64_t oncpu_ns = fixed_to_ns(metrics->cmetric_oncpu);

	pause_take_if_due(findings->input.pause);
	return (struct report_thread){
		.tid = thread ? thread->ns_tid : 0,
		.pid = thread ? thread->ns_pid : 0,
		.host_tid = thread ? thread->tid : 0,
		.host_pid = thread ? thread->pid : 0,
		.number = thread ? thread->number : 0,
		.name = arena_strdup(findings->arena, metrics->name),
		.title = thread && thread->title ? arena_strdup(findings->arena, thread->title) : NULL,
		.thread_count = metrics->thread_count,
		.cmetric_ns = fixed_to_ns(metrics->cmetric_oncpu + metrics->cmetric_runqueue),
		.cmetric_oncpu_ns = oncpu_ns,
		.running_ns = metrics->running_ns,
		.cpu_wait_ns = metrics->runnable_ns,
		.inactive_ns = metrics->spinning_ns + metrics->spin_preempted_ns,
		.blocked_ns = metrics->blocked_ns,
		.slices = metrics->slices,
		.critical_slices = metrics->critical_slices,
		.stalls_ended_ns = metrics->stalls_ended_ns,
		.strip = findings_strip(findings, metrics->strip),
		.key = thread ? thread->number : hash_string(1, metrics->name),
	};
}

const char *findings_pid_words(struct findings *findings, uint32_t pid)
{
	const char *host = findings->input.hosts ? hosts_name(findings->input.hosts, pid) : NULL;

	return host ? arena_printf(findings->arena, "pid %u on %s", id_on_host(pid), host)
		    : arena_printf(findings->arena, "pid %u", pid);
}

static const char *host_of(struct findings *findings, const struct thread *thread)
{
	const char *name = thread && findings->input.hosts ? hosts_name(findings->input.hosts, thread->tid) : NULL;

	return name ? arena_strdup(findings->arena, name) : NULL;
}

static struct group *group_get(struct findings *findings, struct table *groups, const char *name,
			       bool is_start_function, const struct thread *thread)
{
	uint32_t host_number = thread ? host_of_id(thread->tid) : 0;
	uint64_t key = hash_string(is_start_function | host_number << 1, name);
	struct group *group = table_find(groups, key);

	if (!group) {
		group = arena_alloc(findings->arena, sizeof(*group));
		group->name = name;
		group->is_start_function = is_start_function;
		group->host = host_of(findings, thread);
		group->host_number = host_number;
		group->key = key;
		table_put(groups, key, group);
	}
	return group;
}

static void group_add_strip(struct findings *findings, struct group *group, const struct thread_strip *strip)
{
	if (!strip)
		return;
	if (!group->strip)
		group->strip = arena_alloc(findings->arena, sizeof(*group->strip));
	thread_strip_merge(group->strip, strip);
}

static void group_add(struct group *group, struct report_thread row)
{
	ARRAY_GROW(group->rows, group->count, group->capacity, 8);
	group->rows[group->count++] = row;
	group->thread_count += row.thread_count;
	group->cmetric_ns += row.cmetric_ns;
}

static int rows_by_cmetric(const void *a, const void *b)
{
	const struct report_thread *x = a, *y = b;

	if (x->cmetric_ns != y->cmetric_ns)
		return x->cmetric_ns < y->cmetric_ns ? 1 : -1;
	return x->host_tid < y->host_tid ? -1 : x->host_tid > y->host_tid;
}

static int groups_by_cmetric(const void *a, const void *b)
{
	const struct report_group *x = a, *y = b;

	if (x->host_number != y->host_number)
		return x->host_number < y->host_number ? -1 : 1;
	if (x->cmetric_ns != y->cmetric_ns)
		return x->cmetric_ns < y->cmetric_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static struct report_group as_report_group(struct findings *findings, struct group *group)
{
	struct report_thread *rows = group->rows;
	double mean_ns = (double)group->cmetric_ns / group->thread_count;

	qsort(rows, group->count, sizeof(*rows), rows_by_cmetric);
	return (struct report_group){
		/* One thread is called by its own name. */
		.host = group->host,
		.host_number = group->host_number,
		.name = group->count == 1 && !group->is_start_function ? rows[0].name : group->name,
		.is_start_function = group->is_start_function,
		.thread_count = group->thread_count,
		.cmetric_ns = group->cmetric_ns,
		.imbalance = mean_ns > 0 ? rows[0].cmetric_ns / mean_ns : 1,
		.threads = rows,
		.row_count = group->count,
		.strip = findings_strip(findings, group->strip),
		.key = group->key,
	};
}

/* How many threads of a process bear the name of its first thread. */
struct process_name {
	char name[16];
	size_t sharing_count;
};

static struct table *count_process_names(struct findings *findings)
{
	struct table *names = table_new();
	const struct thread_metrics *metrics;
	struct process_name *process;
	size_t cursor;

	for (cursor = 0; (metrics = criticality_next_thread(findings->input.criticality, &cursor));) {
		if (!metrics->thread || metrics->thread->tid != metrics->thread->pid)
			continue;
		process = arena_alloc(findings->arena, sizeof(*process));
		memcpy(process->name, metrics->name, sizeof(process->name));
		table_put(names, metrics->thread->pid, process);
	}
	for (cursor = 0; (metrics = criticality_next_thread(findings->input.criticality, &cursor));) {
		process = metrics->thread ? table_find(names, metrics->thread->pid) : NULL;
		if (process && !strcmp(process->name, metrics->name))
			process->sharing_count++;
	}
	return names;
}

/* Threads of the Go runtime run any goroutine: where its stack begins, the thread did not begin. */
static bool is_goroutine(struct findings *findings, const struct report_frame *outermost)
{
	const char *label = fold_find_label(findings->input.fold, outermost);

	return label && !strcmp(label, "Go runtime");
}

/* The outermost of these frames that is the program's own; NULL when none is known. */
static const char *outermost_function(struct findings *findings, const struct report_frame *frames, size_t count)
{
	if (count && is_goroutine(findings, &frames[count - 1]))
		return NULL;
	while (count--)
		if (frames[count].function && !frames[count].is_inlined &&
		    !fold_is_plumbing(findings->input.fold, &frames[count]))
			return frames[count].function;
	return NULL;
}

static const char *start_function(struct findings *findings, uint32_t pid, uint64_t name)
{
	const struct report_frame *frames;
	size_t count = path_names_frames(findings->names, pid, UINT64_MAX, name, &frames, NULL);

	return outermost_function(findings, frames, count);
}

/* True for a thread that only its start function tells from the others of its process. */
static bool is_shared_name(struct table *names, const struct thread *thread, const char *name)
{
	const struct process_name *process = thread ? table_find(names, thread->pid) : NULL;

	return process && process->sharing_count > 1 && !strcmp(process->name, name);
}

static bool has_shared_name(struct table *names, const struct thread_metrics *metrics)
{
	return is_shared_name(names, metrics->thread, metrics->name);
}

static void add_start(struct table *starts, const struct thread *thread, const char *function)
{
	if (function)
		table_put(starts, thread->number, (void *)function);
}

/*
 * A thread that was first seen in what begins threads may have gone on to its own code; a process's
 * first thread begins in nobody's. True when the path was examined.
 */
static bool add_starts_of_path(struct findings *findings, struct table *names, const struct path_metrics *path,
			       struct table *starts)
{
	const char *function = NULL;
	bool is_looked_for = false;

	for (size_t i = 0; i < path->thread_count && i < PATH_THREADS_MAX; i++) {
		const struct thread *thread = path->threads[i];

		if (thread->tid == thread->pid || table_find(starts, thread->number) ||
		    !is_shared_name(names, thread, thread->name))
			continue;
		if (!is_looked_for)
			function = start_function(findings, path->pid, path->stack);
		is_looked_for = true;
		add_start(starts, thread, function);
	}
	return is_looked_for;
}

/* Those whose start is not known yet, by number; a process's first thread begins in nobody's code. */
static struct table *without_start(struct findings *findings, struct table *names, const struct table *starts)
{
	struct table *out = table_new();
	const struct thread_metrics *metrics;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(findings->input.criticality, &cursor))) {
		const struct thread *thread = metrics->thread;

		if (has_shared_name(names, metrics) && thread->tid != thread->pid &&
		    !table_find(starts, thread->number))
			table_put(out, thread->number, (void *)thread);
	}
	return out;
}

/* Threads that never block may have no stack at the end of a slice, but they are sampled. */
static void add_starts_of_samples(struct findings *findings, struct table *names, struct table *starts)
{
	struct table *wanted = without_start(findings, names, starts);
	const struct code_sample *sample;
	size_t looked = 0;

	for (size_t i = 0; table_count(wanted) && looked < START_SAMPLES_MAX; i++) {
		const struct thread *thread;
		const struct report_frame *frames;
		enum stack_end end;
		size_t count;

		sample = code_samples_at(findings->input.code, i);
		if (!sample)
			break;
		thread = sample->stack ? table_find(wanted, sample->stratum->thread) : NULL;
		if (!thread || table_find(starts, thread->number))
			continue;
		looked++;
		count = path_names_sample_frames(findings->names, sample->pid, sample->first_ns, sample->stack,
						 sample->ip, sample->kernel_ip, &frames, &end);
		if (count && end == STACK_COMPLETE)
			add_start(starts, thread, outermost_function(findings, frames, count));
	}
	table_free(wanted);
}

/* By number of thread. */
static struct table *find_starts(struct findings *findings, struct table *names)
{
	struct table *starts = table_new();
	const struct thread_metrics *metrics;
	const struct path_metrics *path;
	size_t cursor = 0, looked = 0;

	while ((metrics = criticality_next_thread(findings->input.criticality, &cursor)))
		if (has_shared_name(names, metrics))
			add_start(starts, metrics->thread,
				  start_function(findings, metrics->thread->pid, metrics->path));
	cursor = 0;
	while (looked < START_PATHS_MAX && (path = criticality_next_path(findings->input.criticality, &cursor)))
		looked += add_starts_of_path(findings, names, path, starts);
	if (findings->input.code)
		add_starts_of_samples(findings, names, starts);
	return starts;
}

static void request_start_functions(struct findings *findings, struct table *names)
{
	const struct thread_metrics *metrics;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(findings->input.criticality, &cursor))) {
		const struct ev_stack_frames *stack = stacks_find(findings->input.stacks, metrics->path);

		if (stack && has_shared_name(names, metrics))
			findings_request_stack(findings, metrics->thread->pid, UINT64_MAX, stack);
	}
	findings_prepare(findings);
}

static void add_thread(struct findings *findings, struct table *groups, struct table *starts,
		       const struct thread_metrics *metrics)
{
	const char *function = metrics->thread ? table_find(starts, metrics->thread->number) : NULL;
	struct group *group;

	if (function)
		group = group_get(findings, groups, function, true, metrics->thread);
	else
		group = group_get(findings, groups, findings_group_name(findings, metrics->name), false,
				  metrics->thread);
	group_add(group, as_row(findings, metrics));
	group_add_strip(findings, group, metrics->strip);
}

/* Group by group, each thread with the name of its group; takes the groups' own lists. */
static void put_threads(struct findings *findings, struct report_group *groups, size_t count)
{
	struct report_thread *rows;
	size_t row_count = 0;

	for (size_t i = 0; i < count; i++)
		row_count += groups[i].row_count;
	findings->report.threads = rows = arena_alloc(findings->arena, row_count * sizeof(*rows));
	findings->report.thread_count = row_count;
	for (size_t i = 0; i < count; rows += groups[i++].row_count) {
		memcpy(rows, groups[i].threads, groups[i].row_count * sizeof(*rows));
		free((void *)groups[i].threads);
		for (size_t k = 0; k < groups[i].row_count; k++) {
			rows[k].group = groups[i].name;
			rows[k].host = groups[i].host;
		}
		groups[i].threads = rows;
	}
}

void findings_add_groups(struct findings *findings)
{
	struct table *names = count_process_names(findings), *groups = table_new();
	const struct thread_metrics *metrics;
	struct report_group *out;
	struct group *group;
	size_t cursor = 0, count = 0;
	struct table *starts;

	findings_begin_strips(findings);
	request_start_functions(findings, names);
	starts = find_starts(findings, names);
	while ((metrics = criticality_next_thread(findings->input.criticality, &cursor)))
		add_thread(findings, groups, starts, metrics);
	out = arena_alloc(findings->arena, table_count(groups) * sizeof(*out));
	for (cursor = 0; (group = table_next(groups, &cursor));)
		out[count++] = as_report_group(findings, group);
	qsort(out, count, sizeof(*out), groups_by_cmetric);
	put_threads(findings, out, count);
	findings->report.groups = out;
	findings->report.group_count = count;
	table_free(groups);
	table_free(starts);
	table_free(names);
}
