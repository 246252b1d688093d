/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/part_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/memory.h"
#include "base/table.h"
#include "graph/graph_label.h"
#include "graph/wait_end.h"
#include "lanes/part_filter.h"
#include "query/trace_states.h"
#include "spans/execution_log.h"
#include "states/states.h"

/* So many states of a CPU are gone through at a time. */
enum { PAUSE_STATES = 64 };

struct stretch {
	uint32_t thread;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
};

struct part_choice {
	const struct trace_states *all;
	struct graph_labels *labels;
	struct part_filter filter;
	const struct states_pause *pause; /* NULL: there is none */
	struct table *waits;              /* by keys of waits: whether they are chosen */
	struct stretch *stretches;        /* of executions: by thread, then by time; they do not overlap */
	size_t stretch_count, stretch_capacity;
};

static bool has_word(const struct part_words *words, const char *name)
{
	for (size_t i = 0; i < words->count; i++)
		if (strcasestr(name, words->words[i]))
			return true;
	return !words->count;
}

/* --- Executions ---------------------------------------------------------------------------------- */

static bool is_chosen(const struct part_choice *choice, const struct execution *execution)
{
	const struct part_filter *filter = &choice->filter;
	const struct span *span = execution_log_span(choice->all->executions, execution->span);
	uint64_t length_ns = execution->end_ns - execution->begin_ns;

	if (filter->execution_thread &&
	    (execution->begin_thread != filter->execution_thread || execution->begin_ns != filter->execution_begin_ns))
		return false;
	return length_ns >= filter->span_ns_min && length_ns <= filter->span_ns_max &&
	       has_word(&filter->spans, span && span->name ? span->name : "");
}

