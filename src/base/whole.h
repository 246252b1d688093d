/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers without their fraction, also where estimates of a trace that makes no sense are out of all bounds. */
#pragma once

#include <stdint.h>

/* From 0 to the largest that there is. */
static inline uint64_t whole(double value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}
