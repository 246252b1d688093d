/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/trace_marks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "engine/trace_open.h"
#include "own/own_events.h"
#include "query/trace_states.h"
#include "session/event_kinds.h"
#include "states/states.h"
#include "trace/trace_reader.h"
#include "view/html/html.h"
#include "view/html/timelines.h"
#include "view/json/json_parts.h"

enum { MARKS_MAX = 20000, NAMES_MAX = 4096 };

struct mark {
	uint64_t time_ns;
	uint32_t row, name, argument;
};

struct marks {
	struct own_events *own;
	struct table *rows;  /* of the time lines: number + 1, by thread + 1 */
	struct table *names; /* number + 1, by the address of a kind of event */
	const struct event_kind **kinds;
	size_t kind_count, kind_capacity, row_count;
	struct mark *list;
	size_t count, capacity;
	uint64_t seen, step; /* each step-th is kept */
};

static void add_row(void *data, uint32_t thread)
{
	struct marks *marks = data;

	if (marks->row_count < TIMELINE_ROWS_MAX)
		table_put(marks->rows, thread + 1ull, (void *)(uintptr_t)++marks->row_count);
}

/* Its number + 1; 0: there are too many. */
static uintptr_t name_of(struct marks *marks, const struct event_kind *kind)
{
	uint64_t key = (uint64_t)(uintptr_t)kind;
	uintptr_t name = (uintptr_t)table_find(marks->names, key);

	if (name || marks->kind_count == NAMES_MAX)
		return name;
	ARRAY_GROW(marks->kinds, marks->kind_count, marks->kind_capacity, 16);
	marks->kinds[marks->kind_count++] = kind;
	table_put(marks->names, key, (void *)marks->kind_count);
	return marks->kind_count;
}

/* Twice as far apart: every other one of those that there are goes. */
static void thin_out(struct marks *marks)
{
	for (size_t i = 0; i < marks->count / 2; i++)
		marks->list[i] = marks->list[2 * i];
	marks->count /= 2;
	marks->step *= 2;
}

static void add_mark(struct marks *marks, const struct ev_user_event *e)
{
	uintptr_t row = (uintptr_t)table_find(marks->rows, e->header.thread + 1ull), name;
	struct own_event event;

	own_events_find(marks->own, e, &event);
	name = row && event.kind ? name_of(marks, event.kind) : 0;
	if (!name || marks->seen++ % marks->step)
		return;
	if (marks->count == MARKS_MAX)
		thin_out(marks);
	ARRAY_GROW(marks->list, marks->count, marks->capacity, 256);
	marks->list[marks->count++] = (struct mark){ e->header.time_ns, row - 1, name - 1, e->argument };
}

static void read_marks(struct marks *marks, struct trace_reader *reader)
{
	const struct ev_header *header;
	int got;

	own_events_read(marks->own, reader);
	while ((got = trace_reader_next(reader, &header)) == 1 || got == -EBADMSG)
		if (got == 1 && header->subsys == TRACE_SUBSYS_USER && header->event == TRACE_EVENT_USER_EVENT)
			add_mark(marks, (const struct ev_user_event *)header);
}

static void put_mark(struct json *json, const struct mark *mark, uint64_t begin_ns)
{
	json_on_one_line(json);
	json_begin_array(json);
	json_uint(json, mark->row);
	json_uint(json, mark->time_ns > begin_ns ? mark->time_ns - begin_ns : 0);
	json_uint(json, mark->name);
	json_uint(json, mark->argument);
	json_end_array(json);
}

static void put_marks(struct text *out, const struct marks *marks, uint64_t begin_ns)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_key(&json, "names");
	json_begin_array(&json);
	for (size_t i = 0; i < marks->kind_count; i++) {
		struct text name = { 0 };

		text_printf(&name, "%s.%s", marks->kinds[i]->subsys, marks->kinds[i]->event);
		json_string(&json, name.bytes);
		text_fini(&name);
	}
	json_end_array(&json);
	json_key(&json, "marks");
	json_begin_array(&json);
	for (size_t i = 0; i < marks->count; i++)
		put_mark(&json, &marks->list[i], begin_ns);
	json_end_array(&json);
	json_put_uint(&json, "left_out", marks->seen - marks->count);
	json_end_object(&json);
	json_fini(&json);
}

void trace_marks_add(struct html *html, const struct trace_states *all, const char *trace_path)
{
	struct marks marks = { .step = 1 };
	struct trace_reader *reader;

	if (trace_open(trace_path, &reader))
		return;
	marks.own = own_events_new();
	marks.rows = table_new();
	marks.names = table_new();
	states_each_thread(all->states, add_row, &marks);
	read_marks(&marks, reader);
	if (marks.count)
		put_marks(html_part(html, "marks"), &marks, states_begin_ns(all->states));
	trace_reader_close(reader);
	own_events_free(marks.own);
	table_free(marks.rows);
	table_free(marks.names);
	free(marks.kinds);
	free(marks.list);
}
