/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of Ruby's methods and blocks, between the native ones of the interpreter that runs them.
 *
 * An evaluation, one call of rb_vm_exec(), runs a chain of Ruby's frames. They lie one after the other on a
 * stack of their own, all evaluations' of a thread together; a flag says where an evaluation began. So the
 * innermost native frame of rb_vm_exec() has those up to the first such frame, and so on. Frames of functions
 * in C lie among them and run no instructions: the native stack has these.
 *
 * A thread's execution context is in its thread-local memory, to which glibc keeps a list of pointers.
 *
 * Memory may hold anything: every reading may fail, and their number is bounded.
 */
#pragma once

#include "stack.bpf.h"

static __always_inline bool ruby_read_word(struct task_struct *task, __u64 address, __u64 *word)
{
	return memory_read(word, sizeof(*word), address, task);
}

static __always_inline void ruby_begin(struct ruby_walk *r, const struct ruby_process *process, __u64 thread_pointer)
{
	r->process = *process;
	r->thread_pointer = thread_pointer;
	r->frame = r->end = 0;
	r->steps = 0;
	r->state = RUBY_WAITS;
}

/* Finds the innermost frame of the thread; false: it has none, or runs no Ruby. */
static __always_inline bool ruby_find(struct ruby_walk *r, struct task_struct *task)
{
	const struct ruby_process *process = &r->process;
	__u64 module = 1, list, memory, context, stack, bytes;

	/* The second word of what the thread pointer leads to is glibc's list; its entries have two words. */
	if ((process->module_at && !ruby_read_word(task, process->module_at, &module)) || !module ||
	    module > RUBY_MODULES_MAX || !ruby_read_word(task, r->thread_pointer + WORD_BYTES, &list) ||
	    !ruby_read_word(task, list + module * 2 * WORD_BYTES, &memory) ||
	    !ruby_read_word(task, memory + process->context_offset, &context) || !context ||
	    !memory_read(r->frame_words, RUBY_CONTEXT_WORDS * WORD_BYTES, context, task))
		return false;
	stack = r->frame_words[RUBY_CONTEXT_STACK];
	bytes = r->frame_words[RUBY_CONTEXT_STACK_WORDS] * WORD_BYTES;
	r->frame = r->frame_words[RUBY_CONTEXT_FRAME];
	r->end = stack + bytes;
	return r->frame - stack < bytes;
}

/* The next native frame is an evaluation's. */
static __always_inline void ruby_on_native(struct ruby_walk *r, struct task_struct *task)
{
	if (r->state == RUBY_WAITS)
		r->state = r->end || ruby_find(r, task) ? RUBY_READS : RUBY_OVER;
}

/* What says best what a frame runs: the entry of its method, which knows its class; else its instructions. */
static __always_inline __u64 ruby_code(struct ruby_walk *r, struct task_struct *task, __u64 kind)
{
	__u64 entry = r->environment[RUBY_ENVIRONMENT_METHOD], code = r->frame_words[RUBY_FRAME_CODE], object[2];

	if (kind != RUBY_KIND_METHOD || !memory_read(object, sizeof(object), entry, task))
		return code;
	if ((object[0] & RUBY_OBJECT_MASK) == RUBY_OBJECT_VARIABLES) {
		entry = object[1];
		if (!ruby_read_word(task, entry, &object[0]))
			return code;
	}
	return (object[0] & RUBY_OBJECT_MASK) == RUBY_OBJECT_METHOD ? entry : code;
}

/* Reads a frame; true: it is one for the stack, where *frame is what it has. */
static __always_inline bool ruby_next(struct ruby_walk *r, struct task_struct *task, __u64 *frame)
{
	__u64 instruction, index, kind, at = r->frame;

	if (r->steps++ >= RUBY_STEPS_MAX || at >= r->end ||
	    !memory_read(r->frame_words, sizeof(r->frame_words), at, task)) {
		r->state = RUBY_OVER;
		return false;
	}
	r->frame = at + r->process.frame_bytes;
	instruction = r->frame_words[RUBY_FRAME_INSTRUCTION];
	if (!instruction || !r->frame_words[RUBY_FRAME_CODE])
		return false;
	if (!memory_read(r->environment, sizeof(r->environment),
			 r->frame_words[RUBY_FRAME_ENVIRONMENT] - RUBY_ENVIRONMENT_FLAGS * WORD_BYTES, task)) {
		r->state = RUBY_OVER;
		return false;
	}
	kind = r->environment[RUBY_ENVIRONMENT_FLAGS] & RUBY_KIND_MASK;
	if (kind == RUBY_KIND_DUMMY)
		return false;
	index = instruction / WORD_BYTES & STACK_MANAGED_INDEX;
	if (index == STACK_MANAGED_JAVASCRIPT ||
	    index == STACK_MANAGED_JAVA) /* rare: the word before is taken for it */
		index = STACK_MANAGED_JAVA - 1;
	*frame = STACK_FRAME_MANAGED | (ruby_code(r, task, kind) << STACK_MANAGED_SHIFT & STACK_MANAGED_CODE) | index;
	if (r->environment[RUBY_ENVIRONMENT_FLAGS] & RUBY_FLAG_FINISH)
		r->state = RUBY_WAITS;
	return true;
}
