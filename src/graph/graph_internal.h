/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that build a graph share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

struct state;
struct states;
struct table;

/* A part of the life of a thread that is to be examined, for the sake of another part. */
struct stretch {
	uint64_t begin_ns, end_ns;
	uint64_t ns; /* what it counts for: its length, or less where several share a disk */
	uint32_t thread;
	uint32_t above; /* the one that waited for it; NO_STRETCH: none */
	uint32_t next;  /* of the same node */
	bool has_disk;  /* it is examined because its thread had requests at a disk */
};

enum { NO_STRETCH = UINT32_MAX };
#define NONE SIZE_MAX

struct graph_builder {
	struct states *states;
	struct graph *graph;
	size_t capacity;
	struct pending {
		uint32_t first, last; /* NO_STRETCH: none */
	} * pending;                  /* what is to be examined, by node */
	struct stretch *stretches;
	size_t stretch_count, stretch_capacity;
	struct table *children; /* nodes plus 1, by parent and what they are */
	const struct graph_options *options;
	uint64_t least_ns;
};

/* graph_nodes.c: what nodes with one parent are one by; NONE as the parent: wherever they are. */
uint64_t graph_node_key(const struct graph_options *options, size_t parent, const struct graph_node *node);

/* graph_nodes.c: adds ns to the node of this kind below parent, which is made if need be, and returns it. */
size_t graph_add(struct graph_builder *b, size_t parent, enum graph_kind kind, uint32_t id,
		 const struct graph_wait *wait, uint64_t ns);

/* graph_nodes.c: a part of the life of the thread that the node stands for is to be examined. part->next: not read. */
void graph_add_stretch(struct graph_builder *b, size_t node, const struct stretch *part);

/*
 * graph_nodes.c: adds part->ns to the node of part->thread below parent, and what it did in that part, unless the
 * thread is above. part->above: for whose sake.
 */
void graph_add_thread(struct graph_builder *b, size_t parent, const struct stretch *part);

/*
 * graph_nodes.c: how much the time from begin_ns to end_ns of a stretch counts for, at most its length. Neighbouring
 * parts of a stretch count for as much as both together.
 */
uint64_t graph_part_ns(const struct graph_builder *b, uint32_t stretch, uint64_t begin_ns, uint64_t end_ns);

/* graph_states.c: what the thread of a stretch of the node did from begin_ns to end_ns. */
void graph_add_state(struct graph_builder *b, size_t node, uint32_t stretch, const struct state *state,
		     uint64_t begin_ns, uint64_t end_ns);

/* graph_look.c: adds all that is to be examined of those nodes that are wanted, among count from the first one on. */
void graph_look_at(struct graph_builder *b, size_t first, size_t count,
		   bool (*is_wanted)(struct graph_builder *b, size_t node));

/* graph_resources.c: who had the CPU while the thread of the stretch, which could run, had none; and what they did. */
void graph_add_rivals(struct graph_builder *b, size_t node, uint32_t stretch, const struct state *state,
		      uint64_t begin_ns, uint64_t end_ns);

/* The same: it had a CPU; what interrupts took of that time is not its own. */
void graph_add_running(struct graph_builder *b, size_t node, uint32_t stretch, const struct state *state,
		       uint64_t begin_ns, uint64_t end_ns);

/* The same: whose requests disks had, and what they did; of a disk that is above that stands there. */
void graph_add_disk_users(struct graph_builder *b, size_t node, uint32_t stretch, uint64_t begin_ns, uint64_t end_ns);

/* graph_merge.c: makes the graph one in which no way from the root has a thread in a wait twice. */
void graph_merge(struct graph *graph, const struct graph_options *options);
