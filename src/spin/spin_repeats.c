/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spin/spin_repeats.h"

_Static_assert((int)SPIN_LOOP_BYTES_MAX <= (int)SAMPLE_NEAR_BYTES, "what is in one loop is near");

static bool says_so(const struct spin_loop *loop)
{
	return loop->kind == SPIN_BY_PAUSE || loop->kind == SPIN_BY_YIELD;
}

bool spin_loop_repeats(const struct spin_loop *loop, const struct sample_pairs *pairs)
{
	return says_so(loop) ||
	       (pairs->count >= REPEATS_PAIRS_MIN && 2 * sample_pairs_least_equal(pairs, loop->kept) >= pairs->count);
}

bool spin_loop_holds(const struct spin_loop *loop, const struct ev_sched_sample *before,
		     const struct ev_sched_sample *sample)
{
	if (says_so(loop))
		return true;
	return before->ip >= loop->begin && before->ip < loop->end &&
	       !(loop->kept & ~sample_pairs_equal(before, sample));
}
