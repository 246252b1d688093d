/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/firefox_threads.h"

#include <stdbool.h>

#include "export/export_format.h"
#include "export/export_out.h"
#include "export/firefox_records.h"

static void put_ms(struct text *out, uint64_t ns)
{
	text_put_decimal(out, ns / 1000000, 1);
	text_put(out, ".");
	text_put_decimal(out, ns % 1000000, 6);
}

/* A time, which may lie before the first event. */
static void put_time(const struct firefox_writing *writing, uint64_t time_ns)
{
	bool is_before = time_ns < writing->first_ns;

	text_put(&writing->out->text, is_before ? "-" : "");
	put_ms(&writing->out->text, is_before ? writing->first_ns - time_ns : time_ns - writing->first_ns);
}

static void put_string(struct text *out, const char *name, const char *value)
{
	struct text shown = { 0 };

	text_put_escaped(&shown, value);
	text_printf(out, "\"%s\":", name);
	text_put_json_string(out, shown.bytes ? shown.bytes : "");
	text_put(out, ",");
	text_fini(&shown);
}

/* --- Samples ---------------------------------------------------------------------------------- */

static void put_stack(const struct firefox_writing *writing, const struct firefox_sample *sample)
{
	if (sample->stack)
		text_put_decimal(&writing->out->text, sample->stack - 1, 1);
	else
		text_put(&writing->out->text, "null");
}

static void put_sample_time(const struct firefox_writing *writing, const struct firefox_sample *sample)
{
	put_time(writing, sample->time_ns);
}

static void put_weight(const struct firefox_writing *writing, const struct firefox_sample *sample)
{
	put_ms(&writing->out->text, sample->cmetric_ns);
}

static void put_cpu(const struct firefox_writing *writing, const struct firefox_sample *sample)
{
	text_put_decimal(&writing->out->text, sample->cpu_ns, 1);
}

static const struct {
	const char *name;
	void (*put)(const struct firefox_writing *writing, const struct firefox_sample *sample);
} sample_columns[] = {
	{ "stack", put_stack },
	{ "time", put_sample_time },
	{ "weight", put_weight },
	{ "threadCPUDelta", put_cpu },
};

static void put_samples(const struct firefox_writing *writing, const struct firefox_thread *thread)
{
	struct text *out = &writing->out->text;

	text_put(out, "\"samples\":{");
	for (size_t i = 0; i < sizeof(sample_columns) / sizeof(*sample_columns); i++) {
		struct firefox_sample sample = { 0 };
		struct spill_reader reader;
		const char *before = "";

		text_printf(out, "\"%s\":[", sample_columns[i].name);
		spill_read(writing->spill, thread->samples, &reader);
		while (firefox_next_sample(&reader, &sample)) {
			text_put(out, before);
			before = ",";
			sample_columns[i].put(writing, &sample);
			export_out_step(writing->out);
		}
		text_put(out, "],\n");
	}
	text_printf(out, "\"weightType\":\"tracing-ms\",\"length\":%llu}", (unsigned long long)thread->sample_count);
}

/* --- Markers ---------------------------------------------------------------------------------- */

static void put_member(struct text *out, const char *name, uint64_t value)
{
	text_printf(out, ",\"%s\":%llu", name, (unsigned long long)value);
}

/* Names of wake-ups are strings behind all others. */
static void put_wake(const struct firefox_writing *writing, const struct firefox_marker *marker)
{
	if (marker->wake)
		put_member(&writing->out->text, "wakeUp", writing->string_count + marker->wake - 1);
}

static void put_state_data(const struct firefox_writing *writing, const struct firefox_marker *marker)
{
	struct text *out = &writing->out->text;

	text_put(out, "{\"type\":\"state\"");
	if (marker->object)
		put_member(out, "object", marker->object - 1);
	if (marker->ended_by)
		put_member(out, "endedBy", marker->ended_by - 1);
	if (marker->cpu)
		put_member(out, "cpu", marker->cpu - 1);
	if (marker->cmetric_ns)
		put_member(out, "cmetric", marker->cmetric_ns);
	put_wake(writing, marker);
	if (marker->stack) {
		text_put(out, ",\"cause\":{\"time\":");
		put_time(writing, marker->begin_ns);
		put_member(out, "stack", marker->stack - 1);
		text_put(out, "}");
	}
	text_put(out, "}");
}

