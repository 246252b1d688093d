/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pause.h"

#include <stddef.h>

#include "base/clock.h"

static void take(struct pause *pause)
{
	pause->take(pause->data);
	pause->due_ns = clock_ns() + pause->period_ns;
}

void pause_take_if_due(struct pause *pause)
{
	if (pause && clock_ns() >= pause->due_ns)
		take(pause);
}
