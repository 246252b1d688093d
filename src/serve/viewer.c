/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/viewer.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "lanes/lanes.h"
#include "lanes/lanes_json.h"
#include "query/trace_states.h"
#include "query/trace_states_make.h"
#include "results/results.h"
#include "serve/answer.h"
#include "serve/event_list.h"
#include "serve/execution_answers.h"
#include "serve/execution_groups.h"
#include "serve/execution_means.h"
#include "serve/fair_lock.h"
#include "serve/lane_answers.h"
#include "serve/page_scripts.h"
#include "serve/part_pages.h"
#include "serve/row_lists.h"
#include "serve/viewed.h"
#include "stacks/fold.h"
#include "states/states.h"
#include "view/html/html.h"
#include "view/json/json_fields.h"
#include "view/json/json_parts.h"

enum {
	STATUS_OK = 200,
	STATUS_NO_CONTENT = 204,
	STATUS_NOT_FOUND = 404,
	STATUS_METHOD = 405,
	STATUS_UNAVAILABLE = 503,
};

struct viewer {
	struct viewer_options options;
	struct part_pages *pages;
	struct execution_groups *groups;
	struct fold_rules *fold;
	struct states_waiter *_Atomic waiter; /* NULL: the history of states is not being made */
	struct fair_lock lock;                /* of all that follows */
	struct viewed *viewed;                /* owned; NULL: nothing is known yet */
	uint64_t first_ns;                    /* since when the page counts times; 0: since the first event */
	struct viewer_progress progress;
};

struct viewer *viewer_new(const struct viewer_options *options)
{
	struct viewer *viewer = xcalloc(1, sizeof(*viewer));

	viewer->options = *options;
	viewer->fold = fold_rules_new();
	viewer->pages = part_pages_new(options->path, options->opens_files);
	viewer->groups = execution_groups_new(options->path, options->opens_files);
	viewer->progress = (struct viewer_progress){ .phase = VIEW_INDEXING, .exit_status = -1 };
	fair_lock_init(&viewer->lock);
	return viewer;
}

void viewer_free(struct viewer *viewer)
{
	if (!viewer)
		return;
	viewed_close(viewer->viewed);
	part_pages_free(viewer->pages);
	execution_groups_free(viewer->groups);
	fold_rules_free(viewer->fold);
	fair_lock_fini(&viewer->lock);
	free(viewer);
}

int viewer_read_rules(struct viewer *viewer)
{
	return fold_rules_add_user(viewer->fold);
}

struct viewed_options viewer_viewed_options(struct viewer *viewer)
{
	uint64_t first_ns;

	fair_lock_take(&viewer->lock);
	first_ns = viewer->first_ns;
	fair_lock_give(&viewer->lock);
	return (struct viewed_options){
		.trace_path = viewer->options.path,
		.lock = &viewer->lock,
		.first_ns = first_ns,
		.fold = viewer->fold,
		.opens_files = viewer->options.opens_files,
		.scripts = viewer->options.scripts,
		.script_count = viewer->options.script_count,
	};
}

void viewer_show(struct viewer *viewer, struct viewed *viewed, const struct viewer_progress *progress)
{
	struct viewed *before;

	fair_lock_take(&viewer->lock);
	before = viewed ? viewer->viewed : NULL;
	if (viewed) {
		viewer->viewed = viewed;
		viewer->first_ns = viewed->all.first_ns;
	}
	viewer->progress = *progress;
	part_pages_set_growing(viewer->pages, progress->phase == VIEW_RECORDING, viewer->first_ns);
	if (before)
		viewed_leave(before);
	fair_lock_give(&viewer->lock);
	viewed_close(before);
}

int viewer_grow(struct viewer *viewer, struct viewed *viewed, const struct viewer_progress *progress)
{
	int err;

	fair_lock_take(&viewer->lock);
	viewed_leave(viewed); /* names of threads are added */
	err = viewed_grow(viewed);
	viewer->progress = *progress;
	fair_lock_give(&viewer->lock);
	return err;
}

bool viewer_has_any(struct viewer *viewer)
{
	bool has_any;

	fair_lock_take(&viewer->lock);
	has_any = viewer->viewed;
	fair_lock_give(&viewer->lock);
	return has_any;
}

struct viewer_progress viewer_progress(struct viewer *viewer)
{
	struct viewer_progress progress;

	fair_lock_take(&viewer->lock);
	progress = viewer->progress;
	fair_lock_give(&viewer->lock);
	return progress;
}

void viewer_set_waiter(struct viewer *viewer, struct states_waiter *waiter)
{
	viewer->waiter = waiter;
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
	if (viewer->options.other_name)
		json_put_string(&json, "other", viewer->options.other_name);
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
	if (viewer->viewed)
		lanes_put_json(&reply->body, viewer->options.name, &viewer->viewed->all, &viewer->viewed->lanes);
	else
		put_progress(viewer, &reply->body);
}

