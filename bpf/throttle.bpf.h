/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long the CPU limit of a cgroup keeps a thread that could run from a CPU. The limit stops the
 * cgroup's queues, one a CPU, each of which counts for how long. Since 6.18 ("sched/fair: Switch to task
 * based throttle model") a thread says as it leaves its CPU that it does so for a limit, and nothing
 * else is stopped. Before, a queue is stopped with all that wait in it, whenever they came there.
 */
#pragma once

#include "emit.bpf.h"

#include <bpf/bpf_core_read.h>

/* Whether a thread that leaves its CPU does so because of a limit. */
static __always_inline bool is_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled))
		return task->throttled;
	return bpf_core_field_exists(task->se.cfs_rq) && bpf_core_field_exists(task->se.cfs_rq->throttle_count) &&
	       task->se.cfs_rq->throttle_count;
}

/* For how long the queue was stopped in all, except for a stop that is not over. */
static __always_inline __u64 queue_stopped_ns(struct cfs_rq *queue)
{
	if (bpf_core_field_exists(queue->throttled_clock_self_time))
		return queue->throttled_clock_self_time;
	if (bpf_core_field_exists(queue->throttled_clock_pelt_time))
		return queue->throttled_clock_pelt_time;
	return 0;
}

/* The same of one that may be gone. */
static __always_inline __u64 past_queue_stopped_ns(struct cfs_rq *queue)
{
	if (bpf_core_field_exists(queue->throttled_clock_self_time))
		return BPF_CORE_READ(queue, throttled_clock_self_time);
	if (bpf_core_field_exists(queue->throttled_clock_pelt_time))
		return BPF_CORE_READ(queue, throttled_clock_pelt_time);
	return 0;
}

static __always_inline void queue_note(struct thread_state *thread, struct task_struct *task)
{
	struct cfs_rq *queue;

	if (!bpf_core_field_exists(task->se.cfs_rq))
		return;
	queue = for_pointers(task)->se.cfs_rq;
	thread->queue = (__u64)queue;
	thread->queue_stopped_ns = queue_stopped_ns(queue);
}

/* A thread that was blocked is in a queue from here on. */
static __always_inline void throttle_wake(struct thread_state *thread, struct task_struct *task)
{
	if (!bpf_core_field_exists(task->throttled))
		queue_note(thread, task);
}

/* A thread that could run leaves its CPU. */
static __always_inline void throttle_leave(struct thread_state *thread, struct task_struct *task)
{
	if (!bpf_core_field_exists(task->throttled) || task->throttled)
		queue_note(thread, task);
}

/* How long its queue was stopped meanwhile: that began before it came, perhaps. */
static __always_inline __u64 stopped_since_noted(struct thread_state *thread, struct task_struct *task)
{
	__u64 queue = thread->queue;
	struct cfs_rq *now;

	if (!bpf_core_field_exists(task->se.cfs_rq) || !queue)
		return 0;
	thread->queue = 0;
	now = for_pointers(task)->se.cfs_rq;
	if (queue == (__u64)now)
		return queue_stopped_ns(now) - thread->queue_stopped_ns;
	/* It was moved to another CPU's. */
	return past_queue_stopped_ns((struct cfs_rq *)queue) - thread->queue_stopped_ns;
}

/* A function of its own, for the verifier examines it once then. */
__noinline int throttle_send(__u32 thread, __u64 stopped_ns)
{
	struct ev_sched_throttled *e = event_reserve(EV_SCHED_THROTTLED, thread, sizeof(*e));

	if (!e)
		return 0;
	e->throttled_ns = stopped_ns;
	event_submit(e);
	return 0;
}

/* The thread is about to get a CPU. */
static __always_inline void throttle_emit(struct thread_state *thread, struct task_struct *task)
{
	__u64 stopped_ns = stopped_since_noted(thread, task);

	if (stopped_ns)
		throttle_send(thread->thread, stopped_ns);
}
