/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/event_times.h"
#include "trace/trace_file.h"

enum { EIGHTHS = 8 };

void trace_places_add(struct trace_places *places, const struct trace_place *place)
{
	ARRAY_GROW(places->list, places->count, places->capacity, 64);
	places->list[places->count++] = *place;
}

void trace_places_fini(struct trace_places *places)
{
	free(places->list);
}

/* By the index at the end, which the writer leaves when it comes to it. */
static bool read_index(struct trace_places *places, struct trace_file *file)
{
	const struct trace_place *list;
	struct trace_chunk chunk;
	struct trace_end end;
	const void *content;

	if (!trace_file_end(file, &end) || trace_file_content(file, end.index_offset, &chunk, &content) ||
	    chunk.kind != TRACE_CHUNK_INDEX || chunk.plain_bytes % sizeof(*list))
		return false;
	list = content;
	for (size_t i = 0; i < chunk.plain_bytes / sizeof(*list); i++)
		trace_places_add(places, &list[i]);
	return true;
}

/* It may have events of any thread. */
static struct trace_place place_of(const struct trace_chunk *chunk, uint64_t at)
{
	struct trace_place place = {
		.offset = at,
		.first_ns = chunk->first_ns,
		.last_ns = chunk->last_ns,
		.count = chunk->count,
		.kind = chunk->kind,
		.flags = chunk->flags,
		.number = chunk->number,
	};

	memset(place.threads, 0xff, sizeof(place.threads));
	return place;
}

/* All chunks in the file. Returns where the last one ends. */
static uint64_t find_chunks(struct trace_places *places, const struct trace_file *file)
{
	uint64_t at = sizeof(struct trace_header), end = at;
	struct trace_chunk chunk;

	while ((at = trace_file_find_chunk(file, at)) < file->size_bytes && !trace_file_chunk(file, at, &chunk)) {
		struct trace_place place = place_of(&chunk, at);

		trace_places_add(places, &place);
		end = at += trace_chunk_bytes(&chunk);
	}
	return end;
}

static void scan(struct trace_places *places, const struct trace_file *file)
{
	uint64_t end = places->end = find_chunks(places, file);
	const struct trace_place *last = places->count ? &places->list[places->count - 1] : NULL;
	struct trace_end mark;

	places->is_ended = trace_file_end(file, &mark);
	/* In a ring, old bytes are everywhere. */
	if (!places->is_ended && !trace_file_is_ring(file))
		places->unread_bytes = file->size_bytes - end;
	if (places->is_ended && last && end + sizeof(mark) != file->size_bytes)
		trace_places_add(places, &(struct trace_place){
						 .kind = TRACE_CHUNK_LOST,
						 .offset = end,
						 .number = last->number + 1,
					 });
}

static int compare(const void *a, const void *b)
{
	const struct trace_place *one = a, *other = b;

	if (one->number != other->number)
		return one->number < other->number ? -1 : 1;
	return (one->offset > other->offset) - (one->offset < other->offset);
}

static void sort(struct trace_places *places)
{
	size_t i = 1;

	while (i < places->count && places->list[i - 1].number < places->list[i].number)
		i++;
	if (i < places->count)
		qsort(places->list, places->count, sizeof(*places->list), compare);
}

/* --- Where the trace begins ----------------------------------------------------------------- */

/* A trace can begin with what was repeated if all of that can be read. */
static bool is_whole(const struct trace_places *places, size_t i, struct trace_file *file)
{
	uint32_t number = places->list[i].number;
	struct trace_chunk chunk;
	const void *content;

	for (; i < places->count && places->list[i].kind == TRACE_CHUNK_PROLOGUE && places->list[i].number == number;
	     i++, number++) {
		if (trace_file_content(file, places->list[i].offset, &chunk, &content) || chunk.number != number)
			return false;
		if (places->list[i].flags & TRACE_CHUNK_HAS_PROLOGUE)
			return true;
	}
	return false;
}

/* When a trace of the last so many nanoseconds has to begin. */
static uint64_t late_ns(const struct trace_places *places, const struct trace_file *file)
{
	uint64_t end_ns = 0;

	for (size_t i = 0; i < places->count; i++)
		if (places->list[i].kind == TRACE_CHUNK_EVENTS && places->list[i].last_ns > end_ns)
			end_ns = places->list[i].last_ns;
	if (!file->header.last_ns || end_ns < file->header.last_ns)
		return 0;
	return end_ns - file->header.last_ns;
}

