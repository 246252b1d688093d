/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel side must know of a CPython interpreter to follow the frames of its threads, and
 * what changes while it does. Offsets come from the interpreter's version, by way of the engine
 * (src/symbol/python/python_layout.c).
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "values.h"

/* Offsets in CPython's structures, in bytes. */
struct python_layout {
	__u16 interpreters; /* in _PyRuntime: the list of interpreters */
	__u16 interpreter_next, interpreter_threads;
	__u16 thread_next, thread_id;
	__u16 thread_frame;                  /* the innermost frame, or the record that leads to it */
	__u16 record_frame, record_previous; /* of _PyCFrame: each evaluation has one */
	__u8 has_records;
	__u8 frame_code, frame_previous, frame_instruction;
	__u8 frame_entry; /* a flag: the evaluation began here; 0: there is none */
	__u8 frame_owner;
	__u8 frame_function; /* None in frames that are the interpreter's own; 0: none are */
	__u8 code_instructions;
};

/* An interpreter in a process. */
struct python_process {
	__u64 runtime;                /* address of _PyRuntime; 0: no Python */
	__u64 none;                   /* address of None */
	__u64 code_begin, code_bytes; /* of the file that the interpreter is in */
	struct python_layout layout;
};

enum {
	PYTHON_STEPS_MAX = 2048,   /* readings for one stack */
	PYTHON_FRAMES_MAX = 128,   /* of one evaluation; a power of two above STACK_DEPTH_MAX */
	PYTHON_THREAD_BYTES = 192, /* what is read of a thread, an evaluation's record, a frame */
	PYTHON_RECORD_BYTES = 24,
	PYTHON_FRAME_BYTES = 72,
	PYTHON_WORDS = 32,     /* space for any of them: a power of two */
	PYTHON_OWNED_BY_C = 3, /* frame_owner of a frame that stands for C's caller */
	PYTHON_SKIP_MAX = 255,
};

/* What comes next. Up to EMITS it is Python's turn: each takes one step of the unwinder's loop. */
enum python_state {
	PYTHON_IN_INTERPRETERS, /* the thread is looked for: the next interpreter */
	PYTHON_IN_THREADS,      /* the next of its threads */
	PYTHON_AT_RECORD,       /* the record of an evaluation is to be read */
	PYTHON_IN_EVALUATION,   /* its next frame is */
	PYTHON_EMITS,           /* its frames follow in the stack */
	PYTHON_UNSOUGHT,        /* no frame of the interpreter has been seen */
	PYTHON_WAITS,           /* its frames are known; those of C that it called come first */
	PYTHON_OVER,            /* there are no more, or they cannot be read */
};

/* A stack's frames of Python, an evaluation at a time. */
struct python_walk {
	struct python_process process;
	__u64 id; /* as CPython knows the thread: pthread_self() */
	__u64 interpreter, thread, record, frame;
	__u64 anchor;     /* on the C stack, in the frame of the evaluation */
	__u64 begin, end; /* of the last native frame of the interpreter's file */
	__u32 state;
	__u32 steps;
	__u32 count, emitted; /* of the evaluation's frames */
	bool is_remembered;   /* thread may be another's by now */
	bool is_found;
	__u64 words[PYTHON_WORDS];
	__u64 frames[PYTHON_FRAMES_MAX];
};
