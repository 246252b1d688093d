/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of events for the page: all of them, or those that a request's filters choose. Who asks for rows has them counted for a moment,
 * and asks again as long as they are not all counted. The lists of the last few filters are kept.
 */
#pragma once

struct event_list;
struct event_rows;
struct graph_labels;
struct page_scripts;
struct reply;
struct request;
struct trace_states;
struct turn;

/* All are borrowed. labels: say where samples were. turn: scripts run away from it. */
struct event_list *event_list_new(const char *trace_path, const struct trace_states *states,
				  struct graph_labels *labels, struct page_scripts *scripts, struct turn *turn);
void event_list_free(struct event_list *list);

/* The trace has grown: lists that are counted begin anew when they are asked for next, but not all the time. */
void event_list_grow(struct event_list *list, struct graph_labels *labels);

/*
 * Rows, from the parameter row on, count of them. host, cpu, process, thread, subsystem, event: words of filters, which may be repeated;
 * from, to: ns since the first event; search: a text in lines; script: the filter of this script of
 * the page has to pass them; executions of spans, as part_choices.h has them: they are of their threads and times.
 */
void event_list_answer(struct event_list *list, const struct request *request, struct reply *reply);

/*
 * The rows that the script of a request chooses by its filter, whatever else the request chooses by; counted for a moment, and valid until the
 * lock is given away. NULL: the reply says why.
 */
struct event_rows *event_list_of_script(struct event_list *list, const struct request *request, struct reply *reply);

/* The number of the first row at or after the parameter time, with the same filters. */
void event_list_answer_at(struct event_list *list, const struct request *request, struct reply *reply);
