/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user's call path of the current thread, from the tables that the engine has made of the
 * call frame information (unwind_format.h). Where there is no table, as in code that a program
 * generates, a step follows the frame pointer, and the frame that it leads to says so.
 *
 * The stack may hold anything: each address is only ever read by a helper that may fail, and each
 * step must lead up the stack.
 *
 * What changes from step to step lies in scratch memory, whose contents the verifier does not
 * follow: on the BPF stack each step would look like another program to it.
 */
#pragma once

#include "state.bpf.h"
#include "unwind_format.h"

#include <bpf/bpf_core_read.h>

enum {
	PAGE_BYTES = 4096,
	WORD_BYTES = 8,
	SIGNAL_RBP = 120,	/* what a signal interrupted, from rsp in the handler's restorer on */
	SIGNAL_RSP = 160,
	SIGNAL_RIP = 168,
	BLOCK_SEARCH_STEPS = UNWIND_BLOCK_BITS + 1,
	RANGE_SEARCH_STEPS = 13,
	FRAME_POINTER_REACH = 1 << 20,	/* a frame is not larger */
};

static __always_inline void *chunk_of(__u32 place)
{
	__u32 chunk = place >> UNWIND_CHUNK_BITS;

	return bpf_map_lookup_elem(&unwind_chunks, &chunk);
}

static __always_inline void *unit_at(void *chunk, __u32 place)
{
	__u32 index = place & (UNWIND_CHUNK_UNITS - 1);

	return bpf_map_lookup_elem(chunk, &index);
}

/* Finds the range of an address; false when no table is known for it. */
static __always_inline bool range_find(struct unwind *u, __u64 address)
{
	enum { RANGE_UNITS = sizeof(struct unwind_range) / WORD_BYTES };
	volatile struct unwind_search *search = &u->search;
	void *chunk = chunk_of(u->space.ranges);
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
		unit = unit_at(chunk, u->space.ranges + (search->base + half) * RANGE_UNITS);
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
	unit = unit_at(chunk, base);
	if (!unit || address < *unit)
		return false;
	u->range.begin = *unit;
	unit = unit_at(chunk, base + 1);
	if (!unit || address >= *unit)
		return false;
	u->range.end = *unit;
	unit = unit_at(chunk, base + 2);
	if (!unit)
		return false;
	u->range.bias = *unit;
	unit = unit_at(chunk, base + 3);
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
		return UNWIND_NONE;
	}
	pc = address - u->range.bias;
	if (pc >> UNWIND_BLOCK_BITS >= u->range.block_count)
		return UNWIND_NONE;
	chunk = chunk_of(u->range.table);
	if (!chunk)
		return UNWIND_NONE;
	block = unit_at(chunk, u->range.table + (__u32)(pc >> UNWIND_BLOCK_BITS));
	if (!block)
		return UNWIND_NONE;
	search->base = u->range.table + u->range.block_count + block->first;
	search->count = block->count;
	for (i = 0; i < BLOCK_SEARCH_STEPS; i++) {
		__u32 half = search->count / 2;

		if (!half)
			break;
		row = unit_at(chunk, search->base + half);
		if (!row)
			return UNWIND_NONE;
		if (row->pc <= (__u32)pc) {
			search->base += half;
			search->count -= half;
		} else {
			search->count = half;
		}
	}
	row = unit_at(chunk, search->base);
	return row ? row->rule : UNWIND_NONE;
}

/*
 * Reads a word of the stack, and with it what follows on its page: one reading of memory takes
 * the same time whatever its size. False when it cannot be read.
 */
static __always_inline bool word_read(struct unwind *u, struct stack_scratch *s, __u64 address,
				      __u64 *word)
{
	__u64 offset = address - u->window_begin;
	__u32 bytes;

	if (address % WORD_BYTES)
		return !bpf_probe_read_user(word, sizeof(*word), (void *)address);
	if (offset >= u->window_bytes) {
		bytes = PAGE_BYTES - address % PAGE_BYTES;
		if (bytes > sizeof(s->window))
			bytes = sizeof(s->window);
		barrier_var(bytes);
		if (bytes > sizeof(s->window) ||
		    bpf_probe_read_user(s->window, bytes, (void *)address)) {
			u->window_bytes = 0;
			return false;
		}
		u->window_begin = address;
		u->window_bytes = bytes;
		offset = 0;
	}
	*word = s->window[(offset / WORD_BYTES) & (STACK_WINDOW_WORDS - 1)];
	return true;
}

