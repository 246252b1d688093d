/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/byte_cursor.h"
#include "base/memory.h"
#include "base/table.h"
#include "states/activity.h"
#include "trace/trace_reader.h"

enum { OPEN_CHUNKS = 4, COUNT_MAX = 1 << 20, NAMES_MAX = 4096 };

struct open_chunk {
	size_t number; /* among the places */
	uint64_t used;
	struct activity *list; /* by their ends */
	uint64_t *first_ns;    /* when the first of this one and all behind it begins */
	size_t count;
};

struct activities {
	struct trace_reader *file;
	struct place {
		size_t chunk;
		uint64_t last_ns;
		uint64_t first_ns; /* of this one and all behind it */
	} * places;
	size_t place_count, place_capacity;
	size_t chunks; /* of the file, that were looked at */
	struct open_chunk open[OPEN_CHUNKS];
	uint64_t uses;
	struct table *names; /* of interrupts, by number plus 1 */
	struct arena *arena;
};

static void read_names(struct activities *activities, const void *bytes, size_t size_bytes)
{
	struct byte_cursor cursor = byte_cursor_new(bytes, size_bytes);

	while (byte_cursor_left(&cursor) && table_count(activities->names) < NAMES_MAX) {
		uint32_t number = byte_cursor_uleb(&cursor);
		const char *name = byte_cursor_string(&cursor);

		if (!cursor.is_bad)
			table_put(activities->names, (uint64_t)number + 1, arena_strdup(activities->arena, name));
	}
}

struct activities *activities_new(struct trace_reader *file)
{
	struct activities *activities = xcalloc(1, sizeof(*activities));

	activities->file = file;
	activities->names = table_new();
	activities->arena = arena_new();
	activities_grow(activities);
	return activities;
}

static void add_place(struct activities *activities, const struct trace_place *place)
{
	ARRAY_GROW(activities->places, activities->place_count, activities->place_capacity, 16);
	activities->places[activities->place_count++] =
		(struct place){ activities->chunks, place->last_ns, place->first_ns };
}

void activities_grow(struct activities *activities)
{
	size_t count, size_bytes;
	const struct trace_place *places = trace_reader_places(activities->file, &count);
	const void *content;

	for (; activities->chunks < count; activities->chunks++) {
		const struct trace_place *place = &places[activities->chunks];

		if (place->kind == TRACE_CHUNK_ACTIVITIES)
			add_place(activities, place);
		else if (place->kind == TRACE_CHUNK_ACTIVITY_NAMES &&
			 !trace_reader_content(activities->file, activities->chunks, &content, &size_bytes))
			read_names(activities, content, size_bytes);
	}
	for (size_t i = activities->place_count; i-- > 1;)
		if (activities->places[i].first_ns < activities->places[i - 1].first_ns)
			activities->places[i - 1].first_ns = activities->places[i].first_ns;
}

static void forget(struct open_chunk *open)
{
	free(open->list);
	free(open->first_ns);
}

void activities_free(struct activities *activities)
{
	if (!activities)
		return;
	for (size_t i = 0; i < OPEN_CHUNKS; i++)
		forget(&activities->open[i]);
	table_free(activities->names);
	arena_free(activities->arena);
	free(activities->places);
	free(activities);
}

bool activities_are_recorded(const struct activities *activities)
{
	return activities->place_count;
}

static void read_chunk(struct open_chunk *open, const void *bytes, size_t size_bytes, size_t count)
{
	struct byte_cursor cursor = byte_cursor_new(bytes, size_bytes);
	uint64_t end_ns = 0;

	if (count > COUNT_MAX || count > size_bytes)
		return;
	open->list = xcalloc(count + 1, sizeof(*open->list));
	for (; open->count < count; open->count++) {
		struct activity *activity = &open->list[open->count];

		activity->end_ns = end_ns += byte_cursor_uleb(&cursor);
		activity->begin_ns = end_ns - byte_cursor_uleb(&cursor);
		activity->kind = byte_cursor_uleb(&cursor);
		activity->operation = byte_cursor_uleb(&cursor);
		activity->resource = byte_cursor_uleb(&cursor);
		activity->thread = byte_cursor_uleb(&cursor);
		activity->tid = byte_cursor_uleb(&cursor);
		activity->detail = byte_cursor_uleb(&cursor);
		if (cursor.is_bad || activity->kind >= ACTIVITY_KINDS || activity->begin_ns > activity->end_ns)
			return;
	}
}

static const struct open_chunk *open_chunk(struct activities *activities, size_t number)
{
	struct open_chunk *open = &activities->open[0];
	const struct trace_place *places;
	size_t count, size_bytes;
	const void *content;

	for (size_t i = 0; i < OPEN_CHUNKS; i++) {
		if (activities->open[i].used && activities->open[i].number == number) {
			activities->open[i].used = ++activities->uses;
			return &activities->open[i];
		}
		if (activities->open[i].used < open->used)
			open = &activities->open[i];
	}
	forget(open);
	*open = (struct open_chunk){ .number = number, .used = ++activities->uses };
	places = trace_reader_places(activities->file, &count);
	if (!trace_reader_content(activities->file, activities->places[number].chunk, &content, &size_bytes))
		read_chunk(open, content, size_bytes, places[activities->places[number].chunk].count);
	open->first_ns = xcalloc(open->count + 1, sizeof(*open->first_ns));
	open->first_ns[open->count] = UINT64_MAX;
	for (size_t i = open->count; i-- > 0;)
		open->first_ns[i] =
			open->list[i].begin_ns < open->first_ns[i + 1] ? open->list[i].begin_ns : open->first_ns[i + 1];
	return open;
}

/* The first place that ends after time_ns. */
static size_t first_after(const struct activities *activities, uint64_t time_ns)
{
	return BOUND(0, activities->place_count, i, activities->places[i].last_ns <= time_ns);
}

void activities_each(struct activities *activities, uint64_t from_ns, uint64_t to_ns,
		     void (*on_activity)(void *data, const struct activity *activity), void *data)
{
	for (size_t i = first_after(activities, from_ns);
	     i < activities->place_count && activities->places[i].first_ns < to_ns; i++) {
		const struct open_chunk *open = open_chunk(activities, i);

		for (size_t k = BOUND(0, open->count, j, open->list[j].end_ns <= from_ns);
		     k < open->count && open->first_ns[k] < to_ns; k++)
			if (open->list[k].begin_ns < to_ns && open->list[k].end_ns > from_ns)
				on_activity(data, &open->list[k]);
	}
}

const char *activities_interrupt_name(const struct activities *activities, uint32_t number)
{
	return table_find(activities->names, (uint64_t)number + 1);
}
