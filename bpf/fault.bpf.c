// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where page faults are: a thread that blocks in one has nothing else to tell it by. This runs at
 * every fault in user space, so it only notes the address of traced threads.
 */
#include "cost.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_tracing.h>

SEC("tp_btf/page_fault_user")
int BPF_PROG(page_fault, unsigned long address, struct pt_regs *regs)
{
	struct cpu_counts *here = counts_here();
	__u64 begin_ns = cost_begin(here);
	struct thread_state *thread = thread_of(bpf_get_current_task_btf());

	if (thread) {
		thread->fault_address = address;
		thread->fault_ip = regs->ip;
	}
	cost_end(here, begin_ns);
	return 0;
}
