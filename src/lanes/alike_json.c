/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/alike_json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "graph/graph_label.h"
#include "graph/wait_end.h"
#include "klocks/lengths.h"
#include "lanes/lanes.h"
#include "lanes/state_json.h"
#include "query/trace_states.h"
#include "results/results.h"
#include "session/threads.h"
#include "states/states.h"
#include "view/json/json_fields.h"

enum { LONGEST = 20 };

struct found {
	uint32_t thread;
	struct state state;
};

struct search {
	const struct trace_states *all;
	struct graph_labels *labels;
	uint32_t pid;
	struct state wait; /* what others are alike to */
	uint64_t key;      /* of what it is called */
	uint64_t count, ns;
	uint64_t counts[LENGTHS], sums_ns[LENGTHS];
	struct found longest[LONGEST];
	size_t longest_count;
};

static uint64_t length_of(const struct state *state)
{
	return state->end_ns - state->begin_ns;
}

static struct graph_node node_of(uint32_t thread, const struct state *state)
{
	return (struct graph_node){ .kind = GRAPH_WAIT, .wait = graph_wait_of(thread, state) };
}

static void keep_long(struct search *search, uint32_t thread, const struct state *state)
{
	struct found *at;
	size_t i;

	if (search->longest_count < LONGEST)
		search->longest_count++;
	else if (length_of(state) <= length_of(&search->longest[LONGEST - 1].state))
		return;
	for (i = search->longest_count - 1; i && length_of(&search->longest[i - 1].state) < length_of(state); i--)
		search->longest[i] = search->longest[i - 1];
	at = &search->longest[i];
	at->thread = thread;
	at->state = *state;
}

static void add(struct search *search, uint32_t thread, const struct state *state)
{
	size_t index = length_index(length_of(state));

	search->count++;
	search->ns += length_of(state);
	search->counts[index]++;
	search->sums_ns[index] += length_of(state);
	keep_long(search, thread, state);
}

/* For the same thing, if that is known, or else called alike. */
static bool is_alike(struct search *search, uint32_t thread, const struct state *state)
{
	const struct state_value *wanted = &search->wait.value, *value = &state->value;
	struct graph_node node;

	if (state->kind != STATE_BLOCKED)
		return false;
	if (wanted->object)
		return value->object == wanted->object && value->why == wanted->why &&
		       threads_get(search->all->threads, thread)->pid == search->pid;
	node = node_of(thread, state);
	return graph_label_key(search->labels, &node) == search->key;
}

/* Those that begin in [from_ns, to_ns). */
static void search_thread(struct search *search, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	struct state_walk walk;
	struct state state;

	states_walk(search->all->states, thread, from_ns, to_ns, &walk);
	while (state_walk_next(&walk, &state)) {
		if (state.begin_ns >= from_ns && state.begin_ns < to_ns && is_alike(search, thread, &state))
			add(search, thread, &state);
	}
}

/* All threads in one block of the history after the other. Returns up to when it came. */
static uint64_t search_all(struct search *search, const struct lanes *lanes, const struct alike_question *question)
{
	uint64_t deadline_ns = clock_ns() + question->budget_ns, at_ns = question->from_ns;

	while (at_ns < question->to_ns) {
		uint64_t next_ns = states_next_block_ns(search->all->states, at_ns);

		if (next_ns > question->to_ns)
			next_ns = question->to_ns;
		for (size_t i = 0; i < lanes->thread_count; i++)
			search_thread(search, lanes->threads[i].number, at_ns, next_ns);
		at_ns = next_ns;
		if (clock_ns() >= deadline_ns)
			break;
	}
	return at_ns;
}

/* --- The answer ---------------------------------------------------------------------------------- */

static size_t results_of_lengths(const struct search *search, struct result_length results[LENGTHS])
{
	size_t count = 0;

	for (size_t i = 0; i < LENGTHS; i++)
		if (search->counts[i])
			results[count++] = (struct result_length){
				.up_to_ns = length_limit_ns(i),
				.count = search->counts[i],
				.ns = search->sums_ns[i],
			};
	return count;
}

static void results_of_longest(const struct search *search, struct result_alike_wait results[LONGEST])
{
	uint64_t first_ns = trace_states_time(search->all, 0);

	for (size_t i = 0; i < search->longest_count; i++) {
		const struct found *found = &search->longest[i];

		results[i] = (struct result_alike_wait){
			.thread = found->thread,
			.who = state_who(search->labels, found->thread),
			.begin_ns = found->state.begin_ns - first_ns,
			.end_ns = found->state.end_ns - first_ns,
			.ended_by = state_ended_by(search->labels, &found->state.ended),
		};
	}
}

static void put(struct text *out, const struct search *search, const struct alike_question *question, const char *what,
		uint64_t until_ns)
{
	uint64_t first_ns = trace_states_time(search->all, 0);
	struct result_length lengths[LENGTHS];
	struct result_alike_wait longest[LONGEST];

	results_of_longest(search, longest);
	json_put_document(out, result_alike_type(),
			  &(struct result_alike){
				  .what = what,
				  .from_ns = question->from_ns - first_ns,
				  .to_ns = until_ns - first_ns,
				  .is_cut = until_ns < question->to_ns,
				  .count = search->count,
				  .ns = search->ns,
				  .lengths = lengths,
				  .length_count = results_of_lengths(search, lengths),
				  .longest = longest,
				  .longest_count = search->longest_count,
			  });
}

int alike_put_json(struct text *out, const struct trace_states *all, const struct lanes *lanes,
		   struct graph_labels *labels, const struct alike_question *question)
{
	struct search *search;
	struct graph_node node;
	struct state state;
	uint64_t until_ns;
	bool is_of_another;

	if (!states_at(all->states, question->thread, question->time_ns, &state) || state.kind != STATE_BLOCKED)
		return -ENOENT;
	search = xcalloc(1, sizeof(*search));
	node = (struct graph_node){ .kind = GRAPH_WAIT };
	node.wait = state_wait(all, lanes, question->thread, &state, &is_of_another);
	search->all = all;
	search->labels = labels;
	search->pid = threads_get(all->threads, question->thread)->pid;
	search->wait = state;
	search->key = graph_label_key(labels, &node);
	until_ns = search_all(search, lanes, question);
	put(out, search, question, graph_label(labels, &node), until_ns);
	free(search);
	return 0;
}
