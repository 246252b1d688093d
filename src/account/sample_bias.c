/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/sample_bias.h"

#include <math.h>

#include "account/code_samples.h"
#include "account/criticality.h"
#include "session/threads.h"

static const double deviations_max = 4, share_max = 1.0 / 3, expected_min = 16;

/* Of samples that fall independently, each of a weight of at most 1: those at a fixed period scatter less. */
static bool is_off(double found, double expected)
{
	double off = fabs(found - expected);

	return expected >= expected_min && off > deviations_max * sqrt(expected) && off > share_max * expected;
}

bool sample_bias_is_seen(const struct criticality *criticality, const struct code_samples *samples, uint64_t period_ns)
{
	double critical = 0, critical_found = 0;
	const struct thread_metrics *metrics;
	const struct code_stratum *stratum;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(criticality, &cursor))) {
		critical += (double)metrics->cmetric_critical * 0x1p-32 / period_ns;
		stratum = metrics->thread ? code_samples_stratum_of(samples, metrics->thread->number) : NULL;
		if (!metrics->thread || (stratum && stratum->is_shared))
			continue;
		if (is_off(stratum ? stratum->all.count : 0, (double)metrics->running_ns / period_ns))
			return true;
	}
	for (size_t i = 0; (stratum = code_samples_stratum(samples, i)); i++)
		critical_found += stratum->all.sum[CODE_CRITICAL];
	return is_off(critical_found, critical);
}
