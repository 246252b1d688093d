/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of all events, and other sources of time. */
#pragma once

#include <stdint.h>
#include <time.h>

/*
 * At the start of the program, before it starts others: in a time namespace the clocks of a process are shifted, those of the kernel's
 * events are not. From here on the following are the machine's. 0; -ENOTSUP: how far they are shifted cannot be known.
 */
int clock_begin(void);

/* How much later this process's own CLOCK_MONOTONIC is than the machine's, ns. */
int64_t clock_shift_ns(void);

/* CLOCK_MONOTONIC of the machine, ns. */
uint64_t clock_ns(void);

/* Seconds of this process's own clock, some milliseconds late and for less: for bounds. */
time_t clock_seconds(void);

/* CPU time of this process so far, ns. */
uint64_t clock_cpu_ns(void);

/* How long this machine has been suspended since it was started, ns: clock_ns() stands still then. */
uint64_t clock_suspended_ns(void);
