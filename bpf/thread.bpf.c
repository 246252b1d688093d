// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Births, deaths, names and programs of traced threads, and the list of those that live.
 */
#include "stack.bpf.h"
#include "thread.bpf.h"
#include "wait.bpf.h"

#include <bpf/bpf_tracing.h>

static __always_inline __u32 target_kind(__u32 pid)
{
	__u32 *kind = bpf_map_lookup_elem(&targets, &pid);

	return kind ? *kind : 0;
}

/* Whether a child belongs to what is traced because its parent does. */
static __always_inline bool is_followed(struct task_struct *parent, struct task_struct *child)
{
	bool is_thread = child->pid != child->tgid;

	if (processes_only) {
		if (is_thread)
			return false;
		if (thread_of(parent->group_leader))
			return true;
	} else {
		if (threads_only && !is_thread)
			return false;
		if (thread_of(parent))
			return true;
	}
	/* The iterator has not come to the parent yet, but it will. */
	if (trace_all)
		return !(child->flags & PF_KTHREAD) && (__u32)child->tgid != own_pid;
	return target_kind(parent->tgid) == TARGET_EXISTING;
}

/* A new process has what its parent has mapped. */
static __always_inline void space_inherit(struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid;
	struct unwind_space *space;

	if (from == to)
		return;
	space = bpf_map_lookup_elem(&unwind_spaces, &from);
	if (space)
		bpf_map_update_elem(&unwind_spaces, &to, space, BPF_ANY);
}

static __always_inline void space_forget(struct task_struct *task)
{
	__u32 pid = task->tgid;

	bpf_map_delete_elem(&unwind_spaces, &pid);
}

static __always_inline void space_end(struct task_struct *task)
{
	struct ev_space_exit *e;

	space_forget(task);
	e = event_reserve(EV_SPACE_EXIT, 0, sizeof(*e));
	if (!e)
		return;
	e->pid = task->tgid;
	e->reserved = 0;
	event_submit(e);
}

/* Only once the threads are listed: until then it is not known who will be traced. */
static __always_inline void external_born(struct task_struct *parent, struct task_struct *child)
{
	struct external_thread *external;
	struct ev_thread_born *e;

	if (!tells_system || !externals_seen || target_kind(child->tgid) == TARGET_EXEC)
		return;
	external = external_add(child);
	if (!external)
		return;
	external->phase = PHASE_RUNNABLE;
	e = event_reserve(EV_THREAD_BORN, external->number, sizeof(*e));
	if (!e)
		return;
	event_clear(e, sizeof(*e));
	thread_describe(e, child, number_of(parent));
	e->is_outside = 1;
	event_submit(e);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct thread_state *thread;
	struct ev_thread_born *e;
	__u64 now_ns, word;

	if (!is_followed(parent, child)) {
		external_born(parent, child);
		return 0;
	}
	/* First: it lives from here on, and to make space for what is known about it takes microseconds. */
	e = event_reserve(EV_THREAD_BORN, 0, sizeof(*e));
	now_ns = e ? e->header.time_ns : bpf_ktime_get_ns();
	thread = thread_add(child);
	if (!thread) {
		if (e)
			bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
		return 0;
	}
	space_inherit(parent, child);
	phase_set(thread, PHASE_RUNNABLE, now_ns, &word);
	if (!e)
		return 0;
	e->header.thread = thread->thread;
	event_clear(e, sizeof(*e));
	thread_describe(e, child, number_of(parent));
	event_submit(e);
	return 0;
}

static __always_inline void exec_report(__u32 number, struct task_struct *task)
{
	struct ev_thread_exec *e = event_reserve(EV_THREAD_EXEC, number, sizeof(*e));

	if (!e)
		return;
	e->tid = task->pid;
	e->cpus_allowed = task->nr_cpus_allowed;
	bpf_probe_read_kernel(e->name, sizeof(e->name), task->comm);
	event_submit(e);
}

/* A command that pinch starts, or that was awaited, is traced from here on: what came before was not yet it. */
static __always_inline void command_begin(struct task_struct *task)
{
	struct thread_state *thread = thread_add(task);
	__u32 pid = task->tgid, kind = TARGET_EXISTING;
	struct ev_thread_found *e;
	__u64 now_ns, word;

	if (!thread)
		return;
	bpf_map_update_elem(&targets, &pid, &kind, BPF_EXIST);
	e = event_reserve(EV_THREAD_FOUND, thread->thread, sizeof(*e));
	now_ns = e ? e->header.time_ns : bpf_ktime_get_ns();
	phase_set(thread, PHASE_RUNNING, now_ns, &word);
	slice_begin(thread, bpf_get_smp_processor_id(), word, now_ns);
	running_note(thread->thread, task);
	if (!e)
		return;
	thread_describe(e, task, 0);
	e->phase = PHASE_RUNNING;
	e->is_outside = 0;
	e->cpu = thread->cpu;
	e->object = 0;
	e->value = 0;
	e->syscall = SYSCALL_NONE;
	e->operation = 0;
	e->reserved = 0;
	event_submit(e);
}

