/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <sys/syscall.h>

#include "session/threads.h"
#include "values.h"
#include "waits/sums/wait_locks.h"

/* More than there is space for, and as many rows as there can be. */
enum { LOCKS = 100000, ROWS_MAX = 65536 + 1, WAIT_NS = 1000 };

static struct thread waiter = { .pid = 10, .number = 1 };

/* A wait for each of them, of a length of its own. */
static void wait_for(struct wait_locks *locks, uint64_t object, enum wait_cause cause, uint64_t begin_ns,
		     uint64_t wait_ns)
{
	struct open_wait wait = {
		.is_lock = true,
		.begin_ns = begin_ns,
		.facts.object = object,
		.cause = cause,
	};
	struct wait_end end = { .kind = WAKER_TIMER, .now_ns = begin_ns + wait_ns };
	bool is_call;

	wait_locks_begin(locks, &waiter, &wait, false);
	wait_locks_end(locks, &waiter, &wait, wait_ns, 0, NULL, &end, &is_call);
}

TEST(what_did_not_fit_is_one_row_and_no_sum_is_lost)
{
	struct wait_locks *locks = wait_locks_new();
	uint64_t count = 0, wait_ns = 0, rows = 0, others = 0;
	const struct wait_lock *lock;
	size_t cursor = 0;

	for (uint64_t i = 0; i < LOCKS; i++)
		wait_for(locks, i, CAUSE_LOCK, i, WAIT_NS + i);
	while ((lock = wait_locks_next(locks, &cursor))) {
		rows++;
		count += lock->sum.count;
		wait_ns += lock->sum.wait_ns;
		if (lock->is_others)
			others += lock->sum.count;
	}
	CHECK_EQUAL(rows, ROWS_MAX);
	CHECK_EQUAL(others, LOCKS - (ROWS_MAX - 1));
	CHECK_EQUAL(count, LOCKS);
	CHECK_EQUAL(wait_ns, (uint64_t)LOCKS * WAIT_NS + (uint64_t)LOCKS * (LOCKS - 1) / 2);
	wait_locks_free(locks);
}

TEST(those_that_have_space_keep_it_when_there_is_none_for_others)
{
	struct wait_locks *locks = wait_locks_new();
	const struct wait_lock *lock;
	size_t cursor = 0;

	for (uint64_t i = 0; i < LOCKS; i++)
		wait_for(locks, i, CAUSE_LOCK, i, WAIT_NS);
	for (uint64_t i = 0; i < 10; i++)
		wait_for(locks, i, CAUSE_LOCK, LOCKS + i, WAIT_NS);
	for (uint64_t i = 0; i < 10; i++) {
		lock = wait_locks_next(locks, &cursor);
		CHECK_EQUAL(lock->object, i);
		CHECK(!lock->is_others);
		CHECK_EQUAL(lock->sum.count, 2);
	}
	wait_locks_free(locks);
}

/* Identifiers of System V begin with 0. */
TEST(number_0_is_a_lock_like_any_other)
{
	struct wait_locks *locks = wait_locks_new();
	size_t cursor = 0;

	wait_for(locks, 0, CAUSE_SEMAPHORE, 1, WAIT_NS);
	CHECK(!wait_locks_next(locks, &cursor)->is_others);
	wait_locks_free(locks);
}

/* Two processes wait for it at once. Returns how many rows there are; *lock is the first one. */
static size_t rows_of_two(const struct wait_facts *facts, struct wait_locks *locks, const struct wait_lock **lock)
{
	struct thread waiters[2] = { { .pid = 10, .number = 1 }, { .pid = 11, .number = 2 } };
	struct open_wait wait = { .is_lock = true, .begin_ns = 1, .facts = *facts, .cause = CAUSE_LOCK };
	struct wait_end end = { .kind = WAKER_TIMER, .now_ns = 1 + WAIT_NS };
	size_t cursor = 0, count = 0;
	bool is_call;

	for (size_t i = 0; i < 2; i++)
		wait_locks_begin(locks, &waiters[i], &wait, false);
	for (size_t i = 0; i < 2; i++)
		wait_locks_end(locks, &waiters[i], &wait, WAIT_NS, 0, NULL, &end, &is_call);
	*lock = wait_locks_next(locks, &cursor);
	for (cursor = 0; wait_locks_next(locks, &cursor);)
		count++;
	return count;
}

