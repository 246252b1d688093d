/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/own/tick_clock.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

enum { ATTEMPTS = 5 };

/* How fast ticks go is known from so long a time. */
static const uint64_t apart_ns = 10000000;

static uint64_t ticks_now(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return clock_ns();
#endif
}

void tick_clock_read(struct tick_clock *clock)
{
	uint64_t shortest_ns = UINT64_MAX;
	struct tick_reading best = { 0 };

	for (int i = 0; i < ATTEMPTS; i++) {
		uint64_t before_ns = clock_ns(), ticks = ticks_now(), took_ns = clock_ns() - before_ns;

		if (took_ns < shortest_ns) {
			shortest_ns = took_ns;
			best = (struct tick_reading){ ticks, before_ns + took_ns / 2 };
		}
	}
	if (!clock->next.ticks)
		clock->before = clock->next = best;
	if (best.ns >= clock->next.ns + apart_ns) {
		clock->before = clock->next;
		clock->next = best;
	}
	clock->last = best;
}

bool tick_clock_is_trusted(void)
{
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	char name[64] = "";

	if (file && !fgets(name, sizeof(name), file))
		name[0] = '\0';
	if (file)
		fclose(file);
	return !strcmp(name, "tsc\n");
}

/* The place of x on the line through two points, x0 below x1. */
static uint64_t on_line(uint64_t x, uint64_t x0, uint64_t y0, uint64_t x1, uint64_t y1)
{
	__int128 y = (__int128)x - x0;

	y = y * (int64_t)(y1 - y0) / (int64_t)(x1 - x0) + y0;
	return y < 0 ? 0 : y > UINT64_MAX ? UINT64_MAX : (uint64_t)y;
}

uint64_t tick_clock_ns(const struct tick_clock *clock, uint64_t ticks)
{
	const struct tick_reading *before = &clock->before, *last = &clock->last;

	if (!before->ticks || last->ticks <= before->ticks)
		return 0;
	return on_line(ticks, before->ticks, before->ns, last->ticks, last->ns);
}

uint64_t tick_clock_ticks(const struct tick_clock *clock, uint64_t ns)
{
	const struct tick_reading *before = &clock->before, *last = &clock->last;

	if (!before->ticks || last->ns <= before->ns)
		return 0;
	return on_line(ns, before->ns, before->ticks, last->ns, last->ticks);
}
