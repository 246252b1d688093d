/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/sample_bias.h"

#include <math.h>
#include <stdlib.h>

#include "account/criticality.h"
#include "base/memory.h"
#include "base/table.h"
#include "session/threads.h"
#include "values.h"

static const double deviations_max = 4, share_max = 1.0 / 3, expected_min = 16;

/* Shares of code that are not further apart do not matter: sampling at ticks is never quite even. */
static const double share_apart = 0.05;

/* At the same moment on several CPUs. */
static const uint64_t MOMENT_NS = 500000;

enum {
	STAGES_MAX = 8, /* periods of the timers; the last one is of all that follow */
	GROUPS_MAX = 1 << 16,
	CODES_MAX = 1 << 16,
	CODES_OF_THREADS_MAX = CODES_MAX / 4 * 3,
	PLACE_SHIFT = 6, /* code is compared in pieces of so many bytes, as a power of two */
};

/* Samples by ticks and beside them, while the timers had one period. */
struct bias_counts {
	uint32_t ticks, timers;
};

/* The samples of a thread; the first group is that of all threads. */
struct bias_group {
	uint32_t thread;
	double ticks;
	struct bias_counts counts[STAGES_MAX];
};

/* Those of them that met some code: by one call path, or in one place. */
struct bias_code {
	const struct bias_group *group;
	uint64_t key;
	struct bias_counts counts[STAGES_MAX];
};

/* Samples at one moment are not independent: threads that compute together do the same. */
struct bias_moment {
	uint64_t begin_ns;
	uint32_t count, count_max;
};

struct sample_bias {
	struct arena *arena;
	struct table *groups, *codes_by_key;
	struct bias_group all;
	struct bias_code **codes;
	size_t code_count, code_capacity, group_count;
	uint32_t stage, timer_ns; /* of the last timer: its period */
	uint32_t tick_ns;         /* the period of samples at ticks; 0: not known */
	struct bias_moment ticks, timers;
	double critical;
};

struct sample_bias *sample_bias_new(void)
{
	struct sample_bias *bias = xcalloc(1, sizeof(*bias));

	bias->arena = arena_new();
	bias->groups = table_new();
	bias->codes_by_key = table_new();
	return bias;
}

void sample_bias_free(struct sample_bias *bias)
{
	if (!bias)
		return;
	arena_free(bias->arena);
	table_free(bias->groups);
	table_free(bias->codes_by_key);
	free(bias->codes);
	free(bias);
}

/* NULL: there is no space. */
static struct bias_group *group_of(struct sample_bias *bias, uint32_t thread)
{
	struct bias_group *group = table_find(bias->groups, thread);

	if (group || bias->group_count == GROUPS_MAX)
		return group;
	group = arena_alloc(bias->arena, sizeof(*group));
	group->thread = thread;
	bias->group_count++;
	table_put(bias->groups, thread, group);
	return group;
}

static struct bias_code *code_of(struct sample_bias *bias, const struct bias_group *group, uint64_t key)
{
	uint64_t hash = hash_u64(key ^ hash_u64(group->thread));
	struct bias_code *code = table_find(bias->codes_by_key, hash);

	if (code)
		return code->group == group && code->key == key ? code : NULL;
	if (bias->code_count == (group->thread ? CODES_OF_THREADS_MAX : CODES_MAX))
		return NULL;
	code = arena_alloc(bias->arena, sizeof(*code));
	code->group = group;
	code->key = key;
	table_put(bias->codes_by_key, hash, code);
	ARRAY_GROW(bias->codes, bias->code_count, bias->code_capacity, 256);
	bias->codes[bias->code_count++] = code;
	return code;
}

static void count(struct bias_counts *counts, const struct ev_sched_sample *e)
{
	if (e->role == SAMPLE_BESIDE)
		counts->timers++;
	else
		counts->ticks++;
}

static void count_code(struct sample_bias *bias, const struct bias_group *group, const struct ev_sched_sample *e)
{
	uint64_t place = (e->kernel_ip ? e->kernel_ip : e->ip) >> PLACE_SHIFT << PLACE_SHIFT;
	struct bias_code *by_stack = e->stack ? code_of(bias, group, hash_u64(e->stack)) : NULL;
	struct bias_code *by_place = code_of(bias, group, place);

	if (by_stack)
		count(&by_stack->counts[bias->stage], e);
	if (by_place)
		count(&by_place->counts[bias->stage], e);
}

static void count_moment(struct bias_moment *moment, uint64_t time_ns)
{
	if (time_ns - moment->begin_ns > MOMENT_NS) {
		moment->begin_ns = time_ns;
		moment->count = 0;
	}
	if (++moment->count > moment->count_max)
		moment->count_max = moment->count;
}

