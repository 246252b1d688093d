/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits by call path: equal paths of different processes are one, and so are their wakers. Functions
 * above a system call tell what kind of wait it is.
 */
#include "findings/parts/findings_waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/whole.h"
#include "findings/names/runtime_locks.h"
#include "findings/parts/stuck.h"
#include "report/wait_choice.h"
#include "session/syscalls.h"
#include "stacks/fold.h"
#include "waits/file_calls.h"
#include "waits/files.h"

struct merged_waker {
	const struct wait_waker *waker; /* stands for all */
	double wait_ns, count, cmetric_ns;
	uint64_t key, cmetric_max_ns;
	bool are_several; /* threads */
};

struct merged_wait {
	uint64_t key;
	struct wait_meaning meaning;
	double wait_ns, idle_ns, count, cmetric_ns;
	uint64_t max_ns;
	const char *object; /* NULL: it has no name, or there are several without */
	bool is_estimated;
	uint64_t cmetric_max_ns;
	const struct wait_path *heaviest, *worst;
	struct thread_set threads;
	struct table *wakers;
	const struct blocked_source *blocked;
};

static uint64_t mix(uint64_t key, uint64_t value)
{
	return hash_u64(key ^ hash_u64(value));
}

/* Where in code it is; functions of Python and Ruby, and those that were put back, have no offset in a file. */
static uint64_t mix_frame(uint64_t key, const struct report_frame *frame)
{
	key = mix(hash_string(key, frame->module ? frame->module : ""), frame->offset);
	if (frame->offset)
		return key;
	key = hash_string(key, frame->function ? frame->function : "");
	return mix(hash_string(key, frame->file ? frame->file : ""), frame->line);
}

/*
 * Equal for stacks that are one to the user: by the frames of his own code. What a library does below
 * them to wait or to wake is not his.
 */
static uint64_t own_key(struct findings *findings, uint32_t pid, uint64_t time_ns, uint64_t name)
{
	const struct report_frame *frames;
	size_t count = path_names_frames(findings->names, pid, time_ns, name, &frames, NULL), i = 0;
	uint64_t key = 1;

	while (i < count && fold_is_plumbing(findings->input.fold, &frames[i]))
		i++;
	if (i == count)
		return findings_stack_key(findings, pid, time_ns, name);
	for (; i < count; i++)
		if (!frames[i].is_inlined)
			key = mix_frame(key, &frames[i]);
	return key;
}

static uint64_t waker_key(struct findings *findings, const struct wait_waker *waker)
{
	uint64_t key = mix(1, waker->kind);

	if (waker->thread)
		return mix(mix(key, waker->name_group), own_key(findings, waker->pid, waker->first_ns, waker->stack));
	return hash_string(key, waker->name);
}

static void merge_waker(struct findings *findings, struct table *wakers, const struct wait_waker *waker, double part)
{
	uint64_t key = waker_key(findings, waker);
	struct merged_waker *merged = table_find(wakers, key);

	if (!merged) {
		merged = arena_alloc(findings->arena, sizeof(*merged));
		merged->waker = waker;
		merged->key = key;
		table_put(wakers, key, merged);
	}
	merged->are_several |= waker->are_several || waker->thread != merged->waker->thread;
	merged->wait_ns += waker->wait_ns * part;
	merged->count += waker->count * part;
	merged->cmetric_ns += waker->cmetric_ns * part;
	if (waker->cmetric_max_ns > merged->cmetric_max_ns)
		merged->cmetric_max_ns = waker->cmetric_max_ns;
}

