/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "graph/graph_label.h"
#include "results/results.h"
#include "spans/execution_log.h"
#include "spans/features.h"
#include "view/json/json_fields.h"
#include "view/trace/spans_view.h"

static struct result_span result_of_span(const struct spans_view *view, uint32_t number)
{
	const struct span *span = view->spans[number];
	size_t count;
	uint64_t *durations = span_durations(view, number, &count);
	struct result_span result = {
		.name = span->name,
		.spec = span->spec,
		.kind = span->kind,
		.executions = span->count,
		.p50_ns = span_quantile_ns(durations, count, 500),
		.p90_ns = span_quantile_ns(durations, count, 900),
		.p99_ns = span_quantile_ns(durations, count, 990),
		.max_ns = span_quantile_ns(durations, count, 1000),
		.ends_alone = span->ends_alone,
		.begun_anew = span->begun_anew,
		.left = span->left,
		.died = span->died,
		.unfinished = span->unfinished,
		.in_gaps = span->in_gaps,
		.dropped = span->dropped,
	};

	free(durations);
	return result;
}

/* Those that occurred. */
static const struct result_state_time *results_of_states(const struct features *features, struct arena *arena,
							 size_t *count)
{
	struct result_state_time states[SHARES], *results;

	*count = 0;
	for (unsigned int share = 0; share < SHARES; share++)
		if (features->count[share])
			states[(*count)++] = (struct result_state_time){
				.state = span_share_name(share),
				.ns = features->ns[share],
				.count = features->count[share],
			};
	results = arena_alloc(arena, *count * sizeof(*results));
	memcpy(results, states, *count * sizeof(*results));
	return results;
}

static struct result_execution result_of_execution(const struct spans_view *view, const struct span_row *row)
{
	const struct execution *execution = row->execution;
	const struct features *features = row->features;

	return (struct result_execution){
		.span = view->spans[execution->span]->name,
		.number = row->number,
		.thread = execution->thread,
		.who = graph_label(view->labels, &(struct graph_node){ .kind = GRAPH_THREAD, .id = execution->thread }),
		.begin_thread = execution->begin_thread,
		.begin_who = graph_label(view->labels,
					 &(struct graph_node){ .kind = GRAPH_THREAD, .id = execution->begin_thread }),
		.begin_ns = execution->begin_ns,
		.end_ns = execution->end_ns,
		.duration_ns = features->duration_ns,
		.depth = execution->depth,
		.has_gap = row->has_gap,
		.transfers = features->transfers,
		.read_bytes = features->read_bytes,
		.written_bytes = features->written_bytes,
		.faults = features->faults,
		.io_count = features->io_count,
		.io_bytes = features->io_bytes,
		.wakes = features->wakes,
		.interrupts = features->interrupts,
		.softirqs = features->softirqs,
		.block_count = features->block_count,
		.block_bytes = features->block_bytes,
	};
}

static const struct result_execution *results_of_executions(const struct spans_view *view, struct arena *arena)
{
	struct result_execution *results = arena_alloc(arena, view->count * sizeof(*results));

	for (size_t i = 0; i < view->count; i++) {
		results[i] = result_of_execution(view, &view->rows[i]);
		results[i].states = results_of_states(view->rows[i].features, arena, &results[i].state_count);
	}
	return results;
}

void spans_put_json(struct text *out, const struct spans_view *view)
{
	struct arena *arena = arena_new();
	struct result_span spans[SPANS_MAX];
	struct result_spans result = {
		.first_ns = view->first_ns,
		.spans = spans,
		.executions = results_of_executions(view, arena),
		.execution_count = view->count,
	};

	for (uint32_t span = 0; span < SPANS_MAX; span++)
		if (view->spans[span])
			spans[result.span_count++] = result_of_span(view, span);
	json_put_document(out, result_spans_type(), &result);
	arena_free(arena);
}
