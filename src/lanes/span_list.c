/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/span_list.h"

#include <stdbool.h>
#include <string.h>

#include "base/bound.h"
#include "base/json.h"
#include "base/text.h"
#include "lanes/lane_filter.h"
#include "lanes/row_order.h"
#include "query/trace_states.h"
#include "spans/execution_log.h"
#include "view/json/json_parts.h"

static const char *name_of(const struct trace_states *all, const struct execution *execution)
{
	const struct span *span = execution_log_span(all->executions, execution->span);

	return span && span->name ? span->name : "";
}

static bool passes(const struct trace_states *all, const struct lane_filter *filter, const struct execution *execution)
{
	return lane_filter_has_time(filter, execution->begin_ns, execution->end_ns) &&
	       lane_filter_has_thread(filter, execution->begin_thread, execution->thread) &&
	       (!filter->search[0] || strcasestr(name_of(all, execution), filter->search));
}

/* What it did, as far as that was counted. */
static void put_words(struct json *json, const struct execution *execution)
{
	struct text words = { 0 };

	text_printf(&words, "transfers=%llu read_bytes=%llu written_bytes=%llu faults=%llu depth=%u",
		    (unsigned long long)execution->transfers, (unsigned long long)execution->read_bytes,
		    (unsigned long long)execution->written_bytes, (unsigned long long)execution->faults,
		    execution->depth);
	json_put_string(json, "text", words.bytes);
	text_fini(&words);
}

static void put_row(const struct trace_states *all, struct json *json, const struct execution *execution, size_t row)
{
	uint64_t first_ns = trace_states_time(all, 0);

	json_on_one_line(json);
	json_begin_object(json);
	json_put_uint(json, "row", row);
	json_key(json, "time_ns");
	json_int(json, (int64_t)(execution->begin_ns - first_ns));
	json_key(json, "end_ns");
	json_int(json, (int64_t)(execution->end_ns - first_ns));
	json_put_uint(json, "thread", execution->begin_thread);
	json_put_uint(json, "end_thread", execution->thread);
	json_put_string(json, "name", name_of(all, execution));
	put_words(json, execution);
	json_end_object(json);
}

static void find_rows(const struct trace_states *all, const struct lane_filter *filter, struct row_order *rows)
{
	const struct executions *executions = execution_log_all(all->executions);

	for (size_t i = 0; i < executions->count; i++)
		if (passes(all, filter, &executions->list[i]))
			row_order_add(rows, i, executions->list[i].end_ns - executions->list[i].begin_ns);
	if (filter->longest_first)
		row_order_sort(rows);
}

void span_list_put_rows(const struct trace_states *all, const struct lane_filter *filter, size_t row, size_t count,
			struct text *out)
{
	const struct executions *executions = execution_log_all(all->executions);
	struct row_order rows = { 0 };
	struct json json;

	find_rows(all, filter, &rows);
	json_init(&json, out);
	json_begin_object(&json);
	json_put_uint(&json, "first", row);
	json_key(&json, "events");
	json_begin_array(&json);
	for (size_t i = row; i < rows.count && i - row < count; i++)
		put_row(all, &json, &executions->list[rows.list[i].at], i);
	json_end_array(&json);
	json_put_uint(&json, "rows", rows.count);
	json_key(&json, "is_counted");
	json_bool(&json, true);
	json_put_uint(&json, "left_out", 0);
	json_end_object(&json);
	json_fini(&json);
	row_order_fini(&rows);
}

size_t span_list_row_at(const struct trace_states *all, const struct lane_filter *filter, uint64_t time_ns)
{
	const struct executions *executions = execution_log_all(all->executions);
	struct row_order rows = { 0 };
	size_t first = BOUND(0, executions->count, i, executions->list[i].begin_ns < time_ns), row;

	while (first < executions->count && !passes(all, filter, &executions->list[first]))
		first++;
	find_rows(all, filter, &rows);
	row = row_order_row_of(&rows, first);
	row_order_fini(&rows);
	return row;
}
