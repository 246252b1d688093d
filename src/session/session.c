/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each stream is a stretch of bytes: entries are put at its end, in order of time, and taken
 * from its front. A heap merges the streams.
 */
#include "session/session.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/memory.h"
#include "session/event_kinds.h"

enum {
	STREAM_BYTES_FIRST = 16 * 1024,
	STREAM_BYTES_KEPT = 4 << 20, /* more than a batch has: what a stall took goes back soon */
	/*
	 * How far back an event is put into its place. Interrupts swap neighbours; only damage
	 * needs more, and must not make pushing quadratic.
	 */
	SWAPS_MAX = 4096,
};

struct handler {
	void (*on_event)(void *data, const struct ev_header *header);
	void *data;
};

/* Those of one kind of events. */
struct handlers {
	uint32_t count;
	struct handler *list;
};

struct entry {
	uint32_t size_bytes;   /* of all of it, a multiple of 8 */
	uint32_t before_bytes; /* size of the entry before it, 0: none when this was put */
	struct ev_header header;
};

struct stream {
	char *bytes;
	size_t capacity;
	size_t begin, end; /* what is in use */
	size_t last;       /* where the last entry begins */
};

/* An event that came while others were delivered; its bytes follow. */
struct held {
	unsigned int stream;
	uint32_t size_bytes;
};

struct session {
	struct handlers handlers[TRACE_NUM_SUBSYSTEMS * EVENTS_MAX];
	struct stream *streams;
	unsigned int stream_count;
	struct heap_entry *heap; /* of streams, by the time of their first event */
	size_t heap_count;
	size_t pending_bytes_max;
	uint64_t time_ns;
	bool is_delivering;
	/* Streams must not move under the event that is delivered: these wait for the end of that. */
	char *held;
	size_t held_bytes, held_capacity;
	struct session_counts counts;
};

static struct handlers *handlers_of(struct session *session, unsigned int subsys, unsigned int event)
{
	return &session->handlers[subsys * EVENTS_MAX + event];
}

struct session *session_new(unsigned int stream_count, size_t pending_bytes_max)
{
	struct session *session = xcalloc(1, sizeof(*session));

	session->stream_count = stream_count;
	session->streams = xcalloc(stream_count, sizeof(*session->streams));
	session->heap = xcalloc(stream_count, sizeof(*session->heap));
	session->pending_bytes_max = pending_bytes_max;
	return session;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	for (unsigned int i = 0; i < session->stream_count; i++)
		free(session->streams[i].bytes);
	for (size_t i = 0; i < TRACE_NUM_SUBSYSTEMS * EVENTS_MAX; i++)
		free(session->handlers[i].list);
	free(session->streams);
	free(session->heap);
	free(session->held);
	free(session);
}

void session_subscribe(struct session *session, const struct event_handler *handlers, void *data)
{
	assert(!session->is_delivering);
	for (; handlers->on_event; handlers++) {
		unsigned int subsys = handlers->id >> 16, event = handlers->id & 0xffff;
		struct handlers *here = handlers_of(session, subsys, event);

		assert(event_kind_find(subsys, event));
		here->list = xrealloc(here->list, here->count + 1, sizeof(*here->list));
		here->list[here->count++] = (struct handler){ handlers->on_event, data };
	}
}

bool session_has_handlers(const struct session *session, enum event_id id)
{
	return session->handlers[(id >> 16) * EVENTS_MAX + (id & 0xffff)].count;
}

static struct entry *entry_at(const struct stream *stream, size_t offset)
{
	return (struct entry *)(stream->bytes + offset);
}

/*
 * Makes space at the end. Moves what is in use to the front only when that is at most half of
 * the space, so that each byte pays for its own move; gives memory back when a burst is over.
 */
