/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pause.h"

#include <stddef.h>

#include "base/clock.h"

void pause_take(struct pause *pause)
{
	if (!pause)
		return;
	pause->take(pause->data);
	pause->due_ns = clock_ns() + pause->period_ns;
}

void pause_take_if_due(struct pause *pause)
{
	if (pause && clock_ns() >= pause->due_ns)
		pause_take(pause);
}
