/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How large the rings of a CPU are: smaller on large machines, where all of them together have a bound. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Of each CPU. */
struct ring_sizes {
	uint32_t slots;      /* for switches and wake-ups; a power of two */
	size_t main_bytes;   /* for other records, and as much for those of the machine */
	size_t sample_bytes; /* for samples */
};

/* slots_bytes: for switches and wake-ups, rounded down to a power of two of slots; 0: the default. */
struct ring_sizes ring_sizes_choose(unsigned int cpu_count, size_t slots_bytes);
