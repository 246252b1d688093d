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
static struct table *lanes_by_thread(const struct lanes *lanes, const struct mark_question *question)
{
	struct table *table = table_new();

	for (size_t i = 0; i < question->lane_count; i++) {
		const struct lane *lane = &lanes->list[question->lanes[i]];

		if (lane->kind == LANE_THREAD)
			table_put(table, lanes->threads[lane->first_thread].number + 1ull,
				  (void *)(uintptr_t)(question->lanes[i] + 1ull));
	}
	return table;
}

struct stretch {
	const struct mark_question *question;
	struct table *lanes;
};

static bool is_event(const struct ev_header *header, unsigned int id)
{
	return header->subsys == id >> 16 && header->event == (id & 0xffff);
}

static void take(struct lane_marks *marks, const struct stretch *stretch, const struct ev_header *header)
{
	const struct mark_question *question = stretch->question;
	const struct mark_choice *choice = question->choice;
	bool is_own = is_event(header, EV_USER_EVENT), is_wake = choice && is_event(header, EV_SCHED_WAKE);
	uintptr_t lane;

	if ((!is_own && !is_wake) || header->time_ns < question->from_ns || header->time_ns >= question->to_ns)
		return;
	lane = (uintptr_t)table_find(stretch->lanes, header->thread + 1ull);
	if (!lane || (choice && !choice->has(choice->data, trace_reader_event_at(marks->trace))))
		return;
	if (is_own)
		own_marks_add(marks->marks, (const struct ev_user_event *)header, lane - 1);
	else
		own_marks_add_wake(marks->marks, header->time_ns, lane - 1);
}

/* As the reader of rows counts them, if they are chosen by that; then NULL is an event of a kind that is not known here. */
static int next_event(struct lane_marks *marks, const struct mark_choice *choice, const struct ev_header **header)
{
	const struct ev_header *stored;
	size_t size_bytes;
	int got;

	if (!choice)
		return trace_reader_next(marks->trace, header);
	got = trace_reader_next_stored(marks->trace, &stored, &size_bytes);
	*header = got == 1 ? trace_reader_known(marks->trace) : NULL;
	return got;
}

static void read_chunk(struct lane_marks *marks, const struct stretch *stretch, size_t chunk, uint64_t first_ns)
{
	const struct ev_header *header;
	int got;

	trace_reader_seek(marks->trace, first_ns);
	while ((got = next_event(marks, stretch->question->choice, &header)) == 1 || got == -EBADMSG) {
		if (trace_reader_at(marks->trace) > chunk)
			return;
		if (got == 1 && header && trace_reader_at(marks->trace) == chunk)
			take(marks, stretch, header);
	}
}

/* How many events of the chunk may be marks; 0: nobody has to read it. */
static uint64_t count_of(const struct stretch *stretch, const struct trace_place *place, size_t chunk)
{
	const struct mark_question *question = stretch->question;
	uint32_t count;

	if (place->kind != TRACE_CHUNK_EVENTS || place->first_ns >= question->to_ns ||
	    place->last_ns < question->from_ns)
		return 0;
	if (question->choice && question->choice->load(question->choice->data, chunk, &count))
		return count;
	return place->count;
}

/* Whether it is known which of its events are chosen. */
static bool is_known(const struct stretch *stretch, size_t chunk)
{
	const struct mark_choice *choice = stretch->question->choice;
	uint32_t count;

	return !choice || choice->load(choice->data, chunk, &count);
}

/* Returns how many events lie in the chunks that it did not read. *is_counted: they are chosen that are known to be. */
static uint64_t read_stretch(struct lane_marks *marks, const struct stretch *stretch, bool *is_counted)
{
	uint64_t unread = 0, of_chunk;
	size_t count, chunks = 0, at = 0;
	const struct trace_place *places = trace_reader_places(marks->trace, &count);

	for (size_t i = 0; i < count; i++)
		chunks += count_of(stretch, &places[i], i) > 0;
	for (size_t i = 0; i < count; i++) {
		of_chunk = count_of(stretch, &places[i], i);
		if (!of_chunk)
			continue;
		*is_counted &= is_known(stretch, i);
		if (is_known(stretch, i) &&
		    (chunks <= CHUNKS_MAX || at * CHUNKS_MAX / chunks != (at + 1) * CHUNKS_MAX / chunks))
			read_chunk(marks, stretch, i, places[i].first_ns);
		else
			unread += of_chunk;
		at++;
	}
	return unread;
}

void lane_marks_put_json(struct lane_marks *marks, const struct mark_question *question, struct text *out)
{
	struct stretch stretch = { question, lanes_by_thread(marks->lanes, question) };
	bool is_counted = true;
	uint64_t unread;

	own_marks_clear(marks->marks);
	unread = read_stretch(marks, &stretch, &is_counted);
	own_marks_put_json(marks->marks, question->first_ns, unread, is_counted, out);
	table_free(stretch.lanes);
}
