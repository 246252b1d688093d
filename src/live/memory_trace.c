/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "live/memory_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "engine/recorder.h"

struct memory_trace {
	int fd;
	uint64_t bytes_max;
	char path[32]; /* what is there already can be opened by it, and be written as it is */
	bool is_given_up;
};

struct memory_trace *memory_trace_new(struct engine *engine, uint64_t bytes_max, struct recorder **recorder)
{
	struct memory_trace *trace = xcalloc(1, sizeof(*trace));

	trace->bytes_max = bytes_max;
	trace->fd = memfd_create("pinch-trace", MFD_CLOEXEC);
	snprintf(trace->path, sizeof(trace->path), "/dev/fd/%d", trace->fd);
	if (trace->fd >= 0 && !recorder_open_silently(engine, trace->path, recorder))
		return trace;
	memory_trace_free(trace);
	return NULL;
}

void memory_trace_free(struct memory_trace *trace)
{
	if (!trace)
		return;
	if (trace->fd >= 0)
		close(trace->fd);
	free(trace);
}

void memory_trace_step(struct memory_trace *trace, struct recorder *recorder)
{
	if (!trace || trace->is_given_up || recorder_file_bytes(recorder) <= trace->bytes_max)
		return;
	trace->is_given_up = true;
	recorder_give_up(recorder);
	close(trace->fd);
	trace->fd = -1;
}

bool memory_trace_is_there(const struct memory_trace *trace)
{
	return trace && !trace->is_given_up;
}

const char *memory_trace_path(const struct memory_trace *trace)
{
	return trace->path;
}
