// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* When event loops come to their polls. Attached while these are watched, for each system call of the machine pays. */
#include "call.bpf.h"
#include "loop.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_tracing.h>

SEC("tp_btf/sys_enter")
int BPF_PROG(poll_begin, struct pt_regs *regs, long number)
{
	__u32 kind = poll_kinds[number & (SYSCALLS_MAX - 1)];
	struct thread_state *thread;

	if (!kind || is_foreign(regs))
		return 0;
	thread = thread_of(bpf_get_current_task_btf());
	if (thread && loop_comes_round(&thread->loop, regs, kind))
		thread->loop.came_ns = bpf_ktime_get_ns();
	return 0;
}
