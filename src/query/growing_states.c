/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/growing_states.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/out/out_file.h"
#include "base/out/out_temporary.h"
#include "query/states_making.h"
#include "query/trace_states_make.h"
#include "trace/trace_reader.h"
#include "trace/trace_threads.h"
#include "trace/trace_writer.h"

enum { PATH_BYTES = 32, EVENTS_A_LOOK = 1024 };

static const uint64_t piece_ns = 20000000; /* of work: so much is stacks */

struct growing_states {
	struct trace_reader *ahead; /* stacks are taken first */
	struct trace_reader *trace;
	struct trace_writer *writer;
	struct states_making *making;
	int fd; /* of the history */
	char path[PATH_BYTES];
	bool has_more;  /* than was flushed */
	bool has_begun; /* what is repeated at the begin of a ring was read */
	bool lacks_begin;
	bool has_all_stacks; /* that there are by now */
	bool is_in_piece;    /* its stacks were taken, and not all of its events */
	uint64_t stacks_until_ns, until_ns;
};

static int open_reader(const char *path, unsigned int eighths, struct trace_reader **out)
{
	int err = trace_reader_open_late(path, eighths, out);

	if (!err)
		trace_reader_allow_threads(*out, TRACE_THREADS_MAX, TRACE_THREADS_EVER_MAX);
	return err;
}

static int open_history(struct growing_states *growing)
{
	struct out_file *file;
	int err;

	growing->fd = out_temporary_open_large();
	if (growing->fd < 0)
		return growing->fd;
	snprintf(growing->path, sizeof(growing->path), "/dev/fd/%d", growing->fd);
	err = out_file_open(growing->path, 0, &file);
	if (!err)
		err = trace_writer_begin(file, NULL, &growing->writer);
	if (!err)
		growing->making = states_making_new(growing->writer, false);
	return err;
}

int growing_states_open(const char *trace_path, unsigned int eighths, struct growing_states **out)
{
	struct growing_states *growing = xcalloc(1, sizeof(*growing));
	int err;

	growing->fd = -1;
	err = open_reader(trace_path, eighths, &growing->ahead);
	if (!err)
		err = open_reader(trace_path, eighths, &growing->trace);
	if (!err)
		err = open_history(growing);
	if (err)
		growing_states_close(growing);
	else
		*out = growing;
	return err;
}

void growing_states_close(struct growing_states *growing)
{
	if (!growing)
		return;
	states_making_free(growing->making);
	if (growing->writer)
		trace_writer_discard(growing->writer);
	if (growing->fd >= 0)
		close(growing->fd);
	if (growing->ahead)
		trace_reader_close(growing->ahead);
	if (growing->trace)
		trace_reader_close(growing->trace);
	free(growing);
}

/* --- Steps ---------------------------------------------------------------------------------------- */

static int grow(struct growing_states *growing)
{
	uint64_t before_bytes = trace_reader_extent(growing->trace)->file_bytes;
	int err = trace_reader_grow(growing->ahead);

	if (!err)
		err = trace_reader_grow(growing->trace);
	if (!err && trace_reader_extent(growing->trace)->file_bytes < before_bytes)
		err = -ESTALE;
	return err;
}

/* What is repeated at the begin of a ring has no gap. */
static void note_begin(struct growing_states *growing, bool is_damaged)
{
	const struct trace_extent *extent = trace_reader_extent(growing->trace);

	if (growing->has_begun)
		return;
	growing->lacks_begin |= is_damaged && extent->is_ring && extent->begins_late;
	growing->has_begun = !is_damaged && !trace_reader_is_repeated(growing->trace);
}

static void take_stack(struct growing_states *growing, const struct ev_header *header)
{
	states_making_take_stack(growing->making, header);
	if (header->time_ns > growing->stacks_until_ns)
		growing->stacks_until_ns = header->time_ns;
}

static void take_event(struct growing_states *growing, const struct ev_header *header)
{
	states_making_take(growing->making, header);
	growing->has_more = true;
	if (header->time_ns > growing->until_ns)
		growing->until_ns = header->time_ns;
}

/* Behind it there are events whose stacks have not been taken. */
static bool is_piece_over(const struct growing_states *growing)
{
	return !growing->has_all_stacks && growing->until_ns >= growing->stacks_until_ns;
}

static int take_one(struct growing_states *growing, struct trace_reader *reader)
{
	const struct ev_header *header;
	int got = trace_reader_next(reader, &header);

	if (got && reader == growing->trace)
		note_begin(growing, got == -EBADMSG);
	if (got == 1 && reader == growing->trace)
		take_event(growing, header);
	else if (got == 1)
		take_stack(growing, header);
	return got == -EBADMSG ? 1 : got;
}

/* What one of the readers has. 1: it has more; 0: it is at its end; or a negative errno. */
static int take(struct growing_states *growing, struct trace_reader *reader, uint64_t until_ns,
		struct states_waiter *waiter)
{
	bool is_trace = reader == growing->trace;
	uint64_t events = 0;
	int got;

	while ((got = take_one(growing, reader)) > 0 && !(is_trace && is_piece_over(growing))) {
		if (++events % EVENTS_A_LOOK)
			continue;
		pause_take_if_due(&waiter->pause);
		if (waiter->is_cancelled)
			return -ECANCELED;
		if (clock_ns() >= until_ns)
			break;
	}
	return got;
}

/*
 * The stacks of a piece, then its events. What a ring has is not read to its end for stacks alone: its oldest part would be overwritten
 * meanwhile. Returns as take().
 */
static int take_piece(struct growing_states *growing, uint64_t until_ns, struct states_waiter *waiter)
{
	int got = 0;

	if (!growing->has_all_stacks && !growing->is_in_piece) {
		got = take(growing, growing->ahead, clock_ns() + piece_ns, waiter);
		if (got < 0)
			return got;
		growing->has_all_stacks = !got;
		growing->is_in_piece = true;
	}
	got = take(growing, growing->trace, until_ns, waiter);
	growing->is_in_piece = got > 0 && !is_piece_over(growing);
	return got;
}

int growing_states_step(struct growing_states *growing, uint64_t budget_ns, struct states_waiter *waiter)
{
	uint64_t until_ns = clock_ns() + budget_ns;
	int got = grow(growing);

	if (got)
		return got;
	growing->has_all_stacks = false;
	do {
		got = take_piece(growing, until_ns, waiter);
		got = got ? got : !growing->has_all_stacks;
	} while (got > 0 && clock_ns() < until_ns);
	return got;
}

int growing_states_flush(struct growing_states *growing)
{
	int err;

	if (!growing->has_more)
		return 0;
	growing->has_more = false;
	states_making_flush(growing->making);
	err = trace_writer_error(growing->writer);
	return err ? err : 1;
}

const char *growing_states_path(const struct growing_states *growing)
{
	return growing->path;
}

bool growing_states_is_ended(const struct growing_states *growing)
{
	return trace_reader_extent(growing->trace)->is_ended;
}

bool growing_states_are_of_ring(const struct growing_states *growing)
{
	return trace_reader_extent(growing->trace)->is_ring;
}

bool growing_states_lack_begin(const struct growing_states *growing)
{
	return growing->lacks_begin;
}

uint64_t growing_states_until_ns(const struct growing_states *growing)
{
	return growing->until_ns;
}

uint64_t growing_states_trace_bytes(const struct growing_states *growing)
{
	return trace_reader_extent(growing->trace)->file_bytes;
}

uint64_t growing_states_bytes(const struct growing_states *growing)
{
	return trace_writer_counts(growing->writer).file_bytes;
}
