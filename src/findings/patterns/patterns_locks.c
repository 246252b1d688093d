/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of locks, and of what else threads meet at: convoys, stragglers, herds. */
#include "findings/patterns/draft.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "findings/blame/blame.h"
#include "findings/parts/findings_waits.h"
#include "stacks/fold.h"

/* A lock; or those of one kind without a name that are waited for in one function, taken together. */
struct lock_group {
	struct report_lock lock; /* sums; what is one's alone is the heaviest's */
	uint64_t count;
	struct table *unlockers; /* by key; NULL as long as there is one lock */
	const struct blame_part *blame;
};

static bool is_kind(const struct report_lock *lock, const char *kind)
{
	return !strcmp(lock->kind, kind);
}

static const char *lock_title(struct findings *findings, const struct report_lock *lock, uint64_t count)
{
	const char *kind = words_kind(findings, lock->kind);

	/* Or it would seem that the file is waited for. */
	if (lock->name && (is_kind(lock, "flock") || is_kind(lock, "file-lock")))
		return arena_printf(findings->arena, "the lock of %s", words_object(findings, lock->name));
	if (lock->name)
		return words_object(findings, lock->name);
	if (count > 1)
		return arena_printf(findings->arena, "%llu %s locks in %s", (unsigned long long)count, kind,
				    words_function(findings, lock->where));
	if (lock->where)
		return arena_printf(findings->arena, "a %s in %s", kind, words_function(findings, lock->where));
	return arena_printf(findings->arena, "the %s at %s", kind, lock->address);
}

/* What a thread takes for a while, and others cannot have meanwhile. */
static bool is_held(const struct report_lock *lock)
{
	static const char *const kinds[] = {
		"mutex", "rwlock",    "pi-mutex",       "tbb", "monitor", "once", "futex",
		"flock", "file-lock", "sysv-semaphore", "gil",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (is_kind(lock, kinds[i]))
			return true;
	return false;
}

/* The one that others waited for longest, which need not release it most often. */
static const struct report_waker *worst_unlocker(const struct report_lock *lock)
{
	const struct report_waker *worst = NULL;

	for (size_t i = 0; i < lock->unlocker_count; i++)
		if (!worst || lock->unlockers[i].wait_ns > worst->wait_ns)
			worst = &lock->unlockers[i];
	return worst;
}

static uint64_t count_of_unlocks(const struct report_lock *lock)
{
	uint64_t count = 0;

	for (size_t i = 0; i < lock->unlocker_count; i++)
		count += lock->unlockers[i].waits;
	return count;
}

/* Few of the unlocks end most of the waiting: the others hold it only for a moment. */
static bool has_rare_holder(const struct report_lock *lock, const struct report_waker *worst)
{
	return worst && lock->unlocker_count > 1 && worst->share >= 0.5 && worst->waits * 4 <= count_of_unlocks(lock);
}

static enum pattern held_pattern(const struct report_lock *lock, const struct report_waker *worst)
{
	uint64_t hold_ns = lock->holds ? lock->hold_ns / lock->holds : 0;

	if (has_rare_holder(lock, worst))
		return PATTERN_RARE_SLOW_HOLDER;
	if (lock->queue_max >= 3 && lock->waits >= 100 && hold_ns < 1000000 && lock->wait_ns / lock->waits >= hold_ns)
		return PATTERN_CONVOY;
	return PATTERN_CONTENDED_LOCK;
}

/* Of a lock without a name it is where that is waited for. */
static bool is_of_lock(const struct findings *findings, const struct report_wait *wait, const struct report_lock *lock)
{
	const struct report_frame *frame;

	if (lock->name)
		return wait->object && !strcmp(wait->object, lock->name);
	if (!lock->where)
		return true;
	frame = fold_find_headline(findings->input.fold, wait->frames, wait->frame_count);
	return frame && (!frame->function || !strcmp(frame->function, lock->where));
}

/* The heaviest wait for it; 0: there is none. */
static uint32_t wait_rank_of(const struct findings *findings, enum wait_cause cause, const struct report_lock *lock)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->wait_count; i++)
		if (report->waits[i].cause == cause && is_of_lock(findings, &report->waits[i], lock))
			return i + 1;
	return 0;
}