static void stream_reserve(struct stream *stream, size_t size_bytes)
{
	size_t used = stream->end - stream->begin;
	size_t wanted = used + size_bytes;
	size_t capacity = stream->capacity;

	if (stream->capacity - stream->end >= size_bytes)
		return;
	if (used)
		memmove(stream->bytes, stream->bytes + stream->begin, used);
	stream->last -= stream->begin;
	stream->begin = 0;
	stream->end = used;
	while (capacity < 2 * wanted || capacity < STREAM_BYTES_FIRST)
		capacity = capacity ? capacity * 2 : STREAM_BYTES_FIRST;
	while (capacity > STREAM_BYTES_FIRST && capacity >= (capacity > STREAM_BYTES_KEPT ? 4 : 16) * wanted)
		capacity /= 2;
	if (capacity != stream->capacity)
		stream->bytes = xrealloc(stream->bytes, capacity, 1);
	stream->capacity = capacity;
}

/* Where an event of this time belongs: behind all that are not later. */
static size_t stream_place(const struct stream *stream, uint64_t time_ns, size_t *before)
{
	size_t place = stream->end, last = stream->last;

	for (int i = 0; i < SWAPS_MAX; i++) {
		const struct entry *entry = entry_at(stream, last);

		if (entry->header.time_ns <= time_ns)
			break;
		place = last;
		if (last == stream->begin)
			break;
		last -= entry->before_bytes;
	}
	*before = last;
	return place;
}

static void stream_insert(struct stream *stream, const void *event, size_t size_bytes, size_t entry_bytes)
{
	size_t place = stream->end, before = stream->last;
	struct entry *entry;
	uint64_t time_ns;

	memcpy(&time_ns, event, sizeof(time_ns));
	if (stream->end > stream->begin && entry_at(stream, stream->last)->header.time_ns > time_ns)
		place = stream_place(stream, time_ns, &before);
	entry = entry_at(stream, place);
	if (place < stream->end) {
		memmove((char *)entry + entry_bytes, entry, stream->end - place);
		entry_at(stream, place + entry_bytes)->before_bytes = entry_bytes;
		stream->last += entry_bytes;
	} else {
		stream->last = place;
	}
	entry->size_bytes = entry_bytes;
	entry->before_bytes = place == stream->begin ? 0 : place - before;
	memcpy(&entry->header, event, size_bytes);
	stream->end += entry_bytes;
}

static size_t entry_bytes_of(size_t size_bytes)
{
	return (offsetof(struct entry, header) + size_bytes + 7) & ~(size_t)7;
}

static void hold(struct session *session, unsigned int stream, const void *event, size_t size_bytes)
{
	struct held held = { stream, size_bytes };
	size_t wanted = session->held_bytes + entry_bytes_of(size_bytes);

	_Static_assert(sizeof(struct held) <= offsetof(struct entry, header), "an entry has room for it");
	if (wanted > session->held_capacity) {
		session->held_capacity = 2 * wanted;
		session->held = xrealloc(session->held, session->held_capacity, 1);
	}
	memcpy(session->held + session->held_bytes, &held, sizeof(held));
	memcpy(session->held + session->held_bytes + sizeof(held), event, size_bytes);
	session->held_bytes = wanted;
}

static void put(struct session *session, unsigned int stream, const void *event, size_t size_bytes)
{
	size_t entry_bytes = entry_bytes_of(size_bytes);

	stream_reserve(&session->streams[stream], entry_bytes);
	stream_insert(&session->streams[stream], event, size_bytes, entry_bytes);
}

/* Puts those that were held where they belong. */
static void put_held(struct session *session)
{
	size_t at = 0;

	while (at < session->held_bytes) {
		struct held held;

		memcpy(&held, session->held + at, sizeof(held));
		put(session, held.stream, session->held + at + sizeof(held), held.size_bytes);
		at += entry_bytes_of(held.size_bytes);
	}
	free(session->held);
	session->held = NULL;
	session->held_bytes = session->held_capacity = 0;
}

