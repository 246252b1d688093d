// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Context switches and wake-ups of traced threads. Filter first: a switch between two
 * others costs two look-ups.
 */
#define CASTS_TASKS
#include "context.bpf.h"
#include "cost.bpf.h"
#include "external_sched.bpf.h"
#include "hidden.bpf.h"
#include "loop.bpf.h"
#include "read.bpf.h"
#include "ready.bpf.h"
#include "slots.bpf.h"
#include "stack.bpf.h"
#include "switch.bpf.h"
#include "thread.bpf.h"
#include "throttle.bpf.h"
#include "wait.bpf.h"
#include "waker.bpf.h"

#include <bpf/bpf_tracing.h>

/* Longer waits are as good as this one: their stacks are kept. */
enum { WAIT_MEAN_MAX_NS = 4000000000u };

/* Others may take turns for ever on a CPU that nobody who is traced waits for any more. */
enum {
	TURNS_RECORDED_MAX = 256,
	TRY_AGE_NS = 1000000, /* from a try for a lock to the sleep that follows from it */
};

/*
 * A wait weighs its length over the number of living threads, so that all waits together weigh no
 * more than the wall time, as all slices do.
 */
static __always_inline __u64 wait_weight(__u64 wait_ns)
{
	__u64 alive = threads_alive;

	return alive > 1 ? wait_ns / alive : wait_ns;
}

/* Not needed where all stacks are kept. */
static __always_inline __u32 coin_throw(void)
{
	return keep_all_above_ns ? bpf_get_prandom_u32() : 0;
}

/*
 * As soon as the thread is blocked, a waker on another CPU may look at its wait: it must not find
 * the one before. That the wait has no stack holds until the switch has one.
 */
static __always_inline void wait_begin(struct thread_state *thread, __u64 now_ns)
{
	struct lock_try *try = &thread->lock_try;

	thread->wait_begin_ns = now_ns;
	thread->wait_coin = coin_throw();
	/* Who waited for an epoll will do so again: data may come before the wait is described. */
	polling_set(thread, thread->file_polls);
	try->is_new = try->at_ns && now_ns - try->at_ns <= TRY_AGE_NS;
	try->is_awaited = 0;
	try->at_ns = 0;
#ifdef __TARGET_ARCH_x86
	/* Stores are seen in their order: the phase comes after these. */
	thread->wait_has_stack = 0;
	barrier();
#else
	/* A full barrier: pairs with the waker's compare-and-swap of the phase. */
	__sync_lock_test_and_set(&thread->wait_has_stack, 0);
#endif
}

/* The kernel lock that a thread waits for, of several the one that it came to last. NULL: none. */
static __always_inline struct klock_wait *klock_of(struct thread_state *thread)
{
	if (!thread->waits_klocks)
		return NULL;
	for (int i = KLOCKS_AT_ONCE - 1; i >= 0; i--)
		if (thread->klocks[i].address)
			return &thread->klocks[i];
	return NULL;
}

/*
 * The stack of the thread that leaves, or that it had when it began to wait for a kernel lock, where it still is;
 * else that wait has this one from now on.
 */
static __always_inline __u64 stack_here(void *ctx, struct task_struct *task, struct thread_state *thread,
					struct ev_sched_switch *e)
{
	struct klock_wait *klock = e->flags & SWITCH_KERNEL_LOCK ? klock_of(thread) : NULL;
	__u64 stack;

	if (thread->has_exit_stack)
		return thread->exit_stack;
	if (klock && klock->flags & KLOCK_HAS_STACK)
		return klock->stack;
	/* Who waits where nothing can interrupt it waits for the kernel: a file, a page, a lock. */
	stack = stack_take(ctx, task, thread, kernel_stacks || e->state == SWITCH_BLOCKED || klock,
			   SCRATCH_OF_SWITCHES);
	if (klock) {
		klock->flags |= KLOCK_HAS_STACK;
		klock->stack = stack;
	}
	return stack;
}

/* A wait for a kernel lock has another chance of a stack then, whether or not it is taken. */
static __always_inline void klock_keep(struct thread_state *thread, __u64 keep)
{
	struct klock_wait *klock = klock_of(thread);

	if (klock && klock->keep)
		klock->keep = keep_of_two(klock->keep, keep);
}

