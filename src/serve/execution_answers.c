/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/execution_answers.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "compare/figures.h"
#include "lanes/aligned_tile.h"
#include "lanes/lanes_json.h"
#include "lanes/state_json.h"
#include "lanes/tile.h"
#include "query/trace_states.h"
#include "results/results.h"
#include "serve/answer.h"
#include "serve/drawn_together.h"
#include "serve/execution_grouping.h"
#include "serve/lane_list.h"
#include "serve/viewed.h"
#include "spans/execution_log.h"
#include "spans/features.h"
#include "view/json/json_fields.h"
#include "view/json/json_parts.h"
#include "waits/wait_cause.h"

enum { STATUS_BAD_REQUEST = 400, STATUS_NOT_FOUND = 404 };

/* So long one answer keeps the others waiting. */
static const uint64_t STEP_NS = 50000000;

/* --- What there is to choose from ---------------------------------------------------------------- */

static void put_spans(struct json *json, const struct execution_log *executions)
{
	json_key(json, "spans");
	json_begin_array(json);
	for (uint32_t i = 0; i < SPANS_MAX; i++) {
		const struct span *span = execution_log_span(executions, i);

		if (!span)
			continue;
		json_begin_object(json);
		json_put_string(json, "name", span->name);
		json_put_uint(json, "count", span->count);
		json_end_object(json);
	}
	json_end_array(json);
}

void execution_answer_choices(const struct viewed *viewed, struct reply *reply)
{
	struct text name = { 0 };
	struct json json;

	json_init(&json, &reply->body);
	json_begin_object(&json);
	put_spans(&json, viewed->all.executions);
	json_key(&json, "causes");
	json_begin_array(&json);
	for (unsigned int cause = 0; cause < CAUSES; cause++)
		json_string(&json, wait_cause_name(cause));
	json_end_array(&json);
	json_key(&json, "figures");
	json_begin_array(&json);
	for (unsigned int figure = 0; figure < FIGURES; figure++) {
		name.length = 0;
		figure_put_name(&name, figure);
		json_string(&json, name.bytes);
	}
	json_end_array(&json);
	json_end_object(&json);
	json_fini(&json);
	text_fini(&name);
}

/* --- Which executions there are ------------------------------------------------------------------ */

static void put_executions(struct json *json, const struct execution_grouping *grouping)
{
	const struct executions *executions = &grouping->executions;

	json_key(json, "threads");
	json_begin_array(json);
	for (size_t i = 0; i < executions->count; i++)
		json_uint(json, executions->list[i].thread);
	json_end_array(json);
	json_key(json, "begins_ns");
	json_begin_array(json);
	for (size_t i = 0; i < executions->count; i++)
		json_int(json, executions->list[i].begin_ns);
	json_end_array(json);
	json_key(json, "lengths_ns");
	json_begin_array(json);
	for (size_t i = 0; i < executions->count; i++)
		json_uint(json, executions->list[i].end_ns - executions->list[i].begin_ns);
	json_end_array(json);
	json_key(json, "groups");
	json_begin_array(json);
	for (size_t i = 0; i < executions->count; i++)
		json_uint(json, grouping->group_of[i]);
	json_end_array(json);
}

/* That of the outliers comes first. */
static void put_sums(struct json *json, const struct execution_grouping *grouping)
{
	json_key(json, "sums");
	json_begin_array(json);
	for (unsigned int i = 0; i <= grouping->count; i++) {
		json_begin_array(json);
		for (unsigned int share = 0; share < SHARES; share++)
			json_uint(json, grouping->groups[i].ns[share]);
		json_end_array(json);
	}
	json_end_array(json);
}

void execution_answer_list(struct execution_grouping *grouping, const struct viewed *viewed,
			   const struct request *request, struct reply *reply)
{
	struct json json;

	(void)viewed, (void)request;
	json_init(&json, &reply->body);
	json_on_one_line(&json);
	json_begin_object(&json);
	json_key(&json, "is_ready");
	json_bool(&json, true);
	json_put_uint(&json, "count", grouping->count);
	json_put_uint(&json, "drawn_max", DRAWN_ROWS_MAX);
	put_sums(&json, grouping);
	put_executions(&json, grouping);
	json_end_object(&json);
	json_fini(&json);
}

/* --- Lanes --------------------------------------------------------------------------------------- */

/* NULL: the reply says so. */
static struct execution_group *find_group(struct execution_grouping *grouping, const struct request *request,
					  struct reply *reply)
{
	int64_t number;

	if (request_number(request, "group", 0, grouping->count, &number))
		return &grouping->groups[number];
	reply_fail(reply, STATUS_BAD_REQUEST, "executions are of a group: group is its number, from 0 to %u",
		   grouping->count);
	return NULL;
}

/* A lane's executions: all that are drawn together, or one, whose parts are then to be freed. */
struct lane_rows {
	const struct aligned_row *list;
	size_t count;
	struct aligned_row one;
	struct execution_parts parts;
};

static void find_rows(const struct execution_grouping *grouping, struct execution_group *group, uint32_t lane,
		      const struct viewed *viewed, struct lane_rows *out)
{
	struct execution execution;

	*out = (struct lane_rows){ 0 };
	if (!lane) {
		out->list = drawn_together_rows(grouping, group, viewed, &out->count);
		return;
	}
	execution = execution_grouping_at(grouping, group->members[lane - 1], trace_states_time(&viewed->all, 0));
	execution_parts_add(viewed->all.states, &execution, 0, &out->parts);
	out->one = (struct aligned_row){ execution.begin_ns, NULL, 0, out->parts.list, out->parts.count };
	out->list = &out->one;
	out->count = 1;
}