/* A register by its number in DWARF, of the innermost frame. */
static __always_inline bool register_read(__u32 number, __u64 *value)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	switch (number) {
	case 0: *value = BPF_CORE_READ(regs, ax); return true;
	case 1: *value = BPF_CORE_READ(regs, dx); return true;
	case 2: *value = BPF_CORE_READ(regs, cx); return true;
	case 3: *value = BPF_CORE_READ(regs, bx); return true;
	case 4: *value = BPF_CORE_READ(regs, si); return true;
	case 5: *value = BPF_CORE_READ(regs, di); return true;
	case 8: *value = BPF_CORE_READ(regs, r8); return true;
	case 9: *value = BPF_CORE_READ(regs, r9); return true;
	case 10: *value = BPF_CORE_READ(regs, r10); return true;
	case 11: *value = BPF_CORE_READ(regs, r11); return true;
	case 12: *value = BPF_CORE_READ(regs, r12); return true;
	case 13: *value = BPF_CORE_READ(regs, r13); return true;
	case 14: *value = BPF_CORE_READ(regs, r14); return true;
	case 15: *value = BPF_CORE_READ(regs, r15); return true;
	}
	return false;
}

/* The CFA, by a rule that is none of those with a way of their own. */
static __always_inline bool cfa_find(struct unwind *u, struct stack_scratch *s, __u32 rule,
				     __u64 *cfa)
{
	__s64 offset = (__s32)rule >> UNWIND_OFFSET_SHIFT;

	switch (rule & 0xf) {
	case UNWIND_RSP:
		*cfa = u->sp + offset * WORD_BYTES;
		return true;
	case UNWIND_RBP:
		*cfa = u->bp + offset * WORD_BYTES;
		return true;
	case UNWIND_RSP_DEREF:
		return word_read(u, s, u->sp + offset * WORD_BYTES, cfa);
	case UNWIND_RSP_DEREF_8:
		if (!word_read(u, s, u->sp + offset * WORD_BYTES, cfa))
			return false;
		*cfa += WORD_BYTES;
		return true;
	case UNWIND_RBP_DEREF:
		return word_read(u, s, u->bp + offset * WORD_BYTES, cfa);
	case UNWIND_PLT:
		*cfa = u->sp + ((__s64)(u->ip & 15) >= offset ? 2 * WORD_BYTES : WORD_BYTES);
		return true;
	case UNWIND_REGISTER:
		if (!u->is_innermost || !register_read(offset & 15, cfa))
			return false;
		*cfa += (offset >> UNWIND_REGISTER_BITS) * WORD_BYTES;
		return true;
	}
	return false;
}

/* From a frame to the one that called it, by its rule. False: it cannot be read. */
static __always_inline bool step_by_rule(struct unwind *u, struct stack_scratch *s, __u32 rule)
{
	__s64 offset = (__s32)(rule << (32 - UNWIND_RBP_OFFSET_SHIFT - UNWIND_RBP_OFFSET_BITS)) >>
		       (32 - UNWIND_RBP_OFFSET_BITS);
	__u64 cfa, bp = 0, ip;

	if (!cfa_find(u, s, rule, &cfa) || cfa <= u->sp)
		return false;
	switch (rule >> UNWIND_RBP_SHIFT & 3) {
	case UNWIND_RBP_SAME:
		bp = u->bp;
		break;
	case UNWIND_RBP_AT_CFA:
		/* It lies below the return address: both are read at once. */
		if (!word_read(u, s, cfa + offset * WORD_BYTES, &bp))
			return false;
		break;
	case UNWIND_RBP_AT_RBP:
		if (!word_read(u, s, u->bp + offset * WORD_BYTES, &bp))
			return false;
		break;
	}
	if (!word_read(u, s, cfa - WORD_BYTES, &ip))
		return false;
	u->ip = ip;
	u->sp = cfa;
	u->bp = bp;
	u->is_exact = false;
	u->is_guessed = false;
	return true;
}

