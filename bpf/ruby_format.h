/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel side must know of a Ruby interpreter (MRI) to follow the frames of its threads, and what
 * changes while it does. It comes from the interpreter's file and version, by way of the engine
 * (src/symbol/ruby/ruby_file.c).
 */
#pragma once

#include <linux/types.h>

#include "values.h"

/* An interpreter in a process. */
struct ruby_process {
	__u64 code_begin, code_bytes; /* of rb_vm_exec(), where one call is one evaluation; 0 bytes: no Ruby */
	__u64 module_at;      /* the address of its file's number for thread-local memory; 0: it is the executable */
	__u64 context_offset; /* in that memory: a pointer to the thread's execution context */
	__u32 frame_bytes;    /* of a control frame */
	__u32 reserved;
};

enum {
	RUBY_STEPS_MAX = 2048,      /* control frames for one stack */
	RUBY_MODULES_MAX = 1 << 20, /* that a number can make sense of */

	/* Of an execution context, in words: its stack, how many words that has, and the innermost control frame. */
	RUBY_CONTEXT_STACK = 0,
	RUBY_CONTEXT_STACK_WORDS = 1,
	RUBY_CONTEXT_FRAME = 2,
	RUBY_CONTEXT_WORDS = 3,

	/* Of a control frame. */
	RUBY_FRAME_INSTRUCTION = 0,
	RUBY_FRAME_CODE = 2,
	RUBY_FRAME_ENVIRONMENT = 4,
	RUBY_FRAME_WORDS = 5,

	/* Of an environment, which ends where the frame's pointer to it leads. */
	RUBY_ENVIRONMENT_METHOD = 0,
	RUBY_ENVIRONMENT_FLAGS = 2,
	RUBY_ENVIRONMENT_WORDS = 3,

	RUBY_FLAG_FINISH = 0x20, /* the evaluation began here */
	RUBY_KIND_MASK = 0x7fff0001,
	RUBY_KIND_METHOD = 0x11110001,
	RUBY_KIND_DUMMY = 0x79990001, /* it runs nothing: the outermost one, or while a file is parsed */

	/* Of an object of the interpreter's own, in its first word. */
	RUBY_OBJECT_MASK = 0xf01f,
	RUBY_OBJECT_VARIABLES = 0x201a, /* of a method that has $~ and the like; then comes its entry */
	RUBY_OBJECT_METHOD = 0x601a,    /* a method's entry */
	RUBY_OBJECT_CODE = 0x701a,      /* an instruction sequence */
};

enum ruby_state {
	RUBY_READS, /* frames of one evaluation follow in the stack */
	RUBY_WAITS, /* for the native frame of the next one */
	RUBY_OVER,  /* there are no more, or they cannot be read */
};

/* A stack's frames of Ruby, an evaluation at a time. */
struct ruby_walk {
	struct ruby_process process;
	__u64 thread_pointer;
	__u64 frame, end; /* the next control frame, and what is behind the last one; 0: not sought yet */
	__u32 state;
	__u32 steps;
	__u64 frame_words[RUBY_FRAME_WORDS];
	__u64 environment[RUBY_ENVIRONMENT_WORDS];
};
