/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the current thread does something itself, or was interrupted by what does. The kernel
 * counts that in a variable of each CPU, and where all can be preempted (PREEMPT_RT) in each thread.
 */
#pragma once

#include "state.bpf.h"

#include <bpf/bpf_core_read.h>

/* include/linux/preempt.h */
enum {
	SERVES_SOFTIRQ = 1 << 8,
	IN_INTERRUPT = 0xff << 16, /* one that can be masked or one that cannot */
};

/*
 * Where a CPU's variables lie, its queue of threads says: they are as far apart on each CPU as the
 * kernel's type information says.
 */
static __always_inline int preempt_count(struct task_struct *current)
{
	int count = 0;

	if (preempt_count_offset && bpf_core_field_exists(current->se.cfs_rq))
		bpf_probe_read_kernel(&count, sizeof(count),
				      (void *)for_pointers(current)->se.cfs_rq->rq - runqueues_offset +
					      preempt_count_offset);
	return count;
}

static __always_inline enum wake_context context_here(struct task_struct *current)
{
	int count = preempt_count(current);

	if (count & IN_INTERRUPT)
		return WAKE_HARDIRQ;
	if (bpf_core_field_exists(current->softirq_disable_cnt))
		count |= current->softirq_disable_cnt;
	if (count & SERVES_SOFTIRQ)
		return WAKE_SOFTIRQ;
	return current->flags & PF_KTHREAD ? WAKE_KERNEL_THREAD : WAKE_THREAD;
}
