/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/sample_pairs.h"

enum { HASH_BITS = 4, HASH_MASK = (1 << HASH_BITS) - 1 };

uint16_t sample_pairs_equal(const struct ev_sched_sample *before, const struct ev_sched_sample *sample)
{
	uint64_t differ = before->registers ^ sample->registers;
	uint16_t equal = 0;

	if (!before->registers || !sample->registers)
		return 0;
	for (size_t i = 0; i < SAMPLE_REGISTERS; i++)
		if (!(differ >> i * HASH_BITS & HASH_MASK))
			equal |= 1 << i;
	return equal;
}

static bool are_near(uint64_t x, uint64_t y)
{
	return x - y + SAMPLE_NEAR_BYTES <= 2 * SAMPLE_NEAR_BYTES;
}

void sample_pairs_add(struct sample_pairs *pairs, const struct ev_sched_sample *before,
		      const struct ev_sched_sample *sample)
{
	uint16_t equal = sample_pairs_equal(before, sample);

	if (!before->registers || !sample->registers || !are_near(before->ip, sample->ip))
		return;
	pairs->count++;
	for (size_t i = 0; i < SAMPLE_REGISTERS; i++)
		pairs->equal[i] += equal >> i & 1;
}

void sample_pairs_merge(struct sample_pairs *pairs, const struct sample_pairs *more)
{
	pairs->count += more->count;
	for (size_t i = 0; i < SAMPLE_REGISTERS; i++)
		pairs->equal[i] += more->equal[i];
}

uint32_t sample_pairs_least_equal(const struct sample_pairs *pairs, uint16_t registers)
{
	uint32_t least = pairs->count;

	for (size_t i = 0; i < SAMPLE_REGISTERS; i++)
		if (registers >> i & 1 && pairs->equal[i] < least)
			least = pairs->equal[i];
	return least;
}
