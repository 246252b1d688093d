/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/event_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "activity/script_language.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "lanes/part_choice.h"
#include "lanes/part_filter.h"
#include "query/trace_states.h"
#include "report/report_frame.h"
#include "rows/event_row.h"
#include "rows/event_rows.h"
#include "serve/answer.h"
#include "serve/asked_filter.h"
#include "serve/page_scripts.h"
#include "serve/part_choices.h"
#include "serve/turn.h"
#include "view/json/json_parts.h"

enum {
	KEPT = 4,
	ROWS_AT_ONCE_MAX = 1000,
	PLACE_FRAMES_MAX = 12,
	WORD_BYTES = 256,
	STATUS_BAD_REQUEST = 400,
	STATUS_INTERNAL = 500,
	STATUS_UNAVAILABLE = 503
};

static const uint64_t counting_ns = 20000000;  /* for each request */
static const uint64_t renewed_ns = 2000000000; /* a list of a trace that grows is that old at least */

/* Rows that the same filter chooses. */
struct kept {
	char *key;               /* NULL: there are none */
	struct event_rows *rows; /* NULL: the filter names nobody */
	uint64_t used;
	uint64_t opened_ns;
	bool is_short;                  /* the trace has grown since */
	struct part_choice *executions; /* whose events they are; NULL: any */
	bool is_busy;                   /* somebody counts it, away from the lock */
};

struct event_list {
	const char *trace_path;
	const struct trace_states *states;
	struct graph_labels *labels;
	struct page_scripts *scripts;
	struct turn *turn;
	uint64_t uses;
	struct kept kept[KEPT];
};

struct event_list *event_list_new(const char *trace_path, const struct trace_states *states,
				  struct graph_labels *labels, struct page_scripts *scripts, struct turn *turn)
{
	struct event_list *list = xcalloc(1, sizeof(*list));

	list->trace_path = trace_path;
	list->states = states;
	list->labels = labels;
	list->scripts = scripts;
	list->turn = turn;
	return list;
}

static void forget(struct kept *kept)
{
	free(kept->key);
	event_rows_close(kept->rows);
	part_choice_free(kept->executions);
	*kept = (struct kept){ 0 };
}

void event_list_free(struct event_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < KEPT; i++)
		forget(&list->kept[i]);
	free(list);
}

void event_list_grow(struct event_list *list, struct graph_labels *labels)
{
	list->labels = labels;
	for (size_t i = 0; i < KEPT; i++)
		list->kept[i].is_short = true;
}

/* --- What is asked for --------------------------------------------------------------------------- */

/* What a request chooses rows by. */
struct chosen {
	struct asked_filter asked; /* its key is that of all of this */
	char search[WORD_BYTES];
	struct page_script script;
	struct part_filter executions; /* if it has any */
};

/* Its name and its text: another one may have its id. */
static void take_script(struct chosen *chosen)
{
	const struct script_text *text = chosen->script.text;

	if (!text)
		return;
	text_printf(&chosen->asked.key, "%s\n", text->name);
	text_put_bytes(&chosen->asked.key, text->text, strlen(text->text));
}

/* Of a choice of parts, that of executions: filters of events name CPUs themselves, and events wait for nothing. */
static int take_executions(const struct request *request, uint64_t first_ns, struct chosen *chosen)
{
	struct part_filter *filter = &chosen->executions;

	if (!span_filter_read(request, first_ns, filter))
		return -EINVAL;
	if (!filter->has_spans)
		return 0;
	for (size_t i = 0; i < filter->spans.count; i++)
		text_printf(&chosen->asked.key, "span=%s\n", filter->spans.words[i]);
	text_printf(&chosen->asked.key, "%llu %llu %u@%llu\n", (unsigned long long)filter->span_ns_min,
		    (unsigned long long)filter->span_ns_max, filter->execution_thread,
		    (unsigned long long)filter->execution_begin_ns);
	return 0;
}

