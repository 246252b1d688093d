/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/compare_source.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "graph/graph_label.h"
#include "options/settings.h"
#include "query/span_choice.h"
#include "query/trace_samples.h"
#include "spans/cycles.h"
#include "spans/execution_log.h"
#include "states/states.h"

/* Of more executions than that, as many are examined, evenly apart in time. */
enum { EXECUTIONS_MAX = 200000 };

static bool is_chosen(const struct compare_source *source, const struct settings *settings, uint32_t thread)
{
	if (!settings->threads.count)
		return true;
	for (size_t i = 0; i < source->chosen.count; i++)
		if (source->chosen.numbers[i] == thread)
			return true;
	return false;
}

/* The span that is compared, or -1: there is none; -ENOENT after having said what there is. */
static int find_span(const struct compare_source *source, const struct settings *settings)
{
	const struct trace_states *all = &source->all;
	int found = -1;

	if (settings->compare.span)
		return span_find(all, source->path, settings->compare.span);
	for (int i = 0; i < SPANS_MAX; i++) {
		if (!execution_log_span(all->executions, i))
			continue;
		if (found >= 0)
			return fail_plain(-ENOENT,
					  "%s has several spans: choose one with --span; pinch spans lists them",
					  source->path);
		found = i;
	}
	return found;
}

/* Those that lie in no other one of the span. */
static void take_executions(struct compare_source *source, uint32_t span, const struct settings *settings)
{
	const struct executions *all = execution_log_all(source->all.executions);
	uint64_t from_ns = trace_states_time(&source->all, settings->range.from_ns);
	uint64_t to_ns = trace_states_time(&source->all, settings->range.to_ns);
	size_t step = 1 + all->count / EXECUTIONS_MAX;

	source->executions.list = xcalloc(all->count + 1, sizeof(*all->list));
	for (size_t i = 0; i < all->count; i += step) {
		const struct execution *execution = &all->list[i];

		if (execution->span == span && !execution->depth && execution->begin_ns >= from_ns &&
		    execution->end_ns <= to_ns && is_chosen(source, settings, execution->thread))
			source->executions.list[source->executions.count++] = *execution;
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct execution *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* 0, or -ENOENT after a message. */
static int take_cycles(struct compare_source *source, const struct settings *settings)
{
	struct executions *cycles = &source->executions;
	struct states_question question = {
		.threads = source->chosen.numbers,
		.count = source->chosen.count,
		.from_ns = trace_states_time(&source->all, settings->range.from_ns),
		.to_ns = trace_states_time(&source->all, settings->range.to_ns),
	};
	size_t step, kept = 0;

	cycles_add(source->all.states, &question, settings->compare.cycle, cycles);
	if (!cycles->count)
		return fail_plain(-ENOENT, "no thread of %s waits twice for %s: pinch report says what they wait for",
				  source->path, wait_cause_name(settings->compare.cycle));
	qsort(cycles->list, cycles->count, sizeof(*cycles->list), by_begin);
	step = 1 + cycles->count / EXECUTIONS_MAX;
	for (size_t i = 0; i < cycles->count; i += step)
		cycles->list[kept++] = cycles->list[i];
	cycles->count = kept;
	return 0;
}

static bool is_whole(const struct trace_states *all, const struct settings *settings)
{
	return all->has_ended && !settings->range.from_ns && settings->range.to_ns == UINT64_MAX;
}

int compare_source_open(struct compare_source *source, const char *path, const struct settings *settings,
			const struct fold_rules *fold)
{
	int err = trace_states_open(path, settings->opens_files, settings->own_span, &source->all), span;

	if (err)
		return err;
	source->path = path;
	source->is_whole = is_whole(&source->all, settings);
	source->trace.states = source->all.states;
	source->trace.labels = trace_states_labels(&source->all, fold, true);
	graph_labels_omit_details(source->trace.labels);
	err = chosen_threads_find(settings, path, &source->all, &source->chosen);
	if (err)
		return err;
	if (settings->compare.has_cycle)
		return take_cycles(source, settings);
	span = find_span(source, settings);
	if (span >= 0)
		take_executions(source, span, settings);
	return span == -ENOENT ? span : 0;
}

void compare_source_learn_places(struct compare_source *source)
{
	graph_labels_learn_places(source->trace.labels, source->all.states);
}

void compare_source_close(struct compare_source *source)
{
	if (!source->path)
		return;
	free(source->name);
	free(source->executions.list);
	run_code_fini(&source->samples);
	chosen_threads_fini(&source->chosen);
	graph_labels_free(source->trace.labels);
	trace_states_close(&source->all);
	*source = (struct compare_source){ 0 };
}

const struct run_code *compare_source_samples(struct compare_source *source)
{
	if (!source->has_samples) {
		trace_samples_read(&source->all, &source->samples);
		run_code_name(&source->samples, source->trace.labels);
	}
	source->has_samples = true;
	return &source->samples;
}

const char *compare_source_thread(const struct compare_source *source, uint32_t thread)
{
	const struct graph_node node = { .kind = GRAPH_THREAD, .id = thread };

	return graph_label(source->trace.labels, &node);
}