/* Where stacks are thinned out, so many are estimates that may be more than there were. */
static void say_unlocker(struct findings *findings, struct report_finding *row, const struct report_lock *lock,
			 const struct report_waker *worst)
{
	const char *place = worst ? words_place(findings, worst->frames, worst->frame_count) : NULL;
	uint64_t count = count_of_unlocks(lock);

	if (!place)
		return;
	if (count <= lock->waits)
		draft_say(findings, row, "%.0f %% of the waiting ended when %s released it, %llu of %llu times",
			  100 * worst->share, place, (unsigned long long)worst->waits, (unsigned long long)count);
	else
		draft_say(findings, row, "%.0f %% of the waiting ended when %s released it", 100 * worst->share, place);
}

static void say_lock(struct findings *findings, struct report_finding *row, const struct report_lock *lock,
		     const struct report_waker *worst)
{
	draft_say(findings, row, lock->queue_max > 1 ? "%s; up to %s at once" : "%s",
		  words_lengths(findings, lock->waits, lock->wait_ns, lock->max_ns),
		  words_counted(findings, lock->queue_max, "thread"));
	if (row && row->wait_rank)
		patterns_say_untraced(findings, row, &findings->report.waits[row->wait_rank - 1]);
	if (lock->holder_wait)
		draft_say(findings, row, "still held at the end by %s", lock->holder_wait);
	if (!lock->holds && lock->holder && !lock->holder_wait)
		draft_say(findings, row, "held by thread %s", lock->holder);
	if (lock->holds)
		draft_say(findings, row, "held %s on average while others waited%s%s",
			  words_duration(findings, lock->hold_ns / lock->holds),
			  lock->holder ? ", mostly by thread " : "", lock->holder ? lock->holder : "");
	if (lock->holder_waits_at && lock->holder_waited_ns * 10 >= lock->hold_ns)
		draft_say(findings, row, "the holder itself waited for %.0f %% of that time; longest wait: %s",
			  100 * draft_share(lock->holder_waited_ns, lock->hold_ns), lock->holder_waits_at);
	draft_say_blocked_on(findings, row, lock->blocked_on);
	say_unlocker(findings, row, lock, worst);
}

static void add_held(struct findings *findings, struct draft *draft, const struct lock_group *group, double share)
{
	const struct report_lock *lock = &group->lock;
	const struct report_waker *worst = worst_unlocker(lock);
	const char *where = worst ? words_place(findings, worst->frames, worst->frame_count) : NULL;
	enum pattern pattern = held_pattern(lock, worst);
	const char *name = lock_title(findings, lock, group->count);
	bool is_plural = !lock->name && group->count > 1;
	struct report_finding *row;

	if (pattern == PATTERN_RARE_SLOW_HOLDER)
		row = draft_add(findings, draft, pattern, CAUSE_LOCK, share,
				"threads wait for %s behind a rare but slow holder%s%s", name, where ? ": " : "",
				where ? where : "");
	else if (pattern == PATTERN_CONVOY)
		row = draft_add(findings, draft, pattern, CAUSE_LOCK, share,
				"lock convoy: up to %llu threads at once wait for %s, which %s held briefly but "
				"almost always",
				(unsigned long long)lock->queue_max, name, is_plural ? "are" : "is");
	else
		row = draft_add(findings, draft, pattern, CAUSE_LOCK, share, "%s for %s%s%s",
				lock->queue_max > 1 ? arena_printf(findings->arena, "up to %llu threads wait",
								   (unsigned long long)lock->queue_max)
						    : "a thread waits",
				name, where ? ", held mostly in " : "", where ? where : "");
	if (row) {
		row->wait_rank = wait_rank_of(findings, CAUSE_LOCK, lock);
		row->object = name;
		row->blocker = lock->holder;
		row->blame = group->blame;
	}
	say_lock(findings, row, lock, worst);
}