/*
 * The stack of the thread that leaves, which is still current: for its slice, if that is worth one,
 * and for the wait that begins, of which nobody knows how long it will take. keep: the slice's.
 */
static __always_inline void stack_leave(void *ctx, struct task_struct *task, struct thread_state *thread, __u64 keep,
					struct ev_sched_switch *e)
{
	bool is_critical = keep;
	__u64 wait_keep;
	__u32 coin;

	if (is_blocking(e->state)) {
		wait_keep = stack_keep(wait_weight(thread->wait_mean_ns));
		keep = keep > wait_keep ? keep : wait_keep;
		coin = thread->wait_coin;
		thread->wait_has_stack = coin < keep;
	} else {
		coin = coin_throw();
	}
	if (e->flags & SWITCH_KERNEL_LOCK)
		klock_keep(thread, keep);
	if (coin >= keep) {
		e->flags |= is_critical ? SWITCH_STACK_SKIPPED : 0;
		return;
	}
	e->flags |= SWITCH_HAS_STACK;
	e->keep = keep < KEEP_CERTAIN ? keep : 0;
	e->stack = stack_here(ctx, task, thread, e);
}

/* Returns the word of active_add(). */
static __always_inline __u64 phase_leave(struct thread_state *thread, __u32 reason, __u64 now_ns)
{
	__u64 word;

	if (reason == SWITCH_DEAD) {
		/* Unless the iterator has found it dead already. */
		if (phase_set(thread, PHASE_DEAD, now_ns, &word) != PHASE_DEAD)
			__sync_fetch_and_add(&threads_alive, -1);
	} else {
		if (is_blocking(reason))
			wait_begin(thread, now_ns);
		phase_set(thread, reason == SWITCH_RUNNABLE ? PHASE_RUNNABLE : PHASE_BLOCKED, now_ns, &word);
	}
	return word;
}

/*
 * Whether a slice's end is worth a stack. What ran is known by samples; where it stopped to wait is not, and a wait that a critical
 * slice ends in matters as much as that slice.
 */
static __always_inline bool slice_wants_stack(__u32 reason)
{
	return slice_stacks || reason != SWITCH_RUNNABLE || !samples_have_stacks;
}

/*
 * A thread leaves its CPU. Returns 0, or, if its slice was critical and is worth a stack, 1 more than that weighs,
 * ns.
 */
static __always_inline __u64 thread_leave(struct thread_state *thread, __u32 reason, __u64 now_ns)
{
	/* Before it leaves: a thread counts in the N of its own last slice. */
	__u64 limit = nmin_doubled();
	struct slice slice = slice_of(thread, phase_leave(thread, reason, now_ns), now_ns);

	if (!slice_wants_stack(reason) || slice.length_ns >> 62 || !slice_is_critical(slice, limit))
		return 0;
	return slice_weight(slice) + 1;
}

/* A thread gets a CPU. */
static __always_inline void thread_enter(struct thread_state *thread, __u64 now_ns)
{
	__u64 word;

	polling_set(thread, false);
	phase_set(thread, PHASE_RUNNING, now_ns, &word);
	slice_begin(thread, bpf_get_smp_processor_id(), word, now_ns);
}

/*
 * Who has the CPU of a traced thread that could run: next, when that one leaves it, or prev, when it
 * gets one. Returns its tid; 0: the idle thread. Not for a traced one, of which there is no need to tell.
 */
static __always_inline __u32 rival_emit(struct cpu_counts *here, struct task_struct *rival, bool is_leaving)
{
	if (!rival->pid)
		return 0;
	other_emit(here, rival);
	here->turns_left = TURNS_RECORDED_MAX * is_leaving;
	return rival->pid;
}

/* Neither is traced: prev and next take turns on the CPU that a traced thread had to leave. */
static __always_inline void turn_emit(struct cpu_counts *here, struct task_struct *prev, struct task_struct *next)
{
	struct ev_sched_switch *e;

	here->turns_left = next->pid ? here->turns_left - 1 : 0;
	other_emit(here, prev);
	e = slot_begin(here, EV_SCHED_SWITCH, 0);
	if (!e)
		return;
	event_clear(e, sizeof(*e));
	e->cpu = bpf_get_smp_processor_id();
	e->syscall = SYSCALL_NONE;
	e->value = prev->pid;
	e->object = next->pid;
	slot_end(here);
}

