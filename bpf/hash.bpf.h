/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for what is recorded once: a hash of all that makes it what it is.
 */
#pragma once

#include <linux/types.h>

/* An odd number without a pattern: its products spread over all values, best in the upper bits. */
#define HASH_FACTOR 0x9e3779b97f4a7c15ull

static __always_inline __u64 hash_mix(__u64 hash, __u64 part)
{
	hash = (hash ^ part) * HASH_FACTOR;
	return hash ^ (hash >> 32);
}
