/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces whose events are arbitrary but well-formed are merged: of one host or of several, whose clocks are known from samples in the
 * traces or from elsewhere, as files or while they grow. What comes out is a trace, and the account of its report closes. The
 * first byte says which; then come how far clocks are apart, the sizes of the parts, and events in their code.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "clocks/clock_exchange.h"
#include "derive/live_merge.h"
#include "derive/merge_traces.h"
#include "engine/replay.h"
#include "findings/findings.h"
#include "input.h"
#include "report/report.h"
#include "session/event_kinds.h"
#include "tame.h"
#include "trace/event_code.h"
#include "trace/trace_format.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

enum {
	SOURCES = 3,
	EVENTS_COUNT_MAX = 500,
	EVENT_BYTES_MAX = 1 << 16,
	READINGS = 4,
	GROWN_BYTES = 512,
	PROLOGUE_EVENTS = 8
};

/* Bits of the first byte. */
enum { IS_TAME = 1, HAS_HOSTS = 2, HAS_SAMPLES = 4, HAS_READINGS = 8, IS_LIVE = 16, HAS_REPORT = 32 };

struct source {
	int fd;
	char path[64];
};

/* The trace has no names: nobody is needed who reads files. */
pid_t fork(void)
{
	errno = ENOSYS;
	return -1;
}

static void ignore(const char *line)
{
	(void)line;
}

int LLVMFuzzerInitialize(int *count, char ***args)
{
	(void)count, (void)args;
	fail_set_sink(ignore);
	return 0;
}

static int open_memory(char *path, size_t path_bytes)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	snprintf(path, path_bytes, "/dev/fd/%d", fd);
	return fd;
}

/* --- What the sources have ----------------------------------------------------------------------------- */

static void fill_boot(uint8_t *boot, unsigned int host)
{
	memset(boot, 0xa0 + host, CLOCK_BOOT_BYTES);
}

static void put_info(struct trace_writer *writer, unsigned int host)
{
	uint8_t boot[CLOCK_BOOT_BYTES];
	char info[128];
	size_t length;

	fill_boot(boot, host);
	length = snprintf(info, sizeof(info), "{\"pinch\":\"fuzz\",\"host\":\"host%u\",\"boot_id\":\"", host);
	for (size_t i = 0; i < sizeof(boot); i++)
		length += snprintf(info + length, sizeof(info) - length, "%02x", boot[i]);
	length += snprintf(info + length, sizeof(info) - length, "\",\"clock\":0}");
	trace_writer_chunk(writer, TRACE_CHUNK_INFO, info, length, NULL);
}

/* Host 0's clock and that of the peer, which is so far ahead. */
static struct clock_sample sample_at(uint64_t time_ns, uint64_t offset_ns)
{
	return (struct clock_sample){ time_ns, time_ns + 1000 + offset_ns, time_ns + 1100 + offset_ns, time_ns + 2500 };
}

static void put_samples(struct trace_writer *writer, unsigned int peer, uint64_t offset_ns)
{
	for (uint64_t i = 0; i < READINGS; i++) {
		struct clock_sample sample = sample_at(i << 38, offset_ns);
		struct ev_clock_sample e = {
			.header = { .time_ns = sample.t3,
				    .subsys = TRACE_SUBSYS_CLOCK,
				    .event = TRACE_EVENT_CLOCK_SAMPLE },
			.asked_ns = sample.t0,
			.received_ns = sample.t1,
			.answered_ns = sample.t2,
			.returned_ns = sample.t3,
		};

		fill_boot(e.boot, peer);
		trace_writer_event(writer, &e.header);
	}
}

/* The first ones are how the trace begins, as that of a client of a scope. */
static void put_events(struct trace_writer *writer, const uint8_t *bytes, size_t size, unsigned int flags)
{
	static uint64_t buffer[EVENT_BYTES_MAX / sizeof(uint64_t)];
	struct ev_header *header, *copy = (struct ev_header *)buffer;
	struct event_decoder *decoder;
	struct event_forms forms;

	event_forms_here(&forms);
	decoder = event_decoder_new(&forms);
	event_decoder_begin(decoder, bytes, size);
	if (flags & IS_LIVE)
		trace_writer_begin_epoch(writer);
	for (int i = 0; i < EVENTS_COUNT_MAX && event_decoder_next(decoder, &header) > 0; i++) {
		if (event_bytes(header) > sizeof(buffer))
			continue;
		memcpy(buffer, header, event_bytes(header));
		if (flags & IS_TAME)
			tame(copy);
		if (flags & IS_LIVE && i <= PROLOGUE_EVENTS)
			trace_writer_repeat(writer, copy);
		else
			trace_writer_event(writer, copy);
		if (flags & IS_LIVE && i == PROLOGUE_EVENTS)
			trace_writer_end_prologue(writer);
		if (flags & IS_LIVE && i % PROLOGUE_EVENTS == 0 && i > PROLOGUE_EVENTS)
			trace_writer_flush(writer, UINT64_MAX, 0);
	}
	event_decoder_free(decoder);
}

static void write_source(struct source *source, unsigned int number, struct input *input, unsigned int flags,
			 uint64_t offset_ns)
{
	size_t size = number + 1 < SOURCES ? take_number(input, 2) % (input->size + 1) : input->size;
	unsigned int host = flags & HAS_HOSTS ? number : 0;
	struct trace_writer *writer;

	source->fd = open_memory(source->path, sizeof(source->path));
	if (trace_writer_open(source->path, &writer))
		abort();
	put_info(writer, host);
	if (flags & HAS_SAMPLES && !number)
		for (unsigned int peer = 1; peer < SOURCES; peer++)
			put_samples(writer, peer, peer * offset_ns);
	put_events(writer, input->bytes, size, flags);
	input->bytes += size;
	input->size -= size;
	if (trace_writer_close(writer))
		abort();
}