/* To what a signal interrupted. */
static __always_inline bool step_by_signal(struct unwind *u, struct stack_scratch *s)
{
	__u64 sp = u->sp;

	if (!word_read(u, s, sp + SIGNAL_RBP, &u->bp) || !word_read(u, s, sp + SIGNAL_RSP, &u->sp) ||
	    !word_read(u, s, sp + SIGNAL_RIP, &u->ip))
		return false;
	u->is_exact = true;
	u->is_guessed = false;
	return true;
}

/* To the caller as a function with a frame pointer says. False: this one has none. */
static __always_inline bool step_by_frame_pointer(struct unwind *u, struct stack_scratch *s)
{
	__u64 bp = u->bp;

	if (bp < u->sp || bp - u->sp > FRAME_POINTER_REACH || bp % WORD_BYTES ||
	    !word_read(u, s, bp, &u->bp) || !word_read(u, s, bp + WORD_BYTES, &u->ip))
		return false;
	u->sp = bp + 2 * WORD_BYTES;
	u->is_exact = false;
	u->is_guessed = true;
	return true;
}

/* Notes the frame and goes to the next; 1 when there is none. A callback of bpf_loop(). */
static long frame_step(__u32 index __attribute__((unused)), void *data __attribute__((unused)))
{
	__u32 zero = 0, rule;
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	struct unwind *u;

	if (!s)
		return 1;
	u = &s->unwind;
	if (u->count >= stack_depth) {
		u->end = STACK_TRUNCATED;
		return 1;
	}
	s->frames[(u->first + u->count) & (STACK_FRAMES_ROOM - 1)] =
		(u->ip & STACK_FRAME_ADDRESS) | (u->is_guessed ? STACK_FRAME_GUESSED : 0) |
		(u->is_exact && !u->is_innermost ? STACK_FRAME_EXACT : 0);
	u->count++;
	rule = rule_find(u, u->ip - !u->is_exact);
	switch (rule & 0xf) {
	case UNWIND_END:
		u->end = STACK_COMPLETE;
		return 1;
	case UNWIND_NONE:
		u->end = STACK_NO_TABLE;
		if (!step_by_frame_pointer(u, s))
			return 1;
		break;
	case UNWIND_SIGNAL:
		u->end = STACK_UNREADABLE;
		if (!step_by_signal(u, s))
			return 1;
		break;
	default:
		u->end = STACK_UNREADABLE;
		if (!step_by_rule(u, s, rule))
			return 1;
	}
	u->is_innermost = false;
	/* Threads begin with an empty frame where their first function does not say so. */
	if (u->ip)
		return 0;
	u->end = STACK_COMPLETE;
	return 1;
}

/*
 * Puts the user's frames into scratch memory from the frame first on, innermost first. How many
 * there are, and why there are no more, s->unwind says.
 */
static __always_inline void unwind_user(struct stack_scratch *s, __u32 first)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	struct unwind_space *space;
	struct unwind *u = &s->unwind;
	__u32 pid = task->tgid;

	u->ip = BPF_CORE_READ(regs, ip);
	u->sp = BPF_CORE_READ(regs, sp);
	u->bp = BPF_CORE_READ(regs, bp);
	u->range.begin = u->range.end = 0;
	u->window_bytes = 0;
	u->first = first;
	u->count = 0;
	u->end = STACK_NO_TABLE;
	u->is_exact = u->is_innermost = true;
	u->is_guessed = false;
	space = bpf_map_lookup_elem(&unwind_spaces, &pid);
	u->space.ranges = space ? space->ranges : 0;
	u->space.range_count = space ? space->range_count : 0;
	if (u->ip)		/* it has left user space for the last time */
		bpf_loop(STACK_DEPTH_MAX + 1, frame_step, NULL, 0);
}
