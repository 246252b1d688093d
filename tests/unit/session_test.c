/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "session/session.h"

enum { SEEN_MAX = 20000 };

/* What was delivered: time, and the thread number as a mark. */
static struct {
	uint64_t time_ns[SEEN_MAX];
	uint32_t mark[SEEN_MAX];
	size_t count;
} seen;

static void on_any(void *data, const struct ev_header *header)
{
	(void)data;
	CHECK_EQUAL((uintptr_t)header % 8, 0);
	CHECK_THAT(seen.count, <, SEEN_MAX);
	seen.time_ns[seen.count] = header->time_ns;
	seen.mark[seen.count++] = header->thread;
}

static const struct event_handler handlers[] = {
	{ EV_SCHED_WAKE, on_any },
	{ EV_SCHED_SAMPLE, on_any },
	{ EV_SPACE_MAP, on_any },
	{ EV_STACK_FRAMES, on_any },
	{ 0, NULL },
};

static struct session *new_session(unsigned int streams, size_t bytes_max)
{
	struct session *session = session_new(streams, bytes_max);

	seen.count = 0;
	session_subscribe(session, handlers, NULL);
	return session;
}

static struct ev_header header_of(enum event_id id, uint64_t time_ns, uint32_t mark)
{
	return (struct ev_header){
		.time_ns = time_ns,
		.thread = mark,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};
}

static int push_wake(struct session *session, unsigned int stream, uint64_t time_ns, uint32_t mark)
{
	struct ev_sched_wake e = { .header = header_of(EV_SCHED_WAKE, time_ns, mark) };

	return session_push(session, stream, &e, sizeof(e));
}

TEST(streams_are_merged_by_time)
{
	struct session *session = new_session(3, 1 << 20);

	push_wake(session, 2, 30, 0);
	push_wake(session, 0, 10, 0);
	push_wake(session, 0, 40, 0);
	push_wake(session, 1, 20, 0);
	session_finish(session);
	CHECK_EQUAL(seen.count, 4);
	for (size_t i = 0; i < 4; i++)
		CHECK_EQUAL(seen.time_ns[i], 10 * (i + 1));
	CHECK_EQUAL(session_time_ns(session), 40);
	session_free(session);
}

TEST(equal_times_go_by_stream_then_by_arrival)
{
	struct session *session = new_session(2, 1 << 20);

	push_wake(session, 1, 5, 3);
	push_wake(session, 0, 5, 1);
	push_wake(session, 1, 5, 4);
	push_wake(session, 0, 5, 2);
	session_finish(session);
	CHECK_EQUAL(seen.count, 4);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_EQUAL(seen.mark[i], i + 1);
	session_free(session);
}

TEST(an_advance_delivers_what_is_earlier_and_keeps_the_rest)
{
	struct session *session = new_session(1, 1 << 20);

	push_wake(session, 0, 10, 0);
	push_wake(session, 0, 20, 0);
	session_advance(session, 0);
	CHECK_EQUAL(seen.count, 0);
	session_advance(session, 20);
	CHECK_EQUAL(seen.count, 1);
	session_advance(session, 21);
	CHECK_EQUAL(seen.count, 2);
	CHECK_EQUAL(session_counts(session).pending_bytes, 0);
	session_free(session);
}

TEST(neighbours_that_an_interrupt_swapped_are_put_in_order)
{
	struct session *session = new_session(1, 1 << 20);

	push_wake(session, 0, 10, 1);
	push_wake(session, 0, 30, 4);
	push_wake(session, 0, 20, 2);
	push_wake(session, 0, 20, 3);
	push_wake(session, 0, 5, 0);
	push_wake(session, 0, 40, 5);
	push_wake(session, 0, 35, 99);
	session_finish(session);
	CHECK_EQUAL(seen.count, 7);
	for (uint32_t i = 0; i < 5; i++)
		CHECK_EQUAL(seen.mark[i], i);
	CHECK_EQUAL(seen.mark[5], 99);
	CHECK_EQUAL(seen.mark[6], 5);
	CHECK_EQUAL(session_counts(session).late, 0);
	session_free(session);
}

