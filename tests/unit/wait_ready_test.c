/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that waits for many connections is not idle while one that was asked has not answered. */
#include "waits_fixture.h"

#include <arpa/inet.h>
#include <stdlib.h>

enum { PLAYS = 2000, WAITS = 20, STEP_NS = 1000, SERVER = 1000, EPOLL = 500 };

static void emit_connection(void)
{
	struct {
		struct ev_file_socket socket;
		char path[8];
	} e = { .socket = {
			.header = header_of(EV_FILE_SOCKET, 0),
			.file = name_of(SERVER, KIND_SOCKET),
			.inode = SERVER,
			.family = AF_INET,
			.type = SOCK_STREAM,
			.local_port = 40000,
			.peer_port = 8080,
			.peer = { 127, 0, 0, 1 },
		} };

	push(&e, sizeof(e.socket) + 1);
}

/* asked_ns: when what the server says at the end of the wait was asked, if it does. */
static void wait_for_many(uint64_t wait_ns, bool is_ready, uint64_t asked_ns)
{
	struct ev_sched_switch out = {
		.header = header_of(EV_SCHED_SWITCH, 1),
		.state = SWITCH_SLEEPING,
		.flags = SWITCH_HAS_STACK,
		.stack = 5,
		.syscall = SYS_epoll_wait,
		.object = name_of(EPOLL, 0),
	};
	struct ev_sched_ready ready = { .file = name_of(SERVER, KIND_SOCKET), .asked_ns = asked_ns };
	struct ev_sched_wake wake = { .context = WAKE_SOFTIRQ, .syscall = SYSCALL_NONE };
	struct ev_sched_switch in = { .next = 1, .syscall = SYSCALL_NONE };

	push(&out, sizeof(out));
	now_ns += wait_ns;
	ready.header = header_of(EV_SCHED_READY, 1);
	if (is_ready)
		push(&ready, sizeof(ready));
	wake.header = header_of(EV_SCHED_WAKE, 1);
	push(&wake, sizeof(wake));
	in.header = header_of(EV_SCHED_SWITCH, 0);
	push(&in, sizeof(in));
}

static uint64_t step(void)
{
	return 1 + (uint64_t)rand() % STEP_NS;
}

/* What the wait and the time from asked_ns on have in common. */
static uint64_t common(uint64_t begin_ns, uint64_t end_ns, uint64_t asked_ns)
{
	uint64_t from_ns = begin_ns > asked_ns ? begin_ns : asked_ns;

	return end_ns > from_ns ? end_ns - from_ns : 0;
}

/* Now and then it asks, in a wait (another thread does) or between two; few waits later it has the answer. */
static void play(void)
{
	uint64_t waited_ns = 0, asking_ns = 0, unanswered_ns = 0, asked_ns = 0, last_asked_ns = 0;
	unsigned int since = 0;
	struct wait_sum polls, sockets;

	begin();
	emit_connection();
	for (int i = 0; i < WAITS; i++) {
		uint64_t begin_ns, wait_ns = step();
		bool is_pushed = false, is_answer;

		now_ns += step();
		if (!asked_ns && rand() % 2)
			asked_ns = rand() % 2 ? now_ns : now_ns + (uint64_t)rand() % wait_ns;
		/* Of more than four waits before the answer, nobody remembers the first. */
		is_answer = asked_ns && (since++ == WAIT_RECENT || rand() % 3 == 0);
		is_pushed = !asked_ns && last_asked_ns && rand() % 3 == 0;
		begin_ns = now_ns;
		wait_for_many(wait_ns, is_answer || is_pushed, is_answer ? asked_ns : last_asked_ns);
		waited_ns += wait_ns;
		if (asked_ns)
			unanswered_ns += common(begin_ns, now_ns, asked_ns);
		if (!is_answer)
			continue;
		asking_ns += unanswered_ns;
		last_asked_ns = asked_ns;
		asked_ns = unanswered_ns = since = 0;
	}
	finish();
	polls = waits_by_cause(waits, CAUSE_POLL);
	sockets = waits_by_cause(waits, CAUSE_SOCKET);
	CHECK_EQUAL(polls.wait_ns + sockets.wait_ns, waited_ns);
	CHECK_EQUAL(polls.idle_ns + sockets.idle_ns, waited_ns - asking_ns);
	end();
}

TEST(only_what_lies_between_a_question_and_its_answer_is_not_idle)
{
	srand(3);
	for (int i = 0; i < PLAYS; i++)
		play();
}

TEST(when_nobody_knows_since_when_something_was_asked_it_is_the_wait_itself)
{
	struct wait_sum sockets;

	begin();
	emit_connection();
	wait_for_many(100, false, 0);
	now_ns += 50;
	wait_for_many(200, true, 0);
	finish();
	sockets = waits_by_cause(waits, CAUSE_SOCKET);
	CHECK_EQUAL(sockets.wait_ns, 200);
	CHECK(!sockets.idle_ns);
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_POLL).idle_ns, 100);
	end();
}
