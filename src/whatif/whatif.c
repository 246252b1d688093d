/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/whatif.h"

#include <stdlib.h>

#include "base/memory.h"
#include "whatif/lives.h"
#include "whatif/shorten.h"
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

static uint64_t replay_as_recorded(const struct lives *lives, bool is_order_free)
{
	uint64_t *lengths_ns = lengths_as_recorded(lives);
	struct replay replay;
	uint64_t ns;

	replay_lives(lives, lengths_ns, lives->cpu_count, is_order_free, &replay);
	ns = replay.ns;
	replay_fini(&replay);
	free(lengths_ns);
	return ns;
}

void whatif_init(struct whatif *whatif, const struct lives *lives)
{
	*whatif = (struct whatif){
		.lives = lives,
		.recorded_ns = lives->end_ns - lives->begin_ns,
		.replay_ns = replay_as_recorded(lives, false),
		.free_ns = replay_as_recorded(lives, true),
		.cpu_count = lives->cpu_count,
	};
	for (enum hold_guess guess = 0; guess < HOLD_GUESSES; guess++)
		whatif->since_ns[guess] = holds_since(lives, guess);
}

void whatif_fini(struct whatif *whatif)
{
	for (enum hold_guess guess = 0; guess < HOLD_GUESSES; guess++)
		free(whatif->since_ns[guess]);
}

static bool is_order_free(enum hold_guess guess)
{
	return guess == HOLD_AS_LONG;
}

/* What a replay has too much or too little as it was, it has in this proportion when it is changed. */
static uint64_t recorded_ns(const struct whatif *whatif, uint64_t replay_ns, enum hold_guess guess)
{
	uint64_t same_ns = is_order_free(guess) ? whatif->free_ns : whatif->replay_ns;

	if (replay_ns == same_ns)
		return whatif->recorded_ns;
	return same_ns ? (double)replay_ns / same_ns * whatif->recorded_ns : 0;
}

static uint64_t predict(const struct whatif *whatif, const struct whatif_change *change, enum hold_guess guess,
			struct critical_path *path)
{
	const struct lives *lives = whatif->lives;
	uint64_t *lengths_ns = lengths_as_recorded(lives), ns;
	struct replay replay;

	if (change->is_chosen)
		shorten(lives,
			&(struct shortening){
				.is_chosen = change->is_chosen,
				.scale = change->scale,
				.since_ns = whatif->since_ns[guess],
				.with_wakeups = guess != HOLD_AS_SEEN,
			},
			lengths_ns);
	replay_lives(lives, lengths_ns, change->cpu_count, is_order_free(guess), &replay);
	ns = recorded_ns(whatif, replay.ns, guess);
	if (path)
		replay_path(lives, &replay, path);
	replay_fini(&replay);
	free(lengths_ns);
	return ns;
}

void whatif_predict(const struct whatif *whatif, const struct whatif_change *change, struct whatif_answer *out)
{
	uint64_t seen_ns = predict(whatif, change, HOLD_AS_SEEN, NULL);
	uint64_t long_ns = predict(whatif, change, HOLD_AS_LONG, NULL);

	out->predicted_ns = predict(whatif, change, HOLD_AS_USUAL, &out->path);
	out->least_ns = out->most_ns = out->predicted_ns;
	if (seen_ns > out->most_ns)
		out->most_ns = seen_ns;
	if (long_ns > out->most_ns)
		out->most_ns = long_ns;
	if (seen_ns < out->least_ns)
		out->least_ns = seen_ns;
	if (long_ns < out->least_ns)
		out->least_ns = long_ns;
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

size_t whatif_rank(const struct whatif *whatif, struct graph_labels *labels, double scale, uint32_t cpu_count,
		   struct whatif_rank *ranks, size_t capacity)
{
	struct whatif_rank tried[ELEMENT_KINDS * TRIED_MAX];
	bool *is_chosen = xcalloc(whatif->lives->wait_count + 1, sizeof(*is_chosen));
	struct whatif_change change = { is_chosen, scale, cpu_count };
	size_t count, tried_count = 0, of_kind[ELEMENT_KINDS] = { 0 };
	struct element *elements = elements_of(whatif->lives, labels, &count);

	for (size_t i = 0; i < count; i++) {
		const struct element *element = &elements[i];

		if (of_kind[element->kind]++ >= TRIED_MAX)
			continue;
		element_choose(whatif->lives, labels, element->kind, element->name, is_chosen);
		tried[tried_count++] = (struct whatif_rank){
			*element,
			predict(whatif, &change, HOLD_AS_USUAL, NULL),
		};
	}
	qsort(tried, tried_count, sizeof(*tried), by_gain);
	for (count = 0; count < tried_count && count < capacity; count++)
		ranks[count] = tried[count];
	free(elements);
	free(is_chosen);
	return count;
}
