// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where traced threads run, at the sampling period. The kernel's own tick
 * tells on each CPU when there is a tick and the period is a multiple of its own: interrupts
 * of timers that we start would cost more than all the rest (doc/decisions/0010).
 */
#include "stack.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_tracing.h>

enum { KERNEL_SPACE_BIT = 63 };

/* The current thread was interrupted at ip. */
static __always_inline void sample_take(void *ctx, struct task_struct *task, __u64 ip)
{
	struct thread_state *thread = thread_of(task);
	__u64 kernel_ip = ip >> KERNEL_SPACE_BIT ? ip : 0, stack;
	struct ev_sched_sample *e;
	struct pt_regs *user;
	void *ring;

	if (!thread)
		return;
	ring = sample_ring_here();
	if (!ring)
		return;
	/* Its frames go out first. */
	stack = stack_of_sample(ctx, task, thread, kernel_ip);
	e = bpf_ringbuf_reserve(ring, sizeof(*e), 0);
	if (!e) {
		__sync_fetch_and_add(&counts_here()->samples_lost, 1);
		return;
	}
	header_fill(&e->header, EV_SCHED_SAMPLE, thread->thread);
	if (kernel_ip) {
		user = (struct pt_regs *)bpf_task_pt_regs(task);
		ip = BPF_CORE_READ(user, ip);
	}
	e->kernel_ip = kernel_ip;
	e->ip = ip;
	e->stack = stack;
	event_submit(e);
}

/* A timer of ours. */
SEC("perf_event")
int sample_timer(struct bpf_perf_event_data *ctx)
{
	sample_take(ctx, bpf_get_current_task_btf(), ctx->regs.ip);
	return 0;
}

/*
 * Any timer of this CPU. The tick's, the base that it is queued at and the pointer to what the
 * interrupt has interrupted are all per-CPU variables, so they are as far apart on each CPU as
 * the kernel's type information says.
 */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(sample_tick, struct hrtimer *timer)
{
	__u64 here = (__u64)timer - tick_cpu_sched_offset - bpf_core_field_offset(struct tick_sched, sched_timer);
	struct pt_regs *regs = NULL;

	if (here + hrtimer_bases_offset != (__u64)timer->base->cpu_base || counts_here()->ticks++ % sample_each_ticks)
		return 0;
	bpf_probe_read_kernel(&regs, sizeof(regs), (void *)here + irq_regs_offset);
	sample_take(ctx, bpf_get_current_task_btf(), BPF_CORE_READ(regs, ip));
	return 0;
}