void execution_answer_drawn(struct execution_grouping *grouping, const struct viewed *viewed,
			    const struct request *request, struct reply *reply)
{
	struct execution_group *group = find_group(grouping, request, reply);
	struct json json;
	double done;

	if (!group)
		return;
	done = drawn_together_step(grouping, group, viewed, clock_ns() + STEP_NS);
	json_init(&json, &reply->body);
	json_begin_object(&json);
	json_key(&json, "is_ready");
	json_bool(&json, done >= 1);
	json_key(&json, "done");
	json_double(&json, done);
	json_end_object(&json);
	json_fini(&json);
}

void execution_answer_tiles(struct execution_grouping *grouping, const struct viewed *viewed,
			    const struct request *request, struct reply *reply)
{
	struct execution_group *group = find_group(grouping, request, reply);
	struct lane_list list;
	int64_t shift, index;

	if (!group)
		return;
	if (!request_number(request, "shift", TILE_SHIFT_MIN, TILE_SHIFT_MAX, &shift) ||
	    !request_number(request, "index", 0, (INT64_MAX >> (shift + TILE_COLUMNS_SHIFT)) / 2, &index) ||
	    !lane_list_read_below(request, group->count + 1, &list)) {
		reply_fail(reply, STATUS_BAD_REQUEST,
			   "tiles need a shift from %d to %d, an index, and lanes, such as 0-5,9: of %zu, at most %d",
			   TILE_SHIFT_MIN, TILE_SHIFT_MAX, group->count + 1, LANES_AT_ONCE_MAX);
		return;
	}
	for (size_t i = 0; i < list.count; i++) {
		struct lane_rows rows;

		find_rows(grouping, group, list.ids[i], viewed, &rows);
		aligned_tile_put(viewed->all.states, rows.list, rows.count, shift, index, &reply->body);
		free(rows.parts.list);
	}
	reply->type = "application/octet-stream";
	reply->is_constant = true;
}

static void put_stretch(const struct execution_grouping *grouping, struct execution_group *group,
			const struct viewed *viewed, const struct lane_list *list, uint64_t from_ns, uint64_t to_ns,
			struct text *out)
{
	struct result_lane_shares *results = xcalloc(list->count + 1, sizeof(*results));
	uint64_t(*ns)[SHARES] = xcalloc(list->count + 1, sizeof(*ns));

	for (size_t i = 0; i < list->count; i++) {
		struct lane_rows rows;

		find_rows(grouping, group, list->ids[i], viewed, &rows);
		for (size_t j = 0; j < rows.count; j++)
			aligned_add_shares(viewed->all.states, &rows.list[j], from_ns, to_ns, ns[i]);
		free(rows.parts.list);
		results[i] = (struct result_lane_shares){ .lane = list->ids[i], .ns = ns[i], .ns_count = SHARES };
	}
	json_put_document(out, result_stretch_type(),
			  &(struct result_stretch){
				  .from_ns = from_ns, .to_ns = to_ns, .lanes = results, .lane_count = list->count });
	free(results);
	free(ns);
}

void execution_answer_stretch(struct execution_grouping *grouping, const struct viewed *viewed,
			      const struct request *request, struct reply *reply)
{
	struct execution_group *group = find_group(grouping, request, reply);
	struct lane_list list;
	int64_t from_ns, to_ns;

	if (!group)
		return;
	if (!request_number(request, "from", 0, INT64_MAX / 2, &from_ns) ||
	    !request_number(request, "to", from_ns, INT64_MAX / 2, &to_ns) ||
	    !lane_list_read_below(request, group->count + 1, &list))
		reply_fail(reply, STATUS_BAD_REQUEST,
			   "sums of states need a range of time since the beginning, from and to, and lanes, such as "
			   "0-5,9: of %zu",
			   group->count + 1);
	else
		put_stretch(grouping, group, viewed, &list, from_ns, to_ns, &reply->body);
}

/* The thread that was part of the execution then; 0: none. */
static uint32_t thread_at(const struct viewed *viewed, const struct execution *execution, uint64_t time_ns)
{
	struct execution_parts parts = { 0 };
	uint32_t thread = 0;

	execution_parts_add(viewed->all.states, execution, 0, &parts);
	for (size_t i = 0; i < parts.count; i++)
		if (parts.list[i].begin_ns <= time_ns && time_ns < parts.list[i].end_ns)
			thread = parts.list[i].thread;
	free(parts.list);
	return thread;
}

void execution_answer_slice(struct execution_grouping *grouping, const struct viewed *viewed,
			    const struct request *request, struct reply *reply)
{
	struct execution_group *group = find_group(grouping, request, reply);
	struct execution execution;
	int64_t lane, since_ns;
	uint32_t thread;

	if (!group)
		return;
	if (!request_number(request, "lane", 1, group->count, &lane) ||
	    !request_number(request, "time", 0, INT64_MAX / 2, &since_ns)) {
		reply_fail(reply, STATUS_BAD_REQUEST,
			   "a slice needs the lane of an execution, and a time in ns since that begins");
		return;
	}
	execution = execution_grouping_at(grouping, group->members[lane - 1], trace_states_time(&viewed->all, 0));
	thread = thread_at(viewed, &execution, execution.begin_ns + since_ns);
	if (!thread || state_put_json(&reply->body, &viewed->all, &viewed->lanes, viewed->labels, thread,
				      execution.begin_ns + since_ns))
		reply_fail(reply, STATUS_NOT_FOUND, "the execution had ended by then");
}
