/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs: what a thread does between two waits or wake-ups. Which two these are is the class of a run. Samples say what
 * code it was.
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

/* Whether the sample is of one of these lives, and at a place that is known as a whole. */
bool code_runs_has(const struct code_runs *runs, size_t sample);

/* How many of them there are, and how many of them are at chosen places. */
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
