// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where traced threads run, at the sampling period. The kernel's own tick
 * tells on each CPU when there is a tick and the period is a multiple of its own: interrupts
 * of timers that we start would cost more than all the rest (doc/decisions/0010).
 */
#include "hidden.bpf.h"
#include "loop.bpf.h"
#include "stack.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_tracing.h>

enum { KERNEL_SPACE_BIT = 63 };

static __always_inline __u64 register_hash(__u64 value, int number)
{
	enum { HASH_BITS = 4 };

	return value * 0x9e3779b97f4a7c15 >> (64 - HASH_BITS) << number * HASH_BITS;
}

/* Enough to see whether registers have the values that they had at another sample, by the processor's numbers. */
#define REGISTERS(regs)                                                                                  \
	(register_hash((regs).ax, 0) | register_hash((regs).cx, 1) | register_hash((regs).dx, 2) |       \
	 register_hash((regs).bx, 3) | register_hash((regs).sp, 4) | register_hash((regs).bp, 5) |       \
	 register_hash((regs).si, 6) | register_hash((regs).di, 7) | register_hash((regs).r8, 8) |       \
	 register_hash((regs).r9, 9) | register_hash((regs).r10, 10) | register_hash((regs).r11, 11) |   \
	 register_hash((regs).r12, 12) | register_hash((regs).r13, 13) | register_hash((regs).r14, 14) | \
	 register_hash((regs).r15, 15))

/* By itself, for it has space on the stack that finding the call path needs later. */
static __noinline __u64 interrupted_registers(const void *address)
{
	struct pt_regs regs = { 0 };

	bpf_probe_read_kernel(&regs, sizeof(regs), address);
	return REGISTERS(regs);
}

/* Where in the program the sample is that has this call path: within a managed function that stands for the address. */
static __always_inline __u64 sample_place(__u64 ip, __u64 stack)
{
	__u32 key = SCRATCH_OF_SAMPLES;
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &key);
	__u64 frame;

	if (!s || !stack || !s->managed_count)
		return ip;
	frame = s->frames[s->first & (STACK_FRAMES_CAPACITY - 1)];
	return frame & STACK_FRAME_MANAGED ? frame : ip;
}

/*
 * The current thread was interrupted at ip, where its registers were so, by a timer that was to expire at due_ns.
 * period_ns: of such samples.
 */
static __always_inline void sample_take(void *ctx, struct task_struct *task, __u64 ip, __u64 registers, __u64 due_ns,
					__u32 period_ns, __u8 role)
{
	struct thread_state *thread = thread_of(task);
	__u64 kernel_ip = ip >> KERNEL_SPACE_BIT ? ip : 0, stack;
	struct ev_sched_sample *e;
	struct pt_regs *user;
	void *ring;

	if (!thread)
		return;
	if (is_off_cpu(thread->phase))
		hidden_return(thread);
	ring = sample_ring_here();
	if (!ring)
		return;
	/* Its frames go out first. */
	stack = stack_of_sample(ctx, task, thread, kernel_ip);
	if (stack && !samples_have_stacks)
		samples_have_stacks = 1;
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
	e->ip = sample_place(ip, stack);
	e->stack = stack;
	e->registers = kernel_ip ? 0 : registers;
	e->due_ns = due_ns;
	e->period_ns = period_ns;
	e->role = role;
	turn_describe(e, &thread->loop);
	event_submit(e);
	loop_ask(&thread->loop, task);
}

/* A timer of ours. */
SEC("perf_event")
int sample_timer(struct bpf_perf_event_data *ctx)
{
	__u64 due_ns = counts_here()->timer_due_ns;

	if (!due_ns) /* at least the stack's time does not count */
		due_ns = bpf_ktime_get_ns();
	sample_take(ctx, bpf_get_current_task_btf(), ctx->regs.ip, REGISTERS(ctx->regs), due_ns, sample_timer_ns,
		    sample_role);
	return 0;
}

/*
 * The tick's timer, the base that it is queued at and the pointer to what the interrupt has interrupted are all
 * per-CPU variables, so they are as far apart on each CPU as the kernel's type information says.
 */
static __always_inline void sample_at_tick(void *ctx, struct cpu_counts *here, struct hrtimer *timer)
{
	__u64 place = (__u64)timer - tick_cpu_sched_offset - bpf_core_field_offset(struct tick_sched, sched_timer);
	struct pt_regs *regs = NULL;

	if (place + hrtimer_bases_offset != (__u64)timer->base->cpu_base || here->ticks++ % sample_each_ticks)
		return;
	bpf_probe_read_kernel(&regs, sizeof(regs), (void *)place + irq_regs_offset);
	sample_take(ctx, bpf_get_current_task_btf(), BPF_CORE_READ(regs, ip), interrupted_registers(regs),
		    timer->node.expires, sample_tick_ns, SAMPLE_REGULAR);
}

/* Any timer of this CPU. Those of ours do not tell when they were to expire: it is noted for sample_timer(). */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(sample_expiry, struct hrtimer *timer)
{
	struct cpu_counts *here = counts_here();

	here->timer_due_ns = timer->node.expires;
	if (sample_each_ticks && !sample_has_left_ticks)
		sample_at_tick(ctx, here, timer);
	return 0;
}
