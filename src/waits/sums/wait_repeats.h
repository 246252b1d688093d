/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that waits for one thing with a timeout, and again at once, waits for it all the time: it is one wait, which was
 * ended by what ended the last of its parts (an interpreter's lock that is waited for by 5 ms, a lock of a database by 1 s).
 * The parts before, which time ended, are kept here until then. The caller owns the struct, which begins zeroed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "waits/wait_cause.h"

struct wait_lock;
struct wait_path;
struct wait_unseen_row;
struct wait_file;

/* Where a wait was added, by whether its stack was kept. */
struct wait_place {
	struct wait_path *path;         /* NULL: it was not kept, */
	struct wait_unseen_row *unseen; /* but its length is here */
	double weight;                  /* of the path: the waits that it stands for */
	struct wait_file *file;         /* NULL: for none */
};

/* Parts that are alike: at one place, about as long. */
struct wait_portion {
	struct wait_place place;
	struct wait_lock *lock; /* NULL: they are for none */
	enum wait_cause cause;
	uint64_t part_ns; /* one of them */
	uint64_t count;   /* 0: there are none */
	uint64_t wait_ns, idle_ns;
};

enum { WAIT_PORTIONS = 2 }; /* kinds of them: a condition has two words */

struct wait_repeats {
	uint64_t begin_ns, begin_share_ns; /* of the first part; 0: there is none */
	uint64_t object;
	uint16_t syscall;
	bool has_ended;      /* what ended the last one is known, and no more come */
	uint64_t running_ns; /* of the thread, when the last part ended */
	uint64_t last_ns;    /* how long it was */
	struct wait_portion parts[WAIT_PORTIONS];
};

/* A wait for facts begins, with running_ns of its thread: unless it goes on with the parts, they are forgotten. */
void wait_repeats_begin(struct wait_repeats *repeats, const struct wait_facts *facts, uint64_t running_ns);

/* Time has ended a wait: first is what there is to know if it is the first part. */
void wait_repeats_add(struct wait_repeats *repeats, const struct wait_repeats *first);

/* Of all parts. */
uint64_t wait_repeats_wait_ns(const struct wait_repeats *repeats);
uint64_t wait_repeats_idle_ns(const struct wait_repeats *repeats);

/* So much of a wait that began at begin_ns, and was added at place, was not idle after all: of a part, if it is one. */
void wait_repeats_take_back(struct wait_repeats *repeats, uint64_t begin_ns, const struct wait_place *place,
			    uint64_t idle_ns);
