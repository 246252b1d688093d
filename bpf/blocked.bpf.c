// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where threads are blocked that do not move: found so when tracing begins, or left so when it ends.
 * Their stacks lie in memory that is not the current thread's and may have to be waited for, so they
 * are sent as they lie there, and the engine finds the frames.
 */
#include "blocked_python.bpf.h"
#include "klock.bpf.h"
#include "stack.bpf.h"
#include "thread.bpf.h"
#include "wait.bpf.h"

#include <bpf/bpf_tracing.h>

/* The kernel's frames behind the program's stack; returns their bytes. */
static __always_inline __u32 blocked_kernel(struct memory_scratch *m, struct task_struct *task, __u32 at)
{
	long bytes;

	if (!kernel_stacks && !(task->__state & TASK_UNINTERRUPTIBLE))
		return 0;
	barrier_var(at);
	if (at > MEMORY_PAGES * PAGE_BYTES)
		return 0;
	bytes = bpf_get_task_stack(task, (char *)m->words + at, STACK_DEPTH_MAX * sizeof(__u64), 0);
	return bytes > 0 ? bytes : 0;
}

/* Whether it still waits as it did; else what was read may be of two different moments. */
static __always_inline bool is_blocked_since(const struct thread_state *thread, __u64 begin_ns)
{
	return thread->phase == PHASE_BLOCKED && thread->wait_begin_ns == begin_ns;
}

/* Its stack's name; 0: it could not be read. */
static __always_inline __u64 blocked_send(struct task_struct *task, const struct thread_state *thread, __u64 begin_ns)
{
	__u32 zero = 0, bytes, kernel_bytes;
	__u64 stack;
	struct memory_scratch *m = bpf_map_lookup_elem(&blocked_memory, &zero);
	struct ev_stack_memory *e;
	void *ring = ring_here();

	if (!m || !ring)
		return 0;
	e = (struct ev_stack_memory *)m->event;
	registers_read(e->registers, task);
	bytes = memory_copy(m, task, e->registers[STACK_POINTER]);
	kernel_bytes = blocked_kernel(m, task, bytes);
	if (!is_blocked_since(thread, begin_ns) || !(bytes + kernel_bytes))
		return 0;
	stack = hash_mix(hash_mix(bpf_ktime_get_ns(), thread->thread), e->registers[STACK_POINTER]) | 1;
	blocked_python_send(task, thread->thread, stack);
	if (!is_blocked_since(thread, begin_ns))
		return 0;
	header_fill(&e->header, EV_STACK_MEMORY, 0);
	e->stack = stack;
	e->pid = task->tgid;
	e->word_count = bytes / sizeof(__u64);
	e->kernel_count = kernel_bytes / sizeof(__u64);
	bytes += kernel_bytes;
	barrier_var(bytes);
	if (bytes > sizeof(m->words))
		return 0;
	if (gap_is_reported() && !bpf_ringbuf_output(ring, m, sizeof(*e) + bytes, BPF_RB_NO_WAKEUP))
		return e->stack;
	event_lost();
	return 0;
}

static __always_inline __u8 blocked_state(const struct task_struct *task)
{
	__u32 state = task->__state;

	if (state & TASK_STOPPED_OR_TRACED)
		return SWITCH_STOPPED;
	return state & TASK_INTERRUPTIBLE ? SWITCH_SLEEPING : SWITCH_BLOCKED;
}

/* The word of the futex that it waits for, if that is what it does, and those behind it. */
static __always_inline void blocked_futex(__u32 words[FUTEX_WORDS], struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	__u64 number = regs->orig_ax;
	__u8 argument;

	if (number >= SYSCALLS_MAX || task->thread_info.status & COMPAT_STATUS)
		return;
	argument = wait_arguments[number & (SYSCALLS_MAX - 1)];
	if (argument != ARGUMENT_FUTEX && argument != ARGUMENT_FUTEX_FLAGS)
		return;
	if (bpf_copy_from_user_task(words, FUTEX_WORDS * sizeof(*words), (void *)regs->di, task, 0))
		bpf_copy_from_user_task(words, sizeof(*words), (void *)regs->di, task, 0);
}

/*
 * Whether a list has had it, or it is none for this one. Among those that last long the coin of the wait's stack must not choose, for
 * each that is listed stands for itself alone from then on, and the others for those whose stacks were left out.
 */
static __always_inline bool is_passed_over(const struct thread_state *thread, __u64 begin_ns)
{
	if (!list_age_ns)
		return thread->wait_listed == (begin_ns | 1);
	if (!begin_ns || thread->wait_listed >> 1 == begin_ns >> 1 || bpf_ktime_get_ns() - begin_ns < list_age_ns)
		return true;
	/* A wait for a kernel lock has its stack for two ends. */
	return !list_room || thread->klocks[0].address || thread->klocks[KLOCKS_AT_ONCE - 1].address;
}

static __always_inline bool has_sent_stack(const struct thread_state *thread, __u64 begin_ns)
{
	return begin_ns && (thread->wait_has_stack || thread->wait_listed == (begin_ns & ~1ull));
}

/*
 * Records where each open wait is, once, or where those are that last long. Those that there is no space for in the ring
 * are counted: they come the next time.
 */
SEC("iter.s/task")
int list_waits(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_state *thread;
	struct ev_thread_waits *e;
	__u32 words[FUTEX_WORDS] = {};
	__u64 begin_ns, stack = 0;

	if (!task)
		return 0;
	thread = thread_of(task);
	if (!thread || thread->phase != PHASE_BLOCKED)
		return 0;
	begin_ns = thread->wait_begin_ns;
	if (is_passed_over(thread, begin_ns))
		return 0;
	if (!memory_has_space(ring_here())) {
		waits_left++;
		return 0;
	}
	/* The switch has recorded it, unless the wait is older than our tracing. */
	if (!has_sent_stack(thread, begin_ns))
		stack = blocked_send(task, thread, begin_ns);
	if (!list_age_ns)
		blocked_futex(words, task);
	if (!is_blocked_since(thread, begin_ns))
		return 0;
	if (list_age_ns)
		list_room--;
	thread->wait_listed = list_age_ns ? begin_ns & ~1ull : begin_ns | 1;
	e = event_reserve(EV_THREAD_WAITS, thread->thread, sizeof(*e));
	if (!e)
		return 0;
	event_clear(e, sizeof(*e));
	e->begin_ns = begin_ns;
	e->stack = stack;
	e->state = blocked_state(task);
	e->value = words[0];
	e->owners[0] = words[2];
	e->owners[1] = words[3];
	e->owners[2] = words[4];
	event_submit(e);
	if (!list_age_ns)
		klocks_emit_lasting(thread, task->pid);
	return 0;
}
