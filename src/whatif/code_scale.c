/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/code_scale.h"

#include <stdlib.h>

#include "base/memory.h"
#include "whatif/code_runs.h"
#include "whatif/lives.h"
#include "whatif/run_code.h"
#include "whatif/sleep_cost.h"

/* So many samples of its own a run needs to count as much as its class. */
enum { RUN_SAMPLES = 4 };

/* What it would be with so many more samples that have the prior share. */
static double share_of(const struct code_count *count, double prior, unsigned int prior_samples)
{
	return (count->chosen + prior * prior_samples) / (count->all + prior_samples);
}

static void add(struct code_count *count, bool is_chosen)
{
	count->chosen += is_chosen;
	count->all++;
}

/* How long the run's work is, what of that is sleeping or waking, and how much shorter that is. */
struct parts {
	uint64_t work_ns, cost_ns;
	double cut_ns;
};

static struct parts parts_of(const struct lives *lives, const struct code_run *run, const struct sleep_costs *costs)
{
	size_t before = run->first - 1;
	struct parts parts = { 0 };

	for (size_t i = run->first; i < run->end; i++)
		if (lives->steps[i].kind == STEP_WORK)
			parts.work_ns += step_ns(&lives->steps[i]);
	if (run->first == lives->lives[run->life].first)
		return parts;
	parts.cost_ns = costs->ns[before] < parts.work_ns ? costs->ns[before] : parts.work_ns;
	if (parts.cost_ns)
		parts.cut_ns = (double)parts.cost_ns / costs->ns[before] * costs->cut_ns[before];
	return parts;
}

static void scale_run(const struct lives *lives, const struct code_run *run, double factor, uint64_t *lengths_ns)
{
	for (size_t i = run->first; i < run->end; i++)
		if (lives->steps[i].kind == STEP_WORK || lives->steps[i].kind == STEP_SLOWED)
			lengths_ns[i] *= factor;
}

/* Of the samples of each run, class and life, but for those of sleeping and waking. */
struct shares {
	struct code_count *runs, *classes, *lives, all;
};

static void shares_init(struct shares *shares, const struct code_runs *runs, const bool *is_chosen,
			const struct sleep_costs *costs)
{
	const struct run_sample_at *samples = runs->code->samples;

	*shares = (struct shares){
		.runs = xcalloc(runs->count + 1, sizeof(*shares->runs)),
		.classes = xcalloc(runs->class_count + 1, sizeof(*shares->classes)),
		.lives = xcalloc(runs->lives->count + 1, sizeof(*shares->lives)),
	};
	for (size_t i = 0; i < runs->code->sample_count; i++) {
		bool chosen = is_chosen[samples[i].place];
		const struct code_run *run = &runs->runs[runs->run_of[i]];

		if (!code_runs_has(runs, i) || costs->is_of[i])
			continue;
		add(&shares->runs[runs->run_of[i]], chosen);
		add(&shares->classes[run->class], chosen);
		add(&shares->lives[run->life], chosen);
		add(&shares->all, chosen);
	}
}

static void shares_fini(struct shares *shares)
{
	free(shares->runs);
	free(shares->classes);
	free(shares->lives);
}

static double share_of_run(const struct shares *shares, const struct code_runs *runs, size_t at)
{
	const struct code_run *run = &runs->runs[at];
	double share = shares->all.all ? (double)shares->all.chosen / shares->all.all : 0;

	share = share_of(&shares->lives[run->life], share, 1);
	share = share_of(&shares->classes[run->class], share, 1);
	return share_of(&shares->runs[at], share, RUN_SAMPLES);
}

void code_scale(const struct code_runs *runs, const bool *is_chosen, double scale, double weight,
		const struct sleep_costs *costs, uint64_t *lengths_ns)
{
	struct shares shares;

	shares_init(&shares, runs, is_chosen, costs);
	for (size_t i = 0; i < runs->count; i++) {
		struct parts parts = parts_of(runs->lives, &runs->runs[i], costs);
		double share = weight * share_of_run(&shares, runs, i);
		double cut = (1 - scale) * (share < 1 ? share : 1);

		if (parts.work_ns)
			scale_run(runs->lives, &runs->runs[i],
				  1 - ((parts.work_ns - parts.cost_ns) * cut + parts.cut_ns) / parts.work_ns,
				  lengths_ns);
	}
	shares_fini(&shares);
}
