/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/out/out_file.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/ring_names.h"
#include "engine/stream_names.h"
#include "engine/trace_info.h"
#include "session/event_kinds.h"
#include "session/session.h"
#include "symbol/symbol.h"
#include "trace/prologue/prologue.h"
#include "trace/trace_reader.h"
#include "trace/trace_ring.h"
#include "trace/trace_writer.h"

static const uint64_t written_after_ns = 200000000ull;

struct recorder {
	struct engine *engine;
	struct trace_writer *writer; /* NULL: the trace has its end */
	struct prologue *prologue;   /* of a flight recorder, as are names; else NULL */
	struct ring_names *names;
	const struct recorder_stream *stream; /* NULL: there is a file */
	char *path;                           /* for messages */
	uint64_t *patched;                    /* a mapping with its file */
	size_t patched_capacity;
	bool has_begun;  /* the file is in place */
	bool has_epoch;  /* not all that was recorded is still there */
	bool has_failed; /* and the user knows */
	bool is_silent;
};

/*
 * A reader has the events alone to tell files apart, and to find them again: by their own numbers, which
 * their mappings may not have, and where files have others, by their build-ids.
 */
static const struct ev_header *with_file(struct recorder *recorder, const struct ev_header *header)
{
	const struct ev_space_map *e = (const struct ev_space_map *)header;
	size_t size_bytes = event_bytes(header);
	struct ev_space_map *patched;
	struct symbol_file file;

	if (symbols_file(recorder->engine->symbols, e->pid, e->start, &file))
		return header;
	if (size_bytes > recorder->patched_capacity) {
		recorder->patched_capacity = size_bytes * 2;
		recorder->patched = xrealloc(recorder->patched, recorder->patched_capacity, 1);
	}
	patched = memcpy(recorder->patched, header, size_bytes);
	patched->major = major(file.device);
	patched->minor = minor(file.device);
	patched->inode = file.inode;
	patched->build_id_size = file.build_id.size_bytes;
	memcpy(patched->build_id, file.build_id.bytes, file.build_id.size_bytes);
	return &patched->header;
}

static void on_prologue(void *data, const struct ev_header *header)
{
	struct recorder *recorder = data;

	trace_writer_repeat(recorder->writer, header);
	ring_names_repeat(recorder->names, header);
}

/* What a reader must know who begins here. */
static void begin_epoch(struct recorder *recorder)
{
	struct prologue_out out = { .emit = on_prologue, .data = recorder };
	uint64_t time_ns = session_time_ns(recorder->engine->session);

	trace_writer_begin_epoch(recorder->writer);
	if (recorder->stream)
		recorder->stream->begin(recorder->stream->sink.data, time_ns);
	ring_names_begin(recorder->names, time_ns);
	prologue_begin(recorder->prologue, time_ns, &out);
	trace_writer_end_prologue(recorder->writer);
	recorder->has_epoch = true;
}

/* The same, when it is time for that, and what the event refers to. */
static void repeat_facts(struct recorder *recorder, const struct ev_header *header)
{
	struct prologue_out out = { .emit = on_prologue, .data = recorder };

	if (trace_writer_wants_epoch(recorder->writer))
		begin_epoch(recorder);
	if (recorder->has_epoch)
		prologue_refer(recorder->prologue, header, &out);
}

static void on_event(void *data, const struct ev_header *header)
{
	struct recorder *recorder = data;
	const struct recorder_stream *stream = recorder->stream;
	bool is_written = recorder->writer && (!stream || stream->is_heard(stream->sink.data));

	if (!recorder->writer)
		return;
	if (recorder->prologue && is_written)
		repeat_facts(recorder, header);
	if (is_written)
		trace_writer_event(recorder->writer, header);
	if (recorder->prologue) {
		prologue_follow(recorder->prologue, header, is_written);
		ring_names_follow(recorder->names, header);
	}
}

static void on_mapping(void *data, const struct ev_header *header)
{
	on_event(data, with_file(data, header));
}

