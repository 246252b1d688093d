/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a flight recorder kept gives the report of a trace that was begun when what it kept begins: random
 * schedules through a recorder and its file, and from that moment on into a trace of their own.
 */
#include "test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "engine/engine.h"
#include "engine/recorder.h"
#include "engine/replay.h"
#include "findings/findings.h"
#include "session/event_kinds.h"
#include "session/session.h"
#include "trace/prologue/prologue.h"
#include "trace/trace_reader.h"
#include "trace/trace_ring.h"
#include "trace/trace_writer.h"
#include "trace_fixture.h"
#include "values.h"
#include "view/view.h"

enum { THREADS = 8, CPUS = 3, STACKS = 30, OTHERS = 5, FILES = 6, STEPS = 30000, RING_BYTES = 64 << 10 };

/* --- A schedule ----------------------------------------------------------------------------- */

static struct {
	uint64_t now_ns;
	enum thread_phase phase[THREADS + 1];
	uint32_t running[CPUS]; /* 0: none of them */
	bool is_stack_recorded[STACKS], is_other_recorded[OTHERS], is_file_recorded[FILES];
} world;

static struct ev_header header_of(enum event_id id, uint32_t thread)
{
	return (struct ev_header){
		.time_ns = ++world.now_ns,
		.thread = thread,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};
}

static uint64_t take_stack(void)
{
	struct {
		struct ev_stack_frames e;
		uint64_t frames[2];
	} e = { { .user_count = 2 }, { 0 } };
	uint64_t stack = 1 + trace_below(STACKS);

	if (world.is_stack_recorded[stack - 1])
		return stack;
	world.is_stack_recorded[stack - 1] = true;
	e.e.header = header_of(EV_STACK_FRAMES, 0);
	e.e.stack = stack;
	e.frames[0] = 0x401000 + stack * 16;
	e.frames[1] = 0x400100;
	trace_note(&e.e.header);
	return stack;
}

static uint32_t take_other(void)
{
	uint32_t i = trace_below(OTHERS);
	struct ev_thread_other e = { .tid = 500 + i, .pid = 500, .name = "other", .process = "peer" };

	if (!world.is_other_recorded[i]) {
		world.is_other_recorded[i] = true;
		e.header = header_of(EV_THREAD_OTHER, 0);
		trace_note(&e.header);
	}
	return e.tid;
}

static uint64_t take_file(void)
{
	struct {
		struct ev_file_path e;
		char names[8];
	} e = { { .mode = 0100644, .links = 1, .name_bytes = 6 }, "log\0/" };
	uint64_t i = trace_below(FILES);

	e.e.file = i << 5 | 8 << 1 | 1;
	if (!world.is_file_recorded[i]) {
		world.is_file_recorded[i] = true;
		e.e.header = header_of(EV_FILE_PATH, 0);
		trace_note(&e.e.header);
	}
	return e.e.file;
}

/* What a thread blocks for. */
static void fill_wait(struct ev_sched_switch *e)
{
	e->state = SWITCH_SLEEPING;
	if (trace_below(3)) {
		e->syscall = SYS_futex;
		e->object = 0x601000 + trace_below(4) * 64;
	} else {
		e->syscall = SYS_read;
		e->object = take_file();
	}
}

static uint32_t runnable_thread(void)
{
	uint32_t first = trace_below(THREADS);

	for (uint32_t i = 0; i < THREADS; i++)
		if (world.phase[1 + (first + i) % THREADS] == PHASE_RUNNABLE)
			return 1 + (first + i) % THREADS;
	return 0;
}

