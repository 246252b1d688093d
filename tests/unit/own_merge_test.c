/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of events become one stream in the order of time, whatever their lengths, whenever they come, and nothing gets lost. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "collect/own/own_merge.h"
#include "session/session.h"

enum { RUNS = 7, EVENTS = 60000 };

static struct session *session;
static struct own_merge *merge;
static struct own_run *runs[RUNS];
static uint64_t last_ns, count, marks[RUNS + 1];

static void on_wake(void *data, const struct ev_header *header)
{
	(void)data;
	CHECK(header->time_ns >= last_ns);
	last_ns = header->time_ns;
	count++;
	/* In a run, one after the other. */
	CHECK_EQUAL(((const struct ev_sched_wake *)header)->tid, ++marks[header->thread]);
}

static const struct event_handler handlers[] = { { EV_SCHED_WAKE, on_wake }, { 0, NULL } };

static void begin(size_t bytes_max)
{
	session = session_new(1, bytes_max);
	session_subscribe(session, handlers, NULL);
	merge = own_merge_new(session, 0);
	for (uint32_t i = 0; i < RUNS; i++)
		runs[i] = own_merge_begin(merge);
	last_ns = count = 0;
	memset(marks, 0, sizeof(marks));
	srandom(1);
}

static void end(void)
{
	own_merge_free(merge);
	session_free(session);
}

static void add(uint32_t run, uint64_t time_ns, uint32_t mark)
{
	struct ev_sched_wake e = {
		.header = { .time_ns = time_ns,
			    .thread = run,
			    .subsys = TRACE_SUBSYS_SCHED,
			    .event = TRACE_EVENT_SCHED_WAKE },
		.tid = mark,
	};

	own_merge_add(merge, runs[run], &e, sizeof(e));
}

TEST(runs_far_longer_than_what_a_session_puts_in_order_by_itself)
{
	begin(64 << 20);
	for (uint32_t run = 0; run < RUNS; run++)
		for (uint32_t i = 1; i <= EVENTS / RUNS; i++)
			add(run, 100ull * i + run, i);
	CHECK_EQUAL(own_merge_push(merge, UINT64_MAX), UINT64_MAX);
	CHECK_EQUAL(own_merge_count(merge), 0);
	CHECK_EQUAL(own_merge_bytes(merge), 0);
	session_finish(session);
	CHECK_EQUAL(count, EVENTS / RUNS * RUNS);
	CHECK_EQUAL(session_counts(session).late, 0);
	end();
}

/* Each round a run gets what it has up to a moment of its own, which is not before that of the round. */
TEST(rounds_that_end_at_different_times_in_each_run)
{
	uint64_t times[RUNS] = { 0 }, added = 0;
	uint32_t next[RUNS] = { 0 };

	begin(64 << 20);
	for (uint64_t round_ns = 1000; round_ns <= 1000000; round_ns += 1000) {
		for (uint32_t run = 0; run < RUNS; run++) {
			uint64_t until_ns = round_ns + random() % 3000;

			while (times[run] < until_ns && random() % 50) {
				times[run] += random() % 100;
				add(run, times[run], ++next[run]);
				added++;
			}
			if (times[run] < round_ns)
				times[run] = round_ns;
		}
		CHECK_EQUAL(own_merge_push(merge, round_ns), round_ns);
		session_advance(session, round_ns);
	}
	for (uint32_t run = 0; run < RUNS; run++)
		own_merge_end(runs[run]);
	own_merge_push(merge, UINT64_MAX);
	own_merge_push(merge, UINT64_MAX);
	session_finish(session);
	CHECK_EQUAL(count, added);
	CHECK(added > EVENTS / RUNS);
	CHECK_EQUAL(session_counts(session).late, 0);
	end();
}

TEST(what_a_session_has_no_space_for_is_kept)
{
	uint64_t until_ns = 0, rounds = 0;

	begin(16 << 10);
	for (uint32_t i = 1; i <= EVENTS; i++)
		add(3, i, i);
	while (until_ns != UINT64_MAX) {
		until_ns = own_merge_push(merge, UINT64_MAX);
		session_advance(session, until_ns);
		rounds++;
	}
	session_finish(session);
	CHECK_EQUAL(count, EVENTS);
	CHECK(rounds > 10);
	end();
}
