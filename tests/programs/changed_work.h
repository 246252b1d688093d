// SPDX-License-Identifier: GPL-2.0-or-later
/* The work of programs of which functions are changed: hot() does hot_percent of its own, cold() cold_percent. */
#pragma once

#include "roles.h"
#include <stdatomic.h>

static unsigned hot_percent = 100, cold_percent = 100;
static atomic_ulong spent; /* counts, of all threads */

/* About 0.1 us for each count, whatever the clock says. No function: it is what hot() and cold() do themselves. */
/* clang-format off */
#define SPEND(count) do {							\
	volatile uint64_t sink;							\
	uint64_t x = (count);							\
										\
	for (unsigned i = 0; i < (count) * 100; i++)				\
		x = x * 6364136223846793005ull + 1442695040888963407ull;	\
	sink = x;								\
	(void)sink;								\
} while (0)
/* clang-format on */

static OWN_FRAME void hot(unsigned count)
{
	count = count * hot_percent / 100;
	SPEND(count);
	atomic_fetch_add_explicit(&spent, count, memory_order_relaxed);
}

static OWN_FRAME void cold(unsigned count)
{
	count = count * cold_percent / 100;
	SPEND(count);
	atomic_fetch_add_explicit(&spent, count, memory_order_relaxed);
}
