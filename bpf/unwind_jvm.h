/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rule (unwind_format.h) of an address in code that a HotSpot virtual machine has generated, for the BPF programs.
 * The machine keeps its code in blobs, which lie in blocks of its heaps, and in a blob how large a frame of its code is:
 * the return address lies at the top of the frame, the caller's rbp below it. A frame is made and taken down in a few
 * instructions that have one form, which tell how much of it there is where a thread was interrupted.
 *
 * Memory changes meanwhile, and may hold anything. So a rule is only given if it leads to a return address in the
 * machine's code, where each caller of compiled code is. (OpenJDK: memory/heap.cpp, CodeHeap::find_block_for();
 * code/codeBlob.hpp; cpu/x86/frame_x86.inline.hpp, frame::sender_for_compiled_frame(); macroAssembler_x86.cpp,
 * MacroAssembler::verified_entry().)
 */
#pragma once

#include "unwind_step.h"

enum {
	JVM_HOPS_MAX = 32, /* in the map of segments: some 32 KB of code each */
	JVM_R13 = 13,      /* a register's number in DWARF */
	JVM_FRAME_WORDS_MAX = 1 << 16,
	JVM_STUB_BYTES_MAX = 4096, /* of a stub's frame */
	JVM_METHOD_WORDS = 3,      /* below the frame pointer of the interpreter (frame_x86.hpp) */
	/* Nothing but the return address; a frame pointer; the return address and the caller's rbp. */
	JVM_RETURN = UNWIND_RSP | UNWIND_RBP_SAME << UNWIND_RBP_SHIFT | 1 << UNWIND_OFFSET_SHIFT,
	JVM_POINTED = UNWIND_RBP | UNWIND_RBP_AT_RBP << UNWIND_RBP_SHIFT | 2 << UNWIND_OFFSET_SHIFT,
	JVM_BP_SAVED = UNWIND_RBP_AT_CFA << UNWIND_RBP_SHIFT | (-2 & ((1 << UNWIND_RBP_OFFSET_BITS) - 1))
								       << UNWIND_RBP_OFFSET_SHIFT,
	JVM_PUSHED = UNWIND_RSP | JVM_BP_SAVED | 2 << UNWIND_OFFSET_SHIFT,
	/* Instructions, the first byte lowest. */
	CODE_PUSH_RBP = 0x55,
	CODE_POP_RBP = 0x5d,
	CODE_RET = 0xc3,
	CODE_CALL = 0xe8,
	CODE_JMP = 0xe9,
	CODE_JMP_RAX = 0xe0ff,
	CODE_JE_8 = 0x74, /* with 8 bits */
	CODE_JNE_8 = 0x75,
	CODE_JE = 0x840f,
	CODE_JNE = 0x850f,
	CODE_JA = 0x870f,
	CODE_SUB_RSP_8 = 0xec8348,     /* sub $8 bits, %rsp: 4 bytes */
	CODE_SUB_RSP_32 = 0xec8148,    /* the same, 32 bits: 7 bytes */
	CODE_MOV_RSP_RBP = 0xec8b48,   /* mov %rsp, %rbp */
	CODE_MOV_RSP_RBP_2 = 0xe58948, /* the same in the other form */
	CODE_POLL_8 = 0x673b49,        /* cmp 8 bits(%r15), %rsp, once the frame is gone: 4 bytes */
	CODE_POLL_32 = 0xa73b49,       /* the same, 32 bits: 7 bytes */
	CODE_BARRIER_8 = 0x7f8141,     /* cmpl $32 bits, 8 bits(%r15), once the frame is there: 8 bytes */
	CODE_BARRIER_32 = 0xbf8141,    /* the same, 32 bits: 11 bytes */
	CODE_SAVE_RBP_8 = 0x246c8948,  /* mov %rbp, 8 bits(%rsp) */
	CODE_SAVE_RBP_32 = 0x24ac8948, /* the same, 32 bits */
};

/* Whoever includes this has it: reads code, and what is around it. False when it cannot be read. */
static __always_inline bool code_read(struct unwind *u, void *bytes, __u32 size_bytes, __u64 address);

/* The same of jvm_blob(). */
static __always_inline bool blob_find(struct unwind *u, __u64 address);

