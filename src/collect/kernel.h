/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel side: the BPF programs, their rings and their switches. Nothing is pinned, so
 * all of it goes away with this process, however it ends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/ring.h"

struct kernel;

struct kernel_options {
	uint32_t nmin;			/* 0: half of the living threads */
	uint32_t depth;			/* user frames of a stack, 1 to 127 */
	bool kernel_stacks;
	bool threads_only, processes_only;
	bool trace_all;
	uint64_t sample_period_ns;	/* 0: no sampling */
	size_t ring_bytes;		/* a CPU; a power of two, at least a page; 0: default */
};

/* Loads the programs. Says what is missing when it fails. */
int kernel_open(const struct kernel_options *options, struct kernel **out);
void kernel_close(struct kernel *kernel);

/* From here on traced threads leave records; before, the targets may be set. */
int kernel_attach(struct kernel *kernel);

/* No more records come; those in the rings can still be read. */
void kernel_detach(struct kernel *kernel);

/* The process's threads are traced once kernel_list_threads() has seen them. */
int kernel_add_target(struct kernel *kernel, uint32_t pid);

/* The process is traced from its next exec on. */
int kernel_add_command(struct kernel *kernel, uint32_t pid);

/* Makes the kernel tell of all traced threads, and begin to trace those of the targets. */
int kernel_list_threads(struct kernel *kernel);

/* Rings: two for each possible CPU, the scheduler's at 2*cpu, the sampler's after it. */
unsigned int kernel_ring_count(const struct kernel *kernel);
struct ring *kernel_ring(const struct kernel *kernel, unsigned int i);
size_t kernel_ring_bytes(const struct kernel *kernel);

/* Slices that weigh less (ns of CMetric, at most 2^32-1) lose their stack by chance; 0: none. */
void kernel_set_keep_all_above(struct kernel *kernel, uint32_t weight_ns);

struct kernel_counts {
	uint64_t lost, samples_lost;		/* records */
	uint64_t stacks;			/* taken */
	uint64_t threads_alive, threads_untracked;
};

struct kernel_counts kernel_counts(const struct kernel *kernel);

/* What a program has cost so far; all 0 when the kernel does not count. */
struct kernel_program_cost {
	const char *name;
	uint64_t run_ns, runs;
};

size_t kernel_program_costs(const struct kernel *kernel, struct kernel_program_cost *costs,
			    size_t max);

/* Sentences on what this kernel could not do; borrowed. */
const char *kernel_sampling_note(const struct kernel *kernel);
