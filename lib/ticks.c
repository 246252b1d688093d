/* SPDX-License-Identifier: BSD-2-Clause */
#include "ticks.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "environment.h"

bool pinchtrace_has_tsc;

/* Whether the counter runs at one speed, whatever the CPU does. */
static bool tsc_is_invariant(void)
{
#ifdef __x86_64__
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
#else
	return false;
#endif
}

void pinchtrace_ticks_init(void)
{
	pinchtrace_has_tsc = !pinchtrace_environment.is_monotonic && tsc_is_invariant();
}

__attribute__((cold)) uint64_t pinchtrace_ticks_monotonic(void)
{
	return pinchtrace_clock_ns(CLOCK_MONOTONIC);
}

void pinchtrace_pair_take(struct pinchtrace_pair *pair)
{
	struct pinchtrace_pair taken;
	uint64_t before_ns;
	int i;

	pair->error_ns = UINT64_MAX;
	for (i = 0; i < 5; i++) {
		before_ns = pinchtrace_clock_ns(CLOCK_MONOTONIC);
		taken.ticks = pinchtrace_ticks();
		taken.error_ns = pinchtrace_clock_ns(CLOCK_MONOTONIC) - before_ns;
		taken.monotonic_ns = before_ns + taken.error_ns / 2;
		if (taken.error_ns < pair->error_ns)
			*pair = taken;
	}
}
