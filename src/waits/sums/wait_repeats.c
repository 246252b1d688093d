/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/wait_repeats.h"

#include "waits/sums/wait_amounts.h"

/* A condition of glibc's has two words, used by turns. */
static bool is_same_object(const struct wait_repeats *repeats, const struct wait_facts *facts)
{
	enum { WORDS_APART = 4 };

	if (!repeats->object || repeats->syscall != facts->syscall)
		return false;
	if (!wait_has_futex(facts))
		return repeats->object == facts->object;
	return facts->object + WORDS_APART - repeats->object <= 2 * WORDS_APART;
}

/* Whether the thread has hardly done more than to find that it has to wait again. */
static bool is_at_once(const struct wait_repeats *repeats, uint64_t running_ns)
{
	enum { NEXT_TO_NOTHING_NS = 50000, NEXT_TO_NOTHING_PART = 100 };
	uint64_t ran_ns = running_ns - repeats->running_ns;

	return ran_ns <= NEXT_TO_NOTHING_NS || ran_ns <= repeats->last_ns / NEXT_TO_NOTHING_PART;
}

void wait_repeats_begin(struct wait_repeats *repeats, const struct wait_facts *facts, uint64_t running_ns)
{
	if (repeats->begin_ns &&
	    (repeats->has_ended || !is_same_object(repeats, facts) || !is_at_once(repeats, running_ns)))
		*repeats = (struct wait_repeats){ 0 };
}

/* What a stack stands for, and what has none, is added by lengths. */
static bool is_alike_in_length(const struct wait_portion *parts, const struct wait_portion *part)
{
	return (part->place.path && part->place.weight == 1) ||
	       wait_class_number(parts->part_ns) == wait_class_number(part->part_ns);
}

static bool is_at(const struct wait_portion *parts, const struct wait_place *place)
{
	return parts->place.path == place->path && parts->place.unseen == place->unseen &&
	       parts->place.weight == place->weight;
}

/* Parts that are not alike would not be found again where they were added. */
static bool is_alike(const struct wait_portion *parts, const struct wait_portion *part)
{
	return is_at(parts, &part->place) && parts->lock == part->lock && parts->cause == part->cause &&
	       is_alike_in_length(parts, part);
}

/* Where the part is added; NULL: there is no space. */
static struct wait_portion *find(struct wait_repeats *repeats, const struct wait_portion *part)
{
	for (size_t i = 0; i < WAIT_PORTIONS; i++)
		if (!repeats->parts[i].count || is_alike(&repeats->parts[i], part))
			return &repeats->parts[i];
	return NULL;
}

void wait_repeats_add(struct wait_repeats *repeats, const struct wait_repeats *first)
{
	const struct wait_portion *part = &first->parts[0];
	struct wait_portion *parts = repeats->begin_ns ? find(repeats, part) : NULL;

	if (!parts) {
		*repeats = *first;
		return;
	}
	repeats->object = first->object;
	repeats->running_ns = first->running_ns;
	repeats->last_ns = part->part_ns;
	if (!parts->count) {
		*parts = *part;
		return;
	}
	parts->count++;
	parts->wait_ns += part->wait_ns;
	parts->idle_ns += part->idle_ns;
}

uint64_t wait_repeats_wait_ns(const struct wait_repeats *repeats)
{
	uint64_t wait_ns = 0;

	for (size_t i = 0; i < WAIT_PORTIONS; i++)
		wait_ns += repeats->parts[i].wait_ns;
	return wait_ns;
}

uint64_t wait_repeats_idle_ns(const struct wait_repeats *repeats)
{
	uint64_t idle_ns = 0;

	for (size_t i = 0; i < WAIT_PORTIONS; i++)
		idle_ns += repeats->parts[i].idle_ns;
	return idle_ns;
}

void wait_repeats_take_back(struct wait_repeats *repeats, uint64_t begin_ns, const struct wait_place *place,
			    uint64_t idle_ns)
{
	if (!repeats->begin_ns || begin_ns < repeats->begin_ns)
		return;
	for (size_t i = 0; i < WAIT_PORTIONS && idle_ns; i++) {
		struct wait_portion *parts = &repeats->parts[i];
		uint64_t back_ns = idle_ns < parts->idle_ns ? idle_ns : parts->idle_ns;

		if (!parts->count || !is_at(parts, place))
			continue;
		parts->idle_ns -= back_ns;
		idle_ns -= back_ns;
	}
}
