/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of lives_of(): what is recorded of each thread, and then who woke whom. */
#pragma once

#include "whatif/lives.h"

struct table;

/* One thread ends a wait of another one. */
struct wake {
	uint64_t time_ns;
	uint32_t waker, wait; /* a life, a step */
};

struct lives_make {
	struct lives *lives;
	struct table *by_thread; /* lives plus 1 */
	struct table *by_wait;   /* of what waits are called, plus 1 */
	struct wake *wakes;
	size_t wake_count, wake_capacity;
	uint64_t cpus[4]; /* those that they ran on, as bits */
};

enum { STEPS_MAX = 1 << 22 };

/* 0 or -E2BIG. */
int lives_take(struct lives_make *make, struct states *states, struct threads *threads);

/* Unties waits from threads in the background: how far those had come says nothing about when they would be there. */
void lives_untie_background(struct lives_make *make);

/* Whether a process came to its end by itself. */
bool lives_have_awaited(const struct lives *lives);

/* Chooses those whose end is the end of the run, when none is chosen yet, and finds that end. */
void lives_find_end(struct lives *lives);
