/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/code_shares.h"

#include <math.h>
#include <stdlib.h>

#include "account/criticality.h"
#include "account/sample_bias.h"
#include "base/memory.h"
#include "session/threads.h"

/* A thread with as many samples of equal weight is calibrated alone. */
static const double alone_min = 16;

/*
 * A thread that was sampled so much more rarely than its running time says was never where timers are: what it
 * did then is not known.
 */
static const double expected_min = 12, sampled_share_min = 0.25;

/* How often samples at ticks may be passed over though nothing is in step with them. */
static const double false_alarms_max = 1e-3;

struct code_shares {
	enum code_source source;
	struct code_sample **list;
	size_t count;
	uint64_t sample_count;
	double exact_ns[CODE_QUANTITIES], unsampled_ns[CODE_QUANTITIES];
	double pool_exact_ns[CODE_QUANTITIES], pool_sum[CODE_QUANTITIES], pool_squares[CODE_QUANTITIES];
};

static void exact_of(const struct thread_metrics *metrics, double *exact_ns)
{
	exact_ns[CODE_CPU] = metrics->running_ns;
	exact_ns[CODE_CMETRIC] = (double)metrics->cmetric_oncpu * 0x1p-32;
	exact_ns[CODE_CRITICAL] = (double)metrics->cmetric_critical * 0x1p-32;
}

/* Samples of several periods are as many as fewer of one weight. */
struct sampling_rate {
	double weight_per_ns; /* of running time, over all */
	double typical;       /* the weight of one */
};

static struct sampling_rate sampling_rate(const struct code_shares *shares, const struct criticality *criticality,
					  const struct code_samples *samples)
{
	const struct thread_metrics *metrics;
	const struct code_stratum *stratum;
	double running_ns = 0, sum = 0, squares = 0;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(criticality, &cursor)))
		running_ns += metrics->running_ns;
	for (size_t i = 0; (stratum = code_samples_stratum(samples, i)); i++)
		if (stratum->source == shares->source) {
			sum += stratum->all.sum[CODE_CPU];
			squares += stratum->all.squares[CODE_CPU];
		}
	return (struct sampling_rate){ running_ns ? sum / running_ns : 0, sum ? squares / sum : 1 };
}

static bool is_hidden(const struct code_stratum *stratum, double running_ns, const struct sampling_rate *rate)
{
	double expected = running_ns * rate->weight_per_ns, seen = stratum ? stratum->all.sum[CODE_CPU] : 0;

	return !(stratum && stratum->is_shared) && expected >= expected_min * rate->typical &&
	       seen < sampled_share_min * expected;
}

static bool may_be_alone(const struct code_stratum *stratum, size_t quantity)
{
	const struct code_weights *all = &stratum->all;

	return !stratum->is_shared && all->sum[quantity] * all->sum[quantity] >= alone_min * all->squares[quantity] &&
	       all->sum[quantity] > 0;
}

static void take_thread(struct code_shares *shares, struct code_stratum *stratum, const double *exact_ns,
			bool is_thread_hidden)
{
	for (size_t i = 0; i < CODE_QUANTITIES; i++) {
		shares->exact_ns[i] += exact_ns[i];
		if (stratum) {
			stratum->exact_ns[i] = exact_ns[i];
			stratum->is_alone[i] = is_thread_hidden || may_be_alone(stratum, i);
		}
		if (is_thread_hidden && stratum) /* what was seen of it stands for itself alone */
			stratum->exact_ns[i] = 0;
		if (is_thread_hidden)
			shares->unsampled_ns[i] += exact_ns[i];
		else if (!stratum || !stratum->is_alone[i])
			shares->pool_exact_ns[i] += exact_ns[i];
	}
}

static void take_threads(struct code_shares *shares, const struct criticality *criticality,
			 const struct code_samples *samples)
{
	struct sampling_rate rate = sampling_rate(shares, criticality, samples);
	double exact_ns[CODE_QUANTITIES];
	const struct thread_metrics *metrics;
	struct code_stratum *stratum;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(criticality, &cursor))) {
		exact_of(metrics, exact_ns);
		stratum = metrics->thread ? code_samples_stratum_of(samples, metrics->thread->number, shares->source)
					  : NULL;
		if (stratum)
			stratum->name = metrics->name;
		take_thread(shares, stratum, exact_ns,
			    metrics->thread && is_hidden(stratum, metrics->running_ns, &rate));
	}
}

static void fill_pool(struct code_shares *shares, const struct code_samples *samples)
{
	const struct code_stratum *stratum;

	for (size_t k = 0; (stratum = code_samples_stratum(samples, k)); k++)
		for (size_t i = 0; i < CODE_QUANTITIES; i++)
			if (stratum->source == shares->source && !stratum->is_alone[i]) {
				shares->pool_sum[i] += stratum->all.sum[i];
				shares->pool_squares[i] += stratum->all.squares[i];
			}
	for (size_t i = 0; i < CODE_QUANTITIES; i++)
		if (!(shares->pool_sum[i] > 0)) {
			shares->unsampled_ns[i] += shares->pool_exact_ns[i];
			shares->pool_exact_ns[i] = 0;
		}
}

