/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who waits for a word of memory while the kernel works on its request of io_uring waits for a file. */
#include "waits_fixture.h"

#include <linux/futex.h>

enum { WAIT_NS = 1000000, WORD = 0x1000 };

static void wait_for_word(uint8_t context)
{
	struct ev_sched_switch out = {
		.header = header_of(EV_SCHED_SWITCH, 1),
		.state = SWITCH_SLEEPING,
		.flags = SWITCH_HAS_STACK,
		.stack = 5,
		.syscall = SYS_futex,
		.operation = FUTEX_WAIT_BITSET_PRIVATE,
		.object = WORD,
	};
	struct ev_sched_switch in = { .next = 1, .syscall = SYSCALL_NONE };
	struct ev_sched_wake wake = { .context = context, .syscall = SYSCALL_NONE };

	push(&out, sizeof(out));
	now_ns += WAIT_NS;
	wake.header = header_of(EV_SCHED_WAKE, 1);
	push(&wake, sizeof(wake));
	in.header = header_of(EV_SCHED_SWITCH, 0);
	push(&in, sizeof(in));
	now_ns += 10;
}

static uint64_t lock_waits(void)
{
	const struct wait_lock *lock;
	size_t cursor = 0;
	uint64_t count = 0;

	while ((lock = waits_next_lock(waits, &cursor)))
		count += lock->sum.count;
	return count;
}

TEST(a_word_whose_wait_a_request_ends_is_none_that_is_waited_for)
{
	const struct wait_path *path;
	size_t cursor = 0;

	begin();
	wait_for_word(WAKE_HARDIRQ | WAKE_FOR_WORK);
	wait_for_word(WAKE_SOFTIRQ | WAKE_FOR_WORK);
	finish();
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_FILE).wait_ns, 2 * WAIT_NS);
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_FILE).idle_ns, 0);
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_CONDITION).count, 0);
	CHECK_EQUAL(lock_waits(), 0);
	path = waits_next_path(waits, &cursor);
	CHECK(path && path->wakers && path->wakers->kind == WAKER_DISK);
	end();
}

TEST(any_other_interrupt_is_a_timer_s)
{
	begin();
	wait_for_word(WAKE_HARDIRQ);
	finish();
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_CONDITION).idle_ns, WAIT_NS);
	CHECK_EQUAL(lock_waits(), 1);
	end();
}