static void add_stretch(struct part_choice *choice, uint32_t thread, const struct execution *execution)
{
	ARRAY_GROW(choice->stretches, choice->stretch_count, choice->stretch_capacity, 64);
	choice->stretches[choice->stretch_count++] = (struct stretch){ thread, execution->begin_ns, execution->end_ns };
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	if (x->thread != y->thread)
		return (x->thread > y->thread) - (x->thread < y->thread);
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Those that overlap become one. */
static void merge_stretches(struct part_choice *choice)
{
	size_t kept = 0;

	if (choice->stretch_count)
		qsort(choice->stretches, choice->stretch_count, sizeof(*choice->stretches), by_thread_and_time);
	for (size_t i = 0; i < choice->stretch_count; i++) {
		const struct stretch *stretch = &choice->stretches[i];
		struct stretch *last = kept ? &choice->stretches[kept - 1] : NULL;

		if (!last || last->thread != stretch->thread || last->end_ns < stretch->begin_ns)
			choice->stretches[kept++] = *stretch;
		else if (last->end_ns < stretch->end_ns)
			last->end_ns = stretch->end_ns;
	}
	choice->stretch_count = kept;
}

static void find_stretches(struct part_choice *choice)
{
	const struct executions *executions = execution_log_all(choice->all->executions);

	for (size_t i = 0; i < executions->count; i++) {
		const struct execution *execution = &executions->list[i];

		if (!is_chosen(choice, execution))
			continue;
		add_stretch(choice, execution->begin_thread, execution);
		if (execution->thread != execution->begin_thread)
			add_stretch(choice, execution->thread, execution);
	}
	merge_stretches(choice);
}

/* The first one of the thread, or behind those of the thread, that ends behind the time. */
static size_t stretch_after(const struct part_choice *choice, uint32_t thread, uint64_t time_ns)
{
	const struct stretch *list = choice->stretches;

	return BOUND(0, choice->stretch_count, i,
		     list[i].thread < thread || (list[i].thread == thread && list[i].end_ns <= time_ns));
}

static bool each_stretch(const struct part_choice *choice, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
			 part_choice_fn *on_part, void *data)
{
	if (!choice->filter.has_spans)
		return on_part(data, begin_ns, end_ns);
	for (size_t i = stretch_after(choice, thread, begin_ns);
	     i < choice->stretch_count && choice->stretches[i].thread == thread; i++) {
		const struct stretch *stretch = &choice->stretches[i];

		if (stretch->begin_ns >= end_ns)
			break;
		if (!on_part(data, stretch->begin_ns > begin_ns ? stretch->begin_ns : begin_ns,
			     stretch->end_ns < end_ns ? stretch->end_ns : end_ns))
			return false;
	}
	return true;
}

bool part_choice_has_time(const struct part_choice *choice, uint32_t thread, uint64_t time_ns)
{
	size_t at = stretch_after(choice, thread, time_ns);

	return !choice->filter.has_spans || (at < choice->stretch_count && choice->stretches[at].thread == thread &&
					     choice->stretches[at].begin_ns <= time_ns);
}

/* --- What waits are for -------------------------------------------------------------------------- */

static bool is_called_so(const struct part_choice *choice, const struct graph_wait *wait)
{
	const char *name = graph_wait_object(choice->labels, wait);

	return name && has_word(&choice->filter.objects, name);
}

/* By the name of what it is for, as reports have it: a wait for a CPU is for nothing. */
static bool is_for_object(struct part_choice *choice, uint32_t thread, const struct state *state)
{
	static const bool is_so = true, is_not = false; /* what the table points to */
	struct graph_wait wait;
	const bool *known;
	uint64_t key;

	if (state->kind != STATE_BLOCKED)
		return false;
	wait = graph_wait_of(thread, state);
	key = graph_wait_key(&wait);
	known = table_find(choice->waits, key);
	if (!known) {
		known = is_called_so(choice, &wait) ? &is_so : &is_not;
		table_put(choice->waits, key, (void *)known);
	}
	return *known;
}

/* --- All of it ----------------------------------------------------------------------------------- */

struct part_choice *part_choice_new(const struct trace_states *all, struct graph_labels *labels,
				    const struct part_filter *filter)
{
	struct part_choice *choice = xcalloc(1, sizeof(*choice));

	choice->all = all;
	choice->labels = labels;
	choice->filter = *filter;
	choice->waits = table_new();
	if (filter->has_spans)
		find_stretches(choice);
	return choice;
}

void part_choice_free(struct part_choice *choice)
{
	if (!choice)
		return;
	table_free(choice->waits);
	free(choice->stretches);
	free(choice);
}

void part_choice_set_pause(struct part_choice *choice, const struct states_pause *pause)
{
	choice->pause = pause;
}

const struct part_filter *part_choice_filter(const struct part_choice *choice)
{
	return &choice->filter;
}

static bool has_cpu(const struct part_choice *choice, uint32_t cpu)
{
	for (size_t i = 0; i < choice->filter.cpu_count; i++)
		if (choice->filter.cpus[i] == cpu)
			return true;
	return !choice->filter.cpu_count;
}

static bool has_object(struct part_choice *choice, uint32_t thread, const struct state *state)
{
	if (!choice->filter.objects.count)
		return true;
	return (state->kind == STATE_BLOCKED || state->kind == STATE_RUNNABLE) && is_for_object(choice, thread, state);
}

/* cpu: as states_state_fn has it. */
static bool each_part(struct part_choice *choice, uint32_t thread, const struct state *state, uint32_t cpu,
		      part_choice_fn *on_part, void *data)
{
	if (!has_cpu(choice, cpu) || !has_object(choice, thread, state))
		return true;
	return each_stretch(choice, thread, state->begin_ns, state->end_ns, on_part, data);
}

bool part_choice_each(struct part_choice *choice, uint32_t thread, const struct state *state, part_choice_fn *on_part,
		      void *data)
{
	uint32_t cpu = choice->filter.cpu_count ? states_next_cpu(choice->all->states, thread, state->begin_ns)
						: STATES_NO_CPU;

	return each_part(choice, thread, state, cpu, on_part, data);
}

bool part_choice_has_cpu(const struct part_choice *choice, uint32_t cpu)
{
	return has_cpu(choice, cpu) && !choice->filter.objects.count;
}

bool part_choice_each_of_cpu(struct part_choice *choice, uint32_t cpu, const struct cpu_state *state,
			     part_choice_fn *on_part, void *data)
{
	if (!part_choice_has_cpu(choice, cpu))
		return true;
	return each_stretch(choice, state->thread, state->begin_ns, state->end_ns, on_part, data);
}

struct telling {
	struct part_choice *choice;
	const uint32_t *threads;
	states_part_fn *on_part;
	void *data;
	/* Whose state it is, and what kind: of each state anew. */
	size_t which;
	unsigned int share;
};

static bool tell_part(void *data, uint64_t begin_ns, uint64_t end_ns)
{
	const struct telling *telling = data;

	telling->on_part(telling->data, telling->which, begin_ns, end_ns, telling->share);
	return true;
}

static void tell_state(void *data, size_t which, const struct state *state, uint32_t cpu)
{
	struct telling *telling = data;

	telling->which = which;
	telling->share = state_share(state->kind, state->value.why);
	each_part(telling->choice, telling->threads[which], state, cpu, tell_part, telling);
}

void part_choice_each_part(struct part_choice *choice, const uint32_t *threads, size_t count, uint64_t from_ns,
			   uint64_t to_ns, states_part_fn *on_part, void *data)
{
	const struct states_question question = {
		.threads = threads,
		.count = count,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.wants_cpus = choice->filter.cpu_count,
		.pause = choice->pause,
	};
	struct telling telling = { .choice = choice, .threads = threads, .on_part = on_part, .data = data };

	states_each_state(choice->all->states, &question, tell_state, &telling);
}

void part_choice_each_cpu_part(struct part_choice *choice, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
			       states_part_fn *on_part, void *data)
{
	struct telling telling = { .on_part = on_part, .data = data };
	struct cpu_walk walk;
	struct cpu_state state;

	if (!part_choice_has_cpu(choice, cpu))
		return;
	states_walk_cpu(choice->all->states, cpu, from_ns, to_ns, &walk);
	for (size_t i = 1; cpu_walk_next(&walk, &state); i++) {
		if (i % PAUSE_STATES == 0)
			states_pause(choice->pause);
		telling.share = cpu_state_share(&state);
		part_choice_each_of_cpu(choice, cpu, &state, tell_part, &telling);
	}
}

struct stating {
	struct part_choice *choice;
	const uint32_t *threads;
	part_choice_state_fn *on_state;
	void *data;
};

static bool add_length(void *data, uint64_t begin_ns, uint64_t end_ns)
{
	*(uint64_t *)data += end_ns - begin_ns;
	return true;
}

static void tell_whole_state(void *data, size_t which, const struct state *state, uint32_t cpu)
{
	const struct stating *stating = data;
	uint64_t chosen_ns = 0;

	each_part(stating->choice, stating->threads[which], state, cpu, add_length, &chosen_ns);
	stating->on_state(stating->data, which, state, chosen_ns);
}

void part_choice_each_state(struct part_choice *choice, const uint32_t *threads, size_t count, uint64_t from_ns,
			    uint64_t to_ns, part_choice_state_fn *on_state, void *data)
{
	const struct states_question question = {
		threads, count, from_ns, to_ns, choice->filter.cpu_count, choice->pause,
	};
	struct stating stating = { choice, threads, on_state, data };

	states_each_state(choice->all->states, &question, tell_whole_state, &stating);
}

static bool stop_at_first(void *data, uint64_t begin_ns, uint64_t end_ns)
{
	(void)data, (void)begin_ns, (void)end_ns;
	return false;
}

bool part_choice_has(struct part_choice *choice, uint32_t thread, const struct state *state)
{
	return !part_choice_each(choice, thread, state, stop_at_first, NULL);
}

struct searching {
	uint64_t from_ns, to_ns;
};

static bool stop_within(void *data, uint64_t begin_ns, uint64_t end_ns)
{
	const struct searching *searching = data;

	return begin_ns >= searching->to_ns || end_ns <= searching->from_ns;
}

bool part_choice_has_any(struct part_choice *choice, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	struct searching searching = { from_ns, to_ns };
	struct state_walk walk;
	struct state state;

	states_walk(choice->all->states, thread, from_ns, to_ns, &walk);
	while (state_walk_next(&walk, &state))
		if (!part_choice_each(choice, thread, &state, stop_within, &searching))
			return true;
	return false;
}