static void answer_now(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	const struct viewer_progress *progress = &viewer->progress;
	const struct viewed *viewed = viewer->viewed;
	uint64_t first_ns = viewed ? trace_states_time(&viewed->all, 0) : 0;
	char key[LANES_KEY_BYTES] = "";

	(void)request;
	if (viewed)
		lanes_put_key(viewed->key, key);
	json_put_document(
		&reply->body, result_now_type(),
		&(struct result_now){
			.phase = progress->phase,
			.key = key,
			.whole_ns = viewed ? (int64_t)(states_end_ns(viewed->all.states) - first_ns) : 0,
			.kept_from_ns = viewed ? (int64_t)(states_begin_ns(viewed->all.states) - first_ns) : 0,
			.is_overwritten = viewed && viewed_begins_later(viewed),
			.done = percent_of(viewer) / 100.0,
			.was_followed = progress->was_followed,
			.trace_bytes = progress->trace_bytes,
			.budget_bytes = progress->budget_bytes,
			.index_bytes = progress->index_bytes,
			.what = viewer->options.what,
			.exit_status = progress->exit_status,
			.has_ended = progress->exit_status >= 0,
			.message = progress->message[0] ? progress->message : NULL,
		});
}

static void answer_drawn_activities(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	row_lists_answer_drawn(viewer->viewed->rows, request, reply);
}

static void answer_execution_choices(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	(void)request;
	execution_answer_choices(viewer->viewed, reply);
}

static void answer_events(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	event_list_answer(viewer->viewed->events, request, reply);
}

static void answer_events_at(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	event_list_answer_at(viewer->viewed->events, request, reply);
}

/* The trace is not looked at in these: it is read by other processes. */
static void answer_report(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	part_pages_report(viewer->pages, request, reply);
}

static void answer_execution_report(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	part_pages_compare_executions(viewer->pages, request, reply);
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
	{ "/executions", answer_page, false, false },
	{ "/trace", answer_trace, true, false },
	{ "/now", answer_now, true, false },
	{ "/events", answer_events, true, true },
	{ "/events/at", answer_events_at, true, true },
	{ "/report", answer_report, false, false },
	{ "/whatif", answer_whatif, false, false },
	{ "/save", answer_save, false, false },
	{ "/drawn-activities", answer_drawn_activities, true, true },
	{ "/executions/choices", answer_execution_choices, true, true },
	{ "/executions/report", answer_execution_report, false, false },
};

static const struct lane_route {
	const char *path;
	void (*answer)(struct viewed *viewed, const struct request *request, struct reply *reply);
} lane_routes[] = {
	{ "/tiles", lane_answer_tiles }, { "/slice", lane_answer_slice },     { "/alike", lane_answer_alike },
	{ "/marks", lane_answer_marks }, { "/stretch", lane_answer_stretch },
};

static const struct execution_route {
	const char *path;
	void (*answer)(struct execution_grouping *grouping, const struct viewed *viewed, const struct request *request,
		       struct reply *reply);
	bool waits; /* for what is made for another reader; else the answer is that it is not ready */
} execution_routes[] = {
	{ "/executions/list", execution_answer_list, false },
	{ "/executions/drawn", execution_answer_drawn, true },
	{ "/executions/tiles", execution_answer_tiles, true },
	{ "/executions/slice", execution_answer_slice, true },
	{ "/executions/means", execution_answer_means, true },
	{ "/executions/stretch", execution_answer_stretch, true },
};

static const struct list_route {
	const char *path;
	enum row_list_kind kind;
	void (*answer)(struct row_lists *lists, enum row_list_kind kind, const struct request *request,
		       struct reply *reply);
} list_routes[] = {
	{ "/activities", ROW_LIST_ACTIVITIES, row_lists_answer },
	{ "/activities/at", ROW_LIST_ACTIVITIES, row_lists_answer_at },
	{ "/waits", ROW_LIST_WAITS, row_lists_answer },
	{ "/waits/at", ROW_LIST_WAITS, row_lists_answer_at },
	{ "/waits/lengths", ROW_LIST_WAITS, row_lists_answer_lengths },
	{ "/spans", ROW_LIST_SPANS, row_lists_answer },
	{ "/spans/at", ROW_LIST_SPANS, row_lists_answer_at },
};

static const struct script_route {
	const char *path;
	bool is_post;
	void (*answer)(struct page_scripts *scripts, const struct request *request, struct reply *reply);
} script_routes[] = {
	{ "/scripts", true, page_scripts_start },
	{ "/scripts", false, page_scripts_answer },
	{ "/statistics", false, page_scripts_answer_statistics },
	{ "/scripts/stop", true, page_scripts_stop },
};

