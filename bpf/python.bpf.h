/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of CPython's functions, between the native ones of the interpreter that runs them.
 *
 * An evaluation, one call of _PyEval_EvalFrameDefault(), runs a chain of Python frames: Python
 * calls Python without a call in C. On its C stack it keeps something that CPython's own lists
 * lead to: a record (3.11), or a frame that stands for its caller (3.12 on). This anchor says
 * which native frame is the evaluation's, wherever compilers put the code, and whether a thread
 * that is just entering or leaving an evaluation counts it.
 *
 * Memory may hold anything: every reading may fail, and their number is bounded.
 */
#pragma once

#include "stack.bpf.h"

static __always_inline __u64 python_word(const struct python_walk *p, __u32 offset)
{
	return p->words[offset / sizeof(__u64) & (PYTHON_WORDS - 1)];
}

static __always_inline __u8 python_byte(const struct python_walk *p, __u32 offset)
{
	return python_word(p, offset) >> offset % sizeof(__u64) * 8;
}

/* Of the current thread, task NULL, or of another one: memory_read(). */
static __always_inline bool python_read(struct python_walk *p, struct task_struct *task, __u64 address, __u32 bytes)
{
	return memory_read(p->words, bytes, address, task);
}

static __always_inline bool python_read_word(struct task_struct *task, __u64 address, __u64 *word)
{
	return memory_read(word, sizeof(*word), address, task);
}

/*
 * Prepares for the stack of the thread whose memory of its own is at id; thread: where its state was
 * the last time, 0: unknown.
 */
static __always_inline void python_begin(struct python_walk *p, const struct python_process *process, __u64 id,
					 __u64 thread)
{
	p->process = *process;
	p->id = id;
	p->thread = thread;
	p->is_remembered = thread != 0;
	p->is_found = false;
	p->state = PYTHON_UNSOUGHT;
	p->steps = p->count = 0;
}

static __always_inline void python_seek(struct python_walk *p, struct task_struct *task)
{
	if (!python_read_word(task, p->process.runtime + p->process.layout.interpreters, &p->interpreter))
		p->interpreter = 0;
	p->is_remembered = false;
	p->state = PYTHON_IN_INTERPRETERS;
}

/* Now, if the evaluation is that of the native frame before; else it comes further out. */
static __always_inline void python_wait(struct python_walk *p)
{
	p->emitted = 0;
	p->state = p->anchor - p->begin < p->end - p->begin ? PYTHON_EMITS : PYTHON_WAITS;
}

/* A native frame of the interpreter's file takes the stack from begin to end. */
static __always_inline void python_on_native(struct python_walk *p, struct task_struct *task, __u64 begin, __u64 end)
{
	p->begin = begin;
	p->end = end;
	if (p->state == PYTHON_WAITS) {
		python_wait(p);
	} else if (p->state == PYTHON_UNSOUGHT) {
		if (p->is_remembered)
			p->state = PYTHON_IN_THREADS;
		else
			python_seek(p, task);
	}
}

static __always_inline void python_next_interpreter(struct python_walk *p, struct task_struct *task)
{
	const struct python_layout *layout = &p->process.layout;
	__u64 interpreter = p->interpreter;

	p->state = PYTHON_IN_THREADS;
	if (!interpreter || !python_read_word(task, interpreter + layout->interpreter_next, &p->interpreter) ||
	    !python_read_word(task, interpreter + layout->interpreter_threads, &p->thread))
		p->state = PYTHON_OVER;
}

static __always_inline void python_next_thread(struct python_walk *p, struct task_struct *task)
{
	const struct python_layout *layout = &p->process.layout;

	bool is_read = p->thread && python_read(p, task, p->thread, PYTHON_THREAD_BYTES);

	if (!is_read || python_word(p, layout->thread_id) != p->id) {
		if (p->is_remembered)
			python_seek(p, task);
		else if (is_read)
			p->thread = python_word(p, layout->thread_next);
		else
			p->state = p->thread ? PYTHON_OVER : PYTHON_IN_INTERPRETERS;
		return;
	}
	p->is_found = true;
	p->record = p->frame = python_word(p, layout->thread_frame);
	p->state = layout->has_records ? PYTHON_AT_RECORD : PYTHON_IN_EVALUATION;
}

/* Without a flag in the frames, only the first record is of use: frames lead to all others. */
static __always_inline void python_read_record(struct python_walk *p, struct task_struct *task)
{
	const struct python_layout *layout = &p->process.layout;

	p->state = PYTHON_OVER;
	if (!p->record || !python_read(p, task, p->record, PYTHON_RECORD_BYTES))
		return;
	p->anchor = p->record;
	p->frame = python_word(p, layout->record_frame);
	p->record = python_word(p, layout->record_previous);
	p->state = PYTHON_IN_EVALUATION;
}

/* A frame as the stack has it. */
static __always_inline __u64 python_frame(const struct python_walk *p)
{
	const struct python_layout *layout = &p->process.layout;
	__u64 code = python_word(p, layout->frame_code);
	__u64 index = (__s64)(python_word(p, layout->frame_instruction) - (code + layout->code_instructions)) >> 1;

	if (index >= STACK_MANAGED_JAVA) /* before the first one, too */
		index = STACK_MANAGED_INDEX;
	return STACK_FRAME_MANAGED | (code << STACK_MANAGED_SHIFT & STACK_MANAGED_CODE) | index;
}

static __always_inline void python_next_frame(struct python_walk *p, struct task_struct *task)
{
	const struct python_layout *layout = &p->process.layout;
	__u64 frame = p->frame;

	if (!frame || !python_read(p, task, frame, PYTHON_FRAME_BYTES)) {
		p->state = PYTHON_OVER;
		return;
	}
	p->frame = python_word(p, layout->frame_previous);
	if (!layout->frame_entry && python_byte(p, layout->frame_owner) == PYTHON_OWNED_BY_C) {
		p->anchor = frame;
		python_wait(p);
		return;
	}
	/* A stack has no space for more than fit here; those further in come first. */
	if (p->count < PYTHON_FRAMES_MAX &&
	    (!layout->frame_function || python_word(p, layout->frame_function) != p->process.none)) {
		p->frames[p->count & (PYTHON_FRAMES_MAX - 1)] = python_frame(p);
		p->count++;
	}
	if (layout->frame_entry && python_byte(p, layout->frame_entry))
		python_wait(p);
}

/* One reading. */
static __always_inline void python_step(struct python_walk *p, struct task_struct *task)
{
	if (p->steps++ >= PYTHON_STEPS_MAX) {
		p->state = PYTHON_OVER;
		return;
	}
	switch (p->state) {
	case PYTHON_IN_INTERPRETERS:
		python_next_interpreter(p, task);
		break;
	case PYTHON_IN_THREADS:
		python_next_thread(p, task);
		break;
	case PYTHON_AT_RECORD:
		python_read_record(p, task);
		break;
	case PYTHON_IN_EVALUATION:
		python_next_frame(p, task);
		break;
	}
}

/* The next frame of an evaluation for the stack; false when it has no more. */
static __always_inline bool python_emit(struct python_walk *p, __u64 *frame)
{
	if (p->emitted >= p->count) {
		p->count = 0;
		p->state = p->process.layout.frame_entry ? PYTHON_AT_RECORD : PYTHON_IN_EVALUATION;
		p->steps++;
		return false;
	}
	*frame = p->frames[p->emitted & (PYTHON_FRAMES_MAX - 1)];
	p->emitted++;
	return true;
}
