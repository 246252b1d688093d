/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For how long an event loop has not come to its poll. A poll that finds something ready at once makes no record. To
 * know of it, every system call of the machine has to be traced: that is done for a moment now and then, and only
 * once a loop has run for long since a poll that blocked (loop.bpf.c).
 */
#pragma once

#include "emit.bpf.h"

enum {
	LOOP_POLLS_MIN = 2,    /* that blocked: who has polled once is no loop */
	LOOP_RUN_NS = 4000000, /* since the last of them: what users notice */
	RING_ASKS_RESULTS = 1, /* IORING_ENTER_GETEVENTS */
	TURN_AGE_MAX = 0xffff,
};

static __always_inline bool polls_queue(__u32 kind)
{
	return kind == POLL_EPOLL || kind == POLL_RING;
}

/* Whether a call is a poll of many descriptors. */
static __always_inline bool is_loop_poll(__u32 kind, const struct pt_regs *regs)
{
	switch (kind) {
	case POLL_EPOLL:
		return true;
	case POLL_RING:
		return regs->r10 & RING_ASKS_RESULTS;
	case POLL_LIST:
		return regs->si > 1;
	case POLL_SELECT:
		return regs->di;
	default:
		return false;
	}
}

/* The current thread blocks in this system call. Who polls a queue may wait for lists in what it calls. */
static __always_inline void loop_block(struct loop_polls *loop, struct task_struct *task, __u32 number)
{
	const struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	__u32 kind = number < SYSCALLS_MAX ? poll_kinds[number & (SYSCALLS_MAX - 1)] : POLL_NONE;

	if (!kind || (polls_queue(loop->kind) && !polls_queue(kind)) || !is_loop_poll(kind, regs))
		return;
	loop->kind = kind;
	loop->descriptor = regs->di;
	loop->exec_ns = task->se.sum_exec_runtime;
	if (loop->count < LOOP_POLLS_MIN)
		loop->count++;
}

/* The current thread makes this system call: whether it comes to the poll in which it blocked last. */
static __always_inline bool loop_comes_round(const struct loop_polls *loop, const struct pt_regs *regs, __u32 kind)
{
	if (polls_queue(kind) != polls_queue(loop->kind) || !is_loop_poll(kind, regs))
		return false;
	return !polls_queue(kind) || loop->descriptor == (__u32)regs->di;
}

/* Into a sample of the thread. */
static __always_inline void turn_describe(struct ev_sched_sample *e, const struct loop_polls *loop)
{
	__u64 since_ns = loops_watched_ns, age;

	e->turn = TURN_UNKNOWN;
	e->turn_age = 0;
	if (!since_ns || loop->count < LOOP_POLLS_MIN)
		return;
	e->turn = loop->came_ns < since_ns ? TURN_SINCE_WATCH : TURN_SINCE_POLL;
	if (e->turn == TURN_SINCE_POLL)
		since_ns = loop->came_ns;
	age = e->header.time_ns > since_ns ? (e->header.time_ns - since_ns) >> TURN_AGE_SHIFT : 0;
	e->turn_age = age < TURN_AGE_MAX ? age : TURN_AGE_MAX;
}

/* The thread was met running: it may be worth watching its polls. */
static __always_inline void loop_ask(const struct loop_polls *loop, const struct task_struct *task)
{
	if (!loops_may_ring || loop->count < LOOP_POLLS_MIN || task->se.sum_exec_runtime - loop->exec_ns < LOOP_RUN_NS)
		return;
	if (__sync_lock_test_and_set(&loops_may_ring, 0))
		bell_ring(BELL_LOOPS);
}
