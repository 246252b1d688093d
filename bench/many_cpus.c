// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many_cpus TRACE [RING_BYTES]
 * What the collector and the analyses need on a machine with as many CPUs as a trace of bench/trace_gen has: its events
 * come through the rings of these CPUs, at their times (fake_kernel.h): to a session without analyses; to the engine; and to
 * an engine whose analyses get them later, as they do where all CPUs are busy. Prints as JSON what that took, and whether both
 * reports are the one that the trace gives when it is replayed.
 * RING_BYTES: for switches and wake-ups, a CPU. Exit status 1: the reports differ, though nothing was lost.
 */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/criticality.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/ring/ring_sizes.h"
#include "engine/engine.h"
#include "engine/replay.h"
#include "engine/run_events.h"
#include "engine/trace_open.h"
#include "fake_clock.h"
#include "fake_kernel.h"
#include "session/backlog.h"
#include "session/event_kinds.h"
#include "trace/trace_reader.h"
#include "view/view.h"

enum {
	PENDING_BYTES_MAX = 128 << 20, /* these as in src/engine/engine.c and src/live/tracing.c */
	POLL_MS_MIN = 20,
	POLL_MS_MAX = 80,
	LAST_NAP_MS = 3,   /* longer than events wait before they are delivered */
	DELAYS_EACH = 256, /* one switch of so many is looked at */
	PATHS_MAX = 100,
};

static const double FILL_URGENT = 0.25, FILL_HIGH = 0.05, FILL_LOW = 0.02;

/* How old switches were when they were delivered. */
struct delays {
	uint64_t *ns, switches;
	size_t count, capacity;
};

struct run {
	struct trace_reader *trace;
	unsigned int cpu_count;
	size_t slots_bytes;
	struct kernel *kernel;
	struct collector *collector;
	struct backlog *backlog;       /* NULL: events are analysed at once */
	uint64_t later_ns;             /* CPU time of analyses after the end */
	uint64_t used_ns, polls, lost; /* CPU time of the collector and the analyses */
	struct delays delays;
	struct session_counts counts;
};

/* --- The run -------------------------------------------------------------------------------- */

static void on_switch(void *data, const struct ev_header *header)
{
	struct delays *delays = data;

	if (delays->switches++ % DELAYS_EACH)
		return;
	ARRAY_GROW(delays->ns, delays->count, delays->capacity, 1024);
	delays->ns[delays->count++] = clock_ns() - header->time_ns;
}

/* How long a live run waits for its next poll; *poll_ms: as long as hardly anything comes. */
static int next_wait_ms(const struct collector *collector, int *poll_ms)
{
	double fill = collector_fill(collector);

	if (fill > FILL_HIGH && *poll_ms > POLL_MS_MIN)
		*poll_ms = POLL_MS_MIN;
	else if (fill < FILL_LOW && *poll_ms < POLL_MS_MAX)
		*poll_ms *= 2;
	return fill > FILL_URGENT ? 0 : *poll_ms;
}

static void poll_all(struct run *run)
{
	int poll_ms = POLL_MS_MIN;

	while (!fake_kernel_is_over(run->kernel)) {
		fake_clock_nap(next_wait_ms(run->collector, &poll_ms) * 1000000ull);
		fake_clock_go_on();
		collector_poll(run->collector);
		if (run->backlog && backlog_is_full(run->backlog))
			backlog_catch_up(run->backlog, 0, NULL);
		fake_clock_stop();
		run->polls++;
	}
	fake_clock_nap(LAST_NAP_MS * 1000000ull);
	fake_clock_go_on();
	collector_finish(run->collector);
	fake_clock_stop();
}

static void close_run(struct run *run)
{
	collector_free(run->collector);
	fake_kernel_close(run->kernel);
	run->collector = NULL;
	run->kernel = NULL;
}

static int open_run(struct run *run)
{
	trace_reader_seek(run->trace, 0);
	fake_clock_begin(trace_reader_extent(run->trace)->first_ns - 1);
	return fake_kernel_open(run->trace, run->cpu_count, run->slots_bytes, &run->kernel);
}

static void go(struct run *run, struct session *session)
{
	static const struct event_handler handlers[] = { { EV_SCHED_SWITCH, on_switch }, { 0, NULL } };

	session_subscribe(session, handlers, &run->delays);
	run->collector = collector_new(session, run->kernel, NULL);
	poll_all(run);
	run->used_ns = clock_cpu_ns();
	run->lost = kernel_counts(run->kernel).lost + kernel_counts(run->kernel).samples_lost;
	run->counts = session_counts(session);
}

/* Only the rings are read, and their records put in order. */
static int run_without_analyses(struct run *run)
{
	struct session *session;
	int err = open_run(run);

	if (err)
		return err;
	session = session_new(collector_stream_count(run->kernel), PENDING_BYTES_MAX);
	go(run, session);
	close_run(run);
	session_free(session);
	return 0;
}

