/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/whatif.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "whatif/code_scale.h"
#include "whatif/lives.h"
#include "whatif/run_code.h"
#include "whatif/shorten.h"
#include "whatif/sleep_cost.h"
#include "whatif/step_replay.h"

/* Of each kind, those that were waited for longest are tried. */
enum { TRIED_MAX = 16 };

static uint64_t *lengths_as_recorded(const struct lives *lives)
{
	uint64_t *lengths_ns = xcalloc(lives->step_count + 1, sizeof(*lengths_ns));

	for (size_t i = 0; i < lives->step_count; i++)
		lengths_ns[i] = step_ns(&lives->steps[i]);
	return lengths_ns;
}

/* What is not known for certain, and how it is taken to be. */
struct guess {
	enum hold_guess hold;
	double code, sleep; /* how much running time the code has, and sleeping costs, by what samples say */
};

static const struct guess usual = { HOLD_AS_USUAL, 1, 1 };

static bool is_order_free(enum hold_guess guess)
{
	return guess == HOLD_AS_LONG;
}

static void play(const struct whatif *whatif, const uint64_t *lengths_ns, const struct sleep_costs *costs,
		 uint32_t cpu_count, const struct guess *guess, struct replay *out)
{
	replay_lives(whatif->lives,
		     &(struct replay_plan){
			     .lengths_ns = lengths_ns,
			     .costs_ns = costs->left_ns,
			     .cpu_count = cpu_count,
			     .is_order_free = is_order_free(guess->hold),
		     },
		     out);
}

static uint64_t play_as_recorded(const struct whatif *whatif, struct guess guess)
{
	uint64_t *lengths_ns = lengths_as_recorded(whatif->lives), ns;
	struct sleep_costs costs;
	struct replay replay;

	sleep_costs_init(&costs, &whatif->runs, NULL, 1, guess.sleep);
	play(whatif, lengths_ns, &costs, whatif->lives->cpu_count, &guess, &replay);
	ns = replay.ns;
	replay_fini(&replay);
	sleep_costs_fini(&costs);
	free(lengths_ns);
	return ns;
}

void whatif_init(struct whatif *whatif, const struct lives *lives, const struct run_code *code)
{
	*whatif = (struct whatif){
		.lives = lives,
		.recorded_ns = lives->end_ns - lives->begin_ns,
		.cpu_count = lives->cpu_count,
	};
	for (enum hold_guess guess = 0; guess < HOLD_GUESSES; guess++)
		whatif->since_ns[guess] = holds_since(lives, guess);
	code_runs_init(&whatif->runs, lives, code);
	whatif->replay_ns = play_as_recorded(whatif, usual);
	whatif->free_ns = play_as_recorded(whatif, (struct guess){ HOLD_AS_LONG, 1, 1 });
	snprintf(whatif->more_cpus, sizeof(whatif->more_cpus), "%u", lives->cpu_count + 1);
}

void whatif_fini(struct whatif *whatif)
{
	for (enum hold_guess guess = 0; guess < HOLD_GUESSES; guess++)
		free(whatif->since_ns[guess]);
	code_runs_fini(&whatif->runs);
}

/* The replay of the recording, under the same guess. */
static uint64_t same_ns(const struct whatif *whatif, const struct guess *guess)
{
	if (guess->sleep != 1)
		return play_as_recorded(whatif, *guess);
	return is_order_free(guess->hold) ? whatif->free_ns : whatif->replay_ns;
}

/* What a replay has too much or too little as it was, it has in this proportion when it is changed. */
static uint64_t recorded_ns(const struct whatif *whatif, uint64_t replay_ns, uint64_t same_ns)
{
	if (replay_ns == same_ns)
		return whatif->recorded_ns;
	return same_ns ? (double)replay_ns / same_ns * whatif->recorded_ns : 0;
}

static void change_lengths(const struct whatif *whatif, const struct whatif_change *change, const struct guess *guess,
			   uint64_t *lengths_ns, struct sleep_costs *costs)
{
	const struct shortening how = {
		.is_chosen = change->choice->waits,
		.scale = change->scale,
		.since_ns = whatif->since_ns[guess->hold],
	};

	shorten(whatif->lives, &how, lengths_ns);
	sleep_costs_follow(costs, whatif->lives, lengths_ns);
	sleep_costs_shorten(costs, whatif->lives, change->choice->wakeups, change->scale, lengths_ns);
	code_scale(&whatif->runs, change->choice->places, change->scale, guess->code, costs, lengths_ns);
}

static void play_changed(const struct whatif *whatif, const struct whatif_change *change, struct guess guess,
			 struct replay *out)
{
	uint64_t *lengths_ns = lengths_as_recorded(whatif->lives);
	struct sleep_costs costs;

	sleep_costs_init(&costs, &whatif->runs, change->choice ? change->choice->places : NULL, change->scale,
			 guess.sleep);
	if (change->choice)
		change_lengths(whatif, change, &guess, lengths_ns, &costs);
	play(whatif, lengths_ns, &costs, change->cpu_count, &guess, out);
	sleep_costs_fini(&costs);
	free(lengths_ns);
}

