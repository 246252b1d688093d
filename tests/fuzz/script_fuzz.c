/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes are a script, which gets two events. Whatever it does, each call returns, its memory stays below the limit, and what fails has a
 * message.
 */
#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "activity/lua/lua_language.h"
#include "activity/named_event.h"
#include "activity/script_language.h"
#include "activity/script_table.h"
#include "base/text.h"
#include "session/session.h"
#include "session/threads.h"

static struct event_context *context;

static bool emit(void *data, const struct activity *activity)
{
	(void)data;
	if (!*activity->name || activity->end_ns < activity->begin_ns)
		abort();
	return true;
}

static void show(void *data, const struct script_table *table)
{
	(void)data;
	if (!table->column_count || table->column_count > TABLE_COLUMNS_MAX || table->row_count > TABLE_ROWS_MAX)
		abort();
	for (size_t i = 0; i < table->row_count * table->column_count; i++)
		if (table->cells[i].type == CELL_TEXT && strlen(table->cells[i].text) > TABLE_CELL_BYTES_MAX)
			abort();
}

static void print(void *data, const char *line, size_t line_bytes)
{
	(void)data;
	if (line[line_bytes])
		abort();
}

static void check(int err, const struct text *why)
{
	if (err && !why->length)
		abort();
}

static int give(void *state, const struct script_parts *parts, struct text *why)
{
	static const struct ev_sched_switch e = {
		.header = { .time_ns = 5,
			    .thread = 1,
			    .subsys = TRACE_SUBSYS_SCHED,
			    .event = TRACE_EVENT_SCHED_SWITCH },
		.next = 2,
	};
	const struct event_kind *kind = event_kind_find(TRACE_SUBSYS_SCHED, TRACE_EVENT_SCHED_SWITCH);
	struct named_event event = named_event_of(context, kind, &e.header, sizeof(e), 1);
	bool passes;
	int err = parts->has_filter ? lua_language.filter(state, &event, &passes, why) : 0;

	named_event_set_own(&event, 7);
	if (!err && parts->has_decoder)
		err = lua_language.on_event(state, &event, why);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	struct script_host host = { .emit = emit, .print = print, .show = show };
	struct script_parts parts;
	struct text why = { 0 };
	void *state;
	int err;

	if (!context) {
		struct session *session = session_new(1, 0);

		context = event_context_new(session, threads_new(session), true);
	}
	host.context = context;
	err = lua_language.open("fuzz.lua", (const char *)bytes, size_bytes, &host, &state, &parts, &why);
	check(err, &why);
	if (!err) {
		err = give(state, &parts, &why);
		if (!err && parts.has_activity_handler)
			err = lua_language.on_activity(
				state, &(struct activity){ .name = "x", .begin_ns = 1, .end_ns = 2 }, &why);
		if (!err && parts.has_finish)
			err = lua_language.finish(state, &why);
		check(err, &why);
		lua_language.close(state);
	}
	text_fini(&why);
	return 0;
}
