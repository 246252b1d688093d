/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/viewer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "graph/graph_label.h"
#include "lanes/alike_json.h"
#include "lanes/lane_activities.h"
#include "lanes/lane_marks.h"
#include "lanes/lanes.h"
#include "lanes/lanes_json.h"
#include "lanes/state_json.h"
#include "lanes/stretch_json.h"
#include "lanes/tile.h"
#include "query/trace_states.h"
#include "query/trace_states_make.h"
#include "serve/answer.h"
#include "serve/event_list.h"
#include "serve/lane_list.h"
#include "serve/part_pages.h"
#include "serve/row_lists.h"
#include "stacks/fold.h"
#include "view/html/html.h"
#include "view/json/json_parts.h"

enum {
	STATUS_BAD_REQUEST = 400,
	STATUS_NOT_FOUND = 404,
	STATUS_UNAVAILABLE = 503,
};

static const uint64_t alike_budget_ns = 300000000;

struct viewer {
	struct viewer_options options;
	struct part_pages *pages;
	struct states_waiter *_Atomic waiter; /* NULL: the history of states is not being made */
	pthread_mutex_t lock;                 /* of all that follows */
	bool is_ready;
	struct fold_rules *fold;
	struct trace_states all;
	struct lanes lanes;
	struct graph_labels *labels;
	struct event_list *events;
	struct lane_marks *marks;
	struct lane_activities *activities;
	struct row_lists *rows;
};

struct viewer *viewer_new(const struct viewer_options *options)
{
	struct viewer *viewer = xcalloc(1, sizeof(*viewer));

	viewer->options = *options;
	viewer->fold = fold_rules_new();
	viewer->pages = part_pages_new(options->path);
	pthread_mutex_init(&viewer->lock, NULL);
	return viewer;
}

void viewer_free(struct viewer *viewer)
{
	if (!viewer)
		return;
	if (viewer->is_ready) {
		row_lists_free(viewer->rows);
		lane_activities_close(viewer->activities);
		lane_marks_close(viewer->marks);
		event_list_free(viewer->events);
		graph_labels_free(viewer->labels);
		lanes_fini(&viewer->lanes);
		trace_states_close(&viewer->all);
	}
	part_pages_free(viewer->pages);
	fold_rules_free(viewer->fold);
	pthread_mutex_destroy(&viewer->lock);
	free(viewer);
}

int viewer_load(struct viewer *viewer, struct states_waiter *waiter)
{
	int err = fold_rules_add_user(viewer->fold);

	viewer->waiter = waiter;
	if (!err)
		err = trace_states_open_waiting(viewer->options.path, viewer->options.opens_files, waiter,
						&viewer->all);
	viewer->waiter = NULL;
	if (err)
		return err;
	lanes_of_trace(&viewer->all, &viewer->lanes);
	err = lane_marks_open(viewer->options.path, &viewer->lanes, &viewer->marks);
	if (!err)
		err = lane_activities_open(viewer->options.path, &viewer->lanes, viewer->options.scripts,
					   viewer->options.script_count, &viewer->activities);
	if (err) {
		lane_marks_close(viewer->marks);
		lanes_fini(&viewer->lanes);
		trace_states_close(&viewer->all);
		return err;
	}
	viewer->labels = trace_states_labels(&viewer->all, viewer->fold, false);
	viewer->events = event_list_new(viewer->options.path, &viewer->all);
	viewer->rows =
		row_lists_new(&(struct row_source){ &viewer->all, &viewer->lanes, viewer->labels, viewer->activities });
	pthread_mutex_lock(&viewer->lock);
	viewer->is_ready = true;
	pthread_mutex_unlock(&viewer->lock);
	return 0;
}

/* --- Answers ------------------------------------------------------------------------------------- */

/* The page itself: it is the same for all traces, but for what it is called. */
static void answer_page(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	struct html *html = html_new();
	struct json json;

	(void)request;
	json_init(&json, html_part(html, "viewer"));
	json_begin_object(&json);
	json_put_string(&json, "name", viewer->options.name);
	json_put_string(&json, "pinch", PINCH_VERSION);
	json_end_object(&json);
	json_fini(&json);
	html_serve(html);
	html_put(html, &reply->body);
	html_free(html);
	reply->type = "text/html; charset=utf-8";
}

