/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/backlog.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/out/out_temporary.h"
#include "base/pause.h"
#include "session/event_kinds.h"
#include "session/session.h"

enum { CHUNK_BYTES = 1 << 20, PAUSE_EVENTS = 1024 };

/* Whole events, each of a multiple of 8 bytes. */
struct chunk {
	char *bytes; /* NULL: they are in the file */
	size_t used, capacity;
	uint64_t offset; /* in the file */
	uint64_t events, last_ns;
};

struct backlog {
	struct session *to;
	struct backlog_limits limits;
	struct chunk *chunks; /* in order; the last one is being filled */
	size_t chunk_count, chunk_capacity;
	size_t first, at;    /* what is next: in which of them, and where in that */
	size_t memory_bytes; /* of them */
	int fd;              /* -1: there is none yet, or never */
	uint64_t file_end;
	bool has_no_file; /* it cannot be made, or written */
	bool is_deferring, is_full;
	struct backlog_counts counts;
};

static size_t padded(size_t size_bytes)
{
	return (size_bytes + 7) & ~(size_t)7;
}

static void close_file(struct backlog *backlog)
{
	if (backlog->fd >= 0)
		close(backlog->fd);
	backlog->fd = -1;
	backlog->file_end = 0;
}

static bool open_file(struct backlog *backlog)
{
	int directory;

	if (backlog->fd >= 0)
		return true;
	directory = open(backlog->limits.directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return false;
	backlog->fd = out_temporary_open(directory);
	close(directory);
	return backlog->fd >= 0;
}

/* A chunk that has its end goes into the file. False: it stays in memory. */
static bool put_into_file(struct backlog *backlog, struct chunk *chunk)
{
	if (backlog->has_no_file || backlog->file_end + chunk->used > backlog->limits.file_bytes)
		return false;
	if (!open_file(backlog) ||
	    pwrite(backlog->fd, chunk->bytes, chunk->used, (off_t)backlog->file_end) != (ssize_t)chunk->used) {
		backlog->has_no_file = true;
		return false;
	}
	chunk->offset = backlog->file_end;
	backlog->file_end += chunk->used;
	backlog->counts.in_file += chunk->events;
	return true;
}

/* One with space for so many bytes. */
static struct chunk *chunk_for(struct backlog *backlog, size_t size_bytes)
{
	struct chunk *last = backlog_is_empty(backlog) ? NULL : &backlog->chunks[backlog->chunk_count - 1];
	size_t capacity = size_bytes > CHUNK_BYTES ? size_bytes : CHUNK_BYTES;
	char *bytes = NULL;

	if (last && last->capacity - last->used >= size_bytes)
		return last;
	if (last && backlog->memory_bytes + capacity > backlog->limits.memory_bytes) {
		/* Not the one that is being handed out. */
		if (backlog->chunk_count - 1 > backlog->first && put_into_file(backlog, last)) {
			backlog->memory_bytes -= last->capacity;
			bytes = last->bytes;
			last->bytes = NULL;
		} else {
			backlog->is_full = true;
		}
	}
	ARRAY_GROW(backlog->chunks, backlog->chunk_count, backlog->chunk_capacity, 64);
	last = &backlog->chunks[backlog->chunk_count++];
	*last = (struct chunk){ .bytes = xrealloc(bytes, capacity, 1), .capacity = capacity };
	backlog->memory_bytes += capacity;
	return last;
}

static void put_away(struct backlog *backlog, const struct ev_header *header)
{
	size_t size_bytes = event_bytes(header);
	struct chunk *chunk = chunk_for(backlog, padded(size_bytes));

	memcpy(chunk->bytes + chunk->used, header, size_bytes);
	chunk->used += padded(size_bytes);
	chunk->events++;
	chunk->last_ns = header->time_ns;
	backlog->counts.deferred++;
}

static void on_event(void *data, const struct ev_header *header)
{
	struct backlog *backlog = data;

	if (backlog->is_deferring)
		put_away(backlog, header);
	else
		session_hand_out(backlog->to, header);
}

struct backlog *backlog_new(struct session *from, struct session *to, const struct backlog_limits *limits)
{
	struct backlog *backlog = xcalloc(1, sizeof(*backlog));
	struct event_handler handlers[2] = { { 0, on_event }, { 0, NULL } };

	backlog->to = to;
	backlog->limits = *limits;
	backlog->has_no_file = !limits->file_bytes;
	backlog->fd = -1;
	for (unsigned int subsys = 0; subsys < TRACE_NUM_SUBSYSTEMS; subsys++)
		for (unsigned int event = 0; event < EVENTS_MAX; event++) {
			handlers[0].id = subsys << 16 | event;
			if (session_has_handlers(to, handlers[0].id))
				session_subscribe(from, handlers, backlog);
		}
	return backlog;
}

void backlog_free(struct backlog *backlog)
{
	if (!backlog)
		return;
	for (size_t i = 0; i < backlog->chunk_count; i++)
		free(backlog->chunks[i].bytes);
	free(backlog->chunks);
	close_file(backlog);
	free(backlog);
}

/* The file cannot be read: a collect.GAP tells the analyses how many events are missing. */
static void lose(struct backlog *backlog, const struct chunk *chunk)
{
	struct ev_collect_gap gap = {
		.header = { .time_ns = chunk->last_ns,
			    .subsys = EV_COLLECT_GAP >> 16,
			    .event = EV_COLLECT_GAP & 0xffff },
		.lost = chunk->events,
	};

	backlog->counts.lost += chunk->events;
	session_hand_out(backlog->to, &gap.header);
}

/* From where the last one ended. False: it is too late, and some are left. */
static bool hand_out(struct backlog *backlog, const struct chunk *chunk, uint64_t end_ns, struct pause *pause)
{
	for (size_t i = 1; backlog->at < chunk->used; i++) {
		const struct ev_header *header = (const struct ev_header *)(chunk->bytes + backlog->at);

		backlog->at += padded(event_bytes(header));
		session_hand_out(backlog->to, header);
		if (i % PAUSE_EVENTS)
			continue;
		pause_take_if_due(pause);
		if (end_ns && clock_ns() >= end_ns)
			break;
	}
	return backlog->at == chunk->used;
}

/* Of one that is in the file. */
static void take_back(struct backlog *backlog, struct chunk *chunk)
{
	chunk->bytes = xrealloc(NULL, chunk->capacity, 1);
	backlog->memory_bytes += chunk->capacity;
	if (pread(backlog->fd, chunk->bytes, chunk->used, (off_t)chunk->offset) == (ssize_t)chunk->used)
		return;
	lose(backlog, chunk);
	chunk->used = 0;
}

static void forget(struct backlog *backlog, struct chunk *chunk)
{
	backlog->memory_bytes -= chunk->capacity;
	free(chunk->bytes);
	chunk->bytes = NULL;
	backlog->at = 0;
	backlog->first++;
}

void backlog_catch_up(struct backlog *backlog, uint64_t limit_ns, struct pause *pause)
{
	uint64_t end_ns = limit_ns ? clock_ns() + limit_ns : 0;

	backlog->is_full = false;
	while (backlog->first < backlog->chunk_count) {
		struct chunk *chunk = &backlog->chunks[backlog->first];

		if (!chunk->bytes)
			take_back(backlog, chunk);
		if (!hand_out(backlog, chunk, end_ns, pause))
			return;
		forget(backlog, chunk);
	}
	backlog->chunk_count = backlog->first = 0;
	close_file(backlog);
}

void backlog_set_deferring(struct backlog *backlog, bool is_deferring, struct pause *pause)
{
	if (!is_deferring)
		backlog_catch_up(backlog, 0, pause);
	backlog->is_deferring = is_deferring;
}

bool backlog_is_full(const struct backlog *backlog)
{
	return backlog->is_full;
}

bool backlog_is_empty(const struct backlog *backlog)
{
	return !backlog->chunk_count;
}

struct backlog_counts backlog_counts(const struct backlog *backlog)
{
	return backlog->counts;
}
