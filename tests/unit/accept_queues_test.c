/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said of accept queues adds up, whoever tells it. */
#include "test.h"

#include "session/session.h"
#include "waits/accept_queues.h"

enum { MS = 1000000, PENDING_BYTES = 1 << 20, LOOKS = 500, PLAYS = 200 };

static struct session *session;
static struct accept_queues *queues;

static void begin(void)
{
	session = session_new(1, PENDING_BYTES);
	queues = accept_queues_new(session);
}

static void end(void)
{
	accept_queues_free(queues);
	session_free(session);
}

static void look(uint64_t time_ns, uint64_t file, uint32_t pid, uint32_t waiting, uint32_t capacity, uint32_t drops)
{
	struct ev_file_listener e = {
		.header = { .time_ns = time_ns,
			    .thread = 1,
			    .subsys = TRACE_SUBSYS_FILE,
			    .event = TRACE_EVENT_FILE_LISTENER },
		.file = file,
		.pid = pid,
		.waiting = waiting,
		.capacity = capacity,
		.drops = drops,
	};

	session_hand_out(session, &e.header);
}

static const struct accept_queue *only(void)
{
	size_t cursor = 0;
	const struct accept_queue *queue = accept_queues_next(queues, &cursor);

	CHECK(queue && !accept_queues_next(queues, &cursor));
	return queue;
}

TEST(what_was_dropped_before_the_first_look_is_not_counted)
{
	begin();
	look(100 * MS, 3, 10, 1, 2, 7000);
	look(200 * MS, 3, 10, 0, 2, 7000);
	CHECK(!only()->drops && !only()->dropping_ns);
	look(300 * MS, 3, 10, 2, 2, 7004);
	CHECK_EQUAL(only()->drops, 4);
	CHECK_EQUAL(only()->dropping_ns, 100 * MS);
	CHECK_EQUAL(only()->looks, 3);
	CHECK_EQUAL(only()->waiting_looks, 2);
	CHECK_EQUAL(only()->full_looks, 1);
	CHECK_EQUAL(only()->waiting_sum, 3);
	CHECK_EQUAL(only()->waiting_max, 2);
	end();
}

TEST(a_counter_that_goes_round_has_counted_on)
{
	begin();
	look(100 * MS, 3, 10, 0, 2, UINT32_MAX - 1);
	look(200 * MS, 3, 10, 0, 2, 3);
	CHECK_EQUAL(only()->drops, 5);
	end();
}

TEST(of_long_times_between_looks_only_200_ms_count_as_dropping)
{
	begin();
	look(1000 * MS, 3, 10, 0, 2, 0);
	look(9000ull * MS, 3, 10, 0, 2, 1);
	CHECK_EQUAL(only()->dropping_ns, 200 * MS);
	end();
}

TEST(processes_that_share_a_socket_are_one_look)
{
	begin();
	for (uint32_t i = 1; i <= 3; i++) {
		look(i * 100 * MS, 3, 10, 5, 9, i);
		look(i * 100 * MS + 1, 3, 11, 6, 9, i);
		look(i * 100 * MS + 2, 3, 12, 7, 9, i);
	}
	CHECK_EQUAL(only()->pid, 10);
	CHECK_EQUAL(only()->processes, 3);
	CHECK_EQUAL(only()->looks, 3);
	CHECK_EQUAL(only()->drops, 2);
	CHECK_EQUAL(only()->waiting_sum, 15);
	end();
}

TEST(looks_may_follow_each_other_at_once)
{
	begin();
	look(100 * MS, 3, 10, 1, 9, 0);
	look(101 * MS, 3, 10, 1, 9, 2);
	CHECK_EQUAL(only()->looks, 2);
	CHECK_EQUAL(only()->processes, 1);
	CHECK_EQUAL(only()->dropping_ns, MS);
	end();
}

TEST(another_process_tells_of_the_socket_when_the_first_one_has_ended)
{
	begin();
	look(100 * MS, 3, 10, 1, 9, 0);
	look(100 * MS + 1, 3, 11, 1, 9, 0);
	look(200 * MS, 3, 11, 1, 9, 0);
	look(300 * MS, 3, 11, 1, 9, 0);
	CHECK_EQUAL(only()->looks, 3);
	CHECK_EQUAL(only()->processes, 2);
	end();
}

TEST(sockets_are_apart_and_impossible_ones_are_none)
{
	size_t cursor = 0, count = 0;

	begin();
	look(100 * MS, 3, 10, 1, 2, 0);
	look(100 * MS, 5, 10, 1, 2, 0);
	look(100 * MS, 0, 10, 1, 2, 0);
	look(100 * MS, 7, 10, 1, 0, 0);
	while (accept_queues_next(queues, &cursor))
		count++;
	CHECK_EQUAL(count, 2);
	end();
}

TEST(whatever_is_said_no_sum_exceeds_what_it_is_part_of)
{
	for (uint32_t seed = 1; seed <= PLAYS; seed++) {
		uint32_t random = seed;
		uint64_t time_ns = 0, waiting = 0;

		begin();
		for (int i = 0; i < LOOKS; i++) {
			uint32_t capacity = 1 + (random >> 8) % 4, number = random >> 12;

			random = random * 1664525 + 1013904223;
			time_ns += 21 * MS + random % (400u * MS);
			waiting += number;
			look(time_ns, 3, random % 5, number, capacity, random);
		}
		CHECK_EQUAL(only()->looks, LOOKS);
		CHECK_EQUAL(only()->waiting_sum, waiting);
		CHECK_THAT(only()->full_looks, <=, only()->waiting_looks);
		CHECK_THAT(only()->waiting_looks, <=, only()->looks);
		CHECK_THAT(only()->dropping_ns, <=, time_ns);
		end();
	}
}
