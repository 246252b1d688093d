/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/memory.h"
#include "session/event_kinds.h"
#include "trace/event_code.h"
#include "trace/trace_file.h"
#include "trace/trace_places.h"
#include "trace/trace_threads.h"
#include "trace/seen_definitions.h"

enum { WRITTEN_LATELY_SECONDS = 3 };

struct trace_reader {
	struct trace_file file;
	struct trace_extent extent;
	uint64_t counts_from_ns; /* 0: from the first event */
	struct trace_places places;
	struct event_forms forms;
	struct event_decoder *decoder;
	const struct ev_header *known; /* of the event that was read last; NULL: its kind is not known here */
	size_t next;                   /* the chunk to take events from when this one has no more */
	size_t end;                    /* the last one is before this one */
	uint32_t event_count;          /* of the chunk, so far; by trace_reader_next_stored() */
	bool is_in_chunk;
	bool ignores_past;
	bool is_prologue;                  /* what is in it was */
	struct seen_definitions *recorded; /* NULL: nothing was repeated */
	struct bad_times bad_times;
	struct trace_threads *threads;
	size_t threads_alive_max, threads_ever_max;
	uint64_t crowded_out;
	uint64_t unknown_before; /* of the decoder's count, what came before this reading */
	bool only_schemas;       /* chunks that have none are left out */
	bool has_threads;        /* chunks that cannot have one of these are left out */
	struct trace_place threads_chosen;
};

static void measure(struct trace_reader *reader)
{
	struct trace_extent *extent = &reader->extent;

	extent->created_ns = reader->file.header.created_ns;
	memcpy(extent->id, reader->file.header.random, sizeof(extent->id));
	extent->file_bytes = reader->file.size_bytes;
	extent->unread_bytes = reader->places.unread_bytes;
	extent->is_header_damaged = reader->file.is_header_damaged;
	extent->is_ended = reader->places.is_ended;
	extent->begins_late = reader->places.begins_late;
	extent->is_ring = trace_file_is_ring(&reader->file);
	for (size_t i = 0; i < reader->places.count; i++) {
		const struct trace_place *place = &reader->places.list[i];

		extent->chunks += place->kind != TRACE_CHUNK_LOST;
		if (place->kind != TRACE_CHUNK_EVENTS)
			continue;
		if (!extent->events || place->first_ns < extent->first_ns)
			extent->first_ns = place->first_ns;
		if (place->last_ns > extent->last_ns)
			extent->last_ns = place->last_ns;
		extent->events += place->count;
	}
	if (reader->counts_from_ns)
		extent->first_ns = reader->counts_from_ns;
}

static void take_forms(struct trace_reader *reader, const struct trace_form *forms, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t id = forms[i].subsys * (size_t)EVENTS_MAX + forms[i].event;

		if (forms[i].event < EVENTS_MAX && id < EVENT_IDS)
			reader->forms.of[id] = (struct event_form){
				forms[i].size_bytes,
				forms[i].is_flexible,
			};
	}
}

/* What its events look like; when nothing says so they can only be as this version writes them. */
static void read_forms(struct trace_reader *reader)
{
	const void *content;
	size_t size_bytes;

	for (size_t i = 0; i < reader->places.count; i++)
		if (reader->places.list[i].kind == TRACE_CHUNK_FORMS &&
		    !trace_reader_content(reader, i, &content, &size_bytes)) {
			take_forms(reader, content, size_bytes / sizeof(struct trace_form));
			return;
		}
	reader->extent.has_no_forms = true;
	event_forms_here(&reader->forms);
}

int trace_reader_open(const char *path, struct trace_reader **out)
{
	return trace_reader_open_late(path, 0, out);
}

int trace_reader_open_late(const char *path, unsigned int eighths, struct trace_reader **out)
{
	struct trace_reader *reader = xcalloc(1, sizeof(*reader));
	int err = trace_file_open(&reader->file, path);

	if (err)
		goto out_close;
	trace_places_find(&reader->places, &reader->file, eighths);
	if (!reader->places.count) {
		err = -EBADMSG;
		goto out_close;
	}
	measure(reader);
	read_forms(reader);
	reader->decoder = event_decoder_new(&reader->forms);
	reader->threads_alive_max = TRACE_THREADS_MAX;
	reader->threads_ever_max = SIZE_MAX;
	trace_reader_seek(reader, 0);
	*out = reader;
	return 0;

out_close:
	trace_reader_close(reader);
	return err;
}

void trace_reader_count_from(struct trace_reader *reader, uint64_t first_ns)
{
	if (!first_ns)
		return;
	reader->counts_from_ns = first_ns;
	reader->extent.first_ns = first_ns;
}

