/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/state_gaps.h"

#include <stdlib.h>

#include "base/bound.h"
#include "base/memory.h"

enum { GAPS_MAX = 1 << 16 };

void state_gaps_add(struct state_gaps *gaps, uint64_t begin_ns, uint64_t end_ns)
{
	/* With those that it touches, it is one; so the others lie apart. */
	while (gaps->count && (gaps->count == GAPS_MAX || gaps->gaps[gaps->count - 1].end_ns >= begin_ns)) {
		const struct state_gap *last = &gaps->gaps[--gaps->count];

		if (last->begin_ns < begin_ns)
			begin_ns = last->begin_ns;
		if (last->end_ns > end_ns)
			end_ns = last->end_ns;
	}
	ARRAY_GROW(gaps->gaps, gaps->count, gaps->capacity, 16);
	gaps->gaps[gaps->count++] = (struct state_gap){ begin_ns, end_ns };
}

const struct state_gap *state_gaps_after(const struct state_gaps *gaps, uint64_t time_ns)
{
	size_t low = BOUND(0, gaps->count, i, gaps->gaps[i].end_ns <= time_ns);

	return low < gaps->count ? &gaps->gaps[low] : NULL;
}

bool state_gaps_touch(const struct state_gaps *gaps, uint64_t begin_ns, uint64_t end_ns)
{
	const struct state_gap *gap = state_gaps_after(gaps, begin_ns);

	return gap && gap->begin_ns < end_ns;
}

void state_gaps_fini(struct state_gaps *gaps)
{
	free(gaps->gaps);
	*gaps = (struct state_gaps){ 0 };
}
