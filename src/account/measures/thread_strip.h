/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread did over the time traced: the time that it spent running, runnable and blocked in
 * equal parts of it. The parts double their width when they run out, so memory does not grow with
 * time. Strips with one origin can be added up. The caller owns the struct, which begins zeroed.
 */
#pragma once

#include <stdint.h>

enum { STRIP_PARTS = 60 };

struct thread_strip {
	struct strip_part {
		uint64_t running_ns, runnable_ns, blocked_ns;
	} parts[STRIP_PARTS];
	unsigned int shift; /* a part is 2^shift ns wide */
};

/* The thread was in phase (enum thread_phase) from from_ns to to_ns, counted from the origin. */
void thread_strip_add(struct thread_strip *strip, uint8_t phase, uint64_t from_ns, uint64_t to_ns);

/* Adds what another thread did. */
void thread_strip_merge(struct thread_strip *strip, const struct thread_strip *other);

/* Makes the parts as wide as 2^shift ns, unless they are. */
void thread_strip_widen(struct thread_strip *strip, unsigned int shift);

/* How wide parts must be to reach end_ns. */
unsigned int thread_strip_shift_for(uint64_t end_ns);
