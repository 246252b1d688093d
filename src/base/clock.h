/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of all events, and other sources of time. */
#pragma once

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC, ns. */
uint64_t clock_ns(void);

/* The same in seconds, some milliseconds late and for less: for bounds. */
time_t clock_seconds(void);

/* CPU time of this process so far, ns. */
uint64_t clock_cpu_ns(void);

/* How long this machine has been suspended since it was started, ns: clock_ns() stands still then. */
uint64_t clock_suspended_ns(void);