static __always_inline bool is_awaited_name(const struct awaited_name *name)
{
	for (int i = 0; i < AWAITED_MAX; i++) {
		__u64 differs = 0;

		for (unsigned int k = 0; k < sizeof(name->words) / sizeof(*name->words); k++)
			differs |= name->words[k] ^ awaited_names[i].words[k];
		if (!differs && name->words[0])
			return true;
	}
	return false;
}

/* By what the thread is called from now on, or its program. */
static __always_inline bool has_awaited_name(struct task_struct *task, struct linux_binprm *program)
{
	struct file *file = BPF_CORE_READ(program, file);
	struct awaited_name name = {}, program_name = {};
	struct dentry *dentry;

	bpf_probe_read_kernel_str(&name, sizeof(task->comm), task->comm);
	if (is_awaited_name(&name))
		return true;
	dentry = BPF_CORE_READ(file, f_path.dentry);
	bpf_probe_read_kernel_str(&program_name, sizeof(program_name), BPF_CORE_READ(dentry, d_name.name));
	return is_awaited_name(&program_name);
}

/* The current thread is a process of its own from here on. */
static __always_inline bool is_awaited(struct task_struct *task, struct linux_binprm *program)
{
	return awaits_names && (__u32)task->tgid != own_pid && has_awaited_name(task, program);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *task, int old_pid __attribute__((unused)),
	     struct linux_binprm *program)
{
	struct thread_state *thread = thread_of(task);
	__u32 number = thread ? thread->thread : 0;

	space_forget(task);
	if (!number && (target_kind(task->tgid) == TARGET_EXEC || is_awaited(task, program))) {
		command_begin(task);
		return 0;
	}
	if (!number)
		number = external_number(task);
	if (number)
		exec_report(number, task);
	return 0;
}

/*
 * The thread's last switch comes when its memory is gone, so its stack is taken before. Kernels
 * before 6.16 ("exit: move and extend sched_process_exit() tracepoint") report the exit after the
 * memory is gone; there this function, which each exit calls before, is the place.
 */
SEC("fentry/exit_signals")
int BPF_PROG(exit_begin, struct task_struct *task)
{
	struct thread_state *thread = thread_of(task);

	if (!thread || !task->mm)
		return 0;
	thread->exit_stack = stack_take(ctx, task, thread, kernel_stacks, SCRATCH_OF_OTHERS);
	thread->has_exit_stack = 1;
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(sched_process_exit, struct task_struct *task)
{
	struct thread_state *thread = thread_of(task);
	struct signal_struct *signal;

	if (!thread)
		return 0;
	if (task->mm)
		thread->exit_stack = stack_take(ctx, task, thread, kernel_stacks, SCRATCH_OF_OTHERS);
	thread->has_exit_stack = 1;
	signal = BPF_CORE_READ(task, signal);
	if (!BPF_CORE_READ(signal, live.counter)) /* the last one of its process */
		space_end(task);
	return 0;
}

static __always_inline void announce(struct task_struct *task, __u32 number)
{
	struct ev_user_announced *e = event_reserve(EV_USER_ANNOUNCED, number, sizeof(*e));

	if (!e)
		return;
	e->pid = task->tgid;
	e->reserved = 0;
	event_submit(e);
	bell_ring(BELL_OWN);
}

/* A thread that takes the name that it has says that its process has made an area: lib/announce.c. */
static __always_inline bool is_announcement(struct task_struct *task, const struct ev_thread_name *e)
{
	__u64 now[2], before[2];

	_Static_assert(sizeof(e->name) == sizeof(now), "compared in words");
	if (bpf_probe_read_kernel(before, sizeof(before), task->comm))
		return false;
	__builtin_memcpy(now, e->name, sizeof(now));
	return now[0] == before[0] && now[1] == before[1];
}

SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *name)
{
	__u32 number = number_of(task);
	struct ev_thread_name *e;
	bool is_announced;

	if (!number)
		return 0;
	e = event_reserve(EV_THREAD_NAME, number, sizeof(*e));
	if (!e)
		return 0;
	/* It may be longer than a name can be, or end before memory of somebody else's. */
	__builtin_memset(e->name, 0, sizeof(e->name));
	bpf_probe_read_kernel_str(e->name, sizeof(e->name), name);
	is_announced = !(number & THREAD_EXTERNAL) && is_announcement(task, e);
	event_submit(e);
	if (is_announced)
		announce(task, number);
	return 0;
}

