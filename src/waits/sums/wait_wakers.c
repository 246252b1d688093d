/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/wait_wakers.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "waits/others.h"

enum { WAKERS_MAX = 64 }; /* of one list; what is beyond goes to the last one */

/* Threads of a pool are one waker, the thread that feeds them another. */
uint64_t wait_name_group(const char *name)
{
	uint64_t hash = 0;

	for (; *name; name++) {
		if (isdigit((unsigned char)*name) && isdigit((unsigned char)name[1]))
			continue;
		hash = hash_u64(hash ^ (isdigit((unsigned char)*name) ? '0' : (unsigned char)*name));
	}
	return hash;
}

static bool is_same(const struct wait_waker *waker, const struct wait_end *end)
{
	const struct thread *thread = end->waker ? end->waker->thread : NULL;

	if (waker->kind != end->kind || waker->stack != end->stack)
		return false;
	if (!thread)
		return !waker->thread && !strcmp(waker->name, end->other ? end->other->name : "");
	return waker->thread && waker->pid == thread->pid && waker->exec_count == thread->exec_count &&
	       (waker->thread == thread || waker->name_group == wait_name_group(thread->name));
}

static struct wait_waker *make(struct arena *arena, const struct wait_end *end)
{
	struct thread *thread = end->waker ? end->waker->thread : NULL;
	struct wait_waker *waker = arena_alloc(arena, sizeof(*waker));

	waker->kind = end->kind;
	waker->thread = thread;
	if (thread) {
		thread->is_kept = true;
		waker->name_group = wait_name_group(thread->name);
		waker->pid = thread->pid;
		waker->exec_count = thread->exec_count;
	} else if (end->other) {
		memcpy(waker->name, end->other->name, sizeof(waker->name));
	}
	waker->first_ns = end->now_ns;
	waker->stack = end->stack;
	return waker;
}

/* The one that end belongs to, taken out of the list, or a new one. */
static struct wait_waker *take(struct arena *arena, struct wait_waker **list, const struct wait_end *end)
{
	struct wait_waker **place = list, *waker;
	size_t count = 0;

	for (; *place; place = &(*place)->next) {
		if (is_same(*place, end) || (++count == WAKERS_MAX && !(*place)->next))
			break;
	}
	waker = *place;
	if (!waker)
		return make(arena, end);
	*place = waker->next;
	waker->are_several |= waker->thread && end->waker && end->waker->thread != waker->thread;
	return waker;
}

void wait_wakers_add(struct arena *arena, struct wait_waker **list, const struct wait_end *end, uint64_t wait_ns)
{
	struct wait_waker *waker;

	if (!end->weight)
		return;
	waker = take(arena, list, end);
	waker->next = *list;
	*list = waker;
	waker->wait_ns += wait_ns * end->weight;
	waker->count += end->weight;
	waker->cmetric_ns += end->cmetric_ns * end->weight;
	if (end->cmetric_ns > waker->cmetric_max_ns)
		waker->cmetric_max_ns = end->cmetric_ns;
}

/* Takes waits of so much weight from what has ended them, of which nothing more is known than its kind. False: it has no row. */
static bool take_back(struct wait_waker **list, enum waker_kind kind, double count, double wait_ns)
{
	enum { ANY_HALF = 1 }; /* of a wait: what is left is rounding */
	struct wait_waker **place = list, *waker;

	while (*place && ((*place)->kind != kind || (*place)->thread || (*place)->name[0]))
		place = &(*place)->next;
	waker = *place;
	if (!waker)
		return false;
	waker->wait_ns -= wait_ns;
	waker->count -= count;
	if (2 * waker->count < ANY_HALF)
		*place = waker->next;
	return true;
}

void wait_wakers_move(struct arena *arena, struct wait_waker **list, const struct wait_end *end, uint64_t count,
		      uint64_t wait_ns, uint64_t cmetric_ns, double weight)
{
	struct wait_waker *waker;

	if (!end->weight || !weight || !take_back(list, WAKER_TIMER, count * weight, wait_ns * weight))
		return;
	waker = take(arena, list, end);
	waker->next = *list;
	*list = waker;
	waker->wait_ns += wait_ns * weight;
	waker->count += count * weight;
	waker->cmetric_ns += cmetric_ns * weight;
	if (cmetric_ns > waker->cmetric_max_ns)
		waker->cmetric_max_ns = cmetric_ns;
}

void wait_wakers_hide(struct arena *arena, struct wait_waker **list, uint64_t wait_ns, double weight)
{
	enum { ANY_HALF = 1 }; /* of a wait: what is left is rounding */
	struct wait_waker **place = list, *lost;
	uint64_t first_ns;

	while (*place && (*place)->kind != WAKER_LOST)
		place = &(*place)->next;
	lost = *place;
	if (!lost) /* one of too many */
		return;
	first_ns = lost->first_ns;
	lost->wait_ns -= wait_ns * weight;
	lost->count -= weight;
	if (2 * lost->count < ANY_HALF)
		*place = lost->next;
	wait_wakers_add(arena, list,
			&(struct wait_end){
				.kind = WAKER_HIDDEN,
				.now_ns = first_ns,
				.weight = weight,
			},
			wait_ns);
}
