/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Long work lets others in from time to time: who has it done says how often, and what is to be
 * done then. That must not touch what is worked on. The caller owns the struct.
 */
#pragma once

#include <stdint.h>

struct pause {
	void (*take)(void *data);
	void *data;
	uint64_t period_ns;
	uint64_t due_ns; /* CLOCK_MONOTONIC */
};

/* As long as it takes; NULL: nobody wants in. */
void pause_take(struct pause *pause);

/* The same unless it was not long ago. */
void pause_take_if_due(struct pause *pause);
