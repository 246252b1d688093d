/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long things of one kind take: counted in steps of a quarter of a power of two, from 128 ns on. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { LENGTH_PARTS = 4, LENGTHS = 40 * LENGTH_PARTS };

/* The step of a length; the last one is for all above. */
size_t length_index(uint64_t length_ns);

/* The end of a step. */
uint64_t length_limit_ns(size_t index);

/* The length that a part of all does not exceed. lengths: [LENGTHS], count of them, the longest of max_ns. */
uint64_t lengths_quantile_ns(const uint32_t *lengths, uint64_t count, uint64_t max_ns, double part);
