/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/trace/difference_result.h"

#include "compare/difference.h"

struct result_sample sample_result(const struct sample *sample)
{
	return (struct result_sample){ sample->count, sample->mean, sample_deviation(sample) };
}

struct result_difference difference_result(const struct difference *difference)
{
	return (struct result_difference){
		.first = sample_result(&difference->of[0]),
		.second = sample_result(&difference->of[1]),
		.change = difference->delta,
		.change_share = difference_share(difference),
		.d = difference->effect,
		.p = difference->chance,
	};
}