TEST(an_event_after_its_time_is_delivered_and_counted)
{
	struct session *session = new_session(2, 1 << 20);

	push_wake(session, 0, 100, 1);
	session_advance(session, 101);
	push_wake(session, 1, 50, 2);
	push_wake(session, 0, 120, 3);
	session_finish(session);
	CHECK_EQUAL(seen.count, 3);
	CHECK_EQUAL(seen.mark[1], 2);
	CHECK_EQUAL(session_counts(session).late, 1);
	CHECK_EQUAL(session_time_ns(session), 120);
	session_free(session);
}

TEST(the_last_possible_time_is_delivered_by_finish)
{
	struct session *session = new_session(1, 1 << 20);

	push_wake(session, 0, UINT64_MAX, 1);
	session_advance(session, UINT64_MAX);
	CHECK_EQUAL(seen.count, 0);
	session_finish(session);
	CHECK_EQUAL(seen.count, 1);
	session_free(session);
}

TEST(handlers_of_a_kind_are_called_in_the_order_of_subscription)
{
	struct session *session = new_session(1, 1 << 20);

	session_subscribe(session, handlers, NULL);
	push_wake(session, 0, 1, 7);
	session_finish(session);
	CHECK_EQUAL(seen.count, 2);
	CHECK_EQUAL(session_counts(session).delivered, 1);
	session_free(session);
}

TEST(unknown_kinds_and_wrong_sizes_are_refused)
{
	struct session *session = new_session(1, 1 << 20);
	struct ev_sched_sample sample = { .header = header_of(EV_SCHED_SAMPLE, 1, 0) };
	struct ev_header header = { .subsys = 999, .event = 0 };

	CHECK_EQUAL(session_push(session, 0, &header, sizeof(header)), -EBADMSG);
	header = (struct ev_header){ .subsys = TRACE_SUBSYS_SCHED, .event = 999 };
	CHECK_EQUAL(session_push(session, 0, &header, sizeof(header)), -EBADMSG);
	header = (struct ev_header){ .subsys = 65535, .event = 65535 };
	CHECK_EQUAL(session_push(session, 0, &header, sizeof(header)), -EBADMSG);
	CHECK_EQUAL(session_push(session, 0, &sample, sizeof(sample) - 1), -EBADMSG);
	CHECK_EQUAL(session_push(session, 0, &sample, sizeof(sample) + 8), -EBADMSG);
	CHECK_EQUAL(session_push(session, 0, &sample, 15), -EBADMSG);
	CHECK_EQUAL(session_push(session, 0, &sample, 0), -EBADMSG);
	CHECK_EQUAL(session_push(session, 0, &sample, sizeof(sample)), 0);
	session_finish(session);
	CHECK_EQUAL(session_counts(session).malformed, 7);
	CHECK_EQUAL(seen.count, 1);
	session_free(session);
}

TEST(a_stack_must_be_as_long_as_it_says)
{
	struct session *session = new_session(1, 1 << 20);
	uint64_t buffer[8] = { 0 };
	struct ev_stack_frames *e = (struct ev_stack_frames *)buffer;

	e->header = header_of(EV_STACK_FRAMES, 1, 0);
	e->kernel_count = 1;
	e->user_count = 2;
	CHECK_EQUAL(session_push(session, 0, e, sizeof(*e) + 16), -EBADMSG);
	CHECK_EQUAL(session_push(session, 0, e, sizeof(*e) + 32), -EBADMSG);
	CHECK_EQUAL(session_push(session, 0, e, sizeof(*e) + 23), -EBADMSG);
	CHECK_EQUAL(session_push(session, 0, e, sizeof(*e) - 8), -EBADMSG);
	CHECK_EQUAL(session_push(session, 0, e, sizeof(*e) + 24), 0);
	e->kernel_count = e->user_count = 0;
	CHECK_EQUAL(session_push(session, 0, e, sizeof(*e)), 0);
	session_free(session);
}

