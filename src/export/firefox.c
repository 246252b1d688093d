/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Firefox Profiler's processed profile format, version 60, which later readers upgrade (docs-developer/CHANGELOG-formats.md of
 * github.com/firefox-devtools/profiler). States, wake-ups, events and activities are markers. A thread has a sample where it was seen
 * running, and where it begins to wait, with the cause as its last frame; weights are CMetric, CPU time is in threadCPUDelta.
 *
 * A thread's columns come one after the other, so what it has is kept in a file until the walk is over.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "events.h"
#include "export/export_format.h"
#include "export/export_out.h"
#include "export/firefox_records.h"
#include "export/firefox_tables.h"
#include "export/firefox_threads.h"
#include "export/formats.h"
#include "lanes/lanes_json.h"
#include "query/trace_states.h"

/* Behind the states. */
enum { CATEGORY_WAKES = SHARES, CATEGORY_EVENTS, CATEGORY_ACTIVITIES };

struct firefox {
	struct export_out *out;
	const struct trace_states *all;
	const struct export_files *files;
	struct spill *spill;
	struct firefox_tables tables;
	struct firefox_thread *threads;
	size_t count, capacity;
	struct table *by_number; /* places in threads, plus 1 */
	struct text shown;
	uint64_t wake_count;
};

/* --- Threads ---------------------------------------------------------------------------------- */

static void put_thread(void *data, const struct export_thread *thread)
{
	struct firefox *firefox = data;

	ARRAY_GROW(firefox->threads, firefox->count, firefox->capacity, 64);
	firefox->threads[firefox->count++] = (struct firefox_thread){
		.thread = thread,
		.samples = spill_add(firefox->spill),
		.markers = spill_add(firefox->spill),
	};
	table_put(firefox->by_number, thread->number, (void *)(uintptr_t)firefox->count);
}

static struct firefox_thread *thread_of(struct firefox *firefox, const struct export_thread *thread)
{
	return &firefox->threads[(uintptr_t)table_find(firefox->by_number, thread->number) - 1];
}

/* --- Samples ---------------------------------------------------------------------------------- */

static uint32_t label_stack(struct firefox *firefox, const char *name, unsigned int category)
{
	return firefox_stack(&firefox->tables, NULL, 0, &(struct firefox_label){ name, NULL, category }, category);
}

/* The thread is not seen running then: of its CPU time, what is known goes to it. */
static void put_moment(struct firefox *firefox, struct firefox_thread *thread, struct firefox_sample sample)
{
	sample.cpu_ns = thread->pending_ns;
	thread->counted_ns += thread->pending_ns;
	thread->pending_ns = 0;
	firefox_put_sample(firefox->spill, thread, &sample);
}

/* A wait ended some time ago and nothing waits since: what is there next does not belong to it. */
static void end_wait(struct firefox *firefox, struct firefox_thread *thread, uint64_t now_ns)
{
	uint64_t ended_ns = thread->waited_ns;

	thread->waited_ns = 0;
	if (ended_ns && ended_ns < now_ns)
		put_moment(firefox, thread,
			   (struct firefox_sample){
				   .time_ns = ended_ns,
				   .stack = label_stack(firefox, "no sample", SHARE_RUNNING),
			   });
}

static void put_seen(struct firefox *firefox, const struct export_sample *sample, uint32_t stack)
{
	struct firefox_thread *thread = thread_of(firefox, sample->thread);

	end_wait(firefox, thread, sample->time_ns);
	firefox_put_sample(firefox->spill, thread,
			   &(struct firefox_sample){
				   .time_ns = sample->time_ns,
				   .stack = stack,
				   .cmetric_ns = sample->cmetric_ns,
				   .cpu_ns = sample->cpu_ns - thread->counted_ns,
			   });
	thread->sampled_ns = sample->time_ns;
	thread->pending_ns = thread->counted_ns = 0;
}

static void put_sample(void *data, const struct export_sample *sample)
{
	struct firefox *firefox = data;
	uint32_t stack = sample->frame_count ? firefox_stack(&firefox->tables, sample->frames, sample->frame_count,
							     NULL, SHARE_RUNNING)
					     : label_stack(firefox, "no stack", SHARE_RUNNING);

	put_seen(firefox, sample, stack);
}

static void put_unsampled(void *data, const struct export_sample *rest)
{
	put_seen(data, rest, label_stack(data, "no sample", SHARE_RUNNING));
}

/* Its beginning has the stack and the cause; the thread did something else after its end. */
static void put_wait(struct firefox *firefox, struct firefox_thread *thread, const struct export_slice *slice)
{
	struct firefox_label label = { slice->state, slice->object, slice->share };

	end_wait(firefox, thread, slice->begin_ns);
	put_moment(firefox, thread,
		   (struct firefox_sample){
			   .time_ns = slice->begin_ns,
			   .stack = firefox_stack(&firefox->tables, slice->frames, slice->frame_count, &label,
						  SHARE_RUNNING),
			   .cmetric_ns = slice->cmetric_ns,
		   });
	thread->waited_ns = slice->end_ns;
}

/* --- Markers ---------------------------------------------------------------------------------- */