static void do_switch(void)
{
	uint32_t cpu = trace_below(CPUS), thread = world.running[cpu], next = runnable_thread();
	struct ev_sched_switch e = { .cpu = cpu, .next = next, .syscall = SYSCALL_NONE };

	if (!thread && !next)
		return;
	if (thread && trace_below(2))
		fill_wait(&e);
	if (thread && (e.state || trace_below(2))) {
		e.flags = SWITCH_HAS_STACK;
		e.stack = take_stack();
	}
	e.header = header_of(EV_SCHED_SWITCH, thread);
	trace_note(&e.header);
	if (thread)
		world.phase[thread] = e.state ? PHASE_BLOCKED : PHASE_RUNNABLE;
	if (next)
		world.phase[next] = PHASE_RUNNING;
	world.running[cpu] = next;
}

static void do_wake(void)
{
	uint32_t thread = 1 + trace_below(THREADS), waker = world.running[trace_below(CPUS)];
	struct ev_sched_wake e = { .waker = waker, .syscall = SYS_futex };

	if (world.phase[thread] != PHASE_BLOCKED)
		return;
	e.tid = waker ? 100 + waker : trace_below(2) ? take_other() : 0;
	e.pid = waker ? 100 : e.tid ? 500 : 0;
	e.context = e.tid ? WAKE_THREAD : WAKE_SOFTIRQ;
	if (waker) {
		e.flags = WAKE_HAS_STACK;
		e.stack = take_stack();
	}
	e.header = header_of(EV_SCHED_WAKE, thread);
	trace_note(&e.header);
	world.phase[thread] = PHASE_RUNNABLE;
}

static void do_sample(void)
{
	uint32_t thread = world.running[trace_below(CPUS)];
	struct ev_sched_sample e = { .ip = 0x401000 + trace_below(STACKS) * 16 };

	if (!thread)
		return;
	e.header = header_of(EV_SCHED_SAMPLE, thread);
	trace_note(&e.header);
}

static void put_run(void)
{
	struct {
		struct ev_collect_run e;
		uint8_t data[24];
	} e = { { .sample_period_ns = 3000000, .cpu_count = CPUS, .pid_count = 1, .text_bytes = 17 },
		"\x64\0\0\0command\0h\0kernel" };

	e.e.header = header_of(EV_COLLECT_RUN, 0);
	trace_note(&e.e.header);
}

static void put_threads(void)
{
	for (uint32_t thread = 1; thread <= THREADS; thread++) {
		struct ev_thread_born e = {
			.header = header_of(EV_THREAD_BORN, thread),
			.tid = 100 + thread,
			.pid = 100,
			.ns_tid = 100 + thread,
			.ns_pid = 100,
			.start_ns = thread,
			.name = "worker",
		};

		e.name[6] = '0' + thread;
		trace_note(&e.header);
		world.phase[thread] = PHASE_RUNNABLE;
	}
}

static void put_end(void)
{
	struct ev_collect_end e = { .exit_status = 0 };

	e.header = header_of(EV_COLLECT_END, 0);
	e.ended_ns = e.header.time_ns;
	trace_note(&e.header);
}

static void make_schedule(uint64_t seed)
{
	memset(&world, 0, sizeof(world));
	trace_seed = seed;
	put_run();
	put_threads();
	for (int i = 0; i < STEPS; i++) {
		world.now_ns += trace_below(10) ? trace_below(5000) : trace_below(2000000);
		switch (trace_below(8)) {
		case 0:
			do_sample();
			break;
		case 1:
		case 2:
		case 3:
			do_wake();
			break;
		default:
			do_switch();
		}
	}
	put_end();
}

/* --- Two traces of it ----------------------------------------------------------------------- */

static void record_ring(const struct trace_ring_options *ring)
{
	struct trace_writer_counts counts;
	struct recorder *recorder;
	struct engine engine;

	CHECK(!engine_open(&engine, &(struct engine_options){ .stream_count = 1, .is_offline = true }));
	CHECK(!recorder_open(&engine, trace_path, ring, &recorder));
	for (size_t i = 0; i < trace_written.count; i++)
		session_hand_out(engine.session, trace_event(i));
	CHECK(!recorder_finish(recorder, &counts));
	recorder_close(recorder);
	engine_close(&engine);
}

