/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/object/tail_ways.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many of the first steps are the same. */
static size_t prefix_of(const struct tail_step *x, const struct tail_step *y, size_t count)
{
	size_t i = 0;

	while (i < count && x[i].start == y[i].start)
		i++;
	return i;
}

/* How many of the last steps are the same. */
static size_t suffix_of(const struct tail_step *x, size_t x_count, const struct tail_step *y, size_t y_count)
{
	size_t i = 0;

	while (i < smaller(x_count, y_count) && x[x_count - 1 - i].start == y[y_count - 1 - i].start)
		i++;
	return i;
}

/* Two ways may leave the same function at different places. */
static void merge(struct tail_step *step, const struct tail_step *other)
{
	if (step->jump != other->jump)
		step->jump = 0;
}

void tail_ways_add(struct tail_ways *ways, const struct tail_step *steps, size_t count)
{
	if (!ways->count) {
		memcpy(ways->first, steps, count * sizeof(*steps));
		ways->count = ways->shortest = ways->prefix = ways->suffix = count;
		return;
	}
	ways->shortest = smaller(ways->shortest, count);
	ways->prefix = smaller(ways->prefix, prefix_of(ways->first, steps, smaller(ways->count, count)));
	ways->suffix = smaller(ways->suffix, suffix_of(ways->first, ways->count, steps, count));
	for (size_t i = 0; i < ways->prefix; i++)
		merge(&ways->first[i], &steps[i]);
	/* Of ways that are the same all steps are in the prefix. */
	for (size_t i = 1; i <= ways->suffix && ways->prefix + i <= smaller(ways->count, count); i++)
		merge(&ways->first[ways->count - i], &steps[count - i]);
}

size_t tail_ways_common(const struct tail_ways *ways, const struct tail_ways *open,
			struct tail_step common[TAIL_STEPS_MAX])
{
	const struct tail_ways *known = ways->count ? ways : open;
	size_t prefix = known->prefix, suffix = smaller(known->suffix, known->shortest - prefix);

	if (open->count) {
		prefix = smaller(prefix, smaller(open->prefix, prefix_of(known->first, open->first, prefix)));
		suffix = 0;
	}
	memcpy(common, known->first, prefix * sizeof(*common));
	memcpy(common + prefix, known->first + known->count - suffix, suffix * sizeof(*common));
	for (size_t i = 0; open->count && i < prefix; i++)
		merge(&common[i], &open->first[i]);
	return prefix + suffix;
}
