/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/html/timelines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"
#include "view/json/json_parts.h"

enum { SHARE_UNIT = 1000 }; /* shares are in thousandths: a pixel is no finer */

struct timelines {
	struct json json;
	struct timelines_shape shape;
	size_t row_count, left_out_count;
	double *sums; /* threads, [state_count][part_count] */
};

struct timelines *timelines_begin(struct text *out, const struct timelines_shape *shape)
{
	struct timelines *timelines = xcalloc(1, sizeof(*timelines));
	struct json *json = &timelines->json;

	timelines->shape = *shape;
	timelines->sums = xcalloc(shape->state_count * shape->part_count + 1, sizeof(double));
	json_init(json, out);
	json_begin_object(json);
	json_put_uint(json, "begin_ns", shape->begin_ns);
	json_put_uint(json, "part_ns", shape->part_ns);
	json_put_uint(json, "whole_ns", shape->whole_ns);
	json_put_uint(json, "parts", shape->part_count);
	json_key(json, "threads");
	json_begin_array(json);
	return timelines;
}

static bool is_in(const double *shares, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (shares[i] > 0)
			return true;
	return false;
}

/* "web1:worker-1", as graphs call it. */
static void put_name(struct json *json, const struct timeline_thread *thread)
{
	struct text name = { 0 };

	text_printf(&name, "%s%s%s", thread->host ? thread->host : "", thread->host ? ":" : "",
		    thread->name ? thread->name : "");
	json_put_string(json, "name", name.bytes);
	text_fini(&name);
}

static void put_row(struct timelines *timelines, const struct timeline_thread *thread, const double *shares)
{
	struct json *json = &timelines->json;
	size_t count = timelines->shape.part_count;

	json_on_one_line(json);
	json_begin_object(json);
	put_name(json, thread);
	json_put_uint(json, "tid", thread->tid);
	json_put_uint(json, "pid", thread->pid);
	json_put_uint(json, "threads", thread->count);
	json_key(json, "states");
	json_begin_object(json);
	for (size_t state = 0; state < timelines->shape.state_count; state++, shares += count) {
		if (!is_in(shares, count))
			continue;
		json_key(json, timelines->shape.states[state]);
		json_begin_array(json);
		for (size_t i = 0; i < count; i++)
			json_uint(json, shares[i] * SHARE_UNIT + 0.5);
		json_end_array(json);
	}
	json_end_object(json);
	json_end_object(json);
}

void timelines_add(struct timelines *timelines, const struct timeline_thread *thread, const double *shares)
{
	for (size_t i = 0; i < timelines->shape.state_count * timelines->shape.part_count; i++)
		timelines->sums[i] += shares[i];
	if (timelines->row_count < TIMELINE_ROWS_MAX) {
		timelines->row_count++;
		put_row(timelines, thread, shares);
	} else {
		timelines->left_out_count += thread->count;
	}
}

/* Thousandths, too: nine digits of each would be most of the file. */
static void put_sums(struct timelines *timelines)
{
	struct json *json = &timelines->json;
	const double *sums = timelines->sums;

	json_key(json, "all");
	json_begin_object(json);
	for (size_t state = 0; state < timelines->shape.state_count; state++) {
		json_key(json, timelines->shape.states[state]);
		json_on_one_line(json);
		json_begin_array(json);
		for (size_t i = 0; i < timelines->shape.part_count; i++)
			json_uint(json, *sums++ * SHARE_UNIT + 0.5);
		json_end_array(json);
	}
	json_end_object(json);
}

void timelines_end(struct timelines *timelines)
{
	json_end_array(&timelines->json);
	json_put_uint(&timelines->json, "left_out", timelines->left_out_count);
	put_sums(timelines);
	json_end_object(&timelines->json);
	json_fini(&timelines->json);
	free(timelines->sums);
	free(timelines);
}

/* --- Of a report ------------------------------------------------------------------------------- */

enum { RUNNING, RUNNABLE, BLOCKED, STATES };

static const char *const strip_states[STATES] = { "running", "runnable", "blocked" };

static void add_thread(struct timelines *timelines, const struct report_thread *thread, double *shares)
{
	size_t count = timelines->shape.part_count;

	for (size_t i = 0; i < count; i++) {
		shares[RUNNING * count + i] = thread->strip[i].running;
		shares[RUNNABLE * count + i] = thread->strip[i].runnable;
		shares[BLOCKED * count + i] = thread->strip[i].blocked;
	}
	timelines_add(timelines,
		      &(struct timeline_thread){
			      .name = thread->name,
			      .host = thread->host,
			      .tid = thread->tid,
			      .pid = thread->pid,
			      .count = thread->thread_count > 1 ? thread->thread_count : 1,
		      },
		      shares);
}

int timelines_put_report(struct text *out, const struct report *report)
{
	struct timelines *timelines;
	double *shares;

	if (!report->strip_count)
		return -ENODATA;
	shares = xcalloc(STATES * report->strip_count, sizeof(*shares));
	timelines = timelines_begin(out, &(struct timelines_shape){
						 .states = strip_states,
						 .state_count = STATES,
						 .part_count = report->strip_count,
						 .part_ns = report->strip_part_ns,
						 .whole_ns = report->strip_whole_ns,
					 });
	for (size_t i = 0; i < report->group_count; i++)
		for (size_t j = 0; j < report->groups[i].row_count; j++)
			if (report->groups[i].threads[j].strip)
				add_thread(timelines, &report->groups[i].threads[j], shares);
	timelines_end(timelines);
	free(shares);
	return 0;
}
