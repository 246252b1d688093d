/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/chunk_log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct chunk_log {
	size_t bytes_max, size_bytes; /* of contents */
	struct logged_chunk *chunks;  /* a ring: chunk n is at n % capacity */
	size_t capacity;              /* a power of two */
	uint64_t first, end;
	uint64_t event_count;
};

enum { CAPACITY_FIRST = 64 };

struct chunk_log *chunk_log_new(size_t bytes_max)
{
	struct chunk_log *log = xcalloc(1, sizeof(*log));

	log->bytes_max = bytes_max;
	log->capacity = CAPACITY_FIRST;
	log->chunks = xcalloc(log->capacity, sizeof(*log->chunks));
	return log;
}

static struct logged_chunk *at(const struct chunk_log *log, uint64_t number)
{
	return &log->chunks[number & (log->capacity - 1)];
}

void chunk_log_free(struct chunk_log *log)
{
	if (!log)
		return;
	chunk_log_trim(log, log->end);
	free(log->chunks);
	free(log);
}

static void drop_first(struct chunk_log *log)
{
	struct logged_chunk *chunk = at(log, log->first++);

	log->size_bytes -= chunk->head.stored_bytes;
	free(chunk->stored);
	chunk->stored = NULL;
}

void chunk_log_trim(struct chunk_log *log, uint64_t number)
{
	while (log->first < number && log->first < log->end)
		drop_first(log);
}

static void grow(struct chunk_log *log)
{
	size_t capacity = log->capacity * 2;
	struct logged_chunk *chunks = xcalloc(capacity, sizeof(*chunks));

	for (uint64_t number = log->first; number < log->end; number++)
		chunks[number & (capacity - 1)] = *at(log, number);
	free(log->chunks);
	log->chunks = chunks;
	log->capacity = capacity;
}

void chunk_log_add(struct chunk_log *log, const struct trace_chunk *chunk, const uint64_t *threads, const void *stored)
{
	struct logged_chunk *added;

	while (log->first < log->end && log->size_bytes + chunk->stored_bytes > log->bytes_max)
		drop_first(log);
	if (log->end - log->first == log->capacity)
		grow(log);
	added = at(log, log->end++);
	*added = (struct logged_chunk){
		.head = *chunk,
		.stored = memcpy(xcalloc(1, chunk->stored_bytes + 1), stored, chunk->stored_bytes),
		.events_before = log->event_count,
	};
	if (threads)
		memcpy(added->threads, threads, sizeof(added->threads));
	log->size_bytes += chunk->stored_bytes;
	log->event_count += chunk->kind == TRACE_CHUNK_EVENTS ? chunk->count : 0;
}

uint64_t chunk_log_first(const struct chunk_log *log)
{
	return log->first;
}

uint64_t chunk_log_end(const struct chunk_log *log)
{
	return log->end;
}

const struct logged_chunk *chunk_log_get(const struct chunk_log *log, uint64_t number)
{
	assert(number >= log->first && number < log->end);
	return at(log, number);
}

uint64_t chunk_log_events(const struct chunk_log *log)
{
	return log->event_count;
}
