/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an area's time stamps are in ns of CLOCK_MONOTONIC, afterwards, also of a process that was killed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct area_facts;

struct area_ticks {
	uint64_t ticks, ns; /* of one moment */
	double ns_per_tick;
	bool is_known; /* false: the speed of the counter is not, and a tick counts as a nanosecond */
};

/*
 * From the pairs of the area, and, if it was made on this machine since it was started, both clocks as they are now: the
 * longer the time between two pairs, the better is the speed. The kernel adjusts that of CLOCK_MONOTONIC, so a moment is as
 * exact as it was steady meanwhile: some 10 us in a second at worst.
 */
struct area_ticks area_ticks_of(const struct area_facts *facts);

/* 0 before the clock began. */
uint64_t area_ticks_ns(const struct area_ticks *clock, uint64_t ticks);
