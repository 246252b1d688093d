/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables in Apache Parquet, a file each, in a directory: states, wake-ups, samples, events of programs' own and activities. Times are ns since
 * the first event, and beside them the time of day.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "events.h"
#include "export/export_format.h"
#include "export/export_out.h"
#include "export/formats.h"
#include "export/stack_words.h"
#include "parquet/parquet.h"
#include "query/trace_states.h"

enum table { STATES, WAKE_UPS, SAMPLES, EVENTS, ACTIVITIES, TABLES };

/* Columns of a thread, of which all tables have one, and the time; places of others count from BEHIND on. */
#define THREAD                                                                                                   \
	{ "host", PARQUET_STRING, true }, { "thread", PARQUET_NUMBER, false }, { "tid", PARQUET_NUMBER, false }, \
		{ "pid", PARQUET_NUMBER, false }, { "thread_name", PARQUET_STRING, false },                      \
		{ "process", PARQUET_STRING, false },                                                            \
	{                                                                                                        \
		"time", PARQUET_TIME, true                                                                       \
	}

enum { HOST, NUMBER, TID, PID, NAME, PROCESS, TIME, BEHIND };

static const struct parquet_column state_columns[] = {
	THREAD,
	{ "begin_ns", PARQUET_NUMBER, false },
	{ "end_ns", PARQUET_NUMBER, false },
	{ "state", PARQUET_STRING, false },
	{ "object", PARQUET_STRING, true },
	{ "ended_by", PARQUET_STRING, true },
	{ "cpu", PARQUET_NUMBER, true },
	{ "cmetric_ns", PARQUET_NUMBER, true },
	{ "stack", PARQUET_STRING, true },
};

static const struct parquet_column wake_columns[] = {
	THREAD,
	{ "time_ns", PARQUET_NUMBER, false },
	{ "woken_thread", PARQUET_NUMBER, false },
	{ "woken_tid", PARQUET_NUMBER, false },
	{ "woken_name", PARQUET_STRING, false },
};

static const struct parquet_column sample_columns[] = {
	THREAD,
	{ "time_ns", PARQUET_NUMBER, false },
	{ "cpu_ns", PARQUET_NUMBER, false },
	{ "cmetric_ns", PARQUET_NUMBER, false },
	{ "function", PARQUET_STRING, true },
	{ "stack", PARQUET_STRING, true },
};

static const struct parquet_column event_columns[] = {
	THREAD,
	{ "time_ns", PARQUET_NUMBER, false },
	{ "name", PARQUET_STRING, false },
	{ "fields", PARQUET_STRING, false },
};

static const struct parquet_column activity_columns[] = {
	THREAD,
	{ "begin_ns", PARQUET_NUMBER, false },
	{ "end_ns", PARQUET_NUMBER, false },
	{ "name", PARQUET_STRING, false },
	{ "fields", PARQUET_STRING, false },
};

#define COLUMNS(list) list, sizeof(list) / sizeof(*(list))

static const struct {
	const char *file;
	const struct parquet_column *columns;
	size_t count;
} specs[TABLES] = {
	[STATES] = { "states.parquet", COLUMNS(state_columns) },
	[WAKE_UPS] = { "wake_ups.parquet", COLUMNS(wake_columns) },
	[SAMPLES] = { "samples.parquet", COLUMNS(sample_columns) },
	[EVENTS] = { "events.parquet", COLUMNS(event_columns) },
	[ACTIVITIES] = { "activities.parquet", COLUMNS(activity_columns) },
};

struct open_table {
	struct export_out out;
	struct parquet *parquet; /* NULL: the file is not open */
	struct text path;
};

struct parquet_export {
	struct export_out *out;
	uint64_t first_ns;
	int64_t offset_ns; /* of the time of day; 0: not known */
	struct open_table tables[TABLES];
	struct stack_words *stacks;
	struct text shown;
};

/* --- Rows ------------------------------------------------------------------------------------- */

