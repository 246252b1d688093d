/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes are called, and for how long. */
#include "test.h"

#include <stdio.h>

#include "activity/event_context.h"
#include "session/session.h"
#include "session/threads.h"

static struct session *session;
static struct threads *threads;
static struct event_context *context;
static uint64_t now_ns;

static void begin(void)
{
	now_ns = 0;
	session = session_new(1, 1 << 20);
	threads = threads_new(session);
	context = event_context_new(session, threads, false);
}

static void end(void)
{
	event_context_free(context);
	threads_free(threads);
	session_free(session);
}

static struct ev_header header_of(enum event_id id, uint32_t thread)
{
	return (struct ev_header){ .time_ns = ++now_ns, .thread = thread, .subsys = id >> 16, .event = id & 0xffff };
}

static void bear(uint32_t thread, uint32_t tid, uint32_t pid, const char *name)
{
	struct ev_thread_born e = { .header = header_of(EV_THREAD_BORN, thread), .tid = tid, .pid = pid };

	snprintf(e.name, sizeof(e.name), "%s", name);
	session_hand_out(session, &e.header);
}

static void name_program(uint32_t pid, const char *program)
{
	struct ev_user_program e = { .header = header_of(EV_USER_PROGRAM, 0), .pid = pid };

	snprintf(e.program, sizeof(e.program), "%s", program);
	session_hand_out(session, &e.header);
}

TEST(a_process_is_called_what_it_calls_itself_until_it_is_another_one)
{
	struct ev_thread_exec exec;

	begin();
	CHECK_STRING(event_context_application(context, 500), "");
	bear(1, 500, 500, "sh");
	CHECK_STRING(event_context_application(context, 500), "sh");
	name_program(500, "a-name-longer-than-a-thread-has");
	bear(2, 501, 500, "worker");
	CHECK_STRING(event_context_application(context, 500), "a-name-longer-than-a-thread-has");
	CHECK_STRING(event_context_process(context, 500), "sh");
	exec = (struct ev_thread_exec){ .header = header_of(EV_THREAD_EXEC, 1), .tid = 500, .name = "true" };
	session_hand_out(session, &exec.header);
	CHECK_STRING(event_context_application(context, 500), "true");
	end();
}

TEST(another_process_with_the_same_id_has_names_of_its_own)
{
	begin();
	bear(1, 500, 500, "server");
	name_program(500, "application");
	bear(2, 500, 500, "child");
	CHECK_STRING(event_context_application(context, 500), "child");
	end();
}
