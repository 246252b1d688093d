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

struct growing_states {
	struct trace_reader *ahead; /* stacks are taken first */
	struct trace_reader *trace;
	struct trace_writer *writer;
	struct states_making *making;
	int fd; /* of the history */
	char path[PATH_BYTES];
	bool has_more; /* than was flushed */
};

static int open_reader(const char *path, struct trace_reader **out)
{
	int err = trace_reader_open(path, out);

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

int growing_states_open(const char *trace_path, struct growing_states **out)
{
	struct growing_states *growing = xcalloc(1, sizeof(*growing));
	int err;

	growing->fd = -1;
	err = open_reader(trace_path, &growing->ahead);
	if (!err)
		err = open_reader(trace_path, &growing->trace);
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

/* What one of the readers has. 1: it has more; 0: it is at its end; or a negative errno. */
static int take(struct growing_states *growing, struct trace_reader *reader, uint64_t until_ns,
		struct states_waiter *waiter)
{
	const struct ev_header *header;
	uint64_t events = 0;
	int got;

	while ((got = trace_reader_next(reader, &header))) {
		if (got != 1 && got != -EBADMSG)
			return got;
		if (got == 1 && reader == growing->ahead)
			states_making_take_stack(growing->making, header);
		else if (got == 1)
			states_making_take(growing->making, header);
		if (++events % EVENTS_A_LOOK)
			continue;
		pause_take_if_due(&waiter->pause);
		if (waiter->is_cancelled)
			return -ECANCELED;
		if (reader == growing->trace && clock_ns() >= until_ns)
			break;
	}
	if (reader == growing->trace && events)
		growing->has_more = true;
	return got != 0;
}

int growing_states_step(struct growing_states *growing, uint64_t budget_ns, struct states_waiter *waiter)
{
	int err = grow(growing);

	if (!err)
		err = take(growing, growing->ahead, 0, waiter);
	return err < 0 ? err : take(growing, growing->trace, clock_ns() + budget_ns, waiter);
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

uint64_t growing_states_trace_bytes(const struct growing_states *growing)
{
	return trace_reader_extent(growing->trace)->file_bytes;
}

uint64_t growing_states_bytes(const struct growing_states *growing)
{
	return trace_writer_counts(growing->writer).file_bytes;
}
