/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of programs' own as a session's stream has them. This process is the program. */
#include "test.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "area/area.h"
#include "base/clock.h"
#include "collect/own/own_areas.h"
#include "pinchtrace.h"
#include "session/session.h"
#include "session/threads.h"
#include "symbol/symbol.h"

enum { NET = 1, STREAM_OF_KERNEL = 0, STREAM_OF_PROGRAMS = 1, STREAMS = 2 };

static struct {
	struct session *session;
	struct threads *threads;
	struct symbols *symbols;
	struct own_areas *areas;
	uint64_t first_argument, count, time_ns, programs;
} w;

static void on_own(void *data, const struct ev_header *header)
{
	const struct ev_user_event *e = (const struct ev_user_event *)header;

	(void)data;
	if (!w.count++)
		w.first_argument = e->argument;
	w.time_ns = header->time_ns;
}

static void on_program(void *data, const struct ev_header *header)
{
	(void)data;
	w.programs += ((const struct ev_user_program *)header)->pid == (uint32_t)getpid();
}

static void begin(void)
{
	static const struct event_handler handlers[] = { { EV_USER_EVENT, on_own },
							 { EV_USER_PROGRAM, on_program },
							 { 0, NULL } };

	w.count = w.programs = 0;
	w.session = session_new(STREAMS, 1 << 20);
	w.threads = threads_new(w.session);
	w.symbols = symbols_new(w.session);
	w.areas = own_areas_new(w.session, STREAM_OF_PROGRAMS, w.symbols, w.threads);
	session_subscribe(w.session, handlers, NULL);
}

static void end(void)
{
	own_areas_free(w.areas);
	symbols_free(w.symbols);
	threads_free(w.threads);
	session_free(w.session);
}

/* This process lived when tracing began; that is what the stream has last. When that was. */
static uint64_t find_this(void)
{
	struct ev_thread_found e = {
		.header = { .time_ns = clock_ns(),
			    .thread = 1,
			    .subsys = TRACE_SUBSYS_THREAD,
			    .event = TRACE_EVENT_THREAD_FOUND },
		.tid = getpid(),
		.pid = getpid(),
		.ns_pid = getpid(),
		.ns_tid = getpid(),
	};

	CHECK_EQUAL(session_push(w.session, STREAM_OF_KERNEL, &e, sizeof(e)), 0);
	session_advance(w.session, e.header.time_ns + 1);
	CHECK_EQUAL(session_time_ns(w.session), e.header.time_ns);
	return e.header.time_ns;
}

/* Whether areas of others can be found at all. */
static bool can_look(void)
{
	return !geteuid();
}

TEST(of_a_program_that_lived_already_events_count_from_the_streams_last_one_on)
{
	uint64_t found_ns;

	if (!can_look())
		skip();
	begin();
	trace_event(NET, 1, 1);
	usleep(1000);
	found_ns = find_this();
	usleep(1000);
	/* It is looked at later than that, as the engine is busy. */
	trace_event(NET, 1, 2);
	trace_event(NET, 1, 3);
	usleep(1000);
	own_areas_take(w.areas, UINT64_MAX);
	own_areas_take(w.areas, UINT64_MAX);
	session_finish(w.session);
	CHECK_EQUAL(w.programs, 1);
	CHECK_EQUAL(w.count, 2);
	CHECK_EQUAL(w.first_argument, 2);
	CHECK_THAT(w.time_ns, >, found_ns);
	CHECK_EQUAL(session_counts(w.session).late, 0);
	end();
}
