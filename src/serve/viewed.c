/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/viewed.h"

#include <stdlib.h>

#include "base/memory.h"
#include "events.h"
#include "graph/graph_label.h"
#include "lanes/lane_activities.h"
#include "lanes/lane_marks.h"
#include "serve/event_list.h"
#include "serve/page_scripts.h"
#include "serve/part_choices.h"
#include "serve/row_lists.h"

static void take_lanes(struct viewed *viewed)
{
	lanes_of_trace(&viewed->all, &viewed->lanes);
	viewed->key = lanes_key(&viewed->all, &viewed->lanes);
	viewed->labels = trace_states_labels(&viewed->all, viewed->fold, false);
	viewed->choices = part_choices_new(&viewed->all, viewed->labels, &viewed->pause);
}

static struct row_lists *rows_of(struct viewed *viewed)
{
	return row_lists_new(&(struct row_source){ &viewed->all, &viewed->lanes, viewed->labels, viewed->activities,
						   viewed->scripts, viewed->choices });
}

/* A ring may overwrite what they count from. */
static void pin_times(struct viewed *viewed, uint64_t first_ns)
{
	viewed->all.first_ns = first_ns || !viewed->is_growing ? first_ns : trace_states_time(&viewed->all, 0);
}

static int take_rest(struct viewed *viewed, const struct viewed_options *options)
{
	const struct lane_activities_options activities = {
		.trace_path = options->trace_path,
		.first_ns = viewed->all.first_ns,
		.scripts = options->scripts,
		.script_count = options->script_count,
		.is_growing = viewed->is_growing,
	};
	int err;

	take_lanes(viewed);
	err = lane_marks_open(viewed->trace_path, &viewed->lanes, &viewed->marks);
	if (!err)
		err = lane_activities_open(&activities, &viewed->lanes, &viewed->activities);
	if (err)
		return err;
	viewed->scripts = page_scripts_new(&(struct page_scripts_options){
		.activities = activities,
		.lanes = &viewed->lanes,
		.states = &viewed->all,
		.first_ns = trace_states_time(&viewed->all, 0),
		.turn = &viewed->turn,
	});
	viewed->events =
		event_list_new(viewed->trace_path, &viewed->all, viewed->labels, viewed->scripts, &viewed->turn);
	viewed->rows = rows_of(viewed);
	return 0;
}

static void give_way(void *data)
{
	turn_give_way(data);
}

static struct viewed *viewed_new(const struct viewed_options *options)
{
	struct viewed *viewed = xcalloc(1, sizeof(*viewed));

	viewed->trace_path = options->trace_path;
	viewed->fold = options->fold;
	turn_init(&viewed->turn, options->lock);
	viewed->pause = (struct states_pause){ give_way, &viewed->turn };
	return viewed;
}

static int finish(struct viewed *viewed, const struct viewed_options *options, int err, struct viewed **out)
{
	if (!err)
		pin_times(viewed, options->first_ns);
	if (!err)
		err = take_rest(viewed, options);
	if (err)
		viewed_close(viewed);
	else
		*out = viewed;
	return err;
}

int viewed_open(const struct viewed_options *options, struct states_waiter *waiter, struct viewed **out)
{
	struct viewed *viewed = viewed_new(options);
	int err = trace_states_open_waiting(options->trace_path, options->opens_files, waiter, &viewed->all);

	return finish(viewed, options, err, out);
}

int viewed_open_growing(const struct viewed_options *options, const char *states_path, struct viewed **out)
{
	struct viewed *viewed = viewed_new(options);
	int err = trace_states_open_growing(states_path, options->opens_files, &viewed->all);

	viewed->is_growing = true;
	return finish(viewed, options, err, out);
}

void viewed_leave(struct viewed *viewed)
{
	turn_wait_all(&viewed->turn);
}

void viewed_close(struct viewed *viewed)
{
	if (!viewed)
		return;
	row_lists_free(viewed->rows);
	part_choices_free(viewed->choices);
	lane_activities_close(viewed->activities);
	page_scripts_free(viewed->scripts);
	lane_marks_close(viewed->marks);
	event_list_free(viewed->events);
	graph_labels_free(viewed->labels);
	lanes_fini(&viewed->lanes);
	if (viewed->all.states)
		trace_states_close(&viewed->all);
	free(viewed);
}

int viewed_grow(struct viewed *viewed)
{
	int err = trace_states_grow(&viewed->all);

	if (err)
		return err;
	row_lists_free(viewed->rows);
	part_choices_free(viewed->choices);
	graph_labels_free(viewed->labels);
	lanes_fini(&viewed->lanes);
	take_lanes(viewed);
	lane_marks_grow(viewed->marks);
	lane_activities_grow(viewed->activities);
	page_scripts_grow(viewed->scripts);
	viewed->rows = rows_of(viewed);
	event_list_grow(viewed->events, viewed->labels);
	return 0;
}

bool viewed_has_begun(const struct viewed *viewed)
{
	return viewed->all.run && states_end_ns(viewed->all.states);
}

bool viewed_begins_later(const struct viewed *viewed)
{
	return viewed->all.run && viewed->all.first_ns && viewed->all.run->header.time_ns > viewed->all.first_ns;
}
