/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for what is recorded once: a hash of all that makes it what it is.
 */
#pragma once

#include <linux/types.h>

static __always_inline __u64 hash_mix(__u64 hash, __u64 part)
{
	hash = (hash ^ part) * 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 32);
}
