// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace_read TRACE [STATES]
 * Reads all events of a trace; with STATES also makes the history of states of them, with the CMetric of each
 * thread, and writes it to that file. Prints as JSON what that took.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/out/out_file.h"
#include "engine/trace_open.h"
#include "events.h"
#include "query/trace_states_make.h"
#include "trace/trace_reader.h"

static double now_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static int read_all(struct trace_reader *trace)
{
	const struct ev_header *header;
	int got;

	while ((got = trace_reader_next(trace, &header)) == 1)
		;
	return got;
}

static int make_states(const char *path, const char *trace_path, struct trace_reader *trace)
{
	struct out_file *file;
	int fd = out_file_open(path, 0, &file);

	if (!fd)
		fd = trace_states_make(file, path, trace_path, trace, false, NULL);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

int main(int argc, char **argv)
{
	double wall_s = now_s(CLOCK_MONOTONIC), cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID);
	const struct trace_extent *extent;
	struct trace_reader *trace;
	struct stat status = { 0 };
	int err;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: trace_read TRACE [STATES]\n");
		return 2;
	}
	if (trace_open(argv[1], &trace))
		return 1;
	err = argc == 3 ? make_states(argv[2], argv[1], trace) : read_all(trace);
	if (!err && argc == 3 && stat(argv[2], &status))
		err = -errno;
	wall_s = now_s(CLOCK_MONOTONIC) - wall_s;
	cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
	extent = trace_reader_extent(trace);
	printf("{\"events\": %llu, \"ns\": %llu, \"trace_bytes\": %llu, \"states_bytes\": %lld, "
	       "\"wall_s\": %.4f, \"cpu_s\": %.4f}\n",
	       (unsigned long long)extent->events, (unsigned long long)(extent->last_ns - extent->first_ns),
	       (unsigned long long)extent->file_bytes, (long long)status.st_size, wall_s, cpu_s);
	trace_reader_close(trace);
	return err ? fail(err, "cannot read %s", argv[1]) != 0 : 0;
}
