/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For how long a thread has not come to its poll, and which calls are one. */
#include "file_fixture.h"
#include "test.h"

enum {
	CALL_OTHER_QUEUE = 300,
	CALL_RING,
	CALL_LIST,
	CALL_SELECT,
	MS = 1000000,
	QUEUE = 2, /* descriptors */
	ELSEWHERE = 3,
	RING_BYTES = 65536,
};

int poll_begin(void *ctx, struct pt_regs *regs, long number);

static void begin(void)
{
	files_begin();
	shim_make_ring(&sample_rings, 0, RING_BYTES);
	shim_set_option(poll_kinds[CALL_FILE], POLL_EPOLL);
	shim_set_option(poll_kinds[CALL_OTHER_QUEUE], POLL_EPOLL);
	shim_set_option(poll_kinds[CALL_RING], POLL_RING);
	shim_set_option(poll_kinds[CALL_LIST], POLL_LIST);
	shim_set_option(poll_kinds[CALL_SELECT], POLL_SELECT);
	shim_current = &reader->task;
	reader->task.thread_info.status = 0;
}

static void blocks_as(struct pt_regs call, unsigned int state)
{
	reader->registers = call;
	reader->task.__state = state;
	shim_current = &reader->task;
	cpu_counts[0].next_recorded = 0; /* how it got the CPU does not matter */
	sched_switch(NULL, false, &reader->task, &world.idle[0].task, state);
	shim_thread(&reader->task)->phase = PHASE_RUNNING;
	while (shim_read(&rings, 0, NULL))
		;
}

static void blocks(struct pt_regs call)
{
	blocks_as(call, 1);
}

static void blocks_in_queue(uint64_t descriptor)
{
	blocks((struct pt_regs){ .orig_ax = CALL_FILE, .di = descriptor });
}

static void calls(struct pt_regs call)
{
	shim_current = &reader->task;
	poll_begin(NULL, &call, call.orig_ax);
}

/* What a sample says of the turn. */
static struct ev_sched_sample meet(void)
{
	struct bpf_perf_event_data ctx = { .regs.ip = 0x401234 };
	struct ev_sched_sample last = { 0 };
	const void *read;

	shim_current = &reader->task;
	sample_timer(&ctx);
	while ((read = shim_read(&sample_rings, 0, NULL)))
		last = *(const struct ev_sched_sample *)read;
	return last;
}

static void check_age(uint8_t turn, uint64_t age_ns)
{
	struct ev_sched_sample e = meet();

	CHECK_EQUAL(e.turn, turn);
	CHECK_EQUAL(e.turn_age, age_ns >> TURN_AGE_SHIFT);
}

TEST(who_has_blocked_in_polls_says_how_long_ago_it_came_to_one_while_that_is_watched)
{
	begin();
	blocks_in_queue(QUEUE);
	loops_watched_ns = shim_now_ns;
	shim_now_ns += MS;
	check_age(TURN_UNKNOWN, 0); /* that may have been the only time */
	blocks_in_queue(QUEUE);
	shim_now_ns += MS;
	check_age(TURN_SINCE_WATCH, 2 * MS);
	calls((struct pt_regs){ .orig_ax = CALL_FILE, .di = QUEUE });
	shim_now_ns += 5 * MS;
	check_age(TURN_SINCE_POLL, 5 * MS);
	shim_now_ns += 2000ull * MS;
	CHECK_EQUAL(meet().turn_age, UINT16_MAX);
	loops_watched_ns = 0;
	check_age(TURN_UNKNOWN, 0);
	/* What was seen in another watch is nothing in this one. */
	loops_watched_ns = shim_now_ns;
	shim_now_ns += MS;
	check_age(TURN_SINCE_WATCH, MS);
	files_end();
}