static void merge_path(struct findings *findings, struct merged_wait *merged, const struct wait_path *path,
		       const struct wait_amount *amount, uint64_t max_ns)
{
	double wait_ns = wait_amount_ns(amount), part = path->wait_ns > 0 ? wait_ns / path->wait_ns : 1;

	merged->wait_ns += wait_ns;
	merged->idle_ns += findings_idle_of(findings, path, &merged->meaning, amount->of[WAIT_IDLE_NS], wait_ns);
	merged->count += amount->of[WAIT_COUNT];
	merged->cmetric_ns += amount->of[WAIT_CMETRIC_NS];
	merged->is_estimated |= path->is_estimated;
	/* The longest one may have had no stack: it is not below the mean. */
	if (amount->of[WAIT_COUNT] > 0)
		max_ns = whole(fmax(max_ns, ceil(wait_ns / amount->of[WAIT_COUNT])));
	max_ns = whole(fmin(max_ns, wait_ns + 0.5));
	if (max_ns > merged->max_ns)
		merged->max_ns = max_ns;
	if (path->cmetric_max_ns > merged->cmetric_max_ns) {
		merged->cmetric_max_ns = path->cmetric_max_ns;
		merged->worst = path;
	}
	if (!merged->heaviest || path->wait_ns > merged->heaviest->wait_ns)
		merged->heaviest = path;
	for (const struct wait_waker *waker = path->wakers; waker; waker = waker->next)
		merge_waker(findings, merged->wakers, waker, part);
	for (uint32_t i = 0; i < path->threads.count; i++)
		thread_set_put(&merged->threads, findings->arena, path->threads.numbers[i]);
	findings_add_blocked_source(findings, &merged->blocked, path, part);
}

/* Pipes without a name and children tell nothing apart: of one call path there may be many. */
static bool is_one_of_many(struct findings *findings, const struct wait_path *path)
{
	const struct file_info *file =
		wait_has_file(&path->facts) ? files_find(findings->input.files, path->object) : NULL;

	if (path->cause == CAUSE_CHILD)
		return true;
	return file && file->kind == FILE_PIPE && !strncmp(file->path, "pipe:[", 6);
}

static bool is_same_text(const char *x, const char *y)
{
	return x == y || (x && y && !strcmp(x, y));
}

/* What users call that which is waited for; NULL: it has no name, or there are several. */
static const char *name_of_object(const struct wait_meaning *meaning, const char *object)
{
	return !object && meaning->is_made && meaning->lock_kind ? runtime_lock_name(meaning->lock_kind) : object;
}

/* amount: that was waited at path for this object; NULL: for one without a name, or for several. */
static void add_part(struct findings *findings, struct table *by_key, const struct wait_path *path,
		     struct wait_meaning meaning, const char *object, const struct wait_amount *amount, uint64_t max_ns)
{
	uint64_t key = mix(meaning.cause, path->facts.syscall);
	struct merged_wait *merged;

	if (!wait_choice_has(findings->choice, meaning.cause, name_of_object(&meaning, object)))
		return;
	key = mix(key, own_key(findings, path->pid, path->first_ns, path->stack));
	if (object && !is_one_of_many(findings, path))
		key = hash_string(key, object);
	merged = table_find(by_key, key);
	if (!merged) {
		merged = arena_alloc(findings->arena, sizeof(*merged));
		merged->key = key;
		merged->meaning = meaning;
		merged->object = object;
		merged->wakers = table_new();
		table_put(by_key, key, merged);
	}
	if (!is_same_text(merged->object, object))
		merged->object = NULL;
	merge_path(findings, merged, path, amount, max_ns);
}

static struct table *merge_paths(struct findings *findings)
{
	struct wait_bounds *bounds = findings_bounds_new(findings);
	struct table *by_key = table_new();
	const struct wait_path *path;
	size_t cursor = 0;

	while ((path = waits_next_path(findings->input.waits, &cursor))) {
		struct wait_parts parts = findings_parts(bounds, path);
		struct wait_meaning meaning = findings_meaning(findings, path);

		add_part(findings, by_key, path, meaning, findings_object_of(findings, path, meaning.cause), &parts.own,
			 parts.max_ns);
		if (parts.others.of[WAIT_COUNT] > 0)
			add_part(findings, by_key, path, meaning, NULL, &parts.others, path->max_ns);
	}
	findings_bounds_free(bounds);
	return by_key;
}

