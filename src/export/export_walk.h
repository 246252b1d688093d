/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The states of all traced threads in the order of time: what is known while they are walked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/measures/parallelism.h"
#include "base/heap.h"
#include "export/export_format.h"
#include "states/states.h"

struct export_files;
struct export_names;
struct table;

struct walked_thread {
	struct export_thread thread;
	struct state_walk walk;
	struct state state; /* clipped to the range; valid while has_state */
	bool has_state, is_open, is_chosen, is_announced;
	bool is_state_chosen; /* the one that is open */
	fixed_ns begin_share; /* of the state that is open, less what did not make a whole ns before it */
	uint64_t carry;       /* of the CMetric, what has not made a whole ns: 2^-32 ns */
	uint64_t woken_by;    /* the number of the wake-up before the state to come; 0: none */
	/* What it ran since its last sample: of the state that is open up to the mark, with so much of its CMetric. */
	uint64_t mark_ns, mark_cmetric_ns, unsampled_ns, unsampled_cmetric_ns;
};

struct export_walk {
	const struct trace_states *all;
	const struct export_options *options;
	const struct export_format *format;
	void *data; /* the format's */
	void (*on_state)(struct export_walk *walk,
			 struct walked_thread *thread); /* a state of a wanted thread ends now */
	struct stack_sums *sums;                        /* NULL: none are wanted */
	struct export_counts *counts;
	struct export_names *names;
	struct export_files *files; /* of the events so far */
	struct walked_thread *threads;
	size_t count, capacity;
	struct table *by_number; /* places in threads, plus 1 */
	struct heap_entry *heap; /* who changes next; number: its place in threads */
	size_t heap_count;
	uint64_t now_ns;
	struct parallelism parallelism; /* of all traced threads */
	uint32_t running, runnable;     /* of all traced threads */
	struct export_counters told;
};

void export_walk_init(struct export_walk *walk, const struct trace_states *all, const struct export_options *options,
		      void (*on_state)(struct export_walk *walk, struct walked_thread *thread),
		      struct export_counts *counts);
void export_walk_fini(struct export_walk *walk);

/* When the next thread changes; UINT64_MAX: none does. */
uint64_t export_walk_next_ns(const struct export_walk *walk);

/* Takes that change. */
void export_walk_step(struct export_walk *walk);

/* Time has come to then, which is not behind the next change. */
void export_walk_advance(struct export_walk *walk, uint64_t now_ns);

/* The CMetric of the thread in the state that is open, or is being closed, in whole ns: those of its states add up. */
uint64_t export_walk_cmetric_ns(const struct export_walk *walk, const struct walked_thread *thread);

/* What the thread, which runs, has run since its last sample is counted as such up to now, if the state is chosen. */
void export_walk_mark(struct export_walk *walk, struct walked_thread *thread);

/* A thread that is wanted, which the format knows from then on; NULL: it is not wanted. */
struct walked_thread *export_walk_find(struct export_walk *walk, uint32_t number);
