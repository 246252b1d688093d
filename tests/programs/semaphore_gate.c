// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: six threads, `guest-0` to `guest-5`, want one of the slots that a semaphore
 * counts. Sixteen times the thread `keeper` (main) computes for 50 ms, when all six wait, and
 * releases one.
 * Known answer: the heaviest wait is `semaphore`, on slots, in take_slot(); its waker is
 * release_slot() in `keeper`.
 */
#include "roles.h"
#include <semaphore.h>

enum { GUESTS = 6, SLOTS = 16, SLOT_MS = 50 };

static sem_t slots;
static int slots_left = SLOTS; /* atomic */

/* Each guest's last slot, one that none are left for, tells it to end. */
static OWN_FRAME int take_slot(void)
{
	sem_wait(&slots);
	return __atomic_fetch_sub(&slots_left, 1, __ATOMIC_SEQ_CST) > 0;
}

static OWN_FRAME void release_slot(unsigned after_ms)
{
	compute_ms(after_ms);
	sem_post(&slots);
}

static void visit(int number)
{
	(void)number;
	while (take_slot())
		;
}

int main(void)
{
	struct role guests[GUESTS];

	role_name_self("keeper");
	sem_init(&slots, 0, 0);
	role_start_all(guests, GUESTS, "guest-%d", visit);
	for (int i = 0; i < SLOTS + GUESTS; i++) {
		if (i < SLOTS)
			role_await_all(guests, GUESTS, SYS_futex);
		release_slot(i < SLOTS ? SLOT_MS : 0);
	}
	role_join_all(guests, GUESTS);
	return 0;
}