static int wakers_by_time(const void *a, const void *b)
{
	const struct report_waker *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	return x->waits < y->waits   ? 1
	       : x->waits > y->waits ? -1
				     : strcmp(waker_kind_name(x->context), waker_kind_name(y->context));
}

static int wakers_by_criticality(const void *a, const void *b)
{
	const struct report_waker *x = a, *y = b;

	if (x->cmetric_ns != y->cmetric_ns)
		return x->cmetric_ns < y->cmetric_ns ? 1 : -1;
	return wakers_by_time(a, b);
}

static struct report_waker as_report_waker(struct findings *findings, const struct merged_waker *merged, double wait_ns)
{
	const struct wait_waker *waker = merged->waker;
	struct report_waker out = {
		.context = waker->kind,
		.name = waker->thread    ? waker->thread->name
			: waker->name[0] ? waker->name
					 : NULL,
		.share = wait_ns > 0 ? merged->wait_ns / wait_ns : 0,
		.wait_ns = whole(merged->wait_ns + 0.5),
		.waits = whole(merged->count + 0.5),
		.cmetric_ns = whole(merged->cmetric_ns + 0.5),
		.cmetric_max_ns = merged->cmetric_max_ns,
		.key = merged->key,
	};

	if (out.name)
		out.name = arena_strdup(findings->arena, out.name);
	if (out.name && merged->are_several)
		out.names = findings_group_name(findings, out.name);
	if (waker->thread)
		out.frame_count = path_names_frames(findings->names, waker->pid, waker->first_ns, waker->stack,
						    &out.frames, NULL);
	return out;
}

/* Brings what wakers ended to no more than all: estimates by different chances. Returns the time that they ended. */
static double limit_wakers(struct table *wakers, double all_ns, double all_count)
{
	double wait_ns = 0, count = 0;
	struct merged_waker *merged;
	size_t cursor;

	for (cursor = 0; (merged = table_next(wakers, &cursor));) {
		wait_ns += merged->wait_ns;
		count += merged->count;
	}
	for (cursor = 0; (merged = table_next(wakers, &cursor));) {
		if (wait_ns > all_ns)
			merged->wait_ns *= all_ns / wait_ns;
		if (count > all_count) {
			merged->count *= all_count / count;
			merged->cmetric_ns = fmax(merged->cmetric_ns * all_count / count, merged->cmetric_max_ns);
		}
	}
	return fmin(wait_ns, all_ns);
}

/* Those of a table of struct merged_waker, which is freed: no more than so many waits, so long together. */
static size_t put_wakers(struct findings *findings, struct table *wakers, double all_ns, double all_count,
			 bool by_criticality, const struct report_waker **out)
{
	double wait_ns = limit_wakers(wakers, all_ns, all_count);
	struct report_waker *rows;
	struct merged_waker *merged;
	size_t cursor = 0, count = 0;

	rows = arena_alloc(findings->arena, table_count(wakers) * sizeof(*rows));
	while ((merged = table_next(wakers, &cursor)))
		rows[count++] = as_report_waker(findings, merged, wait_ns);
	qsort(rows, count, sizeof(*rows), by_criticality ? wakers_by_criticality : wakers_by_time);
	table_free(wakers);
	*out = rows;
	return count;
}

void findings_merge_unlockers(struct findings *findings, struct table *unlockers, const struct wait_waker *list)
{
	for (; list; list = list->next)
		if (list->thread)
			merge_waker(findings, unlockers, list, 1);
}

size_t findings_put_unlockers(struct findings *findings, struct table *unlockers, const struct wait_sum *sum,
			      const struct report_waker **out)
{
	return put_wakers(findings, unlockers, sum->wait_ns, sum->count, true, out);
}

static bool is_sending(enum wait_cause cause, const struct wait_facts *facts)
{
	return (cause == CAUSE_SOCKET || cause == CAUSE_PIPE) && file_waited_direction(facts) == FILE_WRITING;
}

