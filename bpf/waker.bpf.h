/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who or what wakes a thread. */
#pragma once

#include "thread.bpf.h"

/*
 * Whether the current thread has to do with a wake-up in this context: what a thread sends to its own
 * machine is received in an interrupt of its own.
 */
static __always_inline bool may_be_sender(struct task_struct *current, __u8 context)
{
	return context <= WAKE_KERNEL_THREAD || (context == WAKE_SOFTIRQ && for_pointers(current)->mm);
}

/* Whether both have the same memory. */
static __always_inline bool has_memory_of(struct task_struct *task, struct task_struct *current)
{
	struct mm_struct *memory = for_pointers(task)->mm;

	return memory && memory == for_pointers(current)->mm;
}

/* Whether an interrupt that wakes the thread has work of the kernel's for it. */
static __always_inline bool is_for_work(struct task_struct *task, __u8 context)
{
	return context > WAKE_KERNEL_THREAD && for_pointers(task)->task_works;
}

/* What wakes: the current thread, or what has interrupted it. */
static __always_inline void waker_describe(struct ev_sched_wake *e, struct task_struct *current,
					   const struct thread_state *waker)
{
	struct pt_regs *regs;

	e->tid = current->pid;
	e->pid = current->tgid;
	if (tells_system && !waker)
		e->waker = external_number(current);
	if (current->flags & PF_KTHREAD)
		return;
	regs = (struct pt_regs *)bpf_task_pt_regs(current);
	if (waker)
		e->waker = waker->thread;
	/* Calls of 32 bits have numbers of their own. */
	if (regs->orig_ax >= SYSCALLS_MAX || current->thread_info.status & COMPAT_STATUS)
		return;
	e->syscall = regs->orig_ax;
	if (!waker)
		return;
	e->operation = regs->si;
	e->object = regs->di;
}

/*
 * A timer ends a sleep between two tries to take a lock, and who has the lock is to blame for it: the wake-up is recorded as
 * if it were by that one. Whether it is.
 */
static __always_inline bool holder_describe(struct ev_sched_wake *e, const struct thread_state *thread, __u8 context)
{
	const struct lock_try *try = &thread->lock_try;

	if (!try->is_awaited || !try->holder || context <= WAKE_KERNEL_THREAD)
		return false;
	e->context = WAKE_THREAD;
	e->waker = try->holder;
	e->tid = try->holder_tid;
	e->pid = try->holder_pid;
	return true;
}

/* Which interrupt wakes, if one does. */
static __always_inline void interrupt_describe(struct ev_sched_wake *e, __u8 context)
{
	const struct system_cpu *now;

	if (!tells_system || context <= WAKE_KERNEL_THREAD)
		return;
	now = system_here();
	if (context == WAKE_HARDIRQ)
		e->operation = now->irq;
	else
		e->flags |= now->softirq << WAKE_VECTOR_SHIFT;
	if (now->is_timer && !e->operation)
		e->flags |= WAKE_BY_TIMER;
}
