/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Perfetto's trace format: TracePacket with TrackDescriptor, TrackEvent and InternedData, by the public numbers of their fields
 * (perfetto.dev/docs/reference/trace-packet-proto). Times are CLOCK_MONOTONIC, which a snapshot makes the clock of the trace.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/export_format.h"
#include "export/export_out.h"
#include "export/formats.h"
#include "export/interned.h"
#include "export/proto.h"
#include "export/stack_words.h"
#include "query/trace_states.h"
#include "session/hosts.h"

enum { TRACE_PACKET = 1 };

enum packet_field {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
};

enum clock_field { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };

enum { DEFAULTS_CLOCK_ID = 58 };

enum track_field {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
};

enum process_field { PROCESS_PID = 1, PROCESS_NAME = 6 };

enum thread_field { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

enum { COUNTER_UNIT = 3, UNIT_COUNT = 2 };

enum event_field {
	EVENT_CATEGORY = 3,
	EVENT_ARGUMENT = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_CATEGORY_STRING = 22,
	EVENT_NAME_STRING = 23,
	EVENT_COUNTER = 30,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
};

enum event_type { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

enum argument_field {
	ARGUMENT_NAME = 1,
	ARGUMENT_UINT = 3,
	ARGUMENT_STRING = 6,
	ARGUMENT_NAME_STRING = 10,
	ARGUMENT_STRING_IID = 17,
};

/* Of what is interned, and of each of them. */
enum interned_field {
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_ARGUMENTS = 3,
	INTERNED_STRINGS = 29,
	INTERNED_IID = 1,
	INTERNED_STRING = 2,
};

enum { SEQUENCE = 1, SEQUENCE_CLEARED = 1, SEQUENCE_NEEDED = 2, CLOCK_MONOTONIC_ID = 3 };

/* Kinds of tracks: their uuids have the kind above the number of what they are of. */
enum track_kind { OF_PROCESS = 1, OF_THREAD, OF_SAMPLES, OF_ACTIVITY, OF_COUNTER };

struct perfetto {
	struct export_out *out;
	struct interned categories, names, arguments, strings, processes;
	struct stack_words *stacks;
	struct text packet, event, argument, interned, part, words; /* what is being made */
};

static uint64_t uuid(enum track_kind kind, uint64_t number)
{
	return (uint64_t)kind << 56 | number;
}

static void put_packet(struct perfetto *perfetto)
{
	proto_put_uint(&perfetto->packet, PACKET_SEQUENCE, SEQUENCE);
	proto_put_message(&perfetto->out->text, TRACE_PACKET, &perfetto->packet);
	perfetto->packet.length = 0;
}

/* --- What is interned ------------------------------------------------------------------------- */

static uint32_t intern(struct perfetto *perfetto, struct interned *list, enum interned_field field, const char *string)
{
	bool is_first;
	uint32_t number = interned_number(list, string, &is_first);

	if (!is_first)
		return number;
	perfetto->part.length = 0;
	proto_put_uint(&perfetto->part, INTERNED_IID, number);
	proto_put_string(&perfetto->part, INTERNED_STRING, string);
	proto_put_message(&perfetto->interned, field, &perfetto->part);
	return number;
}

/* A string that is valid UTF-8 and may be shown. */
static const char *escaped(struct perfetto *perfetto, const char *string)
{
	perfetto->words.length = 0;
	text_put_escaped(&perfetto->words, string);
	return perfetto->words.bytes ? perfetto->words.bytes : "";
}

/* --- Track events ----------------------------------------------------------------------------- */

static void begin_event(struct perfetto *perfetto, enum event_type type, uint64_t track)
{
	perfetto->event.length = 0;
	proto_put_uint(&perfetto->event, EVENT_TYPE, type);
	proto_put_uint(&perfetto->event, EVENT_TRACK, track);
}

static void put_event(struct perfetto *perfetto, uint64_t time_ns)
{
	proto_put_uint(&perfetto->packet, PACKET_TIMESTAMP, time_ns);
	proto_put_uint(&perfetto->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDED);
	if (perfetto->interned.length)
		proto_put_message(&perfetto->packet, PACKET_INTERNED, &perfetto->interned);
	perfetto->interned.length = 0;
	proto_put_message(&perfetto->packet, PACKET_TRACK_EVENT, &perfetto->event);
	put_packet(perfetto);
}

static void put_name(struct perfetto *perfetto, const char *category, const char *name)
{
	uint32_t number = intern(perfetto, &perfetto->categories, INTERNED_CATEGORIES, category);

	proto_put_uint(&perfetto->event, EVENT_CATEGORY, number);
	name = escaped(perfetto, name);
	number = intern(perfetto, &perfetto->names, INTERNED_NAMES, name);
	if (number)
		proto_put_uint(&perfetto->event, EVENT_NAME, number);
	else
		proto_put_string(&perfetto->event, EVENT_NAME_STRING, name);
}

static void begin_argument(struct perfetto *perfetto, const char *name)
{
	uint32_t number = intern(perfetto, &perfetto->arguments, INTERNED_ARGUMENTS, name);

	perfetto->argument.length = 0;
	proto_put_uint(&perfetto->argument, ARGUMENT_NAME, number);
}

static void put_number(struct perfetto *perfetto, const char *name, uint64_t value)
{
	begin_argument(perfetto, name);
	proto_put_uint(&perfetto->argument, ARGUMENT_UINT, value);
	proto_put_message(&perfetto->event, EVENT_ARGUMENT, &perfetto->argument);
}

/* Words that are escaped. */
static void put_shown(struct perfetto *perfetto, const char *name, const char *words)
{
	uint32_t number;

	begin_argument(perfetto, name);
	number = intern(perfetto, &perfetto->strings, INTERNED_STRINGS, words);
	if (number)
		proto_put_uint(&perfetto->argument, ARGUMENT_STRING_IID, number);
	else
		proto_put_string(&perfetto->argument, ARGUMENT_STRING, words);
	proto_put_message(&perfetto->event, EVENT_ARGUMENT, &perfetto->argument);
}

static void put_words(struct perfetto *perfetto, const char *name, const char *words)
{
	put_shown(perfetto, name, escaped(perfetto, words));
}

static void put_stack(struct perfetto *perfetto, const struct report_frame *frames, size_t count)
{
	put_shown(perfetto, "stack", stack_words_of(perfetto->stacks, frames, count));
}

/* --- Tracks ----------------------------------------------------------------------------------- */

/* What comes behind the uuid is in part. */
static void put_track(struct perfetto *perfetto, uint64_t track, uint64_t parent, const char *name)
{
	perfetto->event.length = 0;
	proto_put_uint(&perfetto->event, TRACK_UUID, track);
	if (parent)
		proto_put_uint(&perfetto->event, TRACK_PARENT, parent);
	if (name)
		proto_put_string(&perfetto->event, TRACK_NAME, name);
	if (perfetto->part.length)
		text_put_bytes(&perfetto->event, perfetto->part.bytes, perfetto->part.length);
	perfetto->part.length = 0;
	proto_put_message(&perfetto->packet, PACKET_TRACK, &perfetto->event);
	put_packet(perfetto);
}

/* The argument is what the track is of. */
static void put_track_of(struct perfetto *perfetto, uint64_t track, uint64_t parent, enum track_field field)
{
	perfetto->part.length = 0;
	proto_put_message(&perfetto->part, field, &perfetto->argument);
	perfetto->argument.length = 0;
	put_track(perfetto, track, parent, NULL);
}

static void put_process(struct perfetto *perfetto, const struct export_thread *thread)
{
	struct text name = { 0 }, number = { 0 };
	bool is_first;

	text_printf(&number, "%u", thread->pid);
	interned_number(&perfetto->processes, number.bytes, &is_first);
	if (is_first) {
		if (thread->host)
			text_printf(&name, "%s: ", thread->host);
		text_put(&name, thread->process);
		perfetto->argument.length = 0;
		proto_put_uint(&perfetto->argument, PROCESS_PID, thread->pid);
		proto_put_string(&perfetto->argument, PROCESS_NAME, escaped(perfetto, name.bytes));
		put_track_of(perfetto, uuid(OF_PROCESS, thread->pid), 0, TRACK_PROCESS);
	}
	text_fini(&name);
	text_fini(&number);
}

static void put_thread(void *data, const struct export_thread *thread)
{
	struct perfetto *perfetto = data;

	put_process(perfetto, thread);
	perfetto->argument.length = 0;
	proto_put_uint(&perfetto->argument, THREAD_PID, thread->pid);
	proto_put_uint(&perfetto->argument, THREAD_TID, thread->tid);
	proto_put_string(&perfetto->argument, THREAD_NAME, escaped(perfetto, thread->name));
	put_track_of(perfetto, uuid(OF_THREAD, thread->number), uuid(OF_PROCESS, thread->pid), TRACK_THREAD);
	put_track(perfetto, uuid(OF_SAMPLES, thread->number), uuid(OF_THREAD, thread->number), "samples");
}

/* --- What happened ---------------------------------------------------------------------------- */

static void put_slice(void *data, const struct export_slice *slice)
{
	struct perfetto *perfetto = data;
	uint64_t track = uuid(OF_THREAD, slice->thread->number);

	begin_event(perfetto, TYPE_BEGIN, track);
	put_name(perfetto, slice->share >= SHARE_BLOCKED ? "wait" : "state", slice->state);
	if (slice->object)
		put_words(perfetto, "object", slice->object);
	if (slice->ended_by)
		put_words(perfetto, "ended by", slice->ended_by);
	if (slice->has_cpu)
		put_number(perfetto, "cpu", slice->cpu);
	if (slice->cmetric_ns)
		put_number(perfetto, "cmetric_ns", slice->cmetric_ns);
	if (slice->frame_count)
		put_stack(perfetto, slice->frames, slice->frame_count);
	if (slice->woken_by)
		proto_put_fixed64(&perfetto->event, EVENT_FLOW_END, slice->woken_by);
	put_event(perfetto, slice->begin_ns);
	begin_event(perfetto, TYPE_END, track);
	put_event(perfetto, slice->end_ns);
}

static void put_wake(void *data, const struct export_wake *wake)
{
	struct perfetto *perfetto = data;

	begin_event(perfetto, TYPE_INSTANT, uuid(OF_THREAD, wake->waker->number));
	put_name(perfetto, "wake-up", "wakes");
	put_words(perfetto, "thread", wake->woken->name);
	put_number(perfetto, "tid", wake->woken->tid);
	proto_put_fixed64(&perfetto->event, EVENT_FLOW, wake->number);
	put_event(perfetto, wake->time_ns);
}

static void put_sample(void *data, const struct export_sample *sample)
{
	struct perfetto *perfetto = data;
	const char *name = sample->frame_count ? sample->frames[0].function : NULL;

	begin_event(perfetto, TYPE_INSTANT, uuid(OF_SAMPLES, sample->thread->number));
	put_name(perfetto, "sample", name ? name : "sample");
	if (sample->frame_count)
		put_stack(perfetto, sample->frames, sample->frame_count);
	put_event(perfetto, sample->time_ns);
}

static void put_own_event(void *data, const struct export_event *event)
{
	struct perfetto *perfetto = data;

	begin_event(perfetto, TYPE_INSTANT, uuid(OF_THREAD, event->thread->number));
	put_name(perfetto, "event", event->name);
	if (*event->fields)
		put_words(perfetto, "fields", event->fields);
	put_event(perfetto, event->time_ns);
}

/* Activities overlap: each has a track of its own, and those of one name are shown together. */
static void put_activity(void *data, const struct export_activity *activity)
{
	struct perfetto *perfetto = data;
	uint64_t track = uuid(OF_ACTIVITY, activity->number);

	perfetto->part.length = 0;
	put_track(perfetto, track, uuid(OF_THREAD, activity->thread->number), escaped(perfetto, activity->name));
	begin_event(perfetto, TYPE_BEGIN, track);
	put_name(perfetto, "activity", activity->name);
	if (*activity->fields)
		put_words(perfetto, "fields", activity->fields);
	put_event(perfetto, activity->begin_ns);
	begin_event(perfetto, TYPE_END, track);
	put_event(perfetto, activity->end_ns);
}

static void put_counter(struct perfetto *perfetto, unsigned int number, uint64_t time_ns, uint64_t value)
{
	begin_event(perfetto, TYPE_COUNTER, uuid(OF_COUNTER, number));
	proto_put_uint(&perfetto->event, EVENT_COUNTER, value);
	put_event(perfetto, time_ns);
}

static void put_counters(void *data, const struct export_counters *counters)
{
	put_counter(data, 0, counters->time_ns, counters->running);
	put_counter(data, 1, counters->time_ns, counters->runnable);
}

/* --- The trace -------------------------------------------------------------------------------- */

/* The first packet: nothing interned is from before it, and times are of this clock. */
static void put_clock(struct perfetto *perfetto, uint64_t first_ns)
{
	perfetto->part.length = perfetto->argument.length = 0;
	proto_put_uint(&perfetto->argument, CLOCK_ID, CLOCK_MONOTONIC_ID);
	proto_put_uint(&perfetto->argument, CLOCK_TIMESTAMP, first_ns);
	proto_put_message(&perfetto->part, SNAPSHOT_CLOCKS, &perfetto->argument);
	proto_put_uint(&perfetto->part, SNAPSHOT_PRIMARY, CLOCK_MONOTONIC_ID);
	proto_put_message(&perfetto->packet, PACKET_CLOCK_SNAPSHOT, &perfetto->part);
	put_packet(perfetto);
	perfetto->part.length = 0;
	proto_put_uint(&perfetto->part, DEFAULTS_CLOCK_ID, CLOCK_MONOTONIC_ID);
	proto_put_message(&perfetto->packet, PACKET_DEFAULTS, &perfetto->part);
	proto_put_uint(&perfetto->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	put_packet(perfetto);
}

static void put_counter_track(struct perfetto *perfetto, unsigned int number, const char *name)
{
	struct text counter = { 0 };

	proto_put_uint(&counter, COUNTER_UNIT, UNIT_COUNT);
	perfetto->part.length = 0;
	proto_put_message(&perfetto->part, TRACK_COUNTER, &counter);
	text_fini(&counter);
	put_track(perfetto, uuid(OF_COUNTER, number), 0, name);
}

static void *begin(struct export_out *out, const struct trace_states *all)
{
	struct perfetto *perfetto = xcalloc(1, sizeof(*perfetto));

	perfetto->out = out;
	perfetto->stacks = stack_words_new();
	put_clock(perfetto, trace_states_time(all, 0));
	put_counter_track(perfetto, 0, "running threads");
	put_counter_track(perfetto, 1, "run queue");
	return perfetto;
}

static void end(void *data)
{
	struct perfetto *perfetto = data;

	interned_fini(&perfetto->categories);
	interned_fini(&perfetto->names);
	interned_fini(&perfetto->arguments);
	interned_fini(&perfetto->strings);
	interned_fini(&perfetto->processes);
	stack_words_free(perfetto->stacks);
	text_fini(&perfetto->packet);
	text_fini(&perfetto->event);
	text_fini(&perfetto->argument);
	text_fini(&perfetto->interned);
	text_fini(&perfetto->part);
	text_fini(&perfetto->words);
	free(perfetto);
}

const struct export_format perfetto_format = {
	.name = "perfetto",
	.help = "track events for ui.perfetto.dev",
	.lacks = "account of lost records and source lines of frames",
	.is_binary = true,
	.begin = begin,
	.thread = put_thread,
	.slice = put_slice,
	.wake = put_wake,
	.sample = put_sample,
	.event = put_own_event,
	.activity = put_activity,
	.counters = put_counters,
	.end = end,
};
