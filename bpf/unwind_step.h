/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One step of unwinding by tables (unwind_format.h), for the BPF programs and for the engine, which
 * finishes what they could not. Where there is no table, as in code that a program generates, a
 * step follows the frame pointer, and the frame that it leads to says so. Of a JVM's code unwind_jvm.h knows more.
 *
 * The stack may hold anything: each address is only ever read by a function that may fail, and
 * each step must lead up the stack.
 *
 * What changes from step to step lies in memory whose contents the verifier does not follow: on
 * the BPF stack each step would look like another program to it.
 */
#pragma once

#include "unwind_format.h"
#include "values.h"

enum {
	SIGNAL_RBP = 120, /* what a signal interrupted, from rsp in the handler's restorer on */
	SIGNAL_RSP = 160,
	SIGNAL_RIP = 168,
	BLOCK_SEARCH_STEPS = UNWIND_BLOCK_BITS + 1,
	RANGE_SEARCH_STEPS = 13,
	FRAME_POINTER_REACH = 1 << 20, /* a frame is not larger */
	/* Go's g, which lies below the thread pointer, and its m (go/src/runtime/runtime2.go). */
	GO_BELOW_THREAD = 8,
	GO_G_M = 48,
	GO_G_SP = 56,
	GO_G_PC = 64,
	GO_G_BP = 104,
	GO_M_CURRENT = 192, /* the goroutine that runs, if only on the runtime's stack */
};

/* Whoever includes this has these six. The chunk that a place is in, and the unit; or NULL. */
static __always_inline void *chunk_of(const struct unwind *u, __u32 place);
static __always_inline void *unit_at(const struct unwind *u, void *chunk, __u32 place);

/* A word of the stack; false when it cannot be read. */
static __always_inline bool word_read(struct unwind *u, __u64 address, __u64 *word);

/* The same, where few stacks need it: it may take longer, and should be short. */
static __always_inline bool rare_word(struct unwind *u, __u64 address, __u64 *word);

/* A register by its number in DWARF, of the innermost frame. */
static __always_inline bool register_read(const struct unwind *u, __u32 number, __u64 *value);

/* What its thread-local memory is known by. */
static __always_inline bool thread_pointer(struct unwind *u, __u64 *address);

/* Finds the range of an address; false when no table is known for it. */
static __always_inline bool range_find(struct unwind *u, __u64 address)
{
	enum { RANGE_UNITS = sizeof(struct unwind_range) / WORD_BYTES };
	volatile struct unwind_search *search = &u->search;
	void *chunk = chunk_of(u, u->space.ranges);
	__u64 *unit;
	__u32 base, i;

	if (!chunk || !u->space.range_count)
		return false;
	search->base = 0;
	search->count = u->space.range_count;
	for (i = 0; i < RANGE_SEARCH_STEPS; i++) {
		__u32 half = search->count / 2;

		if (!half)
			break;
		unit = unit_at(u, chunk, u->space.ranges + (search->base + half) * RANGE_UNITS);
		if (!unit)
			return false;
		if (*unit <= address) {
			search->base += half;
			search->count -= half;
		} else {
			search->count = half;
		}
	}
	base = u->space.ranges + search->base * RANGE_UNITS;
	unit = unit_at(u, chunk, base);
	if (!unit || address < *unit)
		return false;
	u->range.begin = *unit;
	unit = unit_at(u, chunk, base + 1);
	if (!unit || address >= *unit)
		return false;
	u->range.end = *unit;
	unit = unit_at(u, chunk, base + 2);
	if (!unit)
		return false;
	u->range.bias = *unit;
	unit = unit_at(u, chunk, base + 3);
	if (!unit)
		return false;
	u->range.table = (__u32)*unit;
	u->range.block_count = *unit >> 32;
	return true;
}

