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

#include "base/memory.h"

enum {
	SUBSYSTEMS_MAX = 16,
	EVENTS_MAX = 32,	/* of one subsystem */
	STREAM_BYTES_FIRST = 16 * 1024,
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

/* One for each event that can be declared. */
struct kind {
	uint32_t size_bytes;	/* up to the flexible array; 0: no such event */
	bool is_flexible;
	uint32_t handler_count;
	struct handler *handlers;
};

struct entry {
	uint32_t size_bytes;	/* of all of it, a multiple of 8 */
	uint32_t before_bytes;	/* size of the entry before it, 0: none when this was put */
	struct ev_header header;
};

struct stream {
	char *bytes;
	size_t room;
	size_t begin, end;	/* what is in use */
	size_t last;		/* where the last entry begins */
};

struct head {
	uint64_t time_ns;
	unsigned int stream;
};

struct session {
	struct kind kinds[SUBSYSTEMS_MAX * EVENTS_MAX];
	struct stream *streams;
	unsigned int stream_count;
	struct head *heap;
	unsigned int heap_count;
	size_t pending_bytes_max;
	uint64_t time_ns;
	bool is_delivering;
	struct session_counts counts;
};

static const struct {
	enum event_id id;
	uint32_t size_bytes;
	bool is_flexible;
} known_kinds[] = {
	{ EV_COLLECT_GAP, sizeof(struct ev_collect_gap), false },
	{ EV_COLLECT_SYNC_BEGIN, sizeof(struct ev_collect_sync_begin), false },
	{ EV_COLLECT_SYNC_END, sizeof(struct ev_collect_sync_end), false },
	{ EV_SCHED_SWITCH, sizeof(struct ev_sched_switch), false },
	{ EV_SCHED_WAKE, sizeof(struct ev_sched_wake), false },
	{ EV_SCHED_SAMPLE, sizeof(struct ev_sched_sample), false },
	{ EV_SCHED_THROTTLED, sizeof(struct ev_sched_throttled), false },
	{ EV_SCHED_HIDDEN, sizeof(struct ev_sched_hidden), false },
	{ EV_FILE_PATH, sizeof(struct ev_file_path), true },
	{ EV_FILE_SOCKET, sizeof(struct ev_file_socket), true },
	{ EV_FILE_HOST, sizeof(struct ev_file_host), false },
	{ EV_SPACE_MAP, sizeof(struct ev_space_map), true },
	{ EV_SPACE_EXEC, sizeof(struct ev_space_exec), false },
	{ EV_SPACE_FORK, sizeof(struct ev_space_fork), false },
	{ EV_SPACE_EXIT, sizeof(struct ev_space_exit), false },
	{ EV_STACK_FRAMES, sizeof(struct ev_stack_frames), true },
	{ EV_STACK_MEMORY, sizeof(struct ev_stack_memory), true },
	{ EV_THREAD_BORN, sizeof(struct ev_thread_born), false },
	{ EV_THREAD_FOUND, sizeof(struct ev_thread_found), false },
	{ EV_THREAD_NAME, sizeof(struct ev_thread_name), false },
	{ EV_THREAD_EXEC, sizeof(struct ev_thread_exec), false },
	{ EV_THREAD_OTHER, sizeof(struct ev_thread_other), false },
	{ EV_THREAD_WAITS, sizeof(struct ev_thread_waits), false },
};
_Static_assert(TRACE_NUM_SUBSYSTEMS == 6, "known_kinds lacks a subsystem");

static unsigned int kind_index(unsigned int subsys, unsigned int event)
{
	return subsys * EVENTS_MAX + event;
}

static struct kind *kind_find(struct session *session, unsigned int subsys, unsigned int event)
{
	struct kind *kind;

	if (subsys >= SUBSYSTEMS_MAX || event >= EVENTS_MAX)
		return NULL;
	kind = &session->kinds[kind_index(subsys, event)];
	return kind->size_bytes ? kind : NULL;
}

struct session *session_new(unsigned int stream_count, size_t pending_bytes_max)
{
	struct session *session = xcalloc(1, sizeof(*session));

