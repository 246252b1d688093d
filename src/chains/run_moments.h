/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments at which samples met running threads, and what others did then: who spins is held up by who did something else. Whether
 * code spins is known only when a report is made, so moments are kept as they were: up to a number of them, each of all that
 * came with the same chance (Algorithm R, Vitter, ACM TOMS 1985), which a fixed sequence decides. Owns all it hands out, which
 * stays until the next event.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "values.h"
#include "waits/wait_cause.h"

struct code_sample;
struct run_moments;
struct wait_path;

/* SLEEPERS: others that were blocked, in one moment. */
enum { MOMENTS_MAX = 4096, MOMENT_OTHERS_MAX = 64, MOMENT_SLEEPERS_MAX = 8 };

/* A wait that some moments met. */
struct moment_wait {
	bool is_over;          /* what follows is known */
	enum wait_cause cause; /* why */
	uint64_t end_ns;
	uint32_t waker;               /* the number of the traced thread that ended it; 0: none did */
	const struct wait_path *path; /* where; NULL: not known */
};

struct moment_other {
	union {
		const struct code_sample
			*code; /* RUNNING: NULL: no sample is near; RUNNABLE: its last one, NULL: none */
		const struct moment_wait *wait; /* BLOCKED */
	};
	uint32_t thread;
	uint32_t away_ns; /* RUNNING: from the moment to its sample */
	uint8_t phase;    /* RUNNING, RUNNABLE or BLOCKED */
};

struct run_moment {
	uint64_t time_ns;
	uint32_t thread;                /* that was sampled */
	uint32_t near_ns;               /* samples that are not farther away are near */
	const struct code_sample *code; /* where */
	double weight;                  /* in parts of the usual sample */
	struct moment_other *others;
	size_t other_count, other_capacity;
};

struct run_moments *run_moments_new(void);
void run_moments_free(struct run_moments *moments);

/*
 * A sample has met the thread, not earlier than all before. Returns the moment, for the caller to add others at once; NULL:
 * it is not kept.
 */
struct run_moment *run_moments_add(struct run_moments *moments, const struct run_moment *moment);

/* Beyond the bounds one that runs takes the place of one that does not. */
void run_moment_add_other(struct run_moment *moment, const struct moment_other *other);

/* A wait that has begun; NULL: there are too many of them. */
struct moment_wait *run_moments_new_wait(struct run_moments *moments);

/*
 * A sample has met the thread in that code, in a slice that began then: moments shortly before it have it, unless another
 * sample is nearer.
 */
void run_moments_note_sample(struct run_moments *moments, uint64_t time_ns, uint32_t thread, uint64_t slice_begin_ns,
			     const struct code_sample *code);

/* What is known of moments when a report is made. data: for all. */
struct moment_judge {
	bool (*spins)(void *data, const struct code_sample *code);
	bool (*holds_up)(void *data, const struct moment_wait *wait); /* the wait, others that spin */
	bool (*is_member)(void *data, uint32_t thread);               /* of those that spin there at times */
	void *data;
};

/*
 * Those who do something else while the thread of the moment spins: who runs something else, or has no CPU for it, members if any do;
 * and if nobody does, who waits in a way that holds others up, members first. Where it is not known what one that ran did, only
 * members that do something else count: else that may have been it. late[MOMENT_OTHERS_MAX]; returns how many they are.
 */
size_t run_moment_late(const struct run_moment *moment, const struct moment_judge *judge,
		       const struct moment_other **late);

/* In no order; NULL when index is not below their number. */
const struct run_moment *run_moments_at(const struct run_moments *moments, size_t index);

/* All that came, kept or not. */
uint64_t run_moments_count(const struct run_moments *moments);