/* Locks. Where the history is needed and there is none, the reply says so and nothing is locked. */
static bool begin_of_trace(struct viewer *viewer, bool needs_states, const struct request *request, struct reply *reply)
{
	fair_lock_take(&viewer->lock);
	if (needs_states && !viewer->viewed)
		reply_fail(reply, STATUS_UNAVAILABLE, "the index of the trace is being made: %u %%",
			   percent_of(viewer));
	else if (needs_states && lane_answers_are_of_others(viewer->viewed, request))
		reply->status = STATUS_NO_CONTENT; /* nothing went wrong: browsers would say so of an error */
	else
		return true;
	fair_lock_give(&viewer->lock);
	return false;
}

static void answer_route(struct viewer *viewer, const struct route *route, const struct request *request,
			 struct reply *reply)
{
	if (!route->is_of_trace) {
		route->answer(viewer, request, reply);
	} else if (begin_of_trace(viewer, route->needs_states, request, reply)) {
		route->answer(viewer, request, reply);
		fair_lock_give(&viewer->lock);
	}
}

static void answer_lanes(struct viewer *viewer, const struct lane_route *route, const struct request *request,
			 struct reply *reply)
{
	if (!begin_of_trace(viewer, true, request, reply))
		return;
	route->answer(viewer->viewed, request, reply);
	fair_lock_give(&viewer->lock);
}

static void answer_list(struct viewer *viewer, const struct list_route *route, const struct request *request,
			struct reply *reply)
{
	if (!begin_of_trace(viewer, true, request, reply))
		return;
	route->answer(viewer->viewed->rows, route->kind, request, reply);
	fair_lock_give(&viewer->lock);
}

static bool is_whole(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	bool is_growing;

	if (!begin_of_trace(viewer, true, request, reply))
		return false;
	is_growing = viewer->viewed->is_growing;
	fair_lock_give(&viewer->lock);
	if (is_growing)
		reply_fail(reply, STATUS_UNAVAILABLE,
			   "executions are compared when the trace is whole: it is recorded");
	return !is_growing;
}

/* They are grouped while others look at the trace. */
static void answer_executions(struct viewer *viewer, const struct execution_route *route, const struct request *request,
			      struct reply *reply)
{
	struct execution_grouping *grouping;

	if (!is_whole(viewer, request, reply))
		return;
	grouping = execution_groups_take(viewer->groups, request, route->waits, reply);
	if (!grouping && reply->status == STATUS_OK)
		text_put(&reply->body, "{\"is_ready\":false}");
	if (!grouping)
		return;
	if (begin_of_trace(viewer, true, request, reply)) {
		route->answer(grouping, viewer->viewed, request, reply);
		fair_lock_give(&viewer->lock);
	}
	execution_groups_release(viewer->groups, grouping);
}

static bool answer_script(struct viewer *viewer, const struct request *request, struct reply *reply)
{
	for (size_t i = 0; i < sizeof(script_routes) / sizeof(*script_routes); i++) {
		const struct script_route *route = &script_routes[i];

		if (strcmp(route->path, request->path) != 0 || route->is_post != request->is_post)
			continue;
		if (begin_of_trace(viewer, true, request, reply)) {
			route->answer(viewer->viewed->scripts, request, reply);
			fair_lock_give(&viewer->lock);
		}
		return true;
	}
	return false;
}

void viewer_answer(void *data, const struct request *request, struct reply *reply)
{
	if (answer_script(data, request, reply))
		return;
	if (request->is_post) {
		reply_fail(reply, STATUS_METHOD, "%s is for reading: GET", request->path);
		return;
	}
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++)
		if (!strcmp(routes[i].path, request->path)) {
			answer_route(data, &routes[i], request, reply);
			return;
		}
	for (size_t i = 0; i < sizeof(lane_routes) / sizeof(*lane_routes); i++)
		if (!strcmp(lane_routes[i].path, request->path)) {
			answer_lanes(data, &lane_routes[i], request, reply);
			return;
		}
	for (size_t i = 0; i < sizeof(list_routes) / sizeof(*list_routes); i++)
		if (!strcmp(list_routes[i].path, request->path)) {
			answer_list(data, &list_routes[i], request, reply);
			return;
		}
	for (size_t i = 0; i < sizeof(execution_routes) / sizeof(*execution_routes); i++)
		if (!strcmp(execution_routes[i].path, request->path)) {
			answer_executions(data, &execution_routes[i], request, reply);
			return;
		}
	reply_fail(reply, STATUS_NOT_FOUND, "there is no %s here", request->path);
}
