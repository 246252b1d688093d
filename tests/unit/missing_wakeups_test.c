/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "session/session.h"
#include "waits/sums/missing_wakeups.h"

static struct session *session;
static struct missing_wakeups *missing;

static void begin(void)
{
	session = session_new(1, 1 << 20);
	missing = missing_wakeups_new(session);
}

static void end(void)
{
	missing_wakeups_free(missing);
	session_free(session);
}

static void push(enum event_id id, uint64_t time_ns, void *event, size_t size_bytes)
{
	struct ev_header *header = event;

	header->time_ns = time_ns;
	header->subsys = id >> 16;
	header->event = id & 0xffff;
	CHECK(!session_push(session, 0, event, size_bytes));
	session_advance(session, time_ns + 1);
}

static void hide(uint64_t begin_ns, uint64_t end_ns, uint16_t cpu)
{
	struct ev_sched_hidden e = { .begin_ns = begin_ns, .cpu = cpu };

	push(EV_SCHED_HIDDEN, end_ns, &e, sizeof(e));
}

static void switch_on(uint16_t cpu, uint64_t time_ns)
{
	struct ev_sched_switch e = { .cpu = cpu };

	push(EV_SCHED_SWITCH, time_ns, &e, sizeof(e));
}

static void lose(uint32_t cpu, uint64_t end_ns)
{
	struct ev_collect_gap e = { .cpu = cpu, .lost = 1 };

	push(EV_COLLECT_GAP, end_ns, &e, sizeof(e));
}

static enum missing_reason add(uint64_t begin_ns, uint64_t end_ns)
{
	return missing_wakeups_add(missing, MISSING_CHANGE, begin_ns, end_ns, NULL);
}

static uint64_t count(enum missing_reason reason)
{
	return missing_wakeups_count(missing, MISSING_CHANGE, reason);
}

TEST(a_hidden_thread_explains_what_was_while_it_had_a_cpu_and_nothing_else)
{
	begin();
	hide(100, 200, 0);
	CHECK_EQUAL(add(50, 99), MISSING_ODD);
	CHECK_EQUAL(add(50, 100), MISSING_HIDDEN);
	CHECK_EQUAL(add(120, 130), MISSING_HIDDEN);
	CHECK_EQUAL(add(50, 300), MISSING_HIDDEN);
	CHECK_EQUAL(add(200, 300), MISSING_HIDDEN);
	CHECK_EQUAL(add(201, 300), MISSING_ODD);
	CHECK_EQUAL(count(MISSING_ODD), 2);
	CHECK_EQUAL(count(MISSING_HIDDEN), 4);
	CHECK(!count(MISSING_LOST));
	end();
}

TEST(what_comes_to_light_later_explains_too)
{
	begin();
	CHECK_EQUAL(add(100, 200), MISSING_ODD);
	CHECK_EQUAL(add(300, 400), MISSING_ODD);
	hide(150, 250, 3);
	CHECK_EQUAL(count(MISSING_ODD), 1);
	CHECK_EQUAL(count(MISSING_HIDDEN), 1);
	hide(180, 260, 2);
	CHECK_EQUAL(count(MISSING_ODD), 1);
	CHECK_EQUAL(count(MISSING_HIDDEN), 1);
	end();
}

TEST(when_it_is_not_known_since_when_it_is_since_the_last_switch_of_that_cpu)
{
	begin();
	switch_on(1, 100);
	switch_on(0, 150);
	hide(0, 200, 1);
	CHECK_EQUAL(add(90, 99), MISSING_ODD);
	CHECK_EQUAL(add(110, 120), MISSING_HIDDEN);
	end();
}

TEST(records_that_were_lost_explain_what_was_since_the_last_switch_of_that_cpu)
{
	begin();
	switch_on(1, 100);
	CHECK_EQUAL(add(110, 120), MISSING_ODD);
	lose(1, 200);
	CHECK(!count(MISSING_ODD));
	CHECK_EQUAL(count(MISSING_LOST), 1);
	CHECK_EQUAL(add(90, 99), MISSING_ODD);
	CHECK_EQUAL(add(150, 160), MISSING_LOST);
	lose(UINT32_MAX, 300); /* a damaged record */
	end();
}

TEST(kinds_are_counted_apart)
{
	struct missing_wakeup *open;

	begin();
	CHECK_EQUAL(missing_wakeups_add(missing, MISSING_WAKER, 100, 200, &open), MISSING_ODD);
	CHECK(open);
	CHECK(!count(MISSING_ODD));
	hide(100, 200, 0);
	CHECK_EQUAL(missing_wakeups_add(missing, MISSING_WAKER, 100, 200, &open), MISSING_HIDDEN);
	CHECK(!open);
	CHECK_EQUAL(missing_wakeups_count(missing, MISSING_WAKER, MISSING_HIDDEN), 2);
	CHECK(!count(MISSING_HIDDEN));
	end();
}

TEST(of_many_cases_the_first_stay_odd_and_none_is_counted_twice)
{
	enum { CASES = 100000 };

	begin();
	for (uint64_t i = 1; i <= CASES; i++)
		add(10 * i, 10 * i + 5);
	hide(1, 10 * CASES + 10, 0);
	CHECK_THAT(count(MISSING_HIDDEN), >, 0);
	CHECK_THAT(count(MISSING_ODD), >, 0);
	CHECK_EQUAL(count(MISSING_HIDDEN) + count(MISSING_ODD), CASES);
	for (uint64_t i = 1; i <= CASES; i++)
		hide(100000 * i, 100000 * i + 1, 0);
	CHECK_EQUAL(add(15, 20), MISSING_ODD); /* the reason is forgotten */
	CHECK_EQUAL(add(100000ull * CASES, 100000ull * CASES), MISSING_HIDDEN);
	end();
}