static __always_inline bool is_target(struct task_struct *task)
{
	if ((task->flags & PF_KTHREAD) || (__u32)task->tgid == own_pid)
		return false;
	if (processes_only && task->pid != task->tgid)
		return false;
	return trace_all || target_kind(task->tgid) == TARGET_EXISTING;
}

static __always_inline __u32 phase_of(struct task_struct *task)
{
	__u32 state = task->__state;

	if (state & TASK_DEAD)
		return PHASE_DEAD;
	/*
	 * On a CPU or not: its switch may be under way, and have missed that it is traced. To
	 * believe it active could be wrong for as long as it sleeps.
	 */
	if (state && state != TASK_WAKING && state != TASK_NEW)
		return PHASE_BLOCKED;
	return task->on_cpu ? PHASE_RUNNING : PHASE_RUNNABLE;
}

/* What a thread that is found blocked waits for. */
static __always_inline void found_wait(struct ev_thread_found *e, struct task_struct *task)
{
	struct ev_sched_switch wait = { .syscall = SYSCALL_NONE };
	struct thread_state state = {}; /* its own is written by who switches it */

	if (e->phase == PHASE_BLOCKED)
		wait_describe(&wait, task, &state, SCRATCH_OF_OTHERS);
	e->object = wait.object;
	e->value = wait.value;
	e->syscall = wait.syscall;
	e->operation = wait.operation;
}

/* Records a thread that is not traced; but not of one that will be, from its exec on. */
static __always_inline void external_list(struct task_struct *task)
{
	struct external_thread *external = external_of(task);
	struct ev_thread_found *e;

	if (!tells_system || (task->__state & TASK_DEAD) || target_kind(task->tgid) == TARGET_EXEC)
		return;
	if (!external)
		external = external_add(task);
	if (!external || !external->number)
		return;
	__sync_val_compare_and_swap(&external->phase, PHASE_UNKNOWN, phase_of(task));
	e = event_reserve(EV_THREAD_FOUND, external->number, sizeof(*e));
	if (!e)
		return;
	if (external->phase == PHASE_DEAD) {
		bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
		return;
	}
	event_clear(e, sizeof(*e));
	thread_describe(e, task, 0);
	e->phase = external->phase;
	e->is_outside = 1;
	e->cpu = external->cpu;
	e->syscall = SYSCALL_NONE;
	event_submit(e);
}

/*
 * Walks all tasks: begins to trace those of the targets that are not traced yet, and records
 * every traced one. Events of a thread count from the moment it has its state; the phase read
 * here holds only if no event has set it first.
 */
SEC("iter/task")
int list_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_state *thread;
	struct ev_thread_found *e;
	__u64 now_ns;
	__u32 phase;

	if (!task)
		return 0;
	thread = thread_of(task);
	if (!thread) {
		if (!is_target(task)) {
			external_list(task);
			return 0;
		}
		if (task->__state & TASK_DEAD)
			return 0;
		thread = thread_add(task);
		if (!thread)
			return 0;
	}
	if (!thread->thread || thread->phase == PHASE_DEAD)
		return 0;
	e = event_reserve(EV_THREAD_FOUND, thread->thread, sizeof(*e));
	now_ns = e ? e->header.time_ns : bpf_ktime_get_ns();
	if (thread->phase == PHASE_UNKNOWN) {
		phase = phase_of(task);
		/* Before the phase: a switch right after it must find its slice. */
		slice_begin(thread, 0, active_add(0, now_ns), now_ns);
		if (__sync_val_compare_and_swap(&thread->phase, PHASE_UNKNOWN, phase) == PHASE_UNKNOWN) {
			active_add(is_active_phase(phase), now_ns);
			/* Its last switch may have come before it had its state. */
			if (phase == PHASE_DEAD)
				__sync_fetch_and_add(&threads_alive, -1);
		}
	}
	if (!e)
		return 0;
	if (thread->phase == PHASE_DEAD) {
		bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
		return 0;
	}
	thread_describe(e, task, 0);
	e->phase = thread->phase;
	e->is_outside = 0;
	e->cpu = thread->cpu;
	e->reserved = 0;
	found_wait(e, task);
	event_submit(e);
	return 0;
}
