/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/parts/findings_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/pause.h"
#include "base/table.h"
#include "base/whole.h"
#include "findings/names/klock_words.h"
#include "findings/names/thread_index.h"
#include "findings/parts/stuck.h"
#include "findings/parts/words.h"
#include "klocks/klocks.h"
#include "report/wait_choice.h"
#include "session/klock_kinds.h"
#include "stacks/fold.h"
#include "waits/files.h"
#include "waits/others.h"

/* The function that the stack is named after. */
static const char *place_of(struct findings *findings, const struct wait_path *path)
{
	const struct report_frame *frames, *frame;
	size_t count;

	if (!path)
		return NULL;
	count = path_names_frames(findings->names, path->pid, path->first_ns, path->stack, &frames, NULL);
	frame = fold_find_headline(findings->input.fold, frames, count);
	if (!frame || frame->function)
		return frame ? frame->function : NULL;
	return frame->module
		       ? arena_printf(findings->arena, "%s+0x%llx", frame->module, (unsigned long long)frame->offset)
		       : NULL;
}

static const char *name_of(struct findings *findings, const struct thread *thread)
{
	return thread ? arena_strdup(findings->arena, thread->name) : NULL;
}

/* The words that are one lock to the user: a variable's, or each by itself. */
struct merged_lock {
	const char *name;
	const struct wait_lock *heaviest;
	struct wait_sum sum;
	uint64_t hold_ns, holds, vain_count, endless_ns, holder_waited_ns, holder_path_ns;
	const struct wait_path *holder_path;
	uint32_t queue_max;
	uint32_t *lengths;       /* [LENGTHS], of several locks together; NULL: those of the heaviest, the only one */
	struct table *unlockers; /* see findings_put_unlockers() */
	const struct blocked_source *blocked;
	struct wait_ender ender; /* of all words, the one that ended most */
	uint64_t key;
};

static void merge_lengths(struct findings *findings, struct merged_lock *merged, const struct wait_lock *lock)
{
	if (!merged->heaviest)
		return;
	if (!merged->lengths) {
		merged->lengths = arena_alloc(findings->arena, LENGTHS * sizeof(*merged->lengths));
		wait_lock_add_lengths(merged->heaviest, merged->lengths);
	}
	wait_lock_add_lengths(lock, merged->lengths);
}

static void merge_lock(struct findings *findings, struct merged_lock *merged, const struct wait_lock *lock)
{
	merge_lengths(findings, merged, lock);
	if (!merged->heaviest || lock->sum.wait_ns > merged->heaviest->sum.wait_ns)
		merged->heaviest = lock;
	merged->sum.wait_ns += lock->sum.wait_ns;
	merged->sum.idle_ns += lock->sum.idle_ns;
	merged->sum.count += lock->sum.count;
	if (lock->sum.max_ns > merged->sum.max_ns)
		merged->sum.max_ns = lock->sum.max_ns;
	merged->hold_ns += lock->hold_ns;
	merged->holds += lock->holds;
	merged->holder_waited_ns += lock->holder_waited_ns;
	if (lock->holder_path_ns > merged->holder_path_ns) {
		merged->holder_path_ns = lock->holder_path_ns;
		merged->holder_path = lock->holder_path;
	}
	merged->vain_count += lock->vain_count;
	merged->endless_ns += stuck_endless_ns(findings->stuck, lock);
	if (lock->queue_max > merged->queue_max)
		merged->queue_max = lock->queue_max;
	findings_merge_unlockers(findings, merged->unlockers, lock->unlockers);
	findings_add_blocked_source(findings, &merged->blocked, lock, 1);
	for (size_t i = 0; i < WAIT_ENDERS; i++) {
		if (lock->enders[i].thread && lock->enders[i].thread == merged->ender.thread)
			merged->ender.wait_ns += lock->enders[i].wait_ns;
		else if (lock->enders[i].wait_ns > merged->ender.wait_ns)
			merged->ender = lock->enders[i];
	}
}

/* By what it is part of, or else by the functions that wait for it. */
static const char *klock_name(struct findings *findings, const struct wait_lock *lock)
{
	const char *name = object_name_of_klock(&findings->objects, lock->object);
	const struct wait_path *path = lock->heaviest;
	const struct report_frame *frames;
	size_t count;

	if (name || !path)
		return name;
	count = path_names_frames(findings->names, path->pid, path->first_ns, path->stack, &frames, NULL);
	return klock_words_name(findings->klock_words, frames, count);
}

