/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Common Trace Format, version 1.8 (diamon.org/ctf), a directory: an event for each state, wake-up, sample, event of a program's own,
 * activity and change of the counters. The clock is CLOCK_MONOTONIC, with its offset to CLOCK_REALTIME.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "events.h"
#include "export/babeltrace.h"
#include "export/ctf_rows.h"
#include "export/export_format.h"
#include "export/export_out.h"
#include "export/formats.h"
#include "export/stack_words.h"
#include "query/trace_states.h"

enum { NS_PER_S = 1000000000 };

enum kind { STATE, WAKE_UP, SAMPLE, EVENT, ACTIVITY, COUNTERS, KINDS };

/* Of all that a thread has. */
#define THREAD                                                                                                       \
	{ "thread", CTF_UNSIGNED }, { "tid", CTF_UNSIGNED }, { "pid", CTF_UNSIGNED }, { "thread_name", CTF_STRING }, \
	{                                                                                                            \
		"process", CTF_STRING                                                                                \
	}

enum { OF_THREAD = 5 };

static const struct ctf_kind kinds[KINDS] = {
	[STATE] = { "state",
		    OF_THREAD + 7,
		    { THREAD,
		      { "duration_ns", CTF_UNSIGNED },
		      { "state", CTF_STRING },
		      { "object", CTF_STRING },
		      { "ended_by", CTF_STRING },
		      { "cpu", CTF_SIGNED },
		      { "cmetric_ns", CTF_UNSIGNED },
		      { "stack", CTF_STRING } } },
	[WAKE_UP] = { "wake_up",
		      OF_THREAD + 3,
		      { THREAD,
			{ "woken_thread", CTF_UNSIGNED },
			{ "woken_tid", CTF_UNSIGNED },
			{ "woken_name", CTF_STRING } } },
	[SAMPLE] = { "sample",
		     OF_THREAD + 3,
		     { THREAD, { "cpu_ns", CTF_UNSIGNED }, { "cmetric_ns", CTF_UNSIGNED }, { "stack", CTF_STRING } } },
	[EVENT] = { "event", OF_THREAD + 2, { THREAD, { "name", CTF_STRING }, { "fields", CTF_STRING } } },
	[ACTIVITY] = { "activity",
		       OF_THREAD + 4,
		       { THREAD,
			 { "name", CTF_STRING },
			 { "begin_ns", CTF_UNSIGNED },
			 { "end_ns", CTF_UNSIGNED },
			 { "fields", CTF_STRING } } },
	[COUNTERS] = { "counters", 2, { { "running", CTF_UNSIGNED }, { "runnable", CTF_UNSIGNED } } },
};

struct ctf {
	struct export_out *out;
	const struct trace_states *all;
	struct ctf_rows *rows;
	struct stack_words *stacks;
	struct table *sequences; /* by thread, plus 1; what is no state is in the first sequence */
	struct text name, process, words[2];
};

/* --- Rows ------------------------------------------------------------------------------------- */

static const char *escaped(struct text *into, const char *string)
{
	into->length = 0;
	text_put(into, "");
	if (string)
		text_put_escaped(into, string);
	return into->bytes;
}

static struct ctf_row row_of(struct ctf *ctf, enum kind kind, const struct export_thread *thread, uint64_t time_ns)
{
	struct ctf_row row = { .time_ns = time_ns, .kind = kind };

	ctf->process.length = 0;
	if (thread->host) {
		text_put_escaped(&ctf->process, thread->host);
		text_put(&ctf->process, ": ");
	}
	text_put(&ctf->process, "");
	text_put_escaped(&ctf->process, thread->process);
	row.values[0].number = thread->number;
	row.values[1].number = thread->tid;
	row.values[2].number = thread->pid;
	row.values[3].string = escaped(&ctf->name, thread->name);
	row.values[4].string = ctf->process.bytes;
	return row;
}

static void put_thread(void *data, const struct export_thread *thread)
{
	struct ctf *ctf = data;

	table_put(ctf->sequences, thread->number, (void *)(uintptr_t)(ctf_rows_add(ctf->rows) + 1));
}

static void put_slice(void *data, const struct export_slice *slice)
{
	struct ctf *ctf = data;
	struct ctf_row row = row_of(ctf, STATE, slice->thread, slice->begin_ns);
	union ctf_value *values = row.values + OF_THREAD;

	values[0].number = slice->end_ns - slice->begin_ns;
	values[1].string = slice->state;
	values[2].string = escaped(&ctf->words[0], slice->object);
	values[3].string = escaped(&ctf->words[1], slice->ended_by);
	values[4].signed_number = slice->has_cpu ? (int64_t)slice->cpu : -1;
	values[5].number = slice->cmetric_ns;
	values[6].string = stack_words_of(ctf->stacks, slice->frames, slice->frame_count);
	ctf_rows_put(ctf->rows, (uintptr_t)table_find(ctf->sequences, slice->thread->number) - 1, &row);
}

