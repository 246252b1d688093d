/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Activities, waits and spans of the trace as lists for the page, and activities on lanes. Who asks has the trace read for a moment, and asks
 * again as long as not all rows are counted. The waits of the last filter are kept.
 */
#pragma once

struct graph_labels;
struct lane_activities;
struct page_scripts;
struct part_choices;
struct lanes;
struct reply;
struct request;
struct row_lists;
struct trace_states;

/* What lists are made of; all are borrowed. */
struct row_source {
	const struct trace_states *all;
	const struct lanes *lanes;
	struct graph_labels *labels;
	struct lane_activities *activities;
	struct page_scripts *scripts;
	struct part_choices *choices;
};

struct row_lists *row_lists_new(const struct row_source *source);
void row_lists_free(struct row_lists *lists);

/* Activities on lanes. from, to: ns since the first event; lanes; those with a part that part_choices.h chooses. */
void row_lists_answer_drawn(struct row_lists *lists, const struct request *request, struct reply *reply);

enum row_list_kind { ROW_LIST_ACTIVITIES, ROW_LIST_WAITS, ROW_LIST_SPANS };

/*
 * Rows, from the parameter row on, count of them. from, to: when they begin; least: ns that they last; thread: a number, cause: a name of
 * shares, both of which may be repeated; search: a text in names and parameters; longest-first: 1, or they are in the order of their
 * beginnings; of waits and activities: those with a part that part_choices.h chooses; script: of activities: those that are found with this script of the page.
 */
void row_lists_answer(struct row_lists *lists, enum row_list_kind kind, const struct request *request,
		      struct reply *reply);

/* How long the waits with these filters are, as far as they are found. */
void row_lists_answer_lengths(struct row_lists *lists, enum row_list_kind kind, const struct request *request,
			      struct reply *reply);

/* The number of the first row at or after the parameter time, with the same filters. */
void row_lists_answer_at(struct row_lists *lists, enum row_list_kind kind, const struct request *request,
			 struct reply *reply);
