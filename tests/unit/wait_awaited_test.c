/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who started a command waits for its end: what its first thread waits for in other processes is not idle, unless these wait for
 * something from outside.
 */
#include "waits_fixture.h"

enum { COMMAND = 10, CHILD = 11, GRANDCHILD = 12, STEP_NS = 1000000 };

/* One that waits for something itself, and how many steps. */
struct child_wait {
	uint16_t syscall;
	uint64_t object;
	uint8_t context; /* of what ends it */
	int steps;
};

static const struct child_wait sleeps = { SYS_nanosleep, 0, WAKE_HARDIRQ, 7 };
static const struct child_wait polls = { SYS_epoll_wait, 0, WAKE_SOFTIRQ, 7 };

static void hand_out_run(uint32_t pid)
{
	struct {
		struct ev_collect_run run;
		uint32_t pid;
		char text[4];
	} e = { .run = { .header = header_of(EV_COLLECT_RUN, 0), .pid_count = 1, .text_bytes = 3 }, .pid = pid };

	push(&e, sizeof(e.run) + sizeof(uint32_t) + 3);
}

static void sync_list(enum event_id id)
{
	struct ev_header e = header_of(id, 0);

	push(&e, sizeof(e));
}

/* is_listed: it lives already. */
static void add_command(bool is_listed)
{
	struct ev_thread_found e = { .tid = COMMAND, .pid = COMMAND, .phase = PHASE_RUNNING };

	if (is_listed)
		sync_list(EV_COLLECT_SYNC_BEGIN);
	e.header = header_of(EV_THREAD_FOUND, COMMAND);
	push(&e, sizeof(e));
	if (is_listed) {
		e = (struct ev_thread_found){ .header = header_of(EV_THREAD_FOUND, 1), .tid = 1, .pid = 1 };
		e.phase = PHASE_RUNNING;
		push(&e, sizeof(e));
		sync_list(EV_COLLECT_SYNC_END);
	}
}

static void add_child(uint32_t thread, uint32_t parent)
{
	struct ev_thread_born e = {
		.header = header_of(EV_THREAD_BORN, thread),
		.parent = parent,
		.tid = thread,
		.pid = thread,
	};

	push(&e, sizeof(e));
}

static void leave(uint32_t thread, uint8_t state, uint16_t syscall, uint64_t object)
{
	struct ev_sched_switch e = {
		.header = header_of(EV_SCHED_SWITCH, thread),
		.state = state,
		.flags = SWITCH_HAS_STACK,
		.stack = thread,
		.syscall = syscall,
		.object = object,
		.cpu = thread,
	};

	push(&e, sizeof(e));
}

static void enter(uint32_t thread)
{
	struct ev_sched_switch e = {
		.header = header_of(EV_SCHED_SWITCH, 0),
		.next = thread,
		.syscall = SYSCALL_NONE,
		.cpu = thread,
	};

	push(&e, sizeof(e));
}

static void wake(uint32_t thread, uint32_t waker, uint8_t context, uint16_t syscall)
{
	struct ev_sched_wake e = {
		.header = header_of(EV_SCHED_WAKE, thread),
		.waker = waker,
		.tid = waker,
		.context = context,
		.syscall = syscall,
	};

	push(&e, sizeof(e));
}

/* A process lives for a step, in its wait, and for another step; then its parent hears of that. */
static void live(uint32_t thread, uint32_t parent, const struct child_wait *wait)
{
	enter(thread);
	now_ns += STEP_NS;
	leave(thread, SWITCH_SLEEPING, wait->syscall, wait->object);
	now_ns += wait->steps * STEP_NS;
	wake(thread, 0, wait->context, SYSCALL_NONE);
	enter(thread);
	now_ns += STEP_NS;
	wake(parent, thread, WAKE_THREAD, SYS_exit_group);
	leave(thread, SWITCH_DEAD, SYS_exit_group, 0);
	enter(parent);
}

/* The steps that waits for children are idle. has_parent: the child waits for its own child, which waits so. */
static uint64_t idle_steps(const struct child_wait *wait, bool is_run, bool is_listed, bool has_parent)
{
	uint64_t steps;

	begin();
	if (is_run)
		hand_out_run(COMMAND);
	add_command(is_listed);
	now_ns += STEP_NS;
	add_child(CHILD, COMMAND);
	leave(COMMAND, SWITCH_SLEEPING, SYS_wait4, 0);
	if (has_parent) {
		enter(CHILD);
		add_child(GRANDCHILD, CHILD);
		leave(CHILD, SWITCH_SLEEPING, SYS_wait4, 0);
		live(GRANDCHILD, CHILD, wait);
		wake(COMMAND, CHILD, WAKE_THREAD, SYS_exit_group);
		leave(CHILD, SWITCH_DEAD, SYS_exit_group, 0);
		enter(COMMAND);
	} else {
		live(CHILD, COMMAND, wait);
	}
	now_ns += STEP_NS;
	finish();
	steps = waits_by_cause(waits, CAUSE_CHILD).idle_ns / STEP_NS;
	end();
	return steps;
}

TEST(what_a_child_sleeps_is_not_idle_for_who_started_the_command)
{
	CHECK_EQUAL(idle_steps(&sleeps, true, false, false), 0);
	CHECK_EQUAL(idle_steps(&sleeps, false, false, false), 7);
	CHECK_EQUAL(idle_steps(&sleeps, true, true, false), 7);
}

TEST(what_a_child_waits_for_from_outside_is_idle)
{
	CHECK_EQUAL(idle_steps(&polls, true, false, false), 7);
	CHECK_EQUAL(idle_steps(&polls, false, false, false), 7);
}

/* The wait of the child itself is idle in both: it is not the command's. */
TEST(the_same_holds_for_children_of_children)
{
	CHECK_EQUAL(idle_steps(&sleeps, true, false, true), 7);
	CHECK_EQUAL(idle_steps(&sleeps, false, false, true), 14);
	CHECK_EQUAL(idle_steps(&polls, true, false, true), 14);
}

TEST(a_command_that_sleeps_itself_is_idle)
{
	begin();
	hand_out_run(COMMAND);
	add_command(false);
	now_ns += STEP_NS;
	leave(COMMAND, SWITCH_SLEEPING, SYS_nanosleep, 0);
	now_ns += STEP_NS;
	wake(COMMAND, 0, WAKE_HARDIRQ, SYSCALL_NONE);
	enter(COMMAND);
	now_ns += STEP_NS;
	finish();
	CHECK_EQUAL(waits_by_cause(waits, CAUSE_SLEEP).idle_ns, STEP_NS);
	end();
}
