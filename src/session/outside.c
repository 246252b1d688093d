/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/outside.h"

const struct ev_sched_switch *switch_of_target(const struct ev_sched_switch *e, struct ev_sched_switch *room)
{
	if (!thread_is_outside(e->header.thread | e->next))
		return e;
	*room = *e;
	if (thread_is_outside(e->header.thread)) {
		room->header.thread = 0;
		room->state = SWITCH_RUNNABLE;
		room->flags &= SWITCH_AFTER_HIDDEN;
		room->syscall = SYSCALL_NONE;
	}
	if (thread_is_outside(e->next))
		room->next = 0;
	return room;
}

const struct ev_sched_wake *wake_of_target(const struct ev_sched_wake *e, struct ev_sched_wake *room)
{
	if (!thread_is_outside(e->waker) && e->context <= WAKE_KERNEL_THREAD)
		return e;
	*room = *e;
	if (thread_is_outside(e->waker))
		room->waker = 0;
	room->flags &= ~(WAKE_BY_TIMER | WAKE_VECTOR);
	if (e->context == WAKE_HARDIRQ)
		room->operation = 0;
	return room;
}
