/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/engine.h"
#include "cmd/trace_info.h"
#include "session/event_kinds.h"
#include "session/session.h"
#include "symbol/symbol.h"
#include "trace/trace_writer.h"

static const uint64_t written_after_ns = 500000000ull;

struct recorder {
	struct engine *engine;
	struct trace_writer *writer;	/* NULL: the trace has its end */
	char *path;
	uint64_t *patched;		/* a mapping with its build-id */
	size_t patched_room;
	bool has_failed;		/* and the user knows */
};

/* Where files are not at hand, they are known by their build-ids. */
static const struct ev_header *with_build_id(struct recorder *recorder,
					     const struct ev_header *header)
{
	const struct ev_space_map *e = (const struct ev_space_map *)header;
	size_t size_bytes = event_bytes(header);
	struct build_id build_id;
	struct ev_space_map *patched;

	if (e->build_id_size ||
	    symbols_build_id(recorder->engine->symbols, e->pid, e->start, &build_id))
		return header;
	if (size_bytes > recorder->patched_room) {
		recorder->patched_room = size_bytes * 2;
		recorder->patched = xrealloc(recorder->patched, recorder->patched_room, 1);
	}
	patched = memcpy(recorder->patched, header, size_bytes);
	patched->build_id_size = build_id.size_bytes;
	memcpy(patched->build_id, build_id.bytes, build_id.size_bytes);
	return &patched->header;
}

static void on_event(void *data, const struct ev_header *header)
{
	struct recorder *recorder = data;

	if (recorder->writer)
		trace_writer_event(recorder->writer, header);
}

static void on_mapping(void *data, const struct ev_header *header)
{
	on_event(data, with_build_id(data, header));
}

/* Copies of stacks are left out: the engine tells their frames. */
static void subscribe(struct recorder *recorder)
{
	for (unsigned int subsys = 0; subsys < TRACE_NUM_SUBSYSTEMS; subsys++)
		for (unsigned int event = 0; event < EVENTS_MAX; event++) {
			const struct event_kind *kind = event_kind_find(subsys, event);
			struct event_handler handlers[2] = { { 0 } };

			if (!kind || kind->id == EV_STACK_MEMORY)
				continue;
			handlers[0].id = kind->id;
			handlers[0].on_event = kind->id == EV_SPACE_MAP || kind->id == EV_SPACE_FOUND
					       ? on_mapping : on_event;
			session_subscribe(recorder->engine->session, handlers, recorder);
		}
}

static int say(const struct recorder *recorder, int err)
{
	if (err == -EBUSY)
		return fail_plain(err, "%s is being written by another pinch: give another name to -o",
				  recorder->path);
	return fail(err, "cannot write the trace %s", recorder->path);
}

int recorder_open(struct engine *engine, const char *path, struct recorder **out)
{
	struct recorder *recorder = xcalloc(1, sizeof(*recorder));
	struct text info = { 0 };
	int err;

	recorder->engine = engine;
	recorder->path = xstrdup(path);
	err = trace_writer_open(path, &recorder->writer);
	if (err) {
		say(recorder, err);
		recorder_close(recorder);
		return err;
	}
	trace_info_put(&info);
	trace_writer_chunk(recorder->writer, TRACE_CHUNK_INFO, info.bytes, info.length);
	text_fini(&info);
	symbols_keep_answers(engine->symbols);
	subscribe(recorder);
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

void recorder_step(struct recorder *recorder, uint64_t now_ns)
{
	if (!recorder || !recorder->writer)
		return;
	trace_writer_flush(recorder->writer, now_ns, written_after_ns);
	note_error(recorder);
}

static void put_names(struct recorder *recorder)
{
	const void *answers;
	size_t size_bytes;

	symbols_keep_notes(recorder->engine->symbols);
	while ((answers = symbols_take_answers(recorder->engine->symbols, &size_bytes)) && size_bytes)
		trace_writer_chunk(recorder->writer, TRACE_CHUNK_NAMES, answers, size_bytes);
}

int recorder_finish(struct recorder *recorder, struct trace_writer_counts *counts)
{
	int err;

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
	if (recorder->writer)
		trace_writer_close(recorder->writer);
	free(recorder->patched);
	free(recorder->path);
	free(recorder);
}
