/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/event_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "activity/event_filter.h"
#include "activity/script_language.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "lanes/part_choice.h"
#include "lanes/part_filter.h"
#include "query/trace_states.h"
#include "rows/event_rows.h"
#include "serve/answer.h"
#include "serve/page_scripts.h"
#include "serve/part_choices.h"
#include "view/json/json_parts.h"

enum { KEPT = 4, ROWS_AT_ONCE_MAX = 1000, WORD_BYTES = 256, STATUS_BAD_REQUEST = 400, STATUS_INTERNAL = 500 };

static const uint64_t counting_ns = 20000000;  /* for each request */
static const uint64_t renewed_ns = 2000000000; /* a list of a trace that grows is that old at least */

/* Rows that the same filter chooses. */
struct kept {
	char *key;                      /* NULL: there are none */
	struct event_rows *rows;        /* NULL: the filter names nobody */
	struct part_choice *executions; /* they lie in these; NULL: anywhere */
	uint64_t used;
	uint64_t opened_ns;
	bool is_short; /* the trace has grown since */
};

struct event_list {
	const char *trace_path;
	const struct trace_states *states;
	struct page_scripts *scripts;
	uint64_t uses;
	struct kept kept[KEPT];
};

struct event_list *event_list_new(const char *trace_path, const struct trace_states *states,
				  struct page_scripts *scripts)
{
	struct event_list *list = xcalloc(1, sizeof(*list));

	list->trace_path = trace_path;
	list->states = states;
	list->scripts = scripts;
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

void event_list_grow(struct event_list *list)
{
	for (size_t i = 0; i < KEPT; i++)
		list->kept[i].is_short = true;
}

/* --- What is asked for --------------------------------------------------------------------------- */

/* What a request chooses rows by, and the same as one text. */
struct chosen {
	struct event_filter filter;
	char search[WORD_BYTES];
	struct page_script script;
	struct part_filter executions; /* if it has any */
	struct text key;
	struct arena *arena; /* of words */
};

static int take_words(const struct request *request, enum filter_kind kind, struct chosen *chosen)
{
	const char *name = filter_kind_name(kind);
	char word[WORD_BYTES];

	for (size_t i = 0; request_text_at(request, name, i, word, sizeof(word)); i++) {
		int err = event_filter_add(&chosen->filter, kind, arena_strdup(chosen->arena, word));

		if (err)
			return err;
		text_printf(&chosen->key, "%s=%s\n", name, word);
	}
	return 0;
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
		text_printf(&chosen->key, "span=%s\n", filter->spans.words[i]);
	text_printf(&chosen->key, "%llu %llu %u@%llu\n", (unsigned long long)filter->span_ns_min,
		    (unsigned long long)filter->span_ns_max, filter->execution_thread,
		    (unsigned long long)filter->execution_begin_ns);
	return 0;
}

static int take_filters(const struct request *request, uint64_t trace_ns, struct chosen *chosen)
{
	int64_t from_ns = 0, to_ns = 0;
	int err = 0;

	*chosen = (struct chosen){ .arena = arena_new() };
	for (unsigned int kind = 0; kind < FILTER_KINDS && !err; kind++)
		err = take_words(request, kind, chosen);
	if (!err)
		err = take_executions(request, trace_ns, chosen);
	request_number(request, "from", 0, INT64_MAX, &from_ns);
	request_number(request, "to", 0, INT64_MAX, &to_ns);
	request_text(request, "search", chosen->search, sizeof(chosen->search));
	chosen->filter.from_ns = from_ns;
	chosen->filter.to_ns = to_ns;
	text_printf(&chosen->key, "%lld %lld %s\n", (long long)from_ns, (long long)to_ns, chosen->search);
	return err;
}

/* Its name and its text: another one may have its id. */
static void take_script(struct chosen *chosen)
{
	const struct script_text *text = chosen->script.text;

	if (!text)
		return;
	text_printf(&chosen->key, "%s\n", text->name);
	text_put_bytes(&chosen->key, text->text, strlen(text->text));
}

static void chosen_fini(struct chosen *chosen)
{
	arena_free(chosen->arena);
	text_fini(&chosen->key);
}

/* --- Rows ---------------------------------------------------------------------------------------- */

static struct kept *find(struct event_list *list, const char *key)
{
	struct kept *oldest = &list->kept[0];

	for (size_t i = 0; i < KEPT; i++) {
		if (list->kept[i].key && !strcmp(list->kept[i].key, key))
			return &list->kept[i];
		if (list->kept[i].used < oldest->used)
			oldest = &list->kept[i];
	}
	forget(oldest);
	return oldest;
}

static bool is_to_be_renewed(const struct kept *kept)
{
	return kept->key && kept->is_short && clock_ns() - kept->opened_ns >= renewed_ns &&
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

/* 0 or a negative errno. */
static int open_rows(struct event_list *list, const struct chosen *chosen, struct kept **out)
{
	struct kept *kept = find(list, chosen->key.bytes);
	struct event_filter filter = chosen->filter;
	int err = 0;

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
		kept->key = xstrdup(chosen->key.bytes);
		kept->opened_ns = clock_ns();
	}
	kept->used = ++list->uses;
	*out = kept;
	return 0;
}

/* The rows that a request chooses; false: the reply says why there are none. */
static bool find_rows(struct event_list *list, const struct request *request, struct reply *reply, struct kept **out)
{
	struct chosen chosen;
	int err = take_filters(request, trace_states_time(list->states, 0), &chosen);

	if (err)
		reply_fail(reply, STATUS_BAD_REQUEST, "a filter of events: %s", strerror(-err));
	else if (!page_scripts_find(list->scripts, request, reply, &chosen.script))
		err = -ENOENT;
	if (!err) {
		take_script(&chosen);
		err = open_rows(list, &chosen, out);
		if (err)
			reply_fail(reply, STATUS_INTERNAL, "events cannot be read: %s", strerror(-err));
	}
	chosen_fini(&chosen);
	if (!err && (*out)->rows)
		event_rows_step((*out)->rows, counting_ns);
	return !err;
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

void event_list_answer(struct event_list *list, const struct request *request, struct reply *reply)
{
	int64_t row = 0, count = 100;
	struct kept *kept;

	request_number(request, "row", 0, INT64_MAX, &row);
	request_number(request, "count", 0, ROWS_AT_ONCE_MAX, &count);
	if (!find_rows(list, request, reply, &kept))
		return;
	if (kept->rows)
		event_rows_put_json(kept->rows, row, count, &reply->body);
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