/* As if the word were the first one of a task, which has one there on each kernel. */
__noinline __u64 kernel_word(__u64 address)
{
	void *task = (void *)address - bpf_core_field_offset(struct task_struct, thread_info.flags);
	__u64 word = 0;

	if (task_type && bpf_rdonly_cast)
		return ((struct task_struct *)bpf_rdonly_cast(task, task_type))->thread_info.flags;
	bpf_probe_read_kernel(&word, sizeof(word), (void *)address);
	return word;
}

/* What the current thread waits for. Verified once, not for each way that a switch can take. */
__noinline int wait_emit(struct ev_sched_switch *e, struct thread_state *thread)
{
	struct klock_wait *klock;

	if (!e || !thread)
		return 0;
	wait_describe(e, bpf_get_current_task_btf(), thread, SCRATCH_OF_SWITCHES);
	polling_set(thread, waits_for_epoll(thread));
	klock = klock_of(thread);
	if (!klock) {
		if (e->state == SWITCH_SLEEPING)
			loop_block(&thread->loop, bpf_get_current_task_btf(), e->syscall);
		return 0;
	}
	e->flags |= SWITCH_KERNEL_LOCK;
	e->object = klock->lock;
	e->value = klock->owner;
	return 0;
}

/* The same of what lies behind that; a function of its own, whose stack is small. */
__noinline int object_emit(struct ev_sched_switch *e, struct thread_state *thread)
{
	if (e && thread && e->syscall < SYSCALLS_MAX && !(e->flags & SWITCH_KERNEL_LOCK))
		object_describe(e, bpf_get_current_task_btf(), thread, SCRATCH_OF_SWITCHES);
	return 0;
}

/* The thread that got this CPU in the last switch recorded here has left it without a record. */
__noinline int hidden_emit(__u32 tid)
{
	struct cpu_counts *here = counts_here();
	struct ev_sched_hidden *e;

	here->hidden++;
	here->hidden_process = here->next_process;
	e = slot_begin(here, EV_SCHED_HIDDEN, 0);
	if (!e)
		return 0;
	e->begin_ns = here->hidden_since_ns;
	e->tid = tid;
	e->cpu = bpf_get_smp_processor_id();
	e->reserved = 0;
	slot_end(here);
	return 0;
}

/*
 * Whether prev is not who got the CPU in the last switch that was recorded here: some kernels hide threads
 * from all tracers, and what these do with it. They report the switch to such a thread, not the one
 * from it. Since when it had the CPU must not be recorded too late, or a wait that ended then has no reason:
 * the clock is read before it runs. The scheduler's own would cost nothing, but lags by up to a
 * millisecond, now more and now less, so that no moment follows from two readings. Only a kernel that
 * hides threads pays for it.
 */
static __always_inline bool is_after_hidden(struct cpu_counts *here, struct task_struct *prev, struct task_struct *next)
{
	__u32 before = here->next_recorded;
	bool is_hidden = before && before != prev->pid + 1u;

	if (is_hidden)
		hidden_emit(before - 1);
	here->next_recorded = next->pid + 1;
	here->next_process = next->tgid;
	if (here->hidden_process)
		here->hidden_since_ns = here->hidden_process == (__u32)next->tgid ? bpf_ktime_get_ns() : 0;
	return is_hidden;
}

/* thread has this CPU, and got it from one that is hidden: there is no other record of that. */
int hidden_return(struct thread_state *thread)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct cpu_counts *here = counts_here();
	__u32 before = here->next_recorded;
	struct ev_sched_switch *e;

	if (!thread || !is_off_cpu(thread->phase) || !is_after_hidden(here, current, current))
		return 0;
	here->turns_left = 0;
	e = slot_begin(here, EV_SCHED_SWITCH, 0);
	thread_enter(thread, e ? e->header.time_ns : bpf_ktime_get_ns());
	if (!e)
		return 0;
	event_clear(e, sizeof(*e));
	e->next = thread->thread;
	e->cpu = bpf_get_smp_processor_id();
	e->syscall = SYSCALL_NONE;
	e->value = before - 1;
	e->flags = SWITCH_AFTER_HIDDEN;
	slot_end(here);
	return 0;
}

