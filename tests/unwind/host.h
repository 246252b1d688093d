/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwinder of the BPF programs on the host, for one task. Whoever includes this has
 * bpf_map_lookup_elem() and bpf_probe_read_user(): where the maps and the task's memory are.
 */
#pragma once

#include <stddef.h>

#include "stack.bpf.h"
#include "unwind.bpf.c"
#undef const /* the shim of bpf_helpers.h takes it away from the programs */

static struct stack_scratch host_scratch;
static struct task_struct host_task;
static struct pt_regs host_registers;
static struct unwind_space host_space;

/* Unwinds the task from its registers: host_scratch has the frames, from the one numbered first on. */
static inline void host_unwind(__u32 first)
{
	struct thread_state thread = { .thread = 1 };

	subject_read(&host_scratch.subject, &host_task, &thread);
	host_scratch.first = first;
	unwind_user(&host_scratch, false);
}

long bpf_loop(__u32 count, long (*step)(__u32 index, void *data), void *data, __u64 flags __attribute__((unused)))
{
	__u32 i = 0;

	while (i < count && !step(i, data))
		i++;
	return i;
}

long bpf_task_pt_regs(struct task_struct *task __attribute__((unused)))
{
	return (long)&host_registers;
}
