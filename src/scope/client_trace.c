/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/client_trace.h"

#include <string.h>

#include "trace/trace_file.h"
#include "trace/trace_pack.h"

enum {
	PLACES_MAX = 100000,         /* of an index; a longer trace has none */
	KEPT_CAPACITY_MAX = 4 << 20, /* of bytes, when all of them are taken */
};

static void put_bytes(struct client_trace *trace, const void *bytes, size_t size_bytes)
{
	text_put_bytes(&trace->bytes, bytes, size_bytes);
	trace->file_bytes += size_bytes;
}

void client_trace_begin(struct client_trace *trace)
{
	struct trace_header header;

	trace_header_init(&header, NULL);
	*trace = (struct client_trace){ .trace = header.random[0] };
	put_bytes(trace, &header, sizeof(header));
}

void client_trace_fini(struct client_trace *trace)
{
	text_fini(&trace->bytes);
	trace_places_fini(&trace->places);
}

static void note_place(struct client_trace *trace, const struct trace_chunk *chunk, const uint64_t *threads)
{
	struct trace_place place = {
		.offset = trace->file_bytes,
		.first_ns = chunk->first_ns,
		.last_ns = chunk->last_ns,
		.count = chunk->count,
		.kind = chunk->kind,
		.flags = chunk->flags,
		.number = chunk->number,
	};

	if (trace->places.count == PLACES_MAX)
		return;
	if (threads)
		memcpy(place.threads, threads, sizeof(place.threads));
	trace_places_add(&trace->places, &place);
}

void client_trace_put(struct client_trace *trace, const struct trace_chunk *chunk, enum trace_chunk_kind kind,
		      uint32_t flags, const uint64_t *threads, const void *stored)
{
	static const char zeros[8];
	struct trace_chunk head = *chunk;

	head.kind = kind;
	head.flags = flags | (chunk->flags & TRACE_CHUNK_HAS_SCHEMA);
	trace_chunk_seal(&head, trace->trace, trace->number++);
	note_place(trace, &head, threads);
	put_bytes(trace, &head, sizeof(head));
	put_bytes(trace, stored, head.stored_bytes);
	put_bytes(trace, zeros, -head.stored_bytes % sizeof(zeros));
}

static void put_index(struct client_trace *trace, struct trace_end *end)
{
	struct trace_chunk chunk = { 0 };
	struct trace_packer packer;
	const void *stored;

	if (trace->places.count < PLACES_MAX && !trace_packer_init(&packer)) {
		end->index_offset = trace->file_bytes;
		stored = trace_pack(&packer, &chunk, trace->places.list,
				    trace->places.count * sizeof(*trace->places.list));
		client_trace_put(trace, &chunk, TRACE_CHUNK_INDEX, 0, NULL, stored);
		trace_packer_fini(&packer);
	}
}

void client_trace_end(struct client_trace *trace)
{
	struct trace_end end = { .magic = TRACE_MAGIC };

	put_index(trace, &end);
	put_bytes(trace, &end, sizeof(end));
}

const void *client_trace_bytes(const struct client_trace *trace, size_t *size_bytes)
{
	*size_bytes = trace->bytes.length - trace->taken;
	return *size_bytes ? trace->bytes.bytes + trace->taken : NULL;
}

void client_trace_take(struct client_trace *trace, size_t size_bytes)
{
	trace->taken += size_bytes;
	if (trace->taken < trace->bytes.length)
		return;
	trace->taken = trace->bytes.length = 0;
	if (trace->bytes.capacity > KEPT_CAPACITY_MAX)
		text_fini(&trace->bytes);
}
