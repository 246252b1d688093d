/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "session/session.h"
#include "session/threads.h"
#include "values.h"

static struct ev_header header_of(enum event_id id, uint64_t time_ns, uint32_t thread)
{
	return (struct ev_header){
		.time_ns = time_ns,
		.thread = thread,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};
}

static void born(struct session *session, uint32_t number, uint32_t parent, uint32_t tid, uint32_t pid,
		 const char *name)
{
	struct ev_thread_born e = {
		.header = header_of(EV_THREAD_BORN, 100 * number, number),
		.parent = parent,
		.tid = tid,
		.pid = pid,
		.ns_tid = tid - 1000,
		.ns_pid = pid - 1000,
		.start_ns = 5,
	};

	memset(e.name, 'x', sizeof(e.name)); /* as the kernel leaves it behind the NUL */
	memcpy(e.name, name, strnlen(name, sizeof(e.name) - 1) + 1);
	session_push(session, 0, &e, sizeof(e));
}

static void exec(struct session *session, uint64_t time_ns, uint32_t number, uint32_t tid)
{
	struct ev_thread_exec e = {
		.header = header_of(EV_THREAD_EXEC, time_ns, number),
		.tid = tid,
		.name = "after",
	};

	session_push(session, 0, &e, sizeof(e));
}

TEST(a_birth_reports_who_a_thread_is)
{
	struct session *session = session_new(1, 4096);
	struct threads *threads = threads_new(session);
	const struct thread *thread;

	born(session, 3, 0, 1003, 1001, "worker");
	session_finish(session);
	thread = threads_get(threads, 3);
	CHECK_EQUAL(thread->number, 3);
	CHECK_EQUAL(thread->tid, 1003);
	CHECK_EQUAL(thread->pid, 1001);
	CHECK_EQUAL(thread->ns_tid, 3);
	CHECK_EQUAL(thread->ns_pid, 1);
	CHECK_EQUAL(thread->start_ns, 5);
	CHECK_EQUAL(thread->born_ns, 300);
	CHECK(!thread->was_found);
	CHECK_STRING(thread->name, "worker");
	threads_free(threads);
	session_free(session);
}

TEST(a_name_without_an_end_is_cut)
{
	struct session *session = session_new(1, 4096);
	struct threads *threads = threads_new(session);
	struct ev_thread_name e = { .header = header_of(EV_THREAD_NAME, 1, 1) };

	memset(e.name, 'y', sizeof(e.name));
	session_push(session, 0, &e, sizeof(e));
	session_finish(session);
	CHECK_STRING(threads_get(threads, 1)->name, "yyyyyyyyyyyyyyy");
	threads_free(threads);
	session_free(session);
}

TEST(a_thread_is_found_once_and_updated_by_a_resync)
{
	struct session *session = session_new(1, 4096);
	struct threads *threads = threads_new(session);
	struct ev_thread_found e = {
		.header = header_of(EV_THREAD_FOUND, 50, 1),
		.tid = 9,
		.pid = 8,
		.name = "before",
	};

	session_push(session, 0, &e, sizeof(e));
	session_finish(session);
	CHECK(threads_get(threads, 1)->was_found);
	CHECK_EQUAL(threads_get(threads, 1)->born_ns, 50);
	born(session, 2, 1, 10, 8, "child");
	e.header = header_of(EV_THREAD_FOUND, 500, 2);
	strcpy(e.name, "renamed");
	session_push(session, 0, &e, sizeof(e));
	session_finish(session);
	CHECK(!threads_get(threads, 2)->was_found);
	CHECK_EQUAL(threads_get(threads, 2)->parent, 1);
	CHECK_STRING(threads_get(threads, 2)->name, "renamed");
	threads_free(threads);
	session_free(session);
}

static void title(struct session *session, uint64_t time_ns, uint32_t number, const char *text)
{
	struct ev_thread_title e = { .header = header_of(EV_THREAD_TITLE, time_ns, number) };

	memcpy(e.title, text, strnlen(text, sizeof(e.title)));
	session_push(session, 0, &e, sizeof(e));
}

TEST(a_title_is_of_a_thread_that_is_known_and_the_last_one_counts)
{
	struct session *session = session_new(1, 4096);
	struct threads *threads = threads_new(session);
	char endless[sizeof(((struct ev_thread_title *)NULL)->title) + 1];

	memset(endless, 'x', sizeof(endless));
	endless[sizeof(endless) - 1] = '\0';
	born(session, 1, 0, 1001, 1001, "postgres");
	born(session, 2, 0, 1002, 1002, "postgres");
	title(session, 300, 1, "postgres");
	title(session, 400, 1, "postgres: checkpointer");
	title(session, 500, 2, endless);
	title(session, 600, 3, "nobody");
	session_finish(session);
	CHECK_STRING(threads_get(threads, 1)->title, "postgres: checkpointer");
	CHECK_STRING(threads_get(threads, 2)->title, endless);
	CHECK(!threads_get(threads, 3)->title);
	threads_free(threads);
	session_free(session);
}

