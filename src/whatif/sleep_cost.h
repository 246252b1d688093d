/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sleeping and waking take of the running time of threads: a thread that finds what it wants does not go to
 * sleep, and nobody has to wake it.
 *
 * Estimated from samples in the kernel right behind a wake-up, or next to a wait: so many of a thread, by the number
 * of its wake-ups or waits, drawn towards the mean of all threads by one sample. Waits for a futex only: without a
 * sleeper their system calls are not made, while a read() or a write() remains.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct code_runs;
struct lives;

struct sleep_costs {
	/* By step. WAIT: what the waiter does to sleep and to wake up; WAKE: what the waker does to wake it. */
	uint64_t *ns;
	uint64_t *cut_ns;  /* of these: what chosen code that is faster does not take */
	uint64_t *left_ns; /* what they take when all that was chosen is shorter */
	bool *is_of;       /* by sample of the code: whether it is one of these */
};

/*
 * Of samples at chosen places, scale is left; is_chosen NULL: none is chosen. factor: how much of these costs there
 * is, by what samples say. The caller ends it with sleep_costs_fini().
 */
void sleep_costs_init(struct sleep_costs *costs, const struct code_runs *runs, const bool *is_chosen, double scale,
		      double factor);
void sleep_costs_fini(struct sleep_costs *costs);

/* Two standard errors of them, as a part of them; 0: there are none. */
double sleep_costs_error(const struct code_runs *runs);

/* lengths_ns: of steps. Where work is shorter than recorded, so are the costs in it. */
void sleep_costs_follow(struct sleep_costs *costs, const struct lives *lives, const uint64_t *lengths_ns);

/*
 * Of what sleeping and waking took for chosen waits (of lives->waits), scale is left, and so is of the time that passed
 * until the thread ran. The work is shorter by the rest.
 */
void sleep_costs_shorten(struct sleep_costs *costs, const struct lives *lives, const bool *is_chosen, double scale,
			 uint64_t *lengths_ns);
