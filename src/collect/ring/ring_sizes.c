/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/ring/ring_sizes.h"

#include "shared.h"

enum {
	SLOTS_BYTES_DEFAULT = 4 << 20, /* a CPU */
	SLOTS_BYTES_MIN = 256 << 10,
	SLOTS_TOTAL_BYTES = 256 << 20, /* on large machines each CPU gets its share of this */
	MAIN_SHARE = 2,                /* the other records' ring is this much smaller */
	MAIN_BYTES_MIN = 4 << 10,
	SAMPLE_BYTES_MAX = 256 << 10, /* for stacks whose code has no tables yet */
};

static size_t default_bytes(unsigned int cpu_count)
{
	size_t slots_bytes = SLOTS_BYTES_DEFAULT;

	while (slots_bytes > SLOTS_BYTES_MIN && slots_bytes * cpu_count > SLOTS_TOTAL_BYTES)
		slots_bytes /= 2;
	return slots_bytes;
}

struct ring_sizes ring_sizes_choose(unsigned int cpu_count, size_t slots_bytes)
{
	struct ring_sizes sizes = { .slots = 1 };

	if (!slots_bytes)
		slots_bytes = default_bytes(cpu_count);
	while (2 * sizes.slots * sizeof(struct slot) <= slots_bytes)
		sizes.slots *= 2;
	sizes.main_bytes = slots_bytes / MAIN_SHARE;
	if (sizes.main_bytes < MAIN_BYTES_MIN)
		sizes.main_bytes = MAIN_BYTES_MIN;
	sizes.sample_bytes = sizes.main_bytes < SAMPLE_BYTES_MAX ? sizes.main_bytes : SAMPLE_BYTES_MAX;
	return sizes;
}
