/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "area/ticks.h"

#include "area/area.h"
#include "base/clock.h"
#include "base/whole.h"

/* Counters of 100 MHz to 20 GHz. */
static const double NS_PER_TICK_MIN = 0.05, NS_PER_TICK_MAX = 10;

static double speed(const struct pinchtrace_pair *first, const struct pinchtrace_pair *last)
{
	if (last->ticks <= first->ticks || last->monotonic_ns <= first->monotonic_ns)
		return 0;
	return (double)(last->monotonic_ns - first->monotonic_ns) / (double)(last->ticks - first->ticks);
}

static bool is_speed(double ns_per_tick)
{
	return ns_per_tick >= NS_PER_TICK_MIN && ns_per_tick <= NS_PER_TICK_MAX;
}

static struct pinchtrace_pair pair_now(void)
{
	struct pinchtrace_pair pair = { 0 };

#ifdef __x86_64__
	pair.ticks = __builtin_ia32_rdtsc();
#endif
	pair.monotonic_ns = clock_ns();
	return pair;
}

struct area_ticks area_ticks_of(const struct area_facts *facts)
{
	struct area_ticks clock = { facts->last_pair.ticks, facts->last_pair.monotonic_ns, 1, true };
	struct pinchtrace_pair now = pair_now();
	double ns_per_tick = speed(&facts->first_pair, &now);

	if (facts->clock == PINCHTRACE_CLOCK_MONOTONIC) {
		clock.ticks = clock.ns = 0;
		return clock;
	}
	/* Of another machine, or of this one before it was started again, it is none. */
	if (!is_speed(ns_per_tick))
		ns_per_tick = speed(&facts->first_pair, &facts->last_pair);
	clock.is_known = is_speed(ns_per_tick);
	if (clock.is_known)
		clock.ns_per_tick = ns_per_tick;
	return clock;
}

uint64_t area_ticks_ns(const struct area_ticks *clock, uint64_t ticks)
{
	double ns = (double)(int64_t)(ticks - clock->ticks) * clock->ns_per_tick;
	uint64_t length_ns = whole(ns < 0 ? -ns : ns);

	if (ns < 0)
		return length_ns < clock->ns ? clock->ns - length_ns : 0;
	return length_ns < UINT64_MAX - clock->ns ? clock->ns + length_ns : UINT64_MAX;
}
