/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/stretch_json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lanes/lanes.h"
#include "lanes/part_choice.h"
#include "query/trace_states.h"
#include "results/results.h"
#include "states/states.h"
#include "view/json/json_fields.h"

static void add_lane(const struct trace_states *all, const struct lanes *lanes, const struct lane *lane,
		     uint64_t from_ns, uint64_t to_ns, uint64_t ns[SHARES])
{
	for (size_t i = 0; i < lane->thread_count; i++) {
		const struct lane_thread *thread = &lanes->threads[lane->first_thread + i];

		if (thread->end_ns > from_ns && thread->begin_ns < to_ns)
			states_add_shares(all->states, thread->number, from_ns, to_ns, ns);
	}
}

/* --- Of many threads, and of what is chosen --------------------------------------------------------- */

/* Summaries of so many threads push each other out; their changes are all in blocks, each of which is unpacked once. */
enum { THREADS_ONE_BY_ONE = 512 };

/* Threads of lanes, each once. */
struct summing {
	const struct stretch_question *question;
	struct summed {
		uint32_t number, place;
	} * threads;
	uint32_t *numbers; /* the same */
	size_t count;
	uint64_t (*ns)[SHARES]; /* by thread, as in numbers */
};

static int by_number(const void *a, const void *b)
{
	const struct summed *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static void find_threads(struct summing *summing, const struct lanes *lanes)
{
	const struct stretch_question *question = summing->question;
	bool *is_in = xcalloc(lanes->thread_count + 1, sizeof(*is_in));

	summing->threads = xcalloc(lanes->thread_count + 1, sizeof(*summing->threads));
	summing->numbers = xcalloc(lanes->thread_count + 1, sizeof(*summing->numbers));
	for (size_t i = 0; i < question->count; i++)
		if (lanes->list[question->ids[i]].thread_count)
			memset(is_in + lanes->list[question->ids[i]].first_thread, true,
			       lanes->list[question->ids[i]].thread_count);
	for (uint32_t place = 0; place < lanes->thread_count; place++)
		if (is_in[place] && lanes->threads[place].end_ns > question->from_ns &&
		    lanes->threads[place].begin_ns < question->to_ns)
			summing->threads[summing->count++] =
				(struct summed){ .number = lanes->threads[place].number, .place = place };
	free(is_in);
	if (summing->count)
		qsort(summing->threads, summing->count, sizeof(*summing->threads), by_number);
	for (size_t i = 0; i < summing->count; i++)
		summing->numbers[i] = summing->threads[i].number;
}

static void add_part(void *data, size_t which, uint64_t begin_ns, uint64_t end_ns, unsigned int share)
{
	const struct summing *summing = data;
	const struct stretch_question *question = summing->question;

	if (begin_ns < question->from_ns)
		begin_ns = question->from_ns;
	if (end_ns > question->to_ns)
		end_ns = question->to_ns;
	if (begin_ns < end_ns)
		summing->ns[which][share] += end_ns - begin_ns;
}

static void add_state(void *data, size_t which, const struct state *state, uint32_t cpu)
{
	(void)cpu;
	add_part(data, which, state->begin_ns, state->end_ns, state_share(state->kind, state->value.why));
}

static void add_to_lanes(const struct summing *summing, uint64_t (*ns)[SHARES])
{
	const struct stretch_question *question = summing->question;

	for (size_t which = 0; which < summing->count; which++)
		for (size_t i = 0; i < question->count; i++) {
			const struct lane *lane = &question->lanes->list[question->ids[i]];

			for (unsigned int share = 0;
			     share < SHARES && summing->threads[which].place - lane->first_thread < lane->thread_count;
			     share++)
				ns[i][share] += summing->ns[which][share];
		}
}

static void add_together(const struct stretch_question *question, uint64_t (*ns)[SHARES])
{
	struct summing summing = { .question = question };

	find_threads(&summing, question->lanes);
	summing.ns = xcalloc(summing.count + 1, sizeof(*summing.ns));
	if (question->choice)
		part_choice_each_part(question->choice, summing.numbers, summing.count, question->from_ns,
				      question->to_ns, add_part, &summing);
	else
		states_each_state(question->all->states,
				  &(struct states_question){
					  .threads = summing.numbers,
					  .count = summing.count,
					  .from_ns = question->from_ns,
					  .to_ns = question->to_ns,
					  .pause = question->pause,
				  },
				  add_state, &summing);
	add_to_lanes(&summing, ns);
	free(summing.threads);
	free(summing.numbers);
	free(summing.ns);
}

static size_t thread_count_of(const struct stretch_question *question)
{
	size_t count = 0;

	for (size_t i = 0; i < question->count; i++)
		count += question->lanes->list[question->ids[i]].thread_count;
	return count;
}

void stretch_put_json(struct text *out, const struct stretch_question *question)
{
	size_t count = question->count;
	uint64_t from_ns = question->from_ns, to_ns = question->to_ns;
	struct result_lane_shares *results = xcalloc(count + 1, sizeof(*results));
	uint64_t(*ns)[SHARES] = xcalloc(count + 1, sizeof(*ns)), first_ns = trace_states_time(question->all, 0);

	bool is_together = question->choice || thread_count_of(question) > THREADS_ONE_BY_ONE;

	if (is_together)
		add_together(question, ns);
	for (size_t i = 0; i < count; i++) {
		const struct lane *lane = &question->lanes->list[question->ids[i]];

		if (!is_together)
			add_lane(question->all, question->lanes, lane, from_ns, to_ns, ns[i]);
		results[i] = (struct result_lane_shares){
			.lane = question->ids[i],
			.ns = ns[i],
			.ns_count = lane->kind == LANE_CPU ? 0 : SHARES,
		};
	}
	json_put_document(out, result_stretch_type(),
			  &(struct result_stretch){
				  .from_ns = from_ns - first_ns,
				  .to_ns = to_ns - first_ns,
				  .lanes = results,
				  .lane_count = count,
			  });
	free(results);
	free(ns);
}
