/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "spans/execution_log.h"
#include "spans/features.h"
#include "view/json/json_parts.h"
#include "view/trace/spans_view.h"

static void put_quantiles(struct json *json, const struct spans_view *view, uint32_t number)
{
	static const struct {
		const char *key;
		unsigned int per_mille;
	} quantiles[] = {
		{ "p50_ns", 500 },
		{ "p90_ns", 900 },
		{ "p99_ns", 990 },
		{ "max_ns", 1000 },
	};
	size_t count;
	uint64_t *durations = span_durations(view, number, &count);

	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++)
		json_put_uint(json, quantiles[i].key, span_quantile_ns(durations, count, quantiles[i].per_mille));
	free(durations);
}

static void put_span(struct json *json, const struct spans_view *view, uint32_t number)
{
	const struct span *span = view->spans[number];

	json_begin_object(json);
	json_put_string(json, "name", span->name);
	json_put_string(json, "spec", span->spec);
	json_put_string(json, "kind", span->kind == SPAN_OF_FUNCTION ? "function" : "calls");
	json_put_uint(json, "executions", span->count);
	put_quantiles(json, view, number);
	json_put_uint(json, "ends_alone", span->ends_alone);
	json_put_uint(json, "begun_anew", span->begun_anew);
	json_put_uint(json, "left", span->left);
	json_put_uint(json, "died", span->died);
	json_put_uint(json, "unfinished", span->unfinished);
	json_put_uint(json, "in_gaps", span->in_gaps);
	json_put_uint(json, "dropped", span->dropped);
	json_end_object(json);
}

static void put_states(struct json *json, const struct features *features)
{
	json_key(json, "states");
	json_begin_object(json);
	for (unsigned int share = 0; share < SHARES; share++) {
		if (!features->count[share])
			continue;
		json_key(json, span_share_name(share));
		json_begin_object(json);
		json_put_uint(json, "ns", features->ns[share]);
		json_put_uint(json, "count", features->count[share]);
		json_end_object(json);
	}
	json_end_object(json);
}

static void put_row(struct json *json, const struct spans_view *view, const struct span_row *row)
{
	const struct execution *execution = row->execution;
	const struct features *features = row->features;
	struct graph_node whose = { .kind = GRAPH_THREAD, .id = execution->thread };

	json_on_one_line(json);
	json_begin_object(json);
	json_put_string(json, "span", view->spans[execution->span]->name);
	json_put_uint(json, "number", row->number);
	json_put_uint(json, "thread", execution->thread);
	json_put_string(json, "who", graph_label(view->labels, &whose));
	json_put_uint(json, "begin_ns", execution->begin_ns);
	json_put_uint(json, "end_ns", execution->end_ns);
	json_put_uint(json, "duration_ns", features->duration_ns);
	json_put_uint(json, "depth", execution->depth);
	json_key(json, "has_gap");
	json_bool(json, row->has_gap);
	put_states(json, features);
	json_put_uint(json, "transfers", features->transfers);
	json_put_uint(json, "read_bytes", features->read_bytes);
	json_put_uint(json, "written_bytes", features->written_bytes);
	json_put_uint(json, "faults", features->faults);
	json_put_uint(json, "io_count", features->io_count);
	json_put_uint(json, "io_bytes", features->io_bytes);
	json_put_uint(json, "wakes", features->wakes);
	json_put_uint(json, "interrupts", features->interrupts);
	json_put_uint(json, "softirqs", features->softirqs);
	json_put_uint(json, "block_count", features->block_count);
	json_put_uint(json, "block_bytes", features->block_bytes);
	json_end_object(json);
}

void spans_put_json(struct text *out, const struct spans_view *view)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_put_uint(&json, "first_ns", view->first_ns);
	json_key(&json, "spans");
	json_begin_array(&json);
	for (uint32_t span = 0; span < SPANS_MAX; span++)
		if (view->spans[span])
			put_span(&json, view, span);
	json_end_array(&json);
	json_key(&json, "executions");
	json_begin_array(&json);
	for (size_t i = 0; i < view->count; i++)
		put_row(&json, view, &view->rows[i]);
	json_end_array(&json);
	json_end_object(&json);
	json_fini(&json);
}
