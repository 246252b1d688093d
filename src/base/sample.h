/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many numbers there were, their mean and how they spread, without keeping them. */
#pragma once

#include <stdint.h>

struct sample {
	uint64_t count;
	double mean;
	double squares; /* sum of the squares of distances from the mean */
};

void sample_add(struct sample *sample, double value);

/* The same with as many zeros as make them count numbers, which are no fewer than there were. */
struct sample sample_with_zeros(struct sample sample, uint64_t count);

/* Of those that they were taken from; 0 of fewer than two. */
double sample_variance(const struct sample *sample);
double sample_deviation(const struct sample *sample);