TEST(another_queue_a_call_that_asks_for_nothing_or_one_of_32_bits_is_no_poll_of_the_loop)
{
	begin();
	blocks_in_queue(QUEUE);
	blocks_in_queue(QUEUE);
	loops_watched_ns = shim_now_ns;
	shim_now_ns += MS;
	calls((struct pt_regs){ .orig_ax = CALL_FILE, .di = ELSEWHERE });
	calls((struct pt_regs){ .orig_ax = CALL_RING, .di = QUEUE });
	calls((struct pt_regs){ .orig_ax = CALL_LIST, .di = QUEUE, .si = 8 });
	calls((struct pt_regs){ .orig_ax = SYSCALLS_MAX + CALL_FILE, .di = QUEUE });
	calls((struct pt_regs){ .orig_ax = 1, .di = QUEUE });
	reader->task.thread_info.status = COMPAT_STATUS;
	calls((struct pt_regs){ .orig_ax = CALL_FILE, .di = QUEUE });
	reader->task.thread_info.status = 0;
	check_age(TURN_SINCE_WATCH, MS);
	calls((struct pt_regs){ .orig_ax = CALL_OTHER_QUEUE, .di = QUEUE });
	check_age(TURN_SINCE_POLL, 0);
	shim_now_ns += MS;
	calls((struct pt_regs){ .orig_ax = CALL_RING, .di = QUEUE, .r10 = 1 });
	check_age(TURN_SINCE_POLL, 0);
	files_end();
}

TEST(lists_are_polls_of_who_has_no_queue_if_there_is_more_than_one_descriptor)
{
	begin();
	blocks((struct pt_regs){ .orig_ax = CALL_LIST, .si = 1 });
	blocks((struct pt_regs){ .orig_ax = CALL_LIST, .si = 1 });
	loops_watched_ns = shim_now_ns;
	shim_now_ns += MS;
	check_age(TURN_UNKNOWN, 0);
	blocks((struct pt_regs){ .orig_ax = CALL_LIST, .si = 2 });
	blocks((struct pt_regs){ .orig_ax = CALL_SELECT, .di = 9 });
	calls((struct pt_regs){ .orig_ax = CALL_LIST, .si = 1 });
	check_age(TURN_SINCE_WATCH, MS);
	calls((struct pt_regs){ .orig_ax = CALL_LIST, .si = 2 });
	check_age(TURN_SINCE_POLL, 0);
	/* A queue is what it polls from now on; lists are of what it calls. */
	blocks_in_queue(QUEUE);
	blocks((struct pt_regs){ .orig_ax = CALL_LIST, .si = 2 });
	shim_now_ns += MS;
	calls((struct pt_regs){ .orig_ax = CALL_LIST, .si = 2 });
	check_age(TURN_SINCE_POLL, MS);
	calls((struct pt_regs){ .orig_ax = CALL_FILE, .di = QUEUE });
	check_age(TURN_SINCE_POLL, 0);
	files_end();
}

TEST(the_bell_rings_once_when_a_loop_has_run_for_long_since_it_blocked_in_a_poll)
{
	begin();
	loops_may_ring = true;
	reader->task.se.sum_exec_runtime = 9000ull * MS;
	meet();
	blocks_in_queue(QUEUE);
	blocks_in_queue(QUEUE);
	reader->task.se.sum_exec_runtime += 4 * MS - 1;
	meet();
	CHECK_EQUAL(shim_doorbell_rings, 0);
	reader->task.se.sum_exec_runtime++;
	meet();
	CHECK_EQUAL(shim_doorbell_rings, 1);
	CHECK(!loops_may_ring);
	meet();
	CHECK_EQUAL(shim_doorbell_rings, 1);
	/* In a poll that sleeps without being interruptible it waits for the kernel. */
	blocks_as((struct pt_regs){ .orig_ax = CALL_FILE, .di = QUEUE }, 2);
	CHECK_EQUAL(shim_thread(&reader->task)->loop.exec_ns, 9000ull * MS);
	files_end();
}
