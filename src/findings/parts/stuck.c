/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/parts/stuck.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "findings/parts/findings_internal.h"
#include "findings/parts/findings_meaning.h"

enum { MUTEX_CONTENDED = 2 };

static uint64_t tid_key(uint32_t pid, uint32_t ns_tid)
{
	return (uint64_t)pid << 32 | ns_tid;
}

static bool is_kind(const struct stuck_wait *stuck, const char *kind)
{
	return stuck->meaning.lock_kind && !strcmp(stuck->meaning.lock_kind, kind);
}

/* A plain wait for a word that says that somebody waits: with a limit of time it is another call. */
static bool is_plain_mutex(const struct stuck_wait *stuck)
{
	const struct wait_facts *facts = &stuck->wait->facts;

	return wait_futex_command(facts) == FUTEX_WAIT && facts->value == MUTEX_CONTENDED &&
	       (is_kind(stuck, "mutex") || is_kind(stuck, "futex"));
}

/* Where glibc keeps the id of who has the lock: see vote_holders() in wait_locks.c. */
static bool may_hold(const struct stuck_wait *stuck, size_t place)
{
	return place ? is_kind(stuck, "rwlock") : is_plain_mutex(stuck);
}

/* Those who wait for a read-write lock do so at two words, side by side. */
static bool may_be_handed(struct findings *findings, const struct wait_lasting *wait, bool is_rwlock, uint64_t end_ns)
{
	enum { WORDS_APART = 4 };
	const struct wait_lock *lock;
	size_t cursor = 0;

	if (!is_rwlock)
		return wait_lock_may_be_handed(wait->lock, wait->recorded_ns, end_ns);
	while ((lock = waits_next_lock(findings->input.waits, &cursor)))
		if (lock->pid == wait->pid && lock->exec_count == wait->exec_count &&
		    lock->object + WORDS_APART - wait->facts.object <= 2 * WORDS_APART &&
		    wait_lock_may_be_handed(lock, wait->recorded_ns, end_ns))
			return true;
	return false;
}

/*
 * The holder was seen to have it while it waited itself; or, unless wake-ups were lost, nobody can
 * have handed the lock over from when it was seen to have it to when it began to wait, after which it
 * did nothing.
 */
static bool is_still_held(struct findings *findings, const struct wait_lasting *witness, bool is_rwlock,
			  const struct stuck_wait *holder)
{
	uint64_t recorded_ns = witness->recorded_ns, begin_ns = holder->wait->begin_ns;

	if (recorded_ns >= begin_ns)
		return recorded_ns <= holder->wait->end_ns;
	return !findings->report.losses.gaps && !may_be_handed(findings, witness, is_rwlock, begin_ns);
}

static struct wait_meaning meaning_of(struct findings *findings, const struct wait_lasting *wait)
{
	if (wait->path)
		return findings_meaning(findings, wait->path);
	return path_names_meaning_of(findings->names, &wait->facts, wait->cause, NULL, 0);
}

/* Rows by what others know them by. */
struct row_index {
	struct table *by_tid;
	struct table *by_lock; /* of those that wait for it, the one that saw its owner last */
};

static uint64_t lock_key(const struct wait_lock *lock)
{
	return hash_u64((uintptr_t)lock);
}

static void index_row(struct row_index *index, struct stuck_wait *row)
{
	const struct wait_lasting *wait = row->wait;
	const struct stuck_wait *witness;

	table_put(index->by_tid, tid_key(wait->pid, wait->ns_tid), row);
	if (!wait->lock || wait->lock->is_others || !wait_has_futex(&wait->facts))
		return;
	witness = table_find(index->by_lock, lock_key(wait->lock));
	if (!witness || witness->wait->recorded_ns <= wait->recorded_ns)
		table_put(index->by_lock, lock_key(wait->lock), row);
}

