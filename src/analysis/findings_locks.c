/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/findings_waits.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/fold.h"
#include "base/table.h"

const char *findings_lock_name(struct findings *findings __attribute__((unused)),
			       uint32_t pid __attribute__((unused)),
			       uint64_t time_ns __attribute__((unused)),
			       uint64_t address __attribute__((unused)))
{
	return NULL;
}

/* The innermost function of the user's own. */
static const char *place_of(struct findings *findings, const struct wait_path *path)
{
	const struct report_frame *frames;
	size_t count;

	if (!path)
		return NULL;
	count = findings_name_path(findings, path->pid, path->first_ns, path->stack, &frames, NULL);
	for (size_t i = 0; i < count; i++)
		if (frames[i].function && !fold_is_plumbing(findings->input.fold, &frames[i]))
			return frames[i].function;
	return NULL;
}

/* Threads by what locks know them by. */
struct thread_index {
	struct table *by_number, *by_tid;
};

/* In its own namespace, among those of its process. */
static uint64_t tid_key(uint32_t pid, uint32_t ns_tid)
{
	return (uint64_t)pid << 32 | ns_tid;
}

static struct thread_index index_threads(struct findings *findings)
{
	struct thread_index index = { table_new(), table_new() };
	const struct thread_metrics *metrics;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(findings->input.criticality, &cursor))) {
		const struct thread *thread = metrics->thread;

		if (!thread)
			continue;
		table_put(index.by_number, thread->number, (void *)thread);
		table_put(index.by_tid, tid_key(thread->pid, thread->ns_tid), (void *)thread);
	}
	return index;
}

static const char *name_of(struct findings *findings, const struct thread *thread)
{
	return thread ? arena_strdup(findings->arena, thread->name) : NULL;
}

static struct wait_meaning meaning_of(struct findings *findings, const struct wait_lock *lock)
{
	if (lock->heaviest)
		return findings_meaning(findings, lock->heaviest);
	return wait_meaning_of(findings->wait_names, &lock->facts, lock->cause, NULL, 0);
}

/* The thread that ended most of the waiting. */
static void add_ender(struct findings *findings, const struct thread_index *index,
		      const struct wait_lock *lock, struct report_lock *out)
{
	const struct wait_ender *most = &lock->enders[0];

	for (size_t i = 1; i < WAIT_ENDERS; i++)
		if (lock->enders[i].wait_ns > most->wait_ns)
			most = &lock->enders[i];
	if (!most->thread || !lock->sum.wait_ns)
		return;
	out->ender_share = (double)most->wait_ns / lock->sum.wait_ns;
	out->ender = name_of(findings, table_find(index->by_number, most->thread));
}

static struct report_lock as_report_lock(struct findings *findings,
					 const struct thread_index *index,
					 const struct wait_lock *lock)
{
	struct wait_meaning meaning = meaning_of(findings, lock);
	struct report_lock out = {
		.name = findings_lock_name(findings, lock->pid, lock->first_ns, lock->object),
		.object = lock->object ? arena_printf(findings->arena, "0x%llx",
						      (unsigned long long)lock->object)
				       : "others",
		.kind = meaning.lock_kind ? meaning.lock_kind : "futex",
		.where = place_of(findings, lock->heaviest),
		.waits = lock->sum.count,
		.wait_ns = lock->sum.wait_ns,
		.idle_ns = findings_idle_ns(meaning.cause, lock->sum.idle_ns),
		.p50_ns = wait_lock_quantile_ns(lock, 0.5),
		.p99_ns = wait_lock_quantile_ns(lock, 0.99),
		.max_ns = lock->sum.max_ns,
		.queue_max = lock->queue_max,
		.hold_ns = lock->hold_ns,
		.holds = lock->holds,
		.vain_count = lock->vain_count,
	};

	if (lock->holder)
		out.holder = name_of(findings, table_find(index->by_tid,
							  tid_key(lock->pid, lock->holder)));
	add_ender(findings, index, lock, &out);
	out.unlocker_count = findings_put_unlockers(findings, lock->unlockers, &out.unlockers);
	return out;
}

static int locks_by_loss(const void *a, const void *b)
{
	const struct report_lock *x = a, *y = b;
	uint64_t x_ns = x->wait_ns - x->idle_ns, y_ns = y->wait_ns - y->idle_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	return strcmp(x->object, y->object);
}

void findings_add_locks(struct findings *findings)
{
	const struct wait_lock *lock;
	struct thread_index index = index_threads(findings);
	struct report_lock *rows;
	size_t cursor = 0, count = 0;

	while (waits_next_lock(findings->input.waits, &cursor))
		count++;
	rows = arena_alloc(findings->arena, count * sizeof(*rows));
	count = cursor = 0;
	while ((lock = waits_next_lock(findings->input.waits, &cursor)))
		if (lock->sum.count)
			rows[count++] = as_report_lock(findings, &index, lock);
	qsort(rows, count, sizeof(*rows), locks_by_loss);
	findings->report.locks = rows;
	findings->report.lock_count = count;
	table_free(index.by_number);
	table_free(index.by_tid);
}