static uint64_t predict(const struct whatif *whatif, const struct whatif_change *change, struct guess guess,
			struct critical_path *path)
{
	struct replay replay;
	uint64_t ns;

	play_changed(whatif, change, guess, &replay);
	ns = replay.ns;
	if (path)
		replay_path(whatif->lives, &replay, path);
	replay_fini(&replay);
	return recorded_ns(whatif, ns, same_ns(whatif, &guess));
}

void whatif_replay(const struct whatif *whatif, const struct whatif_change *change, struct replay *out)
{
	play_changed(whatif, change, usual, out);
}

static void widen(struct whatif_answer *answer, uint64_t ns)
{
	if (ns > answer->most_ns)
		answer->most_ns = ns;
	if (ns < answer->least_ns)
		answer->least_ns = ns;
}

static void widen_code(const struct whatif *whatif, const struct whatif_change *change, struct whatif_answer *out)
{
	double error = code_count_error(&out->samples), sleep_error = sleep_costs_error(&whatif->runs);
	struct guess guesses[] = { usual, usual, usual, usual };

	guesses[0].code = 1 + error;
	guesses[1].code = error < 1 ? 1 - error : 0;
	guesses[2].sleep = 1 + sleep_error;
	guesses[3].sleep = sleep_error < 1 ? 1 - sleep_error : 0;
	for (size_t i = 0; i < (sleep_error ? 4 : 2); i++)
		widen(out, predict(whatif, change, guesses[i], NULL));
}

void whatif_predict(const struct whatif *whatif, const struct whatif_change *change, struct whatif_answer *out)
{
	*out = (struct whatif_answer){ 0 };
	if (change->choice)
		out->samples = code_runs_count(&whatif->runs, change->choice->places);
	out->predicted_ns = predict(whatif, change, usual, &out->path);
	out->least_ns = out->most_ns = out->predicted_ns;
	if (out->samples.chosen) {
		widen_code(whatif, change, out);
		return;
	}
	widen(out, predict(whatif, change, (struct guess){ HOLD_AS_SEEN, 1, 1 }, NULL));
	widen(out, predict(whatif, change, (struct guess){ HOLD_AS_LONG, 1, 1 }, NULL));
}

double whatif_gain(const struct whatif *whatif, uint64_t predicted_ns)
{
	return whatif->recorded_ns ? 1 - (double)predicted_ns / whatif->recorded_ns : 0;
}

static int by_gain(const void *a, const void *b)
{
	const struct whatif_rank *x = a, *y = b;

	if (x->predicted_ns != y->predicted_ns)
		return x->predicted_ns < y->predicted_ns ? -1 : 1;
	return x->element.kind < y->element.kind ? -1 : x->element.kind > y->element.kind;
}

static struct whatif_rank try_element(const struct whatif *whatif, struct graph_labels *labels,
				      const struct element *element, struct whatif_change change,
				      struct element_choice *choice)
{
	struct code_count samples;

	element_choose(&whatif->runs, labels, element->kind, element->name, choice);
	change.choice = choice;
	samples = code_runs_count(&whatif->runs, choice->places);
	return (struct whatif_rank){
		.element = *element,
		.predicted_ns = predict(whatif, &change, usual, NULL),
		.error = code_count_error(&samples),
	};
}

/* False: it gains nothing. */
static bool try_more_cpus(const struct whatif *whatif, struct whatif_change change, struct whatif_rank *rank)
{
	change.cpu_count++;
	*rank = (struct whatif_rank){
		.element = { .kind = ELEMENT_CPUS, .name = whatif->more_cpus },
		.predicted_ns = predict(whatif, &change, usual, NULL),
	};
	return rank->predicted_ns < whatif->recorded_ns;
}

size_t whatif_rank(const struct whatif *whatif, struct graph_labels *labels, double scale, struct whatif_rank *ranks,
		   size_t capacity)
{
	struct whatif_rank tried[ELEMENT_KINDS * TRIED_MAX + 1];
	struct whatif_change change = { .scale = scale, .cpu_count = whatif->cpu_count };
	size_t count, tried_count = 0, of_kind[ELEMENT_KINDS] = { 0 };
	struct element *elements = elements_of(&whatif->runs, labels, &count);
	struct element_choice choice;

	element_choice_init(&choice, whatif->lives, whatif->runs.code);
	for (size_t i = 0; i < count; i++)
		if (of_kind[elements[i].kind]++ < TRIED_MAX)
			tried[tried_count++] = try_element(whatif, labels, &elements[i], change, &choice);
	tried_count += try_more_cpus(whatif, change, &tried[tried_count]);
	qsort(tried, tried_count, sizeof(*tried), by_gain);
	for (count = 0; count < tried_count && count < capacity; count++)
		ranks[count] = tried[count];
	free(elements);
	element_choice_fini(&choice);
	return count;
}
