/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of each thread's work was some code, by samples, and what the work is when that code is faster.
 *
 * A run is what a thread does between two waits or wake-ups; its place among these is its class. A run with
 * samples has the share of chosen ones among them, drawn towards that of its class as if that were RUN_SAMPLES
 * more; a class towards its thread, and a thread towards all, by one sample each: a mean with a prior, as of a
 * beta distribution. So a run without a sample has the share of the other runs of its class.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lives;
struct run_code;

/* Which samples are of which run. */
struct code_runs {
	const struct lives *lives;
	const struct run_code *code;
	struct code_run {
		size_t first, end; /* its steps; end is the first one that is not */
		uint32_t life, class;
	} * runs;
	size_t count, capacity, class_count;
	uint32_t *run_of; /* of each sample; UINT32_MAX: of none */
};

/* Both must live as long. The caller ends it with code_runs_fini(). */
void code_runs_init(struct code_runs *runs, const struct lives *lives, const struct run_code *code);
void code_runs_fini(struct code_runs *runs);

/* How many samples of these lives there are, and how many of them are at chosen places. */
struct code_count {
	uint64_t chosen, all;
};

struct code_count code_runs_count(const struct code_runs *runs, const bool *is_chosen);

/* Of each place, its samples of these lives. The caller frees the array. */
uint64_t *code_runs_place_counts(const struct code_runs *runs);

/* Running time that a sample stands for. */
double code_runs_ns_a_sample(const struct code_runs *runs);

/* Two standard errors of the share of chosen samples, by that share: 0.1 is 10 % of it. */
double code_count_error(const struct code_count *count);

/*
 * Shortens steps by what of them was at chosen places (of code->places), of which scale is left. weight: how much
 * there was of it, by what samples say.
 */
void code_scale(const struct code_runs *runs, const bool *is_chosen, double scale, double weight, uint64_t *lengths_ns);
