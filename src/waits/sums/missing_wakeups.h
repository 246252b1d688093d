/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads did without a record of it, and why there is none: the kernel hid it, or records were
 * lost. The reason may come to light later: a switch that shows that a CPU had a hidden thread comes
 * when that one has left. What has no reason is unexplained.
 */
#pragma once

#include <stdint.h>

struct arena;
struct session;
struct missing_wakeups;
struct missing_wakeup;
struct wait_waker;

enum missing_kind {
	MISSING_CHANGE, /* of a thread from blocked to active */
	MISSING_WAKER,  /* who ended a wait */
	MISSING_KINDS,
};

enum missing_reason {
	MISSING_ODD,    /* none */
	MISSING_HIDDEN, /* a CPU had a thread that the kernel hides */
	MISSING_LOST,   /* records were lost on a CPU */
	MISSING_REASONS,
};

struct missing_wakeups *missing_wakeups_new(struct session *session);
void missing_wakeups_free(struct missing_wakeups *missing);

/*
 * It was between these moments. *open: what the reason may still be found for; NULL when it is known.
 * Valid until the next event.
 */
enum missing_reason missing_wakeups_add(struct missing_wakeups *missing, enum missing_kind kind, uint64_t begin_ns,
					uint64_t end_ns, struct missing_wakeup **open);

/*
 * The case stands in this list of wakers as lost, with this wait and this weight. open: NULL, there is none; weight: 0,
 * it was not added.
 */
void missing_wakeups_note_waker(struct missing_wakeup *open, struct arena *arena, struct wait_waker **list,
				uint64_t wait_ns, double weight);

uint64_t missing_wakeups_count(const struct missing_wakeups *missing, enum missing_kind kind,
			       enum missing_reason reason);
