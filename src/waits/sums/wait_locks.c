/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/wait_locks.h"

#include <linux/futex.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "waits/journal.h"
#include "waits/sums/missing_wakeups.h"
#include "waits/sums/wait_unseen.h"
#include "waits/sums/wait_wakers.h"

enum { LOCKS_MAX = 65536 };

struct wait_locks {
	struct arena *arena;
	struct table *by_hash;
	struct wait_lock **locks;
	size_t count, capacity;
	struct wait_lock *others[CAUSES]; /* of all that found no space */
	bool is_full;
};

struct wait_locks *wait_locks_new(void)
{
	struct wait_locks *locks = xcalloc(1, sizeof(*locks));

	locks->arena = arena_new();
	locks->by_hash = table_new();
	return locks;
}

void wait_locks_free(struct wait_locks *locks)
{
	if (!locks)
		return;
	for (size_t i = 0; i < locks->count; i++)
		free(locks->locks[i]->lengths);
	free(locks->locks);
	table_free(locks->by_hash);
	arena_free(locks->arena);
	free(locks);
}

static struct wait_lock *add(struct wait_locks *locks, const struct open_wait *wait)
{
	struct wait_lock *lock = arena_alloc(locks->arena, sizeof(*lock));

	ARRAY_GROW(locks->locks, locks->count, locks->capacity, 64);
	lock->first_ns = wait->begin_ns;
	lock->facts = wait->facts;
	lock->cause = wait->cause;
	locks->locks[locks->count++] = lock;
	return lock;
}

static bool is_same(const struct wait_lock *lock, uint64_t space, const struct open_wait *wait)
{
	return lock->object == wait->facts.object && lock->cause == wait->cause &&
	       ((uint64_t)lock->exec_count << 32 | lock->pid) == space;
}

static struct wait_lock *get_others(struct wait_locks *locks, const struct open_wait *wait)
{
	struct wait_lock **others = &locks->others[wait->cause];

	locks->is_full = true;
	if (!*others) {
		*others = add(locks, wait);
		(*others)->is_others = true;
	}
	return *others;
}

static struct wait_lock *find(struct wait_locks *locks, uint64_t space, const struct open_wait *wait)
{
	uint64_t hash = hash_u64(wait->facts.object ^ hash_u64(space ^ wait->cause));
	struct wait_lock *first = table_find(locks->by_hash, hash), *lock;

	for (lock = first; lock; lock = lock->next)
		if (is_same(lock, space, wait))
			return lock;
	if (locks->is_full || locks->count >= LOCKS_MAX)
		return get_others(locks, wait);
	lock = add(locks, wait);
	lock->object = wait->facts.object;
	lock->pid = (uint32_t)space;
	lock->exec_count = space >> 32;
	lock->next = first;
	table_put(locks->by_hash, hash, lock);
	return lock;
}

static struct wait_lock *get(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait)
{
	uint64_t space = wait_space(&wait->facts, wait->cause, thread->pid, thread->exec_count);
	struct wait_lock *known = wait->known.lock;

	if (!known || known->is_others || !is_same(known, space, wait))
		wait->known.lock = known = find(locks, space, wait);
	return known;
}

/* The one that more than half of the votes are for, if there is one (Boyer and Moore, 1981). */
static void vote(struct wait_vote *vote, uint32_t tid)
{
	if (!tid)
		return;
	if (vote->tid == tid) {
		vote->votes++;
	} else if (vote->votes) {
		vote->votes--;
	} else {
		vote->tid = tid;
		vote->votes = 1;
	}
}

/*
 * Where the holder's id is, if it is anywhere: the kernel knows it of its own locks. Of others it is in the
 * word itself of a mutex with inheritance of priorities; 8 bytes behind that of another one of glibc's; 16 or 12 behind those of a read-write
 * lock. Which it is, its name will tell.
 */
