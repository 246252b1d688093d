/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/wait_last.h"

enum { NEXT_TO_NOTHING_NS = 1000000, NEXT_TO_NOTHING_PARTS = 100, WAIT_PARTS = 10 };

/* Whether the thread has run next to nothing since then. */
static bool is_just_after(const struct last_wait *last, uint64_t running_ns)
{
	uint64_t nothing_ns = last->wait_ns / NEXT_TO_NOTHING_PARTS;

	if (nothing_ns < NEXT_TO_NOTHING_NS)
		nothing_ns = NEXT_TO_NOTHING_NS;
	running_ns -= last->running_ns;
	return running_ns <= nothing_ns && running_ns <= last->wait_ns / WAIT_PARTS;
}

static bool is_on_way_out(const struct last_wait *leaving, const struct last_wait *next)
{
	bool is_mutex_of_condition = leaving->cause == CAUSE_CONDITION && next->cause == CAUSE_LOCK;

	return is_just_after(leaving, next->running_ns) &&
	       next->wait_ns <= leaving->wait_ns / (is_mutex_of_condition ? 1 : WAIT_PARTS);
}

void wait_last_set(struct open_wait *wait, const struct last_wait *last, bool is_to_die)
{
	if (wait->is_dying)
		return;
	wait->is_dying = is_to_die;
	if (!is_on_way_out(&wait->leaving, last))
		wait->leaving = *last;
	wait->last = *last;
}

bool wait_last_is_to_end(const struct wait_party *party, const struct last_wait *last)
{
	return party->wait->is_dying || is_just_after(last, party->running_ns);
}
