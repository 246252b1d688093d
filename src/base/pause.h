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

/* Lets in who wants in, as long as it takes, unless that was not long ago; NULL: nobody does. */
void pause_take_if_due(struct pause *pause);
