/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/external_threads.h"

#include "session/wake_context.h"

const struct ev_sched_switch *switch_of_target(const struct ev_sched_switch *e, struct ev_sched_switch *buffer)
{
	if (!thread_is_external(e->header.thread | e->next))
		return e;
	*buffer = *e;
	if (thread_is_external(e->header.thread)) {
		buffer->header.thread = 0;
		buffer->state = SWITCH_RUNNABLE;
		buffer->flags &= SWITCH_AFTER_HIDDEN;
		buffer->syscall = SYSCALL_NONE;
	}
	if (thread_is_external(e->next))
		buffer->next = 0;
	return buffer;
}

const struct ev_sched_wake *wake_of_target(const struct ev_sched_wake *e, struct ev_sched_wake *buffer)
{
	if (!thread_is_external(e->waker) && wake_context_of(e) <= WAKE_KERNEL_THREAD)
		return e;
	*buffer = *e;
	if (thread_is_external(e->waker))
		buffer->waker = 0;
	buffer->flags &= ~(WAKE_BY_TIMER | WAKE_VECTOR);
	if (wake_context_of(e) == WAKE_HARDIRQ)
		buffer->operation = 0;
	return buffer;
}
