/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/wait_lasting.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { KILLED_MAX = 1024 };

struct wait_lastings {
	struct wait_lasting *rows, *killed;
	size_t count, capacity, killed_count;
};

struct wait_lastings *wait_lastings_new(void)
{
	return xcalloc(1, sizeof(struct wait_lastings));
}

void wait_lastings_free(struct wait_lastings *lastings)
{
	if (!lastings)
		return;
	free(lastings->rows);
	free(lastings->killed);
	free(lastings);
}

static struct wait_lasting as_lasting(const struct thread *thread, const struct open_wait *wait, uint64_t end_ns,
				      const struct wait_path *path, const struct wait_lock *lock)
{
	struct wait_lasting lasting = {
		.pid = thread->pid,
		.exec_count = thread->exec_count,
		.ns_tid = thread->ns_tid,
		.facts = wait->facts,
		.cause = wait->cause,
		.is_found = wait->is_found,
		.begin_ns = wait->begin_ns,
		.recorded_ns = wait->recorded_ns,
		.end_ns = end_ns,
		.path = path,
		.lock = lock,
	};

	memcpy(lasting.name, thread->name, sizeof(lasting.name));
	return lasting;
}

void wait_lastings_add(struct wait_lastings *lastings, const struct thread *thread, const struct open_wait *wait,
		       uint64_t end_ns, const struct wait_path *path, const struct wait_lock *lock)
{
	ARRAY_GROW(lastings->rows, lastings->count, lastings->capacity, 64);
	lastings->rows[lastings->count++] = as_lasting(thread, wait, end_ns, path, lock);
}

void wait_lastings_clear(struct wait_lastings *lastings)
{
	lastings->count = 0;
}

static bool has_owner(const struct wait_facts *facts)
{
	return facts->owners[0] || facts->owners[1] || facts->owners[2];
}

void wait_lastings_add_killed(struct wait_lastings *lastings, const struct thread *thread, const struct open_wait *wait)
{
	struct wait_lasting *row;

	if (!wait->last.lock || !has_owner(&wait->facts))
		return;
	if (!lastings->killed)
		lastings->killed = xcalloc(KILLED_MAX, sizeof(*lastings->killed));
	row = &lastings->killed[lastings->killed_count++ % KILLED_MAX];
	*row = as_lasting(thread, wait, wait->begin_ns + wait->last.wait_ns, wait->last.place.path, wait->last.lock);
	row->is_killed = true;
}

const struct wait_lasting *wait_lastings_next(const struct wait_lastings *lastings, size_t *cursor)
{
	size_t killed = lastings->killed_count < KILLED_MAX ? lastings->killed_count : KILLED_MAX;
	size_t i = (*cursor)++;

	if (i < killed)
		return &lastings->killed[i];
	return i - killed < lastings->count ? &lastings->rows[i - killed] : NULL;
}
