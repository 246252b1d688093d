/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/measures/thread_strip.h"

#include <stddef.h>

#include "values.h"

_Static_assert(STRIP_PARTS % 2 == 0, "two parts become one");

static void add_part(struct strip_part *into, const struct strip_part *part)
{
	into->running_ns += part->running_ns;
	into->runnable_ns += part->runnable_ns;
	into->blocked_ns += part->blocked_ns;
}

static void halve(struct thread_strip *strip)
{
	for (unsigned int i = 0; i < STRIP_PARTS / 2; i++) {
		struct strip_part part = strip->parts[2 * i];

		add_part(&part, &strip->parts[2 * i + 1]);
		strip->parts[i] = part;
	}
	for (unsigned int i = STRIP_PARTS / 2; i < STRIP_PARTS; i++)
		strip->parts[i] = (struct strip_part){ 0 };
	strip->shift++;
}

void thread_strip_widen(struct thread_strip *strip, unsigned int shift)
{
	while (strip->shift < shift)
		halve(strip);
}

unsigned int thread_strip_shift_for(uint64_t end_ns)
{
	unsigned int shift = 0;

	while (end_ns >> shift >= STRIP_PARTS)
		shift++;
	return shift;
}

static uint64_t *figure_of(struct strip_part *part, uint8_t phase)
{
	switch (phase) {
	case PHASE_RUNNING:
		return &part->running_ns;
	case PHASE_RUNNABLE:
		return &part->runnable_ns;
	case PHASE_BLOCKED:
		return &part->blocked_ns;
	}
	return NULL;
}

void thread_strip_add(struct thread_strip *strip, uint8_t phase, uint64_t from_ns, uint64_t to_ns)
{
	if (to_ns >> strip->shift >= STRIP_PARTS)
		thread_strip_widen(strip, thread_strip_shift_for(to_ns));
	while (from_ns < to_ns) {
		uint64_t width_ns = 1ull << strip->shift;
		uint64_t left_ns = width_ns - (from_ns & (width_ns - 1));
		uint64_t part_ns = to_ns - from_ns < left_ns ? to_ns - from_ns : left_ns;
		uint64_t *figure = figure_of(&strip->parts[from_ns >> strip->shift], phase);

		if (figure)
			*figure += part_ns;
		from_ns += part_ns;
	}
}

void thread_strip_merge(struct thread_strip *strip, const struct thread_strip *other)
{
	struct thread_strip copy = *other;

	thread_strip_widen(strip, copy.shift);
	thread_strip_widen(&copy, strip->shift);
	for (unsigned int i = 0; i < STRIP_PARTS; i++)
		add_part(&strip->parts[i], &copy.parts[i]);
}