static void vote_holders(struct wait_lock *lock, const struct open_wait *wait)
{
	const struct wait_facts *facts = &wait->facts;

	if (wait_has_klock(facts))
		vote(&lock->holders[0], facts->value);
	if (!wait_has_futex(facts))
		return;
	if (wait_futex_command(facts) == FUTEX_LOCK_PI || wait_futex_command(facts) == FUTEX_LOCK_PI2) {
		vote(&lock->holders[0], facts->value & FUTEX_TID_MASK);
		return;
	}
	for (size_t i = 0; i < sizeof(lock->holders) / sizeof(*lock->holders); i++)
		vote(&lock->holders[i], facts->owners[i]);
}

void wait_locks_found(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait)
{
	vote_holders(get(locks, thread, wait), wait);
}

void wait_locks_begin(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait,
		      bool is_spurious_wake)
{
	struct wait_lock *lock = get(locks, thread, wait);

	lock->vain_count += is_spurious_wake;
	vote_holders(lock, wait);
	if (!lock->busy_since_ns)
		lock->busy_since_ns = wait->begin_ns;
	if (++lock->waiting > lock->queue_max)
		lock->queue_max = lock->waiting;
}

static void add_length(struct wait_lock *lock, uint64_t wait_ns)
{
	if (lock->sum.count == 1)
		return;
	if (!lock->lengths) {
		lock->lengths = xcalloc(LENGTHS, sizeof(*lock->lengths));
		lock->lengths[length_index(lock->first_wait_ns)]++;
	}
	lock->lengths[length_index(wait_ns)]++;
}

void wait_lock_add_lengths(const struct wait_lock *lock, uint32_t *lengths)
{
	if (!lock->lengths && lock->sum.count)
		lengths[length_index(lock->first_wait_ns)]++;
	for (size_t i = 0; lock->lengths && i < LENGTHS; i++)
		lengths[i] += lock->lengths[i];
}

/* The thread that takes the place of another one inherits its figures (Metwally et al., ICDT 2005). */
static void add_ender(struct wait_lock *lock, uint32_t thread, uint64_t wait_ns)
{
	struct wait_ender *least = &lock->enders[0];

	for (size_t i = 0; i < WAIT_ENDERS; i++) {
		struct wait_ender *ender = &lock->enders[i];

		if (ender->thread == thread) {
			least = ender;
			break;
		}
		if (ender->wait_ns < least->wait_ns)
			least = ender;
	}
	least->thread = thread;
	least->wait_ns += wait_ns;
	least->count++;
}

/* Of the time since the lock was busy, what its holder, who ends it, spent in its own last wait. */
static void add_holder_wait(struct wait_lock *lock, const struct open_wait *holder)
{
	uint64_t begin_ns = holder->begin_ns, end_ns = begin_ns + holder->last.wait_ns, waited_ns;

	if (begin_ns < lock->busy_since_ns)
		begin_ns = lock->busy_since_ns;
	if (holder->is_open || end_ns <= begin_ns)
		return;
	waited_ns = end_ns - begin_ns;
	lock->holder_waited_ns += waited_ns;
	if (holder->last.place.path && waited_ns > lock->holder_path_ns) {
		lock->holder_path_ns = waited_ns;
		lock->holder_path = holder->last.place.path;
	}
}

/* By the end of a wait for it a lock changes hands. */
static void add_hold(struct wait_lock *lock, uint64_t now_ns, const struct wait_party *waker)
{
	if (lock->busy_since_ns && now_ns > lock->busy_since_ns) {
		lock->hold_ns += now_ns - lock->busy_since_ns;
		lock->holds++;
		if (waker)
			add_holder_wait(lock, waker->wait);
	}
	lock->busy_since_ns = lock->waiting ? now_ns : 0;
}

/* Whether the waker has woken somebody from this just before, and has not waited since: as far as that tells, in one call. */
static bool note_call(struct wait_lock *lock, const struct wait_end *end)
{
	enum { AT_ONCE_NS = 200000 };
	uint32_t waker = end->waker ? end->waker->thread->number : 0;
	bool is_call = waker && waker == lock->last_waker && end->now_ns - lock->last_end_ns <= AT_ONCE_NS &&
		       end->waker->wait->begin_ns < lock->last_end_ns;

	lock->last_waker = waker;
	lock->last_end_ns = end->now_ns;
	return is_call;
}

