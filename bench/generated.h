// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of a trace that is generated: at which places of the program, with what, and how they are put. */
#pragma once

#include <stdint.h>

#include "events.h"

struct trace_writer;

enum {
	GENERATED_PID = 1000,
	GENERATED_LOCKS = 24,    /* of a shard */
	GENERATED_CHANNELS = 12, /* the same */
	GENERATED_FILES = 32,    /* odd channels are pipes */
	GENERATED_REASONS = 50,  /* to wait: each has as many call paths */
};

/* What the events are made of; begins with all but the number of events so far and the last one's time. */
struct generated {
	struct trace_writer *writer; /* NULL: they go nowhere */
	uint64_t random, begin_ns, now_ns, events, events_max, sample_ns;
	uint32_t stacks, shards;
	/* So much time of what happens takes so much in the trace; 0: the same. */
	uint64_t natural_ns, written_ns;
	uint64_t last_ns;
};

/* A random number below another one. */
uint64_t generated_pick(struct generated *g, uint64_t below);

/* What the trace has as the time of the event that is put next. */
uint64_t generated_time(const struct generated *g);

/* Puts an event a ns after the one before; nothing when there is only space for the end. */
void generated_put(struct generated *g, void *event, enum event_id id, uint32_t thread);

/* One of the call paths that lead to something, by its number. */
uint64_t generated_stack(struct generated *g, unsigned int what);

/* What threads wait for. */
uint64_t generated_lock(uint32_t lock);
uint64_t generated_channel(uint32_t channel);
uint64_t generated_file(uint32_t file);

/* An address in the program. */
uint64_t generated_address(uint64_t what);

/* What a trace begins with: what is traced, its program, call paths and files; and what it ends with. */
void generated_begin(struct generated *g, uint32_t cpu_count);
void generated_end(struct generated *g);
