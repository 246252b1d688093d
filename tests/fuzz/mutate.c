/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mutate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/text.h"
#include "session/event_kinds.h"
#include "trace/event_code.h"
#include "trace/trace_file.h"
#include "trace/trace_format.h"

enum { BURST_MAX = 2000, CHANGES_MAX = 8, PACKED_BYTES_MIN = 4096 };

struct part {
	struct trace_chunk chunk;
	char *plain;
	size_t size_bytes;
};

struct parts {
	struct part *list;
	size_t count, capacity;
};

struct image {
	struct trace_header header;
	struct parts parts;
};

/* Events of a chunk, each allocated. */
struct events {
	struct ev_header **list;
	size_t count, capacity;
};

struct mutation {
	uint64_t random;
	struct parts parts;
	struct trace_header header;
	struct event_forms forms;
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Below count, which is not 0. */
static uint64_t below(struct mutation *m, uint64_t count)
{
	return next_random(&m->random) % count;
}

/* What arithmetic is likely to be wrong with, or anything, or near to what it was. */
static uint64_t odd_number(struct mutation *m, uint64_t value)
{
	static const uint64_t odd[] = {
		0,
		1,
		2,
		UINT64_MAX,
		UINT64_MAX - 1,
		UINT64_MAX - 1000000000,
		1ull << 63,
		(1ull << 63) - 1,
		1ull << 62,
		1ull << 61,
		1ull << 56,
		1ull << 40,
		UINT32_MAX,
		1ull << 31,
		(1ull << 31) - 1,
		UINT16_MAX,
		0x8000,
		0xff,
		0x7f,
		1000000000,
		64,
		4096,
	};

	switch (below(m, 6)) {
	case 0:
		return next_random(&m->random);
	case 1:
		return value + below(m, 64) - 32;
	case 2:
		return value ^ 1ull << below(m, 64);
	case 3:
		return value << below(m, 24);
	}
	return odd[below(m, sizeof(odd) / sizeof(*odd))];
}

/* --- Parts ----------------------------------------------------------------------------------- */

static void *copy_of(const void *bytes, size_t size_bytes)
{
	void *copy = xcalloc(size_bytes + 1, 1);

	return size_bytes ? memcpy(copy, bytes, size_bytes) : copy;
}

static void add_part(struct parts *parts, const struct trace_chunk *chunk, const void *plain, size_t size_bytes)
{
	if (parts->count == parts->capacity) {
		parts->capacity = parts->capacity ? 2 * parts->capacity : 32;
		parts->list = xrealloc(parts->list, parts->capacity, sizeof(*parts->list));
	}
	parts->list[parts->count++] = (struct part){ *chunk, copy_of(plain, size_bytes), size_bytes };
}

static void parts_fini(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		free(parts->list[i].plain);
	free(parts->list);
}

struct image *image_read(const char *path)
{
	struct image *image = xcalloc(1, sizeof(*image));
	uint64_t at = sizeof(struct trace_header);
	struct trace_chunk chunk;
	struct trace_file file;
	const void *content;

