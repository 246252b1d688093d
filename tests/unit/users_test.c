/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who bears what their programs do to the helpers. */
#include "test.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/pair.h"
#include "helper/users.h"
#include "symbol/worker/worker.h"

enum { MANY = 1000, USER = 12345, OTHER = 12346 };

static unsigned int barred_count;

static void on_barred(void *data, uint32_t user)
{
	(void)data;
	CHECK_EQUAL(user, USER);
	barred_count++;
}

TEST(a_user_is_barred_after_three_failures_and_reported_once)
{
	struct users *users = users_new();

	barred_count = 0;
	users_on_barred(users, on_barred, NULL);
	for (unsigned int i = 0; i < 10; i++) {
		CHECK_EQUAL(users_are_barred(users, USER), i >= USERS_FAILURES_MAX);
		CHECK(users_charge(users, USER));
	}
	CHECK_EQUAL(barred_count, 1);
	CHECK(!users_are_barred(users, OTHER));
	users_free(users);
}

TEST(root_the_caller_and_nobody_known_are_never_barred)
{
	const uint32_t numbers[] = { 0, getuid(), USER_UNKNOWN };
	struct users *users = users_new();

	for (size_t i = 0; i < 3; i++) {
		for (unsigned int j = 0; j < 10; j++)
			CHECK(!users_charge(users, numbers[i]));
		users_bar(users, numbers[i]);
		CHECK(!users_are_barred(users, numbers[i]));
	}
	users_free(users);
}

TEST(deaths_that_a_user_bears_leave_others_their_helpers)
{
	struct helper_pair *pair = helper_pair_new(worker_roles());

	for (unsigned int i = 0; i < MANY; i++)
		helper_pair_fail_worker(pair, USER);
	CHECK(!helper_pair_begin(pair));
	for (unsigned int i = 0; i < MANY; i++)
		helper_pair_fail_worker(pair, USER_UNKNOWN);
	CHECK(helper_pair_begin(pair));
	helper_pair_free(pair);
}

/* A child of another user; is_shy: its /proc/PID belongs to root. */
static pid_t start(bool is_shy)
{
	int ready[2];
	pid_t pid;
	char c;

	CHECK(!pipe(ready));
	pid = fork();
	if (!pid) {
		if (setresgid(USER, USER, USER) || setresuid(USER, USER, USER) || prctl(PR_SET_DUMPABLE, !is_shy) ||
		    prctl(PR_SET_PDEATHSIG, SIGKILL) || write(ready[1], "r", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	CHECK_EQUAL(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

TEST(a_process_cannot_hide_whose_it_is)
{
	struct users *users = users_new();
	pid_t pids[2];

	if (getuid())
		skip();
	for (size_t i = 0; i < 2; i++) {
		pids[i] = start(i);
		CHECK_EQUAL(users_of(users, pids[i]), USER);
		kill(pids[i], SIGKILL);
		CHECK_EQUAL(waitpid(pids[i], NULL, 0), pids[i]);
		/* Nor by ending. */
		CHECK_EQUAL(users_of(users, pids[i]), USER);
	}
	CHECK_EQUAL(users_of(users, getpid()), getuid());
	CHECK_EQUAL(users_of(users, 0), USER_UNKNOWN);
	users_free(users);
}
