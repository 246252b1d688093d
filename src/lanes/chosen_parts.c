/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/chosen_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/graph_label.h"
#include "graph/wait_end.h"
#include "lanes/asked_parts.h"
#include "lanes/lanes_json.h"
#include "lanes/part_choice.h"
#include "options/settings.h"
#include "query/trace_states.h"
#include "session/external_threads.h"
#include "session/threads.h"
#include "states/states.h"

enum { ROWS_MAX = 64, WAITS_MAX = 1 << 16 };

struct finding {
	const struct trace_states *all;
	struct graph_labels *labels;
	struct asked_parts asked;
	struct arena *arena;
	uint32_t *numbers;
	size_t count, capacity;
	struct report_part_thread *threads; /* by places in numbers */
	uint64_t ns[SHARES], all_ns[SHARES];
	struct table *by_wait, *by_name; /* struct report_part_wait *, by what waits are alike in, and by names */
	struct report_part_wait *waits[WAITS_MAX];
	size_t wait_count;
	uint64_t left_out_ns; /* of waits that found no place */
};

static void add_number(void *data, uint32_t thread)
{
	struct finding *finding = data;

	if (!thread_is_traced(thread))
		return;
	ARRAY_GROW(finding->numbers, finding->count, finding->capacity, 64);
	finding->numbers[finding->count++] = thread;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* --- States --------------------------------------------------------------------------------------- */

/* NULL: there is no place for more. */
static struct report_part_wait *named_wait(struct finding *finding, const char *state, const char *object)
{
	uint64_t key = hash_string(hash_string(object ? 1 : 2, state), object ? object : "");
	struct report_part_wait *row = table_find(finding->by_name, key);

	if (row || finding->wait_count == WAITS_MAX)
		return row;
	row = finding->waits[finding->wait_count++] = arena_alloc(finding->arena, sizeof(*row));
	row->state = state;
	row->object = object ? arena_strdup(finding->arena, object) : NULL;
	table_put(finding->by_name, key, row);
	return row;
}

/* Names are looked up once for all waits that are alike. */
static struct report_part_wait *wait_of(struct finding *finding, uint32_t thread, const struct state *state)
{
	const char *name = lane_share_name(state_share(state->kind, state->value.why));
	struct report_part_wait *row;
	struct graph_wait wait;
	uint64_t key;

	if (state->kind == STATE_RUNNABLE)
		return named_wait(finding, name, NULL);
	wait = graph_wait_of(thread, state);
	key = hash_string(graph_wait_key(&wait), name);
	row = table_find(finding->by_wait, key);
	if (!row) {
		row = named_wait(finding, name, graph_wait_object(finding->labels, &wait));
		table_put(finding->by_wait, key, row);
	}
	return row;
}

static void take_state(void *data, size_t which, const struct state *state, uint64_t chosen_ns)
{
	struct finding *finding = data;
	unsigned int share = state_share(state->kind, state->value.why);
	struct report_part_thread *thread = &finding->threads[which];
	struct report_part_wait *wait;

	finding->all_ns[share] += state->end_ns - state->begin_ns;
	if (!chosen_ns || !asked_parts_have_cause(&finding->asked, state))
		return;
	finding->ns[share] += chosen_ns;
	thread->ns += chosen_ns;
	if (state->kind == STATE_RUNNING || state->kind == STATE_SPINNING)
		thread->running_ns += chosen_ns;
	if (state->kind != STATE_BLOCKED && state->kind != STATE_RUNNABLE)
		return;
	wait = wait_of(finding, finding->numbers[which], state);
	if (wait) {
		wait->ns += chosen_ns;
		wait->waits++;
	} else {
		finding->left_out_ns += chosen_ns;
	}
}

/* --- Rows ----------------------------------------------------------------------------------------- */

static int states_by_ns(const void *a, const void *b)
{
	uint64_t x = ((const struct report_part_state *)a)->ns, y = ((const struct report_part_state *)b)->ns;

	return (x < y) - (x > y);
}

static void put_states(const struct finding *finding, struct report_parts *out)
{
	struct report_part_state *rows = arena_alloc(finding->arena, SHARES * sizeof(*rows));

	for (unsigned int share = 0; share < SHARES; share++) {
		out->ns += finding->ns[share];
		out->all_ns += finding->all_ns[share];
		if (finding->ns[share])
			rows[out->state_count++] =
				(struct report_part_state){ lane_share_name(share), finding->ns[share],
							    finding->all_ns[share] };
	}
	qsort(rows, out->state_count, sizeof(*rows), states_by_ns);
	out->states = rows;
}

static int waits_by_ns(const void *a, const void *b)
{
	const struct report_part_wait *x = *(struct report_part_wait *const *)a;
	const struct report_part_wait *y = *(struct report_part_wait *const *)b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

static void put_waits(struct finding *finding, struct report_parts *out)
{
	struct report_part_wait *rows = arena_alloc(finding->arena, ROWS_MAX * sizeof(*rows));

	qsort(finding->waits, finding->wait_count, sizeof(*finding->waits), waits_by_ns);
	out->waits_left_out_ns = finding->left_out_ns;
	for (size_t i = 0; i < finding->wait_count; i++)
		if (i < ROWS_MAX)
			rows[out->wait_count++] = *finding->waits[i];
		else
			out->waits_left_out_ns += finding->waits[i]->ns;
	out->waits = rows;
}

static int threads_by_ns(const void *a, const void *b)
{
	const struct report_part_thread *x = a, *y = b;

	if (x->ns != y->ns)
		return (x->ns < y->ns) - (x->ns > y->ns);
	return (x->number > y->number) - (x->number < y->number);
}

static void put_threads(const struct finding *finding, struct report_parts *out)
{
	struct report_part_thread *rows = finding->threads;
	size_t count = 0;

	qsort(rows, finding->count, sizeof(*rows), threads_by_ns);
	while (count < finding->count && rows[count].ns)
		count++;
	out->threads = rows;
	out->thread_count = count < ROWS_MAX ? count : ROWS_MAX;
	out->threads_left_out = count - out->thread_count;
	for (size_t i = 0; i < out->thread_count; i++) {
		const struct thread *thread = threads_find(finding->all->threads, rows[i].number);

		rows[i].name = arena_strdup(finding->arena, thread ? thread->name : "");
	}
}

static const char *const *copy_words(struct arena *arena, const char *const *words, size_t count)
{
	const char **copy = arena_alloc(arena, (count + 1) * sizeof(*copy));

	for (size_t i = 0; i < count; i++)
		copy[i] = arena_strdup(arena, words[i]);
	return copy;
}

static void put_asked(const struct settings *settings, struct arena *arena, struct report_parts *out)
{
	const struct filter_words *cpus = &settings->filter.words[FILTER_CPU];
	const char *causes[SLICE_CAUSES];

	for (enum wait_cause cause = 0; cause < SLICE_CAUSES; cause++)
		if (settings->choice.causes >> cause & 1)
			causes[out->cause_count++] = wait_cause_name(cause);
	out->cpu_count = cpus->count;
	out->cpus = copy_words(arena, cpus->words, cpus->count);
	out->span_count = settings->span_words.count;
	out->spans = copy_words(arena, settings->span_words.words, out->span_count);
	out->causes = copy_words(arena, causes, out->cause_count);
	out->object_count = settings->choice.object_count;
	out->objects = copy_words(arena, settings->choice.objects, out->object_count);
}

/* --- All of it ------------------------------------------------------------------------------------ */

static void find_in_states(struct finding *finding, struct report_parts *out)
{
	struct part_choice *choice = part_choice_new(finding->all, finding->labels, &finding->asked.filter);

	states_each_thread(finding->all->states, add_number, finding);
	if (finding->count)
		qsort(finding->numbers, finding->count, sizeof(*finding->numbers), by_number);
	finding->threads = arena_alloc(finding->arena, (finding->count + 1) * sizeof(*finding->threads));
	for (size_t i = 0; i < finding->count; i++)
		finding->threads[i] = (struct report_part_thread){ .number = finding->numbers[i] };
	part_choice_each_state(choice, finding->numbers, finding->count, 0, states_end_ns(finding->all->states),
			       take_state, finding);
	put_states(finding, out);
	put_waits(finding, out);
	put_threads(finding, out);
	part_choice_free(choice);
}

static int find(const struct settings *settings, const struct trace_states *all, const struct fold_rules *fold,
		struct chosen_parts *out)
{
	struct finding *finding = xcalloc(1, sizeof(*finding));
	int err = asked_parts_read(settings, trace_states_time(all, 0), &finding->asked);

	if (!err) {
		finding->all = all;
		finding->arena = out->arena;
		finding->labels = trace_states_labels(all, fold, false);
		finding->by_wait = table_new();
		finding->by_name = table_new();
		find_in_states(finding, &out->report);
		put_asked(settings, out->arena, &out->report);
		graph_labels_free(finding->labels);
		table_free(finding->by_wait);
		table_free(finding->by_name);
	}
	free(finding->numbers);
	free(finding);
	return err;
}

int chosen_parts_find(const struct settings *settings, const char *trace_path, const struct fold_rules *fold,
		      struct chosen_parts *out)
{
	struct trace_states all;
	int err;

	if (!settings->filter.words[FILTER_CPU].count && !settings->span_words.count)
		return 0;
	out->is_asked = true;
	out->arena = arena_new();
	err = trace_states_open_for_once(trace_path, settings->opens_files, &all);
	if (!err)
		err = find(settings, &all, fold, out);
	trace_states_close(&all);
	return err;
}

void chosen_parts_fini(struct chosen_parts *parts)
{
	if (parts->arena)
		arena_free(parts->arena);
	*parts = (struct chosen_parts){ 0 };
}

void chosen_parts_fill(const struct chosen_parts *parts, struct report *report)
{
	report->parts = parts->is_asked ? &parts->report : NULL;
}
