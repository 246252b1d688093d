/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of states: what each thread did at any time, who had a CPU, and how much of any stretch of
 * time was spent how. It is a file beside a trace, made once; a query finds its place in O(log n) and
 * unpacks one block. The file may be an enemy's.
 *
 * Owns: the history of states: what each thread did when, in a file beside the trace.
 * Used by: graph, whatif, spans, compare, query, lanes, rows, export, show, serve, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "states/state.h"

struct activities;
struct state_gaps;
struct state_total;
struct states;
struct trace_reader;

/* -EBADMSG: it is none, or damaged; or a negative errno. Nothing is said. */
int states_open(const char *path, struct states **out);
void states_close(struct states *states);

/*
 * The same of a file that somebody is still writing (state_log_flush()). What came since is there after states_grow(): 0, or a negative
 * errno. Totals of a growing history also count where records were lost.
 */
int states_open_growing(const char *path, struct states **out);
int states_grow(struct states *states);

bool states_are_growing(const struct states *states);

/* The file itself, which has more than states. */
struct trace_reader *states_file(const struct states *states);

/* When the first state begins that was seen to begin, and when the last one ends; both 0: there is none. */
uint64_t states_begin_ns(const struct states *states);
uint64_t states_end_ns(const struct states *states);

/* When the first block behind a time begins; UINT64_MAX: none does. Few blocks are unpacked at a time. */
uint64_t states_next_block_ns(const struct states *states, uint64_t time_ns);

/* The end of the trace: a thread whose last state ends earlier had come to its own. */
uint64_t states_known_until_ns(const struct states *states);

/* Calls on_thread for the number of each thread that has a state, in their order. */
void states_each_thread(const struct states *states, void (*on_thread)(void *data, uint32_t thread), void *data);

/*
 * Calls on_total for what is known of how threads spent their lives, in no order: a thread may come more than once, at other times. Where records
 * were lost, it counts as doing what it was last seen to do: states_have_gaps().
 */
void states_each_total(struct states *states,
		       void (*on_total)(void *data, uint32_t thread, const struct state_total *total), void *data);
bool states_have_gaps(const struct states *states);

/* When records were lost; as long as the states live. */
const struct state_gaps *states_gaps(const struct states *states);

/* Parts of it that were damaged when somebody asked for them. */
size_t states_damaged_count(const struct states *states);

/*
 * The states of one thread that have a part in [from_ns, to_ns), in time order; times in which it does not
 * live are left out, and those in which it is not known what it did are STATE_UNKNOWN. The first one
 * may begin before, the last one end after.
 */
struct state_walk {
	struct states *states;
	uint32_t thread;
	uint64_t from_ns, to_ns;
	size_t block, at; /* the record to come; AT_ORIGIN: what the block began with */
	bool is_over;
	struct state rest; /* the part behind a gap of the last state */
	bool has_rest;
};

void states_walk(struct states *states, uint32_t thread, uint64_t from_ns, uint64_t to_ns, struct state_walk *walk);
bool state_walk_next(struct state_walk *walk, struct state *out);

/* What a thread did at a time. False: it did not live. */
bool states_at(struct states *states, uint32_t thread, uint64_t time_ns, struct state *out);

/* Who has a CPU. */
struct cpu_state {
	uint64_t begin_ns, end_ns;
	uint32_t thread; /* a traced one's number, or 0 */
	uint32_t tid;    /* another one's; 0: nobody */
};

static inline enum cpu_share cpu_state_share(const struct cpu_state *state)
{
	if (state->thread)
		return CPU_SHARE_TRACED;
	return state->tid ? CPU_SHARE_OTHER : CPU_SHARE_IDLE;
}

/*
 * Who had a CPU in [from_ns, to_ns), clipped to that, in pieces: one may follow another alike. Where there is
 * none, nobody knows: so it is from the beginning of a gap to the first change behind it.
 */
struct cpu_walk {
	struct states *states;
	uint32_t cpu;
	uint64_t from_ns, to_ns;
	size_t block, at;
};

void states_walk_cpu(struct states *states, uint32_t cpu, uint64_t from_ns, uint64_t to_ns, struct cpu_walk *walk);
bool cpu_walk_next(struct cpu_walk *walk, struct cpu_state *out);

/* What the machine did besides; of a trace without --system it has nothing. Lives as long as the states. */
struct activities *states_activities(const struct states *states);

/* Called now and then in the middle of a long answer: others may ask the history meanwhile. */
struct states_pause {
	void (*pause)(void *data);
	void *data;
};

static inline void states_pause(const struct states_pause *pause)
{
	if (pause)
		pause->pause(pause->data);
}

/* What a thread of those that are asked for, or a CPU, did for a while: a share as state_share() has it, or enum cpu_share. */
typedef void states_part_fn(void *data, size_t which, uint64_t begin_ns, uint64_t end_ns, unsigned int share);

enum { STATES_COLUMNS = 256 };

/*
 * Tells how threads, [count] by their numbers, spent 256 columns of 2^shift ns from a multiple of all of them on. Parts lie where
 * things happened, or somewhere in the right column: they add up to what each column was spent with, to the nanosecond, and do not
 * overlap. What is missing, a thread did not live. pause: may be NULL.
 */
void states_each_part(struct states *states, const uint32_t *threads, size_t count, uint64_t from_ns,
		      unsigned int shift, const struct states_pause *pause, states_part_fn *on_part, void *data);

/* The same of a CPU; what is missing, nobody knows. */
void states_each_cpu_part(struct states *states, uint32_t cpu, uint64_t from_ns, unsigned int shift,
			  states_part_fn *on_part, void *data);

#define STATES_NO_CPU UINT32_MAX

/* cpu: on which the thread ran, or runs next if it did not run; STATES_NO_CPU: unknown, or nobody asked. */
typedef void states_state_fn(void *data, size_t which, const struct state *state, uint32_t cpu);

struct states_question {
	const uint32_t *threads; /* [count] by their numbers */
	size_t count;
	uint64_t from_ns, to_ns;
	bool wants_cpus;                  /* of states in which threads do not run, too: that takes longer */
	const struct states_pause *pause; /* may be NULL */
};

/*
 * Tells of the states that states_walk() has of these threads, but for who ended a wait: those of each thread in time order. The
 * last one of a thread may be told to end at to_ns. Each block is unpacked once for all threads.
 */
void states_each_state(struct states *states, const struct states_question *question, states_state_fn *on_state,
		       void *data);

/* The CPU on which a thread runs at a time, or next after it; STATES_NO_CPU: none is known. */
uint32_t states_next_cpu(struct states *states, uint32_t thread, uint64_t time_ns);

/* Adds how much of [from_ns, to_ns) a thread spent how, by state_share(); what is missing, it did not live. */
void states_add_shares(struct states *states, uint32_t thread, uint64_t from_ns, uint64_t to_ns, uint64_t ns[SHARES]);

/* How a thread spent what it lived of a time: without a break. */
struct state_life {
	uint64_t begin_ns, end_ns;
	uint64_t ns[SHARES]; /* adds up to it */
};

/* False: it did not live in [from_ns, to_ns). */
bool states_life(struct states *states, uint32_t thread, uint64_t from_ns, uint64_t to_ns, struct state_life *out);

/*
 * Clips [from_ns, to_ns) to the time from the first of these lives to the last one. A CPU may be seen for longer than any thread. False,
 * and nothing is changed: none of them lived then.
 */
bool states_lives(struct states *states, const uint32_t *threads, size_t count, uint64_t *from_ns, uint64_t *to_ns);
