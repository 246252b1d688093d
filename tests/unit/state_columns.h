/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether what a history tells of equal columns of time is what threads and CPUs did. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct states;

/* The columns of 2^shift ns, from a multiple of all of them on, that a time is in. numbers: [count], ascending. */
bool thread_columns_agree(struct states *states, const uint32_t *numbers, size_t count, uint64_t time_ns,
			  unsigned int shift);
bool cpu_columns_agree(struct states *states, uint32_t cpu, uint64_t time_ns, unsigned int shift);
