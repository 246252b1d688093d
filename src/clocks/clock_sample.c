/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clocks/clock_sample.h"

/* Times so large that sums of two would overflow, and exchanges of more than an hour, are nonsense. */
static const uint64_t time_ns_max = 1ull << 62, exchange_ns_max = 3600000000000ull;

bool clock_sample_is_possible(const struct clock_sample *sample)
{
	if (sample->t0 > time_ns_max || sample->t1 > time_ns_max || sample->t2 > time_ns_max ||
	    sample->t3 > time_ns_max || sample->t3 < sample->t0 || sample->t2 < sample->t1)
		return false;
	return sample->t3 - sample->t0 <= exchange_ns_max && sample->t2 - sample->t1 <= sample->t3 - sample->t0;
}

int64_t clock_sample_offset_ns(const struct clock_sample *sample)
{
	int64_t there = sample->t1 - sample->t0, back = sample->t2 - sample->t3;

	return back + (there - back) / 2;
}

uint64_t clock_sample_round_trip_ns(const struct clock_sample *sample)
{
	return (sample->t3 - sample->t0) - (sample->t2 - sample->t1);
}

const struct clock_sample *clock_sample_best(const struct clock_sample *samples, size_t count)
{
	const struct clock_sample *best = samples;

	for (size_t i = 1; i < count; i++)
		if (clock_sample_round_trip_ns(&samples[i]) < clock_sample_round_trip_ns(best))
			best = &samples[i];
	return best;
}
