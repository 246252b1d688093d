/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far apart two samples are, how much that is, and whether it may be chance. Definitions are in
 * doc/metrics.md.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/sample.h"

enum { BOLDNESS_MAX = 5 };

struct difference {
	struct sample of[2];
	double delta;          /* of the means, the second less the first */
	double effect;         /* Cohen's d; NAN: unknown; infinite: neither of them spreads */
	double chance;         /* of so much or more if there is none: Welch's t-test; NAN: unknown */
	unsigned int boldness; /* 1 to 5; 0: it is in one of them only */
};

struct difference difference_of(const struct sample *first, const struct sample *second);

/* Of the change against the first mean: 0.1 is 10 % more; infinite when that is 0. */
double difference_share(const struct difference *difference);

/*
 * Makes chances what they are when it is asked so often (Holm's method). Those that are unknown stay, and
 * do not count.
 */
void differences_correct(struct difference *const *differences, size_t count);

/* Two-sided, of Student's t distribution with that many degrees of freedom: P(|T| >= |t|). */
double student_chance(double t, double freedom);
