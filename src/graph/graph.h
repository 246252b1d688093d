/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who and what a thread waited for, and whom these waited for meanwhile: DepGraph (Ezzati-Jivan and
 * others, 2021), Algorithms 1 and 2. Here it is a tree of contexts: each node says what was done below
 * those above it, so that the parts of a node add up to its time.
 *
 * Owns: who waited for whom, and the critical path through that.
 * Used by: whatif, spans, compare, view/graph, view/trace, tui/rows, query, lanes, export, show, serve, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"
#include "states/state.h"

struct states;

/* What a wait is called by. */
struct graph_wait {
	uint64_t object, stack;
	uint32_t thread;  /* whose it was, first: gives addresses their meaning */
	uint64_t time_ns; /* when */
	uint16_t syscall, operation;
	uint8_t cause, state;
};

struct graph_node {
	enum graph_kind kind;
	uint32_t id;              /* THREAD: its number; OTHER: its tid; INTERRUPTED: by which; SOFTIRQ: the vector */
	struct graph_wait wait;   /* GRAPH_WAIT */
	uint64_t ns, count;       /* time spent below the parent, in how many stretches */
	uint64_t max_ns;          /* of one stretch */
	uint32_t thread_count;    /* GRAPH_THREAD: how many it stands for, at least */
	bool is_cycle;            /* who waits here is above: what it did is shown there */
	bool is_cut;              /* too little time, or too deep, to look further */
	size_t parent;            /* SIZE_MAX: none */
	size_t first, last, next; /* children, by time; the next one of the same parent; SIZE_MAX: none */
};

struct graph {
	struct graph_node *nodes; /* [0] is the root; a parent comes before its children */
	size_t count;
	uint64_t from_ns, to_ns;
	uint64_t lost_ns; /* the part was chosen because its thread lost that (lost_most.h); 0: for another reason */
};

struct graph_options {
	uint64_t from_ns, to_ns;
	unsigned int depth_max; /* threads below each other; 0: 16 */
	double share_min;       /* of the root's time, for a thread to be examined */
	/*
	 * A thread in a wait that is already above, in the same wait, is that node: so a queue is as deep as it has kinds of
	 * waits, not threads. The parts of a node add up to its time as before.
	 */
	bool merges_contexts;
	/* What nodes with one parent are one by; NULL: kind, id and wait. */
	uint64_t (*key_of)(void *data, const struct graph_node *node);
	void *key_data;
};

/*
 * The graph of threads for a stretch of time; of one thread that is the root, of several they are below
 * it. The parts of each add up to the time that it lived then. The caller frees it with graph_fini().
 */
void graph_of_threads(struct states *states, const uint32_t *threads, size_t count, const struct graph_options *options,
		      struct graph *out);

/* A part of a thread's life. */
struct graph_part {
	uint32_t thread;
	uint64_t from_ns, to_ns;
};

/* The same of parts, at other times each, as one graph below all threads; no two of a thread have a time in common. */
void graph_of_parts(struct states *states, const struct graph_part *parts, size_t count,
		    const struct graph_options *options, struct graph *out);
void graph_fini(struct graph *graph);
