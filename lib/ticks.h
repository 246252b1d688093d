/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock of time stamps, and what it says in ns of CLOCK_MONOTONIC. Async-signal-safe. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "pinchtrace_format.h"

/* Whether time stamps are the time stamp counter's. Set once, at the start. */
extern bool pinchtrace_has_tsc;

void pinchtrace_ticks_init(void);

/* How much later CLOCK_MONOTONIC is in this process's time namespace than on the machine; 0 where the kernel does not say. */
int64_t pinchtrace_clock_shift(void);

/* Both clocks at one moment, as near as a few attempts get. */
void pinchtrace_pair_take(struct pinchtrace_pair *pair);

static inline uint64_t pinchtrace_clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* Apart, so that an event that reads the counter saves no registers for it. */
uint64_t pinchtrace_ticks_monotonic(void);

/* Where pinchtrace_has_tsc. */
static inline uint64_t pinchtrace_tsc(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

static inline uint64_t pinchtrace_ticks(void)
{
	return __builtin_expect(pinchtrace_has_tsc, 1) ? pinchtrace_tsc() : pinchtrace_ticks_monotonic();
}