static void write_event(void *data, const struct ev_header *header)
{
	trace_writer_event(data, header);
}

static void record_from(const char *path, size_t begin)
{
	struct prologue *prologue = prologue_new();
	struct prologue_out out = { .emit = write_event };
	struct trace_writer *writer;

	CHECK(!trace_writer_open(path, &writer));
	out.data = writer;
	for (size_t i = 0; i < trace_written.count; i++) {
		if (i == begin)
			prologue_begin(prologue, trace_event(i)->time_ns, &out);
		if (i >= begin) {
			prologue_refer(prologue, trace_event(i), &out);
			trace_writer_event(writer, trace_event(i));
		}
		prologue_follow(prologue, trace_event(i), i >= begin);
	}
	CHECK(!trace_writer_close(writer));
	prologue_free(prologue);
}

/* Of the ring: what it begins with gives the time of the event that comes then. */
static size_t find_begin(void)
{
	const struct ev_header *header;
	struct trace_reader *reader;
	size_t i = 0;

	CHECK(!trace_reader_open(trace_path, &reader));
	CHECK(trace_reader_extent(reader)->begins_late);
	CHECK_EQUAL(trace_reader_next(reader, &header), 1);
	CHECK_EQUAL(header->subsys, TRACE_SUBSYS_COLLECT);
	CHECK_EQUAL(header->event, TRACE_EVENT_COLLECT_RUN);
	while (trace_event(i)->time_ns != header->time_ns)
		CHECK_THAT(++i, <, trace_written.count);
	trace_reader_close(reader);
	return i;
}

/* The report as JSON, except for its notes, which are for the caller. */
static json_t *report_of(const char *path, json_t **notes)
{
	struct findings *findings;
	struct text text = { 0 };
	struct replay *replay;
	json_t *report;

	CHECK(!replay_open(path, &(struct replay_options){ 0 }, &replay));
	findings = replay_findings(replay, SIZE_MAX);
	json_view.show(findings_report(findings), &(struct view_style){ 0 }, &text);
	report = json_loads(text.bytes, 0, NULL);
	CHECK(report);
	*notes = json_incref(json_object_get(report, "notes"));
	json_object_del(report, "notes");
	text_fini(&text);
	findings_free(findings);
	replay_close(replay);
	return report;
}

static void check_reports(const char *ring_path, const char *plain_path)
{
	json_t *ring_notes, *plain_notes;
	json_t *ring = report_of(ring_path, &ring_notes), *plain = report_of(plain_path, &plain_notes);

	CHECK(json_equal(ring, plain));
	CHECK_EQUAL(json_array_size(ring_notes), json_array_size(plain_notes) + 1);
	json_decref(ring);
	json_decref(plain);
	json_decref(ring_notes);
	json_decref(plain_notes);
}

static void check_recorder(const struct trace_ring_options *ring, uint64_t seed)
{
	char path[64];
	size_t begin;

	trace_begin();
	snprintf(path, sizeof(path), "%s.from", trace_path);
	make_schedule(seed);
	record_ring(ring);
	begin = find_begin();
	CHECK_THAT(begin, >, 100);
	CHECK_THAT(begin, <, trace_written.count - 100);
	record_from(path, begin);
	check_reports(trace_path, path);
	CHECK(!unlink(path));
	trace_end();
}

TEST(the_report_of_a_ring_is_that_of_a_trace_begun_then)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		check_recorder(&(struct trace_ring_options){ RING_BYTES, 0 }, seed);
}

TEST(the_report_of_the_last_time_is_that_of_a_trace_begun_then)
{
	for (uint64_t seed = 11; seed <= 18; seed++)
		check_recorder(&(struct trace_ring_options){ 0, 500000000 }, seed);
}

TEST(the_shorter_of_both_counts)
{
	check_recorder(&(struct trace_ring_options){ RING_BYTES, 100000000 }, 21);
	check_recorder(&(struct trace_ring_options){ RING_BYTES, 100000000000 }, 22);
}
