/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chrome's Trace Event Format in JSON: complete events, flows, instants, asynchronous events and counters; us since the first event. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/export_format.h"
#include "export/export_out.h"
#include "export/formats.h"
#include "export/stack_words.h"
#include "query/trace_states.h"

struct chrome {
	struct export_out *out;
	uint64_t first_ns;
	bool has_events;
	bool has_arguments; /* of the event that is being written */
	struct text shown;
	struct stack_words *stacks;
};

static void put_us(struct text *out, uint64_t ns)
{
	text_put_decimal(out, ns / 1000, 1);
	text_put(out, ".");
	text_put_decimal(out, ns % 1000, 3);
}

/* Strings are as they should be shown. */
static void put_escaped(struct chrome *chrome, const char *string)
{
	chrome->shown.length = 0;
	text_put(&chrome->shown, "");
	text_put_escaped(&chrome->shown, string);
	text_put_json_string(&chrome->out->text, chrome->shown.bytes);
}

/* An event of a thread up to its arguments; NULL: of no thread. */
static struct text *begin_event(struct chrome *chrome, char phase, const char *category, const char *name,
				const struct export_thread *thread, uint64_t time_ns)
{
	struct text *out = &chrome->out->text;

	text_put(out, chrome->has_events ? ",\n" : "\n");
	chrome->has_events = true;
	chrome->has_arguments = false;
	text_put(out, "{\"ph\":\"");
	text_put_bytes(out, &phase, 1);
	text_put(out, "\",\"cat\":\"");
	text_put(out, category);
	text_put(out, "\",\"name\":");
	put_escaped(chrome, name);
	text_put(out, ",\"pid\":");
	text_put_decimal(out, thread ? thread->pid : 0, 1);
	text_put(out, ",\"tid\":");
	text_put_decimal(out, thread ? thread->tid : 0, 1);
	text_put(out, ",\"ts\":");
	put_us(out, time_ns > chrome->first_ns ? time_ns - chrome->first_ns : 0);
	return out;
}

static void end_event(struct chrome *chrome)
{
	text_put(&chrome->out->text, chrome->has_arguments ? "}}" : "}");
}

static void begin_argument(struct chrome *chrome, const char *name)
{
	text_put(&chrome->out->text, chrome->has_arguments ? "," : ",\"args\":{");
	chrome->has_arguments = true;
	text_put(&chrome->out->text, "\"");
	text_put(&chrome->out->text, name);
	text_put(&chrome->out->text, "\":");
}

static void put_words(struct chrome *chrome, const char *name, const char *words)
{
	begin_argument(chrome, name);
	put_escaped(chrome, words);
}

static void put_number(struct chrome *chrome, const char *name, uint64_t number)
{
	begin_argument(chrome, name);
	text_put_decimal(&chrome->out->text, number, 1);
}

static void put_stack(struct chrome *chrome, const struct report_frame *frames, size_t count)
{
	begin_argument(chrome, "stack");
	text_put_json_string(&chrome->out->text, stack_words_of(chrome->stacks, frames, count));
}

static void put_name(struct chrome *chrome, const char *kind, const struct export_thread *thread, const char *name)
{
	struct text called = { 0 };

	if (thread->host)
		text_printf(&called, "%s: ", thread->host);
	text_put(&called, name);
	begin_event(chrome, 'M', "__metadata", kind, thread, 0);
	put_words(chrome, "name", called.bytes);
	end_event(chrome);
	text_fini(&called);
}

static void put_thread(void *data, const struct export_thread *thread)
{
	put_name(data, "process_name", thread, thread->process);
	put_name(data, "thread_name", thread, thread->name);
}

static void put_slice(void *data, const struct export_slice *slice)
{
	struct chrome *chrome = data;
	struct text *out = begin_event(chrome, 'X', slice->share >= SHARE_BLOCKED ? "wait" : "state", slice->state,
				       slice->thread, slice->begin_ns);

	text_put(out, ",\"dur\":");
	put_us(out, slice->end_ns - slice->begin_ns);
	if (slice->object)
		put_words(chrome, "object", slice->object);
	if (slice->ended_by)
		put_words(chrome, "ended by", slice->ended_by);
	if (slice->has_cpu)
		put_number(chrome, "cpu", slice->cpu);
	if (slice->cmetric_ns)
		put_number(chrome, "cmetric_ns", slice->cmetric_ns);
	if (slice->frame_count)
		put_stack(chrome, slice->frames, slice->frame_count);
	end_event(chrome);
	if (!slice->woken_by)
		return;
	out = begin_event(chrome, 'f', "wake-up", "wakes", slice->thread, slice->begin_ns);
	text_printf(out, ",\"bp\":\"e\",\"id\":%llu", (unsigned long long)slice->woken_by);
	end_event(chrome);
}

static void put_wake(void *data, const struct export_wake *wake)
{
	struct text *out = begin_event(data, 's', "wake-up", "wakes", wake->waker, wake->time_ns);

	text_printf(out, ",\"id\":%llu", (unsigned long long)wake->number);
	end_event(data);
}

static void put_sample(void *data, const struct export_sample *sample)
{
	const char *name = sample->frame_count ? sample->frames[0].function : NULL;

	text_put(begin_event(data, 'i', "sample", name ? name : "sample", sample->thread, sample->time_ns),
		 ",\"s\":\"t\"");
	if (sample->frame_count)
		put_stack(data, sample->frames, sample->frame_count);
	end_event(data);
}

static void put_own_event(void *data, const struct export_event *event)
{
	text_put(begin_event(data, 'i', "event", event->name, event->thread, event->time_ns), ",\"s\":\"t\"");
	put_words(data, "fields", event->fields);
	end_event(data);
}

static void put_activity(void *data, const struct export_activity *activity)
{
	struct text *out = begin_event(data, 'b', "activity", activity->name, activity->thread, activity->begin_ns);

	text_printf(out, ",\"id\":%llu", (unsigned long long)activity->number);
	put_words(data, "fields", activity->fields);
	end_event(data);
	out = begin_event(data, 'e', "activity", activity->name, activity->thread, activity->end_ns);
	text_printf(out, ",\"id\":%llu", (unsigned long long)activity->number);
	end_event(data);
}

static void put_counters(void *data, const struct export_counters *counters)
{
	begin_event(data, 'C', "counter", "threads", NULL, counters->time_ns);
	put_number(data, "running", counters->running);
	put_number(data, "runnable", counters->runnable);
	end_event(data);
}

static void *begin(struct export_out *out, const struct trace_states *all)
{
	struct chrome *chrome = xcalloc(1, sizeof(*chrome));

	chrome->out = out;
	chrome->stacks = stack_words_new();
	chrome->first_ns = trace_states_time(all, 0);
	text_put(&out->text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	return chrome;
}

static void end(void *data)
{
	struct chrome *chrome = data;

	text_put(&chrome->out->text, "\n]}\n");
	text_fini(&chrome->shown);
	stack_words_free(chrome->stacks);
	free(chrome);
}

const struct export_format chrome_format = {
	.name = "chrome",
	.help = "trace events in JSON, for chrome://tracing and others",
	.lacks = "account of lost records and source lines of frames",
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
