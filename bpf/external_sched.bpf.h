/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches and wake-ups of external threads (--system). */
#pragma once

#include "context.bpf.h"
#include "slots.bpf.h"
#include "switch.bpf.h"
#include "waker.bpf.h"

/* Of a switch, those who are not traced, by their numbers; 0: traced, or not recorded. */
struct externals_switched {
	__u32 out, in;
	__u32 reason; /* why the first one leaves the CPU */
};

/* prev, next: NULL for one who is traced. */
static __always_inline struct externals_switched externals_switch(struct cpu_counts *here, struct task_struct *prev,
								  struct task_struct *next, __u32 reason)
{
	struct externals_switched switched = { .reason = reason };

	if (prev)
		switched.out = unfollowed(here, external_leave(prev, reason));
	if (!next)
		return switched;
	switched.in = unfollowed(here, external_enter(next));
	running_note(switched.in, next);
	return switched;
}

static __always_inline void externals_emit(struct ev_sched_switch *e, struct externals_switched switched,
					   struct task_struct *prev)
{
	if (switched.in)
		e->next = switched.in;
	if (!switched.out)
		return;
	e->header.thread = switched.out;
	e->state = switched.reason;
	if (is_blocking(switched.reason))
		external_wait(e, prev);
}

/* The same with --system, where all are recorded and not only those who take turns. */
static __always_inline void external_switch(struct cpu_counts *here, struct task_struct *prev, struct task_struct *next,
					    __u32 reason, __u32 is_hidden)
{
	struct externals_switched switched = externals_switch(here, prev, next, reason);
	struct ev_sched_switch *e;

	if (prev->pid)
		other_emit(here, prev);
	e = slot_begin(here, EV_SCHED_SWITCH, 0);
	if (!e)
		return;
	event_clear(e, sizeof(*e));
	e->cpu = bpf_get_smp_processor_id();
	e->syscall = SYSCALL_NONE;
	e->value = prev->pid;
	e->object = next->pid;
	e->flags = is_hidden * SWITCH_AFTER_HIDDEN;
	externals_emit(e, switched, prev);
	slot_end(here);
}

static __always_inline void external_wake(struct cpu_counts *here, struct task_struct *task,
					  struct task_struct *current)
{
	struct external_thread *external = external_of(task);
	struct ev_sched_wake *e;
	__u8 context;

	if (!external || __sync_val_compare_and_swap(&external->phase, PHASE_BLOCKED, PHASE_RUNNABLE) != PHASE_BLOCKED)
		return;
	context = context_here(current);
	e = slot_begin(here, EV_SCHED_WAKE, external->number);
	if (!e)
		return;
	event_clear(e, sizeof(*e));
	e->context = context;
	e->syscall = SYSCALL_NONE;
	if (task->pending.signal.sig[0] & SIGKILL_PENDING)
		e->flags = WAKE_TO_DIE;
	interrupt_describe(e, context);
	if (may_be_sender(current, context))
		waker_describe(e, current, thread_of(current));
	slot_end(here);
}