/* The path by which a thread spends most of its time. */
static const struct report_path *path_of_thread(const struct findings *findings, const char *name)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < findings_paths_read(report); i++)
		for (size_t k = 0; k < report->paths[i].thread_name_count; k++)
			if (!strcmp(report->paths[i].thread_names[k], name))
				return &report->paths[i];
	return NULL;
}

static void add_barrier(struct findings *findings, struct draft *draft, const struct lock_group *group, double share)
{
	const struct report_lock *lock = &group->lock;
	bool has_straggler = lock->waker && lock->waker_share >= 0.6 && lock->waits >= 4;
	const char *name = lock_title(findings, lock, 1), *where = NULL;
	const struct report_path *path;
	struct report_finding *row;

	if (!has_straggler) {
		row = draft_add(findings, draft, PATTERN_UNEVEN_BARRIER, CAUSE_BARRIER, share,
				"threads wait for each other at %s", name);
	} else {
		path = path_of_thread(findings, lock->waker);
		where = path ? words_place(findings, path->frames, path->frame_count) : NULL;
		row = draft_add(findings, draft, PATTERN_BARRIER_STRAGGLER, CAUSE_BARRIER, share,
				"at %s, all threads wait for thread %s, which arrives last", name, lock->waker);
		draft_say(findings, row, "%.0f %% of the waiting ended when thread %s arrived", 100 * lock->waker_share,
			  lock->waker);
		if (where && !lock->blocked_on)
			draft_say(findings, row, "before that it was mostly in %s", where);
	}
	if (row) {
		row->wait_rank = wait_rank_of(findings, CAUSE_BARRIER, lock);
		row->object = name;
		row->blocker = has_straggler ? lock->waker : NULL;
		row->blame = group->blame;
	}
	draft_say(findings, row, "%s", words_lengths(findings, lock->waits, lock->wait_ns, lock->max_ns));
	draft_say_blocked_on(findings, row, lock->blocked_on);
}

/* As many of the waits as there were such wake-ups: who is woken in vain waits twice for one thing. */
static uint64_t spurious_ns(const struct report_lock *lock)
{
	return (lock->wait_ns - lock->idle_ns) * ((double)lock->spurious_wakeups / lock->waits);
}

/* Several are called for what one of them can have. */
static void add_spurious(struct findings *findings, struct draft *draft, const struct report_lock *lock)
{
	struct report_finding *row;

	if (is_held(lock) || is_kind(lock, "join") || is_kind(lock, "idle") || is_kind(lock, "barrier") ||
	    lock->is_waiters || lock->spurious_wakeups < 20 || lock->spurious_wakeups * 3 < lock->waits)
		return;
	row = draft_add(findings, draft, lock->queue_max >= 4 ? PATTERN_THUNDERING_HERD : PATTERN_SPURIOUS_WAKE_UPS,
			CAUSE_CONDITION, draft_lost(findings, spurious_ns(lock)),
			"%llu of %llu wake-ups from %s were spurious: several threads were woken at once, "
			"and waited again",
			(unsigned long long)lock->spurious_wakeups, (unsigned long long)lock->waits,
			lock_title(findings, lock, 1));
	draft_say(findings, row, "up to %s at once", words_counted(findings, lock->queue_max, "thread"));
}

/* What a deadlock costs is reported with it. */
static uint64_t lost_ns(const struct report_lock *lock)
{
	uint64_t recorded_ns = lock->idle_ns + lock->endless_ns;

	return lock->wait_ns > recorded_ns ? lock->wait_ns - recorded_ns : 0;
}

static uint64_t group_key(const struct report_lock *lock, size_t index)
{
	if (lock->name || !lock->where || !is_held(lock))
		return hash_u64(index + 1);
	return hash_string(hash_string(1, lock->kind) + 1, lock->where);
}

