/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Python's and Ruby's frames of a thread that is blocked, for the engine to put them between the native ones: it
 * unwinds the stack, which is sent as it lies in memory.
 */
#pragma once

#include "python.bpf.h"
#include "ruby.bpf.h"

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

/* The same of Ruby's. */
static long blocked_ruby_step(__u32 index __attribute__((unused)), void *owner)
{
	struct task_struct *task = *(struct task_struct **)owner;
	struct blocked_python *b;
	struct ruby_walk *r;
	__u32 zero = 0;
	__u64 frame;

	b = bpf_map_lookup_elem(&blocked_python, &zero);
	if (!b || !task || b->count >= BLOCKED_PYTHON_WORDS)
		return 1;
	r = &b->ruby;
	if (r->state == RUBY_OVER)
		return 1;
	if (r->state == RUBY_WAITS) {
		blocked_python_note(b, 0);
		r->state = RUBY_READS;
	} else if (ruby_next(r, task, &frame)) {
		blocked_python_note(b, frame);
	}
	return 0;
}

/* Where its native frames are, the engine finds out. */
static __always_inline void blocked_walk(struct blocked_python *b, const struct unwind_space *space,
					 struct task_struct *task)
{
	b->count = 0;
	if (space->python.runtime) {
		python_begin(&b->python, &space->python, task->thread.fsbase, 0);
		b->python.begin = 0;
		b->python.end = ~0ull;
		python_seek(&b->python, task);
		bpf_loop(PYTHON_STEPS_MAX + BLOCKED_PYTHON_WORDS, blocked_python_step, &task, 0);
	} else if (space->ruby.code_bytes) {
		ruby_begin(&b->ruby, &space->ruby, task->thread.fsbase);
		ruby_on_native(&b->ruby, task);
		bpf_loop(RUBY_STEPS_MAX + BLOCKED_PYTHON_WORDS, blocked_ruby_step, &task, 0);
	}
}

/* Sends them, those of the stack with this name. */
static __always_inline void blocked_python_send(struct task_struct *task, __u32 thread, __u64 stack)
{
	__u32 zero = 0, pid = task->tgid, bytes;
	struct blocked_python *b = bpf_map_lookup_elem(&blocked_python, &zero);
	struct unwind_space *space = bpf_map_lookup_elem(&unwind_spaces, &pid);
	struct ev_stack_python *e;
	void *ring = ring_here();

	if (!b || !space || !ring)
		return;
	blocked_walk(b, space, task);
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
