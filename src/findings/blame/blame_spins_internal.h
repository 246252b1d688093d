/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files share that charge spinning. All lives in the arena of the findings, but for tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "findings/blame/blame_spins.h"
#include "waits/sums/thread_set.h"

struct blame_detail;
struct blame_root;
struct code_sample;
struct findings;
struct moment_wait;
struct report_frame;
struct table;

/* What is known of code that samples met. */
struct met_code {
	bool spins, waits; /* waits: it spins, or is somewhere in a call that does */
	const struct report_frame *frames;
	size_t frame_count;
	struct spin_group *group; /* spins */
	struct blame_root *root;  /* else */
	struct blame_detail *detail;
	const struct code_sample *sample;
	double weight; /* of moments at which it was sampled */
};

/* Moments of one thread, or of one cause. */
struct part_sum {
	uint64_t key; /* of a cause */
	uint32_t thread;
	struct blame_root *root;
	struct blame_detail *detail;
	double weight;
};

struct spin_group {
	struct blame_spin row;
	double weight, met,
		alone; /* of moments; at which somebody did something else; at which nobody else was active */
	struct thread_set victims, members; /* threads that spun, and more than once */
	struct table *causes, *threads;     /* struct part_sum */
	struct spin_group *next;
};

struct spins {
	struct findings *findings;
	struct table *codes;     /* struct met_code by code_sample */
	struct table *groups;    /* struct spin_group by key */
	struct table *elsewhere; /* struct part_sum by cause: where samples met threads that did not spin */
	struct spin_group *first;
	double spun, worked; /* weights of moments */
};

/* spin_codes.c: what is known of it, looked up if need be. */
struct met_code *spins_code(struct spins *spins, const struct code_sample *sample);

/* spin_late.c: whether the thread spins there at times; one sample alone does not say that. */
bool spin_group_has(const struct spin_group *group, uint32_t thread);

/* spin_late.c: a wait for something that is no other thread's doing, and that is not for want of work. */
bool spins_holds_up(void *data, const struct moment_wait *wait);

/* spin_late.c: what such a wait was for. */
struct blame_root *spins_root_of_wait(struct findings *findings, const struct moment_wait *met,
				      struct blame_detail **detail);

/* spin_late.c: of struct part_sum; NULL: there is none. */
const struct part_sum *spin_group_heaviest(const struct table *table);

/* spin_late.c: the standard error of a share of so many moments. */
double spins_error(double share, double count);

/* spin_late.c: whether one thread, or one cause, is late far more often than others. */
bool spin_group_stands_out(struct spins *spins, const struct spin_group *group);