TEST(a_locked_file_is_one_lock_for_all_processes)
{
	static const uint16_t syscalls[] = { SYS_flock, SYS_fcntl };

	for (size_t i = 0; i < 2; i++) {
		struct wait_facts facts = { .syscall = syscalls[i], .object = 0x1235 };
		struct wait_locks *locks = wait_locks_new();
		const struct wait_lock *lock;

		CHECK_EQUAL(rows_of_two(&facts, locks, &lock), 1);
		CHECK_EQUAL(lock->queue_max, 2);
		CHECK_EQUAL(lock->sum.count, 2);
		CHECK_EQUAL(lock->sum.wait_ns, 2 * WAIT_NS);
		CHECK(!lock->pid && !lock->exec_count);
		wait_locks_free(locks);
	}
}

TEST(a_locked_file_that_is_unknown_is_a_lock_of_its_process)
{
	struct wait_facts facts = { .syscall = SYS_flock };
	struct wait_locks *locks = wait_locks_new();
	const struct wait_lock *lock;

	CHECK_EQUAL(rows_of_two(&facts, locks, &lock), 2);
	wait_locks_free(locks);
}

TEST(a_futex_in_shared_memory_is_one_lock_for_all_processes)
{
	struct wait_facts facts = { .syscall = SYS_futex, .object = 0x1235, .flags = SWITCH_IN_FILE };
	struct wait_locks *locks = wait_locks_new();
	const struct wait_lock *lock;

	CHECK_EQUAL(rows_of_two(&facts, locks, &lock), 1);
	CHECK_EQUAL(lock->queue_max, 2);
	wait_locks_free(locks);
}

TEST(a_futex_at_one_address_is_a_lock_of_each_process)
{
	struct wait_facts facts = { .syscall = SYS_futex, .object = 0x7fff0000 };
	struct wait_locks *locks = wait_locks_new();
	const struct wait_lock *lock;

	CHECK_EQUAL(rows_of_two(&facts, locks, &lock), 2);
	wait_locks_free(locks);
}

/* Whether the second of two wake-ups, so long after the first one, is taken for one call with it. */
static bool is_one_call(uint64_t apart_ns, bool has_waited)
{
	struct wait_locks *locks = wait_locks_new();
	struct thread thread = { .pid = 10, .number = 2 };
	struct open_wait wait = { .is_lock = true, .facts.object = 8, .cause = CAUSE_CONDITION };
	struct open_wait wakers = { .begin_ns = 900000 };
	const struct wait_party waker = { .thread = &thread, .wait = &wakers };
	struct wait_end end = { .kind = WAKER_THREAD, .waker = &waker, .now_ns = 1000000 };
	bool is_call;

	for (int i = 0; i < 2; i++) {
		wait_locks_begin(locks, &waiter, &wait, false);
		wait_locks_end(locks, &waiter, &wait, WAIT_NS, 0, NULL, &end, &is_call);
		CHECK(i || !is_call);
		end.now_ns += apart_ns;
		if (has_waited)
			wakers.begin_ns = 1000001;
	}
	wait_locks_free(locks);
	return is_call;
}

TEST(who_wakes_two_shortly_one_after_the_other_and_does_not_wait_in_between_has_called_both)
{
	CHECK(is_one_call(5000, false));
	CHECK(is_one_call(150000, false));
	CHECK(!is_one_call(300000, false));
	CHECK(!is_one_call(150000, true));
}