static __always_inline void on_switch(void *ctx, struct cpu_counts *here, bool preempt, struct task_struct *prev,
				      struct task_struct *next, __u32 prev_state)
{
	__u32 is_hidden = unfollowed(here, is_after_hidden(here, prev, next));
	struct thread_state *out = thread_of(prev), *in = thread_of(next);
	__u32 reason = SWITCH_RUNNABLE, rival = 0;
	struct externals_switched externals = {};
	__u64 now_ns, weight = 0;
	struct ev_sched_switch *e;
	bool is_traced;

	is_traced = out;
	barrier_var(is_traced); /* or clang tests "out | in", which the verifier forbids */
	if (!is_traced && !in) {
		if (tells_system)
			external_switch(here, prev, next,
					unfollowed(here, switch_reason(preempt, prev->__state, prev_state)), is_hidden);
		else if (here->turns_left)
			turn_emit(here, prev, next);
		return;
	}
	if (tells_system)
		externals = externals_switch(here, out ? NULL : prev, in ? NULL : next,
					     unfollowed(here, switch_reason(preempt, prev->__state, prev_state)));
	if (tells_system && in)
		running_note(in->thread, next);
	if (out)
		reason = unfollowed(here, switch_reason(preempt, prev->__state, prev_state));
	here->turns_left = 0;
	if (reason == SWITCH_RUNNABLE && !(out && in))
		rival = rival_emit(here, out ? next : prev, is_traced);
	if (in)
		throttle_emit(in, next);
	e = slot_begin(here, EV_SCHED_SWITCH, out ? out->thread : 0);
	now_ns = e ? e->header.time_ns : bpf_ktime_get_ns();
	if (out)
		weight = unfollowed(here, thread_leave(out, reason, now_ns));
	if (in)
		thread_enter(in, now_ns);
	if (out && reason == SWITCH_RUNNABLE)
		throttle_leave(out, prev);
	if (!e)
		return;
	event_clear(e, sizeof(*e));
	e->next = in ? in->thread : 0;
	e->state = reason;
	e->cpu = bpf_get_smp_processor_id();
	e->syscall = SYSCALL_NONE;
	e->value = rival;
	if (out && reason == SWITCH_RUNNABLE && is_throttled(prev))
		e->flags = SWITCH_THROTTLED;
	e->flags |= is_hidden * SWITCH_AFTER_HIDDEN;
	if (out && is_blocking(reason)) {
		wait_emit(e, out);
		object_emit(e, out);
	}
	if (tells_system)
		externals_emit(e, externals, prev);
	if (out && (weight || is_blocking(reason)))
		stack_leave(ctx, prev, out, weight ? stack_keep(weight - 1) : 0, e);
	slot_end(here);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	struct cpu_counts *here = counts_here();
	__u64 begin_ns = cost_begin(here);

	on_switch(ctx, here, preempt, prev, next, prev_state);
	cost_end(here, begin_ns);
	return 0;
}

/*
 * The stacks of both, the waker's and, if it is of the same process and has none yet, that of the
 * thread woken: at last it is known what the wait was worth. One coin for all, so that they come
 * together.
 */
static __always_inline void stacks_wake(void *ctx, struct task_struct *current, struct thread_state *waker,
					struct task_struct *task, struct thread_state *thread, __u64 keep,
					struct ev_sched_wake *e)
{
	__u32 coin = thread->wait_coin ? thread->wait_coin : bpf_get_prandom_u32();

	e->keep = keep < KEEP_CERTAIN ? keep : 0;
	if (coin >= keep)
		return;
	e->flags |= WAKE_HAS_STACK;
	e->stack = waker->has_exit_stack ? waker->exit_stack
					 : stack_take(ctx, current, waker, kernel_stacks, SCRATCH_OF_SWITCHES);
	/* Also where none can be read: the engine goes by the process for its probability. */
	if (thread->wait_has_stack || current->tgid != task->tgid)
		return;
	e->flags |= WAKE_HAS_WAIT_STACK;
	if (thread->has_exit_stack)
		e->wait_stack = thread->exit_stack;
	else if (has_memory_of(task, current))
		e->wait_stack = stack_take(ctx, task, thread, false, SCRATCH_OF_SWITCHES);
}