static __always_inline bool is_jvm_code(const struct unwind *u, __u64 address)
{
	return address - u->space.jvm.begin < u->space.jvm.bytes;
}

static __always_inline __u32 jvm_frame_rule(__u32 words)
{
	return UNWIND_RSP | JVM_BP_SAVED | words << UNWIND_OFFSET_SHIFT;
}

/* The block of an address in a heap, by the map of its segments; 0: it is in none. */
static __always_inline __u64 jvm_block(struct unwind *u, __u64 address)
{
	const struct jvm_process *jvm = &u->space.jvm;
	__u64 begin = 0, segments = 0, segment;
	__u8 hop = 0;
	__u32 i;

	for (i = 0; i < JVM_HEAPS_MAX; i++) {
		if (address - jvm->heaps[i].begin < jvm->heaps[i].end - jvm->heaps[i].begin) {
			begin = jvm->heaps[i].begin;
			segments = jvm->heaps[i].segments;
		}
	}
	if (!segments)
		return 0;
	segment = (address - begin) >> (jvm->segment_bits & 31);
	for (i = 0; i < JVM_HOPS_MAX; i++) {
		if (!code_read(u, &hop, sizeof(hop), segments + segment) || hop == JVM_SEGMENT_IS_FREE || hop > segment)
			return 0;
		if (!hop)
			return begin + (segment << (jvm->segment_bits & 31));
		segment -= hop;
	}
	return 0;
}

/* Finds the blob that holds an address: u->code.blob, and its frame. False: there is none. */
static __always_inline bool jvm_blob(struct unwind *u, __u64 address)
{
	__u64 block = jvm_block(u, address);
	__u8 used;

	if (!block || !code_read(u, &used, sizeof(used), block + u->space.jvm.block_used) || !used)
		return false;
	u->code.blob = block + u->space.jvm.block_bytes;
	return code_read(u, &u->code.frame_words, sizeof(u->code.frame_words), u->code.blob + u->space.jvm.blob_frame);
}

/* What else is to be known where a thread was interrupted: the instructions around it, and where in the code it is. */
static __always_inline bool jvm_code(struct unwind *u)
{
	const struct jvm_process *jvm = &u->space.jvm;
	__u64 code = 0;
	__s16 complete;

	u->code.complete = 0;
	if (!code_read(u, u->code.words, sizeof(u->code.words), u->ip - 2 * WORD_BYTES))
		return false;
	if (jvm->complete_bytes == sizeof(complete)) {
		if (!code_read(u, &complete, sizeof(complete), u->code.blob + jvm->blob_complete))
			return false;
		u->code.complete = complete;
	} else if (!code_read(u, &u->code.complete, sizeof(u->code.complete), u->code.blob + jvm->blob_complete)) {
		return false;
	}
	if (jvm->is_code_offset) {
		__u32 offset;

		if (!code_read(u, &offset, sizeof(offset), u->code.blob + jvm->blob_code))
			return false;
		code = u->code.blob + offset;
	} else if (!code_read(u, &code, sizeof(code), u->code.blob + jvm->blob_code)) {
		return false;
	}
	u->code.offset = u->ip - code;
	return true;
}

/* As many bytes of the code, from a place on that is counted from 16 bytes before the instruction on; at most 4. */
static __always_inline __u32 jvm_bytes(const struct unwind *u, __u32 place, __u32 count)
{
	__u64 word = u->code.words[place / WORD_BYTES] >> place % WORD_BYTES * 8;

	if (place % WORD_BYTES + count > WORD_BYTES)
		word |= u->code.words[place / WORD_BYTES + 1] << (WORD_BYTES - place % WORD_BYTES) * 8;
	return word & (0xffffffffull >> (4 - count) * 8);
}

/* The bytes of the instruction, and of those that end before it and have so many bytes. */
static __always_inline __u32 jvm_next(const struct unwind *u, __u32 count)
{
	return jvm_bytes(u, 2 * WORD_BYTES, count);
}

static __always_inline __u32 jvm_last(const struct unwind *u, __u32 size_bytes, __u32 count)
{
	return jvm_bytes(u, 2 * WORD_BYTES - size_bytes, count);
}

