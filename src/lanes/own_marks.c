/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/own_marks.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "own/own_events.h"
#include "session/event_kinds.h"
#include "view/json/json_parts.h"

enum { NAMES_MAX = 4096, WAKES_MAX = 20000 };

struct mark {
	uint64_t time_ns;
	uint32_t line, name, argument;
};

struct wake {
	uint64_t time_ns;
	uint32_t line;
};

struct own_marks {
	struct own_events *own;
	struct table *names; /* number + 1, by the address of a kind of event */
	const struct event_kind **kinds;
	size_t kind_count, kind_capacity;
	struct mark *list;
	size_t count, capacity, max;
	uint64_t seen, step; /* each step-th is kept */
	struct wake *wakes;
	size_t wake_count, wake_capacity;
	uint64_t wakes_left_out;
};

struct own_marks *own_marks_new(struct trace_reader *trace, size_t max)
{
	struct own_marks *marks = xcalloc(1, sizeof(*marks));

	marks->own = own_events_new();
	marks->names = table_new();
	marks->max = max;
	marks->step = 1;
	own_events_read(marks->own, trace);
	return marks;
}

void own_marks_free(struct own_marks *marks)
{
	if (!marks)
		return;
	own_events_free(marks->own);
	table_free(marks->names);
	free(marks->kinds);
	free(marks->list);
	free(marks->wakes);
	free(marks);
}

void own_marks_clear(struct own_marks *marks)
{
	marks->count = 0;
	marks->seen = 0;
	marks->step = 1;
	marks->wake_count = 0;
	marks->wakes_left_out = 0;
}

/* Its number + 1; 0: there are too many. */
static uintptr_t name_of(struct own_marks *marks, const struct event_kind *kind)
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
static void thin_out(struct own_marks *marks)
{
	for (size_t i = 0; i < marks->count / 2; i++)
		marks->list[i] = marks->list[2 * i];
	marks->count /= 2;
	marks->step *= 2;
}

void own_marks_add(struct own_marks *marks, const struct ev_user_event *e, uint32_t line)
{
	struct own_event event;
	uintptr_t name;

	own_events_find(marks->own, e, &event);
	name = event.kind ? name_of(marks, event.kind) : 0;
	if (!name || marks->seen++ % marks->step)
		return;
	if (marks->count == marks->max)
		thin_out(marks);
	ARRAY_GROW(marks->list, marks->count, marks->capacity, 256);
	marks->list[marks->count++] = (struct mark){ e->header.time_ns, line, name - 1, e->argument };
}

void own_marks_add_wake(struct own_marks *marks, uint64_t time_ns, uint32_t line)
{
	if (marks->wake_count == WAKES_MAX) {
		marks->wakes_left_out++;
		return;
	}
	ARRAY_GROW(marks->wakes, marks->wake_count, marks->wake_capacity, 256);
	marks->wakes[marks->wake_count++] = (struct wake){ time_ns, line };
}

size_t own_marks_count(const struct own_marks *marks)
{
	return marks->count;
}

static void put_mark(struct json *json, const struct mark *mark, uint64_t begin_ns)
{
	json_on_one_line(json);
	json_begin_array(json);
	json_uint(json, mark->line);
	json_uint(json, mark->time_ns > begin_ns ? mark->time_ns - begin_ns : 0);
	json_uint(json, mark->name);
	json_uint(json, mark->argument);
	json_end_array(json);
}

static void put_wakes(struct json *json, const struct own_marks *marks, uint64_t begin_ns)
{
	json_key(json, "wakes");
	json_begin_array(json);
	for (size_t i = 0; i < marks->wake_count; i++) {
		json_on_one_line(json);
		json_begin_array(json);
		json_uint(json, marks->wakes[i].line);
		json_uint(json, marks->wakes[i].time_ns > begin_ns ? marks->wakes[i].time_ns - begin_ns : 0);
		json_end_array(json);
	}
	json_end_array(json);
	json_put_uint(json, "wakes_left_out", marks->wakes_left_out);
}

static void put_names(struct json *json, const struct own_marks *marks)
{
	json_key(json, "names");
	json_begin_array(json);
	for (size_t i = 0; i < marks->kind_count; i++) {
		struct text name = { 0 };

		text_printf(&name, "%s.%s", marks->kinds[i]->subsys, marks->kinds[i]->event);
		json_string(json, name.bytes);
		text_fini(&name);
	}
	json_end_array(json);
}

void own_marks_put_json(const struct own_marks *marks, uint64_t begin_ns, uint64_t unread, bool is_counted,
			struct text *out)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	put_names(&json, marks);
	json_key(&json, "marks");
	json_begin_array(&json);
	for (size_t i = 0; i < marks->count; i++)
		put_mark(&json, &marks->list[i], begin_ns);
	json_end_array(&json);
	json_put_uint(&json, "left_out", marks->seen - marks->count);
	json_put_uint(&json, "unread", unread);
	if (marks->wake_count)
		put_wakes(&json, marks, begin_ns);
	if (!is_counted) {
		json_key(&json, "is_counted");
		json_bool(&json, false);
	}
	json_end_object(&json);
	json_fini(&json);
}
