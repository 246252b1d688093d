/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whatever is put away, and wherever: another session hands out the same events in the same order. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/pause.h"
#include "session/backlog.h"
#include "session/session.h"

enum { SEEN_MAX = 40000, EVENTS = 30000, FRAMES_MAX = 60 };

static struct {
	uint32_t mark[SEEN_MAX];
	uint64_t time_ns[SEEN_MAX], sum[SEEN_MAX];
	size_t count;
} seen;

static struct session *from, *to;
static struct backlog *backlog;
static uint64_t gap_lost;
static unsigned int pauses;

/* All bytes of an event count. */
static uint64_t sum_of(const struct ev_header *header, size_t size_bytes)
{
	const uint8_t *bytes = (const uint8_t *)header;
	uint64_t sum = 0;

	for (size_t i = 0; i < size_bytes; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

static void see(const struct ev_header *header, size_t size_bytes)
{
	CHECK_THAT(seen.count, <, SEEN_MAX);
	CHECK_EQUAL((uintptr_t)header % 8, 0);
	seen.mark[seen.count] = header->thread;
	seen.time_ns[seen.count] = header->time_ns;
	seen.sum[seen.count++] = sum_of(header, size_bytes);
}

static void on_wake(void *data __attribute__((unused)), const struct ev_header *header)
{
	see(header, sizeof(struct ev_sched_wake));
}

static void on_frames(void *data __attribute__((unused)), const struct ev_header *header)
{
	const struct ev_stack_frames *e = (const void *)header;

	see(header, sizeof(*e) + e->user_count * sizeof(e->frames[0]));
}

static void on_gap(void *data __attribute__((unused)), const struct ev_header *header)
{
	gap_lost += ((const struct ev_collect_gap *)header)->lost;
}

static const struct event_handler handlers[] = {
	{ EV_SCHED_WAKE, on_wake },
	{ EV_STACK_FRAMES, on_frames },
	{ EV_COLLECT_GAP, on_gap },
	{ 0, NULL },
};

/* Says something of its own before the event goes on. */
static void on_wake_first(void *data __attribute__((unused)), const struct ev_header *header)
{
	struct ev_sched_wake e = { .header = *header };

	if (header->thread % 7)
		return;
	e.header.thread = header->thread + 1000000;
	e.header.thread += e.header.thread % 7 ? 0 : 1;
	session_hand_out(from, &e.header);
}

static const struct event_handler first[] = { { EV_SCHED_WAKE, on_wake_first }, { 0, NULL } };

static void begin(const struct backlog_limits *limits)
{
	seen.count = 0;
	gap_lost = 0;
	from = session_new(1, 1 << 20);
	to = session_new(1, 0);
	session_subscribe(from, first, NULL);
	session_subscribe(to, handlers, NULL);
	backlog = backlog_new(from, to, limits);
}

static void end(void)
{
	backlog_free(backlog);
	session_free(to);
	session_free(from);
}

static void hand_out(uint32_t mark)
{
	union {
		struct ev_stack_frames e;
		char bytes[sizeof(struct ev_stack_frames) + FRAMES_MAX * sizeof(uint64_t)];
	} stack = { 0 };
	struct ev_sched_wake wake = {
		.header = { .time_ns = mark,
			    .thread = mark,
			    .subsys = EV_SCHED_WAKE >> 16,
			    .event = EV_SCHED_WAKE & 0xffff },
	};

	if (mark % 3) {
		session_hand_out(from, &wake.header);
		return;
	}
	stack.e.header = wake.header;
	stack.e.header.subsys = EV_STACK_FRAMES >> 16;
	stack.e.header.event = EV_STACK_FRAMES & 0xffff;
	stack.e.user_count = mark * 2654435761u % FRAMES_MAX;
	for (uint32_t i = 0; i < stack.e.user_count; i++)
		stack.e.frames[i] = mark + i;
	session_hand_out(from, &stack.e.header);
}

static uint64_t run(const struct backlog_limits *limits, unsigned int seed)
{
	uint64_t hash = 0, in_file;

	begin(limits);
	srand(seed);
	for (uint32_t mark = 1; mark <= EVENTS; mark++) {
		int chance = seed ? rand() % 2000 : -1;

		if (!chance)
			backlog_catch_up(backlog, 0, NULL);
		else if (chance >= 4 && chance < 12)
			backlog_catch_up(backlog, 1, NULL); /* some of them */
		else if (chance > 0 && chance < 4)
			backlog_set_deferring(backlog, chance > 1, NULL);
		hand_out(mark);
	}
	backlog_set_deferring(backlog, false, NULL);
	CHECK(backlog_is_empty(backlog));
	CHECK_THAT(seen.count, >, EVENTS);
	CHECK_EQUAL(gap_lost, 0);
	for (size_t i = 0; i < seen.count; i++)
		hash = (hash ^ seen.sum[i]) * 1099511628211u + seen.mark[i];
	in_file = backlog_counts(backlog).in_file;
	CHECK_THAT(in_file, <=, backlog_counts(backlog).deferred);
	CHECK_EQUAL(backlog_counts(backlog).lost, 0);
	end();
	return hash;
}

TEST(events_are_the_same_whenever_they_are_handed_out)
{
	static const struct backlog_limits in_memory = { 64 << 20, 0, "" }, in_file = { 0, 1 << 30, "/var/tmp" },
					   both = { 2 << 20, 2 << 20, "/var/tmp" },
					   nowhere = { 0, 1 << 30, "/proc/1/x" };
	uint64_t at_once = run(&in_memory, 0);

	for (unsigned int seed = 1; seed < 8; seed++) {
		CHECK_EQUAL(run(&in_memory, seed), at_once);
		CHECK_EQUAL(run(&in_file, seed), at_once);
		CHECK_EQUAL(run(&both, seed), at_once);
		CHECK_EQUAL(run(&nowhere, seed), at_once);
	}
}

TEST(what_memory_does_not_hold_goes_into_the_file_until_that_is_full)
{
	begin(&(struct backlog_limits){ 1 << 20, 1 << 20, "/var/tmp" });
	backlog_set_deferring(backlog, true, NULL);
	for (uint32_t mark = 1; mark <= EVENTS; mark++) {
		hand_out(mark);
		CHECK_EQUAL(seen.count, 0);
	}
	CHECK(backlog_counts(backlog).in_file && backlog_counts(backlog).in_file < backlog_counts(backlog).deferred);
	CHECK(backlog_is_full(backlog));
	backlog_catch_up(backlog, 0, NULL);
	CHECK(!backlog_is_full(backlog) && backlog_is_empty(backlog));
	CHECK_EQUAL(seen.count, backlog_counts(backlog).deferred);
	hand_out(1);
	CHECK_EQUAL(seen.count, backlog_counts(backlog).deferred - 1);
	end();
}

static void take(void *data __attribute__((unused)))
{
	pauses++;
}

TEST(others_are_let_in_while_it_catches_up)
{
	struct pause pause = { take, NULL, 0, 0 };

	begin(&(struct backlog_limits){ 64 << 20, 0, "" });
	backlog_set_deferring(backlog, true, &pause);
	for (uint32_t mark = 1; mark <= EVENTS; mark++)
		hand_out(mark);
	CHECK_EQUAL(pauses, 0);
	backlog_set_deferring(backlog, false, &pause);
	CHECK_THAT(pauses, >, 10);
	end();
}

TEST(kinds_that_nobody_wants_are_not_kept)
{
	struct ev_thread_exec e = {
		.header = { .subsys = EV_THREAD_EXEC >> 16, .event = EV_THREAD_EXEC & 0xffff },
	};

	begin(&(struct backlog_limits){ 1 << 20, 0, "" });
	backlog_set_deferring(backlog, true, NULL);
	session_hand_out(from, &e.header);
	CHECK(backlog_is_empty(backlog));
	end();
}
