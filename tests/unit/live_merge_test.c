/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions that trace a thread each, on one CPU that changes between these: merged while they grow, and at the end that was asked for,
 * however much later each of them comes to its own.
 */
#include "test.h"

#include <unistd.h>

#include "derive/live_merge.h"
#include "session/event_kinds.h"
#include "trace/trace_format.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"
#include "values.h"

enum { SESSIONS = 4, SEEDS = 300, BEGIN = 1000, LENGTH_NS_MAX = 10000, LATER_NS_MAX = 3000 };

static char paths[SESSIONS + 1][32];
static struct trace_writer *writers[SESSIONS];
static uint64_t ends[SESSIONS];
static uint32_t random_state;

static uint32_t pick(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint64_t)random_state * below >> 32;
}

static uint32_t tid_of(uint32_t session)
{
	return 100 + session;
}

static struct ev_header header_of(enum event_id id, uint64_t time_ns, uint32_t thread)
{
	return (struct ev_header){ .subsys = id >> 16, .event = id & 0xffff, .time_ns = time_ns, .thread = thread };
}

static bool is(const struct ev_header *header, enum event_id id)
{
	return (uint32_t)(header->subsys << 16 | header->event) == id;
}

static struct trace_writer *open_trace(size_t number)
{
	static const char info[] =
		"{\"pinch\":\"test\",\"host\":\"host\",\"boot_id\":\"a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0\",\"clock\":0}";
	struct trace_writer *writer;

	strcpy(paths[number], "/tmp/live_merge_test.XXXXXX");
	close(mkstemp(paths[number]));
	CHECK(!trace_writer_open(paths[number], &writer));
	trace_writer_chunk(writer, TRACE_CHUNK_INFO, info, sizeof(info) - 1, NULL);
	return writer;
}

static void put_beginning(uint32_t session)
{
	struct {
		struct ev_collect_run run;
		char text[8];
	} run = { .run = { .header = header_of(EV_COLLECT_RUN, BEGIN, 0), .cpu_count = 1, .text_bytes = 3 } };
	struct ev_header list[] = { header_of(EV_COLLECT_SYNC_BEGIN, BEGIN, 0),
				    header_of(EV_COLLECT_SYNC_END, BEGIN, 0) };
	struct ev_thread_found found = {
		.header = header_of(EV_THREAD_FOUND, BEGIN, 1),
		.tid = tid_of(session),
		.pid = tid_of(session),
		.phase = session ? PHASE_RUNNABLE : PHASE_RUNNING,
		.name = "thread",
	};

	trace_writer_event(writers[session], &run.run.header);
	trace_writer_event(writers[session], &list[0]);
	trace_writer_event(writers[session], &found.header);
	trace_writer_event(writers[session], &list[1]);
}

/* As the session has it: its thread by number, others by their ids. */
static void put_switch(uint32_t session, uint64_t time_ns, uint32_t from, uint32_t to)
{
	struct ev_sched_switch e = {
		.header = header_of(EV_SCHED_SWITCH, time_ns, from == session),
		.next = to == session,
		.state = from == session ? SWITCH_RUNNABLE : 0,
		.syscall = SYSCALL_NONE,
	};

	if (from == session)
		e.value = tid_of(to);
	else
		e.value = tid_of(from);
	if (from != session && to != session)
		e.object = tid_of(to);
	if (time_ns <= ends[session])
		trace_writer_event(writers[session], &e.header);
}

/* Returns how many switches there are up to end_ns. */
static size_t put_switches(uint64_t end_ns)
{
	uint64_t time_ns = BEGIN;
	uint32_t running = 0;
	size_t before = 0;

	while (time_ns < end_ns + LATER_NS_MAX) {
		uint32_t next = (running + 1 + pick(SESSIONS - 1)) % SESSIONS;

		time_ns += 1 + pick(100);
		for (uint32_t i = 0; i < SESSIONS; i++)
			put_switch(i, time_ns, running, next);
		running = next;
		before += time_ns <= end_ns;
	}
	return before;
}

static void put_end(uint32_t session)
{
	struct ev_collect_end end = {
		.header = header_of(EV_COLLECT_END, ends[session], 0),
		.ended_ns = ends[session],
		.exit_status = UINT32_MAX,
	};

	trace_writer_event(writers[session], &end.header);
	CHECK(!trace_writer_close(writers[session]));
}

static size_t make_sessions(uint64_t end_ns)
{
	size_t count;

	for (uint32_t i = 0; i < SESSIONS; i++) {
		writers[i] = open_trace(i);
		ends[i] = end_ns + pick(LATER_NS_MAX);
		put_beginning(i);
	}
	count = put_switches(end_ns);
	for (uint32_t i = 0; i < SESSIONS; i++)
		put_end(i);
	return count;
}

static void merge_sessions(uint64_t end_ns)
{
	struct trace_writer *writer = open_trace(SESSIONS);
	struct live_merge *merge = live_merge_new(writer);

	for (uint32_t i = 0; i < SESSIONS; i++)
		CHECK_EQUAL(live_merge_add(merge, paths[i], "session"), (int)i);
	live_merge_step(merge, BEGIN + pick(end_ns - BEGIN), end_ns);
	for (uint32_t i = 0; i < SESSIONS; i++)
		live_merge_end(merge, i);
	live_merge_finish(merge, end_ns, end_ns + LATER_NS_MAX);
	live_merge_free(merge);
	CHECK(!trace_writer_close(writer));
}

/* Who leaves the CPU is who has got it. Returns the number of switches. */
static size_t check_merged(uint64_t end_ns)
{
	const struct ev_header *header;
	struct trace_reader *reader;
	uint32_t running = 0;
	size_t count = 0;
	bool is_ended = false;

	CHECK(!trace_reader_open(paths[SESSIONS], &reader));
	while (trace_reader_next(reader, &header) == 1) {
		CHECK_THAT(header->time_ns, <=, end_ns);
		if (is(header, EV_THREAD_FOUND) && ((const struct ev_thread_found *)header)->phase == PHASE_RUNNING)
			running = header->thread;
		if (is(header, EV_COLLECT_END)) {
			CHECK_EQUAL(((const struct ev_collect_end *)header)->ended_ns, end_ns);
			is_ended = true;
		}
		if (!is(header, EV_SCHED_SWITCH))
			continue;
		CHECK_EQUAL(header->thread, running);
		running = ((const struct ev_sched_switch *)header)->next;
		count++;
	}
	CHECK(is_ended);
	trace_reader_close(reader);
	return count;
}

TEST(sessions_that_come_to_their_ends_after_the_end_that_was_asked_for)
{
	for (random_state = 1; random_state <= SEEDS; random_state++) {
		uint32_t seed = random_state;
		uint64_t end_ns = BEGIN + 1 + pick(LENGTH_NS_MAX);
		size_t count = make_sessions(end_ns);

		merge_sessions(end_ns);
		CHECK_EQUAL(check_merged(end_ns), count);
		for (size_t i = 0; i <= SESSIONS; i++)
			unlink(paths[i]);
		random_state = seed;
	}
}