static void put_string(struct parquet_export *tables, struct parquet *parquet, size_t column, const char *string)
{
	tables->shown.length = 0;
	text_put(&tables->shown, "");
	text_put_escaped(&tables->shown, string);
	parquet_put_string(parquet, column, tables->shown.bytes);
}

static void put_or_null(struct parquet_export *tables, struct parquet *parquet, size_t column, const char *string)
{
	if (string)
		put_string(tables, parquet, column, string);
	else
		parquet_put_null(parquet, column);
}

/* Begins a row: what is of the thread, and when. NULL: the table has no file. */
static struct parquet *begin_row(struct parquet_export *tables, enum table table, const struct export_thread *thread,
				 uint64_t time_ns)
{
	struct parquet *parquet = tables->tables[table].parquet;

	if (!parquet)
		return NULL;
	put_or_null(tables, parquet, HOST, thread->host);
	parquet_put_number(parquet, NUMBER, thread->number);
	parquet_put_number(parquet, TID, thread->ns_tid);
	parquet_put_number(parquet, PID, thread->ns_pid);
	put_string(tables, parquet, NAME, thread->name);
	put_string(tables, parquet, PROCESS, thread->process);
	if (tables->offset_ns)
		parquet_put_number(parquet, TIME, (int64_t)time_ns + tables->offset_ns);
	else
		parquet_put_null(parquet, TIME);
	return parquet;
}

static void end_row(struct parquet_export *tables, enum table table)
{
	struct export_out *out = &tables->tables[table].out;

	parquet_end_row(tables->tables[table].parquet);
	export_out_step(out);
	if (out->err && !tables->out->err)
		export_out_fail(tables->out, out->err, NULL);
}

static void put_stack(struct parquet_export *tables, struct parquet *parquet, size_t column,
		      const struct report_frame *frames, size_t count)
{
	if (count)
		parquet_put_string(parquet, column, stack_words_of(tables->stacks, frames, count));
	else
		parquet_put_null(parquet, column);
}

static void put_slice(void *data, const struct export_slice *slice)
{
	struct parquet_export *tables = data;
	struct parquet *parquet = begin_row(tables, STATES, slice->thread, slice->begin_ns);
	size_t at = BEHIND;

	if (!parquet)
		return;
	parquet_put_number(parquet, at++, slice->begin_ns - tables->first_ns);
	parquet_put_number(parquet, at++, slice->end_ns - tables->first_ns);
	parquet_put_string(parquet, at++, slice->state);
	put_or_null(tables, parquet, at++, slice->object);
	put_or_null(tables, parquet, at++, slice->ended_by);
	if (slice->has_cpu)
		parquet_put_number(parquet, at++, slice->cpu);
	else
		parquet_put_null(parquet, at++);
	if (slice->share > SHARE_UNKNOWN && slice->share < SHARE_BLOCKED)
		parquet_put_number(parquet, at++, slice->cmetric_ns);
	else
		parquet_put_null(parquet, at++);
	put_stack(tables, parquet, at, slice->frames, slice->frame_count);
	end_row(tables, STATES);
}

static void put_wake(void *data, const struct export_wake *wake)
{
	struct parquet_export *tables = data;
	struct parquet *parquet = begin_row(tables, WAKE_UPS, wake->waker, wake->time_ns);

	if (!parquet)
		return;
	parquet_put_number(parquet, BEHIND, wake->time_ns - tables->first_ns);
	parquet_put_number(parquet, BEHIND + 1, wake->woken->number);
	parquet_put_number(parquet, BEHIND + 2, wake->woken->ns_tid);
	put_string(tables, parquet, BEHIND + 3, wake->woken->name);
	end_row(tables, WAKE_UPS);
}

