/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether somebody waits for what a thread does. */
#include "test.h"

#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "values.h"
#include "waits/files.h"
#include "waits/open_request.h"

static const struct file_info server = { .kind = FILE_SOCKET, .is_server = true };
static const struct file_info client = { .kind = FILE_SOCKET };

enum kind { WAITS_POLL, WAITS_SERVER, WAITS_CLIENT, WAITS_PIPE, WAITS_SLEEP, WAITS_FUTEX, WAITS_FILE, WAIT_KINDS };

static const struct wait_facts facts_of_kind[WAIT_KINDS] = {
	[WAITS_POLL] = { .syscall = SYS_epoll_wait, .state = SWITCH_SLEEPING },
	[WAITS_SERVER] = { .syscall = SYS_recvfrom, .state = SWITCH_SLEEPING },
	[WAITS_CLIENT] = { .syscall = SYS_recvfrom, .state = SWITCH_SLEEPING },
	[WAITS_PIPE] = { .syscall = SYS_read, .state = SWITCH_SLEEPING },
	[WAITS_SLEEP] = { .syscall = SYS_clock_nanosleep, .state = SWITCH_SLEEPING },
	[WAITS_FUTEX] = { .syscall = SYS_futex,
			  .operation = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
			  .state = SWITCH_SLEEPING },
	[WAITS_FILE] = { .syscall = SYS_fdatasync, .state = SWITCH_BLOCKED },
};

static const enum wait_cause causes_of_kind[WAIT_KINDS] = {
	[WAITS_POLL] = CAUSE_POLL, [WAITS_SERVER] = CAUSE_SOCKET, [WAITS_CLIENT] = CAUSE_SOCKET,
	[WAITS_PIPE] = CAUSE_PIPE, [WAITS_SLEEP] = CAUSE_SLEEP,   [WAITS_FUTEX] = CAUSE_CONDITION,
	[WAITS_FILE] = CAUSE_FILE,
};

/* A wait with the facts that it points to. */
struct given {
	enum kind kind;
	struct wait_facts facts;
	struct request_wait wait;
	size_t opener; /* of the request that was open before; its own number: none was */
};

/* place: where it is, and for what; 0: not known. */
static void give(struct given *given, enum kind kind, uint64_t place, enum waker_kind ended_by, bool is_job)
{
	given->kind = kind;
	given->facts = facts_of_kind[kind];
	given->facts.object = place * 64;
	given->wait = (struct request_wait){
		.facts = &given->facts,
		.cause = causes_of_kind[kind],
		.stack = place,
		.file = kind == WAITS_SERVER   ? &server
			: kind == WAITS_CLIENT ? &client
					       : NULL,
		.kind = ended_by,
		.is_by_thread = ended_by == WAKER_THREAD,
		.is_job = is_job,
	};
}

/* Whether it delays somebody; then it ends. */
static bool pass_given(struct open_request *request, const struct given *given)
{
	bool is_delayed = open_request_is_delayed(request, &given->wait);

	open_request_end_wait(request, &given->wait);
	return is_delayed;
}

static bool pass(struct open_request *request, enum kind kind, uint64_t place, enum waker_kind ended_by, bool is_job)
{
	struct given given;

	give(&given, kind, place, ended_by, is_job);
	return pass_given(request, &given);
}

TEST(a_sleep_between_a_message_and_the_wait_for_the_next_delays_who_sent_it)
{
	struct open_request request = { 0 };

	for (int i = 0; i < 3; i++) {
		CHECK(!pass(&request, WAITS_SERVER, 1, WAKER_NETWORK, false));
		CHECK(pass(&request, WAITS_SLEEP, 2, WAKER_TIMER, false));
	}
	CHECK(!pass(&request, WAITS_SERVER, 1, WAKER_NONE, false));
}

TEST(a_thread_that_only_sleeps_delays_nobody)
{
	struct open_request request = { 0 };

	for (int i = 0; i < 3; i++)
		CHECK(!pass(&request, WAITS_SLEEP, 2, WAKER_TIMER, false));
}

