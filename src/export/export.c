/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/export.h"

#include <errno.h>
#include <string.h>

#include "activity/activity.h"
#include "activity/parameter_text.h"
#include "base/fail.h"
#include "base/text.h"
#include "export/export_choice.h"
#include "export/export_files.h"
#include "export/export_format.h"
#include "export/export_names.h"
#include "export/export_out.h"
#include "export/export_state.h"
#include "export/export_walk.h"
#include "export/formats.h"
#include "export/stack_sums.h"
#include "query/trace_states.h"
#include "rows/event_line.h"
#include "rows/row_choice.h"
#include "rows/row_reader.h"
#include "session/event_kinds.h"
#include "trace/trace_reader.h"

enum { FIELDS_BYTES_MAX = 4096 };

const struct export_format *const export_formats[] = {
	&perfetto_format, &speedscope_format, &folded_format,  &chrome_format, &pprof_format,  &csv_format,
	&firefox_format,  &ctf_format,        &parquet_format, &otlp_format,   &rollup_format, NULL,
};

const struct export_format *export_format_find(const char *name)
{
	for (size_t i = 0; export_formats[i]; i++)
		if (!strcmp(export_formats[i]->name, name))
			return export_formats[i];
	return NULL;
}

/* A walk over the states, and the events that come meanwhile. */
struct exporting {
	struct export_walk walk;
	struct export_out *out;
	struct row_reader *rows;   /* NULL: the format has no events */
	struct row_choice *choice; /* NULL: it has no activities */
	struct trace_reader *reader;
	const struct ev_header *event; /* the next one; NULL: there is none */
	struct event_line line;
	struct text name, fields;
	int err;
};

/* --- Events ----------------------------------------------------------------------------------- */

static void take_activity(void *data, const struct activity *activity)
{
	struct exporting *exporting = data;
	const struct export_options *options = exporting->walk.options;
	struct walked_thread *thread = export_walk_find(&exporting->walk, activity->thread);

	if (!thread || activity->end_ns < options->from_ns || activity->begin_ns >= options->to_ns ||
	    !export_choice_has_any(options->choice, activity->thread, activity->begin_ns, activity->end_ns))
		return;
	exporting->fields.length = 0;
	text_put(&exporting->fields, "");
	for (size_t i = 0; i < activity->parameter_count && exporting->fields.length < FIELDS_BYTES_MAX; i++) {
		if (i)
			text_put(&exporting->fields, " ");
		activity_parameter_put(&exporting->fields, &activity->parameters[i]);
	}
	exporting->walk.format->activity(exporting->walk.data, &(struct export_activity){
								       .thread = &thread->thread,
								       .number = ++exporting->walk.counts->activities,
								       .begin_ns = activity->begin_ns,
								       .end_ns = activity->end_ns,
								       .name = activity->name,
								       .fields = exporting->fields.bytes,
							       });
}

static void take_own_event(struct exporting *exporting, struct walked_thread *thread)
{
	const struct event_line *line = &exporting->line;

	exporting->name.length = exporting->fields.length = 0;
	text_printf(&exporting->name, "%s.%s", line->kind->subsys, line->kind->event);
	text_put(&exporting->fields, "");
	event_line_put_fields(&exporting->fields, line);
	exporting->walk.counts->events++;
	exporting->walk.format->event(exporting->walk.data, &(struct export_event){
								    .thread = &thread->thread,
								    .time_ns = exporting->event->time_ns,
								    .name = exporting->name.bytes,
								    .fields = exporting->fields.bytes,
							    });
}

static bool is_sample(const struct ev_header *header)
{
	return header->subsys == TRACE_SUBSYS_SCHED && header->event == TRACE_EVENT_SCHED_SAMPLE;
}

static void follow_exec(struct exporting *exporting)
{
	const struct ev_header *event = exporting->event;

	if (event->subsys == TRACE_SUBSYS_SPACE && event->event == TRACE_EVENT_SPACE_EXEC)
		export_names_exec(exporting->walk.names, ((const struct ev_space_exec *)event)->pid);
}

