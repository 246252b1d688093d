// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Data has come to a socket. This runs whenever that happens on the machine, so it only notes which one it is, and nothing while
 * nobody waits: bpf/ready.bpf.h says for what. Since Linux 6.4.
 */
#include "cost.bpf.h"

#include <bpf/bpf_tracing.h>

SEC("tp_btf/sk_data_ready")
int BPF_PROG(data_ready, const struct sock *sock)
{
	struct cpu_counts *here = counts_here();
	__u64 begin_ns;

	if (!polls_open)
		return 0;
	begin_ns = cost_begin(here);
	here->ready_socket = (__u64)sock;
	here->ready_ns = bpf_ktime_get_ns();
	here->ready_task = (__u64)bpf_get_current_task_btf();
	cost_end(here, begin_ns);
	return 0;
}
