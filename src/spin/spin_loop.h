/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a thread that was seen at an address waits there, using its CPU for it: read from x86-64
 * machine code alone.
 *
 * The rule. An address is in a spin loop when it lies on a way round through the code that, were
 * the thread alone, would be gone again and again and change nothing. Such a turn calls nothing;
 * it writes to no memory but the function's own variables on its stack, and words that it tries to
 * change atomically; it carries nothing on to the next turn but counters; it reads at the same
 * addresses each time; and it ends at a branch that leaves the loop if what was read says so. So
 * only another thread can end it, or a counter that limits it. A `pause` in each turn says the same
 * in the programmer's words: then the turn need only call nothing and write to no memory.
 *
 * What follows. A retry is not a wait: a compare-and-swap that expects what was just read fails only
 * while others succeed, and so does a reader of a sequence lock. A loop that only counts waits for
 * nobody, unless it pauses, or is the back-off of a spin loop around it. A call ends it, unless the
 * function called gives the CPU away.
 *
 * Loops that work have turns in which there is nothing to do, and these look the same. So what
 * does nothing but read and test is a spin loop only if it tests little, nothing but memory and
 * counters, and reads only one word when it counts; if the larger loop around it does not go on
 * with that count; and if no shorter way round does work.
 *
 * The code says what a loop is if it repeats, not whether it does: one that tries a compare-and-swap, or reads a word,
 * may be left in its first turn each time. A pause, or giving the CPU away, is done between turns only; of other
 * loops, samples have to show it (spin_repeats.h).
 *
 * Not found are waits that call functions in each turn, as C++ does for an atomic load without
 * optimisation; that use vectors or floating point; that read only the function's own stack,
 * without a pause; and loops of more than SPIN_LOOP_STEPS_MAX instructions or
 * SPIN_LOOP_BYTES_MAX bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPIN_LOOP_STEPS_MAX = 64, SPIN_LOOP_BYTES_MAX = 256, SPIN_LOOP_TEXT_BYTES = 96 };

/* How it is recognised. */
enum spin_kind {
	SPIN_BY_PAUSE,  /* it executes pause, or umwait and the like */
	SPIN_BY_YIELD,  /* it gives the CPU away, to anybody */
	SPIN_BY_ATOMIC, /* it tries to change a word, as lock cmpxchg does */
	SPIN_BY_LOAD,   /* it reads a word until another thread changes it */
};

struct spin_loop {
	uint64_t begin, end; /* of all its instructions; others may lie between */
	enum spin_kind kind;
	uint64_t reader;                  /* the instruction that reads what ends the wait; 0: unknown */
	char reads[SPIN_LOOP_TEXT_BYTES]; /* it: "lock cmpxchg dword ptr [rdi]"; or "" */
	bool has_word;                    /* what it reads has a constant address: */
	uint64_t word;                    /* this one, in the addresses of the code */
	uint16_t kept;                    /* general registers that no turn changes, as bits */
};

/*
 * Whether the function at target, which the code calls, does no more than give the CPU away:
 * sched_yield() and what leads to it.
 */
typedef bool spin_yields(void *data, uint64_t target);

struct spin_finder;

/* yields may be NULL: no function does. NULL when instructions cannot be decoded. */
struct spin_finder *spin_finder_new(spin_yields *yields, void *data);
void spin_finder_free(struct spin_finder *finder);

/*
 * True when ip is in a spin loop. code: the bytes of the function that holds ip, which begins at
 * address, or a part of it. ip: where an instruction begins, so of a caller the return address.
 */
bool spin_loop_find(struct spin_finder *finder, const uint8_t *code, size_t size, uint64_t address, uint64_t ip,
		    struct spin_loop *out);
