/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time of disks by who had requests there, beside a clock that asks each moment who has. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "session/session.h"
#include "session/threads.h"
#include "values.h"
#include "waits/block_users.h"
#include "waits/others.h"

enum { PLAYS = 2000, STEPS = 60, OPEN_MAX = 6, USERS = 3, DEVICES = 2 };

static struct session *session;
static struct threads *threads;
static struct others *others;
static struct block_users *users;

/* What is under way in a play; user 0: an interrupt has issued it. */
static struct play {
	uint64_t now_ns;
	bool is_open[OPEN_MAX];
	uint32_t user[OPEN_MAX], device[OPEN_MAX];
	double ns[DEVICES][USERS]; /* of requests that have ended */
	double open_ns[OPEN_MAX];  /* of one that has not */
	uint64_t busy_ns[DEVICES];
} play;

static struct ev_header header_of(enum event_id id, uint32_t thread)
{
	return (struct ev_header){
		.time_ns = play.now_ns,
		.thread = thread,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};
}

static void begin(void)
{
	play = (struct play){ .now_ns = 1000 };
	session = session_new(1, 64 << 20);
	threads = threads_new(session);
	others = others_new(session);
	users = block_users_new(session, threads, others);
	for (uint32_t thread = 1; thread < USERS; thread++) {
		struct ev_thread_found e = {
			.header = header_of(EV_THREAD_FOUND, thread), .tid = thread, .pid = 1, .name = "user-"
		};

		e.name[5] = '0' + thread;
		CHECK(!session_push(session, 0, &e, sizeof(e)));
	}
}

static void end(void)
{
	block_users_free(users);
	others_free(others);
	threads_free(threads);
	session_free(session);
}

static void issue(size_t slot)
{
	uint32_t user = rand() % USERS;
	struct ev_system_block_issue e = {
		.header = header_of(EV_SYSTEM_BLOCK_ISSUE, user),
		.request = slot + 1,
		.device = 1 + rand() % DEVICES,
		.tid = user,
	};

	CHECK(!session_push(session, 0, &e, sizeof(e)));
	if (play.is_open[slot])
		return; /* it is given to the device again: that is no other request */
	play.is_open[slot] = true;
	play.user[slot] = user;
	play.device[slot] = e.device - 1;
	play.open_ns[slot] = 0;
}

static void complete(size_t slot, bool is_last)
{
	struct ev_system_block_complete e = {
		.header = header_of(EV_SYSTEM_BLOCK_COMPLETE, 0),
		.request = slot + 1,
		.is_last = is_last,
	};

	CHECK(!session_push(session, 0, &e, sizeof(e)));
	if (!is_last)
		return;
	play.is_open[slot] = false;
	play.ns[play.device[slot]][play.user[slot]] += play.open_ns[slot];
}

static void pass(uint64_t ns)
{
	for (uint32_t device = 0; device < DEVICES; device++) {
		size_t open = 0;

		for (size_t i = 0; i < OPEN_MAX; i++)
			open += play.is_open[i] && play.device[i] == device;
		for (size_t i = 0; i < OPEN_MAX; i++)
			if (play.is_open[i] && play.device[i] == device)
				play.open_ns[i] += (double)ns / open;
		play.busy_ns[device] += open ? ns : 0;
	}
	play.now_ns += ns;
}

static uint32_t number_of(const struct block_user *user)
{
	return user->kind == RIVAL_PROGRAM ? user->name[5] - '0' : 0;
}

TEST(each_has_its_part_of_each_moment_and_all_together_no_more_than_the_time)
{
	srand(11);
	for (int i = 0; i < PLAYS; i++) {
		double sums[DEVICES] = { 0 };
		const struct block_user *user;
		size_t cursor = 0, count = 0;

		begin();
		for (int step = 0; step < STEPS; step++) {
			size_t slot = rand() % OPEN_MAX;

			pass(1 + rand() % 1000);
			if (play.is_open[slot] && rand() % 8)
				complete(slot, rand() % 4);
			else
				issue(slot);
		}
		session_finish(session);
		while ((user = block_users_next(users, &cursor))) {
			double expected_ns = play.ns[user->device - 1][number_of(user)];

			CHECK(fabs(user->ns - expected_ns) < 1e-3);
			CHECK_EQUAL(user->pid, 0);
			sums[user->device - 1] += user->ns;
			count++;
		}
		CHECK(count <= DEVICES * USERS);
		for (uint32_t device = 0; device < DEVICES; device++)
			CHECK(sums[device] <= play.busy_ns[device] + 1e-3);
		end();
	}
}

TEST(after_a_loss_nothing_is_under_way)
{
	struct ev_system_lost lost;
	const struct block_user *user;
	size_t cursor = 0;

	srand(12);
	begin();
	issue(0);
	pass(1000);
	lost = (struct ev_system_lost){ .header = header_of(EV_SYSTEM_LOST, 0), .lost = 1 };
	CHECK(!session_push(session, 0, &lost, sizeof(lost)));
	complete(0, true);
	issue(1);
	pass(500);
	complete(1, true);
	session_finish(session);
	while ((user = block_users_next(users, &cursor)))
		CHECK(user->ns == 0 || user->ns == 500);
	end();
}
