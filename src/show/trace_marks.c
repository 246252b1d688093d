/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/trace_marks.h"

#include <errno.h>

#include "base/table.h"
#include "engine/trace_open.h"
#include "lanes/own_marks.h"
#include "query/trace_states.h"
#include "session/event_kinds.h"
#include "states/states.h"
#include "trace/trace_reader.h"
#include "view/html/html.h"
#include "view/html/timelines.h"

enum { MARKS_MAX = 20000 };

struct rows {
	struct table *by_thread; /* number + 1 of the row of the time lines, by thread + 1 */
	size_t count;
};

static void add_row(void *data, uint32_t thread)
{
	struct rows *rows = data;

	if (rows->count < TIMELINE_ROWS_MAX)
		table_put(rows->by_thread, thread + 1ull, (void *)(uintptr_t)++rows->count);
}

static void read_marks(struct own_marks *marks, const struct rows *rows, struct trace_reader *reader)
{
	const struct ev_header *header;
	uintptr_t row;
	int got;

	while ((got = trace_reader_next(reader, &header)) == 1 || got == -EBADMSG) {
		if (got != 1 || header->subsys != TRACE_SUBSYS_USER || header->event != TRACE_EVENT_USER_EVENT)
			continue;
		row = (uintptr_t)table_find(rows->by_thread, header->thread + 1ull);
		if (row)
			own_marks_add(marks, (const struct ev_user_event *)header, row - 1);
	}
}

void trace_marks_add(struct html *html, const struct trace_states *all, const char *trace_path)
{
	struct rows rows = { 0 };
	struct trace_reader *reader;
	struct own_marks *marks;

	if (trace_open(trace_path, &reader))
		return;
	marks = own_marks_new(reader, MARKS_MAX);
	rows.by_thread = table_new();
	states_each_thread(all->states, add_row, &rows);
	read_marks(marks, &rows, reader);
	if (own_marks_count(marks))
		own_marks_put_json(marks, states_begin_ns(all->states), 0, true, html_part(html, "marks"));
	trace_reader_close(reader);
	own_marks_free(marks);
	table_free(rows.by_thread);
}
