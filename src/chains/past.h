/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread did last, part by part, and where samples met it: for walks back from the ends of waits (blocked_on.h).
 * Bounded: it keeps the last parts and samples, more of them where a walk has needed more.
 *
 * Owns: what threads did of late, and sums of what was done while others waited.
 * Used by: account, findings/parts, findings/blame, findings/code.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chains/blocked_sum.h"
#include "values.h"

enum { PAST_PARTS_FIRST = 8, PAST_PARTS = 64, PAST_PARTS_MAX = 4096, PAST_SAMPLES = 32, PAST_SAMPLES_MAX = 1024 };

/* Lasts until the next part begins. */
struct past_part {
	uint64_t begin_ns;
	uint8_t phase;                /* enum thread_phase */
	uint8_t cause;                /* BLOCKED: enum wait_cause, once it has ended; else CAUSES */
	uint32_t waker;               /* BLOCKED: the number of the traced thread that ended it; 0: none did */
	const struct wait_path *path; /* BLOCKED: where; NULL: not known */
};

struct past_sample {
	uint64_t time_ns;
	const struct code_sample *code; /* borrowed */
	const struct code_sample *kin;  /* that has the same call path, the same of all these; borrowed */
	float weight;
	uint8_t source; /* below CHAIN_SOURCES */
};

/* The caller owns the struct, which begins zeroed; its arrays are rings of a power of two. */
struct past {
	struct past_part *parts;
	struct past_sample *samples;
	uint64_t part_count, sample_count; /* of all that came */
	uint64_t parts_from, samples_from; /* those before were lost before there was more space */
	uint32_t part_space, sample_space;
	bool wants_parts, wants_samples; /* a walk has needed more than there were */
	/* Of a thread with many parts, all from begin_ns to end_ns summed up. */
	struct past_life {
		struct blocked_sum *sum; /* NULL: nothing yet */
		uint64_t begin_ns, end_ns;
		uint64_t parts;                /* their number, with those before begin_ns */
		uint64_t waits, waited_ns;     /* of them, those blocked */
		uint64_t pending_ns, stand_ns; /* see blocked_on_extend_life() */
	} life;
};

void past_fini(struct past *past, struct chain_budget *budget);

/* From now_ns on the thread does this; not earlier than all before. */
void past_add(struct past *past, struct chain_budget *budget, uint64_t now_ns, uint8_t phase);

/* The thread's last wait has ended. */
void past_end_wait(struct past *past, enum wait_cause cause, const struct wait_path *path, uint32_t waker);

/* The thread was met running there; not earlier than all before. */
void past_add_sample(struct past *past, struct chain_budget *budget, const struct past_sample *sample);

/* Whether parts are about to be lost that life does not have yet. */
static inline bool past_wants_life(const struct past *past)
{
	return past->part_count - past->life.parts > PAST_PARTS / 4 * 3;
}

/* Those that are kept have numbers from the first up to the count, count excluded. */
static inline uint64_t past_first_part(const struct past *past)
{
	uint64_t first = past->part_count > past->part_space ? past->part_count - past->part_space : 0;

	return first > past->parts_from ? first : past->parts_from;
}

static inline uint64_t past_first_sample(const struct past *past)
{
	uint64_t first = past->sample_count > past->sample_space ? past->sample_count - past->sample_space : 0;

	return first > past->samples_from ? first : past->samples_from;
}

static inline struct past_part *past_part(const struct past *past, uint64_t number)
{
	return &past->parts[number & (past->part_space - 1)];
}

static inline const struct past_sample *past_sample(const struct past *past, uint64_t number)
{
	return &past->samples[number & (past->sample_space - 1)];
}
