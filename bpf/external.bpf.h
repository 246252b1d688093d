/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * External threads (--system): they have numbers, names and phases, and count
 * nowhere. Without that option the verifier leaves nothing of this.
 */
#pragma once

#include "emit.bpf.h"

#include <bpf/bpf_core_read.h>

/* NULL: it is traced, has not been listed yet, or is an idle thread. */
static __always_inline struct external_thread *external_of(struct task_struct *task)
{
	if (!tells_system || !task->pid)
		return NULL;
	return bpf_task_storage_get(&externals, task, NULL, 0);
}

static __always_inline __u32 external_number(struct task_struct *task)
{
	struct external_thread *external = external_of(task);

	return external ? external->number : 0;
}

/*
 * Begins to record a thread, its phase still unknown. NULL when that cannot be, or when the iterator
 * and a fork meet and the other one has begun.
 */
static __always_inline struct external_thread *external_add(struct task_struct *task)
{
	struct external_thread *external;
	__u32 number;

	external = bpf_task_storage_get(&externals, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	/* As in thread_add(). */
	if (!external)
		external = bpf_task_storage_get(&externals, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!external) {
		__sync_fetch_and_add(&system_here()->lost, 1);
		return NULL;
	}
	number = (__sync_fetch_and_add(&externals_seen, 1) + 1) | THREAD_EXTERNAL;
	return __sync_val_compare_and_swap(&external->number, 0, number) ? NULL : external;
}

/* It is traced from now on, under another number. */
static __always_inline void external_forget(struct task_struct *task)
{
	if (tells_system)
		bpf_task_storage_delete(&externals, task);
}

/* It leaves its CPU. Returns its number. */
static __always_inline __u32 external_leave(struct task_struct *task, __u32 reason)
{
	struct external_thread *external = external_of(task);

	if (!external)
		return 0;
	if (reason == SWITCH_RUNNABLE)
		external->phase = PHASE_RUNNABLE;
	else
		external->phase = reason == SWITCH_DEAD ? PHASE_DEAD : PHASE_BLOCKED;
	return external->number;
}

/* It gets a CPU. Returns its number. */
static __always_inline __u32 external_enter(struct task_struct *task)
{
	struct external_thread *external = external_of(task);

	if (!external)
		return 0;
	external->phase = PHASE_RUNNING;
	external->cpu = bpf_get_smp_processor_id();
	return external->number;
}

/* Who runs on this CPU from now on. */
static __always_inline void running_note(__u32 number, struct task_struct *task)
{
	struct system_cpu *here = system_here();

	if (!tells_system)
		return;
	here->running = number;
	here->running_tid = task->pid;
}

/* Why it is blocked, as far as that costs nothing: in which call, not on what. */
static __always_inline void external_wait(struct ev_sched_switch *e, struct task_struct *task)
{
	struct pt_regs *regs;

	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		e->flags |= SWITCH_IO_WAIT;
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (regs->orig_ax >= SYSCALLS_MAX)
		return;
	if (task->thread_info.status & COMPAT_STATUS)
		e->flags |= SWITCH_COMPAT;
	else
		e->syscall = regs->orig_ax;
}
