/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/lives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "whatif/lives_internal.h"

/* --- Wakers' steps ---------------------------------------------------------------------------- */

static int by_waker(const void *a, const void *b)
{
	const struct wake *x = a, *y = b;

	if (x->waker != y->waker)
		return x->waker < y->waker ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->wait < y->wait ? -1 : x->wait > y->wait;
}

struct tie {
	struct lives *lives;
	struct step *steps; /* the result */
	size_t count;
	uint32_t *places; /* where steps went, by where they were */
};

static void put(struct tie *tie, const struct step *step)
{
	tie->steps[tie->count++] = *step;
}

/* rest: the step that the wake-up is in or before; what of it lies before the wake-up is put. */
static void put_wake(struct tie *tie, struct step *rest, const struct wake *wake)
{
	struct step step = {
		.begin_ns = wake->time_ns,
		.end_ns = wake->time_ns,
		.life = wake->waker,
		.other = wake->wait,
		.wait = STEP_NONE,
		.kind = STEP_WAKE,
	};

	if (rest && rest->begin_ns < wake->time_ns) {
		if (rest->kind == STEP_WAIT) {
			/* A record says that it woke another while it slept itself: before it did. */
			step.begin_ns = rest->begin_ns;
		} else {
			struct step part = *rest;

			part.end_ns = rest->begin_ns = wake->time_ns;
			put(tie, &part);
		}
	}
	put(tie, &step);
}

static void tie_life(struct tie *tie, struct life *life, const struct wake *wakes, size_t count)
{
	size_t at = life->first, end = life->end, wake = 0, first = tie->count;

	for (; at < end; at++) {
		struct step rest = tie->lives->steps[at];

		for (; wake < count && wakes[wake].time_ns < rest.end_ns; wake++)
			put_wake(tie, &rest, &wakes[wake]);
		tie->places[at] = tie->count;
		put(tie, &rest);
	}
	for (; wake < count; wake++)
		put_wake(tie, NULL, &wakes[wake]);
	life->first = first;
	life->end = tie->count;
}

/* Until here a WAKE knows its waiter by where that step was. */
static void join_ends(struct tie *tie)
{
	for (size_t i = 0; i < tie->count; i++) {
		struct step *step = &tie->steps[i];

		if (step->kind != STEP_WAKE)
			continue;
		step->other = tie->places[step->other];
		tie->steps[step->other].other = i;
	}
}

/* Puts the wakers' steps in. */
static void tie_all(struct lives_make *make)
{
	struct lives *lives = make->lives;
	struct tie tie = { .lives = lives };
	size_t wake = 0;

	if (make->wake_count)
		qsort(make->wakes, make->wake_count, sizeof(*make->wakes), by_waker);
	/* Each wake-up is a step, and may make two of one. */
	tie.steps = xcalloc(lives->step_count + 2 * make->wake_count + 1, sizeof(*tie.steps));
	tie.places = xcalloc(lives->step_count + 1, sizeof(*tie.places));
	for (size_t i = 0; i < lives->count; i++) {
		size_t count = 0;

		while (wake + count < make->wake_count && make->wakes[wake + count].waker == i)
			count++;
		tie_life(&tie, &lives->lives[i], count ? make->wakes + wake : NULL, count);
		wake += count;
	}
	join_ends(&tie);
	free(lives->steps);
	free(tie.places);
	lives->steps = tie.steps;
	lives->step_count = tie.count;
}

/* --- What others call ------------------------------------------------------------------------- */

static void add_life(struct lives_make *make, uint32_t number)
{
	struct lives *lives = make->lives;

	ARRAY_GROW(lives->lives, lives->count, lives->capacity, 64);
	lives->lives[lives->count++] = (struct life){ .thread = number };
	table_put(make->by_thread, number, (void *)(uintptr_t)lives->count);
}

/* One after the other, all that they did must have a time that can be represented. */
static bool is_too_long(const struct lives *lives)
{
	uint64_t end_ns = lives->end_ns;

	for (size_t i = 0; i < lives->count; i++) {
		const struct life *life = &lives->lives[i];

		if (life->first < life->end && lives->steps[life->end - 1].end_ns > end_ns)
			end_ns = lives->steps[life->end - 1].end_ns;
	}
	return lives->count && end_ns - lives->begin_ns > INT64_MAX / lives->count;
}

int lives_of(struct states *states, struct threads *threads, const uint32_t *numbers, size_t count, struct lives *out)
{
	struct lives_make make = {
		.lives = out,
		.by_thread = table_new(),
		.by_wait = table_new(),
	};
	int err;

	*out = (struct lives){ 0 };
	for (size_t i = 0; i < count; i++)
		if (!table_find(make.by_thread, numbers[i]))
			add_life(&make, numbers[i]);
	err = lives_take(&make, states, threads);
	if (!err) {
		lives_untie_background(&make);
		tie_all(&make);
		lives_find_end(out);
	}
	for (unsigned int i = 0; i < sizeof(make.cpus) / sizeof(*make.cpus); i++)
		out->cpu_count += __builtin_popcountll(make.cpus[i]);
	if (!err && is_too_long(out))
		err = -E2BIG;
	free(make.wakes);
	table_free(make.by_wait);
	table_free(make.by_thread);
	return err;
}

void lives_fini(struct lives *lives)
{
	free(lives->steps);
	free(lives->lives);
	free(lives->waits);
	*lives = (struct lives){ 0 };
}