static struct report_wait as_report_wait(struct findings *findings, struct merged_wait *merged)
{
	const struct wait_path *path = merged->heaviest;
	struct report_wait out = {
		.cause = merged->meaning.cause,
		.syscall = findings_other_call(merged->meaning.cause, path->facts.syscall),
		.call = syscall_name(path->facts.syscall),
		.group = wait_cause_group(merged->meaning.cause),
		.lock_kind = merged->meaning.is_made ? merged->meaning.lock_kind : NULL,
		.wait_ns = whole(merged->wait_ns + 0.5),
		.idle_ns = merged->idle_ns > 0 ? whole(merged->idle_ns + 0.5) : 0,
		.waits = whole(merged->count + 0.5),
		.max_ns = merged->max_ns,
		.cmetric_ns = whole(merged->cmetric_ns + 0.5),
		.is_estimated = merged->is_estimated,
		.is_sending = is_sending(merged->meaning.cause, &path->facts),
		.cmetric_max_ns = merged->cmetric_max_ns,
		.threads = merged->threads.count,
		.waiters = merged->threads.numbers,
		.key = merged->key,
	};

	out.object = name_of_object(&merged->meaning, merged->object);
	if (out.idle_ns > out.wait_ns)
		out.idle_ns = out.wait_ns;
	if (merged->worst)
		out.worst_object = findings_object_of(findings, merged->worst, merged->meaning.cause);
	out.frame_count =
		path_names_frames(findings->names, path->pid, path->first_ns, path->stack, &out.frames, &out.stack_end);
	out.names_hint = path_names_hint(findings->names, path->pid, out.frames, out.frame_count, false);
	out.waker_count = put_wakers(findings, merged->wakers, merged->wait_ns, merged->count, false, &out.wakers);
	out.blocked_sources = merged->blocked;
	return out;
}

static int waits_by_loss(const void *a, const void *b)
{
	const struct report_wait *x = a, *y = b;
	uint64_t x_ns = x->wait_ns - x->idle_ns, y_ns = y->wait_ns - y->idle_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	return strcmp(wait_cause_name(x->cause), wait_cause_name(y->cause));
}

void findings_put_waits(struct findings *findings)
{
	struct table *by_key = merge_paths(findings);
	struct merged_wait *merged;
	struct report_wait *rows;
	size_t cursor = 0, count = 0;

	rows = arena_alloc(findings->arena, table_count(by_key) * sizeof(*rows));
	while ((merged = table_next(by_key, &cursor)))
		rows[count++] = as_report_wait(findings, merged);
	qsort(rows, count, sizeof(*rows), waits_by_loss);
	for (size_t i = 0; i < count && i < FINDINGS_BLOCKED_MAX; i++)
		rows[i].blocked_on = findings_blocked_on(findings, rows[i].blocked_sources, rows[i].wait_ns);
	findings->report.waits = rows;
	findings->report.wait_count = count;
	table_free(by_key);
}

/* Each wait's stacks and its wakers', looked up together. */
static void request_names(struct findings *findings)
{
	const struct ev_stack_frames *stack;
	const struct wait_path *path;
	size_t cursor = 0;

	while ((path = waits_next_path(findings->input.waits, &cursor))) {
		stack = path->pid ? stacks_find(findings->input.stacks, path->stack) : NULL;
		if (stack)
			findings_request_stack(findings, path->pid, path->first_ns, stack);
		for (const struct wait_waker *waker = path->wakers; waker; waker = waker->next) {
			stack = waker->pid ? stacks_find(findings->input.stacks, waker->stack) : NULL;
			if (stack)
				findings_request_stack(findings, waker->pid, waker->first_ns, stack);
		}
	}
	findings_prepare(findings);
}

void findings_add_waits(struct findings *findings)
{
	request_names(findings);
	findings->stuck = findings_find_stuck(findings);
	findings_put_waits(findings);
}