	session->stream_count = stream_count;
	session->streams = xcalloc(stream_count, sizeof(*session->streams));
	session->heap = xcalloc(stream_count, sizeof(*session->heap));
	session->pending_bytes_max = pending_bytes_max;
	for (size_t i = 0; i < sizeof(known_kinds) / sizeof(*known_kinds); i++) {
		unsigned int id = known_kinds[i].id;
		struct kind *kind = &session->kinds[kind_index(id >> 16, id & 0xffff)];

		assert(id >> 16 < SUBSYSTEMS_MAX && (id & 0xffff) < EVENTS_MAX);
		kind->size_bytes = known_kinds[i].size_bytes;
		kind->is_flexible = known_kinds[i].is_flexible;
	}
	return session;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	for (unsigned int i = 0; i < session->stream_count; i++)
		free(session->streams[i].bytes);
	for (size_t i = 0; i < SUBSYSTEMS_MAX * EVENTS_MAX; i++)
		free(session->kinds[i].handlers);
	free(session->streams);
	free(session->heap);
	free(session);
}

void session_subscribe(struct session *session, const struct event_handler *handlers, void *data)
{
	assert(!session->is_delivering);
	for (; handlers->on_event; handlers++) {
		struct kind *kind = kind_find(session, handlers->id >> 16, handlers->id & 0xffff);

		assert(kind);
		kind->handlers = xrealloc(kind->handlers, kind->handler_count + 1,
					  sizeof(*kind->handlers));
		kind->handlers[kind->handler_count++] =
			(struct handler){ handlers->on_event, data };
	}
}

static bool has_strings(const char *bytes, size_t size_bytes, unsigned int count)
{
	const char *end = bytes + size_bytes, *nul;

	for (; count; count--) {
		nul = memchr(bytes, '\0', end - bytes);
		if (!nul)
			return false;
		bytes = nul + 1;
	}
	return true;
}

/* Whether what follows the fixed part is what the fixed part says. */
static bool is_tail_whole(const void *event, size_t size_bytes)
{
	struct ev_stack_frames frames;
	struct ev_stack_memory memory;
	struct ev_file_socket socket;
	struct ev_file_path path;
	struct ev_header header;
	size_t fixed_bytes = sizeof(struct ev_space_map);

	memcpy(&header, event, sizeof(header));
	switch ((unsigned int)header.subsys << 16 | header.event) {
	case EV_STACK_FRAMES:
		memcpy(&frames, event, sizeof(frames));
		return size_bytes == sizeof(frames) + sizeof(uint64_t) *
			((size_t)frames.kernel_count + frames.user_count);
	case EV_STACK_MEMORY:
		memcpy(&memory, event, sizeof(memory));
		return size_bytes == sizeof(memory) + sizeof(uint64_t) *
			((size_t)memory.kernel_count + memory.word_count);
	case EV_FILE_PATH:
		memcpy(&path, event, sizeof(path));
		return size_bytes == sizeof(path) + (size_t)path.name_bytes && path.name_bytes &&
		       !((const char *)event)[size_bytes - 1];
	case EV_FILE_SOCKET:
		memcpy(&socket, event, sizeof(socket));
		return has_strings((const char *)event + sizeof(socket), size_bytes - sizeof(socket),
				   socket.has_process ? 2 : 1);
	}
	return has_strings((const char *)event + fixed_bytes, size_bytes - fixed_bytes, 1);
}

static bool is_well_formed(struct session *session, const void *event, size_t size_bytes)
{
	const struct kind *kind;
	struct ev_header header;

	if (size_bytes < sizeof(header) || size_bytes > UINT32_MAX / 2)
		return false;
	memcpy(&header, event, sizeof(header));
	kind = kind_find(session, header.subsys, header.event);
	if (!kind)
		return false;
	if (!kind->is_flexible)
		return size_bytes == kind->size_bytes;
	return size_bytes >= kind->size_bytes && is_tail_whole(event, size_bytes);
}

static struct entry *entry_at(const struct stream *stream, size_t offset)
{
	return (struct entry *)(stream->bytes + offset);
}

/*
 * Makes room at the end. Moves what is in use to the front only when that is at most half of
 * the room, so that each byte pays for its own move; gives memory back when a burst is over.
 */
static void stream_reserve(struct stream *stream, size_t size_bytes)
{
	size_t used = stream->end - stream->begin;
	size_t wanted = used + size_bytes;
	size_t room = stream->room;

	if (stream->room - stream->end >= size_bytes)
		return;
	if (used)
		memmove(stream->bytes, stream->bytes + stream->begin, used);
	stream->last -= stream->begin;
	stream->begin = 0;
	stream->end = used;
	while (room < 2 * wanted || room < STREAM_BYTES_FIRST)
		room = room ? room * 2 : STREAM_BYTES_FIRST;
	while (room > STREAM_BYTES_FIRST && room >= 16 * wanted)
		room /= 2;
	if (room != stream->room)
		stream->bytes = xrealloc(stream->bytes, room, 1);
	stream->room = room;
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

static void stream_insert(struct stream *stream, const void *event, size_t size_bytes,
			  size_t entry_bytes)
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

int session_push(struct session *session, unsigned int stream, const void *event,
		 size_t size_bytes)
{
	struct session_counts *counts = &session->counts;
	size_t entry_bytes;

	assert(stream < session->stream_count && !session->is_delivering);
	if (!is_well_formed(session, event, size_bytes)) {
		counts->malformed++;
		return -EBADMSG;
	}
	entry_bytes = (offsetof(struct entry, header) + size_bytes + 7) & ~(size_t)7;
	if (counts->pending_bytes + entry_bytes > session->pending_bytes_max)
		return -ENOSPC;
	stream_reserve(&session->streams[stream], entry_bytes);
	stream_insert(&session->streams[stream], event, size_bytes, entry_bytes);
	counts->pushed_bytes += size_bytes;
	counts->pending_bytes += entry_bytes;
	if (counts->pending_bytes > counts->pending_bytes_peak)
		counts->pending_bytes_peak = counts->pending_bytes;
	return 0;
}

static bool is_earlier(const struct head *a, const struct head *b)
{
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->stream < b->stream);
}

static void heap_sift_down(struct session *session, unsigned int i)
{
	struct head *heap = session->heap, moved = heap[i];

	for (;;) {
		unsigned int child = 2 * i + 1;

		if (child >= session->heap_count)
			break;
		if (child + 1 < session->heap_count && is_earlier(&heap[child + 1], &heap[child]))
			child++;
		if (!is_earlier(&heap[child], &moved))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moved;
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
			session->heap[session->heap_count++] = (struct head){ time_ns, i };
	}
	for (unsigned int i = session->heap_count / 2; i--;)
		heap_sift_down(session, i);
}

static void deliver(struct session *session, const struct ev_header *header)
{
	const struct kind *kind = &session->kinds[kind_index(header->subsys, header->event)];

	if (header->time_ns < session->time_ns)
		session->counts.late++;
	else
		session->time_ns = header->time_ns;
	session->counts.delivered++;
	for (uint32_t i = 0; i < kind->handler_count; i++)
		kind->handlers[i].on_event(kind->handlers[i].data, header);
}

/* Takes the first event of the stream on top of the heap. */
static void take_first(struct session *session, uint64_t last_ns)
{
	struct stream *stream = &session->streams[session->heap[0].stream];
	const struct entry *entry = entry_at(stream, stream->begin);
	uint64_t next_ns;

	deliver(session, &entry->header);
	session->counts.pending_bytes -= entry->size_bytes;
	stream->begin += entry->size_bytes;
	if (stream->begin == stream->end)
		stream->begin = stream->end = stream->last = 0;
	next_ns = stream->end ? entry_at(stream, stream->begin)->header.time_ns : 0;
	if (stream->end && next_ns <= last_ns)
		session->heap[0].time_ns = next_ns;
	else
		session->heap[0] = session->heap[--session->heap_count];
	if (session->heap_count > 1)
		heap_sift_down(session, 0);
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
}

void session_advance(struct session *session, uint64_t until_ns)
{
	if (until_ns)
		deliver_up_to(session, until_ns - 1);
}

void session_hand_out(struct session *session, const struct ev_header *header)
{
	assert(session->is_delivering);
	deliver(session, header);
}

void session_finish(struct session *session)
{
	deliver_up_to(session, UINT64_MAX);
}

uint64_t session_time_ns(const struct session *session)
{
	return session->time_ns;
}

struct session_counts session_counts(const struct session *session)
{
	return session->counts;
}