static void put_slice(void *data, const struct export_slice *slice)
{
	struct firefox *firefox = data;
	struct firefox_thread *thread = thread_of(firefox, slice->thread);
	struct firefox_marker marker = {
		.kind = FIREFOX_STATE,
		.name = firefox_string(&firefox->tables, slice->state),
		.category = slice->share,
		.begin_ns = slice->begin_ns,
		.end_ns = slice->end_ns,
		.wake = slice->woken_by,
		.object = slice->object ? firefox_string(&firefox->tables, slice->object) + 1 : 0,
		.ended_by = slice->ended_by ? firefox_string(&firefox->tables, slice->ended_by) + 1 : 0,
		.cpu = slice->has_cpu ? slice->cpu + 1 : 0,
		.cmetric_ns = slice->cmetric_ns,
	};

	if (!thread->first_ns)
		thread->first_ns = slice->begin_ns;
	thread->last_ns = slice->end_ns;
	if (slice->frame_count)
		marker.stack = firefox_stack(&firefox->tables, slice->frames, slice->frame_count, NULL, SHARE_RUNNING);
	if (slice->share == SHARE_RUNNING || slice->share == SHARE_SPINNING)
		thread->pending_ns +=
			slice->end_ns - (thread->sampled_ns > slice->begin_ns ? thread->sampled_ns : slice->begin_ns);
	else if (slice->share != SHARE_UNKNOWN)
		put_wait(firefox, thread, slice);
	firefox_put_marker(firefox->spill, thread, &marker);
}

static void put_wake(void *data, const struct export_wake *wake)
{
	struct firefox *firefox = data;

	firefox->wake_count = wake->number;
	firefox_put_marker(firefox->spill, thread_of(firefox, wake->waker),
			   &(struct firefox_marker){
				   .kind = FIREFOX_WAKE,
				   .name = firefox_string(&firefox->tables, "wakes"),
				   .category = CATEGORY_WAKES,
				   .begin_ns = wake->time_ns,
				   .end_ns = wake->time_ns,
				   .wake = wake->number,
				   .woken = firefox_string(&firefox->tables, wake->woken->name),
				   .tid = wake->woken->tid,
			   });
}

static void put_words(struct firefox *firefox, const struct export_thread *thread, struct firefox_marker *marker,
		      const char *name, const char *fields)
{
	marker->name = firefox_string(&firefox->tables, name);
	firefox->shown.length = 0;
	text_put(&firefox->shown, "");
	text_put_escaped(&firefox->shown, fields);
	marker->fields = firefox->shown;
	firefox_put_marker(firefox->spill, thread_of(firefox, thread), marker);
}

static void put_own_event(void *data, const struct export_event *event)
{
	struct firefox_marker marker = {
		.kind = FIREFOX_EVENT,
		.category = CATEGORY_EVENTS,
		.begin_ns = event->time_ns,
		.end_ns = event->time_ns,
	};

	put_words(data, event->thread, &marker, event->name, event->fields);
}

static void put_activity(void *data, const struct export_activity *activity)
{
	struct firefox_marker marker = {
		.kind = FIREFOX_ACTIVITY,
		.category = CATEGORY_ACTIVITIES,
		.begin_ns = activity->begin_ns,
		.end_ns = activity->end_ns,
	};

	put_words(data, activity->thread, &marker, activity->name, activity->fields);
}

/* --- The profile ------------------------------------------------------------------------------ */

/* The first grey one is that of what has none. */
static const char *color_of(unsigned int share)
{
	static const char *const colors[SHARES] = {
		[SHARE_UNKNOWN] = "grey",
		[SHARE_RUNNING] = "green",
		[SHARE_SPINNING] = "brown",
		[SHARE_RUNNABLE] = "yellow",
		[SHARE_BLOCKED + CAUSE_LOCK] = "red",
		[SHARE_BLOCKED + CAUSE_CONDITION] = "purple",
		[SHARE_BLOCKED + CAUSE_BARRIER] = "magenta",
		[SHARE_BLOCKED + CAUSE_SEMAPHORE] = "purple",
		[SHARE_BLOCKED + CAUSE_FILE] = "blue",
		[SHARE_BLOCKED + CAUSE_SOCKET] = "lightblue",
		[SHARE_BLOCKED + CAUSE_PIPE] = "lightblue",
		[SHARE_BLOCKED + CAUSE_POLL] = "lightblue",
		[SHARE_BLOCKED + CAUSE_SLEEP] = "transparent",
		[SHARE_BLOCKED + CAUSE_PAGE_FAULT] = "orange",
		[SHARE_BLOCKED + CAUSE_KERNEL_LOCK] = "lightred",
	};

	return colors[share] ? colors[share] : "darkgrey";
}

static void put_category(struct text *out, const char *name, const char *color, const char *before)
{
	text_printf(out, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}", before, name, color);
}

static void put_categories(struct text *out)
{
	text_put(out, "\"categories\":[");
	for (unsigned int share = 0; share < SHARES; share++)
		put_category(out, lane_share_name(share), color_of(share), share ? ",\n" : "");
	put_category(out, "wake-ups", "grey", ",\n");
	put_category(out, "events", "orange", ",\n");
	put_category(out, "activities", "blue", ",\n");
	text_put(out, "],\n");
}