int trace_reader_grow(struct trace_reader *reader)
{
	struct trace_extent *extent = &reader->extent;
	int err = trace_file_measure(&reader->file);
	bool reads_on; /* to the last chunk that there is */

	if (err)
		return err;
	reads_on = reader->end == reader->places.count;
	trace_places_grow(&reader->places, &reader->file);
	if (reads_on)
		reader->end = reader->places.count;
	*extent = (struct trace_extent){ .has_no_forms = extent->has_no_forms };
	measure(reader);
	return 0;
}

void trace_reader_close(struct trace_reader *reader)
{
	if (!reader)
		return;
	seen_definitions_free(reader->recorded);
	trace_threads_free(reader->threads);
	event_decoder_free(reader->decoder);
	trace_places_fini(&reader->places);
	trace_file_close(&reader->file);
	free(reader);
}

int trace_reader_fd(const struct trace_reader *reader)
{
	return reader->file.fd;
}

/* Writers lock the file. */
static bool is_locked(int fd)
{
	if (flock(fd, LOCK_SH | LOCK_NB))
		return errno == EWOULDBLOCK;
	flock(fd, LOCK_UN);
	return false;
}

bool trace_reader_is_being_written(const struct trace_reader *reader)
{
	struct stat status;
	struct timespec now;

	if (is_locked(reader->file.fd))
		return true;
	clock_gettime(CLOCK_REALTIME, &now);
	return !fstat(reader->file.fd, &status) && status.st_mtim.tv_sec <= now.tv_sec &&
	       now.tv_sec - status.st_mtim.tv_sec <= WRITTEN_LATELY_SECONDS;
}

const struct trace_extent *trace_reader_extent(const struct trace_reader *reader)
{
	return &reader->extent;
}

const struct trace_place *trace_reader_places(const struct trace_reader *reader, size_t *count)
{
	*count = reader->places.count;
	return reader->places.list;
}

/* Its place may be an enemy's word. */
static bool is_at(const struct trace_place *place, const struct trace_chunk *chunk)
{
	return chunk->number == place->number && (chunk->kind == place->kind || (chunk->kind == TRACE_CHUNK_PROLOGUE &&
										 place->kind == TRACE_CHUNK_EVENTS));
}

int trace_reader_content(struct trace_reader *reader, size_t i, const void **content, size_t *size_bytes)
{
	const struct trace_place *place = &reader->places.list[i];
	struct trace_chunk chunk;
	int err = -EBADMSG;

	*size_bytes = 0;
	if (place->kind != TRACE_CHUNK_LOST)
		err = trace_file_content(&reader->file, place->offset, &chunk, content);
	if (!err && !is_at(place, &chunk))
		err = -EBADMSG;
	if (!err)
		*size_bytes = chunk.plain_bytes;
	return err;
}

void trace_reader_choose_thread(struct trace_reader *reader, uint32_t thread)
{
	reader->has_threads = true;
	trace_place_note_thread(&reader->threads_chosen, thread);
}

void trace_reader_choose_schemas(struct trace_reader *reader, bool only_schemas)
{
	reader->only_schemas = only_schemas;
}

static void forget_recorded(struct trace_reader *reader)
{
	seen_definitions_free(reader->recorded);
	reader->recorded = NULL;
	if (reader->extent.is_ring && !reader->extent.is_ended)
		reader->recorded = seen_definitions_new(); /* more may come, which is repeated */
	for (size_t i = 0; !reader->recorded && i < reader->places.count; i++)
		if (reader->places.list[i].reserved == TRACE_PLACE_PROLOGUE)
			reader->recorded = seen_definitions_new();
}

void trace_reader_seek(struct trace_reader *reader, uint64_t time_ns)
{
	reader->next = 0;
	while (time_ns && reader->next < reader->places.count &&
	       (reader->places.list[reader->next].kind != TRACE_CHUNK_EVENTS ||
		reader->places.list[reader->next].last_ns < time_ns))
		reader->next++;
	/* What is lost just before may have been as late. */
	while (reader->next && reader->places.list[reader->next - 1].kind == TRACE_CHUNK_LOST)
		reader->next--;
	reader->end = reader->places.count;
	reader->is_in_chunk = false;
	if (!time_ns) {
		reader->bad_times = (struct bad_times){ 0 };
		reader->crowded_out = 0;
		reader->unknown_before = event_decoder_unknown(reader->decoder);
		trace_threads_free(reader->threads);
		reader->threads = trace_threads_new(reader->threads_alive_max, reader->threads_ever_max);
	}
	forget_recorded(reader);
}

void trace_reader_begin_chunk(struct trace_reader *reader, size_t i)
{
	reader->next = i;
	reader->end = i + 1;
	reader->is_in_chunk = false;
}

void trace_reader_ignore_past(struct trace_reader *reader)
{
	reader->ignores_past = true;
}

