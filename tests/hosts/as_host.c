/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Usage: as_host IN OUT HOST BOOT SKEW DRIFT [PEER-BOOT PEER-SKEW PEER-DRIFT [LATE]]
 * The trace IN of this machine as another host would have recorded it, whose clock is SKEW ns ahead and faster by DRIFT ppm:
 * its names and times, and in clock.SAMPLE those of the peer, whose answers come LATE ns later. BOOT: 32 hexadecimal digits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/out/out_file.h"
#include "base/text.h"
#include "clocks/clock_exchange.h"
#include "derive/derived_trace.h"
#include "engine/trace_info.h"
#include "session/event_kinds.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

struct clock {
	uint8_t boot[CLOCK_BOOT_BYTES];
	double skew_ns, drift_ppm;
};

static uint64_t shown(const struct clock *clock, uint64_t ns)
{
	return ns + (int64_t)llround(clock->skew_ns + clock->drift_ppm * 1e-6 * (double)ns);
}

static void take(struct clock *clock, char **argument)
{
	if (!clock_boot_parse(argument[0], clock->boot)) {
		fprintf(stderr, "as_host: no boot: %s\n", argument[0]);
		exit(2);
	}
	clock->skew_ns = atof(argument[1]);
	clock->drift_ppm = atof(argument[2]);
}

static void change(struct ev_header *header, const struct clock *own, const struct clock *peer, uint64_t late_ns)
{
	const struct event_kind *kind = event_kind_find(header->subsys, header->event);
	struct ev_clock_sample *sample = (void *)header;

	header->time_ns = shown(own, header->time_ns);
	for (uint32_t i = 0; i < kind->field_count; i++) {
		char *at = (char *)header + kind->fields[i].offset_bytes;
		uint64_t ns;

		if (kind->fields[i].meaning != MEANS_MOMENT)
			continue;
		memcpy(&ns, at, sizeof(ns));
		ns = ns ? shown(own, ns) : 0;
		memcpy(at, &ns, sizeof(ns));
	}
	if (header->subsys != TRACE_SUBSYS_CLOCK || header->event != TRACE_EVENT_CLOCK_SAMPLE)
		return;
	sample->received_ns = shown(peer, sample->received_ns);
	sample->answered_ns = shown(peer, sample->answered_ns);
	sample->returned_ns += late_ns;
	header->time_ns += late_ns;
	memcpy(sample->boot, peer->boot, sizeof(sample->boot));
}

static void put_info(const char *host, const char *boot, struct text *info)
{
	text_printf(
		info,
		"{\"pinch\":\"test\",\"host\":\"%s\",\"kernel\":\"\",\"kernel_version\":\"\",\"machine\":\"\",\"boot_id\":\"%s\",\"clock\":0}",
		host, boot);
}

static void copy_names(struct trace_reader *reader, struct trace_writer *writer)
{
	size_t count, size_bytes;
	const struct trace_place *places = trace_reader_places(reader, &count);
	const void *content;

	for (size_t i = 0; i < count; i++)
		if (places[i].kind == TRACE_CHUNK_NAMES && !trace_reader_content(reader, i, &content, &size_bytes))
			trace_writer_chunk(writer, TRACE_CHUNK_NAMES, content, size_bytes, NULL);
}

int main(int argc, char **argv)
{
	struct clock own = { 0 }, peer = { 0 };
	struct trace_reader *reader;
	struct trace_writer *writer;
	const struct ev_header *header;
	struct text info = { 0 };

	if (argc != 7 && argc != 10 && argc != 11)
		return 2;
	take(&own, argv + 4);
	if (argc >= 10)
		take(&peer, argv + 7);
	put_info(argv[3], argv[4], &info);
	if (trace_reader_open(argv[1], &reader) || derived_open(argv[2], &info, &writer))
		return 1;
	while (trace_reader_next(reader, &header) == 1) {
		size_t size_bytes = event_bytes(header);
		struct ev_header *copy = memcpy(xcalloc(1, size_bytes), header, size_bytes);

		change(copy, &own, &peer, argc == 11 ? atoi(argv[10]) : 0);
		trace_writer_event(writer, copy);
		free(copy);
	}
	copy_names(reader, writer);
	trace_reader_close(reader);
	text_fini(&info);
	return derived_close(writer, argv[2]) ? 1 : 0;
}
