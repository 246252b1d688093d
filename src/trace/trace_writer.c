/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_writer.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/out/out_file.h"
#include "session/event_kinds.h"
#include "trace/event_code.h"
#include "trace/trace_output.h"
#include "trace/trace_places.h"
#include "trace/trace_ring.h"

enum {
	EVENTS_BYTES = 1 << 20, /* of a chunk, before it is packed */
	SEGMENT_PARTS = 4,      /* such chunks in a segment of a ring at least */
	FORMS_BYTES = 64 << 20, /* from where they are recorded to where they are repeated */
};

/* A chunk that is being filled. */
struct filling {
	struct event_encoder *encoder;
	struct trace_chunk chunk;
	struct trace_place place; /* whom it is about */
};

struct trace_writer {
	struct trace_output *output;
	struct filling events, prologue;
	size_t chunk_bytes; /* of events, before they are packed */
	uint64_t time_ns;   /* of the latest event */
	uint64_t event_count;
	uint64_t forms_at; /* how long the file was when they were recorded */
	bool has_begun;    /* the trace, or the epoch: there is a chunk with which readers can */
};

static void put_forms(struct trace_writer *writer)
{
	struct trace_form forms[EVENT_IDS];
	struct trace_chunk chunk = { .kind = TRACE_CHUNK_FORMS };
	struct event_forms here;
	size_t count = 0;

	event_forms_here(&here);
	for (unsigned int id = 0; id < EVENT_IDS; id++)
		if (here.of[id].size_bytes)
			forms[count++] = (struct trace_form){
				.subsys = id / EVENTS_MAX,
				.event = id % EVENTS_MAX,
				.size_bytes = here.of[id].size_bytes,
				.is_flexible = here.of[id].is_flexible,
			};
	trace_output_put(writer->output, &chunk, NULL, forms, count * sizeof(*forms));
	writer->forms_at = trace_output_bytes(writer->output);
}

/* Without them nothing can be read: one that is damaged must not be the only one. */
static void put_forms_again(struct trace_writer *writer)
{
	if (!trace_output_ring(writer->output) && trace_output_bytes(writer->output) - writer->forms_at >= FORMS_BYTES)
		put_forms(writer);
}

static size_t filled_bytes(const struct filling *filling)
{
	size_t size_bytes;

	event_encoder_bytes(filling->encoder, &size_bytes);
	return size_bytes;
}

static void put_filling(struct trace_writer *writer, struct filling *filling, enum trace_chunk_kind kind,
			uint32_t flags)
{
	const void *bytes;
	size_t size_bytes;

	if (!filling->chunk.count)
		return;
	bytes = event_encoder_bytes(filling->encoder, &size_bytes);
	filling->chunk.kind = kind;
	filling->chunk.flags |= flags | (writer->has_begun ? 0 : TRACE_CHUNK_BEGINS);
	trace_output_put(writer->output, &filling->chunk, filling->place.threads, bytes, size_bytes);
	writer->has_begun = true;
	filling->chunk = (struct trace_chunk){ 0 };
	filling->place = (struct trace_place){ 0 };
	event_encoder_reset(filling->encoder);
}

/* What events refer to comes before them. */
static void end_events(struct trace_writer *writer)
{
	put_filling(writer, &writer->prologue, TRACE_CHUNK_PROLOGUE, 0);
	put_filling(writer, &writer->events, TRACE_CHUNK_EVENTS, 0);
	put_forms_again(writer);
}

/* The writer owns the output. */
static int begin(struct trace_output *output, struct trace_writer **out)
{
	struct trace_writer *writer = xcalloc(1, sizeof(*writer));
	int err;

	writer->output = output;
	writer->events.encoder = event_encoder_new();
	writer->prologue.encoder = event_encoder_new();
	writer->chunk_bytes = EVENTS_BYTES;
	if (trace_output_ring(output))
		writer->chunk_bytes = trace_ring_segment_bytes(trace_output_ring(output)) / SEGMENT_PARTS;
	put_forms(writer);
	err = trace_writer_error(writer);
	if (err)
		trace_writer_discard(writer);
	else
		*out = writer;
	return err;
}

int trace_writer_begin(struct out_file *file, const struct trace_ring_options *ring, struct trace_writer **out)
{
	struct trace_output *output;
	int err = trace_output_open(file, ring && trace_ring_is_asked(ring) ? ring : NULL, &output);

	return err ? err : begin(output, out);
}

int trace_writer_begin_sink(const struct trace_sink *sink, struct trace_writer **out)
{
	struct trace_output *output;
	int err = trace_output_open_sink(sink, &output);

	return err ? err : begin(output, out);
}

