/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lives gone through again: each step as long as it is said to be, each wait until the waker has come to
 * its step, work on so many CPUs, which those that can run get by turns, in the order in which they come.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "graph/critical_path.h"
#include "whatif/lives.h"

struct replay {
	uint64_t ns;       /* from the beginning to the end of the last life that is awaited */
	uint64_t *ends_ns; /* of each step, since the beginning */
	uint64_t *work_ns; /* of each step that is WORK */
	bool *is_let_go;   /* of each step: a wait that nobody ended, as all waited for each other */
};

struct replay_plan {
	const uint64_t *lengths_ns; /* of each step */
	/*
	 * Of each WAIT and WAKE: how much of the work behind it is done only if the thread has to sleep. One that
	 * does not sleep does not wait for the CPU that it gets then, either.
	 */
	const uint64_t *costs_ns;
	uint32_t cpu_count;
	bool is_order_free; /* threads get a lock in the order in which they come to it, not in that of the recording */
};

/* The caller ends it with replay_fini(). */
void replay_lives(const struct lives *lives, const struct replay_plan *plan, struct replay *out);
void replay_fini(struct replay *replay);

/*
 * What the end of that life could not have come without, of a replay in the recorded order: its parts
 * add up to the replay. For critical_path_fini().
 */
void replay_path(const struct lives *lives, const struct replay *replay, struct critical_path *out);