/* Other chunks have none, or round them. */
static bool has_times(const struct trace_place *place)
{
	return place->kind == TRACE_CHUNK_EVENTS || place->kind == TRACE_CHUNK_PROLOGUE ||
	       place->kind == TRACE_CHUNK_STATES;
}

/* When the first chunk behind so much of it begins that has times; 0: none does. */
static uint64_t ns_behind(const struct trace_places *places, unsigned int eighths)
{
	for (size_t i = places->count * eighths / EIGHTHS; i < places->count; i++)
		if (has_times(&places->list[i]))
			return places->list[i].first_ns;
	return 0;
}

/* The chunk that it begins with; as many as there are: none says that it can. */
static size_t find_beginning(const struct trace_places *places, struct trace_file *file, unsigned int eighths)
{
	uint64_t until_ns = late_ns(places, file), behind_ns = eighths ? ns_behind(places, eighths) : 0;
	size_t begin = places->count;

	if (behind_ns > until_ns)
		until_ns = behind_ns;
	for (size_t i = 0; i < places->count; i++) {
		const struct trace_place *place = &places->list[i];

		if (!(place->flags & TRACE_CHUNK_BEGINS) || (begin < places->count && place->first_ns > until_ns))
			continue;
		if (place->kind == TRACE_CHUNK_EVENTS ||
		    (place->kind == TRACE_CHUNK_PROLOGUE && is_whole(places, i, file)))
			begin = i;
	}
	return begin;
}

/* --- What readers are shown ----------------------------------------------------------------- */

/* So that chunks which should lie between two others are missed; the first one is where all begins. */
static void note_lost(struct trace_places *shown, const struct trace_place *before, const struct trace_place *place,
		      const struct trace_file *file)
{
	struct trace_place lost = { .kind = TRACE_CHUNK_LOST };
	struct trace_chunk chunk;

	lost.number = before ? before->number + 1 : 0;
	if (place->number <= lost.number)
		return;
	lost.offset = before ? before->offset : sizeof(struct trace_header);
	if (before && !trace_file_chunk(file, before->offset, &chunk))
		lost.offset = before->offset + trace_chunk_bytes(&chunk);
	trace_places_add(shown, &lost);
}

/* The latest moment that a trace may have in which the first of these is the first one. */
static uint64_t latest_ns(const struct trace_places *places)
{
	uint64_t first_ns = TRACE_TIME_MAX_NS;

	for (size_t i = 0; i < places->count; i++)
		if (has_times(&places->list[i]) && places->list[i].first_ns < first_ns)
			first_ns = places->list[i].first_ns;
	return first_ns < TRACE_TIME_MAX_NS - TRACE_LENGTH_MAX_NS ? first_ns + TRACE_LENGTH_MAX_NS : TRACE_TIME_MAX_NS;
}

/* What a place says of times ends where a trace can; one all of whose times are impossible is as good as lost. */
static void bound_times(struct trace_place *place, uint64_t latest_ns)
{
	if (!has_times(place))
		latest_ns = TRACE_TIME_MAX_NS;
	if (place->last_ns > latest_ns)
		place->last_ns = latest_ns;
	if (place->first_ns > place->last_ns)
		place->kind = TRACE_CHUNK_LOST;
}

/* Of the events: those from the beginning on, but not how another epoch begins. */
static bool is_shown(const struct trace_places *places, size_t i, size_t begin, bool *is_beginning)
{
	const struct trace_place *place = &places->list[i];
	bool is_other = *is_beginning;

	switch (place->kind) {
	case TRACE_CHUNK_EVENTS:
		return begin == places->count || i >= begin;
	case TRACE_CHUNK_PROLOGUE:
		if (place->flags & TRACE_CHUNK_BEGINS)
			is_other = *is_beginning = i != begin;
		if (place->flags & TRACE_CHUNK_HAS_PROLOGUE)
			*is_beginning = false;
		return i >= begin && !is_other;
	}
	return true;
}

