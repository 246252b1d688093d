/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/late_causes.h"

#include <stdlib.h>

#include "base/bound.h"
#include "base/byte_cursor.h"
#include "base/memory.h"
#include "states/state.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

enum { CAUSES_MAX = 1 << 20, CHUNK_BYTES = 4 << 20 };

struct late_causes {
	struct trace_reader *file;
	size_t chunks;           /* of the file, that were looked at */
	struct late_cause *list; /* by thread and time */
	size_t count, capacity;
};

/* --- Writing -------------------------------------------------------------------------------- */

bool late_log_has_space(const struct late_log *log)
{
	return log->count < CAUSES_MAX;
}

static void put_chunk(struct late_log *log, struct trace_writer *writer)
{
	trace_writer_chunk(writer, TRACE_CHUNK_LATE_CAUSES, log->bytes.bytes, log->bytes.length, NULL);
	log->bytes.length = 0;
}

void late_log_add(struct late_log *log, struct trace_writer *writer, const struct late_cause *cause)
{
	text_put_varint(&log->bytes, cause->thread);
	text_put_varint(&log->bytes, cause->begin_ns);
	text_put_varint(&log->bytes, cause->end_ns - cause->begin_ns);
	text_put_varint(&log->bytes, cause->first);
	text_put_varint(&log->bytes, cause->share);
	log->count++;
	if (log->bytes.length >= CHUNK_BYTES)
		put_chunk(log, writer);
}

void late_log_flush(struct late_log *log, struct trace_writer *writer)
{
	if (log->bytes.length)
		put_chunk(log, writer);
}

void late_log_fini(struct late_log *log)
{
	text_fini(&log->bytes);
}

/* --- Reading -------------------------------------------------------------------------------- */

static int compare_causes(const void *a, const void *b)
{
	const struct late_cause *x = a, *y = b;

	if (x->thread != y->thread)
		return (x->thread > y->thread) - (x->thread < y->thread);
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static void read_chunk(struct late_causes *causes, struct byte_cursor *cursor)
{
	while (byte_cursor_left(cursor) && causes->count < CAUSES_MAX) {
		uint64_t thread = byte_cursor_uleb(cursor), begin_ns = byte_cursor_uleb(cursor);
		uint64_t length_ns = byte_cursor_uleb(cursor), first = byte_cursor_uleb(cursor);
		uint64_t share = byte_cursor_uleb(cursor);

		if (cursor->is_bad || thread > UINT32_MAX || length_ns > UINT64_MAX - begin_ns || first >= SHARES ||
		    share >= SHARES)
			return;
		ARRAY_GROW(causes->list, causes->count, causes->capacity, 64);
		causes->list[causes->count++] =
			(struct late_cause){ begin_ns, begin_ns + length_ns, thread, first, share };
	}
}

struct late_causes *late_causes_new(struct trace_reader *file)
{
	struct late_causes *causes = xcalloc(1, sizeof(*causes));

	causes->file = file;
	late_causes_grow(causes);
	return causes;
}

void late_causes_grow(struct late_causes *causes)
{
	size_t count, size_bytes, before = causes->count;
	const struct trace_place *places = trace_reader_places(causes->file, &count);
	const void *content;

	for (; causes->chunks < count; causes->chunks++) {
		struct byte_cursor cursor;

		if (places[causes->chunks].kind != TRACE_CHUNK_LATE_CAUSES ||
		    trace_reader_content(causes->file, causes->chunks, &content, &size_bytes))
			continue;
		cursor = byte_cursor_new(content, size_bytes);
		read_chunk(causes, &cursor);
	}
	if (causes->count > before)
		qsort(causes->list, causes->count, sizeof(*causes->list), compare_causes);
}

void late_causes_free(struct late_causes *causes)
{
	if (!causes)
		return;
	free(causes->list);
	free(causes);
}

uint8_t late_causes_share(const struct late_causes *causes, uint32_t thread, uint64_t begin_ns, uint8_t share)
{
	struct late_cause wanted = { .thread = thread, .begin_ns = begin_ns };
	size_t low = BOUND(0, causes->count, i, compare_causes(&causes->list[i], &wanted) < 0);

	if (low < causes->count && !compare_causes(&causes->list[low], &wanted))
		return causes->list[low].share;
	return share;
}

bool late_causes_has(const struct late_causes *causes, uint32_t thread)
{
	size_t low = BOUND(0, causes->count, i, causes->list[i].thread < thread);

	return low < causes->count && causes->list[low].thread == thread;
}

const struct late_cause *late_causes_in(const struct late_causes *causes, uint32_t thread, uint64_t from_ns,
					uint64_t to_ns, size_t *count)
{
	const struct late_cause *list = causes->list;
	size_t first = BOUND(0, causes->count, i,
			     list[i].thread < thread || (list[i].thread == thread && list[i].end_ns <= from_ns));
	size_t end = first;

	while (end < causes->count && list[end].thread == thread && list[end].begin_ns < to_ns)
		end++;
	*count = end - first;
	return *count ? list + first : NULL;
}