/* What the engine gives in other words. */
static bool is_raw(enum event_id id)
{
	return id == EV_STACK_MEMORY || id == EV_STACK_PYTHON || id == EV_USER_READ || id == EV_USER_READ_LOST ||
	       id == EV_USER_ANNOUNCED;
}

static void subscribe(struct recorder *recorder)
{
	for (unsigned int subsys = 0; subsys < TRACE_NUM_SUBSYSTEMS; subsys++)
		for (unsigned int event = 0; event < EVENTS_MAX; event++) {
			enum event_id id = subsys << 16 | event;
			struct event_handler handlers[2] = { { 0 } };

			if (!event_kind_find(subsys, event) || is_raw(id))
				continue;
			handlers[0].id = id;
			handlers[0].on_event = id == EV_SPACE_MAP || id == EV_SPACE_FOUND ? on_mapping : on_event;
			session_subscribe(recorder->engine->session, handlers, recorder);
		}
}

static int say(const struct recorder *recorder, int err)
{
	if (recorder->is_silent)
		return err;
	if (err == -EBUSY)
		return fail_plain(err, "another pinch is writing %s: give another file to -o", recorder->path);
	if (err == -ESPIPE)
		return fail_plain(err,
				  "cannot write a flight recording to %s: --ring and --last need a regular file of "
				  "their own",
				  recorder->path);
	return fail(err, "cannot write the trace %s%s", recorder->path, out_file_advice(err));
}

/* The machine comes first, then what happens. */
static void begin_recording(struct recorder *recorder)
{
	struct text info = { 0 };

	trace_info_put(&info);
	trace_writer_chunk(recorder->writer, TRACE_CHUNK_INFO, info.bytes, info.length, NULL);
	text_fini(&info);
	if (!recorder->engine->names) {
		recorder->engine->names = stream_names_new();
		symbols_keep_answers(recorder->engine->symbols);
	}
	subscribe(recorder);
}

static int open_any(struct engine *engine, const char *path, const struct trace_ring_options *ring, bool is_silent,
		    struct recorder **out)
{
	struct recorder *recorder = xcalloc(1, sizeof(*recorder));
	struct out_file *file;
	int err;

	recorder->engine = engine;
	recorder->is_silent = is_silent;
	recorder->path = xstrdup(strcmp(path, "-") ? path : "standard output");
	if (trace_ring_is_asked(ring)) {
		recorder->prologue = prologue_new();
		recorder->names = ring_names_new();
	}
	err = out_file_open(path, OUT_FILE_LOCKED | OUT_FILE_SHOWN, &file);
	if (!err && out_file_is_stream(file) && isatty(out_file_fd(file))) {
		out_file_close(file);
		recorder_close(recorder);
		return fail_plain(-EINVAL, "a trace cannot go to a terminal: give a file to -o, or use a pipe");
	}
	if (!err)
		err = trace_writer_begin(file, ring, &recorder->writer);
	if (err) {
		say(recorder, err);
		recorder_close(recorder);
		return err;
	}
	out_file_keep_fd(trace_writer_fd(recorder->writer));
	begin_recording(recorder);
	*out = recorder;
	return 0;
}

int recorder_open(struct engine *engine, const char *path, const struct trace_ring_options *ring, struct recorder **out)
{
	return open_any(engine, path, ring, false, out);
}

int recorder_open_silently(struct engine *engine, const char *path, struct recorder **out)
{
	const struct trace_ring_options ring = { 0 };

	return open_any(engine, path, &ring, true, out);
}

int recorder_open_stream(struct engine *engine, const struct recorder_stream *stream, struct recorder **out)
{
	struct recorder *recorder = xcalloc(1, sizeof(*recorder));
	int err;

	recorder->engine = engine;
	recorder->stream = stream;
	recorder->path = xstrdup("the stream");
	recorder->prologue = prologue_new();
	recorder->names = ring_names_new();
	err = trace_writer_begin_sink(&stream->sink, &recorder->writer);
	if (err) {
		say(recorder, err);
		recorder_close(recorder);
		return err;
	}
	begin_recording(recorder);
	*out = recorder;
	return 0;
}