TEST(an_exec_takes_over_the_id_of_its_process)
{
	struct session *session = session_new(1, 4096);
	struct threads *threads = threads_new(session);
	const struct thread *thread = threads_get(threads, 2);

	born(session, 1, 0, 1001, 1001, "leader");
	born(session, 2, 1, 1002, 1001, "second");
	exec(session, 1000, 2, 1001);
	session_finish(session);
	CHECK_EQUAL(thread->tid, 1001);
	CHECK_EQUAL(thread->pid, 1001);
	CHECK_EQUAL(thread->exec_count, 1);
	CHECK_EQUAL(thread->ns_tid, 1);
	CHECK_STRING(thread->name, "after");
	threads_free(threads);
	session_free(session);
}

TEST(threads_of_one_address_space_count_the_same_execs)
{
	struct session *session = session_new(1, 4096);
	struct threads *threads = threads_new(session);

	born(session, 1, 0, 1001, 1001, "leader");
	exec(session, 200, 1, 1001);
	born(session, 3, 1, 1002, 1001, "thread");
	born(session, 4, 1, 1003, 1003, "process");
	session_finish(session);
	CHECK_EQUAL(threads_get(threads, 3)->exec_count, 1);
	CHECK_EQUAL(threads_get(threads, 4)->exec_count, 0);
	threads_free(threads);
	session_free(session);
}

TEST(a_thread_that_was_never_reported_is_nameless)
{
	struct session *session = session_new(1, 4096);
	struct threads *threads = threads_new(session);
	struct thread *thread = threads_get(threads, 77);

	CHECK_EQUAL(thread->number, 77);
	CHECK(!*thread->name && !thread->pid);
	CHECK_EQUAL(threads_get(threads, 77), thread);
	threads_free(threads);
	session_free(session);
}

TEST(a_forgotten_thread_is_another_one_when_it_comes_back)
{
	struct session *session = session_new(1, 4096);
	struct threads *threads = threads_new(session);

	born(session, 1, 0, 1001, 1001, "a");
	born(session, 2, 0, 1002, 1002, "b");
	session_finish(session);
	threads_forget(threads, threads_get(threads, 1));
	CHECK(!*threads_get(threads, 1)->name);
	CHECK_STRING(threads_get(threads, 2)->name, "b");
	threads_free(threads);
	session_free(session);
}

TEST(number_0_is_no_thread)
{
	struct session *session = session_new(1, 4096);
	struct threads *threads = threads_new(session);

	born(session, 0, 0, 1001, 1001, "nobody");
	exec(session, 1, 0, 5);
	session_finish(session);
	CHECK(!*threads_get(threads, 0)->name);
	threads_free(threads);
	session_free(session);
}

/* --- Threads that are not traced -------------------------------------------------------------- */

static void leave(struct session *session, uint64_t time_ns, uint32_t number, uint8_t state)
{
	struct ev_sched_switch e = { .header = header_of(EV_SCHED_SWITCH, time_ns, number), .state = state };

	session_push(session, 0, &e, sizeof(e));
}

TEST(a_number_reports_who_is_not_traced_even_if_the_birth_was_lost)
{
	struct session *session = session_new(1, 4096);
	struct threads *threads = threads_new(session);

	born(session, THREAD_EXTERNAL | 3, 0, 1003, 1001, "worker");
	session_finish(session);
	CHECK(threads_get(threads, THREAD_EXTERNAL | 3)->is_outside);
	CHECK_STRING(threads_get(threads, THREAD_EXTERNAL | 3)->name, "worker");
	CHECK(threads_get(threads, THREAD_EXTERNAL | 4)->is_outside);
	CHECK(!threads_get(threads, 3)->is_outside);
	threads_free(threads);
	session_free(session);
}

TEST(of_those_who_are_not_traced_the_dead_are_forgotten_when_there_are_many)
{
	enum { MANY = 1 << 16 };
	struct session *session = session_new(1, 4096);
	struct threads *threads = threads_new(session);
	uint32_t number;

	for (uint32_t i = 1; i <= MANY; i++) {
		number = THREAD_EXTERNAL | i;
		born(session, number, 0, 1000 + i, 1000, "one");
		if (i % 2)
			leave(session, 100ull * number, number, SWITCH_DEAD);
		else
			leave(session, 100ull * number, number, SWITCH_SLEEPING);
		session_finish(session);
	}
	threads_get(threads, 1);
	threads_get(threads, THREAD_EXTERNAL | (MANY + 1));
	CHECK_EQUAL(threads_get(threads, THREAD_EXTERNAL | MANY)->tid, 1000 + MANY);
	CHECK_EQUAL(threads_get(threads, THREAD_EXTERNAL | 2)->tid, 1002);
	CHECK(!threads_get(threads, THREAD_EXTERNAL | 1)->tid);
	/* None of these is known to have died: all go. */
	for (uint32_t i = 0; i < MANY; i++)
		threads_get(threads, THREAD_EXTERNAL | (2 * MANY + i))->is_kept = i < 3;
	CHECK(!threads_get(threads, THREAD_EXTERNAL | 2)->tid);
	CHECK(threads_get(threads, THREAD_EXTERNAL | 2 * MANY)->is_kept);
	CHECK(!threads_get(threads, 1)->is_outside);
	threads_free(threads);
	session_free(session);
}