/* is_late: one of the few that are seen when the thread is on a run queue already; these have no stacks. */
static __always_inline void wake_describe(void *ctx, struct ev_sched_wake *e, struct task_struct *task,
					  struct thread_state *thread, struct task_struct *current,
					  struct thread_state *waker, __u8 context, bool is_late)
{
	__u64 wait_ns = e->header.time_ns - thread->wait_begin_ns;
	bool is_by_holder;

	if (!thread->wait_begin_ns) /* found blocked */
		wait_ns = 0;
	event_clear(e, sizeof(*e));
	e->context = is_for_work(task, context) ? context | WAKE_FOR_WORK : context;
	e->syscall = SYSCALL_NONE;
	/* Whatever ends a whole process, the kernel sends that to each thread that has to go. */
	if (task->pending.signal.sig[0] & SIGKILL_PENDING)
		e->flags = WAKE_TO_DIE;
	is_by_holder = holder_describe(e, thread, context);
	if (!is_by_holder)
		interrupt_describe(e, context);
	if (!is_by_holder && may_be_sender(current, context))
		waker_describe(e, current, waker);
	if (is_late || is_by_holder)
		e->keep = 1; /* the least chance: nothing follows from it that there is no stack */
	else if (e->waker && waker)
		stacks_wake(ctx, current, waker, task, thread, stack_keep(wait_weight(wait_ns)), e);
	if (wait_ns > WAIT_MEAN_MAX_NS)
		wait_ns = WAIT_MEAN_MAX_NS;
	thread->wait_mean_ns = (3ull * thread->wait_mean_ns + wait_ns) / 4;
}

/* Who was not asleep when it was about to be woken may be so until it is on a run queue: then it is looked at again. */
static __always_inline void look_set(struct thread_state *thread, bool is_due)
{
	if (thread->is_look_due == is_due)
		return;
	thread->is_look_due = is_due;
	__sync_fetch_and_add(&looks_due, is_due ? 1 : -1);
}

/* Whether anything follows from a thread's being on a run queue. */
static __always_inline bool queued_matters(struct task_struct *task)
{
	return tells_system || !bpf_core_field_exists(task->throttled) || looks_due;
}

static __always_inline void on_waking(void *ctx, struct cpu_counts *here, struct task_struct *task, bool is_queued)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct thread_state *thread = thread_of(task), *waker;
	struct ev_sched_wake *e;
	__u8 context;

	if (tells_system && !thread) {
		external_wake(here, task, current);
		return;
	}
	if (thread && is_queued)
		throttle_wake(thread, task);
	if (!thread)
		return;
	if (is_queued)
		look_set(thread, false);
	/* It stays where it is until the waker goes on, so its record's time may come later. */
	if (__sync_val_compare_and_swap(&thread->phase, PHASE_BLOCKED, PHASE_RUNNABLE) != PHASE_BLOCKED) {
		if (!is_queued)
			look_set(thread, true);
		return;
	}
	context = context_here(current);
	if (!is_queued)
		ready_emit(here, thread, context);
	waker = thread_of(current);
	if (!waker && may_be_sender(current, context))
		other_emit(here, current);
	e = slot_begin(here, EV_SCHED_WAKE, thread->thread);
	active_add(1, e ? e->header.time_ns : bpf_ktime_get_ns());
	if (!e)
		return;
	wake_describe(ctx, e, task, thread, current, waker, context, is_queued);
	slot_end(here);
}

static __always_inline int on_wake_event(void *ctx, struct task_struct *task, bool is_queued)
{
	struct cpu_counts *here = counts_here();
	__u64 begin_ns = cost_begin(here);

	on_waking(ctx, here, task, is_queued);
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
	return on_wake_event(ctx, task, false);
}

/*
 * Fires when it is on a run queue. Only a thread whose last switch came right between its waker's
 * look at it and the mark that the waker leaves in its state is still taken for asleep by then.
 */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	return queued_matters(task) ? on_wake_event(ctx, task, true) : 0;
}
