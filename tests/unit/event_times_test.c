/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/event_times.h"

#include "test.h"
#include "trace/trace_threads.h"
#include "values.h"

TEST(an_event_outside_of_its_part_of_a_trace_is_left_out_and_counted)
{
	struct ev_sched_wake e = {
		.header = { .time_ns = 99, .subsys = TRACE_SUBSYS_SCHED, .event = TRACE_EVENT_SCHED_WAKE },
	};
	struct bad_times bad = { 0 };

	CHECK(!event_times_bound(&e.header, 100, 200, &bad));
	e.header.time_ns = UINT64_MAX;
	CHECK(!event_times_bound(&e.header, 100, 200, &bad));
	e.header.time_ns = 200;
	CHECK(event_times_bound(&e.header, 100, 200, &bad));
	CHECK_EQUAL(bad.left_out, 2);
	CHECK(!bad.changed);
}

static uint64_t begin_of(uint64_t begin_ns, uint64_t time_ns, struct bad_times *bad)
{
	struct ev_klock_wait e = {
		.header = { .time_ns = time_ns, .subsys = TRACE_SUBSYS_KLOCK, .event = TRACE_EVENT_KLOCK_WAIT },
		.begin_ns = begin_ns,
	};

	CHECK(event_times_bound(&e.header, 0, UINT64_MAX, bad));
	return e.begin_ns;
}

TEST(a_wait_begins_neither_behind_its_end_nor_longer_ago_than_a_trace_lasts)
{
	struct bad_times bad = { 0 };

	CHECK_EQUAL(begin_of(50, 100, &bad), 50);
	CHECK_EQUAL(begin_of(0, 100, &bad), 0);
	CHECK_EQUAL(begin_of(1, TRACE_LENGTH_MAX_NS + 1, &bad), 1);
	CHECK(!bad.changed);
	CHECK_EQUAL(begin_of(101, 100, &bad), 100);
	CHECK_EQUAL(begin_of(UINT64_MAX, 100, &bad), 100);
	CHECK_EQUAL(begin_of(1, TRACE_LENGTH_MAX_NS + 10, &bad), 10);
	CHECK_EQUAL(bad.changed, 3);
	CHECK(!bad.left_out);
}

TEST(a_duration_is_no_longer_than_a_trace)
{
	struct ev_klock_held e = {
		.header = { .subsys = TRACE_SUBSYS_KLOCK, .event = TRACE_EVENT_KLOCK_HELD },
		.take_ns = UINT64_MAX,
		.hold_ns = 5,
		.max_hold_ns = 1ull << 63,
	};
	struct bad_times bad = { 0 };

	CHECK(event_times_bound(&e.header, 0, 0, &bad));
	CHECK_EQUAL(e.take_ns, TRACE_LENGTH_MAX_NS);
	CHECK_EQUAL(e.hold_ns, 5);
	CHECK_EQUAL(e.max_hold_ns, TRACE_LENGTH_MAX_NS);
	CHECK_EQUAL(bad.changed, 1);
}

static bool switches(struct trace_threads *threads, uint32_t from, uint32_t to, uint8_t state)
{
	struct ev_sched_switch e = {
		.header = { .thread = from, .subsys = TRACE_SUBSYS_SCHED, .event = TRACE_EVENT_SCHED_SWITCH },
		.next = to,
		.state = state,
	};

	return trace_threads_admit(threads, &e.header);
}

static bool emits(struct trace_threads *threads, uint16_t event)
{
	return trace_threads_admit(threads, &(struct ev_header){
						    .subsys = TRACE_SUBSYS_COLLECT,
						    .event = event,
					    });
}

TEST(a_thread_that_dies_makes_space_for_another)
{
	struct trace_threads *threads = trace_threads_new(2, SIZE_MAX);

	CHECK(switches(threads, 1, 2, SWITCH_RUNNABLE));
	CHECK(!switches(threads, 0, 3, SWITCH_RUNNABLE) && !switches(threads, 3, 0, SWITCH_RUNNABLE));
	CHECK(switches(threads, 2, 1, SWITCH_DEAD));
	CHECK(switches(threads, 0, 3, SWITCH_RUNNABLE) && !switches(threads, 0, 4, SWITCH_RUNNABLE));
	trace_threads_free(threads);
}

TEST(threads_that_a_list_lacks_make_space)
{
	struct trace_threads *threads = trace_threads_new(2, SIZE_MAX);

	CHECK(switches(threads, 1, 2, SWITCH_RUNNABLE));
	CHECK(emits(threads, TRACE_EVENT_COLLECT_SYNC_BEGIN));
	CHECK(switches(threads, 2, 0, SWITCH_RUNNABLE));
	CHECK(emits(threads, TRACE_EVENT_COLLECT_SYNC_END));
	CHECK(switches(threads, 0, 3, SWITCH_RUNNABLE));
	CHECK(!switches(threads, 0, 1, SWITCH_RUNNABLE));
	trace_threads_free(threads);
}

TEST(of_a_history_threads_are_bounded_in_all)
{
	struct trace_threads *threads = trace_threads_new(SIZE_MAX, 2);

	CHECK(switches(threads, 1, 2, SWITCH_DEAD));
	CHECK(!switches(threads, 0, 3, SWITCH_RUNNABLE) && switches(threads, 0, 2, SWITCH_RUNNABLE));
	trace_threads_free(threads);
}
