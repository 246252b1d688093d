/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads did without a record of it, and why there is none: the kernel hid it, or records were
 * lost. The reason may come to light later: a switch that shows that a CPU had a hidden thread comes
 * when that one has left. What has no reason is odd.
 */
#pragma once

#include <stdint.h>

struct arena;
struct session;
struct untold;
struct untold_case;
struct wait_waker;

enum untold_kind {
	UNTOLD_CHANGE, /* of a thread from blocked to active */
	UNTOLD_WAKER,  /* who ended a wait */
	UNTOLD_KINDS,
};

enum untold_reason {
	UNTOLD_ODD,    /* none */
	UNTOLD_HIDDEN, /* a CPU had a thread that the kernel hides */
	UNTOLD_LOST,   /* records were lost on a CPU */
	UNTOLD_REASONS,
};

struct untold *untold_new(struct session *session);
void untold_free(struct untold *untold);

/*
 * It was between these moments. *open: what the reason may still be found for; NULL when it is known.
 * Valid until the next event.
 */
enum untold_reason untold_add(struct untold *untold, enum untold_kind kind, uint64_t begin_ns, uint64_t end_ns,
			      struct untold_case **open);

/*
 * The case stands in this list of wakers as lost, with this wait and this weight. open: NULL, there is none; weight: 0,
 * it was not added.
 */
void untold_note_waker(struct untold_case *open, struct arena *arena, struct wait_waker **list, uint64_t wait_ns,
		       double weight);

uint64_t untold_count(const struct untold *untold, enum untold_kind kind, enum untold_reason reason);