/* --- Reports -------------------------------------------------------------------------------- */

/* What a report has from the first event and the last one. */
struct frame_events {
	struct ev_collect_run *run;
	struct ev_collect_end *end;
};

static void *copy_of(const struct ev_header *header)
{
	size_t size_bytes = event_bytes(header);

	return memcpy(xcalloc(1, size_bytes), header, size_bytes);
}

static void on_run(void *data, const struct ev_header *header)
{
	struct frame_events *events = data;

	free(events->run);
	events->run = copy_of(header);
}

static void on_end(void *data, const struct ev_header *header)
{
	struct frame_events *events = data;

	free(events->end);
	events->end = copy_of(header);
}

/* Without its target and its notes, which say that it is of a trace. */
static void put_report(struct findings *findings, struct text *out)
{
	struct report *report = findings_report(findings);

	report->target = (struct report_target){ .exit_status = -1 };
	report->note_count = 0;
	json_view.show(report, &(struct view_style){ 0 }, out);
	findings_free(findings);
}

static void put_engine_report(struct engine *engine, const struct frame_events *events, struct text *out)
{
	struct findings_input input = engine_findings_input(engine);
	struct findings *findings;

	criticality_finish(engine->criticality, events->end ? events->end->ended_ns : session_time_ns(engine->session));
	input.path_count_max = PATHS_MAX;
	input.sample_period_ns = events->run ? events->run->sample_period_ns : 0;
	input.cpu_count = events->run ? events->run->cpu_count : 0;
	findings = findings_new(&input);
	if (events->end)
		end_event_fill(events->end, findings);
	put_report(findings, out);
}

static int put_replayed_report(const char *path, struct text *out)
{
	struct replay *replay;
	int err = replay_open(path, &(struct replay_options){ 0 }, &replay);

	if (err)
		return err;
	put_report(replay_findings(replay, PATHS_MAX), out);
	replay_close(replay);
	return 0;
}

/* --- Memory --------------------------------------------------------------------------------- */

/* A line of /proc/self/status, bytes. */
static uint64_t memory_bytes(const char *name)
{
	FILE *file = fopen("/proc/self/status", "r");
	size_t length = strlen(name);
	uint64_t kilobytes = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, length) && line[length] == ':')
			kilobytes = strtoull(line + length + 1, NULL, 10);
	if (file)
		fclose(file);
	return kilobytes * 1024;
}

/* From here on VmHWM is the most from here on. */
static void forget_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	malloc_trim(0);
	if (!file)
		return;
	fputs("5", file);
	fclose(file);
}

struct memory {
	uint64_t before_bytes;  /* what the trace's reader and the program itself have */
	uint64_t touched_bytes; /* of the rings */
	uint64_t own_bytes;     /* the most of the collector, the session and the analyses, with their heap's waste */
};

/* --- The whole ------------------------------------------------------------------------------ */

/* What was put away while it was traced is analysed. */
static void go_later(struct run *run, struct engine *engine)
{
	static const struct backlog_limits limits = { 16 << 20, 1 << 30, "/var/tmp" }; /* as in src/engine/engine.c */
	struct session *session = session_new(collector_stream_count(run->kernel), PENDING_BYTES_MAX);

	run->backlog = backlog_new(session, engine->session, &limits);
	backlog_set_deferring(run->backlog, true, NULL);
	go(run, session);
	fake_clock_go_on();
	backlog_set_deferring(run->backlog, false, NULL);
	fake_clock_stop();
	run->later_ns = clock_cpu_ns() - run->used_ns;
	backlog_free(run->backlog);
	session_free(session);
}