TEST(a_path_must_end_inside_its_record)
{
	struct session *session = new_session(1, 1 << 20);
	uint64_t buffer[32] = { 0 };
	struct ev_space_map *e = (struct ev_space_map *)buffer;

	e->header = header_of(EV_SPACE_MAP, 1, 0);
	memcpy(e->path, "/bin", 5);
	CHECK_EQUAL(session_push(session, 0, e, sizeof(*e) + 4), -EBADMSG);
	CHECK_EQUAL(session_push(session, 0, e, sizeof(*e)), -EBADMSG);
	CHECK_EQUAL(session_push(session, 0, e, sizeof(*e) + 5), 0);
	CHECK_EQUAL(session_push(session, 0, e, sizeof(*e) + 8), 0);
	session_finish(session);
	CHECK_EQUAL(seen.count, 2);
	session_free(session);
}

TEST(the_bound_is_shared_by_the_streams_and_freed_by_an_advance)
{
	struct session *session = new_session(2, 3 * 72);

	CHECK_EQUAL(push_wake(session, 0, 1, 0), 0);
	CHECK_EQUAL(push_wake(session, 1, 2, 0), 0);
	CHECK_EQUAL(push_wake(session, 1, 3, 0), 0);
	CHECK_EQUAL(push_wake(session, 0, 4, 0), -ENOSPC);
	session_advance(session, 2);
	CHECK_EQUAL(push_wake(session, 0, 4, 0), 0);
	CHECK_EQUAL(session_counts(session).pending_bytes_peak, 3 * 72);
	session_finish(session);
	CHECK_EQUAL(seen.count, 4);
	session_free(session);
}

/* Random order within a window, several streams, advances in between. */
TEST(whatever_comes_within_the_window_is_delivered_in_order_and_once)
{
	struct session *session = new_session(5, 1 << 20);
	uint64_t base = 1000, sum = 0;
	uint32_t random = 1;

	for (uint32_t i = 0; i < 15000; i++) {
		random = random * 1103515245 + 12345;
		push_wake(session, random >> 16 & 3, base + (random >> 20 & 63), i);
		sum += i;
		base += random >> 28;
		if ((random >> 8 & 255) == 0)
			session_advance(session, base);
	}
	session_finish(session);
	CHECK_EQUAL(seen.count, 15000);
	CHECK_EQUAL(session_counts(session).late, 0);
	for (size_t i = 0; i < seen.count; i++) {
		CHECK(!i || seen.time_ns[i - 1] <= seen.time_ns[i]);
		sum -= seen.mark[i];
	}
	CHECK_EQUAL(sum, 0);
	session_free(session);
}

TEST(a_record_far_out_of_order_is_delivered_late_at_worst)
{
	struct session *session = new_session(1, 1 << 20);

	for (uint32_t i = 0; i < 10000; i++)
		push_wake(session, 0, 1000 + i, i);
	push_wake(session, 0, 1, 77);
	session_finish(session);
	CHECK_EQUAL(seen.count, 10001);
	CHECK_EQUAL(session_counts(session).late, 1);
	session_free(session);
}

/* --- What a handler hands out ---------------------------------------------------------------- */

static struct session *hands_out;

static void on_gap(void *data, const struct ev_header *header)
{
	struct ev_sched_wake recorded = { .header = header_of(EV_SCHED_WAKE, header->time_ns, 77) };

	(void)data;
	session_hand_out(hands_out, &recorded.header);
}

TEST(what_a_handler_hands_out_comes_before_the_next_event)
{
	static const struct event_handler gap_handlers[] = { { EV_COLLECT_GAP, on_gap }, { 0 } };
	struct ev_collect_gap gap = { .header = header_of(EV_COLLECT_GAP, 20, 0) };

	hands_out = new_session(1, 1 << 20);
	session_subscribe(hands_out, gap_handlers, NULL);
	push_wake(hands_out, 0, 10, 1);
	CHECK(!session_push(hands_out, 0, &gap, sizeof(gap)));
	push_wake(hands_out, 0, 20, 2);
	session_finish(hands_out);
	CHECK_EQUAL(seen.count, 3);
	CHECK_EQUAL(seen.mark[0], 1);
	CHECK_EQUAL(seen.mark[1], 77);
	CHECK_EQUAL(seen.mark[2], 2);
	CHECK_EQUAL(session_counts(hands_out).delivered, 4);
	CHECK(!session_counts(hands_out).late);
	session_free(hands_out);
}

