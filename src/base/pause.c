/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pause.h"

#include <stddef.h>
#include <time.h>

static uint64_t time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

void pause_take(struct pause *pause)
{
	if (!pause)
		return;
	pause->take(pause->data);
	pause->due_ns = time_ns() + pause->period_ns;
}

void pause_take_if_due(struct pause *pause)
{
	if (pause && time_ns() >= pause->due_ns)
		pause_take(pause);
}