static void show(struct trace_places *places, size_t begin, const struct trace_file *file)
{
	struct trace_places shown = *places;
	const struct trace_place *before = NULL;
	uint64_t until_ns = shown.until_ns = latest_ns(places);
	struct trace_chunk chunk;
	bool is_beginning = false;

	shown.list = NULL;
	shown.count = shown.capacity = 0;
	for (size_t i = 0; i < places->count; i++) {
		struct trace_place place = places->list[i];

		if (before && before->number == place.number)
			continue;
		if (!places->begins_late || i > begin)
			note_lost(&shown, before, &place, file);
		if (is_shown(places, i, begin, &is_beginning)) {
			place.reserved = 0;
			if (place.kind == TRACE_CHUNK_PROLOGUE) {
				place.kind = TRACE_CHUNK_EVENTS;
				place.reserved = TRACE_PLACE_PROLOGUE;
			}
			bound_times(&place, until_ns);
			trace_places_add(&shown, &place);
		}
		before = &places->list[i];
	}
	shown.next_number = before ? before->number + 1 : 0;
	if (before && trace_file_is_ring(file) && !trace_file_chunk(file, before->offset, &chunk))
		shown.end = before->offset + trace_chunk_bytes(&chunk);
	free(places->list);
	*places = shown;
}

void trace_places_find(struct trace_places *places, struct trace_file *file, unsigned int eighths)
{
	size_t begin;

	*places = (struct trace_places){ 0 };
	places->is_ended = read_index(places, file);
	if (!places->is_ended)
		scan(places, file);
	sort(places);
	begin = find_beginning(places, file, eighths);
	places->begins_late = begin < places->count && places->list[begin].kind == TRACE_CHUNK_PROLOGUE;
	show(places, begin, file);
}

/* What is repeated is shown, but not how other epochs begin. */
static bool is_next_shown(struct trace_places *places, struct trace_place *place)
{
	bool is_other;

	if (place->kind != TRACE_CHUNK_PROLOGUE)
		return true;
	is_other = places->is_beginning = places->is_beginning || place->flags & TRACE_CHUNK_BEGINS;
	if (place->flags & TRACE_CHUNK_HAS_PROLOGUE)
		places->is_beginning = false;
	place->kind = TRACE_CHUNK_EVENTS;
	place->reserved = TRACE_PLACE_PROLOGUE;
	return !is_other;
}

static void add_next(struct trace_places *places, const struct trace_place *next)
{
	struct trace_place place = *next;
	bool is_shown = is_next_shown(places, &place);

	if (place.number > places->next_number)
		trace_places_add(places, &(struct trace_place){
						 .kind = TRACE_CHUNK_LOST,
						 .offset = places->end,
						 .number = places->next_number,
					 });
	bound_times(&place, places->until_ns);
	if (place.number >= places->next_number && is_shown)
		trace_places_add(places, &place);
	places->next_number = place.number + 1;
}

/* What comes right behind the last chunk. In a ring that may be an older one. Returns whether there is any. */
static bool add_behind(struct trace_places *places, const struct trace_file *file)
{
	bool is_ring = trace_file_is_ring(file), has_any = false;
	struct trace_chunk chunk;

	while (!places->is_ended && !trace_file_chunk(file, places->end, &chunk) &&
	       (!is_ring || chunk.number == places->next_number)) {
		struct trace_place place = place_of(&chunk, places->end);

		add_next(places, &place);
		places->end += trace_chunk_bytes(&chunk);
		has_any = true;
	}
	return has_any;
}

/* A ring goes on somewhere else when a segment is full: all of it is looked through. */
static void add_elsewhere(struct trace_places *places, const struct trace_file *file)
{
	struct trace_places all = { 0 };
	struct trace_chunk chunk;

	if (places->looked_ns == file->written_ns)
		return;
	places->looked_ns = file->written_ns;
	find_chunks(&all, file);
	sort(&all);
	for (size_t i = 0; i < all.count; i++) {
		if (all.list[i].number < places->next_number || trace_file_chunk(file, all.list[i].offset, &chunk))
			continue;
		add_next(places, &all.list[i]);
		places->end = all.list[i].offset + trace_chunk_bytes(&chunk);
	}
	trace_places_fini(&all);
}

void trace_places_grow(struct trace_places *places, const struct trace_file *file)
{
	struct trace_end mark;

	if (!add_behind(places, file) && trace_file_is_ring(file) && !places->is_ended)
		add_elsewhere(places, file);
	places->is_ended = places->is_ended || trace_file_end(file, &mark);
	places->unread_bytes = places->is_ended || trace_file_is_ring(file) || file->size_bytes < places->end
				       ? 0
				       : file->size_bytes - places->end;
}
