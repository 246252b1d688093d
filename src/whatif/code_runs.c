/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/code_runs.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "whatif/lives.h"
#include "whatif/run_code.h"

/* --- Runs ------------------------------------------------------------------------------------- */

static bool ends_run(const struct step *step)
{
	return step->kind == STEP_WAIT || step->kind == STEP_DELAY || step->kind == STEP_WAKE;
}

/* Of what stands before or behind a run: which wait, or whose wait it ends. */
static uint64_t key_of_end(const struct lives *lives, size_t at)
{
	const struct step *step = &lives->steps[at];
	uint32_t wait = step->kind == STEP_WAKE ? lives->steps[step->other].wait : step->wait;

	return hash_u64((uint64_t)step->kind << 32 | wait);
}

static uint32_t class_of(struct code_runs *runs, struct table *classes, uint32_t life, size_t first, size_t end)
{
	const struct life *l = &runs->lives->lives[life];
	uint64_t key = hash_u64(life + 1ull);
	uintptr_t found;

	if (first > l->first)
		key = hash_u64(key ^ key_of_end(runs->lives, first - 1));
	if (end < l->end)
		key = hash_u64(key + key_of_end(runs->lives, end));
	found = (uintptr_t)table_find(classes, key);
	if (!found) {
		found = ++runs->class_count;
		table_put(classes, key, (void *)found);
	}
	return found - 1;
}

static void add_run(struct code_runs *runs, struct table *classes, uint32_t life, size_t first, size_t end)
{
	bool has_work = false;

	for (size_t i = first; i < end && !has_work; i++)
		has_work = runs->lives->steps[i].kind == STEP_WORK;
	if (!has_work)
		return;
	ARRAY_GROW(runs->runs, runs->count, runs->capacity, 1024);
	runs->runs[runs->count++] = (struct code_run){ first, end, life, class_of(runs, classes, life, first, end) };
}

static void find_runs(struct code_runs *runs)
{
	const struct lives *lives = runs->lives;
	struct table *classes = table_new();

	for (size_t life = 0; life < lives->count; life++) {
		size_t first = lives->lives[life].first, end = lives->lives[life].end;

		for (size_t i = first; i < end; i++)
			if (ends_run(&lives->steps[i])) {
				add_run(runs, classes, life, first, i);
				first = i + 1;
			}
		add_run(runs, classes, life, first, end);
	}
	table_free(classes);
}

/* Samples and runs have one order of time within a thread: each sample is of the last run that begins before it. */
static void place_samples(struct code_runs *runs, struct table *first_samples)
{
	const struct run_code *code = runs->code;
	const struct lives *lives = runs->lives;
	size_t at = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const struct code_run *run = &runs->runs[i], *next = i + 1 < runs->count ? run + 1 : NULL;
		uint32_t thread = lives->lives[run->life].thread;
		bool is_last = !next || next->life != run->life;

		if (!i || run[-1].life != run->life)
			at = (uintptr_t)table_find(first_samples, thread) - 1;
		for (; at < code->sample_count && code->samples[at].thread == thread; at++) {
			if (!is_last && code->samples[at].time_ns >= lives->steps[next->first].begin_ns)
				break;
			runs->run_of[at] = i;
		}
	}
}

void code_runs_init(struct code_runs *runs, const struct lives *lives, const struct run_code *code)
{
	struct table *first_samples = table_new(); /* of each thread, plus 1 */

	*runs = (struct code_runs){
		.lives = lives,
		.code = code,
		.run_of = xcalloc(code->sample_count + 1, sizeof(*runs->run_of)),
	};
	for (size_t i = code->sample_count; i--;) {
		runs->run_of[i] = UINT32_MAX;
		table_put(first_samples, code->samples[i].thread, (void *)(uintptr_t)(i + 1));
	}
	find_runs(runs);
	place_samples(runs, first_samples);
	table_free(first_samples);
}

void code_runs_fini(struct code_runs *runs)
{
	free(runs->runs);
	free(runs->run_of);
	*runs = (struct code_runs){ 0 };
}

/* --- Samples ---------------------------------------------------------------------------------- */

bool code_runs_has(const struct code_runs *runs, size_t sample)
{
	return runs->run_of[sample] != UINT32_MAX && !runs->code->places[runs->code->samples[sample].place].is_partial;
}

struct code_count code_runs_count(const struct code_runs *runs, const bool *is_chosen)
{
	struct code_count count = { 0 };

	for (size_t i = 0; i < runs->code->sample_count; i++) {
		if (!code_runs_has(runs, i))
			continue;
		count.chosen += is_chosen[runs->code->samples[i].place];
		count.all++;
	}
	return count;
}

uint64_t *code_runs_place_counts(const struct code_runs *runs)
{
	uint64_t *counts = xcalloc(runs->code->place_count + 1, sizeof(*counts));

	for (size_t i = 0; i < runs->code->sample_count; i++)
		counts[runs->code->samples[i].place] += runs->run_of[i] != UINT32_MAX;
	return counts;
}

double code_runs_ns_a_sample(const struct code_runs *runs)
{
	uint64_t ns = 0, count = 0;

	for (size_t i = 0; i < runs->lives->step_count; i++)
		if (runs->lives->steps[i].kind == STEP_WORK)
			ns += step_ns(&runs->lives->steps[i]);
	for (size_t i = 0; i < runs->code->sample_count; i++)
		count += runs->run_of[i] != UINT32_MAX;
	return count ? (double)ns / count : 0;
}

double code_count_error(const struct code_count *count)
{
	return count->chosen ? 2 * sqrt((1 - (double)count->chosen / count->all) / count->chosen) : 0;
}
