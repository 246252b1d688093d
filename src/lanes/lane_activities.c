/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/lane_activities.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "lanes/activity_choice.h"
#include "lanes/activity_pass.h"
#include "lanes/activity_store.h"
#include "lanes/lane_filter.h"
#include "lanes/lanes.h"
#include "lanes/row_order.h"
#include "view/json/json_parts.h"

enum { DRAWN_MAX = 4000, LENGTH_CLASSES = 65 };

static const uint64_t choosing_ns = 50000000; /* for each answer */

struct lane_activities {
	const struct lanes *lanes;
	struct table *lane_of; /* id + 1, by the number of the thread + 1 */
	struct activity_pass *pass;
	struct activity_store *store, *found; /* found: by the step that goes on */
	struct activity_choices choices;      /* of the store */
	uint64_t until_ns;
	bool is_busy;     /* a step goes on */
	bool has_grown;   /* meanwhile */
	bool is_complete; /* as far as it has grown */
};

/* What others see comes from steps that are over. */
static void take(void *data, const struct activity *activity)
{
	struct lane_activities *activities = data;

	activity_store_add(activities->found, activity);
}

static struct table *lanes_by_thread(const struct lanes *lanes)
{
	struct table *table = table_new();

	for (size_t i = 0; i < lanes->count; i++)
		if (lanes->list[i].kind == LANE_THREAD)
			table_put(table, lanes->threads[lanes->list[i].first_thread].number + 1ull,
				  (void *)(uintptr_t)(i + 1));
	return table;
}

int lane_activities_open(const struct lane_activities_options *options, const struct lanes *lanes,
			 struct lane_activities **out)
{
	struct lane_activities *activities = xcalloc(1, sizeof(*activities));
	const struct activity_pass_options passing = {
		.trace_path = options->trace_path,
		.first_ns = options->first_ns,
		.scripts = options->scripts,
		.script_count = options->script_count,
		.text = options->text,
		.filter = options->filter,
		.sink = { take, activities },
		.is_growing = options->is_growing,
	};
	int err;

	activities->lanes = lanes;
	activities->store = activity_store_new();
	activities->found = activity_store_new();
	activities->lane_of = lanes_by_thread(lanes);
	err = activity_pass_open(&passing, &activities->pass);
	if (err) {
		lane_activities_close(activities);
		return err;
	}
	*out = activities;
	return 0;
}

void lane_activities_close(struct lane_activities *activities)
{
	if (!activities)
		return;
	activity_pass_close(activities->pass);
	activity_store_free(activities->store);
	activity_store_free(activities->found);
	table_free(activities->lane_of);
	free(activities);
}

static void grow(struct lane_activities *activities)
{
	activity_pass_grow(activities->pass);
	activities->is_complete = activity_pass_is_complete(activities->pass, &activities->until_ns);
	activities->has_grown = false;
}

void lane_activities_grow(struct lane_activities *activities)
{
	table_free(activities->lane_of);
	activities->lane_of = lanes_by_thread(activities->lanes);
	activity_choices_forget(&activities->choices, activities->store);
	if (activities->is_busy)
		activities->has_grown = true;
	else
		grow(activities);
}

/* --- Finding them -------------------------------------------------------------------------------- */

void lane_activities_begin(struct lane_activities *activities)
{
	assert(!activities->is_busy);
	activities->is_busy = true;
}

void lane_activities_run(struct lane_activities *activities, uint64_t budget_ns)
{
	activity_pass_run(activities->pass, budget_ns);
}

void lane_activities_end(struct lane_activities *activities)
{
	activities->is_busy = false;
	activity_store_move(activities->store, activities->found);
	activities->is_complete = activity_pass_is_complete(activities->pass, &activities->until_ns);
	if (activities->has_grown)
		grow(activities);
}

bool lane_activities_is_busy(const struct lane_activities *activities)
{
	return activities->is_busy;
}

void lane_activities_step(struct lane_activities *activities, uint64_t budget_ns)
{
	lane_activities_begin(activities);
	lane_activities_run(activities, budget_ns);
	lane_activities_end(activities);
}

void lane_activities_stop(struct lane_activities *activities)
{
	activity_pass_stop(activities->pass);
}

bool lane_activities_is_complete(const struct lane_activities *activities, uint64_t *until_ns)
{
	*until_ns = activities->until_ns;
	return activities->is_complete;
}

const struct decoders *lane_activities_decoders(const struct lane_activities *activities)
{
	return activity_pass_decoders(activities->pass);
}

