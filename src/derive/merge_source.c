/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/merge_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "derive/merge_host.h"
#include "engine/carried_names.h"
#include "engine/trace_open.h"
#include "session/event_kinds.h"
#include "trace/prologue/prologue.h"
#include "trace/trace_reader.h"
#include "values.h"

enum { QUEUED_BYTES_MAX = 32 << 20 };

/* What is traced is the first that a trace says. */
static void find_run(struct merge_source *source)
{
	const struct ev_header *header;

	if (trace_reader_next(source->reader, &header) == 1 && header->subsys == TRACE_SUBSYS_COLLECT &&
	    header->event == TRACE_EVENT_COLLECT_RUN)
		source->run = memcpy(xcalloc(1, event_bytes(header)), header, event_bytes(header));
	trace_reader_seek(source->reader, 0);
}

int merge_source_open(struct merge_source *source, const char *path, const char *name,
		      const struct space_numbers *written)
{
	int err = trace_open_as(path, name, &source->reader);

	if (err)
		return err;
	source->name = name;
	find_run(source);
	source->now = prologue_new();
	source->names = carried_names_new(written);
	source->numbers = table_new();
	source->moved = table_new();
	source->cpus = xcalloc(CPUS_MAX, sizeof(*source->cpus));
	return 0;
}

void merge_source_close(struct merge_source *source)
{
	struct merge_event *event;

	if (!source->reader)
		return;
	while ((event = merge_source_take(source)))
		free(event);
	trace_reader_close(source->reader);
	prologue_free(source->now);
	carried_names_free(source->names);
	table_free(source->numbers);
	table_free(source->moved);
	free(source->cpus);
	free(source->run);
	free(source->end);
}

static struct merge_cpu *cpu_of(struct merge_source *source, const struct merge_event *event)
{
	if (event->header.subsys != TRACE_SUBSYS_SCHED || event->header.event != TRACE_EVENT_SCHED_SWITCH)
		return NULL;
	return &source->cpus[((const struct ev_sched_switch *)&event->header)->cpu];
}

/* How each thread is at the end, and all that is not about threads, comes behind what they did. */
static bool is_emitting(const struct ev_header *header)
{
	switch (header->subsys) {
	case TRACE_SUBSYS_SCHED:
		return true;
	case TRACE_SUBSYS_THREAD:
		return header->event != TRACE_EVENT_THREAD_WAITS;
	case TRACE_SUBSYS_COLLECT:
		return header->event != TRACE_EVENT_COLLECT_END;
	default:
		return false;
	}
}

/* What is repeated for an event to come belongs to the moment: it may have a later time than the events before that one. */
static void queue(struct merge_source *source, const struct ev_header *header, bool is_repeated)
{
	size_t size_bytes = event_bytes(header);
	struct merge_event *event = xcalloc(1, offsetof(struct merge_event, header) + size_bytes);
	struct merge_cpu *cpu;

	memcpy(&event->header, header, size_bytes);
	merge_host_change(source->host, &event->header);
	if (is_repeated && source->begin_ns && event->header.time_ns > source->last_ns)
		event->header.time_ns = source->last_ns;
	if (event->header.time_ns > source->last_ns)
		source->last_ns = event->header.time_ns;
	event->time_ns = source->last_ns;
	if (!source->begin_ns)
		source->begin_ns = event->time_ns;
	if (event->time_ns < source->floor_ns) {
		source->late_count += event->time_ns > source->begin_ns;
		event->time_ns = event->header.time_ns = source->floor_ns;
	}
	*(source->first ? &source->last->next : &source->first) = event;
	source->last = event;
	source->queued_bytes += sizeof(*event) + size_bytes;
	source->emission_count += is_emitting(header);
	cpu = cpu_of(source, event);
	if (!cpu)
		return;
	*(cpu->first ? &cpu->last->next_on_cpu : &cpu->first) = event;
	cpu->last = event;
}

void merge_source_fill(struct merge_source *source, uint64_t until_ns)
{
	const struct ev_header *header;

	while (!source->is_read && source->queued_bytes < QUEUED_BYTES_MAX &&
	       (!source->first || source->last_ns <= until_ns)) {
		int got = trace_reader_next(source->reader, &header);

		if (got == 1) {
			queue(source, header, trace_reader_is_repeated(source->reader));
		} else if (got == -EBADMSG) {
			source->damaged_count++;
		} else if (!got && source->is_growing) {
			return;
		} else {
			source->is_read = true;
			source->err = got;
		}
	}
}

struct merge_event *merge_source_take(struct merge_source *source)
{
	struct merge_event *event = source->first;
	struct merge_cpu *cpu;

	if (!event)
		return NULL;
	source->first = event->next;
	source->queued_bytes -= sizeof(*event) + event_bytes(&event->header);
	source->emission_count -= is_emitting(&event->header);
	cpu = cpu_of(source, event);
	if (cpu)
		cpu->first = event->next_on_cpu;
	return event;
}
