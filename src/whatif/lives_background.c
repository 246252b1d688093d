/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Servers have threads that look after something every second, or take what devices have finished, until they
 * are killed. What they do goes by the clock, not by how far the run has come: where one of them ends a wait of
 * others, that is as long as it was seen to be.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/memory.h"
#include "whatif/lives_internal.h"

struct grounds {
	struct lives_make *make;
	struct wake *by_waker;       /* the same wakes, in the order of who wakes */
	size_t *all, *by_foreground; /* of each life: its waits; those of them that the foreground ended */
	bool *is_foreground;         /* of each life */
	uint32_t *found;             /* lives in the foreground whose wakes are to be examined */
	size_t found_count;
};

static int by_waker(const void *a, const void *b)
{
	const struct wake *x = a, *y = b;

	return x->waker < y->waker ? -1 : x->waker > y->waker;
}

/* What it waits for behind a wait that a thread ended is a part of that work; behind another delay, it is idle. */
static size_t count_waits(const struct lives *lives, const struct life *life)
{
	bool was_delay = true;
	size_t count = 0;

	for (size_t i = life->first; i < life->end; i++) {
		const struct step *step = &lives->steps[i];

		if (step->kind == STEP_DELAY) {
			count += was_delay;
			was_delay = true;
		} else if (step->kind == STEP_WAIT && step_ns(step)) {
			count++;
			was_delay = false;
		}
	}
	return count;
}

static void add_to_foreground(struct grounds *g, uint32_t life)
{
	g->is_foreground[life] = true;
	g->found[g->found_count++] = life;
}

/* Who had at least half of its waits ended by threads in the foreground is set to work by them. */
static void add_set_to_work(struct grounds *g, uint32_t waker)
{
	size_t low = BOUND(0, g->make->wake_count, i, g->by_waker[i].waker < waker);

	for (; low < g->make->wake_count && g->by_waker[low].waker == waker; low++) {
		const struct step *wait = &g->make->lives->steps[g->by_waker[low].wait];
		uint32_t life = wait->life;

		g->by_foreground[life] += step_ns(wait) > 0;
		if (!g->is_foreground[life] && g->by_foreground[life] && 2 * g->by_foreground[life] >= g->all[life])
			add_to_foreground(g, life);
	}
}

static void untie_background(const struct grounds *g)
{
	struct lives_make *make = g->make;
	size_t kept = 0;

	for (size_t i = 0; i < make->wake_count; i++) {
		struct step *wait = &make->lives->steps[make->wakes[i].wait];
		/* A thread that is born begins when its parent has come so far. */
		bool is_birth = make->wakes[i].wait == make->lives->lives[wait->life].first && !step_ns(wait);

		if (is_birth || g->is_foreground[make->wakes[i].waker])
			make->wakes[kept++] = make->wakes[i];
		else
			wait->kind = STEP_DELAY;
	}
	make->wake_count = kept;
}

static void find_foreground(struct grounds *g)
{
	const struct lives *lives = g->make->lives;

	memcpy(g->by_waker, g->make->wakes, g->make->wake_count * sizeof(*g->by_waker));
	qsort(g->by_waker, g->make->wake_count, sizeof(*g->by_waker), by_waker);
	for (size_t i = 0; i < lives->count; i++)
		g->all[i] = count_waits(lives, &lives->lives[i]);
	for (size_t i = 0; i < lives->count; i++)
		if (lives->lives[i].has_ended)
			add_to_foreground(g, i);
	while (g->found_count)
		add_set_to_work(g, g->found[--g->found_count]);
}

void lives_untie_background(struct lives_make *make)
{
	struct lives *lives = make->lives;
	struct grounds g = { .make = make };

	/* Without an end that something leads to, nothing can be distinguished. */
	if (!lives_have_awaited(lives) || !make->wake_count)
		return;
	g.by_waker = xcalloc(make->wake_count, sizeof(*g.by_waker));
	g.all = xcalloc(lives->count, sizeof(*g.all));
	g.by_foreground = xcalloc(lives->count, sizeof(*g.by_foreground));
	g.is_foreground = xcalloc(lives->count, sizeof(*g.is_foreground));
	g.found = xcalloc(lives->count, sizeof(*g.found));
	find_foreground(&g);
	untie_background(&g);
	free(g.by_waker);
	free(g.all);
	free(g.by_foreground);
	free(g.is_foreground);
	free(g.found);
}