/* Damage is seen where chunks are missing, too. */
static bool is_seen(const struct trace_reader *reader, const struct trace_place *place)
{
	if (place->kind != TRACE_CHUNK_EVENTS)
		return place->kind == TRACE_CHUNK_LOST;
	if (reader->only_schemas && !(place->flags & TRACE_CHUNK_HAS_SCHEMA))
		return false;
	return !reader->has_threads || trace_places_may_share(place, &reader->threads_chosen);
}

/* 1 when there is a chunk with events, and they can be read. */
static int open_next(struct trace_reader *reader)
{
	const struct trace_place *place;
	const void *content;
	size_t size_bytes;
	int err;

	while (reader->next < reader->end && !is_seen(reader, &reader->places.list[reader->next]))
		reader->next++;
	if (reader->next == reader->end)
		return 0;
	place = &reader->places.list[reader->next];
	err = trace_reader_content(reader, reader->next++, &content, &size_bytes);
	if (err)
		return err;
	reader->is_prologue = place->reserved == TRACE_PLACE_PROLOGUE;
	event_decoder_begin(reader->decoder, content, size_bytes);
	reader->event_count = 0;
	reader->is_in_chunk = true;
	return 1;
}

/* Of the chunk that is read. */
static bool has_its_time(struct trace_reader *reader, struct ev_header *event)
{
	const struct trace_place *place = &reader->places.list[reader->next - 1];

	return event_times_bound(event, place->first_ns, place->last_ns, &reader->bad_times);
}

static bool has_space(struct trace_reader *reader, const struct ev_header *event)
{
	bool has_space = trace_threads_admit(reader->threads, event);

	reader->crowded_out += !has_space;
	return has_space;
}

/* Who began earlier knows most of what is repeated. */
static bool is_news(const struct trace_reader *reader, const struct ev_header *header)
{
	return !reader->recorded || seen_definitions_note(reader->recorded, header) || !reader->is_prologue;
}

/* What the reader guarantees. */
static bool is_let_through(struct trace_reader *reader, struct ev_header *event)
{
	return has_its_time(reader, event) &&
	       (reader->ignores_past || (is_news(reader, event) && has_space(reader, event)));
}

int trace_reader_next(struct trace_reader *reader, const struct ev_header **header)
{
	struct ev_header *event;
	int result;

	for (;;) {
		if (!reader->is_in_chunk) {
			result = open_next(reader);
			if (result <= 0)
				return result;
		}
		result = event_decoder_next(reader->decoder, &event);
		*header = event;
		if (result > 0 && !is_let_through(reader, event))
			continue;
		if (result > 0)
			return result;
		reader->is_in_chunk = false;
		if (result)
			return result;
	}
}

bool trace_reader_is_repeated(const struct trace_reader *reader)
{
	return reader->is_prologue;
}

/* Of an event of a kind that is unknown. */
static bool is_in_its_chunk(struct trace_reader *reader, uint64_t time_ns)
{
	const struct trace_place *place = &reader->places.list[reader->next - 1];
	bool is_in = time_ns >= place->first_ns && time_ns <= place->last_ns;

	reader->bad_times.left_out += !is_in;
	return is_in;
}

int trace_reader_next_stored(struct trace_reader *reader, const struct ev_header **stored, size_t *size_bytes)
{
	struct ev_header *event;
	int result;

	for (;;) {
		if (!reader->is_in_chunk) {
			result = open_next(reader);
			if (result <= 0)
				return result;
		}
		result = event_decoder_next_stored(reader->decoder, &event, stored, size_bytes);
		reader->event_count++;
		if (result > 0 &&
		    !(event ? is_let_through(reader, event) : is_in_its_chunk(reader, (*stored)->time_ns)))
			continue;
		reader->known = result > 0 ? event : NULL;
		if (result > 0)
			return result;
		reader->is_in_chunk = false;
		if (result)
			return result;
	}
}

const struct ev_header *trace_reader_known(const struct trace_reader *reader)
{
	return reader->known;
}

uint32_t trace_reader_event_at(const struct trace_reader *reader)
{
	return reader->event_count - 1;
}

uint64_t trace_reader_unknown(const struct trace_reader *reader)
{
	return event_decoder_unknown(reader->decoder) - reader->unknown_before;
}

size_t trace_reader_at(const struct trace_reader *reader)
{
	return reader->next - 1;
}

void trace_reader_allow_threads(struct trace_reader *reader, size_t alive_max, size_t ever_max)
{
	reader->threads_alive_max = alive_max;
	reader->threads_ever_max = ever_max;
	trace_reader_seek(reader, 0);
}

uint64_t trace_reader_crowded_out(const struct trace_reader *reader)
{
	return reader->crowded_out;
}

const struct bad_times *trace_reader_bad_times(const struct trace_reader *reader)
{
	return &reader->bad_times;
}