	if (trace_file_open(&file, path)) {
		fprintf(stderr, "%s cannot be read\n", path);
		image_free(image);
		return NULL;
	}
	image->header = file.header;
	while ((at = trace_file_find_chunk(&file, at)) < file.size_bytes) {
		if (!trace_file_content(&file, at, &chunk, &content) && chunk.kind != TRACE_CHUNK_INDEX)
			add_part(&image->parts, &chunk, content, chunk.plain_bytes);
		at += trace_chunk_bytes(&chunk);
	}
	trace_file_close(&file);
	return image;
}

void image_free(struct image *image)
{
	if (!image)
		return;
	parts_fini(&image->parts);
	free(image);
}

/* --- Events ---------------------------------------------------------------------------------- */

static void add_event(struct events *events, const struct ev_header *header)
{
	if (events->count == events->capacity) {
		events->capacity = events->capacity ? 2 * events->capacity : 1024;
		events->list = xrealloc(events->list, events->capacity, sizeof(*events->list));
	}
	events->list[events->count++] = copy_of(header, event_bytes(header));
}

static void take_events(struct mutation *m, const struct part *part, struct events *events)
{
	struct event_decoder *decoder = event_decoder_new(&m->forms);
	struct ev_header *header;

	event_decoder_begin(decoder, part->plain, part->size_bytes);
	while (event_decoder_next(decoder, &header) == 1)
		add_event(events, header);
	event_decoder_free(decoder);
}

/* What the part says of them goes with them, unless it is to lie. */
static void put_events(struct mutation *m, struct part *part, const struct events *events)
{
	struct event_encoder *encoder = event_encoder_new();
	bool is_lying = !below(m, 8);
	const void *bytes;

	if (!is_lying) {
		part->chunk.first_ns = UINT64_MAX;
		part->chunk.last_ns = 0;
		part->chunk.count = events->count;
	}
	for (size_t i = 0; i < events->count; i++) {
		uint64_t time_ns = events->list[i]->time_ns;

		event_encoder_add(encoder, events->list[i]);
		if (!is_lying && time_ns < part->chunk.first_ns)
			part->chunk.first_ns = time_ns;
		if (!is_lying && time_ns > part->chunk.last_ns)
			part->chunk.last_ns = time_ns;
	}
	bytes = event_encoder_bytes(encoder, &part->size_bytes);
	free(part->plain);
	part->plain = copy_of(bytes, part->size_bytes);
	event_encoder_free(encoder);
}

static void change_number(struct mutation *m, void *at, size_t width_bytes)
{
	uint64_t value = 0;

	memcpy(&value, at, width_bytes);
	value = odd_number(m, value);
	memcpy(at, &value, width_bytes);
}

/* Whatever of the fixed part; what follows it must go on to fit, or it would be no event. */
static void change_field(struct mutation *m, struct ev_header *header)
{
	const struct event_kind *kind = event_kind_find(header->subsys, header->event);
	size_t size_bytes = event_bytes(header);
	const struct event_field *field;
	struct ev_header *before;

	if (!kind->field_count)
		return;
	field = &kind->fields[below(m, kind->field_count)];
	if (field->is_flexible && size_bytes - field->offset_bytes < field->width_bytes)
		return;
	before = copy_of(header, size_bytes);
	change_number(m,
		      (char *)header + field->offset_bytes +
			      (field->is_flexible ? below(m, (size_bytes - field->offset_bytes) / field->width_bytes)
			       : field->count     ? below(m, field->count)
						  : 0) *
				      field->width_bytes,
		      field->width_bytes);
	if (!event_is_well_formed(header, size_bytes))
		memcpy(header, before, size_bytes);
	free(before);
}

static struct ev_header *any_event(struct mutation *m, const struct events *events)
{
	return events->list[below(m, events->count)];
}

/* The same thread, field or time for many: so that what is bounded by none of them grows. */
static void burst(struct mutation *m, struct events *events)
{
	struct ev_header *model = any_event(m, events);
	size_t count = 1 + below(m, BURST_MAX);
	uint64_t step_ns = below(m, 1ull << below(m, 40));
	bool is_other_thread = below(m, 2), is_other_field = below(m, 2);

	for (size_t i = 0; i < count; i++) {
		struct ev_header *copy;

		add_event(events, model);
		copy = events->list[events->count - 1];
		copy->time_ns += i * step_ns;
		if (is_other_thread)
			copy->thread += i;
		if (is_other_field)
			change_field(m, copy);
	}
}

/* All times of the chunk: further apart, or elsewhere. */
static void change_times(struct mutation *m, const struct events *events)
{
	uint64_t first_ns = events->list[0]->time_ns, shift = below(m, 44), by_ns = odd_number(m, first_ns) - first_ns;
	bool is_elsewhere = below(m, 2);

	for (size_t i = 0; i < events->count; i++) {
		uint64_t time_ns = events->list[i]->time_ns;

		events->list[i]->time_ns = is_elsewhere ? time_ns + by_ns : first_ns + ((time_ns - first_ns) << shift);
	}
}

static void change_event(struct mutation *m, struct events *events)
{
	struct ev_header *one = any_event(m, events), *other = any_event(m, events);
	uint64_t time_ns = one->time_ns;
	size_t i;

	switch (below(m, 12)) {
	case 0:
		one->time_ns = odd_number(m, time_ns);
		break;
	case 1:
		one->time_ns = other->time_ns;
		other->time_ns = time_ns;
		break;
	case 2:
		one->thread = odd_number(m, one->thread);
		break;
	case 3:
		one->thread = other->thread;
		break;
	case 4:
		i = below(m, events->count);
		free(events->list[i]);
		events->list[i] = events->list[--events->count];
		break;
	case 5:
		add_event(events, one);
		break;
	case 6:
		if (events->count < BURST_MAX)
			burst(m, events);
		break;
	case 7:
		if (!below(m, 4))
			change_times(m, events);
		break;
	default:
		change_field(m, one);
	}
}

static void change_events(struct mutation *m, struct part *part)
{
	size_t count = 1 + below(m, below(m, 2) ? CHANGES_MAX : 1000);
	struct events events = { 0 };

	take_events(m, part, &events);
	for (size_t i = 0; i < count && events.count; i++)
		change_event(m, &events);
	put_events(m, part, &events);
	for (size_t i = 0; i < events.count; i++)
		free(events.list[i]);
	free(events.list);
}

/* --- Bytes and chunks ------------------------------------------------------------------------ */

static void change_bytes(struct mutation *m, struct part *part)
{
	size_t count = 1 + below(m, CHANGES_MAX), width_bytes;

	for (size_t i = 0; i < count && part->size_bytes; i++) {
		width_bytes = 1ull << below(m, 4);
		if (width_bytes <= part->size_bytes)
			change_number(m, part->plain + below(m, part->size_bytes - width_bytes + 1), width_bytes);
	}
	if (!below(m, 8))
		part->size_bytes = below(m, part->size_bytes + 1);
}

static void change_chunk(struct mutation *m, struct part *part)
{
	struct trace_chunk *chunk = &part->chunk;

	switch (below(m, 8)) {
	case 0:
		chunk->first_ns = odd_number(m, chunk->first_ns);
		break;
	case 1:
		chunk->last_ns = odd_number(m, chunk->last_ns);
		break;
	case 2:
		chunk->count = odd_number(m, chunk->count);
		break;
	case 3:
		chunk->flags = below(m, 4);
		break;
	case 4:
		chunk->kind = below(m, 2) ? below(m, 8) : TRACE_CHUNK_STATES + below(m, 8);
		break;
	case 5:
		chunk->number = odd_number(m, chunk->number);
		break;
	case 6:
		add_part(&m->parts, chunk, part->plain, part->size_bytes);
		break;
	case 7:
		m->header.last_ns = odd_number(m, m->header.last_ns);
		m->header.ring_bytes = below(m, 2) ? odd_number(m, 0) : 0;
		break;
	}
}

static bool has_events(const struct part *part)
{
	return part->chunk.kind == TRACE_CHUNK_EVENTS || part->chunk.kind == TRACE_CHUNK_PROLOGUE;
}

/* What it was made of stays: else nobody would read a history of states. */
static bool is_fixed(const struct part *part)
{
	return part->chunk.kind == TRACE_CHUNK_ORIGIN;
}

static void mutate(struct mutation *m)
{
	size_t count = 1 + below(m, 4);

	for (size_t i = 0; i < count && m->parts.count; i++) {
		struct part *part = &m->parts.list[below(m, m->parts.count)];
		uint64_t choice = below(m, 16);

		if (is_fixed(part))
			continue;
		if (choice < 1)
			change_chunk(m, part);
		else if (has_events(part) && choice < 14)
			change_events(m, part);
		else
			change_bytes(m, part);
	}
}

/* --- Writing --------------------------------------------------------------------------------- */

static void put_part(struct mutation *m, struct part *part, struct text *out, struct text *index)
{
	static const char zeros[8];
	struct trace_chunk *chunk = &part->chunk;
	size_t bound = ZSTD_compressBound(part->size_bytes);
	void *packed = xcalloc(bound + 1, 1);
	struct trace_place place = {
		.offset = out->length,
		.first_ns = chunk->first_ns,
		.last_ns = chunk->last_ns,
		.count = chunk->count,
		.kind = chunk->kind,
		.flags = chunk->flags,
		.number = chunk->number,
	};

	memset(place.threads, 0xff, sizeof(place.threads));
	chunk->trace = m->header.random[0];
	chunk->plain_bytes = chunk->stored_bytes = part->size_bytes;
	chunk->packing = part->size_bytes >= PACKED_BYTES_MIN && below(m, 2) ? TRACE_ZSTD : TRACE_PLAIN;
	if (chunk->packing == TRACE_ZSTD)
		chunk->stored_bytes = ZSTD_compress(packed, bound, part->plain, part->size_bytes, 1);
	else if (part->size_bytes)
		memcpy(packed, part->plain, part->size_bytes);
	chunk->content_checksum = XXH64(packed, chunk->stored_bytes, 0);
	chunk->checksum = XXH64(chunk, offsetof(struct trace_chunk, checksum), 0);
	text_put_bytes(out, (const char *)chunk, sizeof(*chunk));
	text_put_bytes(out, packed, chunk->stored_bytes);
	text_put_bytes(out, zeros, -chunk->stored_bytes % sizeof(zeros));
	text_put_bytes(index, (const char *)&place, sizeof(place));
	free(packed);
}

static void put_all(struct mutation *m, struct text *out)
{
	struct trace_end end = { .magic = TRACE_MAGIC };
	struct part index = { .chunk = { .magic = TRACE_CHUNK_MAGIC, .kind = TRACE_CHUNK_INDEX } };
	struct text places = { 0 }, none = { 0 };

	m->header.checksum = XXH64(&m->header, offsetof(struct trace_header, checksum), 0);
	text_put_bytes(out, (const char *)&m->header, sizeof(m->header));
	for (size_t i = 0; i < m->parts.count; i++) {
		put_part(m, &m->parts.list[i], out, &places);
		if (m->parts.list[i].chunk.number >= index.chunk.number)
			index.chunk.number = m->parts.list[i].chunk.number + 1;
	}
	if (below(m, 4)) {
		end.index_offset = out->length;
		index.plain = places.bytes;
		index.size_bytes = places.length;
		if (!below(m, 8))
			change_bytes(m, &index);
		put_part(m, &index, out, &none);
	}
	if (below(m, 16))
		text_put_bytes(out, (const char *)&end, sizeof(end));
	text_fini(&places);
	text_fini(&none);
}

static int write_file(const char *path, const struct text *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text->bytes, text->length) != (ssize_t)text->length)
		err = -EIO;
	close(fd);
	return err;
}

int image_write_mutated(const struct image *image, uint64_t seed, const char *path)
{
	struct mutation m = { .random = seed, .header = image->header };
	struct text out = { 0 };
	int err;

	for (size_t i = 0; i < image->parts.count; i++)
		add_part(&m.parts, &image->parts.list[i].chunk, image->parts.list[i].plain,
			 image->parts.list[i].size_bytes);
	event_forms_here(&m.forms);
	mutate(&m);
	put_all(&m, &out);
	err = write_file(path, &out);
	text_fini(&out);
	parts_fini(&m.parts);
	return err;
}
