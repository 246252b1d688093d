/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/holds.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "whatif/lives.h"

/* What a thread has to do with a lock. */
struct user {
	uint64_t got_ns, left_ns; /* when its last wait for it ended, when it last woke another; or 0 */
};

/* Holds from the wait that ended with them, all through which somebody waited. */
struct usual {
	uint64_t ns, count, max_ns;
};

struct holds {
	const struct lives *lives;
	struct table *users, *usual;
	struct arena *arena;
	uint64_t *waited_ns; /* by life: when it was woken last by a thread */
};

static uint64_t lock_of(const struct holds *holds, uint32_t wait)
{
	const struct graph_wait *what = &holds->lives->waits[holds->lives->steps[wait].wait].wait;

	return hash_u64(what->object ^ hash_u64(what->cause + 1));
}

static void *get(const struct holds *holds, struct table *table, uint64_t key, size_t size_bytes)
{
	void *found = table_find(table, key);

	if (!found) {
		found = arena_alloc(holds->arena, size_bytes);
		table_put(table, key, found);
	}
	return found;
}

static struct user *user_of(const struct holds *holds, uint32_t wait, uint32_t life)
{
	return get(holds, holds->users, hash_u64(lock_of(holds, wait) ^ hash_u64(life + 1ull)), sizeof(struct user));
}

static struct usual *usual_of(const struct holds *holds, uint32_t wait)
{
	return get(holds, holds->usual, lock_of(holds, wait), sizeof(struct usual));
}

/* The wait ends: who ended it has left the lock, and the other one has it. */
static void hand_over(const struct holds *holds, uint32_t wait)
{
	const struct step *step = &holds->lives->steps[wait];

	user_of(holds, wait, holds->lives->steps[step->other].life)->left_ns = step->end_ns;
	user_of(holds, wait, step->life)->got_ns = step->end_ns;
	holds->waited_ns[step->life] = step->end_ns;
}

static void learn(const struct holds *holds, uint32_t wait)
{
	const struct step *step = &holds->lives->steps[wait];
	const struct user *waker = user_of(holds, wait, holds->lives->steps[step->other].life);
	struct usual *usual = usual_of(holds, wait);
	uint64_t ns = step->end_ns - waker->got_ns;

	if (waker->got_ns > waker->left_ns && waker->got_ns >= step->begin_ns && waker->got_ns <= step->end_ns) {
		usual->ns += ns;
		usual->count++;
		if (ns > usual->max_ns)
			usual->max_ns = ns;
	}
}

static uint64_t guess_of(const struct usual *usual, enum hold_guess guess)
{
	if (guess == HOLD_AS_LONG)
		return usual->count ? usual->max_ns : UINT64_MAX;
	return usual->count ? usual->ns / usual->count : 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A lock may have been taken at any time since its holder was last seen without it. */
static uint64_t held_since(const struct holds *holds, uint32_t wait, const struct user *waker, enum hold_guess guess)
{
	const struct step *step = &holds->lives->steps[wait];
	uint64_t first_ns = later(holds->lives->begin_ns, later(waker->got_ns, waker->left_ns));
	uint64_t guess_ns = guess_of(usual_of(holds, wait), guess);

	if (first_ns >= step->begin_ns || guess_ns <= step->end_ns - step->begin_ns)
		return step->begin_ns;
	return guess_ns < step->end_ns - first_ns ? step->end_ns - guess_ns : first_ns;
}

/* What comes has been made since the last one came, or since what it is made of came from a thread. */
static uint64_t made_since(const struct holds *holds, uint32_t wait, const struct user *waker, enum hold_guess guess)
{
	const struct step *step = &holds->lives->steps[wait];
	uint64_t since_ns = waker->left_ns;

	if (!since_ns)
		return step->begin_ns;
	if (guess == HOLD_AS_USUAL)
		since_ns = later(since_ns, holds->waited_ns[holds->lives->steps[step->other].life]);
	return since_ns < step->begin_ns ? since_ns : step->begin_ns;
}

static uint64_t since_ns_of(const struct holds *holds, uint32_t wait, enum hold_guess guess)
{
	const struct step *step = &holds->lives->steps[wait];
	const struct user *waker = user_of(holds, wait, holds->lives->steps[step->other].life);

	if (guess == HOLD_AS_SEEN)
		return step->begin_ns;
	switch (holds->lives->waits[step->wait].wait.cause) {
	case CAUSE_JOIN:
	case CAUSE_CHILD:
		return step->begin_ns;
	case CAUSE_LOCK:
	case CAUSE_KERNEL_LOCK:
		return held_since(holds, wait, waker, guess);
	default:
		return made_since(holds, wait, waker, guess);
	}
}

static int by_end(const void *a, const void *b, void *data)
{
	const struct step *steps = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (steps[x].end_ns != steps[y].end_ns)
		return steps[x].end_ns < steps[y].end_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static uint32_t *waits_by_end(const struct lives *lives, size_t *count)
{
	uint32_t *waits = xcalloc(lives->step_count + 1, sizeof(*waits));

	*count = 0;
	for (size_t i = 0; i < lives->step_count; i++)
		if (lives->steps[i].kind == STEP_WAIT && lives->steps[i].wait != STEP_NONE)
			waits[(*count)++] = i;
	qsort_r(waits, *count, sizeof(*waits), by_end, lives->steps);
	return waits;
}

static void begin(struct holds *holds)
{
	table_free(holds->users);
	holds->users = table_new();
	memset(holds->waited_ns, 0, holds->lives->count * sizeof(*holds->waited_ns));
}

uint64_t *holds_since(const struct lives *lives, enum hold_guess guess)
{
	uint64_t *since_ns = xcalloc(lives->step_count + 1, sizeof(*since_ns));
	struct holds holds = {
		.lives = lives,
		.arena = arena_new(),
		.users = table_new(),
		.usual = table_new(),
		.waited_ns = xcalloc(lives->count + 1, sizeof(*holds.waited_ns)),
	};
	size_t count;
	uint32_t *waits = waits_by_end(lives, &count);

	for (size_t i = 0; i < count; i++) {
		learn(&holds, waits[i]);
		hand_over(&holds, waits[i]);
	}
	begin(&holds);
	for (size_t i = 0; i < count; i++) {
		since_ns[waits[i]] = since_ns_of(&holds, waits[i], guess);
		hand_over(&holds, waits[i]);
	}
	free(waits);
	free(holds.waited_ns);
	table_free(holds.users);
	table_free(holds.usual);
	arena_free(holds.arena);
	return since_ns;
}