static const char marker_schemas[] =
	"\"markerSchema\":[\n"
	"{\"name\":\"state\",\"tableLabel\":\"{marker.data.object}\",\"chartLabel\":\"{marker.data.object}\","
	"\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"fields\":["
	"{\"key\":\"object\",\"label\":\"Waits for\",\"format\":\"unique-string\"},"
	"{\"key\":\"endedBy\",\"label\":\"Ended by\",\"format\":\"unique-string\"},"
	"{\"key\":\"cpu\",\"label\":\"CPU\",\"format\":\"integer\"},"
	"{\"key\":\"cmetric\",\"label\":\"CMetric\",\"format\":\"nanoseconds\"},"
	"{\"key\":\"wakeUp\",\"label\":\"Wake-up\",\"format\":\"terminating-flow-id\"}]},\n"
	"{\"name\":\"wake\",\"tableLabel\":\"{marker.data.thread}\",\"chartLabel\":\"{marker.data.thread}\","
	"\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":["
	"{\"key\":\"thread\",\"label\":\"Thread\",\"format\":\"unique-string\"},"
	"{\"key\":\"tid\",\"label\":\"TID\",\"format\":\"integer\"},"
	"{\"key\":\"wakeUp\",\"label\":\"Wake-up\",\"format\":\"flow-id\"}]},\n"
	"{\"name\":\"event\",\"tableLabel\":\"{marker.data.fields}\",\"display\":[\"marker-chart\",\"marker-table\"],"
	"\"fields\":[{\"key\":\"fields\",\"label\":\"Fields\",\"format\":\"string\"}]},\n"
	"{\"name\":\"activity\",\"tableLabel\":\"{marker.data.fields}\",\"chartLabel\":\"{marker.data.fields}\","
	"\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
	"\"fields\":[{\"key\":\"fields\",\"label\":\"Fields\",\"format\":\"string\"}]}],\n";

/* 6 digits behind the point. */
static void put_ms(struct text *out, const char *name, uint64_t ns)
{
	text_printf(out, "\"%s\":%llu.%06llu,", name, (unsigned long long)(ns / 1000000),
		    (unsigned long long)(ns % 1000000));
}

static void put_meta(struct firefox *firefox)
{
	const struct ev_collect_run *run = firefox->all->run;
	struct text *out = &firefox->out->text;

	text_put(out,
		 "{\"meta\":{\"version\":31,\"preprocessedProfileVersion\":60,\"importedFrom\":\"pinch " PINCH_VERSION
		 "\",\"product\":\"pinch\",\n");
	put_ms(out, "interval", run && run->sample_period_ns ? run->sample_period_ns : 1000000);
	put_ms(out, "startTime", run ? run->realtime_ns : 0);
	text_put(out, "\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
		      "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,\n"
		      "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n");
	put_categories(out);
	text_put(out, marker_schemas);
	text_put(out, "\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]}},\n");
}

static void put_files(void *data, const struct export_files *files)
{
	struct firefox *firefox = data;

	firefox->files = files;
}

static void put_all(struct firefox *firefox)
{
	struct firefox_writing writing = {
		.out = firefox->out,
		.spill = firefox->spill,
		.first_ns = trace_states_time(firefox->all, 0),
		.string_count = firefox->tables.strings.count,
	};
	struct text *out = &firefox->out->text;

	put_meta(firefox);
	firefox_tables_put(&firefox->tables, firefox->out, firefox->files, firefox->wake_count);
	text_put(out, "\"threads\":[\n");
	for (size_t i = 0; i < firefox->count; i++) {
		text_put(out, i ? ",\n" : "");
		firefox_thread_put(&writing, &firefox->threads[i]);
	}
	text_put(out, "]}\n");
}

static void *begin(struct export_out *out, const struct trace_states *all)
{
	struct firefox *firefox = xcalloc(1, sizeof(*firefox));

	firefox->out = out;
	firefox->all = all;
	firefox->spill = spill_new();
	firefox->by_number = table_new();
	firefox_tables_init(&firefox->tables, firefox->spill);
	return firefox;
}

static void end(void *data)
{
	struct firefox *firefox = data;

	put_all(firefox);
	if (!firefox->out->err && spill_error(firefox->spill))
		export_out_fail(firefox->out, spill_error(firefox->spill), "a temporary file in /var/tmp or /tmp");
	firefox_tables_fini(&firefox->tables);
	spill_free(firefox->spill);
	table_free(firefox->by_number);
	free(firefox->threads);
	text_fini(&firefox->shown);
	free(firefox);
}

const struct export_format firefox_format = {
	.name = "firefox",
	.help = "profile for profiler.firefox.com",
	.lacks = "counters, account of lost records and addresses",
	.begin = begin,
	.thread = put_thread,
	.slice = put_slice,
	.wake = put_wake,
	.sample = put_sample,
	.unsampled = put_unsampled,
	.event = put_own_event,
	.activity = put_activity,
	.files = put_files,
	.end = end,
};