/* The rule at an address; UNWIND_NONE when none is known. */
static __always_inline __u32 rule_find(struct unwind *u, __u64 address)
{
	volatile struct unwind_search *search = &u->search;
	const struct unwind_block *block;
	const struct unwind_row *row;
	void *chunk;
	__u64 pc;
	__u32 i;

	if (address - u->range.begin >= u->range.end - u->range.begin && !range_find(u, address)) {
		u->range.end = u->range.begin = 0;
		u->lacks_range = u->needs_range;
		return UNWIND_NONE;
	}
	pc = address - u->range.bias;
	if (pc >> UNWIND_BLOCK_BITS >= u->range.block_count)
		return UNWIND_NONE;
	chunk = chunk_of(u, u->range.table);
	if (!chunk)
		return UNWIND_NONE;
	block = unit_at(u, chunk, u->range.table + (__u32)(pc >> UNWIND_BLOCK_BITS));
	if (!block)
		return UNWIND_NONE;
	search->base = u->range.table + u->range.block_count + block->first;
	search->count = block->count;
	for (i = 0; i < BLOCK_SEARCH_STEPS; i++) {
		__u32 half = search->count / 2;

		if (!half)
			break;
		row = unit_at(u, chunk, search->base + half);
		if (!row)
			return UNWIND_NONE;
		if (row->pc <= (__u32)pc) {
			search->base += half;
			search->count -= half;
		} else {
			search->count = half;
		}
	}
	row = unit_at(u, chunk, search->base);
	return row ? row->rule : UNWIND_NONE;
}

/* The CFA, by a rule that is none of those with a way of their own. */
static __always_inline bool cfa_find(struct unwind *u, __u32 rule, __u64 *cfa)
{
	__s64 offset = (__s32)rule >> UNWIND_OFFSET_SHIFT;

	switch (rule & 0xf) {
	case UNWIND_RSP:
		*cfa = u->sp + offset * WORD_BYTES;
		return true;
	case UNWIND_RSP_BYTES:
		*cfa = u->sp + offset;
		return true;
	case UNWIND_RBP:
		*cfa = u->bp + offset * WORD_BYTES;
		return true;
	case UNWIND_RSP_DEREF:
		return rare_word(u, u->sp + offset * WORD_BYTES, cfa);
	case UNWIND_RSP_DEREF_8:
		if (!rare_word(u, u->sp + offset * WORD_BYTES, cfa))
			return false;
		*cfa += WORD_BYTES;
		return true;
	case UNWIND_RBP_DEREF:
		return rare_word(u, u->bp + offset * WORD_BYTES, cfa);
	case UNWIND_PLT:
		*cfa = u->sp + ((__s64)(u->ip & 15) >= offset ? 2 * WORD_BYTES : WORD_BYTES);
		return true;
	case UNWIND_REGISTER:
		if (!u->is_innermost || !register_read(u, offset & 15, cfa))
			return false;
		*cfa += (offset >> UNWIND_REGISTER_BITS) * WORD_BYTES;
		return true;
	}
	return false;
}

/* From a frame to the one that called it, by its rule. False: it cannot be read. */
static __always_inline bool step_by_rule(struct unwind *u, __u32 rule)
{
	__s64 offset = (__s32)(rule << (32 - UNWIND_RBP_OFFSET_SHIFT - UNWIND_RBP_OFFSET_BITS)) >>
		       (32 - UNWIND_RBP_OFFSET_BITS);
	__u64 cfa, bp = 0, ip;

	if (!cfa_find(u, rule, &cfa) || cfa <= u->sp)
		return false;
	switch (rule >> UNWIND_RBP_SHIFT & 3) {
	case UNWIND_RBP_SAME:
		bp = u->bp;
		break;
	case UNWIND_RBP_AT_CFA:
		/* It lies below the return address: both are read at once. */
		if (!word_read(u, cfa + offset * WORD_BYTES, &bp))
			return false;
		break;
	case UNWIND_RBP_AT_RBP:
		if (!rare_word(u, u->bp + offset * WORD_BYTES, &bp))
			return false;
		break;
	}
	if (!word_read(u, cfa - WORD_BYTES, &ip))
		return false;
	u->ip = ip;
	u->sp = cfa;
	u->bp = bp;
	u->is_exact = false;
	u->is_guessed = false;
	return true;
}

/* To what a signal interrupted. */
static __always_inline bool step_by_signal(struct unwind *u)
{
	__u64 sp = u->sp;

	if (!rare_word(u, sp + SIGNAL_RBP, &u->bp) || !rare_word(u, sp + SIGNAL_RSP, &u->sp) ||
	    !rare_word(u, sp + SIGNAL_RIP, &u->ip))
		return false;
	u->is_exact = true;
	u->is_guessed = false;
	return true;
}

