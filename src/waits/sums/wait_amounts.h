/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many waits there were and how long they took, by their length: a stack that was kept stands for waits
 * about as long as its own (post-stratification: Särndal, Swensson, Wretman, Model Assisted Survey Sampling, 7.6).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum wait_measure { WAIT_COUNT, WAIT_BUSY_NS, WAIT_IDLE_NS, WAIT_CMETRIC_NS, WAIT_MEASURES };

/* Below 16 us, 262 us, 4.2 ms, 67 ms, 1.07 s, and longer. */
enum { WAIT_CLASSES = 6, WAIT_CLASS_FIRST_BITS = 14, WAIT_CLASS_BITS = 4 };

struct wait_amount {
	double of[WAIT_MEASURES];
};

struct wait_classes {
	struct wait_amount at[WAIT_CLASSES];
};

/* One wait. cmetric_ns: of the critical slice that it ended. */
static inline struct wait_amount wait_amount_of(uint64_t wait_ns, uint64_t idle_ns, uint64_t cmetric_ns)
{
	return (struct wait_amount){ {
		[WAIT_COUNT] = 1,
		[WAIT_BUSY_NS] = wait_ns - idle_ns,
		[WAIT_IDLE_NS] = idle_ns,
		[WAIT_CMETRIC_NS] = cmetric_ns,
	} };
}

static inline double wait_amount_ns(const struct wait_amount *amount)
{
	return amount->of[WAIT_BUSY_NS] + amount->of[WAIT_IDLE_NS];
}

static inline void wait_amount_add(struct wait_amount *sum, const struct wait_amount *amount, double weight)
{
	for (size_t m = 0; m < WAIT_MEASURES; m++)
		sum->of[m] += weight * amount->of[m];
}

/* So much of the time was idle, or (below 0) was not, after all. */
static inline void wait_amount_move_idle(struct wait_amount *sum, double idle_ns)
{
	sum->of[WAIT_IDLE_NS] += idle_ns;
	sum->of[WAIT_BUSY_NS] -= idle_ns;
}

static inline size_t wait_class_number(uint64_t wait_ns)
{
	size_t i = 0;

	while (i < WAIT_CLASSES - 1 && wait_ns >> (WAIT_CLASS_FIRST_BITS + i * WAIT_CLASS_BITS))
		i++;
	return i;
}

static inline struct wait_amount *wait_class(struct wait_classes *classes, uint64_t wait_ns)
{
	return &classes->at[wait_class_number(wait_ns)];
}