static __always_inline bool jvm_is_sub(__u32 three)
{
	return three == CODE_SUB_RSP_8 || three == CODE_SUB_RSP_32;
}

static __always_inline bool jvm_is_mov(__u32 three)
{
	return three == CODE_MOV_RSP_RBP || three == CODE_MOV_RSP_RBP_2;
}

/* Where an instruction alone says how much of the frame there is; UNWIND_NONE: it does not. */
static __always_inline __u32 jvm_rule_by_instruction(const struct unwind *u)
{
	__u32 three = jvm_next(u, 3);

	switch (jvm_next(u, 1)) {
	case CODE_RET:
	case CODE_PUSH_RBP:
		return JVM_RETURN;
	case CODE_POP_RBP:
		return JVM_PUSHED;
	}
	if (three == CODE_POLL_8 || three == CODE_POLL_32)
		return JVM_RETURN;
	if (jvm_next(u, 2) == CODE_JA && (jvm_last(u, 4, 3) == CODE_POLL_8 || jvm_last(u, 7, 3) == CODE_POLL_32))
		return JVM_RETURN;
	if (jvm_last(u, 1, 1) == CODE_POP_RBP && (jvm_next(u, 1) == CODE_JMP || jvm_next(u, 2) == CODE_JMP_RAX))
		return JVM_RETURN;
	if (jvm_last(u, 1, 1) == CODE_PUSH_RBP && (jvm_is_sub(three) || jvm_is_mov(three)))
		return JVM_PUSHED;
	/* With -XX:+PreserveFramePointer: push, mov, sub. */
	if (jvm_is_sub(three) && jvm_is_mov(jvm_last(u, 3, 3)) && jvm_last(u, 4, 1) == CODE_PUSH_RBP)
		return JVM_PUSHED;
	return UNWIND_NONE;
}

/* Whether the frame is there already, in the instructions that make it. */
static __always_inline bool jvm_is_behind_frame(const struct unwind *u)
{
	__u32 three = jvm_next(u, 3), two = jvm_next(u, 2), one = jvm_next(u, 1);

	if (three == CODE_BARRIER_8 || three == CODE_BARRIER_32 || one == CODE_CALL)
		return true;
	if (jvm_last(u, 4, 3) == CODE_SUB_RSP_8 || jvm_last(u, 7, 3) == CODE_SUB_RSP_32)
		return true;
	return (two == CODE_JE || two == CODE_JNE || one == CODE_JE_8 || one == CODE_JNE_8) &&
	       (jvm_last(u, 8, 3) == CODE_BARRIER_8 || jvm_last(u, 11, 3) == CODE_BARRIER_32);
}

/* Of a thread that was interrupted before its frame was complete. */
static __always_inline __u32 jvm_rule_at_entry(const struct unwind *u)
{
	__u32 four = jvm_next(u, 4);

	if (four == CODE_SAVE_RBP_8 || four == CODE_SAVE_RBP_32)
		return UNWIND_RSP | UNWIND_RBP_SAME << UNWIND_RBP_SHIFT | u->code.frame_words << UNWIND_OFFSET_SHIFT;
	if (jvm_is_behind_frame(u))
		return jvm_frame_rule(u->code.frame_words);
	return JVM_RETURN;
}

/* Whether the code begins by making a frame pointer, and has done so. Blobs without a frame have many beginnings. */
static __always_inline bool jvm_has_pointer(struct unwind *u)
{
	__u32 begin;

	return u->code.frame_words > 0 && u->code.offset >= sizeof(begin) &&
	       code_read(u, &begin, sizeof(begin), u->ip - u->code.offset) && (begin & 0xff) == CODE_PUSH_RBP &&
	       jvm_is_mov(begin >> 8);
}

/*
 * In a stub without a frame of a known size: by the frame pointer, if there is one. It is none if it leads to a frame
 * of the interpreter, who has not called the stub but has what called it: below it lies the stack pointer of its caller.
 */
static __always_inline __u32 jvm_rule_by_pointer(struct unwind *u)
{
	__u64 bp = u->bp, word;

	if (bp - u->sp > JVM_STUB_BYTES_MAX || !rare_word(u, bp - WORD_BYTES, &word) ||
	    word - bp < FRAME_POINTER_REACH || !rare_word(u, bp + WORD_BYTES, &word) || !is_jvm_code(u, word))
		return UNWIND_UNCERTAIN;
	return UNWIND_NONE;
}

