/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits added up, exactly. */
#pragma once

#include <stdint.h>

struct wait_sum {
	uint64_t wait_ns, idle_ns, count, max_ns;
};

/* A wait is done, or left. */
static inline void wait_sum_add(struct wait_sum *sum, uint64_t wait_ns, uint64_t idle_ns)
{
	sum->wait_ns += wait_ns;
	sum->idle_ns += idle_ns;
	sum->count++;
	if (wait_ns > sum->max_ns)
		sum->max_ns = wait_ns;
}