size_t lane_activities_count_of(struct lane_activities *activities, const char *source)
{
	size_t all, count = 0;
	const struct kept_activity *list = activity_store_list(activities->store, &all);
	const char *found;

	for (size_t i = 0; i < all; i++) {
		activity_store_name(activities->store, list[i].name, &found);
		count += found && !strcmp(found, source);
	}
	return count;
}

/* --- On lanes ------------------------------------------------------------------------------------ */

/* -1: the thread has no lane. */
static int64_t lane_of(const struct lane_activities *activities, uint32_t thread)
{
	return (int64_t)(uintptr_t)table_find(activities->lane_of, thread + 1ull) - 1;
}

static uint32_t end_thread(const struct kept_activity *activity)
{
	return activity->end_thread ? activity->end_thread : activity->thread;
}

struct drawn {
	const struct kept_activity *list;
	size_t first, end;
	uint64_t from_ns;
	struct activity_chooser chooser;
	bool *is_wanted;    /* by the id of the lane */
	unsigned int least; /* the class of length from which on they are put */
	uint64_t left_out;
};

static bool is_drawn(const struct lane_activities *activities, struct drawn *drawn, size_t at)
{
	const struct kept_activity *activity = &drawn->list[at];
	int64_t begin = lane_of(activities, activity->thread), end = lane_of(activities, end_thread(activity));

	return activity->end_ns >= drawn->from_ns &&
	       ((begin >= 0 && drawn->is_wanted[begin]) || (end >= 0 && drawn->is_wanted[end])) &&
	       activity_chooser_has(&drawn->chooser, at);
}

/* Powers of two. */
static unsigned int class_of(const struct kept_activity *activity)
{
	uint64_t ns = activity->end_ns - activity->begin_ns;

	return ns ? 64 - __builtin_clzll(ns) : 0;
}

/* From which length on there are few enough. */
static void choose_length(const struct lane_activities *activities, struct drawn *drawn)
{
	uint64_t counts[LENGTH_CLASSES] = { 0 }, count = 0;

	for (size_t i = drawn->first; i < drawn->end; i++)
		if (is_drawn(activities, drawn, i))
			counts[class_of(&drawn->list[i])]++;
	drawn->least = LENGTH_CLASSES;
	while (drawn->least && count + counts[drawn->least - 1] <= DRAWN_MAX)
		count += counts[--drawn->least];
	for (unsigned int i = 0; i < drawn->least; i++)
		drawn->left_out += counts[i];
}

static void put_time(struct json *json, uint64_t time_ns, uint64_t first_ns)
{
	json_int(json, (int64_t)(time_ns - first_ns));
}

static void put_drawn(const struct lane_activities *activities, struct json *json, const struct kept_activity *activity,
		      uint64_t first_ns)
{
	json_on_one_line(json);
	json_begin_array(json);
	json_int(json, lane_of(activities, activity->thread));
	put_time(json, activity->begin_ns, first_ns);
	put_time(json, activity->end_ns, first_ns);
	json_uint(json, activity->name);
	json_int(json, lane_of(activities, end_thread(activity)));
	json_bool(json, activity->is_message);
	json_string(json, activity_store_words(activities->store, activity));
	json_end_array(json);
}

static void put_names(const struct lane_activities *activities, struct json *json)
{
	json_key(json, "names");
	json_begin_array(json);
	for (size_t i = 0; i < activity_store_name_count(activities->store); i++) {
		const char *source, *name = activity_store_name(activities->store, i, &source);

		json_string(json, name);
	}
	json_end_array(json);
}

void lane_activities_put_json(struct lane_activities *activities, const struct activity_question *question,
			      struct text *out)
{
	struct drawn drawn = { .from_ns = question->from_ns };
	struct json json;
	uint64_t until_ns;
	size_t count;

	drawn.end = activity_store_stretch(activities->store, question->from_ns, question->to_ns, &drawn.first);
	drawn.list = activity_store_list(activities->store, &count);
	drawn.chooser = activity_choices_begin(&activities->choices, activities->store, question->choice, choosing_ns);
	drawn.is_wanted = xcalloc(activities->lanes->count + 1, sizeof(*drawn.is_wanted));
	for (size_t i = 0; i < question->lane_count; i++)
		drawn.is_wanted[question->lanes[i]] = true;
	choose_length(activities, &drawn);
	until_ns = drawn.chooser.is_late ? question->from_ns : activities->until_ns;
	json_init(&json, out);
	json_begin_object(&json);
	put_names(activities, &json);
	json_key(&json, "activities");
	json_begin_array(&json);
	for (size_t i = drawn.first; i < drawn.end; i++)
		if (class_of(&drawn.list[i]) >= drawn.least && is_drawn(activities, &drawn, i))
			put_drawn(activities, &json, &drawn.list[i], question->first_ns);
	json_end_array(&json);
	json_put_uint(&json, "left_out", drawn.left_out + activity_store_left_out(activities->store));
	json_key(&json, "until_ns");
	json_int(&json, activities->until_ns ? (int64_t)(until_ns - question->first_ns) : 0);
	json_key(&json, "is_complete");
	json_bool(&json, activities->is_complete && !drawn.chooser.is_late);
	json_end_object(&json);
	json_fini(&json);
	free(drawn.is_wanted);
}

