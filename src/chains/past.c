/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/past.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void past_fini(struct past *past, struct chain_budget *budget)
{
	budget->bytes -= past->part_space * sizeof(*past->parts) + past->sample_space * sizeof(*past->samples);
	blocked_sum_free(past->life.sum, budget);
	free(past->parts);
	free(past->samples);
	*past = (struct past){ 0 };
}

/* Takes so many bytes more, if there are as many. */
static bool take(struct chain_budget *budget, size_t bytes)
{
	if (budget->bytes_max - budget->bytes < bytes)
		return false;
	budget->bytes += bytes;
	return true;
}

/*
 * A ring of space elements, count of which have come, gets twice the space. What it keeps is copied to where the larger
 * one has it. Returns the ring, which *space says the size of.
 */
static void *grow(void *ring, uint32_t *space, uint64_t count, size_t size_bytes, uint32_t first)
{
	uint32_t more = *space ? 2 * *space : first;
	char *larger = xcalloc(more, size_bytes);

	for (uint64_t i = count > *space ? count - *space : 0; i < count; i++)
		memcpy(larger + (i & (more - 1)) * size_bytes, (char *)ring + (i & (*space - 1)) * size_bytes,
		       size_bytes);
	free(ring);
	*space = more;
	return larger;
}

/* Whether there is a place for the next part. */
static bool has_part_place(struct past *past, struct chain_budget *budget)
{
	uint32_t most = past->wants_parts ? PAST_PARTS_MAX : PAST_PARTS;
	uint32_t more = past->part_space ? past->part_space : PAST_PARTS_FIRST;

	if (past->part_count >= past->part_space && past->part_space < most &&
	    take(budget, more * sizeof(*past->parts))) {
		past->parts_from = past_first_part(past);
		past->parts =
			grow(past->parts, &past->part_space, past->part_count, sizeof(*past->parts), PAST_PARTS_FIRST);
		past->wants_parts = false;
	}
	return past->part_space;
}

static bool has_sample_place(struct past *past, struct chain_budget *budget)
{
	uint32_t most = past->wants_samples ? PAST_SAMPLES_MAX : PAST_SAMPLES;
	uint32_t more = past->sample_space ? past->sample_space : PAST_SAMPLES / 4;

	if (past->sample_count >= past->sample_space && past->sample_space < most &&
	    take(budget, more * sizeof(*past->samples))) {
		past->samples_from = past_first_sample(past);
		past->samples = grow(past->samples, &past->sample_space, past->sample_count, sizeof(*past->samples),
				     PAST_SAMPLES / 4);
		past->wants_samples = false;
	}
	return past->sample_space;
}

void past_add(struct past *past, struct chain_budget *budget, uint64_t now_ns, uint8_t phase)
{
	struct past_part *last = past->part_count && past->part_space ? past_part(past, past->part_count - 1) : NULL;

	if (last && last->phase == phase)
		return;
	if (!has_part_place(past, budget))
		return;
	*past_part(past, past->part_count++) = (struct past_part){
		.begin_ns = now_ns,
		.phase = phase,
		.cause = CAUSES,
	};
}

void past_end_wait(struct past *past, enum wait_cause cause, const struct wait_path *path, uint32_t waker)
{
	enum { SINCE_MAX = 3 }; /* what ended it may be recorded when the thread runs again */
	uint64_t first = past_first_part(past);

	for (uint64_t i = past->part_count; i > first && past->part_count - i <= SINCE_MAX; i--) {
		struct past_part *part = past_part(past, i - 1);

		if (part->phase != PHASE_BLOCKED)
			continue;
		part->cause = cause;
		part->path = path;
		part->waker = waker;
		return;
	}
}

void past_add_sample(struct past *past, struct chain_budget *budget, const struct past_sample *sample)
{
	if (has_sample_place(past, budget))
		past->samples[past->sample_count++ & (past->sample_space - 1)] = *sample;
}
