/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where threads ran: samples with their whole call paths. What they collect while events come is here; what
 * they stand for is in code_shares.h. Owns all it hands out, which stays until code_samples_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "waits/wait_cause.h"

struct sample_bias;
struct thread;
struct thread_row;

/* What samples can stand for. */
enum code_quantity {
	CODE_CPU,      /* running time */
	CODE_CMETRIC,  /* on-CPU CMetric */
	CODE_CRITICAL, /* the part of it in critical time */
	CODE_QUANTITIES,
};

/*
 * The weights of some samples, of each quantity: a sample has 1, 1/n, and 1/n if n <= N_min; so many times that as its period is
 * longer than 4 ms.
 */
struct code_weights {
	uint64_t count;
	double sum[CODE_QUANTITIES], squares[CODE_QUANTITIES];
};

/* The two kinds are not mixed: where samples at ticks are in step with threads, those by timers alone count. */
enum code_source {
	CODE_REGULAR,
	CODE_BY_TIMERS, /* beside samples at ticks, or instead of them */
	CODE_SOURCES,
};

/* Samples of one thread whose weights are calibrated together, or of all those that have too few. */
struct code_stratum {
	uint32_t thread; /* 0: several */
	enum code_source source;
	bool is_shared; /* some of its samples are not apart from those of others */
	struct code_weights all;
	/* Filled in by code_shares.c. */
	const char *name;                 /* of the thread by now; NULL: of several, or gone */
	double exact_ns[CODE_QUANTITIES]; /* what the thread has in all */
	bool is_alone[CODE_QUANTITIES];   /* it has enough samples to be calibrated alone */
	uint32_t order;
};

/* Samples of one thread at one place, by one call path. */
struct code_sample {
	struct code_stratum *stratum;
	uint32_t pid, exec_count; /* with first_ns: the address space */
	uint64_t first_ns;
	uint64_t stack;         /* as in sched.SAMPLE */
	uint64_t ip, kernel_ip; /* both 0: at several places of that path */
	char name[16];          /* of the thread; of one of them */
	struct code_weights weights;
	/* Why the slices ended in which they fell, mostly; SLICE_CAUSES: unknown. */
	enum wait_cause cause;
	uint32_t cause_votes;
	struct wait_facts facts;
	const struct code_sample
		*kin; /* the first of its call path, in whatever thread, wherever in its innermost function */
	struct code_sample *next; /* of the same hash */
};

struct code_samples;

struct code_samples *code_samples_new(void);
void code_samples_free(struct code_samples *samples);

/*
 * The row's thread was seen at now_ns, with so many active threads; 0: it is not one of them, for it spins.
 * What it was added to; NULL: there was no space for it.
 */
const struct code_sample *code_samples_add(struct code_samples *samples, struct thread_row *row, uint64_t now_ns,
					   const struct ev_sched_sample *e, uint32_t active, bool is_critical);

/* What a sample weighs: the running time that it stands for, in parts of the usual one. */
double code_samples_unit(const struct ev_sched_sample *e);

/* The slice of the row has ended, and why; facts NULL: nobody knows. */
void code_samples_end_slice(struct thread_row *row, enum wait_cause cause, const struct wait_facts *facts);

/* Samples that found space. */
uint64_t code_samples_count(const struct code_samples *samples, enum code_source source);
uint64_t code_samples_with_stack(const struct code_samples *samples);

/* Whether timers took the place of ticks. */
bool code_samples_are_instead(const struct code_samples *samples);

/* Borrowed. */
const struct sample_bias *code_samples_bias(const struct code_samples *samples);

/* By first appearance; NULL when index is not below their number. Writable: see code_shares.h. */
struct code_sample *code_samples_at(const struct code_samples *samples, size_t index);
struct code_stratum *code_samples_stratum(const struct code_samples *samples, size_t index);

/* The stratum of a thread; NULL: it has none of its own. */
struct code_stratum *code_samples_stratum_of(const struct code_samples *samples, uint32_t thread,
					     enum code_source source);