/* From the Go runtime's stack to the goroutine's, if it is on the former. */
static __always_inline bool step_by_go(struct unwind *u, __u32 rule)
{
	__u64 thread, g, m, current, owner, sp, bp, ip;

	if (!thread_pointer(u, &thread) || !rare_word(u, thread - GO_BELOW_THREAD, &g) ||
	    !rare_word(u, g + GO_G_M, &m) || !rare_word(u, m + GO_M_CURRENT, &current))
		return false;
	if (g == current)
		return step_by_rule(u, UNWIND_RSP | 1 << UNWIND_OFFSET_SHIFT);
	if (!current) { /* it was put aside: another thread may run it */
		u->end = STACK_COMPLETE;
		return false;
	}
	if (!rare_word(u, current + GO_G_M, &owner) || owner != m || !rare_word(u, current + GO_G_SP, &sp) ||
	    !rare_word(u, current + GO_G_PC, &ip) || !rare_word(u, current + GO_G_BP, &bp))
		return false;
	if (rule >> UNWIND_OFFSET_SHIFT == UNWIND_GO_RETURNS) {
		if (!rare_word(u, sp, &ip))
			return false;
		sp += WORD_BYTES;
	}
	u->ip = ip;
	u->sp = sp;
	u->bp = bp;
	u->is_exact = false;
	u->is_guessed = false;
	return true;
}

/* To the caller as a function with a frame pointer says. False: this one has none. */
static __always_inline bool step_by_frame_pointer(struct unwind *u)
{
	__u64 bp = u->bp;

	if (bp < u->sp || bp - u->sp > FRAME_POINTER_REACH || bp % WORD_BYTES || !word_read(u, bp, &u->bp) ||
	    !word_read(u, bp + WORD_BYTES, &u->ip))
		return false;
	u->sp = bp + 2 * WORD_BYTES;
	u->is_exact = false;
	u->is_guessed = true;
	return true;
}

/* The frame that is being examined, as it is sent. */
static __always_inline __u64 unwind_frame(const struct unwind *u)
{
	/* Without branches, which the verifier would follow. */
	return (u->ip & STACK_FRAME_ADDRESS) | u->is_guessed * STACK_FRAME_GUESSED |
	       (u->is_exact & !u->is_innermost) * STACK_FRAME_EXACT;
}

static __always_inline void unwind_begin(struct unwind *u, __u64 ip, __u64 sp, __u64 bp)
{
	u->ip = ip;
	u->sp = sp;
	u->bp = bp;
	u->range.begin = u->range.end = 0;
	u->count = 0;
	u->end = STACK_NO_TABLE;
	u->is_exact = u->is_innermost = true;
	u->is_guessed = u->lacks_range = false;
	u->window_bytes = 0;
}

/* Of the code whose rule matters: behind a call there may be another function already. */
static __always_inline __u64 unwind_address(const struct unwind *u)
{
	return u->ip - !u->is_exact;
}

/* To the caller of what a JVM interprets, whose frame, made by compiled code, may have grown by the arguments. */
static __always_inline bool step_by_interpreter(struct unwind *u)
{
	__u64 bp = u->bp, sp = 0;
	bool is_guessed = u->is_exact && !u->is_innermost;

	if (!word_read(u, bp - WORD_BYTES, &sp) || !step_by_frame_pointer(u))
		return false;
	if (sp > u->sp && sp - u->sp < FRAME_POINTER_REACH && sp % WORD_BYTES == 0)
		u->sp = sp;
	u->is_guessed = is_guessed;
	return true;
}

/* Goes to the caller, by rule_find() of the address; false when there is none: u->end says why. */
static __always_inline bool unwind_step(struct unwind *u, __u32 rule)
{
	if (u->lacks_range)
		return false;
	switch (rule & 0xf) {
	case UNWIND_END:
		u->end = STACK_COMPLETE;
		return false;
	case UNWIND_NONE:
		u->end = STACK_NO_TABLE;
		if (!step_by_frame_pointer(u))
			return false;
		break;
	case UNWIND_INTERPRETED:
		u->end = STACK_NO_TABLE;
		if (!step_by_interpreter(u))
			return false;
		break;
	case UNWIND_UNCERTAIN:
		u->end = STACK_NO_TABLE;
		return false;
	case UNWIND_SIGNAL:
		u->end = STACK_UNREADABLE;
		if (!step_by_signal(u))
			return false;
		break;
	case UNWIND_GO:
		u->end = STACK_UNREADABLE;
		if (!step_by_go(u, rule))
			return false;
		break;
	default:
		u->end = STACK_UNREADABLE;
		if (!step_by_rule(u, rule))
			return false;
	}
	u->is_innermost = false;
	if (u->ip)
		return true;
	/* Threads begin with an empty frame where their first function does not say so. */
	u->end = STACK_COMPLETE;
	return false;
}
