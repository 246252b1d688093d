/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the time stamp counter says in ns of CLOCK_MONOTONIC, whose speed the kernel adjusts: both are read together now and then.
 * Between two such readings, and after the last one, time goes evenly. A reading is as exact as two reads of the clock are near to
 * each other, some 50 ns; times from before and after a reading can differ by that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct tick_reading {
	uint64_t ticks, ns;
};

struct tick_clock {
	struct tick_reading before, last; /* at least 10 ms lie between them, unless there is no older reading */
	struct tick_reading next;         /* which will be before: at least 10 ms lie between that and this one */
};

/* Reads both, as near to each other as a few attempts get. Of a machine without such a counter, ticks are ns. */
void tick_clock_read(struct tick_clock *clock);

/*
 * Whether the kernel's own clock is the counter. If not, it has found that the CPUs' counters differ, or has another reason, and nobody knows
 * how far they are apart.
 */
bool tick_clock_is_trusted(void);

/* Both: 0 before it was read twice. */
uint64_t tick_clock_ns(const struct tick_clock *clock, uint64_t ticks);
uint64_t tick_clock_ticks(const struct tick_clock *clock, uint64_t ns);
