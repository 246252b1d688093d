/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits from which a thread was woken for nothing but to end. On its way out it may wait again, not for
 * long beside what it waited before, unless it is for the mutex of the condition by which it was called:
 * all of its kind want that one then.
 */
#pragma once

#include <stdbool.h>

#include "waits/sums/open_wait.h"

/* last: the wait has ended so; is_to_die: of a thread that is to die then. */
void wait_last_set(struct open_wait *wait, const struct last_wait *last, bool is_to_die);

/* Whether the thread was woken from a wait to die, or has run next to nothing since the last one. */
bool wait_last_is_to_end(const struct wait_party *party, const struct last_wait *last);