int trace_writer_open_ring(const char *path, const struct trace_ring_options *ring, struct trace_writer **out)
{
	struct out_file *file;
	int err = out_file_open(path, OUT_FILE_LOCKED | OUT_FILE_SHOWN, &file);

	if (!err)
		err = trace_writer_begin(file, ring, out);
	if (!err) {
		err = trace_writer_place(*out);
		if (err)
			trace_writer_discard(*out);
	}
	return err;
}

int trace_writer_open(const char *path, struct trace_writer **out)
{
	return trace_writer_open_ring(path, &(struct trace_ring_options){ 0 }, out);
}

bool trace_writer_wants_epoch(const struct trace_writer *writer)
{
	const struct trace_ring *ring = trace_output_ring(writer->output);

	return ring && trace_ring_wants_epoch(ring, writer->time_ns);
}

void trace_writer_begin_epoch(struct trace_writer *writer)
{
	struct trace_ring *ring = trace_output_ring(writer->output);

	end_events(writer);
	if (ring)
		trace_ring_begin_epoch(ring, writer->time_ns);
	writer->has_begun = false;
}

void trace_writer_end_prologue(struct trace_writer *writer)
{
	struct trace_ring *ring = trace_output_ring(writer->output);

	put_filling(writer, &writer->prologue, TRACE_CHUNK_PROLOGUE, TRACE_CHUNK_HAS_PROLOGUE);
	if (ring)
		trace_ring_end_prologue(ring);
}

static void add(struct filling *filling, const struct ev_header *header)
{
	struct trace_chunk *chunk = &filling->chunk;

	event_encoder_add(filling->encoder, header);
	if (!chunk->count || header->time_ns < chunk->first_ns)
		chunk->first_ns = header->time_ns;
	if (header->time_ns > chunk->last_ns)
		chunk->last_ns = header->time_ns;
	chunk->count++;
	if (header->subsys == TRACE_SUBSYS_USER && header->event == TRACE_EVENT_USER_SCHEMA)
		chunk->flags |= TRACE_CHUNK_HAS_SCHEMA;
	trace_place_note_thread(&filling->place, header->thread);
	trace_place_note_thread(&filling->place, event_other_thread(header));
}

void trace_writer_repeat(struct trace_writer *writer, const struct ev_header *header)
{
	if (trace_writer_error(writer))
		return;
	/* Not as soon as it is full: what begins an epoch ends with a chunk that has some of it. */
	if (filled_bytes(&writer->prologue) >= writer->chunk_bytes)
		put_filling(writer, &writer->prologue, TRACE_CHUNK_PROLOGUE, 0);
	add(&writer->prologue, header);
}

void trace_writer_event(struct trace_writer *writer, const struct ev_header *header)
{
	if (trace_writer_error(writer))
		return;
	if (!writer->event_count++ && trace_output_ring(writer->output))
		trace_ring_begin_epoch(trace_output_ring(writer->output), header->time_ns);
	add(&writer->events, header);
	if (header->time_ns > writer->time_ns)
		writer->time_ns = header->time_ns;
	if (filled_bytes(&writer->events) >= writer->chunk_bytes)
		end_events(writer);
}

void trace_writer_chunk(struct trace_writer *writer, enum trace_chunk_kind kind, const void *content, size_t size_bytes,
			const struct trace_span *span)
{
	struct trace_chunk chunk = { .kind = kind };

	if (span) {
		chunk.first_ns = span->first_ns;
		chunk.last_ns = span->last_ns;
		chunk.count = span->count;
	}
	trace_output_put(writer->output, &chunk, NULL, content, size_bytes);
	put_forms_again(writer);
}

void trace_writer_flush(struct trace_writer *writer, uint64_t now_ns, uint64_t limit_ns)
{
	const struct trace_chunk *chunk = &writer->events.chunk;

	if (chunk->count && now_ns - chunk->first_ns >= limit_ns)
		end_events(writer);
}

struct trace_writer_counts trace_writer_counts(const struct trace_writer *writer)
{
	return (struct trace_writer_counts){
		.events = writer->event_count,
		.chunks = trace_output_chunks(writer->output),
		.file_bytes = trace_output_bytes(writer->output),
	};
}

int trace_writer_error(const struct trace_writer *writer)
{
	return trace_output_error(writer->output);
}

int trace_writer_place(struct trace_writer *writer)
{
	return trace_output_place(writer->output);
}

int trace_writer_fd(const struct trace_writer *writer)
{
	return trace_output_fd(writer->output);
}

static void writer_free(struct trace_writer *writer)
{
	event_encoder_free(writer->events.encoder);
	event_encoder_free(writer->prologue.encoder);
	free(writer);
}

int trace_writer_close(struct trace_writer *writer)
{
	int err;

	end_events(writer);
	put_forms(writer);
	err = trace_output_close(writer->output);
	writer_free(writer);
	return err;
}

void trace_writer_discard(struct trace_writer *writer)
{
	trace_output_discard(writer->output);
	writer_free(writer);
}