/* --- As a list ----------------------------------------------------------------------------------- */

static bool passes(const struct lane_activities *activities, const struct lane_filter *filter,
		   const struct kept_activity *activity)
{
	const char *source, *name = activity_store_name(activities->store, activity->name, &source);

	return lane_filter_has_time(filter, activity->begin_ns, activity->end_ns) &&
	       lane_filter_has_thread(filter, activity->thread, end_thread(activity)) &&
	       (!filter->search[0] || strcasestr(name, filter->search) ||
		strcasestr(activity_store_words(activities->store, activity), filter->search));
}

static void put_row(const struct lane_activities *activities, struct json *json, const struct kept_activity *activity,
		    size_t row, uint64_t first_ns)
{
	const char *source, *name = activity_store_name(activities->store, activity->name, &source);

	json_on_one_line(json);
	json_begin_object(json);
	json_put_uint(json, "row", row);
	json_key(json, "time_ns");
	put_time(json, activity->begin_ns, first_ns);
	json_key(json, "end_ns");
	put_time(json, activity->end_ns, first_ns);
	json_put_uint(json, "thread", activity->thread);
	json_put_uint(json, "end_thread", end_thread(activity));
	json_put_string(json, "name", name);
	json_put_string(json, "source", source ? source : "built-in");
	json_put_string(json, "text", activity_store_words(activities->store, activity));
	json_end_object(json);
}

/* Returns whether all of them are found. */
static bool find_rows(struct lane_activities *activities, const struct activity_rows *wanted, struct row_order *rows)
{
	struct activity_chooser chooser =
		activity_choices_begin(&activities->choices, activities->store, wanted->choice, choosing_ns);
	size_t all;
	const struct kept_activity *list = activity_store_list(activities->store, &all);

	for (size_t i = 0; i < all; i++)
		if (passes(activities, wanted->filter, &list[i]) && activity_chooser_has(&chooser, i))
			row_order_add(rows, i, list[i].end_ns - list[i].begin_ns);
	if (wanted->filter->longest_first)
		row_order_sort(rows);
	return !chooser.is_late;
}

void lane_activities_put_rows(struct lane_activities *activities, const struct activity_rows *wanted, uint64_t first_ns,
			      size_t row, size_t count, struct text *out)
{
	size_t all;
	const struct kept_activity *list = activity_store_list(activities->store, &all);
	struct row_order rows = { 0 };
	bool is_all = find_rows(activities, wanted, &rows);
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_put_uint(&json, "first", row);
	json_key(&json, "events");
	json_begin_array(&json);
	for (size_t i = row; i < rows.count && i - row < count; i++)
		put_row(activities, &json, &list[rows.list[i].at], i, first_ns);
	json_end_array(&json);
	json_put_uint(&json, "rows", rows.count);
	json_key(&json, "is_counted");
	json_bool(&json, activities->is_complete && is_all);
	json_put_uint(&json, "left_out", activity_store_left_out(activities->store));
	json_end_object(&json);
	json_fini(&json);
	row_order_fini(&rows);
}

size_t lane_activities_row_at(struct lane_activities *activities, const struct activity_rows *wanted, uint64_t time_ns)
{
	size_t all, first, row;
	const struct kept_activity *list = activity_store_list(activities->store, &all);
	struct activity_chooser chooser;
	struct row_order rows = { 0 };

	find_rows(activities, wanted, &rows);
	chooser = activity_choices_begin(&activities->choices, activities->store, wanted->choice, 0);
	first = BOUND(0, all, i, list[i].begin_ns < time_ns);
	while (first < all &&
	       !(passes(activities, wanted->filter, &list[first]) && activity_chooser_has(&chooser, first)))
		first++;
	row = row_order_row_of(&rows, first);
	row_order_fini(&rows);
	return row;
}
