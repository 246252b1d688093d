/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What doc/design.md, section 3, says of active threads and critical slices, by brute force: all
 * changes are kept, and each question goes through all of them. And which stacks of waits are
 * kept. Knows nothing of the BPF programs, which are measured against it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned __int128 model_integral;

#define MODEL_CERTAIN (1ull << 32) /* a probability, times 2^32 */

struct model_change {
	uint64_t time_ns;
	int active;
};

struct model {
	struct model_change *changes; /* in time order; owned */
	size_t count, capacity;
	int64_t active, alive;
	uint32_t nmin; /* the option; 0: half of the living threads */
};

void model_init(struct model *model, uint32_t nmin);
void model_fini(struct model *model);

/* The numbers of active and of living threads change. Times never go back. */
void model_change(struct model *model, uint64_t time_ns, int active, int alive);

/* Thread-nanoseconds of activity in [begin, end). */
model_integral model_active_between(const struct model *model, uint64_t begin_ns, uint64_t end_ns);

/* Twice N_min with this many alive, for it may end in a half. */
uint64_t model_nmin_doubled(const struct model *model, int64_t alive);

/* Whether a slice is critical: the mean of n over it is at most N_min, all living counted. */
bool model_is_critical(const struct model *model, uint64_t begin_ns, uint64_t end_ns);

/* What a wait weighs for the governor: those of all threads no more than the wall time. */
uint64_t model_wait_weight(const struct model *model, uint64_t wait_ns);

/* With what probability a stack is kept that weighs as much; certain without a threshold. */
uint64_t model_keep(uint64_t weight_ns, uint64_t threshold_ns);

/* The mean length of a thread's waits after one more; the later ones count more. */
uint64_t model_wait_mean(uint64_t mean_ns, uint64_t wait_ns);
