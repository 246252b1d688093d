/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of each thread's work was some code, by samples, and what the work is when that code is faster.
 *
 * A run with samples has the share of chosen ones among them, drawn towards that of its class as if that were
 * RUN_SAMPLES more; a class towards its thread, and a thread towards all, by one sample each: a mean with a prior, as
 * of a beta distribution. So a run without a sample has the share of the other runs of its class.
 *
 * What a run begins with to wake others, or to wake up, is a part of its own: the interrupt of a sample lengthens a
 * wake-up, and others wait for what the thread has meanwhile, so that samples in wake-ups are in other runs than wake-ups.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct code_runs;
struct sleep_costs;

/*
 * Shortens steps by what of them was at chosen places (of code->places), of which scale is left. weight: how much
 * there was of it, by what samples say. costs: of the same places and scale.
 */
void code_scale(const struct code_runs *runs, const bool *is_chosen, double scale, double weight,
		const struct sleep_costs *costs, uint64_t *lengths_ns);
