// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where traced threads run while few are active. Fires on each CPU at the sampling period.
 */
#include "active.bpf.h"
#include "emit.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_tracing.h>

enum { KERNEL_SPACE_BIT = 63 };

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_state *thread = thread_of(task);
	__u32 cpu = bpf_get_smp_processor_id();
	struct ev_sched_sample *e;
	struct pt_regs *user;
	__u64 ip;
	void *ring;

	if (!thread || !few_are_active())
		return 0;
	ip = ctx->regs.ip;
	ring = bpf_map_lookup_elem(&sample_rings, &cpu);
	if (!ring)
		return 0;
	e = bpf_ringbuf_reserve(ring, sizeof(*e), 0);
	if (!e) {
		__sync_fetch_and_add(&counts_here()->samples_lost, 1);
		return 0;
	}
	header_fill(&e->header, EV_SCHED_SAMPLE, thread->thread);
	if (ip >> KERNEL_SPACE_BIT) {
		user = (struct pt_regs *)bpf_task_pt_regs(task);
		e->kernel_ip = ip;
		e->ip = BPF_CORE_READ(user, ip);
	} else {
		e->kernel_ip = 0;
		e->ip = ip;
	}
	event_submit(e);
	return 0;
}
