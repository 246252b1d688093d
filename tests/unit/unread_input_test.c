/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said of unread input adds up by process. */
#include "test.h"

#include "session/session.h"
#include "waits/unread_input.h"

enum { MS = 1000000, PENDING_BYTES = 1 << 20 };

static struct session *session;
static struct unread_input *input;
static uint64_t now_ns;

static void begin(void)
{
	session = session_new(1, PENDING_BYTES);
	input = unread_input_new(session);
	now_ns = 0;
}

static void end(void)
{
	unread_input_free(input);
	session_free(session);
}

/* So many connections with input of two ages. */
static void look(uint32_t pid, unsigned int age, uint32_t count, unsigned int other_age, uint32_t other_count)
{
	struct ev_file_unread e = {
		.header = { .time_ns = now_ns += 100 * MS,
			    .thread = 1,
			    .subsys = TRACE_SUBSYS_FILE,
			    .event = TRACE_EVENT_FILE_UNREAD },
		.pid = pid,
		.connections = 9,
	};

	e.unread[age] = count;
	e.unread[other_age] += other_count;
	session_hand_out(session, &e.header);
}

TEST(looks_are_counted_by_the_oldest_input_and_connections_by_their_own)
{
	const struct unread_process *process;

	begin();
	look(7, 1, 2, 3, 1);
	look(7, 1, 1, 0, 4);
	look(7, 0, 0, 0, 0);
	look(8, 11, 1, 0, 0);
	process = unread_input_of(input, 7);
	CHECK_EQUAL(process->looks, 3);
	CHECK_EQUAL(process->unread[0], 4);
	CHECK_EQUAL(process->unread[1], 3);
	CHECK_EQUAL(process->unread[3], 1);
	CHECK_EQUAL(process->looks_of[3], 1);
	CHECK_EQUAL(process->looks_of[1], 1);
	CHECK(!process->looks_of[0]);
	CHECK_EQUAL(unread_input_of(input, 8)->looks_of[11], 1);
	CHECK(!unread_input_of(input, 9));
	end();
}

/* One input that has been seen there for so long. */
static void look_at_input(uint32_t pid, unsigned int age, bool is_second)
{
	struct ev_file_unread e = {
		.header = { .time_ns = now_ns += 100 * MS,
			    .thread = 1,
			    .subsys = TRACE_SUBSYS_FILE,
			    .event = TRACE_EVENT_FILE_UNREAD },
		.pid = pid,
		.inputs = 3,
		.is_second = is_second,
	};

	e.seen_unread[age] = 1;
	session_hand_out(session, &e.header);
}

static uint64_t iteration_ns;

static uint64_t length_of_iteration(void *data, uint32_t pid, uint64_t at_ns)
{
	CHECK(data == &iteration_ns && pid == 7 && at_ns == now_ns);
	return iteration_ns;
}

TEST(what_was_only_seen_counts_if_no_loop_has_polled_since)
{
	const struct unread_process *process;

	begin();
	look_at_input(7, 3, false); /* nobody knows of loops */
	process = unread_input_of(input, 7);
	CHECK(!process->looks_of[3] && !process->unread[3]);
	unread_input_ask(input, length_of_iteration, &iteration_ns);
	iteration_ns = 15 * MS;
	look_at_input(7, 3, false); /* 16 ms at least */
	CHECK(!process->looks_of[3] && !process->unread[3]);
	iteration_ns = 16 * MS;
	look_at_input(7, 3, false);
	CHECK_EQUAL(process->looks_of[3], 1);
	CHECK_EQUAL(process->unread[3], 1);
	CHECK_EQUAL(process->looks, 3);
	end();
}

TEST(a_look_and_the_second_one_are_one_of_the_older_age)
{
	const struct unread_process *process;

	begin();
	unread_input_ask(input, length_of_iteration, &iteration_ns);
	iteration_ns = 1000 * MS;
	look_at_input(7, 4, true); /* of a look before the trace began */
	process = unread_input_of(input, 7);
	CHECK(!process->looks && !process->looks_of[4]);
	look_at_input(7, 0, false);
	look_at_input(7, 2, true);
	look_at_input(7, 3, false);
	look_at_input(7, 1, true);
	CHECK_EQUAL(process->looks, 2);
	CHECK_EQUAL(process->looks_of[2], 1);
	CHECK_EQUAL(process->looks_of[3], 1);
	CHECK(!process->looks_of[0] && !process->looks_of[1]);
	CHECK_EQUAL(process->unread[1], 1);
	end();
}

TEST(ages_are_twice_as_long_each)
{
	CHECK_EQUAL(unread_input_age_ns(0), 0);
	CHECK_EQUAL(unread_input_age_ns(1), 4 * MS);
	CHECK_EQUAL(unread_input_age_ns(2), 8 * MS);
	CHECK_EQUAL(unread_input_age_ns(11), 4096ull * MS);
}