static void take_event(struct exporting *exporting)
{
	const struct ev_header *event = exporting->event;
	const struct export_options *options = exporting->walk.options;
	bool is_own = exporting->line.argument && exporting->walk.format->event;
	struct walked_thread *thread;

	if (exporting->choice)
		row_choice_take(exporting->choice, trace_reader_known(exporting->reader), &exporting->line);
	follow_exec(exporting);
	if (exporting->walk.sums || exporting->walk.format->files)
		export_files_take(exporting->walk.files, event);
	if (event->time_ns < options->from_ns || event->time_ns >= options->to_ns || (!is_own && !is_sample(event)))
		return;
	thread = export_walk_find(&exporting->walk, event->thread);
	if (thread && options->choice && !thread->is_state_chosen)
		thread = NULL;
	if (thread && is_own)
		take_own_event(exporting, thread);
	else if (thread)
		export_sample(&exporting->walk, thread, (const struct ev_sched_sample *)event);
}

/* Damaged parts are left out, as the history of states has it. */
static void next_event(struct exporting *exporting)
{
	int got;

	exporting->event = NULL;
	if (!exporting->rows)
		return;
	do {
		got = row_reader_next(exporting->rows, &exporting->line);
		if (got < 0 && got != -EBADMSG)
			exporting->err = fail(got, "cannot read %s", exporting->walk.options->path);
	} while (got == -EBADMSG || (got == 1 && !trace_reader_known(exporting->reader)));
	if (got == 1)
		exporting->event = trace_reader_known(exporting->reader);
}

static int open_events(struct exporting *exporting)
{
	const struct export_options *options = exporting->walk.options;
	const struct export_format *format = options->format;
	int err;

	if (!format->sample && !format->event && !format->activity && !format->sums)
		return 0;
	err = row_reader_open(options->path, &exporting->rows);
	if (err)
		return err;
	exporting->reader = row_reader_trace(exporting->rows);
	if (!format->activity)
		return 0;
	return row_choice_open(
		&(struct row_choice_options){
			.filter = { .to_ns = UINT64_MAX },
			.sink = { take_activity, exporting },
		},
		exporting->reader, options->path, &exporting->choice);
}

/* --- All of it -------------------------------------------------------------------------------- */

static void walk_all(struct exporting *exporting)
{
	struct export_walk *walk = &exporting->walk;

	next_event(exporting);
	while (!exporting->err && !exporting->out->err) {
		uint64_t next_ns = export_walk_next_ns(walk);

		if (exporting->event && exporting->event->time_ns <= next_ns) {
			if (exporting->event->time_ns >= walk->options->to_ns)
				break;
			export_walk_advance(walk, exporting->event->time_ns);
			take_event(exporting);
			next_event(exporting);
		} else if (next_ns != UINT64_MAX) {
			export_walk_step(walk);
		} else {
			break;
		}
		export_names_trim(walk->names);
		export_out_step(exporting->out);
	}
	while (walk->heap_count && !exporting->out->err) {
		export_walk_step(walk);
		export_names_trim(walk->names);
		export_out_step(exporting->out);
	}
	if (exporting->choice)
		row_choice_finish(exporting->choice);
	export_unsampled(walk);
}

static void put_all(struct exporting *exporting)
{
	struct export_walk *walk = &exporting->walk;
	const struct export_format *format = walk->format;

	walk->data = format->begin(exporting->out, walk->all);
	if (format->sums)
		walk->sums = stack_sums_new();
	walk_all(exporting);
	if (format->files)
		format->files(walk->data, walk->files);
	if (walk->sums) {
		format->sums(walk->data, walk->sums, walk->files);
		walk->counts->stacks_left_out_ns = stack_sums_left_out_ns(walk->sums);
	}
	format->end(walk->data);
	stack_sums_free(walk->sums);
}

int export_run(const struct trace_states *all, const struct export_options *options, struct export_out *out,
	       struct export_counts *counts)
{
	struct exporting exporting = { .out = out };
	int err;

	*counts = (struct export_counts){ 0 };
	export_walk_init(&exporting.walk, all, options, export_state, counts);
	err = open_events(&exporting);
	if (!err) {
		put_all(&exporting);
		err = exporting.err;
	}
	row_choice_close(exporting.choice);
	if (exporting.rows)
		row_reader_close(exporting.rows);
	text_fini(&exporting.name);
	text_fini(&exporting.fields);
	export_walk_fini(&exporting.walk);
	return err;
}