static int by_stratum(const void *a, const void *b)
{
	const struct code_sample *x = *(struct code_sample *const *)a, *y = *(struct code_sample *const *)b;

	if (x->stratum != y->stratum)
		return x->stratum->order < y->stratum->order ? -1 : 1;
	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static void fill_list(struct code_shares *shares, const struct code_samples *samples)
{
	struct code_stratum *stratum;
	struct code_sample *sample;
	size_t capacity = 0;

	for (size_t k = 0; (stratum = code_samples_stratum(samples, k)); k++) {
		*stratum = (struct code_stratum){
			.thread = stratum->thread,
			.source = stratum->source,
			.is_shared = stratum->is_shared,
			.all = stratum->all,
			.order = k,
		};
	}
	for (size_t i = 0; (sample = code_samples_at(samples, i)); i++) {
		if (sample->stratum->source != shares->source)
			continue;
		ARRAY_GROW(shares->list, shares->count, capacity, 256);
		shares->list[shares->count++] = sample;
	}
	if (shares->count)
		qsort(shares->list, shares->count, sizeof(struct code_sample *), by_stratum);
}

/* Timers that took the place of ticks did so for a reason. */
static enum code_source choose_source(const struct criticality *criticality, const struct code_samples *samples)
{
	if (!code_samples_count(samples, CODE_BY_TIMERS))
		return CODE_REGULAR;
	if (code_samples_are_instead(samples) ||
	    sample_bias_is_seen(code_samples_bias(samples), criticality, false_alarms_max))
		return CODE_BY_TIMERS;
	return CODE_REGULAR;
}

struct code_shares *code_shares_new(const struct criticality *criticality, const struct code_samples *samples)
{
	struct code_shares *shares = xcalloc(1, sizeof(*shares));

	shares->source = choose_source(criticality, samples);
	shares->sample_count = code_samples_count(samples, shares->source);
	fill_list(shares, samples);
	take_threads(shares, criticality, samples);
	fill_pool(shares, samples);
	return shares;
}

enum code_source code_shares_source(const struct code_shares *shares)
{
	return shares->source;
}

void code_shares_free(struct code_shares *shares)
{
	if (!shares)
		return;
	free(shares->list);
	free(shares);
}

double code_shares_exact_ns(const struct code_shares *shares, enum code_quantity quantity)
{
	return shares->exact_ns[quantity];
}

double code_shares_unsampled_ns(const struct code_shares *shares, enum code_quantity quantity)
{
	return shares->unsampled_ns[quantity];
}

uint64_t code_shares_count(const struct code_shares *shares)
{
	return shares->sample_count;
}

const struct code_sample *code_shares_sample(const struct code_shares *shares, size_t index)
{
	return index < shares->count ? shares->list[index] : NULL;
}

/* The weights that are calibrated together with those of a stratum, and to what. */
static void group_of(const struct code_shares *shares, const struct code_stratum *stratum, size_t quantity, double *sum,
		     double *squares, double *exact_ns)
{
	bool is_alone = stratum->is_alone[quantity];

	*sum = is_alone ? stratum->all.sum[quantity] : shares->pool_sum[quantity];
	*squares = is_alone ? stratum->all.squares[quantity] : shares->pool_squares[quantity];
	*exact_ns = is_alone ? stratum->exact_ns[quantity] : shares->pool_exact_ns[quantity];
}

double code_shares_ns(const struct code_shares *shares, const struct code_sample *sample, enum code_quantity quantity)
{
	double sum, squares, exact_ns;

	group_of(shares, sample->stratum, quantity, &sum, &squares, &exact_ns);
	return sum > 0 ? exact_ns * sample->weights.sum[quantity] / sum : 0;
}

/* --- Sums ------------------------------------------------------------------------------------ */

/*
 * The samples of one stratum are taken to fall independently: those at a fixed period scatter less. With the
 * share s of weights w, the variance of the ratio is the sum of (w (is in - s))^2 over that of all w, squared.
 * Two samples more on either side keep it from being 0 where all have been in, or none (Agresti and Coull, 1998).
 */
static double ratio_variance(double weight, double squares, double all, double all_squares)
{
	/* A typical sample: as many of that weight would make the same sums. */
	double typical = all_squares / all, out_squares = all_squares - squares, share;

	weight += 2 * typical;
	squares += 2 * typical * typical;
	out_squares += 2 * typical * typical;
	all += 4 * typical;
	share = weight / all;
	return ((1 - share) * (1 - share) * squares + share * share * out_squares) / (all * all);
}

static void add_pending(const struct code_shares *shares, struct code_sum *sum)
{
	double all, squares, exact_ns;

	for (size_t i = 0; i < CODE_QUANTITIES; i++) {
		group_of(shares, sum->stratum, i, &all, &squares, &exact_ns);
		if (all > 0) {
			sum->ns[i] += exact_ns * sum->weight[i] / all;
			sum->variance[i] +=
				exact_ns * exact_ns * ratio_variance(sum->weight[i], sum->squares[i], all, squares);
		}
		sum->weight[i] = sum->squares[i] = 0;
	}
}

void code_sum_add(const struct code_shares *shares, struct code_sum *sum, const struct code_sample *sample)
{
	if (sum->stratum && sum->stratum != sample->stratum)
		add_pending(shares, sum);
	sum->stratum = sample->stratum;
	sum->count += sample->weights.count;
	for (size_t i = 0; i < CODE_QUANTITIES; i++) {
		sum->weight[i] += sample->weights.sum[i];
		sum->squares[i] += sample->weights.squares[i];
	}
}

void code_sum_finish(const struct code_shares *shares, struct code_sum *sum)
{
	if (sum->stratum)
		add_pending(shares, sum);
	sum->stratum = NULL;
}

double code_sum_error_ns(const struct code_sum *sum, enum code_quantity quantity)
{
	return sqrt(sum->variance[quantity] > 0 ? sum->variance[quantity] : 0);
}