int session_push(struct session *session, unsigned int stream, const void *event, size_t size_bytes)
{
	struct session_counts *counts = &session->counts;
	size_t entry_bytes;

	assert(stream < session->stream_count);
	if (!event_is_well_formed(event, size_bytes)) {
		counts->malformed++;
		return -EBADMSG;
	}
	entry_bytes = entry_bytes_of(size_bytes);
	if (counts->pending_bytes + entry_bytes > session->pending_bytes_max)
		return -ENOSPC;
	if (session->is_delivering)
		hold(session, stream, event, size_bytes);
	else
		put(session, stream, event, size_bytes);
	counts->pushed_bytes += size_bytes;
	counts->pending_bytes += entry_bytes;
	if (counts->pending_bytes > counts->pending_bytes_peak)
		counts->pending_bytes_peak = counts->pending_bytes;
	return 0;
}

/* The streams that have an event up to last_ns. */
static void heap_fill(struct session *session, uint64_t last_ns)
{
	session->heap_count = 0;
	for (unsigned int i = 0; i < session->stream_count; i++) {
		const struct stream *stream = &session->streams[i];
		uint64_t time_ns;

		if (stream->begin == stream->end)
			continue;
		time_ns = entry_at(stream, stream->begin)->header.time_ns;
		if (time_ns <= last_ns)
			session->heap[session->heap_count++] = (struct heap_entry){ time_ns, i };
	}
	heap_make(session->heap, session->heap_count);
}

static void deliver(struct session *session, const struct ev_header *header)
{
	const struct handlers *handlers = handlers_of(session, header->subsys, header->event);

	if (header->time_ns < session->time_ns)
		session->counts.late++;
	else
		session->time_ns = header->time_ns;
	session->counts.delivered++;
	for (uint32_t i = 0; i < handlers->count; i++)
		handlers->list[i].on_event(handlers->list[i].data, header);
}

static void stream_empty(struct stream *stream)
{
	stream->begin = stream->end = stream->last = 0;
	if (stream->capacity > STREAM_BYTES_KEPT) {
		stream->bytes = xrealloc(stream->bytes, STREAM_BYTES_KEPT, 1);
		stream->capacity = STREAM_BYTES_KEPT;
	}
}

/* Takes the first event of the stream on top of the heap. */
static void take_first(struct session *session, uint64_t last_ns)
{
	struct stream *stream = &session->streams[session->heap[0].number];
	const struct entry *entry = entry_at(stream, stream->begin);
	uint64_t next_ns;

	deliver(session, &entry->header);
	session->counts.pending_bytes -= entry->size_bytes;
	stream->begin += entry->size_bytes;
	if (stream->begin == stream->end)
		stream_empty(stream);
	next_ns = stream->end ? entry_at(stream, stream->begin)->header.time_ns : 0;
	if (stream->end && next_ns <= last_ns)
		session->heap[0].time_ns = next_ns;
	else
		session->heap[0] = session->heap[--session->heap_count];
	if (session->heap_count > 1)
		heap_sift_down(session->heap, session->heap_count, 0);
}

/* Delivers all up to last_ns, itself included. */
static void deliver_up_to(struct session *session, uint64_t last_ns)
{
	assert(!session->is_delivering);
	session->is_delivering = true;
	heap_fill(session, last_ns);
	while (session->heap_count)
		take_first(session, last_ns);
	session->is_delivering = false;
	put_held(session);
}

void session_advance(struct session *session, uint64_t until_ns)
{
	if (until_ns)
		deliver_up_to(session, until_ns - 1);
}

void session_hand_out(struct session *session, const struct ev_header *header)
{
	deliver(session, header);
}

void session_finish(struct session *session)
{
	do
		deliver_up_to(session, UINT64_MAX);
	while (session->counts.pending_bytes);
	for (unsigned int i = 0; i < session->stream_count; i++) {
		free(session->streams[i].bytes);
		session->streams[i] = (struct stream){ 0 };
	}
}

uint64_t session_time_ns(const struct session *session)
{
	return session->time_ns;
}

struct session_counts session_counts(const struct session *session)
{
	return session->counts;
}