static void put_wake(void *data, const struct export_wake *wake)
{
	struct ctf *ctf = data;
	struct ctf_row row = row_of(ctf, WAKE_UP, wake->waker, wake->time_ns);
	union ctf_value *values = row.values + OF_THREAD;

	values[0].number = wake->woken->number;
	values[1].number = wake->woken->tid;
	values[2].string = escaped(&ctf->words[0], wake->woken->name);
	ctf_rows_put(ctf->rows, 0, &row);
}

static void put_sample(void *data, const struct export_sample *sample)
{
	struct ctf *ctf = data;
	struct ctf_row row = row_of(ctf, SAMPLE, sample->thread, sample->time_ns);
	union ctf_value *values = row.values + OF_THREAD;

	values[0].number = sample->cpu_ns;
	values[1].number = sample->cmetric_ns;
	values[2].string = stack_words_of(ctf->stacks, sample->frames, sample->frame_count);
	ctf_rows_put(ctf->rows, 0, &row);
}

static void put_own_event(void *data, const struct export_event *event)
{
	struct ctf *ctf = data;
	struct ctf_row row = row_of(ctf, EVENT, event->thread, event->time_ns);

	row.values[OF_THREAD].string = escaped(&ctf->words[0], event->name);
	row.values[OF_THREAD + 1].string = escaped(&ctf->words[1], event->fields);
	ctf_rows_put(ctf->rows, 0, &row);
}

/* It stands where it ends: others that end before it may have begun later. */
static void put_activity(void *data, const struct export_activity *activity)
{
	struct ctf *ctf = data;
	struct ctf_row row = row_of(ctf, ACTIVITY, activity->thread, activity->end_ns);
	union ctf_value *values = row.values + OF_THREAD;

	values[0].string = escaped(&ctf->words[0], activity->name);
	values[1].number = activity->begin_ns;
	values[2].number = activity->end_ns;
	values[3].string = escaped(&ctf->words[1], activity->fields);
	ctf_rows_put(ctf->rows, 0, &row);
}

static void put_counters(void *data, const struct export_counters *counters)
{
	struct ctf *ctf = data;
	struct ctf_row row = { .time_ns = counters->time_ns, .kind = COUNTERS };

	row.values[0].number = counters->running;
	row.values[1].number = counters->runnable;
	ctf_rows_put(ctf->rows, 0, &row);
}

/* --- The trace -------------------------------------------------------------------------------- */

static void *begin(struct export_out *out, const struct trace_states *all)
{
	struct ctf *ctf = xcalloc(1, sizeof(*ctf));

	*ctf = (struct ctf){
		.out = out,
		.all = all,
		.rows = ctf_rows_new(kinds),
		.stacks = stack_words_new(),
		.sequences = table_new(),
	};
	ctf_rows_add(ctf->rows);
	return ctf;
}

static void write_rows(struct ctf *ctf)
{
	const struct ev_collect_run *run = ctf->all->run;
	uint64_t offset_ns = run && run->realtime_ns > run->header.time_ns ? run->realtime_ns - run->header.time_ns : 0;
	struct text directory = { 0 };
	int err;

	text_printf(&directory, "%s/trace", ctf->out->path);
	err = babeltrace_write(&(struct babeltrace_trace){
		.directory = directory.bytes,
		.kinds = kinds,
		.kind_count = KINDS,
		.rows = ctf->rows,
		.offset_s = offset_ns / NS_PER_S,
		.offset_ns = offset_ns % NS_PER_S,
	});
	text_fini(&directory);
	if (err)
		export_out_fail(ctf->out, err, NULL);
}

static void end(void *data)
{
	struct ctf *ctf = data;

	if (!ctf->out->err)
		write_rows(ctf);
	if (!ctf->out->err && ctf_rows_error(ctf->rows))
		export_out_fail(ctf->out, ctf_rows_error(ctf->rows), "a temporary file in /var/tmp or /tmp");
	ctf_rows_free(ctf->rows);
	stack_words_free(ctf->stacks);
	table_free(ctf->sequences);
	text_fini(&ctf->name);
	text_fini(&ctf->process);
	text_fini(&ctf->words[0]);
	text_fini(&ctf->words[1]);
	free(ctf);
}

const struct export_format ctf_format = {
	.name = "ctf",
	.help = "a directory with a trace in CTF 1.8, for babeltrace2 and Trace Compass",
	.lacks = "account of lost records and source lines of frames",
	.is_directory = true,
	.load = babeltrace_load,
	.begin = begin,
	.thread = put_thread,
	.slice = put_slice,
	.wake = put_wake,
	.sample = put_sample,
	.event = put_own_event,
	.activity = put_activity,
	.counters = put_counters,
	.end = end,
};
