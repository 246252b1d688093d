/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of a thread in a row, both in one loop as far as their addresses tell: how often which general register had the
 * same value in both. Values are compared by 4 bits of a hash (sched.SAMPLE): two that differ seem equal with a
 * chance of 1/16.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

enum { SAMPLE_REGISTERS = 16, SAMPLE_NEAR_BYTES = 256 };

/* Begins zeroed. */
struct sample_pairs {
	uint32_t count, equal[SAMPLE_REGISTERS]; /* in how many of these, by the processor's numbers */
};

/* Counts the pair, if both are near each other in the program. before: all zeros when there is none. */
void sample_pairs_add(struct sample_pairs *pairs, const struct ev_sched_sample *before,
		      const struct ev_sched_sample *sample);

void sample_pairs_merge(struct sample_pairs *pairs, const struct sample_pairs *more);

/* The registers that are equal, as bits; none when those of one sample are not known. */
uint16_t sample_pairs_equal(const struct ev_sched_sample *before, const struct ev_sched_sample *sample);

/* In how many pairs the register of these (bits) that was equal least often was equal. */
uint32_t sample_pairs_least_equal(const struct sample_pairs *pairs, uint16_t registers);