/* Of a thread that was interrupted in code that does not say where its frame is complete, or has none of a fixed size. */
static __always_inline __u32 jvm_rule_of_stub(struct unwind *u)
{
	__u64 word;

	if (u->code.frame_words > 0 && u->bp - u->sp == (__u64)(u->code.frame_words - 2) * WORD_BYTES)
		return jvm_frame_rule(u->code.frame_words);
	if (rare_word(u, u->sp, &word) && is_jvm_code(u, word))
		return JVM_RETURN;
	return u->code.frame_words > 0 ? UNWIND_UNCERTAIN : jvm_rule_by_pointer(u);
}

static __always_inline __u32 jvm_rule_where_interrupted(struct unwind *u)
{
	__u32 rule;

	if (!jvm_code(u))
		return UNWIND_UNCERTAIN;
	rule = jvm_rule_by_instruction(u);
	if (rule != UNWIND_NONE)
		return rule;
	if (jvm_has_pointer(u))
		return JVM_POINTED;
	if (u->code.frame_words <= 0 || u->code.complete < 0)
		return jvm_rule_of_stub(u);
	if (u->code.offset < (__u64)u->code.complete)
		return jvm_rule_at_entry(u);
	return jvm_frame_rule(u->code.frame_words);
}

/*
 * Where a method is entered, the interpreter has its caller's stack pointer in r13, and no frame of its own. Later it
 * has the address of a bytecode there.
 */
static __always_inline __u32 jvm_rule_of_interpreter(struct unwind *u)
{
	__u64 word;

	if (u->is_innermost && u->code.r13 - u->sp < FRAME_POINTER_REACH)
		return JVM_RETURN;
	/* From the first word of the frame that matters on: they are read at once. */
	if (!rare_word(u, u->bp - WORD_BYTES, &word) || !rare_word(u, u->bp + WORD_BYTES, &word) ||
	    !is_jvm_code(u, word))
		return UNWIND_UNCERTAIN;
	return UNWIND_INTERPRETED;
}

static __always_inline __u32 jvm_rule_of_blob(struct unwind *u, __u64 address)
{
	if (!blob_find(u, address) || u->code.frame_words > JVM_FRAME_WORDS_MAX)
		return UNWIND_UNCERTAIN;
	if (u->is_exact)
		return jvm_rule_where_interrupted(u);
	return u->code.frame_words > 0 ? jvm_frame_rule(u->code.frame_words) : jvm_rule_by_pointer(u);
}

/* Of an address in the machine's code. UNWIND_NONE: a stub, which has a frame pointer. */
static __always_inline __u32 jvm_rule_find(struct unwind *u, __u64 address)
{
	__u64 word;
	__u32 rule;

	if (u->ip == u->space.jvm.entry && !u->is_exact)
		return JVM_POINTED;
	if (address - u->space.jvm.interpreter_begin < u->space.jvm.interpreter_bytes)
		rule = jvm_rule_of_interpreter(u);
	else
		rule = jvm_rule_of_blob(u, address);
	if ((rule & 0xf) != UNWIND_RSP && (rule & 0xf) != UNWIND_RBP)
		return rule;
	word = ((rule & 0xf) == UNWIND_RSP ? u->sp : u->bp) + (__u64)(rule >> UNWIND_OFFSET_SHIFT) * WORD_BYTES;
	return rare_word(u, word - WORD_BYTES, &word) && is_jvm_code(u, word) ? rule : UNWIND_UNCERTAIN;
}

/* The frame of the interpreter that is being examined as one of the method that it interprets; 0: that cannot be read. */
static __always_inline __u64 jvm_method_frame(struct unwind *u)
{
	__u64 method;

	if (!rare_word(u, u->bp - JVM_METHOD_WORDS * WORD_BYTES, &method) || !method || method % WORD_BYTES)
		return 0;
	return STACK_FRAME_MANAGED | (method << STACK_MANAGED_SHIFT & STACK_MANAGED_CODE) | STACK_MANAGED_JAVA;
}
