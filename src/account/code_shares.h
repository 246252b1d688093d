/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What samples stand for: the exact CPU time and CMetric of threads, distributed over the code that they ran.
 * Each sample has a weight (code_samples.h) that is unbiased, for a thread is sampled in proportion to its
 * running time; the weights of a thread are scaled to what it has exactly (ratio estimator: Cochran, Sampling
 * Techniques, 1977, section 6). Proof and limits: doc/metrics.md, "CMetric by code".
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "account/code_samples.h"

struct criticality;

struct code_shares;

/*
 * Made of what is known by now; owns what it hands out. criticality and its samples are borrowed. Samples by timers stand
 * for all if those at ticks are in step with threads.
 */
struct code_shares *code_shares_new(const struct criticality *criticality, const struct code_samples *samples);
void code_shares_free(struct code_shares *shares);

/* Which samples these are. */
enum code_source code_shares_source(const struct code_shares *shares);

/* Of all threads, ns: exact; and the part of it in threads that were hardly sampled, or not at all. */
double code_shares_exact_ns(const struct code_shares *shares, enum code_quantity quantity);
double code_shares_unsampled_ns(const struct code_shares *shares, enum code_quantity quantity);

/* How many samples stand for it. */
uint64_t code_shares_count(const struct code_shares *shares);

/* Those of one stratum after another; NULL when index is not below their number. */
const struct code_sample *code_shares_sample(const struct code_shares *shares, size_t index);

/* What a sample stands for, ns. */
double code_shares_ns(const struct code_shares *shares, const struct code_sample *sample, enum code_quantity quantity);

/*
 * The sum of several samples, with its uncertainty. Begins zeroed; samples are added in the order of
 * code_shares_sample(); then code_sum_finish() is called once.
 */
struct code_sum {
	uint64_t count;
	double ns[CODE_QUANTITIES], variance[CODE_QUANTITIES]; /* ns, ns^2 */
	const struct code_stratum *stratum;                    /* of the last ones */
	double weight[CODE_QUANTITIES], squares[CODE_QUANTITIES];
};

void code_sum_add(const struct code_shares *shares, struct code_sum *sum, const struct code_sample *sample);
void code_sum_finish(const struct code_shares *shares, struct code_sum *sum);

/* The standard error, ns. */
double code_sum_error_ns(const struct code_sum *sum, enum code_quantity quantity);