/* False: the reply says what is wrong. chosen_fini() in any case. */
static bool choose(struct event_list *list, const struct request *request, struct reply *reply, struct chosen *chosen)
{
	int err;

	*chosen = (struct chosen){ .search = "" };
	err = asked_filter_read(request, &chosen->asked);
	if (!err)
		err = take_executions(request, trace_states_time(list->states, 0), chosen);
	if (err) {
		reply_fail(reply, STATUS_BAD_REQUEST, "a filter of events: %s", strerror(-err));
		return false;
	}
	request_text(request, "search", chosen->search, sizeof(chosen->search));
	text_printf(&chosen->asked.key, "%s\n", chosen->search);
	if (!page_scripts_find(list->scripts, request, reply, &chosen->script))
		return false;
	take_script(chosen);
	return true;
}

/* A script alone: what else a request chooses does not count. */
static bool choose_script(struct event_list *list, const struct request *request, struct reply *reply,
			  struct chosen *chosen)
{
	static const struct request none = { .query = "" };

	*chosen = (struct chosen){ .search = "" };
	asked_filter_read(&none, &chosen->asked);
	text_put(&chosen->asked.key, "\n");
	if (!page_scripts_find(list->scripts, request, reply, &chosen->script))
		return false;
	take_script(chosen);
	return true;
}

static void chosen_fini(struct chosen *chosen)
{
	asked_filter_fini(&chosen->asked);
}

/* --- Rows ---------------------------------------------------------------------------------------- */

/* NULL: all are busy. */
static struct kept *find(struct event_list *list, const char *key)
{
	struct kept *oldest = NULL;

	for (size_t i = 0; i < KEPT; i++) {
		struct kept *kept = &list->kept[i];

		if (kept->key && !strcmp(kept->key, key))
			return kept;
		if (!kept->is_busy && (!oldest || kept->used < oldest->used))
			oldest = kept;
	}
	if (oldest)
		forget(oldest);
	return oldest;
}

static bool is_to_be_renewed(const struct kept *kept)
{
	return kept->key && kept->is_short && !kept->is_busy && clock_ns() - kept->opened_ns >= renewed_ns &&
	       (!kept->rows || event_rows_is_counted(kept->rows));
}

static bool has_moment(void *executions, uint32_t thread, uint64_t time_ns)
{
	return part_choice_has_time(executions, thread, time_ns);
}

/* What the filter of the rows is asked with. */
static void choose_executions(struct event_list *list, const struct part_filter *filter, struct kept *kept,
			      struct event_filter *out)
{
	if (!filter->has_spans)
		return;
	kept->executions = part_choice_new(list->states, NULL, filter);
	out->has_moment = has_moment;
	out->moments = kept->executions;
}

/* 0 or a negative errno: -EBUSY: too many are counted at a time. */
static int open_rows(struct event_list *list, const struct chosen *chosen, struct kept **out)
{
	struct kept *kept = find(list, chosen->asked.key.bytes);
	struct event_filter filter = chosen->asked.filter;
	int err = 0;

	if (!kept)
		return -EBUSY;
	if (is_to_be_renewed(kept))
		forget(kept);
	if (!kept->key)
		choose_executions(list, &chosen->executions, kept, &filter);
	if (!kept->key)
		err = event_rows_open(list->trace_path,
				      &(struct event_rows_options){
					      .states = list->states,
					      .filter = filter,
					      .search = chosen->search,
					      .script = chosen->script.text,
				      },
				      &kept->rows);
	if (err && err != -ENOENT) {
		forget(kept);
		return err;
	}
	if (!kept->key) {
		kept->key = xstrdup(chosen->asked.key.bytes);
		kept->opened_ns = clock_ns();
	}
	kept->used = ++list->uses;
	*out = kept;
	return 0;
}