static void put_data(const struct firefox_writing *writing, const struct firefox_marker *marker)
{
	struct text *out = &writing->out->text;

	switch (marker->kind) {
	case FIREFOX_STATE:
		put_state_data(writing, marker);
		return;
	case FIREFOX_WAKE:
		text_put(out, "{\"type\":\"wake\"");
		put_member(out, "thread", marker->woken);
		put_member(out, "tid", marker->tid);
		put_wake(writing, marker);
		break;
	case FIREFOX_EVENT:
	case FIREFOX_ACTIVITY:
		text_printf(out, "{\"type\":\"%s\",\"fields\":", marker->kind == FIREFOX_EVENT ? "event" : "activity");
		text_put_json_string(out, marker->fields.bytes);
		break;
	}
	text_put(out, "}");
}

static bool is_interval(const struct firefox_marker *marker)
{
	return marker->kind == FIREFOX_STATE || marker->kind == FIREFOX_ACTIVITY;
}

static void put_name(const struct firefox_writing *writing, const struct firefox_marker *marker)
{
	text_put_decimal(&writing->out->text, marker->name, 1);
}

static void put_begin(const struct firefox_writing *writing, const struct firefox_marker *marker)
{
	put_time(writing, marker->begin_ns);
}

static void put_end(const struct firefox_writing *writing, const struct firefox_marker *marker)
{
	if (is_interval(marker))
		put_time(writing, marker->end_ns);
	else
		text_put(&writing->out->text, "null");
}

/* 0: an instant; 1: it has a beginning and an end. */
static void put_phase(const struct firefox_writing *writing, const struct firefox_marker *marker)
{
	text_put(&writing->out->text, is_interval(marker) ? "1" : "0");
}

static void put_category(const struct firefox_writing *writing, const struct firefox_marker *marker)
{
	text_put_decimal(&writing->out->text, marker->category, 1);
}

static const struct {
	const char *name;
	void (*put)(const struct firefox_writing *writing, const struct firefox_marker *marker);
} marker_columns[] = {
	{ "data", put_data },   { "name", put_name },   { "startTime", put_begin },
	{ "endTime", put_end }, { "phase", put_phase }, { "category", put_category },
};

static void put_markers(const struct firefox_writing *writing, const struct firefox_thread *thread)
{
	struct text *out = &writing->out->text;
	struct firefox_marker marker = { 0 };

	text_put(out, "\"markers\":{");
	for (size_t i = 0; i < sizeof(marker_columns) / sizeof(*marker_columns); i++) {
		struct spill_reader reader;
		const char *before = "";

		text_printf(out, "\"%s\":[", marker_columns[i].name);
		spill_read(writing->spill, thread->markers, &reader);
		marker.begin_ns = 0;
		while (firefox_next_marker(&reader, &marker)) {
			text_put(out, before);
			before = ",";
			marker_columns[i].put(writing, &marker);
			export_out_step(writing->out);
		}
		text_put(out, "],\n");
	}
	text_fini(&marker.fields);
	text_printf(out, "\"length\":%llu}", (unsigned long long)thread->marker_count);
}

/* --- The thread ------------------------------------------------------------------------------- */

void firefox_thread_put(const struct firefox_writing *writing, const struct firefox_thread *thread)
{
	const struct export_thread *who = thread->thread;
	struct text *out = &writing->out->text, process = { 0 };

	if (who->host)
		text_printf(&process, "%s: ", who->host);
	text_put(&process, who->process);
	text_put(out, "{");
	put_string(out, "name", who->name);
	put_string(out, "processName", process.bytes);
	text_fini(&process);
	text_printf(out, "\"processType\":\"default\",\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,\n",
		    who->tid == who->pid ? "true" : "false", who->pid, who->tid);
	text_put(out, "\"processStartupTime\":0,\"processShutdownTime\":null,\"pausedRanges\":[],"
		      "\"showMarkersInTimeline\":true,\"registerTime\":");
	put_time(writing, thread->first_ns ? thread->first_ns : writing->first_ns);
	text_put(out, ",\"unregisterTime\":");
	put_time(writing, thread->first_ns ? thread->last_ns : writing->first_ns);
	text_put(out, ",\n");
	put_samples(writing, thread);
	text_put(out, ",\n");
	put_markers(writing, thread);
	text_put(out, "}");
}
