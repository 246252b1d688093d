/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table (RFC 4180): a row each state, wake-up, sample, event of a program's own and activity; ns since the first event. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/export_format.h"
#include "export/export_out.h"
#include "export/formats.h"
#include "export/stack_words.h"
#include "query/trace_states.h"

struct csv {
	struct export_out *out;
	uint64_t first_ns;
	struct text cell;
	struct stack_words *stacks;
};

/* What a row has besides its thread and times; NULL: nothing. */
struct row {
	const char *kind, *name, *object, *other, *stack;
	uint64_t begin_ns, end_ns, cmetric_ns;
	const struct export_thread *thread;
	uint32_t cpu;
	bool has_cpu, has_cmetric;
};

static void put_number(struct text *out, uint64_t number)
{
	text_put(out, ",");
	text_put_decimal(out, number, 1);
}

static void put_time(struct csv *csv, uint64_t time_ns)
{
	struct text *out = &csv->out->text;

	text_put(out, time_ns < csv->first_ns ? ",-" : ",");
	text_put_decimal(out, time_ns < csv->first_ns ? csv->first_ns - time_ns : time_ns - csv->first_ns, 1);
}

static void put_cell(struct csv *csv, const char *string)
{
	struct text *out = &csv->out->text;

	text_put(out, ",");
	if (!string)
		return;
	csv->cell.length = 0;
	text_put_escaped(&csv->cell, string);
	if (!csv->cell.length)
		return;
	if (!strpbrk(csv->cell.bytes, ",\"")) {
		text_put_bytes(out, csv->cell.bytes, csv->cell.length);
		return;
	}
	text_put(out, "\"");
	for (size_t i = 0; i < csv->cell.length; i++)
		text_put_bytes(out, csv->cell.bytes[i] == '"' ? "\"\"" : csv->cell.bytes + i,
			       csv->cell.bytes[i] == '"' ? 2 : 1);
	text_put(out, "\"");
}

static void put_row(struct csv *csv, const struct row *row)
{
	struct text *out = &csv->out->text;

	text_put(out, row->kind);
	put_cell(csv, row->thread->host);
	put_number(out, row->thread->number);
	put_number(out, row->thread->ns_tid);
	put_number(out, row->thread->ns_pid);
	put_cell(csv, row->thread->name);
	put_time(csv, row->begin_ns);
	put_time(csv, row->end_ns);
	put_cell(csv, row->name);
	put_cell(csv, row->object);
	put_cell(csv, row->other);
	text_put(out, ",");
	if (row->has_cpu)
		text_put_decimal(out, row->cpu, 1);
	text_put(out, ",");
	if (row->has_cmetric)
		text_put_decimal(out, row->cmetric_ns, 1);
	put_cell(csv, row->stack);
	text_put(out, "\n");
}

static void put_slice(void *data, const struct export_slice *slice)
{
	struct csv *csv = data;

	put_row(data, &(struct row){
			      .kind = "state",
			      .thread = slice->thread,
			      .begin_ns = slice->begin_ns,
			      .end_ns = slice->end_ns,
			      .name = slice->state,
			      .object = slice->object,
			      .other = slice->ended_by,
			      .cpu = slice->cpu,
			      .has_cpu = slice->has_cpu,
			      .cmetric_ns = slice->cmetric_ns,
			      .has_cmetric = slice->share > SHARE_UNKNOWN && slice->share < SHARE_BLOCKED,
			      .stack = stack_words_of(csv->stacks, slice->frames, slice->frame_count),
		      });
}

static void put_wake(void *data, const struct export_wake *wake)
{
	struct text woken = { 0 };

	text_printf(&woken, "%u", wake->woken->number);
	put_row(data, &(struct row){
			      .kind = "wake-up",
			      .thread = wake->waker,
			      .begin_ns = wake->time_ns,
			      .end_ns = wake->time_ns,
			      .object = woken.bytes,
			      .other = wake->woken->name,
		      });
	text_fini(&woken);
}

static void put_sample(void *data, const struct export_sample *sample)
{
	struct csv *csv = data;

	put_row(data, &(struct row){
			      .kind = "sample",
			      .thread = sample->thread,
			      .begin_ns = sample->time_ns,
			      .end_ns = sample->time_ns,
			      .stack = stack_words_of(csv->stacks, sample->frames, sample->frame_count),
		      });
}

static void put_own_event(void *data, const struct export_event *event)
{
	put_row(data, &(struct row){
			      .kind = "event",
			      .thread = event->thread,
			      .begin_ns = event->time_ns,
			      .end_ns = event->time_ns,
			      .name = event->name,
			      .object = event->fields,
		      });
}

static void put_activity(void *data, const struct export_activity *activity)
{
	put_row(data, &(struct row){
			      .kind = "activity",
			      .thread = activity->thread,
			      .begin_ns = activity->begin_ns,
			      .end_ns = activity->end_ns,
			      .name = activity->name,
			      .object = activity->fields,
		      });
}

static void *begin(struct export_out *out, const struct trace_states *all)
{
	struct csv *csv = xcalloc(1, sizeof(*csv));

	csv->out = out;
	csv->stacks = stack_words_new();
	csv->first_ns = trace_states_time(all, 0);
	text_put(&out->text,
		 "kind,host,thread,tid,pid,thread_name,begin_ns,end_ns,name,object,other,cpu,cmetric_ns,stack\n");
	return csv;
}

static void end(void *data)
{
	struct csv *csv = data;

	text_fini(&csv->cell);
	stack_words_free(csv->stacks);
	free(csv);
}

const struct export_format csv_format = {
	.name = "csv",
	.help = "a row each state, wake-up, sample, event and activity",
	.lacks = "counters, account of lost records and source lines of frames",
	.begin = begin,
	.slice = put_slice,
	.wake = put_wake,
	.sample = put_sample,
	.event = put_own_event,
	.activity = put_activity,
	.end = end,
};