TEST(a_wait_that_ends_by_time_brings_no_request)
{
	struct open_request request = { 0 };

	CHECK(!pass(&request, WAITS_POLL, 1, WAKER_TIMER, false));
	CHECK(!pass(&request, WAITS_SLEEP, 2, WAKER_TIMER, false));
	CHECK(!pass(&request, WAITS_FUTEX, 3, WAKER_TIMER, false));
}

TEST(to_poll_elsewhere_until_a_limit_is_a_sleep)
{
	struct open_request request = { 0 };

	for (int i = 0; i < 3; i++) {
		CHECK(!pass(&request, WAITS_POLL, 1, WAKER_PROCESS, false));
		CHECK(pass(&request, WAITS_POLL, 2, WAKER_TIMER, false));
	}
	CHECK(!pass(&request, WAITS_POLL, 2, WAKER_TIMER, false)); /* it ticks */
	CHECK(!pass(&request, WAITS_POLL, 1, WAKER_PROCESS, false));
	CHECK(!pass(&request, WAITS_POLL, 1, WAKER_TIMER, false)); /* where requests come it waits for the next one */
	CHECK(!pass(&request, WAITS_POLL, 2, WAKER_TIMER, false));
}

TEST(who_sleeps_at_one_place_twice_for_one_request_only_ticks)
{
	struct open_request request = { 0 };

	CHECK(!pass(&request, WAITS_POLL, 1, WAKER_NETWORK, false));
	CHECK(pass(&request, WAITS_SLEEP, 2, WAKER_TIMER, false));
	CHECK(pass(&request, WAITS_SLEEP, 3, WAKER_TIMER, false));
	CHECK(!pass(&request, WAITS_SLEEP, 3, WAKER_TIMER, false));
	CHECK(!pass(&request, WAITS_SLEEP, 4, WAKER_TIMER, false));
}

TEST(a_job_of_a_thread_with_a_request_is_one_and_any_other_is_not)
{
	struct open_request request = { 0 };

	CHECK(!pass(&request, WAITS_FUTEX, 1, WAKER_THREAD, false));
	CHECK(!pass(&request, WAITS_SLEEP, 2, WAKER_TIMER, false));
	CHECK(!pass(&request, WAITS_FUTEX, 1, WAKER_THREAD, true));
	CHECK(pass(&request, WAITS_SLEEP, 2, WAKER_TIMER, false));
	/* What it waits for meanwhile does not end it. */
	CHECK(!pass(&request, WAITS_FUTEX, 5, WAKER_THREAD, false));
	CHECK(!pass(&request, WAITS_FILE, 6, WAKER_DISK, false));
	CHECK(pass(&request, WAITS_SLEEP, 3, WAKER_TIMER, false));
	CHECK(!pass(&request, WAITS_FUTEX, 1, WAKER_TIMER, false));
	CHECK(!pass(&request, WAITS_SLEEP, 2, WAKER_TIMER, false));
}

TEST(a_condition_with_a_limit_is_a_sleep_except_where_jobs_are_waited_for)
{
	struct open_request request = { 0 };

	CHECK(!pass(&request, WAITS_SERVER, 1, WAKER_PROCESS, false));
	CHECK(pass(&request, WAITS_FUTEX, 2, WAKER_TIMER, false));
	CHECK(!pass(&request, WAITS_FUTEX, 1, WAKER_THREAD, true));
	CHECK(!pass(&request, WAITS_FUTEX, 1, WAKER_TIMER, false));
	/* Nor where it is not known. */
	CHECK(!pass(&request, WAITS_SERVER, 1, WAKER_PROCESS, false));
	CHECK(!pass(&request, WAITS_FUTEX, 0, WAKER_TIMER, false));
}