void sample_bias_add(struct sample_bias *bias, const struct ev_sched_sample *e, double critical)
{
	struct bias_group *group;

	if (e->role == SAMPLE_INSTEAD)
		return;
	if (e->role == SAMPLE_BESIDE && e->period_ns != bias->timer_ns) {
		bias->stage += bias->timer_ns && bias->stage < STAGES_MAX - 1;
		bias->timer_ns = e->period_ns;
	}
	if (e->role == SAMPLE_REGULAR) {
		bias->critical += critical;
		bias->tick_ns = e->period_ns;
	}
	count_moment(e->role == SAMPLE_BESIDE ? &bias->timers : &bias->ticks, e->header.time_ns);
	count(&bias->all.counts[bias->stage], e);
	count_code(bias, &bias->all, e);
	group = group_of(bias, e->header.thread);
	if (!group)
		return;
	group->ticks += e->role != SAMPLE_BESIDE;
	count(&group->counts[bias->stage], e);
	count_code(bias, group, e);
}

/* --- By what is known exactly ------------------------------------------------------------------- */

/* Of samples that fall independently, each of a weight of at most 1: those at a fixed period scatter less. */
static bool is_off(double found, double expected)
{
	double off = fabs(found - expected);

	return expected >= expected_min && off > deviations_max * sqrt(expected) && off > share_max * expected;
}

static bool is_time_off(const struct sample_bias *bias, const struct criticality *criticality, uint64_t period_ns)
{
	const struct thread_metrics *metrics;
	const struct bias_group *group;
	double critical = 0;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(criticality, &cursor))) {
		critical += (double)metrics->cmetric_critical * 0x1p-32 / period_ns;
		group = metrics->thread ? table_find(bias->groups, metrics->thread->number) : NULL;
		if (!metrics->thread || (!group && bias->group_count == GROUPS_MAX))
			continue;
		if (is_off(group ? group->ticks : 0, (double)metrics->running_ns / period_ns))
			return true;
	}
	return is_off(bias->critical, critical);
}

/* --- By samples beside those at the tick ---------------------------------------------------------- */

/* Kullback and Leibler's: how far the share is from the one expected. */
static double divergence(double share, double expected)
{
	double in = share > 0 ? share * log(share / expected) : 0;

	return in + (share < 1 ? (1 - share) * log((1 - share) / (1 - expected)) : 0);
}

/* Those of a code and its group, over all stages that have samples by timers. */
struct bias_sums {
	double timers, timers_there; /* by timers; of them, in the code */
	double there;                /* of both kinds, in the code */
	double expected_there;       /* by timers, in the code, if both kinds are alike */
};

static struct bias_sums sums_of(const struct bias_code *code)
{
	struct bias_sums sums = { 0 };

	for (size_t i = 0; i < STAGES_MAX; i++) {
		double timers = code->group->counts[i].timers, all = timers + code->group->counts[i].ticks;
		double there = (double)code->counts[i].timers + code->counts[i].ticks;

		if (!timers)
			continue;
		sums.timers += timers;
		sums.timers_there += code->counts[i].timers;
		sums.there += there;
		sums.expected_there += timers * there / all;
	}
	return sums;
}

/*
 * -ln of a bound of the chance that so many of the timers' samples, or so few, met the code. If both kinds are alike, those by
 * timers are drawn without replacement out of all of one stage, and so are those in the code. A sum of such draws exceeds a
 * value no more probably than Chernoff's bound of the binomial distribution with its mean says (Hoeffding, J. Amer. Stat. Assoc.
 * 1963, theorems 1 and 4): of the draws by timers, or of those in the code, whichever bound is better.
 */
static double evidence(const struct bias_sums *sums)
{
	double share = sums->timers_there / sums->timers, expected = sums->expected_there / sums->timers;
	double part = sums->timers_there / sums->there, by_timers, by_code, bound;

	if (fabs(share - expected) <= share_apart)
		return 0;
	bound = expected + (share > expected ? share_apart : -share_apart);
	by_timers = sums->timers * divergence(share, bound);
	bound *= sums->timers / sums->there; /* as a part of those in the code */
	by_code = (part > bound) == (share > expected) && bound < 1 ? sums->there * divergence(part, bound) : 0;
	return by_timers > by_code ? by_timers : by_code;
}

/*
 * Each code may be off by chance in proportion to its samples: they are those of all four times over, by path and by place,
 * and of each thread and all; and more or less than expected. If at_once samples may depend on each other, the bound is that
 * of so many times fewer (Hoeffding, section 5d).
 */
static bool is_any_code_off(const struct sample_bias *bias, double chance)
{
	uint32_t at_once =
		bias->ticks.count_max > bias->timers.count_max ? bias->ticks.count_max : bias->timers.count_max;
	double all = 0;

	for (size_t i = 0; i < STAGES_MAX; i++)
		all += (double)bias->all.counts[i].ticks + bias->all.counts[i].timers;
	for (size_t i = 0; i < bias->code_count; i++) {
		struct bias_sums sums = sums_of(bias->codes[i]);
		double limit = log(8 * all / (sums.there * chance));

		if (sums.timers && sums.there &&
		    evidence(&sums) > limit * (bias->codes[i]->group->thread ? 1 : at_once))
			return true;
	}
	return false;
}

bool sample_bias_is_seen(const struct sample_bias *bias, const struct criticality *criticality, double chance)
{
	return (criticality && bias->tick_ns && is_time_off(bias, criticality, bias->tick_ns)) ||
	       is_any_code_off(bias, chance);
}
