/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script_fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "activity/lua/lua_language.h"
#include "activity/script_table.h"
#include "session/session.h"
#include "session/threads.h"
#include "values.h"

enum { CELLS_SAID_MAX = 100 };

static void put_parameter(struct text *said, const struct activity_parameter *parameter)
{
	if (parameter->type == PARAMETER_INTEGER)
		text_printf(said, " %s=%" PRId64, parameter->name, parameter->integer);
	else if (parameter->type == PARAMETER_REAL)
		text_printf(said, " %s=%g", parameter->name, parameter->real);
	else
		text_printf(said, " %s=%s", parameter->name, parameter->string);
}

static bool emit(void *data, const struct activity *activity)
{
	struct script_stage *stage = data;

	stage->made_count++;
	text_printf(&stage->said, "%s %" PRIu64 " %" PRIu64 " %u", activity->name, activity->begin_ns, activity->end_ns,
		    activity->thread);
	for (size_t i = 0; i < activity->parameter_count; i++)
		put_parameter(&stage->said, &activity->parameters[i]);
	text_put(&stage->said, "\n");
	return true;
}

static void put_cell(struct text *said, const struct table_cell *cell)
{
	if (cell->type == CELL_INTEGER)
		text_printf(said, " %" PRId64, cell->integer);
	else if (cell->type == CELL_REAL)
		text_printf(said, " %g", cell->real);
	else
		text_printf(said, " %s", cell->type == CELL_TEXT ? cell->text : "-");
}

static void show(void *data, const struct script_table *table)
{
	struct script_stage *stage = data;

	stage->table_count++;
	stage->row_count = table->row_count;
	stage->rows_left_out = table->rows_left_out;
	stage->texts_cut = table->texts_cut;
	text_printf(&stage->said, "%s %s:", table_view_name(table->view), table->title);
	for (size_t i = 0; i < table->column_count; i++)
		text_printf(&stage->said, " %s/%s", table->columns[i].name,
			    table->columns[i].unit ? table_unit_name(table->columns[i].unit) : "");
	for (size_t i = 0; i < table->row_count * table->column_count && i < CELLS_SAID_MAX; i++) {
		if (i % table->column_count == 0)
			text_put(&stage->said, " |");
		put_cell(&stage->said, &table->cells[i]);
	}
	text_put(&stage->said, "\n");
}

static void print(void *data, const char *line, size_t line_bytes)
{
	struct script_stage *stage = data;

	text_put_bytes(&stage->said, line, line_bytes);
	text_put(&stage->said, "\n");
}

static void deliver(struct script_stage *stage, uint32_t number, uint32_t tid, uint16_t cpu, const char *name)
{
	struct ev_thread_found found = {
		.header = { .thread = number, .subsys = TRACE_SUBSYS_THREAD, .event = TRACE_EVENT_THREAD_FOUND },
		.tid = tid,
		.pid = 500,
		.phase = PHASE_RUNNING,
		.cpu = cpu,
	};

	memcpy(found.name, name, strlen(name));
	session_hand_out(stage->session, &found.header);
}

void script_stage_begin(struct script_stage *stage)
{
	memset(stage, 0, sizeof(*stage));
	stage->session = session_new(1, 1 << 20);
	stage->threads = threads_new(stage->session);
	stage->context = event_context_new(stage->session, stage->threads, true);
	stage->host = (struct script_host){ .emit = emit, .print = print, .show = show, .data = stage };
	deliver(stage, 1, 500, 0, "app");
	deliver(stage, 2, 501, 3, "worker");
}

void script_stage_end(struct script_stage *stage)
{
	if (stage->state)
		lua_language.close(stage->state);
	event_context_free(stage->context);
	threads_free(stage->threads);
	session_free(stage->session);
	text_fini(&stage->why);
	text_fini(&stage->said);
}

int script_stage_open(struct script_stage *stage, const char *text)
{
	return lua_language.open("test.lua", text, strlen(text), &stage->host, &stage->state, &stage->parts,
				 &stage->why);
}

const struct named_event *script_stage_switch(struct script_stage *stage, uint64_t time_ns)
{
	static struct ev_sched_switch e;
	static struct named_event event;

	e = (struct ev_sched_switch){
		.header = { .time_ns = time_ns,
			    .thread = 2,
			    .subsys = TRACE_SUBSYS_SCHED,
			    .event = TRACE_EVENT_SCHED_SWITCH },
		.next = 1,
		.state = SWITCH_BLOCKED,
		.cpu = 3,
		.owners = { 7, 8, 9 },
	};
	event = named_event_of(stage->context, event_kind_find(TRACE_SUBSYS_SCHED, TRACE_EVENT_SCHED_SWITCH), &e.header,
			       sizeof(e), 1000);
	return &event;
}

/* One for each name: what is known of a kind is kept by its address. */
static const struct event_kind *own_kind(const char *subsystem, const char *name)
{
	enum { KINDS_MAX = 64 };
	static struct event_kind kinds[KINDS_MAX];
	size_t i = 0;

	while (i < KINDS_MAX && kinds[i].event && (strcmp(kinds[i].event, name) || strcmp(kinds[i].subsys, subsystem)))
		i++;
	if (i == KINDS_MAX)
		abort();
	kinds[i] = (struct event_kind){ .subsys = subsystem, .event = name, .size_bytes = sizeof(struct ev_header) };
	return &kinds[i];
}

const struct named_event *script_stage_own(struct script_stage *stage, uint64_t time_ns, const char *subsystem,
					   const char *name, uint32_t argument)
{
	static struct ev_header header;
	static struct named_event event;

	header = (struct ev_header){ .time_ns = time_ns, .thread = 2 };
	event = named_event_of(stage->context, own_kind(subsystem, name), &header, sizeof(header), 1000);
	named_event_set_own(&event, argument);
	return &event;
}

int script_stage_event(struct script_stage *stage, const struct named_event *event)
{
	return lua_language.on_event(stage->state, event, &stage->why);
}

int script_stage_filter(struct script_stage *stage, const struct named_event *event, bool *passes)
{
	return lua_language.filter(stage->state, event, passes, &stage->why);
}

int script_stage_activity(struct script_stage *stage, const struct activity *activity)
{
	return lua_language.on_activity(stage->state, activity, &stage->why);
}

int script_stage_finish(struct script_stage *stage)
{
	return lua_language.finish(stage->state, &stage->why);
}