static void find_holder(struct findings *findings, const struct row_index *index, struct stuck_wait *waiter)
{
	const struct wait_lasting *wait = waiter->wait;
	const struct stuck_wait *witness = wait->lock ? table_find(index->by_lock, lock_key(wait->lock)) : NULL;

	if (!witness)
		return;
	if (witness->wait->recorded_ns > wait->end_ns)
		witness = waiter;
	for (size_t i = 0; i < sizeof(wait->facts.owners) / sizeof(*wait->facts.owners); i++) {
		uint32_t tid = witness->wait->facts.owners[i];
		const struct stuck_wait *holder = tid ? table_find(index->by_tid, tid_key(wait->pid, tid)) : NULL;

		if (!holder)
			continue;
		waiter->meaning = meaning_of(findings, wait);
		if (may_hold(waiter, i) && is_still_held(findings, witness->wait, i > 0, holder)) {
			waiter->holder = holder;
			return;
		}
	}
}

/* Whether there was a moment at which all of a cycle waited. */
static bool is_at_once(const struct stuck_wait *first)
{
	uint64_t begin_ns = first->wait->begin_ns, end_ns = first->wait->end_ns;

	for (const struct stuck_wait *at = first->holder; at != first; at = at->holder) {
		if (at->wait->begin_ns > begin_ns)
			begin_ns = at->wait->begin_ns;
		if (at->wait->end_ns < end_ns)
			end_ns = at->wait->end_ns;
	}
	return begin_ns < end_ns;
}

/* Each wait leads to one other at most: who comes back to where this walk has been is in a cycle. */
static void find_cycles(struct stuck *stuck)
{
	uint32_t *walks = xcalloc(stuck->count + 1, sizeof(*walks));

	for (size_t i = 0; i < stuck->count; i++) {
		const struct stuck_wait *at = &stuck->waits[i];

		while (at && !walks[at - stuck->waits]) {
			walks[at - stuck->waits] = i + 1;
			at = at->holder;
		}
		if (!at || walks[at - stuck->waits] != i + 1 || !is_at_once(at))
			continue;
		stuck->cycle_count++;
		while (!at->cycle) {
			stuck->waits[at - stuck->waits].cycle = stuck->cycle_count;
			at = at->holder;
		}
	}
	free(walks);
}

static void find_what_leads_there(struct stuck *stuck)
{
	for (size_t i = 0; stuck->cycle_count && i < stuck->count; i++) {
		const struct stuck_wait *at = &stuck->waits[i];

		/* A cycle whose threads did not all wait at once is none, and has no end. */
		for (size_t steps = 0; at && !at->cycle && steps < stuck->count; steps++)
			at = at->holder;
		if (at)
			stuck->waits[i].leads_to = at->cycle;
	}
}

struct stuck *findings_find_stuck(struct findings *findings)
{
	struct stuck *stuck = arena_alloc(findings->arena, sizeof(*stuck));
	struct row_index index = { table_new(), table_new() };
	const struct wait_lasting *wait;
	size_t cursor = 0, count = 0;

	while (waits_next_lasting(findings->input.waits, &cursor))
		count++;
	stuck->waits = arena_alloc(findings->arena, count * sizeof(*stuck->waits));
	/* A living thread comes after a dead one of the same id. */
	for (cursor = 0; (wait = waits_next_lasting(findings->input.waits, &cursor));) {
		struct stuck_wait *row = &stuck->waits[stuck->count++];

		row->wait = wait;
		index_row(&index, row);
	}
	for (size_t i = 0; i < stuck->count; i++)
		find_holder(findings, &index, &stuck->waits[i]);
	table_free(index.by_tid);
	table_free(index.by_lock);
	find_cycles(stuck);
	find_what_leads_there(stuck);
	return stuck;
}

uint64_t stuck_endless_ns(const struct stuck *stuck, const struct wait_lock *lock)
{
	uint64_t endless_ns = 0;

	for (size_t i = 0; stuck->cycle_count && i < stuck->count; i++) {
		const struct stuck_wait *row = &stuck->waits[i];

		if (row->leads_to && row->wait->lock == lock)
			endless_ns += row->wait->end_ns - row->wait->begin_ns;
	}
	return endless_ns;
}

const struct stuck_wait *stuck_find(const struct stuck *stuck, const struct wait_lock *lock)
{
	for (size_t i = 0; i < stuck->count; i++) {
		const struct stuck_wait *row = &stuck->waits[i];

		if (row->holder && !row->leads_to && row->wait->lock == lock)
			return row;
	}
	return NULL;
}
