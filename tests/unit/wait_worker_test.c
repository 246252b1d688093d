/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A worker of the kernel's that has nothing to do is idle, while the thread runs that will bring it something. */
#include "waits_fixture.h"

enum { WORKER = 1, SUBMITTER = 2, FOUND = 3, WAIT_NS = 1000000, CPU_OF_SUBMITTER = 1 };

/* It runs from here on. */
static void add_submitter(void)
{
	struct ev_thread_found e = {
		.header = header_of(EV_THREAD_FOUND, SUBMITTER),
		.tid = SUBMITTER,
		.pid = 1,
		.phase = PHASE_RUNNING,
		.cpu = CPU_OF_SUBMITTER,
	};

	push(&e, sizeof(e));
}

/* waker: 0: an interrupt. */
static struct wait_sum wait_as(const struct ev_sched_switch *facts, uint32_t waker)
{
	struct ev_sched_wake wake = {
		.waker = waker,
		.tid = waker,
		.context = waker ? WAKE_THREAD : WAKE_HARDIRQ,
		.syscall = waker ? SYS_io_uring_enter : SYSCALL_NONE,
	};
	struct ev_sched_switch out = *facts, in = { .next = WORKER, .syscall = SYSCALL_NONE };
	struct wait_sum sum = { 0 };

	begin();
	add_submitter();
	out.header = header_of(EV_SCHED_SWITCH, WORKER);
	out.flags |= SWITCH_HAS_STACK;
	out.stack = 5;
	push(&out, sizeof(out));
	now_ns += WAIT_NS;
	wake.header = header_of(EV_SCHED_WAKE, WORKER);
	push(&wake, sizeof(wake));
	in.header = header_of(EV_SCHED_SWITCH, 0);
	push(&in, sizeof(in));
	finish();
	for (int cause = 0; cause < CAUSES; cause++)
		if (waits_by_cause(waits, cause).count)
			sum = waits_by_cause(waits, cause);
	end();
	CHECK_EQUAL(sum.wait_ns, WAIT_NS);
	return sum;
}

TEST(a_worker_without_a_request_is_idle_whoever_brings_it_one)
{
	struct ev_sched_switch nothing = {
		.state = SWITCH_SLEEPING,
		.syscall = SYSCALL_NONE,
		.value = MEMORY_NONE,
	};

	CHECK_EQUAL(wait_as(&nothing, SUBMITTER).idle_ns, WAIT_NS);
	CHECK_EQUAL(wait_as(&nothing, 0).idle_ns, WAIT_NS);
}

TEST(a_worker_that_waits_for_the_file_of_a_request_is_not_idle)
{
	struct ev_sched_switch request = {
		.state = SWITCH_BLOCKED,
		.syscall = SYSCALL_NONE,
		.value = MEMORY_NONE,
		.object = name_of(3, KIND_PIPE),
	};

	CHECK_EQUAL(wait_as(&request, SUBMITTER).idle_ns, 0);
	request.object = 0;
	CHECK_EQUAL(wait_as(&request, 0).idle_ns, 0);
}

/* The list of those that wait says nothing of what they wait for, but of futexes. */
TEST(a_worker_that_waited_before_the_trace_began_is_idle)
{
	struct ev_thread_found found = {
		.tid = FOUND, .pid = 1, .phase = PHASE_BLOCKED, .syscall = SYSCALL_NONE, .value = MEMORY_NONE
	};
	struct ev_thread_waits waits_listed = { .state = SWITCH_SLEEPING };
	struct ev_sched_wake wake = { .waker = SUBMITTER, .tid = SUBMITTER, .syscall = SYS_io_uring_enter };

	begin();
	add_submitter();
	found.header = header_of(EV_THREAD_FOUND, FOUND);
	push(&found, sizeof(found));
	waits_listed.header = header_of(EV_THREAD_WAITS, FOUND);
	push(&waits_listed, sizeof(waits_listed));
	now_ns += WAIT_NS;
	wake.header = header_of(EV_SCHED_WAKE, FOUND);
	push(&wake, sizeof(wake));
	finish();
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_OTHER).wait_ns, WAIT_NS);
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_OTHER).idle_ns, WAIT_NS);
	end();
}

TEST(no_other_wait_outside_of_a_system_call_is_taken_for_a_worker_s)
{
	struct ev_sched_switch fault = { .state = SWITCH_SLEEPING, .syscall = SYSCALL_NONE };

	CHECK_EQUAL(wait_as(&fault, SUBMITTER).idle_ns, 0);
}
