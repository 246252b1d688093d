/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where threads ran, by samples: what says how much of their work was which code. Owns the samples and the
 * distinct places that they are of.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ev_sched_sample;
struct graph_labels;
struct report_frame;

/* Where a thread was seen; its address space at that time gives addresses their meaning. */
struct run_place {
	uint64_t stack, ip, kernel_ip;     /* as in sched.SAMPLE */
	uint64_t time_ns;                  /* when first */
	uint32_t thread, pid;              /* whose it was, first */
	uint64_t count;                    /* of its samples */
	const struct report_frame *frames; /* innermost first, as long as the labels that named it */
	size_t frame_count;
	bool is_named; /* whether its frames were looked up */
	/*
	 * Its interpreter was not known yet: frames of Python or Ruby are missing. Code with such frames and code without them
	 * has the same part of these samples as of others.
	 */
	bool is_partial;
};

struct run_sample_at {
	uint64_t time_ns;
	uint32_t thread, place;
};

struct run_code {
	struct run_place *places;
	size_t place_count, place_capacity;
	struct run_sample_at *samples; /* by thread and time, once all are there */
	size_t sample_count, sample_capacity;
	struct table *by_place;
};

void run_code_init(struct run_code *code);
void run_code_fini(struct run_code *code);

/*
 * pid: of the thread, whose address space makes places differ. What is beyond many millions is left out; of
 * places beyond 65536 nothing is known but that threads ran.
 */
void run_code_add(struct run_code *code, uint32_t pid, const struct ev_sched_sample *e);

/* All samples are there. */
void run_code_sort(struct run_code *code);

/* Looks up all places, and finds those that are partial. */
void run_code_name(struct run_code *code, struct graph_labels *labels);