/* A variable's, or the file's that is locked. */
static const char *lock_name(struct findings *findings, const struct wait_lock *lock)
{
	if (lock->is_others)
		return NULL;
	if (wait_has_klock(&lock->facts))
		return klock_name(findings, lock);
	if (wait_is_in_file(&lock->facts))
		return object_name_of_file(files_find(findings->input.files, lock->object));
	if (wait_has_futex(&lock->facts))
		return object_name_of_lock(&findings->objects, lock->pid, lock->first_ns, lock->object);
	if (wait_has_file(&lock->facts))
		return object_name_of_file(files_find(findings->input.files, lock->object));
	return lock->pid ? object_name_of_ipc(&findings->objects, &lock->facts, lock->object) : NULL;
}

static struct merged_lock *get_merged(struct findings *findings, struct table *by_key, const struct wait_lock *lock)
{
	const char *name = lock_name(findings, lock);
	uint64_t key = (uint64_t)lock->exec_count << 32 | lock->pid;
	struct merged_lock *merged;

	key = name ? hash_string(key, name) : hash_u64(key ^ hash_u64(lock->object)) ^ lock->cause;
	merged = table_find(by_key, key);
	if (!merged) {
		merged = arena_alloc(findings->arena, sizeof(*merged));
		merged->name = name;
		merged->key = key;
		merged->unlockers = table_new();
		table_put(by_key, key, merged);
	}
	return merged;
}

static struct wait_meaning meaning_of(struct findings *findings, const struct wait_lock *lock)
{
	if (lock->heaviest)
		return findings_meaning(findings, lock->heaviest);
	return path_names_meaning(findings->names, lock->pid, lock->first_ns, 0, &lock->facts, lock->cause);
}

static const char *klock_address(struct findings *findings, uint64_t lock)
{
	const struct klock_facts *facts = findings->input.klocks ? klocks_find(findings->input.klocks, lock) : NULL;

	return facts ? arena_printf(findings->arena, "0x%llx", (unsigned long long)facts->address) : "unknown";
}

static const char *object_text(struct findings *findings, const struct wait_lock *lock)
{
	if (lock->is_others)
		return "others";
	if (wait_has_klock(&lock->facts))
		return klock_address(findings, lock->object);
	if (wait_has_futex(&lock->facts))
		return arena_printf(findings->arena, "0x%llx", (unsigned long long)lock->object);
	return arena_printf(findings->arena, "%llu", (unsigned long long)lock->object);
}

/* As the host numbers it. */
static const char *klock_holder_name(struct findings *findings, const struct thread_index *index, uint32_t tid)
{
	const struct thread *thread = table_find(index->by_host_tid, tid);
	const struct other *other = thread ? NULL : others_find(findings->input.others, tid);

	if (thread)
		return name_of(findings, thread);
	return other ? arena_strdup(findings->arena, other->name) : NULL;
}

/* Of the places where such a lock may keep it: one that holds the id of a thread of its process. */
static const char *holder_name(struct findings *findings, const struct thread_index *index,
			       const struct wait_lock *lock, const char *kind)
{
	bool is_rwlock = !strcmp(kind, "rwlock");
	size_t begin = is_rwlock ? 1 : 0, end = is_rwlock ? 3 : 1;

	if (wait_has_klock(&lock->facts))
		return lock->holders[0].tid ? klock_holder_name(findings, index, lock->holders[0].tid) : NULL;
	if (!is_rwlock && strcmp(kind, "mutex") && strcmp(kind, "pi-mutex"))
		return NULL;
	for (size_t i = begin; i < end; i++) {
		const struct thread *thread = thread_index_find(index, lock->pid, lock->holders[i].tid);

		if (thread)
			return name_of(findings, thread);
	}
	return NULL;
}

/* Many locks, of which only the sums are known: from anywhere, held by anybody. */
static void forget_what_differs(struct report_lock *lock, enum wait_cause cause)
{
	lock->kind = wait_cause_name(cause);
	lock->where = lock->holder = lock->waker = NULL;
	lock->holder_wait = lock->holder_waits_at = NULL;
	lock->holder_waited_ns = 0;
	lock->waker_share = 0;
	lock->hold_ns = lock->holds = lock->spurious_wakeups = 0;
}

