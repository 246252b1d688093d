/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the current thread does something itself, or was interrupted by what does. The kernel
 * counts that in a variable of each CPU, and where all can be preempted (PREEMPT_RT) in each thread.
 */
#pragma once

#include "read.bpf.h"

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
	struct cpu_counts *here = counts_here();

	if (!preempt_count_offset || !bpf_core_field_exists(current->se.cfs_rq))
		return 0;
	if (!here->preempt_count)
		here->preempt_count = unfollowed(here, (__u64)for_pointers(current)->se.cfs_rq->rq) - runqueues_offset +
				      preempt_count_offset;
	return kernel_word(here->preempt_count);
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