/* A script may take long: others have the lock meanwhile. */
static void count_away(struct event_list *list, struct kept *kept)
{
	uint64_t begin_ns = clock_ns(), spent_ns = 0;

	if (kept->is_busy || turn_is_full(list->turn))
		return;
	kept->is_busy = true;
	while (spent_ns < counting_ns && event_rows_count_read(kept->rows) > 0) {
		int err;

		turn_leave(list->turn);
		err = event_rows_read(kept->rows, counting_ns - spent_ns);
		turn_return(list->turn);
		if (err)
			break;
		spent_ns = clock_ns() - begin_ns;
	}
	event_rows_count_read(kept->rows);
	kept->is_busy = false;
}

/* The rows that are chosen, counted for a moment; false: the reply says why there are none. */
static bool get_rows(struct event_list *list, const struct chosen *chosen, struct reply *reply, struct kept **out)
{
	int err = open_rows(list, chosen, out);

	if (err == -EBUSY)
		reply_fail(reply, STATUS_UNAVAILABLE, "too many scripts are run at the moment: ask again");
	else if (err)
		reply_fail(reply, STATUS_INTERNAL, "events cannot be read: %s", strerror(-err));
	if (err)
		return false;
	if ((*out)->rows && chosen->script.text)
		count_away(list, *out);
	else if ((*out)->rows)
		event_rows_step((*out)->rows, counting_ns);
	return true;
}

/* The rows that a request chooses; false: the reply says why there are none. */
static bool find_rows(struct event_list *list, const struct request *request, struct reply *reply, struct kept **out)
{
	struct chosen chosen;
	bool is_found = choose(list, request, reply, &chosen) && get_rows(list, &chosen, reply, out);

	chosen_fini(&chosen);
	return is_found;
}

struct event_rows *event_list_of_script(struct event_list *list, const struct request *request, struct reply *reply)
{
	struct chosen chosen;
	struct kept *kept = NULL;
	bool is_found = choose_script(list, request, reply, &chosen) && get_rows(list, &chosen, reply, &kept);

	chosen_fini(&chosen);
	return is_found ? kept->rows : NULL;
}

static void put_none(struct text *out)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_put_uint(&json, "rows", 0);
	json_key(&json, "is_counted");
	json_bool(&json, true);
	json_put_uint(&json, "first", 0);
	json_key(&json, "events");
	json_begin_array(&json);
	json_end_array(&json);
	json_end_object(&json);
	json_fini(&json);
}

/* Of a sample. */
static void put_place(void *data, const struct event_row *row, struct text *out)
{
	struct event_list *list = data;
	const struct report_frame *frames;
	uint64_t time_ns = trace_states_time(list->states, 0) + row->time_ns;
	size_t count;

	if (!row->thread)
		return;
	count = graph_sample_frames(list->labels, row->thread, time_ns, row->stack, row->ip, row->kernel_ip, &frames);
	report_frames_put(out, frames, count < PLACE_FRAMES_MAX ? count : PLACE_FRAMES_MAX);
	if (count > PLACE_FRAMES_MAX)
		text_put(out, " < \u2026");
}

void event_list_answer(struct event_list *list, const struct request *request, struct reply *reply)
{
	int64_t row = 0, count = 100;
	struct kept *kept;

	request_number(request, "row", 0, INT64_MAX, &row);
	request_number(request, "count", 0, ROWS_AT_ONCE_MAX, &count);
	if (!find_rows(list, request, reply, &kept))
		return;
	if (kept->rows)
		event_rows_put_json(kept->rows, row, count, &(struct event_places){ put_place, list }, &reply->body);
	else
		put_none(&reply->body);
}

void event_list_answer_at(struct event_list *list, const struct request *request, struct reply *reply)
{
	int64_t time_ns = 0;
	struct kept *kept;
	struct json json;

	if (!request_number(request, "time", INT64_MIN, INT64_MAX, &time_ns)) {
		reply_fail(reply, STATUS_BAD_REQUEST, "a row at a time needs a time in ns since the first event");
		return;
	}
	if (!find_rows(list, request, reply, &kept))
		return;
	json_init(&json, &reply->body);
	json_begin_object(&json);
	json_put_uint(&json, "row", kept->rows ? event_rows_at(kept->rows, time_ns) : 0);
	json_end_object(&json);
	json_fini(&json);
}
