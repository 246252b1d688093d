/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "klocks/lengths.h"

enum { UNIT_BITS = 7 };

size_t length_index(uint64_t length_ns)
{
	uint64_t units = length_ns >> UNIT_BITS;
	size_t power, index;

	if (units < LENGTH_PARTS)
		return units;
	power = 63 - __builtin_clzll(units);
	index = (power - 1) * LENGTH_PARTS + (units >> (power - 2) & (LENGTH_PARTS - 1));
	return index < LENGTHS ? index : LENGTHS - 1;
}

uint64_t length_limit_ns(size_t index)
{
	size_t power = index / LENGTH_PARTS + 1;

	if (index < LENGTH_PARTS)
		return (index + 1) << UNIT_BITS;
	return (uint64_t)(LENGTH_PARTS + index % LENGTH_PARTS + 1) << (power - 2 + UNIT_BITS);
}

uint64_t lengths_quantile_ns(const uint32_t *lengths, uint64_t count, uint64_t max_ns, double part)
{
	uint64_t below = 0, limit_ns;

	for (size_t i = 0; i + 1 < LENGTHS; i++) {
		below += lengths[i];
		limit_ns = length_limit_ns(i);
		if (below >= part * count)
			return limit_ns < max_ns ? limit_ns : max_ns;
	}
	return max_ns;
}
