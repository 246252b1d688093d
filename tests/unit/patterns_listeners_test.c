/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When connections that wait, or are dropped, are a finding: what is one, and what is near it. */
#include "findings/patterns/draft.h"
#include "stacks/fold.h"
#include "test.h"

enum { MS = 1000000 };

static struct findings findings;
static struct draft draft;
static struct report_listener listener;
static struct report_thread thread;
static struct report_wait waits[2];
static const uint32_t number = 5;

static const struct report_frame frames[] = { { .function = "look_for_guests", .module = "shop" } };

/* Six seconds, in which bursts of connections overflow a short queue. */
static void begin(void)
{
	memset(&draft, 0, sizeof(draft));
	findings = (struct findings){ .arena = arena_new(), .input.fold = fold_rules_new() };
	listener = (struct report_listener){
		.pid = 812,
		.name = "shop",
		.address = "127.0.0.1:8080",
		.processes = 1,
		.capacity = 2,
		.looks = 60,
		.waiting_looks = 6,
		.full_looks = 1,
		.waiting = 0.1,
		.waiting_max = 2,
		.drops = 145,
		.dropping_ns = 3000ull * MS,
	};
	findings.report.target.wall_ns = 6000ull * MS;
	findings.report.balance.threads.busy_ns = 6000ull * MS;
	findings.report.listeners = &listener;
	findings.report.listener_count = 1;
}

static void end(void)
{
	fold_rules_free((struct fold_rules *)findings.input.fold);
	arena_free(findings.arena);
}

static size_t found(void)
{
	patterns_add_listeners(&findings, &draft);
	return draft.count;
}

TEST(a_queue_that_overflows_is_named_with_what_it_holds)
{
	begin();
	CHECK_EQUAL(found(), 1);
	CHECK_EQUAL(draft.rows[0].pattern, PATTERN_ACCEPT_QUEUE);
	CHECK_STRING(draft.rows[0].title,
		     "connections to shop (812) at 127.0.0.1:8080 were dropped 145 times: its accept queue holds 2");
	CHECK(draft.rows[0].share == 0.5);
	CHECK(draft.rows[0].listener == &listener && draft.rows[0].object == listener.address);
	CHECK_EQUAL(draft.rows[0].evidence_count, 2);
	CHECK(!patterns_is_slow_to_accept(&listener));
	end();
}

TEST(a_few_drops_are_none)
{
	begin();
	listener.drops = 2;
	CHECK(!found());
	listener.drops = 3;
	listener.dropping_ns = 100 * MS;
	CHECK(!found());
	listener.dropping_ns = 300 * MS;
	CHECK_EQUAL(found(), 1);
	end();
}

/* The kernel counts packets of connections that are gone, too. */
TEST(a_long_queue_that_nobody_was_seen_in_has_not_overflown)
{
	begin();
	listener.capacity = 512;
	listener.drops = 37;
	listener.waiting = 0;
	listener.waiting_looks = listener.full_looks = listener.waiting_max = 0;
	CHECK(!found());
	listener.drops = 600;
	CHECK_EQUAL(found(), 1);
	end();
}

TEST(where_drops_alone_are_seen_it_says_that_they_came_in_bursts)
{
	begin();
	CHECK_EQUAL(found(), 1);
	CHECK_STRING(draft.rows[0].evidence[1],
		     "at 6 of 60 looks connections waited, 0.1 on average and 2 at most; 2 can wait");
	listener.waiting_looks = listener.full_looks = listener.waiting_max = 0;
	CHECK_EQUAL(found(), 2);
	CHECK_STRING(draft.rows[1].evidence[1],
		     "at none of 60 looks connections waited: they come in bursts; 2 can wait");
	end();
}

TEST(the_share_is_no_more_than_all)
{
	begin();
	listener.dropping_ns = 6050ull * MS;
	CHECK_EQUAL(found(), 1);
	CHECK(draft.rows[0].share == 1);
	end();
}

TEST(a_queue_in_which_some_always_wait_is_accepted_from_too_slowly)
{
	begin();
	listener.waiting_looks = 45;
	listener.waiting = 2.5;
	listener.drops = 0;
	CHECK_EQUAL(found(), 1);
	CHECK_STRING(draft.rows[0].title,
		     "connections wait for shop (812) at 127.0.0.1:8080 to accept them: 2.5 on average");
	CHECK(draft.rows[0].share == 0.75);
	CHECK(patterns_is_slow_to_accept(&listener));
	end();
}