static void put_sample(void *data, const struct export_sample *sample)
{
	struct parquet_export *tables = data;
	struct parquet *parquet = begin_row(tables, SAMPLES, sample->thread, sample->time_ns);

	if (!parquet)
		return;
	parquet_put_number(parquet, BEHIND, sample->time_ns - tables->first_ns);
	parquet_put_number(parquet, BEHIND + 1, sample->cpu_ns);
	parquet_put_number(parquet, BEHIND + 2, sample->cmetric_ns);
	put_or_null(tables, parquet, BEHIND + 3, sample->frame_count ? sample->frames[0].function : NULL);
	put_stack(tables, parquet, BEHIND + 4, sample->frames, sample->frame_count);
	end_row(tables, SAMPLES);
}

static void put_own_event(void *data, const struct export_event *event)
{
	struct parquet_export *tables = data;
	struct parquet *parquet = begin_row(tables, EVENTS, event->thread, event->time_ns);

	if (!parquet)
		return;
	parquet_put_number(parquet, BEHIND, event->time_ns - tables->first_ns);
	put_string(tables, parquet, BEHIND + 1, event->name);
	put_string(tables, parquet, BEHIND + 2, event->fields);
	end_row(tables, EVENTS);
}

static void put_activity(void *data, const struct export_activity *activity)
{
	struct parquet_export *tables = data;
	struct parquet *parquet = begin_row(tables, ACTIVITIES, activity->thread, activity->begin_ns);

	if (!parquet)
		return;
	parquet_put_number(parquet, BEHIND, activity->begin_ns - tables->first_ns);
	parquet_put_number(parquet, BEHIND + 1, activity->end_ns - tables->first_ns);
	put_string(tables, parquet, BEHIND + 2, activity->name);
	put_string(tables, parquet, BEHIND + 3, activity->fields);
	end_row(tables, ACTIVITIES);
}

/* --- Files ------------------------------------------------------------------------------------ */

static int open_table(struct parquet_export *all, enum table table)
{
	struct open_table *open = &all->tables[table];
	int err;

	text_printf(&open->path, "%s/%s", all->out->path, specs[table].file);
	err = export_out_open(open->path.bytes, false, &open->out);
	if (!err)
		open->parquet = parquet_new(specs[table].columns, specs[table].count, &open->out.text);
	return err;
}

static void *begin(struct export_out *out, const struct trace_states *all)
{
	struct parquet_export *tables = xcalloc(1, sizeof(*tables));
	const struct ev_collect_run *run = all->run;

	tables->out = out;
	tables->first_ns = trace_states_time(all, 0);
	tables->offset_ns = run && run->realtime_ns ? (int64_t)(run->realtime_ns - run->header.time_ns) : 0;
	tables->stacks = stack_words_new();
	for (enum table table = 0; table < TABLES && !out->err; table++) {
		int err = open_table(tables, table);

		if (err)
			export_out_fail(out, err, NULL);
	}
	return tables;
}

static void close_table(struct parquet_export *tables, enum table table)
{
	struct open_table *open = &tables->tables[table];
	int err = parquet_finish(open->parquet, "pinch version " PINCH_VERSION);

	if (err && !open->out.err)
		open->out.err = err;
	err = export_out_close(&open->out, true);
	if (err && !tables->out->err)
		export_out_fail(tables->out, err, NULL);
	parquet_free(open->parquet);
}

static void end(void *data)
{
	struct parquet_export *tables = data;

	for (enum table table = 0; table < TABLES; table++) {
		if (tables->tables[table].parquet)
			close_table(tables, table);
		text_fini(&tables->tables[table].path);
	}
	stack_words_free(tables->stacks);
	text_fini(&tables->shown);
	free(tables);
}

const struct export_format parquet_format = {
	.name = "parquet",
	.help = "a directory with tables, for DuckDB and others",
	.lacks = "counters, account of lost records and source lines of frames",
	.is_directory = true,
	.begin = begin,
	.slice = put_slice,
	.wake = put_wake,
	.sample = put_sample,
	.unsampled = put_sample,
	.event = put_own_event,
	.activity = put_activity,
	.end = end,
};