static void add_unlockers(struct findings *findings, struct table *unlockers, const struct report_lock *lock)
{
	for (size_t i = 0; i < lock->unlocker_count; i++) {
		const struct report_waker *unlocker = &lock->unlockers[i];
		struct report_waker *row = table_find(unlockers, unlocker->key);

		if (row) {
			row->wait_ns += unlocker->wait_ns;
			row->waits += unlocker->waits;
			continue;
		}
		row = arena_alloc(findings->arena, sizeof(*row));
		*row = *unlocker;
		table_put(unlockers, row->key, row);
	}
}

/* Locks come heaviest first. */
static void add_to_group(struct findings *findings, struct lock_group *group, const struct report_lock *lock)
{
	struct report_lock *sum = &group->lock;

	/* So many that are smaller would change nothing. */
	if (draft_share(lock->wait_ns - lock->idle_ns, findings->report.balance.threads.busy_ns) >=
	    finding_share_min / 30)
		group->blame = blame_join(findings, group->blame, blame_of_lock(findings, lock));
	if (!group->count++) {
		*sum = *lock;
		return;
	}
	if (!group->unlockers) {
		group->unlockers = table_new();
		add_unlockers(findings, group->unlockers, sum);
	}
	add_unlockers(findings, group->unlockers, lock);
	sum->waits += lock->waits;
	sum->wait_ns += lock->wait_ns;
	sum->idle_ns += lock->idle_ns;
	sum->endless_ns += lock->endless_ns;
	sum->hold_ns += lock->hold_ns;
	sum->holds += lock->holds;
	sum->holder_waited_ns += lock->holder_waited_ns;
	if (lock->max_ns > sum->max_ns)
		sum->max_ns = lock->max_ns;
	if (lock->queue_max > sum->queue_max)
		sum->queue_max = lock->queue_max;
	sum->holder = sum->holder_wait = NULL;
}

/* By key, so that equal ones come in the same order in all reports. */
static int unlockers_by_key(const void *a, const void *b)
{
	const struct report_waker *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static void put_unlockers(struct findings *findings, struct lock_group *group)
{
	struct report_waker *rows, *row;
	size_t cursor = 0, count = 0;
	uint64_t lost_ns = 0;

	if (!group->unlockers)
		return;
	rows = arena_alloc(findings->arena, table_count(group->unlockers) * sizeof(*rows));
	while ((row = table_next(group->unlockers, &cursor))) {
		lost_ns += row->wait_ns;
		rows[count++] = *row;
	}
	table_free(group->unlockers);
	for (size_t i = 0; i < count; i++)
		rows[i].share = draft_share(rows[i].wait_ns, lost_ns);
	qsort(rows, count, sizeof(*rows), unlockers_by_key);
	group->lock.unlockers = rows;
	group->lock.unlocker_count = count;
}

/* In the order of their heaviest locks. */
static struct lock_group *group_locks(struct findings *findings, size_t *count)
{
	const struct report *report = &findings->report;
	struct lock_group *groups = arena_alloc(findings->arena, report->lock_count * sizeof(*groups));
	struct table *by_key = table_new();

	*count = 0;
	for (size_t i = 0; i < report->lock_count; i++) {
		uint64_t key = group_key(&report->locks[i], i);
		struct lock_group *group = table_find(by_key, key);

		if (!group) {
			group = &groups[(*count)++];
			table_put(by_key, key, group);
		}
		add_to_group(findings, group, &report->locks[i]);
	}
	table_free(by_key);
	for (size_t i = 0; i < *count; i++)
		put_unlockers(findings, &groups[i]);
	return groups;
}

void patterns_add_locks(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;
	size_t count;
	const struct lock_group *groups = group_locks(findings, &count);

	for (size_t i = 0; i < report->lock_count; i++)
		add_spurious(findings, draft, &report->locks[i]);
	for (size_t i = 0; i < count; i++) {
		const struct report_lock *lock = &groups[i].lock;
		double share = draft_lost(findings, lost_ns(lock));

		if (share < finding_share_min || !lock->waits || lock->is_waiters)
			continue;
		if (is_held(lock))
			add_held(findings, draft, &groups[i], share);
		else if (is_kind(lock, "barrier"))
			add_barrier(findings, draft, &groups[i], share);
	}
}