static int run_engine(struct run *run, bool is_deferred, struct text *report, struct memory *memory)
{
	static const struct event_handler handlers[] = {
		{ EV_COLLECT_RUN, on_run },
		{ EV_COLLECT_END, on_end },
		{ 0, NULL },
	};
	struct frame_events events = { 0 };
	struct engine engine = { 0 };
	int err;

	forget_peak();
	memory->before_bytes = memory_bytes("VmRSS");
	err = open_run(run);
	if (!err)
		err = engine_open(&engine, &(struct engine_options){
						   .stream_count = collector_stream_count(run->kernel),
						   .is_offline = true,
					   });
	if (!err) {
		session_subscribe(engine.session, handlers, &events);
		if (is_deferred)
			go_later(run, &engine);
		else
			go(run, engine.session);
		memory->touched_bytes = memory_bytes("RssShmem");
		memory->own_bytes = memory_bytes("VmHWM") - memory->touched_bytes - memory->before_bytes;
		put_engine_report(&engine, &events, report);
	}
	close_run(run);
	engine_close(&engine);
	free(events.run);
	free(events.end);
	return err;
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static double delay_ms(const struct delays *delays, double share)
{
	return delays->count ? delays->ns[(size_t)(share * (delays->count - 1))] / 1e6 : 0;
}

/* Of a run. */
static void print_cost(const char *name, struct run *run, double span_s)
{
	struct delays *delays = &run->delays;

	qsort(delays->ns, delays->count, sizeof(*delays->ns), compare_ns);
	printf("\"%s\": {\"event_ns\": %.0f, \"cpus_used\": %.3f, \"polls\": %llu, \"lost\": %llu, \"late\": %llu, ",
	       name, run->used_ns / (double)run->counts.delivered, run->used_ns / 1e9 / span_s,
	       (unsigned long long)run->polls, (unsigned long long)run->lost, (unsigned long long)run->counts.late);
	printf("\"delay_ms\": {\"median\": %.1f, \"p99\": %.1f, \"max\": %.1f}, \"pending_bytes_peak\": %zu},\n",
	       delay_ms(delays, 0.5), delay_ms(delays, 0.99), delay_ms(delays, 1), run->counts.pending_bytes_peak);
}

static void print_memory(const struct run *run, const struct memory *memory)
{
	struct ring_sizes sizes = ring_sizes_choose(run->cpu_count, run->slots_bytes);

	printf("\"cpu_ring_bytes\": {\"slots\": %zu, \"main\": %zu, \"samples\": %zu}, ",
	       sizes.slots * sizeof(struct slot), sizes.main_bytes, sizes.sample_bytes);
	printf("\"touched_bytes\": %llu, \"own_bytes\": %llu,\n", (unsigned long long)memory->touched_bytes,
	       (unsigned long long)memory->own_bytes);
}

static void print(struct run *bare, struct run *run, struct run *deferred, const struct memory *memory)
{
	const struct trace_extent *extent = trace_reader_extent(run->trace);
	double span_s = (extent->last_ns - extent->first_ns) / 1e9, events = extent->events;

	printf("{\"cpus\": %u, \"events\": %.0f, \"s\": %.2f, \"events_per_s\": %.0f,\n", run->cpu_count, events,
	       span_s, events / span_s);
	print_cost("collector", bare, span_s);
	print_cost("with_analyses", run, span_s);
	print_cost("deferred", deferred, span_s);
	printf("\"later_s\": %.3f, ", deferred->later_ns / 1e9);
	print_memory(run, memory);
}

/* Of the trace's first event that says it. */
static unsigned int count_cpus(struct trace_reader *trace)
{
	const struct ev_header *header;

	if (trace_reader_next(trace, &header) == 1 && header->subsys == TRACE_SUBSYS_COLLECT &&
	    header->event == TRACE_EVENT_COLLECT_RUN)
		return ((const struct ev_collect_run *)header)->cpu_count;
	return 0;
}

static int measure(const char *path, struct run *run, bool *is_same)
{
	struct text report = { 0 }, later = { 0 }, replayed = { 0 };
	struct run bare = *run, deferred = *run;
	struct memory memory, deferred_memory;
	int err = run_without_analyses(&bare);

	if (!err)
		err = run_engine(run, false, &report, &memory);
	if (!err)
		err = run_engine(&deferred, true, &later, &deferred_memory);
	if (!err)
		err = put_replayed_report(path, &replayed);
	if (!err) {
		*is_same = (run->lost || !strcmp(report.bytes, replayed.bytes)) &&
			   (deferred.lost || !strcmp(later.bytes, replayed.bytes));
		print(&bare, run, &deferred, &memory);
		printf("\"report\": \"%016llx\", \"later\": \"%016llx\", \"replayed\": \"%016llx\"}\n",
		       (unsigned long long)hash_string(0, report.bytes),
		       (unsigned long long)hash_string(0, later.bytes),
		       (unsigned long long)hash_string(0, replayed.bytes));
	}
	text_fini(&report);
	text_fini(&later);
	text_fini(&replayed);
	free(deferred.delays.ns);
	free(bare.delays.ns);
	return err;
}

int main(int argc, char **argv)
{
	struct run run = { .slots_bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 0 };
	bool is_same = false;
	int err;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: many_cpus TRACE [RING_BYTES]\n");
		return 2;
	}
	if (trace_open(argv[1], &run.trace))
		return 1;
	run.cpu_count = count_cpus(run.trace);
	if (!run.cpu_count || run.cpu_count > KERNEL_CPUS_MAX)
		err = fail_plain(-EINVAL, "%s does not say how many CPUs it has, up to %d", argv[1], KERNEL_CPUS_MAX);
	else
		err = measure(argv[1], &run, &is_same);
	trace_reader_close(run.trace);
	free(run.delays.ns);
	return err || !is_same;
}
