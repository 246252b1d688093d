/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads did, as steps that can be gone through again: work, waits for what no thread ends, and waits
 * for each other, each tied to how far the waker had come with its own steps when it woke the other. How
 * long threads waited for a CPU is left out, as far as it was for each other: a replay finds that again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"

struct states;
struct threads;

enum step_kind {
	STEP_WORK,   /* it needs a CPU */
	STEP_QUEUE,  /* waits until a CPU is free, and does not get it yet: a LATE or SLOWED comes first */
	STEP_DELAY,  /* waits for a device, a timer, who is not traced or in the background */
	STEP_LATE,   /* was to run, and others who are not traced, or nobody, had the CPU */
	STEP_SLOWED, /* the same in the middle of its work: the more there is, the longer */
	STEP_WAIT,   /* for a thread's step */
	STEP_WAKE,   /* takes no time */
};

enum { STEP_NONE = UINT32_MAX };

struct step {
	/* As recorded. WAKE: from where it stands among the steps to when the other one was woken. */
	uint64_t begin_ns, end_ns;
	uint32_t life;
	uint32_t other;    /* WAIT: the waker's step; WAKE: the waiter's */
	uint32_t wait;     /* WAIT, DELAY: index of what it is called; STEP_NONE: it has no name */
	uint8_t kind, end; /* end: enum graph_kind of what ends a DELAY */
};

struct life {
	uint32_t thread;
	size_t first, end; /* its steps; end is the first one that is not */
	/*
	 * The run lasts until it is over: it is the first thread of a process that came to its end by itself,
	 * and was not killed. When there is none, threads that wait for each other; else all.
	 */
	bool is_awaited;
	bool has_ended; /* before the end of the trace, and it was not killed */
};

/* Waits that are called by the same. */
struct lives_wait {
	struct graph_wait wait;
	uint64_t ns, count;
};

struct lives {
	struct step *steps;
	size_t step_count, step_capacity;
	struct life *lives;
	size_t count, capacity;
	struct lives_wait *waits;
	size_t wait_count, wait_capacity;
	uint64_t begin_ns, end_ns; /* of the run; a wait that nothing comes after does not count */
	uint32_t cpu_count;        /* on how many they ran */
};

/*
 * 0; -E2BIG: they are too many, or too long. Nothing is said. The caller ends it with lives_fini(), in any
 * case.
 */
int lives_of(struct states *states, struct threads *threads, const uint32_t *numbers, size_t count, struct lives *out);
void lives_fini(struct lives *lives);

static inline uint64_t step_ns(const struct step *step)
{
	return step->end_ns - step->begin_ns;
}