/* A disk that is full does not end the tracing, whose report may be wanted all the more. */
static void note_error(struct recorder *recorder)
{
	int err = trace_writer_error(recorder->writer);

	if (err && !recorder->has_failed) {
		recorder->has_failed = true;
		say(recorder, err);
	}
}

int recorder_begin(struct recorder *recorder)
{
	int err;

	if (!recorder)
		return 0;
	err = trace_writer_place(recorder->writer);
	recorder->has_begun = !err;
	note_error(recorder);
	return err;
}

void recorder_step(struct recorder *recorder, uint64_t now_ns)
{
	if (!recorder || !recorder->writer)
		return;
	trace_writer_flush(recorder->writer, now_ns, written_after_ns);
	note_error(recorder);
}

void recorder_serve(struct recorder *recorder)
{
	const struct recorder_stream *stream = recorder->stream;

	if (!recorder->writer)
		return;
	if (stream->wants_beginning(stream->sink.data))
		begin_epoch(recorder);
}

void recorder_flush(struct recorder *recorder)
{
	if (recorder->writer)
		trace_writer_flush(recorder->writer, UINT64_MAX, 0);
}

void recorder_names(struct recorder *recorder, uint64_t begin_ns,
		    void (*put)(void *data, const void *names, size_t size_bytes), void *data)
{
	stream_names_take(recorder->engine->names, recorder->engine->symbols);
	stream_names_put(recorder->engine->names, recorder->names, begin_ns, put, data);
}

uint64_t recorder_file_bytes(const struct recorder *recorder)
{
	return recorder->writer ? trace_writer_counts(recorder->writer).file_bytes : 0;
}

void recorder_give_up(struct recorder *recorder)
{
	if (recorder->writer)
		trace_writer_discard(recorder->writer);
	recorder->writer = NULL;
}

/* When the trace begins that readers will see; 0: at its beginning. */
static uint64_t begin_ns(const struct recorder *recorder)
{
	const struct trace_extent *extent;
	struct trace_reader *reader;
	uint64_t time_ns = 0;
	char path[64];

	if (!recorder->has_epoch)
		return 0;
	trace_writer_flush(recorder->writer, UINT64_MAX, 0);
	/* Not by its name, which may have become another file's. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", trace_writer_fd(recorder->writer));
	if (trace_reader_open(path, &reader))
		return UINT64_MAX;
	extent = trace_reader_extent(reader);
	if (extent->begins_late)
		time_ns = extent->first_ns;
	trace_reader_close(reader);
	return time_ns;
}

static void put_part(void *data, const void *names, size_t size_bytes)
{
	struct recorder *recorder = data;

	trace_writer_chunk(recorder->writer, TRACE_CHUNK_NAMES, names, size_bytes, NULL);
}

static void put_names(struct recorder *recorder)
{
	uint64_t from_ns = begin_ns(recorder);

	trace_writer_flush(recorder->writer, UINT64_MAX, 0);
	stream_names_take(recorder->engine->names, recorder->engine->symbols);
	stream_names_put(recorder->engine->names, from_ns ? recorder->names : NULL, from_ns, put_part, recorder);
}

int recorder_finish(struct recorder *recorder, struct trace_writer_counts *counts)
{
	int err;

	if (!recorder->stream)
		put_names(recorder);
	note_error(recorder);
	*counts = trace_writer_counts(recorder->writer);
	err = trace_writer_close(recorder->writer);
	recorder->writer = NULL;
	if (err && !recorder->has_failed)
		say(recorder, err);
	return err;
}

void recorder_close(struct recorder *recorder)
{
	if (!recorder)
		return;
	if (recorder->writer && recorder->has_begun)
		trace_writer_close(recorder->writer);
	else if (recorder->writer)
		trace_writer_discard(recorder->writer);
	prologue_free(recorder->prologue);
	ring_names_free(recorder->names);
	free(recorder->patched);
	free(recorder->path);
	free(recorder);
}
