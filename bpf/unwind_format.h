/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables as the engine writes and the BPF programs read them: what a function's caller had
 * in its registers, for each place in the code (DWARF 5, section 6.4, evaluated beforehand); and
 * what changes while a stack is unwound by them.
 *
 * All is kept in units of 8 bytes in chunks of one size, since the look-up in an array whose
 * size is known takes a few instructions. Nothing lies across two chunks. A place in them is
 * chunk * UNWIND_CHUNK_UNITS + index.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "jvm_format.h"
#include "python_format.h"
#include "ruby_format.h"
#include "v8_format.h"

enum {
	UNWIND_CHUNK_BITS = 18,
	UNWIND_CHUNK_UNITS = 1 << UNWIND_CHUNK_BITS, /* 2 MB */
	UNWIND_CHUNKS_MAX = 128,
	UNWIND_BLOCK_BITS = 8, /* of code: 256 bytes have a block */
	UNWIND_BLOCK_ROWS_MAX = (1 << UNWIND_BLOCK_BITS) + 1,
};

/* A stack as it lies in memory, and registers by their numbers in DWARF. */
enum {
	WORD_BYTES = 8,
	RED_ZONE_BYTES = 128, /* below rsp, and in use: rbp is there when it was just restored */
	FRAME_POINTER = 6,
	STACK_POINTER = 7,
	INSTRUCTION_POINTER = 16,
	REGISTERS = 17,
};

/* Where the CFA is: the stack pointer before the call, to which all else relates. */
enum unwind_cfa {
	UNWIND_NONE,        /* not known: between functions, or a form without a rule */
	UNWIND_END,         /* nobody called this function */
	UNWIND_RSP,         /* rsp + offset */
	UNWIND_RBP,         /* rbp + offset */
	UNWIND_RSP_DEREF,   /* *(rsp + offset) */
	UNWIND_RSP_DEREF_8, /* *(rsp + offset) + 8 */
	UNWIND_RBP_DEREF,   /* *(rbp + offset) */
	UNWIND_REGISTER,    /* another one, in the low 4 bits of the offset; innermost frames only */
	UNWIND_PLT,         /* rsp + 8, and 8 more once (rip & 15) >= offset */
	UNWIND_RSP_BYTES,   /* rsp + offset: what calls nothing need not align its stack */
	UNWIND_SIGNAL,      /* a signal handler's: *(rsp + 160) holds rsp, + 168 rip, + 120 rbp */
	UNWIND_GO,          /* on the Go runtime's stack: the goroutine's; offset: enum unwind_go */
	UNWIND_INTERPRETED, /* a JVM's interpreter: the frame pointer's, and below it the caller's rsp */
	UNWIND_UNCERTAIN,   /* generated code, and nothing certain about its caller */
};

/* Where the goroutine goes on, of which the runtime has kept sp and pc. */
enum unwind_go {
	UNWIND_GO_RETURNS, /* at *sp: it called what went to the runtime's stack */
	UNWIND_GO_AT_PC,
};

/* Where the caller's rbp is. */
enum unwind_rbp {
	UNWIND_RBP_SAME,
	UNWIND_RBP_AT_CFA, /* *(CFA + offset) */
	UNWIND_RBP_AT_RBP, /* *(rbp + offset) */
	UNWIND_RBP_LOST,
};

/*
 * A rule: the kind of CFA in bits 0-3, of rbp in 4-5, rbp's offset in 6-12, the CFA's in 13-31.
 * Offsets are signed, in units of 8 bytes except for UNWIND_PLT, UNWIND_REGISTER,
 * UNWIND_RSP_BYTES and UNWIND_GO.
 */
enum {
	UNWIND_RBP_SHIFT = 4,
	UNWIND_RBP_OFFSET_SHIFT = 6,
	UNWIND_RBP_OFFSET_BITS = 7,
	UNWIND_OFFSET_SHIFT = 13,
	UNWIND_OFFSET_BITS = 19,
	UNWIND_REGISTER_BITS = 4,
};

/* The rule holds from here to the next row. */
struct unwind_row {
	__u32 pc; /* from the beginning of its table */
	__u32 rule;
};

/* The rows that matter to a block of code. The first one begins at or before the block. */
struct unwind_block {
	__u32 first; /* row of the table, whose rows follow its blocks */
	__u32 count; /* 1 to UNWIND_BLOCK_ROWS_MAX */
};

/* A part of a process's address space that a table describes; the ranges are sorted. */
struct unwind_range {
	__u64 begin, end;
	__u64 bias;  /* address - bias is the table's pc */
	__u32 table; /* the place of its blocks */
	__u32 block_count;
};

/* A process's ranges, and the runtimes in some of them. */
struct unwind_space {
	__u32 ranges; /* their place */
	__u32 range_count;
	__u32 version; /* another one for each list of ranges; 0: none */
	__u32 reserved;
	struct python_process python;
	struct jvm_process jvm;
	struct ruby_process ruby;
	struct v8_process v8;
};

enum { UNWIND_WINDOW_WORDS = 128 };

/* Where a search is. */
struct unwind_search {
	__u32 base, count;
};

/* Code of a JVM: where a frame is, and what is around it. */
struct unwind_code {
	__u64 blob;
	__u64 words[3]; /* 16 bytes before an instruction, and 8 from it on */
	__s32 frame_words;
	__s32 complete; /* as in the blob */
	__u64 offset;   /* of the instruction in the code */
	__u64 r13;      /* of the innermost frame */
};

/* A stack that is being unwound: the frame that is being examined, and those before. */
struct unwind {
	__u64 ip, sp, bp;
	struct unwind_range range; /* that of the frame before */
	struct unwind_space space;
	struct unwind_search search;
	struct unwind_code code;
	__u32 count;     /* of frames so far */
	__u8 end;        /* enum stack_end */
	bool is_exact;   /* ip is where the thread was, not where a call returns to */
	bool is_guessed; /* by the frame pointer */
	bool is_innermost;
	bool needs_range;   /* to stop where no range is known */
	bool lacks_range;   /* it stopped there */
	__u32 window_bytes; /* of the user's stack, from window_begin on */
	__u64 window_begin;
	__u64 window[UNWIND_WINDOW_WORDS];
	__u64 word; /* the last one that was read rarely */
};
