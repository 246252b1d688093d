/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many waits one stands for whose stacks were kept, where not all are. */
#pragma once

#include <stdint.h>

struct ev_sched_wake;
struct wait_end;
struct wait_party;

/*
 * One coin decides about the stacks at both ends of a wait (bpf/sched.bpf.c): with the chance p1 when
 * it begins and p2 when it ends. Sets the weight of the waker's; returns that of the wait's own, 0 when
 * its stack was not kept, and which that is. e, waker: NULL: nobody is known to have ended it.
 */
double wait_weigh(const struct wait_party *party, const struct ev_sched_wake *e, const struct wait_party *waker,
		  struct wait_end *end, uint64_t *stack);
