/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/trace_states_make.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/out/out_file.h"
#include "base/pause.h"
#include "base/text.h"
#include "engine/trace_open.h"
#include "query/states_making.h"
#include "trace/trace_reader.h"
#include "trace/trace_threads.h"
#include "trace/trace_writer.h"

enum {
	VERSION = 12,
	OF_FILES = 1 << 16,
	EVENTS_A_PAUSE = 4096,
	EVENTS_A_STEP = 1 << 20,
	CHUNKS_AHEAD = 64,
	SHARE_OF_SHOWING = 10, /* showing takes at most one of so many parts of the time */
	PATH_BYTES = 32,
};

static bool has_names(const struct trace_reader *trace)
{
	size_t count;
	const struct trace_place *places = trace_reader_places(trace, &count);

	for (size_t i = 0; i < count; i++)
		if (places[i].kind == TRACE_CHUNK_NAMES)
			return true;
	return false;
}

/* Names tell causes of waits: those of files may tell others. */
static struct trace_origin origin_of(const struct trace_reader *trace, bool opens_files)
{
	const struct trace_extent *extent = trace_reader_extent(trace);
	struct trace_origin origin = { .file_bytes = extent->file_bytes, .version = VERSION };

	if (opens_files && !has_names(trace))
		origin.version |= OF_FILES;
	memcpy(origin.id, extent->id, sizeof(origin.id));
	return origin;
}

bool trace_states_are_of(int fd, const struct trace_reader *trace, bool opens_files)
{
	struct trace_origin origin = origin_of(trace, opens_files);
	const struct trace_place *places;
	struct trace_reader *file;
	size_t count, size_bytes;
	const void *content;
	bool is_of = false;
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (trace_reader_open(path, &file))
		return false;
	places = trace_reader_places(file, &count);
	for (size_t i = 0; i < count && !is_of; i++)
		is_of = places[i].kind == TRACE_CHUNK_ORIGIN && !trace_reader_content(file, i, &content, &size_bytes) &&
			size_bytes == sizeof(origin) && !memcmp(content, &origin, sizeof(origin));
	is_of = is_of && trace_reader_extent(file)->is_ended;
	trace_reader_close(file);
	return is_of;
}

/* --- Making --------------------------------------------------------------------------------- */

struct making {
	struct trace_writer *writer;
	struct states_making *states;
	struct trace_reader *
		ahead; /* it takes stacks, as far before the trace's events as it can be; NULL: the trace did, before */
	bool opens_files;
	bool has_stacks; /* the trace is read for the second time */
	bool is_watched; /* by somebody at a terminal */
	struct states_waiter *waiter;
	uint64_t due_ns; /* when what there is may be shown */
};

static unsigned int percent_done(const struct making *making, const struct trace_reader *trace)
{
	size_t count, at = trace_reader_at(trace);

	trace_reader_places(trace, &count);
	if (!count)
		return 0;
	if (making->ahead)
		return 100 * at / count;
	return 50 * (making->has_stacks ? count + at : at) / count;
}

/* Of a large trace it takes a while. */
static void report_progress(const struct making *making, const struct trace_reader *trace, bool is_over)
{
	if (!making->is_watched)
		return;
	if (is_over)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\rpinch: indexing the trace for queries: %u %%", percent_done(making, trace));
}

/* Whether who waits still wants the states. */
static bool take_pause(struct making *making, const struct trace_reader *trace)
{
	if (!making->waiter)
		return true;
	making->waiter->percent = percent_done(making, trace);
	pause_take_if_due(&making->waiter->pause);
	return !making->waiter->is_cancelled;
}

/* Once: later queries read what is made here. */
static void report_left_out(const struct trace_reader *trace)
{
	struct text left_out = { 0 };

	if (trace_put_left_out(trace, &left_out))
		warn("in the trace, %s", left_out.bytes);
	text_fini(&left_out);
}

static int take_events(struct making *making, struct trace_reader *trace,
		       int (*take)(struct making *making, struct trace_reader *trace, const struct ev_header *header))
{
	const struct ev_header *header;
	uint64_t events = 0;
	int got, err;

	trace_reader_allow_threads(trace, TRACE_THREADS_MAX, TRACE_THREADS_EVER_MAX);
	while ((got = trace_reader_next(trace, &header))) {
		if (!(++events % EVENTS_A_STEP))
			report_progress(making, trace, false);
		if (!(events % EVENTS_A_PAUSE) && !take_pause(making, trace))
			return -ECANCELED;
		if (got != 1 && got != -EBADMSG)
			return got;
		err = got == 1 ? take(making, trace, header) : 0;
		if (err)
			return err;
	}
	if (events >= EVENTS_A_STEP)
		report_progress(making, trace, true);
	return 0;
}

