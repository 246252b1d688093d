/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where running threads were seen, each time that a CPU was examined, whatever comes of their
 * slices: what share of the running time was spent where. Owns all it hands out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/sample_pairs.h"
#include "events.h"

struct run_samples;
struct thread;

enum { RUN_NAMES_MAX = 4 };

/* With how many active threads a place was seen. */
struct run_level {
	uint32_t active;
	uint64_t count;
	struct run_level *next;
};

/* A place in an address space. */
struct run_place {
	uint32_t pid;
	uint64_t first_ns;      /* with pid: the address space */
	uint64_t ip, kernel_ip; /* as in sched.SAMPLE */
	uint64_t count;
	struct run_level *levels;
	char names[RUN_NAMES_MAX][16]; /* of threads that were there, distinct, as they called themselves */
	size_t name_count;
	struct sample_pairs pairs; /* of threads' samples here, each with the one before it */
};

struct run_samples *run_samples_new(void);
void run_samples_free(struct run_samples *samples);

/* The thread was seen running at now_ns, while so many threads were active. before: its last sample, or zeros. */
void run_samples_add(struct run_samples *samples, const struct thread *thread, uint64_t now_ns,
		     const struct ev_sched_sample *e, const struct ev_sched_sample *before, uint32_t active);

/* All of them, and those with so many active threads; some may have found no place. */
uint64_t run_samples_count(const struct run_samples *samples);
uint64_t run_samples_count_at(const struct run_samples *samples, uint32_t active);

/* By first appearance; NULL when index is not below their number. */
const struct run_place *run_samples_place(const struct run_samples *samples, size_t index);
