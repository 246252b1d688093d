// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stands in for base/clock.h. Its time is that of generated events: it goes on by the CPU time that what is measured
 * uses, and by its naps. So a run is as if it happened on a machine that has a CPU for it alone, however busy this one is.
 */
#pragma once

#include <stdint.h>

/* It begins at this moment, and stands still. */
void fake_clock_begin(uint64_t now_ns);

/* What follows is measured, up to fake_clock_stop(). */
void fake_clock_go_on(void);
void fake_clock_stop(void);

void fake_clock_nap(uint64_t nap_ns);