/* Any wake-up but one by time may be by who had the lock until then. */
static void note_handed(struct wait_lock *lock, const struct wait_end *end)
{
	enum { APART_NS = 1000000 };
	struct wait_burst *burst = &lock->handed[0];

	if (end->kind == WAKER_TIMER || end->kind == WAKER_NONE)
		return;
	if (!burst->end_ns || end->now_ns - burst->end_ns > APART_NS) {
		lock->handed[1] = *burst;
		burst->begin_ns = end->now_ns;
	}
	burst->end_ns = end->now_ns;
}

static bool is_within(const struct wait_burst *burst, uint64_t begin_ns, uint64_t end_ns)
{
	return burst->end_ns >= begin_ns && burst->begin_ns < end_ns;
}

bool wait_lock_may_be_handed(const struct wait_lock *lock, uint64_t begin_ns, uint64_t end_ns)
{
	/* What was before two bursts is unknown. */
	return is_within(&lock->handed[0], begin_ns, end_ns) || is_within(&lock->handed[1], begin_ns, end_ns) ||
	       lock->handed[1].begin_ns >= end_ns;
}

struct wait_lock *wait_locks_of(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait)
{
	return get(locks, thread, wait);
}

static uint64_t waiter_bit(const struct thread *thread)
{
	enum { BITS = 64 };

	return 1ull << thread->number % BITS;
}

bool wait_lock_may_be_waited_by(const struct wait_lock *lock, const struct thread *thread)
{
	return lock->waiters & waiter_bit(thread);
}

void wait_locks_leave(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait)
{
	struct wait_lock *lock = get(locks, thread, wait);

	if (lock->waiting)
		lock->waiting--;
	if (!lock->waiting)
		lock->busy_since_ns = 0;
}

struct wait_lock *wait_locks_end(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait,
				 uint64_t wait_ns, uint64_t idle_ns, struct wait_path *path, const struct wait_end *end,
				 bool *is_call)
{
	struct wait_lock *lock = get(locks, thread, wait);

	if (lock->waiting)
		lock->waiting--;
	if (!lock->sum.count)
		lock->first_wait_ns = wait_ns;
	lock->waiters |= waiter_bit(thread);
	wait_sum_add(&lock->sum, wait_ns, idle_ns);
	lock->cmetric_ns += wait->slice_cmetric_ns;
	add_length(lock, wait_ns);
	note_handed(lock, end);
	if (path && (!lock->heaviest || path->wait_ns > lock->heaviest->wait_ns))
		lock->heaviest = path;
	if (end->kind == WAKER_THREAD || end->kind == WAKER_EXIT || end->kind == WAKER_PROCESS)
		add_hold(lock, end->now_ns, end->waker);
	if (end->waker)
		add_ender(lock, end->waker->thread->number, wait_ns);
	wait_wakers_add(locks->arena, &lock->unlockers, end, wait_ns);
	missing_wakeups_note_waker(end->open, locks->arena, &lock->unlockers, wait_ns, end->weight);
	*is_call = note_call(lock, end);
	return lock;
}

void wait_lock_move_waker(struct wait_locks *locks, struct wait_lock *lock, const struct wait_end *end, uint64_t count,
			  uint64_t wait_ns, uint64_t cmetric_ns, double weight)
{
	if (end->waker)
		add_ender(lock, end->waker->thread->number, wait_ns);
	wait_wakers_move(locks->arena, &lock->unlockers, end, count, wait_ns, cmetric_ns, weight);
}

struct wait_lock *wait_locks_count_open(struct wait_locks *locks, const struct thread *thread, struct open_wait *wait,
					uint64_t wait_ns, uint64_t idle_ns, struct wait_path *path,
					struct journal *journal)
{
	struct wait_lock *lock = get(locks, thread, wait);

	journal_save(journal, lock, sizeof(*lock));
	wait_sum_add(&lock->sum, wait_ns, idle_ns);
	lock->cmetric_ns += wait->slice_cmetric_ns;
	if (path && (!lock->heaviest || path->wait_ns > lock->heaviest->wait_ns))
		lock->heaviest = path;
	return lock;
}

const struct wait_lock *wait_locks_next(const struct wait_locks *locks, size_t *cursor)
{
	return *cursor < locks->count ? locks->locks[(*cursor)++] : NULL;
}