static unsigned int percent_of(const struct viewer *viewer)
{
	struct states_waiter *waiter = viewer->waiter;

	return waiter ? waiter->percent : 0;
}

static void put_progress(const struct viewer *viewer, struct text *out)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_put_string(&json, "name", viewer->options.name);
	json_key(&json, "is_ready");
	json_bool(&json, false);
	json_key(&json, "done");
	json_double(&json, percent_of(viewer) / 100.0);
	json_end_object(&json);
	json_fini(&json);
}

static void answer_trace(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	(void)request;
	if (viewer->is_ready)
		lanes_put_json(&reply->body, viewer->options.name, &viewer->all, &viewer->lanes);
	else
		put_progress(viewer, &reply->body);
}

static void answer_tiles(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	uint64_t first_ns = trace_states_time(&viewer->all, 0);
	struct lane_list list;
	int64_t shift, index;

	if (!request_number(request, "shift", TILE_SHIFT_MIN, TILE_SHIFT_MAX, &shift) ||
	    !request_number(request, "index", 0, (INT64_MAX >> (shift + TILE_COLUMNS_SHIFT)) / 2, &index)) {
		reply_fail(reply, STATUS_BAD_REQUEST, "tiles need a shift from %d to %d and an index", TILE_SHIFT_MIN,
			   TILE_SHIFT_MAX);
		return;
	}
	if (!lane_list_read(request, &viewer->lanes, &list)) {
		reply_fail(reply, STATUS_BAD_REQUEST, "tiles need lanes, such as 0-5,9: of %zu, at most %d",
			   viewer->lanes.count, LANES_AT_ONCE_MAX);
		return;
	}
	tiles_put(viewer->all.states, &viewer->lanes, list.ids, list.count, shift, index, tile_origin_ns(first_ns),
		  &reply->body);
	reply->type = "application/octet-stream";
	reply->is_constant = true;
}

/* The thread whose lane a request names. */
static bool find_thread(const struct viewer *viewer, const struct request *request, uint32_t *thread)
{
	const struct lanes *lanes = &viewer->lanes;
	int64_t lane;

	if (!request_number(request, "lane", 0, (int64_t)lanes->count - 1, &lane) ||
	    lanes->list[lane].kind != LANE_THREAD)
		return false;
	*thread = lanes->threads[lanes->list[lane].first_thread].number;
	return true;
}

static void answer_slice(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	uint32_t thread;
	int64_t since_ns;

	if (!find_thread(viewer, request, &thread) || !request_number(request, "time", INT64_MIN, INT64_MAX, &since_ns))
		reply_fail(reply, STATUS_BAD_REQUEST,
			   "a slice needs the lane of a thread, and a time in ns since the first event");
	else if (state_put_json(&reply->body, &viewer->all, &viewer->lanes, viewer->labels, thread,
				trace_states_time(&viewer->all, 0) + since_ns))
		reply_fail(reply, STATUS_NOT_FOUND, "the thread did not live then");
}

static void answer_alike(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	uint64_t first_ns = trace_states_time(&viewer->all, 0);
	struct alike_question question = { .budget_ns = alike_budget_ns };
	int64_t since_ns, from_ns, to_ns;

	if (!find_thread(viewer, request, &question.thread) ||
	    !request_number(request, "time", INT64_MIN, INT64_MAX, &since_ns) ||
	    !request_number(request, "from", INT64_MIN, INT64_MAX, &from_ns) ||
	    !request_number(request, "to", from_ns, INT64_MAX, &to_ns)) {
		reply_fail(reply, STATUS_BAD_REQUEST,
			   "waits that are alike need the lane of a thread, a time, from and to");
		return;
	}
	question.time_ns = first_ns + since_ns;
	question.from_ns = first_ns + from_ns;
	question.to_ns = first_ns + to_ns;
	if (alike_put_json(&reply->body, &viewer->all, &viewer->lanes, viewer->labels, &question))
		reply_fail(reply, STATUS_NOT_FOUND, "the thread did not wait then");
}

static void answer_marks(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	uint64_t first_ns = trace_states_time(&viewer->all, 0);
	struct lane_list list;
	int64_t from_ns, to_ns;

	if (!request_number(request, "from", INT64_MIN, INT64_MAX, &from_ns) ||
	    !request_number(request, "to", from_ns, INT64_MAX, &to_ns) ||
	    !lane_list_read(request, &viewer->lanes, &list))
		reply_fail(reply, STATUS_BAD_REQUEST,
			   "marks need a range of time, from and to, and lanes, such as 0-5,9");
	else
		lane_marks_put_json(viewer->marks, list.ids, list.count, first_ns + from_ns, first_ns + to_ns, first_ns,
				    &reply->body);
}

