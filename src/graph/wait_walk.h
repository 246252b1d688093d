/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The states of a thread, as state_walk tells them; but a wait that timed out, and that the thread went back to
 * until somebody or something ended it, was a wait for that all the time.
 */
#pragma once

#include "states/states.h"

struct wait_walk {
	struct state_walk states;
	uint64_t until_ns;        /* of time-outs that begin before that it is known what came of them: */
	struct state_value ended; /* zeros: nothing */
};

/* As states_walk() and state_walk_next(). */
void wait_walk_begin(struct states *states, uint32_t thread, uint64_t from_ns, uint64_t to_ns, struct wait_walk *walk);
bool wait_walk_next(struct wait_walk *walk, struct state *out);
