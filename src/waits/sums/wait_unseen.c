/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/wait_unseen.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "waits/journal.h"

enum { ROWS_MAX = 65536 };

struct wait_unseen {
	struct arena *arena;
	struct table *by_hash;
	struct wait_unseen_row **rows;
	size_t count, capacity;
	struct wait_unseen_row *others[CAUSES]; /* NULL until it is needed */
};

struct wait_unseen *wait_unseen_new(void)
{
	struct wait_unseen *unseen = xcalloc(1, sizeof(*unseen));

	unseen->arena = arena_new();
	unseen->by_hash = table_new();
	return unseen;
}

void wait_unseen_free(struct wait_unseen *unseen)
{
	if (!unseen)
		return;
	free(unseen->rows);
	table_free(unseen->by_hash);
	arena_free(unseen->arena);
	free(unseen);
}

uint64_t wait_space(const struct wait_facts *facts, enum wait_cause cause, uint32_t pid, uint32_t exec_count)
{
	if (wait_has_klock(facts) || wait_is_in_file(facts) ||
	    (wait_has_file(facts) && (facts->object || !wait_is_for_lock(facts, cause))))
		return 0;
	return (uint64_t)exec_count << 32 | pid;
}

static uint64_t hash_of(uint64_t space, enum wait_cause cause, uint64_t object)
{
	return hash_u64(object ^ hash_u64(space ^ hash_u64(cause)));
}

static bool is_row(const struct wait_unseen_row *row, uint64_t space, enum wait_cause cause, uint64_t object)
{
	return row->object == object && row->cause == cause && row->space == space;
}

static struct wait_unseen_row *find(const struct wait_unseen *unseen, uint64_t space, enum wait_cause cause,
				    uint64_t object)
{
	struct wait_unseen_row *row = table_find(unseen->by_hash, hash_of(space, cause, object));

	while (row && !is_row(row, space, cause, object))
		row = row->next;
	return row;
}

static struct wait_unseen_row *make(struct wait_unseen *unseen, enum wait_cause cause)
{
	struct wait_unseen_row *row = arena_alloc(unseen->arena, sizeof(*row));

	ARRAY_GROW(unseen->rows, unseen->count, unseen->capacity, 64);
	row->cause = cause;
	unseen->rows[unseen->count++] = row;
	return row;
}

static struct wait_unseen_row *get(struct wait_unseen *unseen, uint64_t space, enum wait_cause cause, uint64_t object)
{
	struct wait_unseen_row *row = find(unseen, space, cause, object);
	uint64_t hash = hash_of(space, cause, object);

	if (row)
		return row;
	if (unseen->count >= ROWS_MAX) {
		if (!unseen->others[cause]) {
			unseen->others[cause] = make(unseen, cause);
			unseen->others[cause]->is_others = true;
		}
		return unseen->others[cause];
	}
	row = make(unseen, cause);
	row->space = space;
	row->object = object;
	row->next = table_find(unseen->by_hash, hash);
	table_put(unseen->by_hash, hash, row);
	return row;
}

/* The row of what the wait is for. */
static struct wait_unseen_row *row_of(struct wait_unseen *unseen, const struct thread *thread, struct open_wait *wait)
{
	uint64_t space = wait_space(&wait->facts, wait->cause, thread->pid, thread->exec_count);
	struct wait_unseen_row *known = wait->known.unseen;

	if (!known || known->is_others || !is_row(known, space, wait->cause, wait->facts.object))
		wait->known.unseen = known = get(unseen, space, wait->cause, wait->facts.object);
	return known;
}

struct wait_unseen_row *wait_unseen_add(struct wait_unseen *unseen, const struct thread *thread, struct open_wait *wait,
					uint64_t wait_ns, uint64_t idle_ns, struct journal *journal)
{
	struct wait_unseen_row *row = row_of(unseen, thread, wait);
	struct wait_amount amount = wait_amount_of(wait_ns, idle_ns, wait->slice_cmetric_ns);

	if (journal)
		journal_save(journal, row, sizeof(*row));
	wait_amount_add(wait_class(&row->classes, wait_ns), &amount, 1);
	if (wait_ns > row->max_ns)
		row->max_ns = wait_ns;
	return row;
}

const struct wait_unseen_row *wait_unseen_find(const struct wait_unseen *unseen, uint64_t space, enum wait_cause cause,
					       uint64_t object)
{
	return find(unseen, space, cause, object);
}

const struct wait_unseen_row *wait_unseen_next(const struct wait_unseen *unseen, size_t *cursor)
{
	return *cursor < unseen->count ? unseen->rows[(*cursor)++] : NULL;
}
