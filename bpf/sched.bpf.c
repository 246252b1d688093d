// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Context switches and wake-ups of traced threads. Filter first: a switch between two
 * others costs two look-ups.
 */
#include "cost.bpf.h"
#include "slots.bpf.h"
#include "stack.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_tracing.h>

/*
 * Why prev leaves the CPU. A signal can make a thread that was going to sleep stay awake; and
 * a waker on another CPU may have come between its decision and its last instruction here.
 * Both show in its state, which differs then from the one that the tracepoint was given.
 */
static __always_inline __u8 switch_reason(bool preempt, struct task_struct *prev, __u32 prev_state)
{
	__u32 state = prev->__state;

	if (prev_state & TASK_DEAD)
		return SWITCH_DEAD;
	if (preempt || !prev_state || !state || state == TASK_WAKING)
		return SWITCH_RUNNABLE;
	if (prev_state & TASK_STOPPED_OR_TRACED)
		return SWITCH_STOPPED;
	if (prev_state & TASK_INTERRUPTIBLE)
		return SWITCH_SLEEPING;
	return SWITCH_BLOCKED;
}

/* The stack of the critical slice that ends. The thread is still current. */
static __always_inline void slice_end(void *ctx, struct thread_state *thread, struct slice slice,
				      struct ev_sched_switch *e)
{
	struct stack_choice choice = stack_wanted(slice_weight(slice));

	if (!choice.is_wanted) {
		e->flags = SWITCH_STACK_SKIPPED;
		return;
	}
	e->flags = SWITCH_HAS_STACK;
	e->keep = choice.keep;
	/* Who waits where nothing can interrupt it waits for the kernel: a file, a page, a lock. */
	e->stack = thread->has_exit_stack ? thread->exit_stack
					  : stack_take(ctx, e->state == SWITCH_BLOCKED,
						       SCRATCH_OF_SWITCHES);
}

/* Returns the word of active_add(). */
static __always_inline __u64 thread_leaves(struct thread_state *thread, __u8 reason, __u64 now_ns)
{
	__u64 word;

	if (reason == SWITCH_DEAD) {
		/* Unless the iterator has found it dead already. */
		if (phase_set(thread, PHASE_DEAD, now_ns, &word) != PHASE_DEAD)
			__sync_fetch_and_add(&threads_alive, -1);
	} else {
		phase_set(thread, reason == SWITCH_RUNNABLE ? PHASE_RUNNABLE : PHASE_BLOCKED,
			  now_ns, &word);
	}
	return word;
}

/* What both threads of a switch do at now_ns; true when out's slice was critical. */
static __always_inline bool threads_switch(struct thread_state *out, struct thread_state *in,
					   __u8 reason, __u64 now_ns, struct slice *slice)
{
	bool is_critical = false;
	__u64 word;

	if (out) {
		/* Before it leaves: a thread counts in the N of its own last slice. */
		__u64 limit = nmin_doubled();

		word = thread_leaves(out, reason, now_ns);
		*slice = slice_of(out, word, now_ns);
		is_critical = slice->length_ns < 1ull << 62 && slice_is_critical(*slice, limit);
	}
	if (in) {
		phase_set(in, PHASE_RUNNING, now_ns, &word);
		slice_begin(in, bpf_get_smp_processor_id(), word, now_ns);
	}
	return is_critical;
}

static __always_inline void on_switch(void *ctx, struct cpu_counts *here, bool preempt,
				      struct task_struct *prev, struct task_struct *next,
				      __u32 prev_state)
{
	struct thread_state *out = thread_of(prev), *in = thread_of(next);
	struct ev_sched_switch *e;
	struct slice slice = {};
	bool is_critical, is_traced;
	__u8 reason;

	is_traced = out;
	barrier_var(is_traced);	/* or clang tests "out | in", which the verifier forbids */
	if (!is_traced && !in)
		return;
	e = slot_begin(here, EV_SCHED_SWITCH, out ? out->thread : 0);
	reason = out ? switch_reason(preempt, prev, prev_state) : SWITCH_RUNNABLE;
	is_critical = threads_switch(out, in, reason,
				     e ? e->header.time_ns : bpf_ktime_get_ns(), &slice);
	if (!e)
		return;
	e->next = in ? in->thread : 0;
	e->state = reason;
	e->flags = 0;
	e->cpu = bpf_get_smp_processor_id();
	e->stack = 0;
	e->keep = 0;
	e->reserved = 0;
	if (out && is_critical)
		slice_end(ctx, out, slice, e);
	slot_end(here);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct cpu_counts *here = counts_here();
	__u64 begin_ns = cost_begin(here);

	on_switch(ctx, here, preempt, prev, next, prev_state);
	cost_end(here, begin_ns);
	return 0;
}

static __always_inline void on_waking(struct cpu_counts *here, struct task_struct *task)
{
	struct thread_state *thread = thread_of(task);
	struct ev_header *e;

	/* It stays where it is until the waker goes on, so its record's time may come later. */
	if (!thread || __sync_val_compare_and_swap(&thread->phase, PHASE_BLOCKED,
						   PHASE_RUNNABLE) != PHASE_BLOCKED)
		return;
	e = slot_begin(here, EV_SCHED_WAKE, thread->thread);
	active_add(1, e ? e->time_ns : bpf_ktime_get_ns());
	if (e)
		slot_end(here);
}

static __always_inline int on_wake_event(struct task_struct *task)
{
	struct cpu_counts *here = counts_here();
	__u64 begin_ns = cost_begin(here);

	on_waking(here, task);
	cost_end(here, begin_ns);
	return 0;
}

/*
 * Fires in the waker, before the thread is on a run queue. A thread that has not left its
 * CPU yet will see for itself that it need not sleep: it is no wake-up then.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	return on_wake_event(task);
}

/*
 * Fires when it is on a run queue. Only a thread whose last switch came right between its waker's
 * look at it and the mark that the waker leaves in its state is still taken for asleep by then.
 */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	return on_wake_event(task);
}
