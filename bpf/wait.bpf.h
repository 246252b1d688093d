/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a thread that blocks waits for, as its own registers tell (DESIGN section 2): no system call
 * is probed. What that means is for the engine to say.
 */
#pragma once

#include "file.bpf.h"

enum {
	COMPAT_STATUS = 2,	/* TS_COMPAT of arch/x86/include/asm/thread_info.h */
	OPERATION_MAX = 0xffff,
};

struct pollfd {
	int fd;
	short events, revents;
};

struct futex_waiter {		/* struct futex_waitv */
	__u64 value, address;
};

static __always_inline __u32 saturated(__u64 value)
{
	return value > 0xffffffff ? 0xffffffff : value;
}

/* Only the current thread's memory can be read. */
static __always_inline bool user_read(void *to, __u32 bytes, struct task_struct *task, __u64 address)
{
	return task == bpf_get_current_task_btf() &&
	       !bpf_probe_read_user(to, bytes, (void *)address);
}

/* The word of a futex, and those around it where libraries keep who holds a lock. */
static __always_inline void futex_read(struct ev_sched_switch *e, struct task_struct *task,
				       __u64 address)
{
	__u32 words[5] = {};

	/* What lies behind it may be on a page that is not there. */
	if (!user_read(words, sizeof(words), task, address))
		user_read(words, sizeof(words[0]), task, address);
	e->value = words[0];
	e->owners[0] = words[2];
	e->owners[1] = words[3];
	e->owners[2] = words[4];
}

static __always_inline void futexes_read(struct ev_sched_switch *e, struct task_struct *task,
					 __u64 address)
{
	struct futex_waiter first = {};

	user_read(&first, sizeof(first), task, address);
	e->object = first.address;
	futex_read(e, task, first.address);
}

static __always_inline void poll_read(struct ev_sched_switch *e, struct task_struct *task,
				      struct thread_state *thread, struct pt_regs *regs,
				      enum scratch_owner owner)
{
	struct pollfd first = {};
	int wait_ms = regs->dx;

	e->object = 0;
	e->value = regs->si;
	e->operation = wait_ms < 0 || wait_ms >= OPERATION_MAX ? OPERATION_MAX : wait_ms;
	if (regs->si == 1 && user_read(&first, sizeof(first), task, regs->di))
		e->object = file_of(task, thread, first.fd, owner);
}

/* It goes on with the call that a signal interrupted, if that was seen: none has the number 0. */
static __always_inline void restart_read(struct ev_sched_switch *e,
					 const struct thread_state *thread)
{
	e->object = 0;
	if (!thread->wait_syscall)
		return;
	e->syscall = thread->wait_syscall;
	e->operation = thread->wait_operation;
	e->object = thread->wait_object;
}

static __always_inline void argument_read(struct ev_sched_switch *e, struct task_struct *task,
					  struct thread_state *thread, struct pt_regs *regs,
					  enum scratch_owner owner)
{
	__u32 number = e->syscall;

	e->object = regs->di;
	switch (wait_arguments[number & (SYSCALLS_MAX - 1)]) {
	case ARGUMENT_FUTEX:
		e->operation = regs->si;
		futex_read(e, task, regs->di);
		break;
	case ARGUMENT_FUTEX_FLAGS:
		e->operation = regs->r10;
		futex_read(e, task, regs->di);
		break;
	case ARGUMENT_FUTEX_VECTOR:
		futexes_read(e, task, regs->di);
		break;
	case ARGUMENT_FILE:
		e->value = regs->di;
		e->operation = regs->si;
		e->object = file_of(task, thread, regs->di, owner);
		e->owners[0] = saturated(regs->dx);
		e->owners[1] = saturated(regs->r10);
		e->owners[2] = saturated(regs->r8);
		break;
	case ARGUMENT_POLL:
		poll_read(e, task, thread, regs, owner);
		break;
	case ARGUMENT_RESTART:
		restart_read(e, thread);
		break;
	default:
		e->value = regs->si;
	}
}

/* A blocked thread, or the current one that blocks. */
static __always_inline void wait_describe(struct ev_sched_switch *e, struct task_struct *task,
					  struct thread_state *thread, enum scratch_owner owner)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	__u64 number = regs->orig_ax;

	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		e->flags |= SWITCH_IO_WAIT;
	if (number >= SYSCALLS_MAX || task->flags & (PF_IO_WORKER | PF_USER_WORKER))
		return;
	if (task->thread_info.status & COMPAT_STATUS) {
		e->flags |= SWITCH_COMPAT;
		return;
	}
	e->syscall = number;
	argument_read(e, task, thread, regs, owner);
	thread->wait_syscall = e->syscall;
	thread->wait_operation = e->operation;
	thread->wait_object = e->object;
}
