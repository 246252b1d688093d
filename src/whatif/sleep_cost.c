/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/sleep_cost.h"

#include <math.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "whatif/code_runs.h"
#include "whatif/lives.h"
#include "whatif/run_code.h"

/* A timer's interrupt comes that late when the kernel is busy with a wake-up. */
enum { NEAR_NS = 200000 };

/* Of a thread or of all: its waits or wake-ups, and the samples next to them. */
struct tally {
	uint64_t count, samples;
	double weight; /* of these samples: scale for each that is at a chosen place, else 1 */
};

enum side { SLEEPING, WAKING, NEITHER };

struct teller {
	const struct code_runs *runs;
	const bool *is_chosen;
	double scale;
	bool *is_of;                          /* by sample; NULL: nobody asks */
	struct tally *of_lives[2], of_all[2]; /* by side */
};

static bool is_futex(const struct lives *lives, const struct step *wait)
{
	return wait->kind == STEP_WAIT && wait->wait != STEP_NONE && lives->waits[wait->wait].wait.syscall == SYS_futex;
}

static enum side side_of(const struct lives *lives, const struct step *step)
{
	if (step->kind == STEP_WAKE)
		return is_futex(lives, &lives->steps[step->other]) ? WAKING : NEITHER;
	return is_futex(lives, step) ? SLEEPING : NEITHER;
}

static bool is_near(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns < from_ns || to_ns - from_ns <= NEAR_NS;
}

static uint64_t first_work_ns(const struct lives *lives, const struct code_run *run)
{
	size_t at = run->first;

	while (at + 1 < run->end && lives->steps[at].kind != STEP_WORK)
		at++;
	return lives->steps[at].begin_ns;
}

/* What a sample in the kernel belongs to: the wake-up before it, else the wait behind or before it. */
static enum side side_at(const struct lives *lives, const struct code_run *run, uint64_t time_ns)
{
	const struct life *life = &lives->lives[run->life];
	const struct step *before = run->first > life->first ? &lives->steps[run->first - 1] : NULL;
	const struct step *behind = run->end < life->end ? &lives->steps[run->end] : NULL;

	if (before && side_of(lives, before) == WAKING && is_near(before->begin_ns, time_ns))
		return WAKING;
	if (behind && side_of(lives, behind) == SLEEPING && is_near(time_ns, behind->begin_ns))
		return SLEEPING;
	if (before && side_of(lives, before) == SLEEPING && is_near(first_work_ns(lives, run), time_ns))
		return SLEEPING;
	return NEITHER;
}

static void count_steps(struct teller *teller)
{
	const struct lives *lives = teller->runs->lives;

	for (size_t i = 0; i < lives->step_count; i++) {
		enum side side = side_of(lives, &lives->steps[i]);

		if (side == NEITHER)
			continue;
		teller->of_lives[side][lives->steps[i].life].count++;
		teller->of_all[side].count++;
	}
}

static void add_sample(struct tally *tally, double weight)
{
	tally->samples++;
	tally->weight += weight;
}

static void count_samples(struct teller *teller)
{
	const struct code_runs *runs = teller->runs;

	for (size_t i = 0; i < runs->code->sample_count; i++) {
		const struct run_sample_at *sample = &runs->code->samples[i];
		const struct code_run *run = &runs->runs[runs->run_of[i]];
		double weight = teller->is_chosen && teller->is_chosen[sample->place] ? teller->scale : 1;
		enum side side;

		if (runs->run_of[i] == UINT32_MAX || !runs->code->places[sample->place].kernel_ip)
			continue;
		side = side_at(runs->lives, run, sample->time_ns);
		if (side == NEITHER)
			continue;
		if (teller->is_of)
			teller->is_of[i] = true;
		add_sample(&teller->of_lives[side][run->life], weight);
		add_sample(&teller->of_all[side], weight);
	}
}

/* By one sample that stands for as many of its steps as one of all does. */
static double samples_a_step(const struct tally *own, const struct tally *all)
{
	return all->samples ? (own->samples + 1.0) / (own->count + (double)all->count / all->samples) : 0;
}

static double left_of(const struct tally *own, const struct tally *all)
{
	return all->samples ? (own->weight + all->weight / all->samples) / (own->samples + 1) : 1;
}

static void tell(const struct teller *teller, double factor, struct sleep_costs *costs)
{
	const struct lives *lives = teller->runs->lives;
	double ns_a_sample = code_runs_ns_a_sample(teller->runs);

	for (size_t i = 0; i < lives->step_count; i++) {
		enum side side = side_of(lives, &lives->steps[i]);
		const struct tally *own, *all;

		if (side == NEITHER)
			continue;
		own = &teller->of_lives[side][lives->steps[i].life];
		all = &teller->of_all[side];
		costs->ns[i] = factor * ns_a_sample * samples_a_step(own, all);
		costs->left_ns[i] = costs->ns[i] * left_of(own, all);
		costs->cut_ns[i] = costs->ns[i] - costs->left_ns[i];
	}
}

