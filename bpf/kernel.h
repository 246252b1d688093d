/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All that we depend on in the kernel: these structs hold only the fields we use, and
 * CO-RE finds their places on the running kernel. Floor: Linux 5.19 with BTF.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct mm_struct {
	void *pgd;
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
};

struct thread_struct {
	unsigned long fsbase;
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int pid;
	int tgid;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	__u64 start_boottime;
	char comm[16];
	struct thread_struct thread;
};

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long ip, cs, flags, sp;
};

struct hrtimer_cpu_base {
	int cpu;
};

struct hrtimer_clock_base {
	struct hrtimer_cpu_base *cpu_base;
};

struct hrtimer {
	struct hrtimer_clock_base *base;
};

struct tick_sched {
	struct hrtimer sched_timer;
};

struct bpf_iter_meta {
	__u64 session_id;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_perf_event_data {
	struct pt_regs regs;
};

#pragma clang attribute pop

/* include/linux/sched.h: unchanged over the range of kernels we support. */
enum {
	TASK_INTERRUPTIBLE = 0x1,
	TASK_UNINTERRUPTIBLE = 0x2,
	TASK_STOPPED_OR_TRACED = 0x4 | 0x8,
	TASK_DEAD = 0x80,
	TASK_WAKING = 0x200,
	TASK_NEW = 0x800,
	PF_KTHREAD = 0x00200000,
};
