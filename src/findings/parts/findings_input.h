/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report is made of: all borrowed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/criticality.h"
#include "stacks/stacks.h"
#include "symbol/symbol.h"

struct accept_queues;
struct decoders;
struct code_samples;
struct findings;
struct fold_rules;
struct hosts;
struct pause;
struct run_samples;
struct spin_judge;
struct unread_input;
struct wait_choice;

struct findings_input {
	const struct criticality *criticality;
	const struct stacks *stacks;
	const struct waits *waits;             /* NULL: waits are not known */
	const struct cpu_waits *cpu_waits;     /* NULL: who had the CPU is not known */
	const struct block_users *block_users; /* NULL: who had the disks is not known */
	const struct resource_use *resources;  /* NULL: what it shares with others is not known */
	const struct files *files;
	const struct klocks *klocks;               /* NULL: kernel locks are not known */
	const struct go_waits *go_waits;           /* NULL: goroutines are not known */
	const struct accept_queues *accept_queues; /* NULL: they are not known */
	const struct unread_input *unread_input;   /* NULL: it is not known */
	const struct decoders *decoders;           /* NULL: nobody looked for them */
	const struct others *others;
	const struct hosts *hosts; /* NULL: all is of one host */
	struct symbols *symbols;
	const struct fold_rules *fold; /* gives the program's own functions from its runtime's */
	uint32_t nmin;                 /* as the user chose it; 0: the default */
	uint32_t cpu_count;            /* that the machine has; 0: not known */
	uint64_t sample_period_ns;
	size_t path_count_max;             /* how many paths to name */
	bool tells_kernel_apart;           /* paths that differ in the kernel's frames only */
	struct pause *pause;               /* taken while it is made; NULL: none */
	const struct run_samples *samples; /* these two tell what spins; NULL: nothing does */
	struct spin_judge *judge;
	const struct code_samples *code;  /* where threads ran; NULL: paths are those of slices alone */
	bool is_spin_inactive;            /* criticality does not count as active what spins */
	const struct wait_choice *choice; /* which waits what is found of waits is of; NULL: all */
};

/* Adds a sentence for the user; copied. */
void findings_add_note(struct findings *findings, const char *format, ...) __attribute__((format(printf, 2, 3)));