static void count(struct teller *teller)
{
	for (enum side side = 0; side < NEITHER; side++)
		teller->of_lives[side] = xcalloc(teller->runs->lives->count + 1, sizeof(*teller->of_lives[side]));
	count_steps(teller);
	count_samples(teller);
}

static void forget(struct teller *teller)
{
	for (enum side side = 0; side < NEITHER; side++)
		free(teller->of_lives[side]);
}

void sleep_costs_init(struct sleep_costs *costs, const struct code_runs *runs, const bool *is_chosen, double scale,
		      double factor)
{
	struct teller teller = {
		.runs = runs,
		.is_chosen = is_chosen,
		.scale = scale,
		.is_of = xcalloc(runs->code->sample_count + 1, sizeof(*teller.is_of)),
	};

	count(&teller);
	*costs = (struct sleep_costs){
		.ns = xcalloc(runs->lives->step_count + 1, sizeof(*costs->ns)),
		.cut_ns = xcalloc(runs->lives->step_count + 1, sizeof(*costs->cut_ns)),
		.left_ns = xcalloc(runs->lives->step_count + 1, sizeof(*costs->left_ns)),
		.is_of = teller.is_of,
	};
	tell(&teller, factor, costs);
	forget(&teller);
}

void sleep_costs_fini(struct sleep_costs *costs)
{
	free(costs->ns);
	free(costs->cut_ns);
	free(costs->left_ns);
	free(costs->is_of);
	*costs = (struct sleep_costs){ 0 };
}

double sleep_costs_error(const struct code_runs *runs)
{
	struct teller teller = { .runs = runs };
	uint64_t samples;

	count(&teller);
	samples = teller.of_all[SLEEPING].samples + teller.of_all[WAKING].samples;
	forget(&teller);
	return samples ? 2 / sqrt(samples) : 0;
}

/* --- Work that is shorter --------------------------------------------------------------------- */

/* The work that they are in; SIZE_MAX: the thread stops before it works. */
static size_t work_behind(const struct lives *lives, size_t at)
{
	size_t end = lives->lives[lives->steps[at].life].end;

	while (++at < end && lives->steps[at].kind != STEP_WAIT && lives->steps[at].kind != STEP_DELAY)
		if (lives->steps[at].kind == STEP_WORK)
			return at;
	return SIZE_MAX;
}

void sleep_costs_follow(struct sleep_costs *costs, const struct lives *lives, const uint64_t *lengths_ns)
{
	for (size_t i = 0; i < lives->step_count; i++) {
		size_t work = costs->left_ns[i] ? work_behind(lives, i) : SIZE_MAX;

		if (work != SIZE_MAX && lengths_ns[work] < step_ns(&lives->steps[work]))
			costs->left_ns[i] *= (double)lengths_ns[work] / step_ns(&lives->steps[work]);
	}
}

static bool is_of_chosen(const struct lives *lives, const struct step *step, const bool *is_chosen)
{
	const struct step *wait = step->kind == STEP_WAKE ? &lives->steps[step->other] : step;

	return wait->kind == STEP_WAIT && wait->wait != STEP_NONE && is_chosen[wait->wait];
}

/* Who is woken runs sooner. */
static void shorten_late(const struct lives *lives, size_t wait, double scale, uint64_t *lengths_ns)
{
	size_t end = lives->lives[lives->steps[wait].life].end;

	for (size_t i = wait + 1; i < end && lives->steps[i].kind != STEP_WORK; i++)
		if (lives->steps[i].kind == STEP_LATE)
			lengths_ns[i] *= scale;
}

void sleep_costs_shorten(struct sleep_costs *costs, const struct lives *lives, const bool *is_chosen, double scale,
			 uint64_t *lengths_ns)
{
	for (size_t i = 0; i < lives->step_count; i++) {
		size_t work;
		uint64_t cut_ns;

		if (!is_of_chosen(lives, &lives->steps[i], is_chosen))
			continue;
		if (lives->steps[i].kind == STEP_WAIT)
			shorten_late(lives, i, scale, lengths_ns);
		work = work_behind(lives, i);
		if (work == SIZE_MAX)
			continue;
		cut_ns = costs->left_ns[i] * (1 - scale);
		costs->left_ns[i] -= cut_ns;
		lengths_ns[work] -= cut_ns < lengths_ns[work] ? cut_ns : lengths_ns[work];
	}
}
