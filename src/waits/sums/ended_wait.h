/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a wait. */
#pragma once

#include <stdint.h>

#include "waits/sums/open_wait.h"
#include "waits/sums/wait_rows.h"

struct other;
struct missing_wakeup;

/* Who ended a wait, as it is added to a path and to a lock. */
struct wait_end {
	enum waker_kind kind;
	const struct wait_party *waker; /* NULL: not traced */
	const struct other *other;      /* NULL: nobody, or it is traced */
	uint64_t stack, now_ns;
	uint64_t cmetric_ns; /* the criticality of the wake-up */
	uint64_t busy_ns;    /* in which the waker was busy since the wait began */
	/* The same two before it began, since its first part did that time ended: wait_repeats.h. */
	struct history_sum before;
	double weight;               /* waits that it stands for; 0: its stack was not kept */
	struct missing_wakeup *open; /* who ended it may still turn out to be hidden; NULL: not */
};