TEST(a_wait_with_a_limit_that_is_repeated_until_another_thread_ends_it_is_no_tick)
{
	struct open_request request = { 0 };
	struct given again;

	give(&again, WAITS_FUTEX, 2, WAKER_TIMER, false);
	again.wait.is_repeated = true;
	CHECK(!pass(&request, WAITS_SERVER, 1, WAKER_PROCESS, false));
	for (int i = 0; i < 3; i++) {
		CHECK(pass(&request, WAITS_FUTEX, 2, WAKER_TIMER, false));
		CHECK(!pass_given(&request, &again));
		CHECK(!pass(&request, WAITS_FUTEX, 2, WAKER_THREAD, false));
	}
	CHECK(pass(&request, WAITS_SLEEP, 3, WAKER_TIMER, false));
}

TEST(a_poll_in_an_iteration_of_an_event_loop_is_no_wait_for_the_next_request)
{
	struct open_request request = { 0 };
	struct given nested;

	give(&nested, WAITS_POLL, 2, WAKER_PROCESS, false);
	nested.wait.is_in_iteration = true;
	CHECK(!pass(&request, WAITS_POLL, 1, WAKER_NETWORK, false));
	CHECK(pass_given(&request, &nested));
	CHECK(pass(&request, WAITS_SLEEP, 3, WAKER_TIMER, false));
	CHECK(!pass(&request, WAITS_POLL, 1, WAKER_TIMER, false));
	CHECK(!pass_given(&request, &nested));
}

TEST(a_peer_that_does_not_answer_in_time_delays_who_asked)
{
	struct open_request request = { 0 };

	CHECK(!pass(&request, WAITS_CLIENT, 2, WAKER_TIMER, false));
	CHECK(!pass(&request, WAITS_SERVER, 1, WAKER_NETWORK, false));
	CHECK(pass(&request, WAITS_CLIENT, 2, WAKER_TIMER, false));
}

TEST(to_poll_nothing_is_to_sleep)
{
	static const struct wait_facts sleeps[] = {
		{ .syscall = SYS_poll, .operation = 100 },
		{ .syscall = SYS_ppoll, .object = 0 },
		{ .syscall = SYS_select, .object = 0 },
		{ .syscall = SYS_pselect6, .object = 0 },
	};
	static const struct wait_facts waits[] = {
		{ .syscall = SYS_poll, .value = 2 },
		{ .syscall = SYS_select, .object = 1024 },
		{ .syscall = SYS_epoll_wait, .object = 0 },
	};
	struct request_wait wait = { .cause = CAUSE_POLL, .kind = WAKER_TIMER };

	for (size_t i = 0; i < sizeof(sleeps) / sizeof(*sleeps); i++) {
		wait.facts = &sleeps[i];
		CHECK(open_request_is_delayed(&(struct open_request){ .is_open = true }, &wait));
	}
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		wait.facts = &waits[i];
		CHECK(!open_request_is_delayed(&(struct open_request){ .is_open = true }, &wait));
	}
}

TEST(a_thread_has_the_request_of_the_one_that_made_it)
{
	struct open_request parent = { 0 }, child = { 0 };

	open_request_inherit(&child, &parent);
	CHECK(!pass(&child, WAITS_SLEEP, 2, WAKER_TIMER, false));
	pass(&parent, WAITS_POLL, 1, WAKER_NETWORK, false);
	open_request_inherit(&child, &parent);
	CHECK(pass(&child, WAITS_SLEEP, 2, WAKER_TIMER, false));
	CHECK(!pass(&child, WAITS_SLEEP, 2, WAKER_TIMER, false));
	CHECK(pass(&parent, WAITS_SLEEP, 2, WAKER_TIMER, false));
}

/* --- Beside the definition ----------------------------------------------------------------------- */

enum { WAITS = 60, PLAYS = 2000, PLACES = 4 };

static bool takes(const struct given *given)
{
	return given->kind == WAITS_SERVER ||
	       ((given->kind == WAITS_POLL || given->kind == WAITS_PIPE) && !given->wait.is_in_iteration);
}