/* --- What comes while others are delivered ---------------------------------------------------- */

static struct session *takes_in;

/* Of the stream that is being delivered, so many that it has to move. */
static void on_first_gap(void *data, const struct ev_header *header)
{
	(void)data;
	for (uint32_t i = 0; i < 5000; i++)
		push_wake(takes_in, i % 2, header->time_ns + 20 + i, 100 + i);
	CHECK_EQUAL(header->time_ns, 20);
	CHECK_EQUAL(header->thread, 7);
}

TEST(what_comes_during_a_delivery_is_delivered_by_the_next_one_in_order)
{
	static const struct event_handler gap_handlers[] = { { EV_COLLECT_GAP, on_first_gap }, { 0 } };
	struct ev_collect_gap gap = { .header = header_of(EV_COLLECT_GAP, 20, 7) };

	takes_in = new_session(2, 1 << 20);
	session_subscribe(takes_in, gap_handlers, NULL);
	push_wake(takes_in, 0, 10, 1);
	CHECK(!session_push(takes_in, 0, &gap, sizeof(gap)));
	push_wake(takes_in, 0, 30, 2);
	push_wake(takes_in, 1, 35, 3);
	session_advance(takes_in, 36);
	CHECK_EQUAL(seen.count, 3);
	CHECK_EQUAL(seen.mark[1], 2);
	CHECK_EQUAL(seen.mark[2], 3);
	CHECK_THAT(session_counts(takes_in).pending_bytes, >, 5000 * sizeof(struct ev_sched_wake));
	session_finish(takes_in);
	CHECK_EQUAL(seen.count, 5003);
	CHECK(!session_counts(takes_in).late && !session_counts(takes_in).pending_bytes);
	for (uint32_t i = 0; i < 5000; i++) {
		CHECK_EQUAL(seen.mark[3 + i], 100 + i);
		CHECK_EQUAL(seen.time_ns[3 + i], 40 + i);
	}
	session_free(takes_in);
}

TEST(what_comes_while_all_is_delivered_is_delivered_too)
{
	static const struct event_handler gap_handlers[] = { { EV_COLLECT_GAP, on_first_gap }, { 0 } };
	struct ev_collect_gap gap = { .header = header_of(EV_COLLECT_GAP, 20, 7) };

	takes_in = new_session(2, 1 << 20);
	session_subscribe(takes_in, gap_handlers, NULL);
	CHECK(!session_push(takes_in, 0, &gap, sizeof(gap)));
	session_finish(takes_in);
	CHECK_EQUAL(seen.count, 5000);
	CHECK(!session_counts(takes_in).late);
	session_free(takes_in);
}

TEST(memory_is_as_long_as_it_says)
{
	struct {
		struct ev_stack_memory e;
		uint64_t words[4];
	} memory = {
		.e = { .header = header_of(EV_STACK_MEMORY, 5, 0), .word_count = 3, .kernel_count = 1 },
	};
	struct session *session = new_session(1, 1 << 20);

	CHECK(!session_push(session, 0, &memory, sizeof(memory)));
	CHECK_EQUAL(session_push(session, 0, &memory, sizeof(memory) - 8), -EBADMSG);
	memory.e.kernel_count = 0xffff;
	CHECK_EQUAL(session_push(session, 0, &memory, sizeof(memory)), -EBADMSG);
	CHECK_EQUAL(session_push(session, 0, &memory, sizeof(memory.e) - 8), -EBADMSG);
	session_finish(session);
	session_free(session);
}
