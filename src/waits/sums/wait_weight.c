/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/wait_weight.h"

#include <stdbool.h>

#include "events.h"
#include "session/threads.h"
#include "values.h"
#include "waits/sums/ended_wait.h"

static double probability(uint32_t keep)
{
	return keep ? keep * 0x1p-32 : 1;
}

double wait_weigh(const struct wait_party *party, const struct ev_sched_wake *e, const struct wait_party *waker,
		  struct wait_end *end, uint64_t *stack)
{
	const struct open_wait *wait = party->wait;
	/* The coin is of the thread that ran, even if it was an interrupt that woke. */
	bool is_within = waker && waker->thread->pid == party->thread->pid;
	double p1 = probability(wait->keep), p2 = e ? probability(e->keep) : 1, p = 0;

	if (wait->has_stack) {
		p = is_within && p2 > p1 ? p2 : p1;
		*stack = wait->stack;
	} else if (e && e->flags & WAKE_HAS_WAIT_STACK) {
		p = p2;
		*stack = e->wait_stack;
	}
	if (!p)
		return 0;
	if (!end->waker)
		end->weight = 1 / p;
	else if (e && e->flags & WAKE_HAS_STACK)
		end->weight = 1 / (is_within || p2 < p1 ? p2 : p1);
	return 1 / p;
}
