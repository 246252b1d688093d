/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Python's frames of a thread that is blocked, for the engine to put them between the native ones: it unwinds the
 * stack, which is sent as it lies in memory.
 */
#pragma once

#include "python.bpf.h"

static __always_inline void blocked_python_note(struct blocked_python *b, __u64 word)
{
	b->words[b->count & (BLOCKED_PYTHON_WORDS - 1)] = word;
	b->count++;
}

/* One reading, or one word for the engine; 1 when there is none. A callback of bpf_loop(); owner: the thread. */
static long blocked_python_step(__u32 index __attribute__((unused)), void *owner)
{
	struct task_struct *task = *(struct task_struct **)owner;
	struct blocked_python *b;
	struct python_walk *p;
	__u32 zero = 0;
	__u64 frame;

	b = bpf_map_lookup_elem(&blocked_python, &zero);
	if (!b || !task || b->count >= BLOCKED_PYTHON_WORDS)
		return 1;
	p = &b->python;
	if (p->state < PYTHON_EMITS) {
		python_step(p, task);
		return 0;
	}
	if (p->state != PYTHON_EMITS)
		return 1;
	blocked_python_note(b, python_emit(p, &frame) ? frame : p->anchor);
	return 0;
}

/* Sends them, those of the stack with this name. */
static __always_inline void blocked_python_send(struct task_struct *task, __u32 thread, __u64 stack)
{
	__u32 zero = 0, pid = task->tgid, bytes;
	struct blocked_python *b = bpf_map_lookup_elem(&blocked_python, &zero);
	struct unwind_space *space = bpf_map_lookup_elem(&unwind_spaces, &pid);
	struct ev_stack_python *e;
	void *ring = ring_here();

	if (!b || !space || !space->python.runtime || !ring)
		return;
	b->count = 0;
	python_begin(&b->python, &space->python, task->thread.fsbase, 0);
	/* Where its native frames are, the engine finds out. */
	b->python.begin = 0;
	b->python.end = ~0ull;
	python_seek(&b->python, task);
	bpf_loop(PYTHON_STEPS_MAX + BLOCKED_PYTHON_WORDS, blocked_python_step, &task, 0);
	if (!b->count || b->count > BLOCKED_PYTHON_WORDS)
		return;
	e = (void *)b->event;
	header_fill(&e->header, EV_STACK_PYTHON, thread);
	e->stack = stack;
	e->pid = pid;
	e->count = b->count;
	bytes = b->count * sizeof(__u64);
	barrier_var(bytes);
	if (bytes > sizeof(b->words))
		return;
	if (!gap_is_reported() || bpf_ringbuf_output(ring, b, sizeof(*e) + bytes, BPF_RB_NO_WAKEUP))
		event_lost();
}