static void answer_stretch(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	uint64_t first_ns = trace_states_time(&viewer->all, 0);
	struct lane_list list;
	int64_t from_ns, to_ns;

	if (!request_number(request, "from", INT64_MIN, INT64_MAX, &from_ns) ||
	    !request_number(request, "to", from_ns, INT64_MAX, &to_ns) ||
	    !lane_list_read(request, &viewer->lanes, &list))
		reply_fail(reply, STATUS_BAD_REQUEST,
			   "sums of states need a range of time, from and to, and lanes, such as 0-5,9");
	else
		stretch_put_json(&reply->body, &viewer->all, &viewer->lanes, list.ids, list.count, first_ns + from_ns,
				 first_ns + to_ns);
}

static void answer_drawn_activities(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	row_lists_answer_drawn(viewer->rows, request, reply);
}

static void answer_activities(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	row_lists_answer(viewer->rows, ROW_LIST_ACTIVITIES, request, reply);
}

static void answer_activities_at(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	row_lists_answer_at(viewer->rows, ROW_LIST_ACTIVITIES, request, reply);
}

static void answer_waits(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	row_lists_answer(viewer->rows, ROW_LIST_WAITS, request, reply);
}

static void answer_waits_at(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	row_lists_answer_at(viewer->rows, ROW_LIST_WAITS, request, reply);
}

static void answer_spans(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	row_lists_answer(viewer->rows, ROW_LIST_SPANS, request, reply);
}

static void answer_spans_at(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	row_lists_answer_at(viewer->rows, ROW_LIST_SPANS, request, reply);
}

static void answer_events(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	event_list_answer(viewer->events, request, reply);
}

static void answer_events_at(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	event_list_answer_at(viewer->events, request, reply);
}

/* The trace is not looked at in these: it is read by other processes. */
static void answer_report(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	part_pages_report(viewer->pages, request, reply);
}

static void answer_whatif(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	part_pages_whatif(viewer->pages, request, reply);
}

static void answer_save(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	part_pages_save(viewer->pages, request, reply);
}

static const struct route {
	const char *path;
	void (*answer)(struct viewer *viewer, const struct request *request, struct reply *reply);
	bool is_of_trace; /* one at a time */
	bool needs_states;
} routes[] = {
	{ "/", answer_page, false, false },
	{ "/trace", answer_trace, true, false },
	{ "/tiles", answer_tiles, true, true },
	{ "/slice", answer_slice, true, true },
	{ "/alike", answer_alike, true, true },
	{ "/marks", answer_marks, true, true },
	{ "/events", answer_events, true, true },
	{ "/events/at", answer_events_at, true, true },
	{ "/report", answer_report, false, false },
	{ "/whatif", answer_whatif, false, false },
	{ "/save", answer_save, false, false },
	{ "/stretch", answer_stretch, true, true },
	{ "/drawn-activities", answer_drawn_activities, true, true },
	{ "/activities", answer_activities, true, true },
	{ "/activities/at", answer_activities_at, true, true },
	{ "/waits", answer_waits, true, true },
	{ "/waits/at", answer_waits_at, true, true },
	{ "/spans", answer_spans, true, true },
	{ "/spans/at", answer_spans_at, true, true },
};

static void answer_of_trace(struct viewer *viewer, const struct route *route, const struct request *request,
			    struct reply *reply)
{
	pthread_mutex_lock(&viewer->lock);
	if (route->needs_states && !viewer->is_ready)
		reply_fail(reply, STATUS_UNAVAILABLE, "the index of the trace is being made: %u %%",
			   percent_of(viewer));
	else
		route->answer(viewer, request, reply);
	pthread_mutex_unlock(&viewer->lock);
}

void viewer_answer(void *data, const struct request *request, struct reply *reply)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
		if (strcmp(routes[i].path, request->path) != 0)
			continue;
		if (routes[i].is_of_trace)
			answer_of_trace(data, &routes[i], request, reply);
		else
			routes[i].answer(data, request, reply);
		return;
	}
	reply_fail(reply, STATUS_NOT_FOUND, "there is no %s here", request->path);
}
