/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/lane_marks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "engine/trace_open.h"
#include "lanes/lanes.h"
#include "lanes/own_marks.h"
#include "session/event_kinds.h"
#include "trace/trace_format.h"
#include "trace/trace_reader.h"

enum { MARKS_MAX = 5000, CHUNKS_MAX = 16 };

struct lane_marks {
	const struct lanes *lanes;
	struct trace_reader *trace;
	struct own_marks *marks;
};

int lane_marks_open(const char *trace_path, const struct lanes *lanes, struct lane_marks **out)
{
	struct lane_marks *marks = xcalloc(1, sizeof(*marks));
	int err = trace_open(trace_path, &marks->trace);

	if (err) {
		free(marks);
		return err;
	}
	marks->lanes = lanes;
	marks->marks = own_marks_new(marks->trace, MARKS_MAX);
	*out = marks;
	return 0;
}

void lane_marks_close(struct lane_marks *marks)
{
	if (!marks)
		return;
	own_marks_free(marks->marks);
	trace_reader_close(marks->trace);
	free(marks);
}

/* Schemas may have come: names are looked up anew. */
void lane_marks_grow(struct lane_marks *marks)
{
	if (trace_reader_grow(marks->trace))
		return;
	own_marks_free(marks->marks);
	marks->marks = own_marks_new(marks->trace, MARKS_MAX);
}

/* id + 1, by thread + 1. */
static struct table *lanes_by_thread(const struct lanes *lanes, const uint32_t *ids, size_t count)
{
	struct table *table = table_new();

	for (size_t i = 0; i < count; i++) {
		const struct lane *lane = &lanes->list[ids[i]];

		if (lane->kind == LANE_THREAD)
			table_put(table, lanes->threads[lane->first_thread].number + 1ull,
				  (void *)(uintptr_t)(ids[i] + 1ull));
	}
	return table;
}

struct stretch {
	uint64_t from_ns, to_ns;
	struct table *lanes;
};

static void read_chunk(struct lane_marks *marks, const struct stretch *stretch, size_t chunk, uint64_t first_ns)
{
	const struct ev_header *header;
	int got;

	trace_reader_seek(marks->trace, first_ns);
	while ((got = trace_reader_next(marks->trace, &header)) == 1 || got == -EBADMSG) {
		uintptr_t lane;

		if (trace_reader_at(marks->trace) > chunk)
			return;
		if (got != 1 || trace_reader_at(marks->trace) < chunk || header->subsys != TRACE_SUBSYS_USER ||
		    header->event != TRACE_EVENT_USER_EVENT || header->time_ns < stretch->from_ns ||
		    header->time_ns >= stretch->to_ns)
			continue;
		lane = (uintptr_t)table_find(stretch->lanes, header->thread + 1ull);
		if (lane)
			own_marks_add(marks->marks, (const struct ev_user_event *)header, lane - 1);
	}
}

static bool is_in(const struct trace_place *place, const struct stretch *stretch)
{
	return place->kind == TRACE_CHUNK_EVENTS && place->first_ns < stretch->to_ns &&
	       place->last_ns >= stretch->from_ns;
}

/* Returns how many events lie in the chunks that it did not read. */
static uint64_t read_stretch(struct lane_marks *marks, const struct stretch *stretch)
{
	uint64_t unread = 0;
	size_t count, chunks = 0, at = 0;
	const struct trace_place *places = trace_reader_places(marks->trace, &count);

	for (size_t i = 0; i < count; i++)
		chunks += is_in(&places[i], stretch);
	for (size_t i = 0; i < count; i++) {
		if (!is_in(&places[i], stretch))
			continue;
		if (chunks <= CHUNKS_MAX || at * CHUNKS_MAX / chunks != (at + 1) * CHUNKS_MAX / chunks)
			read_chunk(marks, stretch, i, places[i].first_ns);
		else
			unread += places[i].count;
		at++;
	}
	return unread;
}

void lane_marks_put_json(struct lane_marks *marks, const uint32_t *ids, size_t count, uint64_t from_ns, uint64_t to_ns,
			 uint64_t first_ns, struct text *out)
{
	struct stretch stretch = { from_ns, to_ns, lanes_by_thread(marks->lanes, ids, count) };

	uint64_t unread;

	own_marks_clear(marks->marks);
	unread = read_stretch(marks, &stretch);
	own_marks_put_json(marks->marks, first_ns, unread, out);
	table_free(stretch.lanes);
}
