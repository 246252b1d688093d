/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sample.h"

#include <math.h>

void sample_add(struct sample *sample, double value)
{
	double distance = value - sample->mean;

	sample->count++;
	sample->mean += distance / sample->count;
	sample->squares += distance * (value - sample->mean);
}

struct sample sample_with_zeros(struct sample sample, uint64_t count)
{
	double all = count, zeros = count - sample.count;

	if (count <= sample.count)
		return sample;
	sample.squares += sample.mean * sample.mean * sample.count * zeros / all;
	sample.mean *= sample.count / all;
	sample.count = count;
	return sample;
}

double sample_variance(const struct sample *sample)
{
	return sample->count > 1 && sample->squares > 0 ? sample->squares / (sample->count - 1) : 0;
}

double sample_deviation(const struct sample *sample)
{
	return sqrt(sample_variance(sample));
}
