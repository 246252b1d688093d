/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/shorten.h"

#include <stdlib.h>

#include "base/bound.h"
#include "base/memory.h"
#include "whatif/lives.h"

enum { DEPTH_MAX = 64 };

/* A part of a thread's time in which what it does becomes shorter. */
struct part {
	uint64_t begin_ns, end_ns;
	uint32_t life;
};

struct marks {
	const struct lives *lives;
	struct part *parts;
	size_t count, capacity;
	struct seen {
		uint64_t begin_ns, end_ns;
	} * seen;                  /* by life: what was looked through last, and is marked */
	uint32_t chain[DEPTH_MAX]; /* lives that wait for each other */
	unsigned int depth;
};

static int by_life(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->life != y->life)
		return x->life < y->life ? -1 : 1;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* Parts that overlap or touch become one. */
static void join_parts(struct marks *marks)
{
	size_t count = 0;

	if (marks->count)
		qsort(marks->parts, marks->count, sizeof(*marks->parts), by_life);
	for (size_t i = 0; i < marks->count; i++) {
		struct part *last = count ? &marks->parts[count - 1] : NULL, *part = &marks->parts[i];

		if (!last || last->life != part->life || part->begin_ns > last->end_ns)
			marks->parts[count++] = *part;
		else if (part->end_ns > last->end_ns)
			last->end_ns = part->end_ns;
	}
	marks->count = count;
}

/* Threads that wait for the same have the same parts. */
static void make_space(struct marks *marks)
{
	join_parts(marks);
	if (marks->count < marks->capacity / 2)
		return;
	marks->capacity = marks->capacity ? 2 * marks->capacity : 1024;
	marks->parts = xrealloc(marks->parts, marks->capacity, sizeof(*marks->parts));
}

static void add_part(struct marks *marks, uint32_t life, uint64_t begin_ns, uint64_t end_ns)
{
	struct part *last = marks->count ? &marks->parts[marks->count - 1] : NULL;

	if (last && last->life == life && last->end_ns == begin_ns) {
		last->end_ns = end_ns;
		return;
	}
	if (marks->count == marks->capacity)
		make_space(marks);
	marks->parts[marks->count++] = (struct part){ begin_ns, end_ns, life };
}

static size_t find_step(const struct lives *lives, uint32_t life, uint64_t time_ns)
{
	return BOUND(lives->lives[life].first, lives->lives[life].end, i, lives->steps[i].end_ns <= time_ns);
}

/* What takes time because of what the thread does, or waits for. */
static bool can_shorten(const struct step *step)
{
	return step->kind == STEP_WORK || step->kind == STEP_SLOWED || step->kind == STEP_DELAY;
}

static bool is_in_chain(const struct marks *marks, uint32_t life)
{
	for (unsigned int i = 0; i < marks->depth; i++)
		if (marks->chain[i] == life)
			return true;
	return false;
}

static void mark(struct marks *marks, uint32_t life, uint64_t begin_ns, uint64_t end_ns);

static void mark_steps(struct marks *marks, uint32_t life, uint64_t begin_ns, uint64_t end_ns)
{
	const struct lives *lives = marks->lives;

	for (size_t i = find_step(lives, life, begin_ns); i < lives->lives[life].end; i++) {
		const struct step *step = &lives->steps[i];
		uint64_t from_ns = step->begin_ns > begin_ns ? step->begin_ns : begin_ns;
		uint64_t to_ns = step->end_ns < end_ns ? step->end_ns : end_ns;

		if (step->begin_ns >= end_ns)
			break;
		if (from_ns >= to_ns)
			continue;
		if (can_shorten(step))
			add_part(marks, life, from_ns, to_ns);
		else if (step->kind == STEP_WAIT)
			mark(marks, lives->steps[step->other].life, from_ns, to_ns);
	}
}

/* What was looked through before is marked already. */
static void mark(struct marks *marks, uint32_t life, uint64_t begin_ns, uint64_t end_ns)
{
	struct seen *seen = &marks->seen[life], before = *seen;

	if (is_in_chain(marks, life) || marks->depth == DEPTH_MAX)
		return;
	if (begin_ns > before.end_ns || end_ns < before.begin_ns)
		before = *seen = (struct seen){ begin_ns, begin_ns };
	marks->chain[marks->depth++] = life;
	if (begin_ns < before.begin_ns)
		seen->begin_ns = begin_ns;
	if (end_ns > before.end_ns)
		seen->end_ns = end_ns;
	if (begin_ns < before.begin_ns)
		mark_steps(marks, life, begin_ns, before.begin_ns);
	if (end_ns > before.end_ns)
		mark_steps(marks, life, before.end_ns, end_ns);
	marks->depth--;
}

/* --- The waits, and what they lead to ------------------------------------------------------------ */

static void mark_wait(struct marks *marks, uint32_t at, uint64_t since_ns)
{
	const struct step *step = &marks->lives->steps[at];

	/* The waiter is in the chain: what it did itself, nobody waited for. */
	marks->chain[marks->depth++] = step->life;
	mark(marks, marks->lives->steps[step->other].life, since_ns, step->end_ns);
	marks->depth--;
}

static void mark_waits(struct marks *marks, const struct shortening *how)
{
	const struct lives *lives = marks->lives;

	for (size_t i = 0; i < lives->step_count; i++) {
		const struct step *step = &lives->steps[i];

		if (step->wait == STEP_NONE || !how->is_chosen[step->wait])
			continue;
		if (step->kind == STEP_WAIT)
			mark_wait(marks, i, how->since_ns[i]);
		else
			add_part(marks, step->life, step->begin_ns, step->end_ns);
	}
}

static void shorten_part(const struct lives *lives, const struct part *part, double scale, uint64_t *lengths_ns)
{
	for (size_t i = find_step(lives, part->life, part->begin_ns); i < lives->lives[part->life].end; i++) {
		const struct step *step = &lives->steps[i];
		uint64_t from_ns = step->begin_ns > part->begin_ns ? step->begin_ns : part->begin_ns;
		uint64_t to_ns = step->end_ns < part->end_ns ? step->end_ns : part->end_ns;

		if (step->begin_ns >= part->end_ns)
			break;
		if (from_ns < to_ns && can_shorten(step)) {
			uint64_t cut_ns = (to_ns - from_ns) * (1 - scale);

			lengths_ns[i] -= cut_ns < lengths_ns[i] ? cut_ns : lengths_ns[i];
		}
	}
}

void shorten(const struct lives *lives, const struct shortening *how, uint64_t *lengths_ns)
{
	struct marks marks = { .lives = lives, .seen = xcalloc(lives->count + 1, sizeof(*marks.seen)) };

	for (size_t i = 0; i < lives->step_count; i++)
		lengths_ns[i] = step_ns(&lives->steps[i]);
	mark_waits(&marks, how);
	join_parts(&marks);
	for (size_t i = 0; i < marks.count; i++)
		shorten_part(lives, &marks.parts[i], how->scale, lengths_ns);
	free(marks.parts);
	free(marks.seen);
}
