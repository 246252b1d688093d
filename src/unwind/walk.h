/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of a thread of which we have a copy: its registers, and a part of its stack. By the
 * same tables and steps as the BPF programs (unwind_step.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "unwind_format.h"
#include "values.h"

struct unwind_copy {
	const uint64_t *registers; /* by their numbers in DWARF, 17; the last one is rip */
	const void *stack;         /* memory from the red zone, 128 bytes below rsp, on */
	size_t stack_bytes;
};

struct unwind_tables {
	uint64_t *const *chunks; /* of UNWIND_CHUNK_UNITS */
	uint32_t chunk_count;
	struct unwind_space space; /* of the thread's process */
};

/* Frames of functions of Python or Ruby that belong between those of the interpreter. */
struct unwind_python {
	const uint64_t *words; /* as stack.PYTHON has them */
	size_t count;          /* 0: there are none */
	uint64_t code_begin,
		code_bytes; /* of the interpreter's file, where it is mapped; of Ruby its function that evaluates */
};

/*
 * python: NULL, there are none. Writes at most depth frames as stack.FRAMES has them, innermost first; returns how many. *end:
 * why there are no more; STACK_TRUNCATED also where the copy ends.
 */
uint32_t unwind_walk(const struct unwind_tables *tables, const struct unwind_copy *copy,
		     const struct unwind_python *python, uint32_t depth, uint64_t *frames, enum stack_end *end);