static int take_stack(struct making *making, struct trace_reader *trace, const struct ev_header *header)
{
	(void)trace;
	states_making_take_stack(making->states, header);
	return 0;
}

static int take_event(struct making *making, struct trace_reader *trace, const struct ev_header *header)
{
	(void)trace;
	states_making_take(making->states, header);
	return 0;
}

/* --- While somebody looks at it ------------------------------------------------------------------ */

/* The same file, whatever has its name by now. Without it, all stacks are taken first. */
static struct trace_reader *open_ahead(const struct trace_reader *trace)
{
	struct trace_reader *ahead;
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", trace_reader_fd(trace));
	if (trace_reader_open(path, &ahead))
		return NULL;
	trace_reader_allow_threads(ahead, TRACE_THREADS_MAX, TRACE_THREADS_EVER_MAX);
	return ahead;
}

/* Stacks up to so many chunks behind the event that is taken. */
static int go_ahead(struct making *making, const struct trace_reader *trace)
{
	const struct ev_header *header;
	int got;

	while (trace_reader_at(making->ahead) < trace_reader_at(trace) + CHUNKS_AHEAD &&
	       (got = trace_reader_next(making->ahead, &header))) {
		if (got != 1 && got != -EBADMSG)
			return got;
		if (got == 1)
			states_making_take_stack(making->states, header);
	}
	return 0;
}

static void show(struct making *making)
{
	uint64_t begin_ns = clock_ns(), spent_ns;
	char path[PATH_BYTES];

	states_making_flush(making->states);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", trace_writer_fd(making->writer));
	if (trace_writer_error(making->writer) || making->waiter->show(making->waiter->show_data, path))
		making->waiter->show = NULL;
	spent_ns = SHARE_OF_SHOWING * (clock_ns() - begin_ns);
	making->due_ns =
		begin_ns + (spent_ns > making->waiter->show_period_ns ? spent_ns : making->waiter->show_period_ns);
}

static int take_event_and_show(struct making *making, struct trace_reader *trace, const struct ev_header *header)
{
	int err = go_ahead(making, trace);

	if (err)
		return err;
	states_making_take(making->states, header);
	if (making->waiter->show && states_making_is_between_blocks(making->states) && clock_ns() >= making->due_ns)
		show(making);
	return 0;
}

static int take_and_show(struct making *making, struct trace_reader *trace)
{
	int err;

	making->due_ns = clock_ns() + making->waiter->show_period_ns;
	err = take_events(making, trace, take_event_and_show);
	if (!err && states_making_has_late_stacks(making->states))
		err = -EAGAIN;
	return err;
}

/* --- All of it ------------------------------------------------------------------------------------- */

static int take_whole(struct making *making, struct trace_reader *trace)
{
	int err = take_events(making, trace, take_stack);

	making->has_stacks = true;
	return err ? err : take_events(making, trace, take_event);
}

static int write_states(struct making *making, struct trace_reader *trace)
{
	struct trace_origin origin = origin_of(trace, making->opens_files);
	int err;

	trace_writer_chunk(making->writer, TRACE_CHUNK_ORIGIN, &origin, sizeof(origin), NULL);
	making->states = states_making_new(making->writer, making->opens_files);
	states_making_take_names(making->states, trace);
	if (making->waiter && making->waiter->show)
		making->ahead = open_ahead(trace);
	err = making->ahead ? take_and_show(making, trace) : take_whole(making, trace);
	if (!err && !making->waiter)
		report_left_out(trace);
	states_making_finish(making->states);
	states_making_free(making->states);
	if (making->ahead)
		trace_reader_close(making->ahead);
	return err;
}

static int fail_to_write(int err, const char *path, const char *trace_path)
{
	return path ? fail(err, "cannot write %s, the index that queries of %s need", path, trace_path) : err;
}

int trace_states_make(struct out_file *file, const char *path, const char *trace_path, struct trace_reader *trace,
		      bool opens_files, struct states_waiter *waiter)
{
	struct making making = {
		.opens_files = opens_files,
		.is_watched = !waiter && isatty(STDERR_FILENO),
		.waiter = waiter,
	};
	int err = trace_writer_begin(file, NULL, &making.writer), fd;

	if (err)
		return fail_to_write(err, path, trace_path);
	err = write_states(&making, trace);
	if (err) {
		trace_writer_discard(making.writer);
		return err == -ECANCELED || err == -EAGAIN || !path ? err : fail(err, "cannot read %s", trace_path);
	}
	fd = fcntl(trace_writer_fd(making.writer), F_DUPFD_CLOEXEC, 0);
	err = fd < 0 ? -errno : 0;
	if (err)
		trace_writer_discard(making.writer);
	else
		err = trace_writer_close(making.writer);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return fail_to_write(err, path, trace_path);
}