TEST(a_few_looks_say_nothing_of_how_long_connections_wait)
{
	begin();
	listener.looks = 7;
	listener.waiting_looks = 7;
	listener.drops = 0;
	CHECK(!found());
	end();
}

TEST(what_makes_it_slow_to_accept_is_the_finding_and_the_queue_its_evidence)
{
	begin();
	listener.waiting_looks = 60;
	listener.waiting = 2.5;
	draft_add(&findings, &draft, PATTERN_CONTENDED_LOCK, CAUSE_LOCK, 0.3, "a lock");
	CHECK_EQUAL(found(), 1);
	CHECK_EQUAL(draft.rows[0].evidence_count, 1);
	CHECK_STRING(
		draft.rows[0].evidence[0],
		"meanwhile 2.5 connections on average wait for shop (812) at 127.0.0.1:8080 to accept them, and 145 "
		"attempts dropped");
	end();
}

TEST(a_small_finding_does_not_make_it_slow)
{
	begin();
	listener.waiting_looks = 60;
	draft_add(&findings, &draft, PATTERN_CONTENDED_LOCK, CAUSE_LOCK, 0.1, "a lock");
	CHECK_EQUAL(found(), 2);
	CHECK(!draft.rows[0].evidence_count);
	end();
}

TEST(what_takes_little_of_the_wall_time_does_not_make_it_slow_however_large_a_part_of_the_busy_time_it_is)
{
	begin();
	listener.waiting_looks = 60;
	findings.report.balance.threads.busy_ns = 600ull * MS;
	draft_add(&findings, &draft, PATTERN_CPU_WAIT, CAUSE_PREEMPTED, 0.9, "no CPU");
	CHECK_EQUAL(found(), 2);
	end();
}

TEST(bursts_are_a_finding_beside_any_other)
{
	begin();
	draft_add(&findings, &draft, PATTERN_CONTENDED_LOCK, CAUSE_LOCK, 0.9, "a lock");
	CHECK_EQUAL(found(), 2);
	end();
}

TEST(without_an_address_the_process_is_named)
{
	begin();
	listener.address = NULL;
	listener.name = "";
	CHECK_EQUAL(found(), 1);
	CHECK(strstr(draft.rows[0].title, "connections to a process (812) were dropped"));
	end();
}

/* Its only thread sleeps for five of the six seconds, and waits for connections in the rest. */
static void add_sleep(void)
{
	thread = (struct report_thread){ .host_pid = 812, .number = number, .thread_count = 1 };
	waits[0] = (struct report_wait){ .cause = CAUSE_SOCKET,
					 .object = "127.0.0.1:8080",
					 .wait_ns = 900ull * MS,
					 .threads = 1,
					 .waiters = &number };
	waits[1] = (struct report_wait){ .cause = CAUSE_SLEEP,
					 .wait_ns = 5000ull * MS,
					 .threads = 1,
					 .waiters = &number,
					 .frames = frames,
					 .frame_count = 1 };
	findings.report.threads = &thread;
	findings.report.waits = waits;
	findings.report.thread_count = 1;
	findings.report.wait_count = 2;
	listener.waiting_looks = 60;
}

TEST(what_the_thread_that_accepts_does_instead_is_named)
{
	begin();
	add_sleep();
	CHECK_EQUAL(found(), 1);
	CHECK_STRING(draft.rows[0].evidence[0], "meanwhile who accepts them waits: sleep in look_for_guests");
	CHECK_EQUAL(draft.rows[0].wait_rank, 2);
	end();
}

TEST(what_it_does_for_less_than_half_of_the_time_is_not_named)
{
	begin();
	add_sleep();
	waits[1].wait_ns = 2900ull * MS;
	CHECK_EQUAL(found(), 1);
	CHECK(!draft.rows[0].wait_rank && draft.rows[0].evidence_count == 1);
	end();
}

TEST(of_several_threads_the_one_that_waited_for_connections_accepts)
{
	static const uint32_t both[] = { 5, 6 };
	static struct report_thread threads[2];

	begin();
	add_sleep();
	threads[0] = threads[1] = thread;
	threads[0].number = 6;
	findings.report.threads = threads;
	findings.report.thread_count = 2;
	waits[1].waiters = &both[1];
	CHECK_EQUAL(found(), 1);
	CHECK(!draft.rows[0].wait_rank);
	waits[1].waiters = both;
	waits[1].threads = 2;
	waits[1].wait_ns = 8000ull * MS;
	CHECK_EQUAL(found(), 2);
	CHECK_EQUAL(draft.rows[1].wait_rank, 2);
	end();
}