static const char *kind_of(struct findings *findings, const struct wait_lock *lock, const struct wait_meaning *meaning)
{
	if (wait_has_klock(&lock->facts) && findings->input.klocks)
		return klock_kind_name(klocks_main_kind(findings->input.klocks, lock->object));
	return meaning->lock_kind ? meaning->lock_kind : "futex";
}

static struct report_lock as_report_lock(struct findings *findings, const struct thread_index *index,
					 struct merged_lock *merged)
{
	const struct wait_lock *lock = merged->heaviest;
	struct wait_meaning meaning = meaning_of(findings, lock);
	uint32_t own[LENGTHS] = { 0 }, *lengths = merged->lengths ? merged->lengths : own;
	struct report_lock out = {
		.name = merged->name,
		.address = object_text(findings, lock),
		.kind = kind_of(findings, lock, &meaning),
		.where = place_of(findings, lock->heaviest),
		.is_waiters = meaning.is_made,
		.waits = merged->sum.count,
		.wait_ns = merged->sum.wait_ns,
		.idle_ns = whole(
			findings_idle_of(findings, lock->heaviest, &meaning, merged->sum.idle_ns, merged->sum.wait_ns)),
		.max_ns = merged->sum.max_ns,
		.queue_max = merged->queue_max,
		.hold_ns = merged->hold_ns,
		.holds = merged->holds,
		.spurious_wakeups = merged->vain_count,
		.key = merged->key,
		.endless_ns = merged->endless_ns,
		.holder_wait = words_holder_wait(findings, lock),
		.holder_waited_ns = merged->holder_waited_ns,
		.blocked_sources = merged->blocked,
	};

	pause_take_if_due(findings->input.pause);
	if (!merged->lengths)
		wait_lock_add_lengths(lock, own);
	out.p50_ns = lengths_quantile_ns(lengths, merged->sum.count, merged->sum.max_ns, 0.5);
	out.p99_ns = lengths_quantile_ns(lengths, merged->sum.count, merged->sum.max_ns, 0.99);
	if (merged->holder_path)
		out.holder_waits_at = words_wait_place(findings, merged->holder_path);
	out.holder = holder_name(findings, index, lock, out.kind);
	if (merged->ender.thread && merged->sum.wait_ns) {
		out.waker = name_of(findings, table_find(index->by_number, merged->ender.thread));
		out.waker_share = (double)merged->ender.wait_ns / merged->sum.wait_ns;
	}
	out.unlocker_count = findings_put_unlockers(findings, merged->unlockers, &merged->sum, &out.unlockers);
	if (lock->is_others)
		forget_what_differs(&out, lock->cause);
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
	return strcmp(x->address, y->address);
}

/* A lock without a name is asked for by its address. */
static bool is_chosen(struct findings *findings, const struct wait_lock *lock)
{
	const char *name;

	if (!wait_choice_is_set(findings->choice))
		return true;
	name = lock_name(findings, lock);
	return wait_choice_has(findings->choice, meaning_of(findings, lock).cause,
			       name || lock->is_others ? name : object_text(findings, lock));
}

void findings_add_locks(struct findings *findings)
{
	struct thread_index index = thread_index_new(findings->input.criticality);
	struct table *by_key = table_new();
	const struct wait_lock *lock;
	struct merged_lock *merged;
	struct report_lock *rows;
	size_t cursor = 0, count = 0;

	while ((lock = waits_next_lock(findings->input.waits, &cursor)))
		if (lock->sum.count && is_chosen(findings, lock))
			merge_lock(findings, get_merged(findings, by_key, lock), lock);
	rows = arena_alloc(findings->arena, table_count(by_key) * sizeof(*rows));
	for (cursor = 0; (merged = table_next(by_key, &cursor));)
		rows[count++] = as_report_lock(findings, &index, merged);
	qsort(rows, count, sizeof(*rows), locks_by_loss);
	for (size_t i = 0; i < count && i < FINDINGS_BLOCKED_MAX; i++)
		rows[i].blocked_on = findings_blocked_on(findings, rows[i].blocked_sources, rows[i].wait_ns);
	findings->report.locks = rows;
	findings->report.lock_count = count;
	table_free(by_key);
	thread_index_free(&index);
}
