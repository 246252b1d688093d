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

TEST(ages_are_twice_as_long_each)
{
	CHECK_EQUAL(unread_input_age_ns(0), 0);
	CHECK_EQUAL(unread_input_age_ns(1), 4 * MS);
	CHECK_EQUAL(unread_input_age_ns(2), 8 * MS);
	CHECK_EQUAL(unread_input_age_ns(11), 4096ull * MS);
}