/* What a host without a trace has read. */
static struct clock_readings *read_clocks(struct clock_readings *clocks, struct clock_reading *list, uint64_t offset_ns)
{
	*clocks = (struct clock_readings){ .list = list };
	fill_boot(clocks->boot, SOURCES);
	for (unsigned int host = 0; host < SOURCES; host++)
		for (uint64_t i = 0; i < READINGS; i++) {
			struct clock_reading *reading = &list[clocks->count++];

			reading->sample = sample_at(i << 38, host * offset_ns);
			fill_boot(reading->boot, host);
		}
	return clocks;
}

/* --- What becomes of them -------------------------------------------------------------------------------- */

static bool merge_files(const struct source *sources, unsigned int flags, uint64_t offset_ns, const char *path)
{
	struct clock_reading list[SOURCES * READINGS];
	struct merge_input inputs[SOURCES];
	struct clock_readings clocks;
	bool is_written;

	for (size_t i = 0; i < SOURCES; i++)
		inputs[i] = (struct merge_input){ sources[i].path, "source" };
	merge_traces(inputs, SOURCES, flags & HAS_READINGS ? read_clocks(&clocks, list, offset_ns) : NULL, path,
		     &is_written);
	return is_written;
}

/* A part of the file, in a file that grows. Returns whether all of it is there. */
static bool grow(const struct source *from, const struct source *to)
{
	char bytes[GROWN_BYTES];
	off_t at = lseek(to->fd, 0, SEEK_END);
	ssize_t n = pread(from->fd, bytes, sizeof(bytes), at);

	if (n < 0 || (n && write(to->fd, bytes, n) != n))
		abort();
	return n < (ssize_t)sizeof(bytes);
}

/* Returns when all is there. */
static uint64_t grow_all(struct live_merge *merge, const struct source *sources, const struct source *grown,
			 uint64_t step_ns)
{
	uint64_t now_ns;
	bool is_whole[SOURCES] = { 0 };
	int numbers[SOURCES] = { -1, -1, -1 };
	size_t left = SOURCES;

	for (now_ns = 0; left; now_ns += step_ns) {
		for (size_t i = 0; i < SOURCES; i++) {
			if (is_whole[i])
				continue;
			is_whole[i] = grow(&sources[i], &grown[i]);
			left -= is_whole[i];
			if (numbers[i] < 0)
				numbers[i] = live_merge_add(merge, grown[i].path, "source");
			else
				live_merge_grow(merge, numbers[i]);
			if (is_whole[i] && numbers[i] >= 0)
				live_merge_end(merge, numbers[i]);
		}
		live_merge_step(merge, now_ns, now_ns + step_ns);
	}
	return now_ns;
}

static bool merge_growing(const struct source *sources, uint64_t step_ns, const char *path)
{
	struct source grown[SOURCES];
	struct trace_writer *writer;
	struct live_merge *merge;
	uint64_t now_ns;

	for (size_t i = 0; i < SOURCES; i++)
		grown[i].fd = open_memory(grown[i].path, sizeof(grown[i].path));
	if (trace_writer_open(path, &writer))
		abort();
	put_info(writer, 0);
	merge = live_merge_new(writer);
	now_ns = grow_all(merge, sources, grown, step_ns);
	live_merge_finish(merge, step_ns & 1 ? now_ns : UINT64_MAX, 1);
	live_merge_free(merge);
	if (trace_writer_close(writer))
		abort();
	return true;
}

/* It is a trace, whole, and what is in it can be reported. */
static void check(const char *path, bool has_report)
{
	const struct ev_header *header;
	struct trace_reader *reader;
	struct findings *findings;
	struct replay *replay;
	int got;

	if (trace_reader_open(path, &reader))
		abort();
	while ((got = trace_reader_next(reader, &header)) == 1)
		;
	if (got)
		abort();
	trace_reader_close(reader);
	if (!has_report)
		return;
	if (replay_open(path, &(struct replay_options){ 0 }, &replay))
		abort();
	findings = replay_findings(replay, 10);
	if (findings_report(findings)->totals.accounting_error_ns)
		abort();
	findings_free(findings);
	replay_close(replay);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = { bytes, size };
	unsigned int flags = take_number(&input, 1);
	uint64_t offset_ns = take_number(&input, 8);
	struct source sources[SOURCES], out;
	int first_fd = dup(STDERR_FILENO); /* of those that are opened here */
	bool is_written;

	if (flags & IS_LIVE)
		flags &= ~HAS_HOSTS;
	if (flags & IS_TAME)
		offset_ns = (uint64_t)((int64_t)(offset_ns << 24) >> 24);
	for (unsigned int i = 0; i < SOURCES; i++)
		write_source(&sources[i], i, &input, flags, offset_ns);
	out.fd = open_memory(out.path, sizeof(out.path));
	is_written = flags & IS_LIVE ? merge_growing(sources, (offset_ns >> 20) + 1, out.path)
				     : merge_files(sources, flags, offset_ns, out.path);
	if (is_written)
		check(out.path, flags & HAS_REPORT);
	/* Also those by which a trace that was read is protected from being written, as long as there is a pinch. */
	close_range(first_fd, UINT_MAX, 0);
	return 0;
}
