/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which threads are traced, and what they are called.
 */
#pragma once

#include "active.bpf.h"
#include "emit.bpf.h"
#include "hash.bpf.h"
#include "external.bpf.h"

#include <bpf/bpf_core_read.h>

static __always_inline struct thread_state *thread_of(struct task_struct *task)
{
	/* Half of all switches are from or to the idle thread: spare them the look-up. */
	if (task->flags & PF_KTHREAD)
		return NULL;
	return bpf_task_storage_get(&threads, task, NULL, 0);
}

/* Its number; 0: it is not recorded. */
static __always_inline __u32 number_of(struct task_struct *task)
{
	struct thread_state *thread = thread_of(task);

	return thread ? thread->thread : external_number(task);
}

/*
 * The same of the current one, mostly without a look-up: before 6.2 ("bpf: Add new
 * bpf_task_storage_get proto with no deadlock detection") one that an interrupt comes into keeps the
 * programs of the interrupt from theirs.
 */
static __always_inline __u32 number_here(struct task_struct *current)
{
	const struct system_cpu *here = system_here();

	if (!current->pid)
		return 0;
	return here->running && here->running_tid == (__u32)current->pid ? here->running : number_of(current);
}

/*
 * Begins to trace a thread, its phase still unknown. NULL when that cannot be, or when the
 * iterator and a fork meet and the other one has begun: it records the thread.
 */
static __always_inline struct thread_state *thread_add(struct task_struct *task)
{
	struct thread_state *thread;
	__u32 number;

	if (threads_alive >= THREADS_ACTIVE_MAX) {
		__sync_fetch_and_add(&threads_untracked, 1);
		return NULL;
	}
	thread = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	/* Of two tracers that are the first ones of a task at the same moment, the kernel refuses one (-EAGAIN). */
	if (!thread)
		thread = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		__sync_fetch_and_add(&threads_untracked, 1);
		return NULL;
	}
	number = __sync_fetch_and_add(&threads_born, 1) + 1;
	if (__sync_val_compare_and_swap(&thread->thread, 0, number))
		return NULL;
	external_forget(task);
	__sync_fetch_and_add(&threads_alive, 1);
	return thread;
}

/* The number of a task in its own PID namespace. */
static __always_inline __u32 namespace_id(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid upid = {};

	if (level > 32) /* MAX_PID_NS_LEVEL */
		return 0;
	bpf_probe_read_kernel(&upid.nr, sizeof(upid.nr),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      level * bpf_core_type_size(struct upid) + bpf_core_field_offset(struct upid, nr));
	return upid.nr;
}

/* What a thread is called, in one word. */
static __always_inline __u64 other_name(struct task_struct *task)
{
	const __u64 *name = (const __u64 *)task->comm;

	return hash_mix(hash_mix(0, name[0]), name[1]);
}

static __always_inline void process_name_read(char name[16], struct task_struct *task)
{
	struct task_struct *first = BPF_CORE_READ(task, group_leader);

	bpf_probe_read_kernel(name, sizeof(first->comm), first->comm);
}

/* Sends the name of a thread that is not traced. */
static __noinline int other_send(__u64 who, __u64 name, struct task_struct *task)
{
	struct ev_thread_other *e = event_reserve(EV_THREAD_OTHER, 0, sizeof(*e));

	if (!e)
		return 0;
	event_clear(e, sizeof(*e));
	e->tid = task->pid;
	e->pid = task->tgid;
	e->start_ns = task->start_boottime;
	e->is_kernel = (task->flags & PF_KTHREAD) != 0;
	bpf_probe_read_kernel(e->name, sizeof(e->name), task->comm);
	process_name_read(e->process, task);
	event_submit(e);
	remember(&others_known, &who, &name);
	return 0;
}

/*
 * The same, unless that was done, of a waker or of who has the CPU of a traced thread. Who forks is
 * called like its parent until it execs or renames itself, and is repeated then. A CPU often has to
 * do with a few: it need not look them up again.
 */
static __always_inline void other_emit(struct cpu_counts *here, struct task_struct *task)
{
	__u64 who = hash_mix(hash_mix(0, task->start_boottime), (__u64)task->tgid << 32 | task->pid);
	__u64 name = other_name(task), recorded = hash_mix(who ^ name, others_renamed);
	__u64 *at_hand = &here->others_recorded[task->pid & (OTHERS_AT_HAND - 1)];
	const __u64 *known;

	if (*at_hand == recorded)
		return;
	known = bpf_map_lookup_elem(&others_known, &who);
	if (known && *known == name) {
		*at_hand = recorded;
		return;
	}
	/* No CPU may go by what it saw before: the thread may yet get its old name again. */
	if (known)
		__sync_fetch_and_add(&others_renamed, 1);
	other_send(who, name, task);
}

/* BORN and FOUND begin alike; this fills in what they share. */
#define thread_describe(e, task, parent_number)                                    \
	do {                                                                       \
		(e)->parent = (parent_number);                                     \
		(e)->tid = (task)->pid;                                            \
		(e)->pid = (task)->tgid;                                           \
		(e)->ns_tid = namespace_id(task);                                  \
		(e)->ns_pid = namespace_id(BPF_CORE_READ(task, group_leader));     \
		(e)->start_ns = (task)->start_boottime;                            \
		(e)->cpus_allowed = (task)->nr_cpus_allowed;                       \
		bpf_probe_read_kernel((e)->name, sizeof((e)->name), (task)->comm); \
	} while (0)
