/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwinder of the BPF programs on the host, for one task. Whoever includes this has
 * bpf_map_lookup_elem() and bpf_probe_read_user(): where the maps and the task's memory are.
 */
#pragma once

#include <stddef.h>

#include "unwind.bpf.h"
#undef const		/* the shim of bpf_helpers.h takes it away from the programs */

static struct stack_scratch host_scratch;
static struct task_struct host_task;
static struct pt_regs host_registers;
static struct unwind_space host_space;

long bpf_loop(__u32 count, long (*step)(__u32 index, void *data), void *data,
	      __u64 flags __attribute__((unused)))
{
	__u32 i = 0;

	while (i < count && !step(i, data))
		i++;
	return i;
}

void *bpf_task_storage_get(void *map __attribute__((unused)),
			   struct task_struct *task __attribute__((unused)),
			   void *value __attribute__((unused)), __u64 flags __attribute__((unused)))
{
	return NULL;
}

long bpf_task_pt_regs(struct task_struct *task __attribute__((unused)))
{
	return (long)&host_registers;
}

struct task_struct *bpf_get_current_task_btf(void)
{
	return &host_task;
}