static bool same_place(const struct given *a, const struct given *b)
{
	return a->wait.stack && a->wait.stack == b->wait.stack;
}

static bool is_sleep(const struct given *all, size_t i)
{
	size_t at = all[i].opener;

	if (all[i].kind == WAITS_SLEEP)
		return true;
	if ((all[i].kind == WAITS_POLL || all[i].kind == WAITS_PIPE) && all[i].wait.is_in_iteration)
		return !all[i].wait.is_by_thread;
	if (all[i].wait.kind != WAKER_TIMER || !all[i].wait.stack || all[i].wait.is_repeated)
		return false;
	if (all[i].kind == WAITS_POLL)
		return at < i && all[at].wait.stack && !same_place(&all[at], &all[i]);
	return all[i].kind == WAITS_FUTEX && !(at < i && same_place(&all[at], &all[i]));
}

/* Whether it was the last place where the thread slept between the opener and the i-th, and nobody has ended a wait there since. */
static bool slept_there_last(const struct given *all, size_t i)
{
	for (size_t k = i; k-- > all[i].opener + 1;) {
		if (all[k].kind == WAITS_FUTEX && all[k].wait.is_by_thread && same_place(&all[k], &all[i]))
			return false;
		if (is_sleep(all, k))
			return same_place(&all[k], &all[i]);
	}
	return false;
}

/*
 * The wait, of all so far, that brought the request which is open before the i-th; i if none is. Looks back, where
 * the request itself looks forward.
 */
static size_t find_opener(const struct given *all, size_t i)
{
	for (size_t k = i; k--;) {
		const struct given *wait = &all[k];
		enum waker_kind by = wait->wait.kind;
		bool is_job = by == WAKER_THREAD && wait->wait.is_job;
		size_t before;

		if (takes(wait) && !is_sleep(all, k))
			return by == WAKER_NETWORK || by == WAKER_PROCESS || is_job ? k : i;
		if (wait->kind != WAITS_FUTEX && !is_sleep(all, k))
			continue;
		before = wait->opener;
		if (wait->kind == WAITS_FUTEX && is_job && (before == k || same_place(&all[before], wait)))
			return k;
		if (before == k)
			return i;
		if (is_sleep(all, k) ? slept_there_last(all, k) : by == WAKER_TIMER && same_place(&all[before], wait))
			return i;
		return before;
	}
	return i;
}

TEST(requests_are_what_looking_back_over_all_waits_finds)
{
	static const enum waker_kind enders[] = { WAKER_TIMER,  WAKER_TIMER,  WAKER_NETWORK, WAKER_PROCESS,
						  WAKER_THREAD, WAKER_THREAD, WAKER_KERNEL };
	static struct given all[WAITS];
	size_t delays = 0;

	srand(19);
	for (int play = 0; play < PLAYS; play++) {
		struct open_request request = { 0 };

		for (size_t i = 0; i < WAITS; i++) {
			enum kind kind = rand() % WAIT_KINDS;
			bool is_delayed, expected;

			/* Places of different kinds are different. */
			give(&all[i], kind, rand() % PLACES ? (uint64_t)kind * PLACES + rand() % PLACES + 1 : 0,
			     kind == WAITS_SLEEP ? WAKER_TIMER : enders[rand() % 7], rand() % 2);
			all[i].wait.is_repeated = rand() % 4 == 0;
			all[i].wait.is_in_iteration = rand() % 2;
			is_delayed = open_request_is_delayed(&request, &all[i].wait);
			all[i].opener = find_opener(all, i);
			expected = all[i].opener < i &&
				   (is_sleep(all, i) ? !slept_there_last(all, i)
						     : kind == WAITS_CLIENT && all[i].wait.kind == WAKER_TIMER);
			CHECK_EQUAL(is_delayed, expected);
			open_request_end_wait(&request, &all[i].wait);
			delays += is_delayed;
		}
	}
	CHECK_THAT(delays, >, PLAYS);
}
