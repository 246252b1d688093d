/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a wake-up comes from. */
#pragma once

#include <stdbool.h>

#include "events.h"
#include "values.h"

static inline enum wake_context wake_context_of(const struct ev_sched_wake *e)
{
	return (enum wake_context)(e->context & ~WAKE_FOR_WORK);
}

/* Whether a request that the thread had made of the kernel is complete. */
static inline bool wake_is_for_work(const struct ev_sched_wake *e)
{
	return e->context & WAKE_FOR_WORK;
}
