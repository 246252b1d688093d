/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a loop that would wait (spin_loop.h) is gone round again and again. A pause, or giving the CPU away, is
 * done between turns only, so the code says it. Of other loops samples have to show it: two of a thread in a
 * row in the loop, and the registers that no turn changes have the same values. Who left the loop meanwhile and came
 * back, as for the next element of an array, has other ones.
 *
 * A loop repeats when each of these registers was equal in half of at least REPEATS_PAIRS_MIN pairs. Where one that
 * tells visits apart differs in all of them, that happens by chance, of the hash, with a probability of 1/1000; where two do,
 * of 1/1000000. A loop that is entered again and again with all of them equal is mistaken for one that repeats. Waits
 * that are over before a second sample, in loops without a pause, are not found.
 */
#pragma once

#include <stdbool.h>

#include "account/sample_pairs.h"
#include "spin/spin_loop.h"

enum { REPEATS_PAIRS_MIN = 8 };

/* pairs: of samples in the loop. */
bool spin_loop_repeats(const struct spin_loop *loop, const struct sample_pairs *pairs);

/* The same of one pair, the second sample of which is in the loop. */
bool spin_loop_holds(const struct spin_loop *loop, const struct ev_sched_sample *before,
		     const struct ev_sched_sample *sample);
