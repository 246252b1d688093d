/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread that blocks says of what it waits for. That it says so on random schedules is in
 * bpf_schedule_test.c, of files in bpf_file_test.c.
 */
#include "test.h"
#include "world.h"

#include <poll.h>

enum { NUMBER_TOO_HIGH = SYSCALLS_MAX, NO_LIMIT = 0xffff };

static const uint64_t word_at = 0x10010000;

static struct world world;
static struct world_task *task, *other;
static struct pt_regs *registers;

/* One traced task, on CPU 0; the other one is not traced. */
static void begin(void)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1000000 };

	world_init(&world, &options);
	task = world_add_task(&world, NULL);
	other = world_add_task(&world, NULL);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	world_visit(&world, 0, task);
	world_wake_in(&world, 0, task, WAKE_HARDIRQ);
	world_leave(&world, 0, LEAVE_PREEMPTED, task);
	registers = &task->registers;
}

static void end(void)
{
	CHECK(!shim_records_open());
	world_fini(&world);
}

static void set_call(uint64_t number, uint64_t first, uint64_t second, uint64_t third, uint64_t fourth)
{
	registers->orig_ax = number;
	registers->di = first;
	registers->si = second;
	registers->dx = third;
	registers->r10 = fourth;
}

static void drain(void)
{
	while (shim_read(&rings, 0, NULL))
		;
}

static struct ev_sched_switch leave(bool preempt, uint32_t state)
{
	struct ev_sched_switch e;

	shim_now_ns += 1000;
	task->task.__state = state;
	sched_switch(NULL, preempt, &task->task, &world.idle[0].task, state);
	e = *(const struct ev_sched_switch *)shim_read(&rings, 0, NULL);
	CHECK_EQUAL(e.header.event, TRACE_EVENT_SCHED_SWITCH);
	CHECK_EQUAL(e.header.thread, task->number);
	drain();
	return e;
}

static void come_back(void)
{
	shim_set_preempt_count(0, 1 << 16);
	sched_waking(NULL, &task->task);
	shim_set_preempt_count(0, 0);
	task->task.__state = 0;
	sched_switch(NULL, false, &world.idle[0].task, &task->task, 0);
	drain();
}

/* What it says when it blocks in the call that is set. */
static struct ev_sched_switch block(void)
{
	struct ev_sched_switch e = leave(false, TASK_INTERRUPTIBLE);

	CHECK_EQUAL(e.state, SWITCH_SLEEPING);
	come_back();
	return e;
}

static bool says_nothing(const struct ev_sched_switch *e)
{
	static const uint32_t none[3];

	return e->syscall == SYSCALL_NONE && !e->object && !e->value && !e->operation &&
	       !memcmp(e->owners, none, sizeof(none));
}

/* --- Futexes ---------------------------------------------------------------------------------- */

static const uint32_t words[] = { 2, 0xdead, 301, 302, 303, 0xdead };

TEST(who_waits_for_a_futex_reports_its_word_and_three_of_those_behind_it)
{
	struct ev_sched_switch e;

	begin();
	shim_plant(word_at, words, sizeof(words));
	set_call(CALL_FUTEX, word_at, 0xabcd00000000 | 137, 5, 6);
	e = block();
	CHECK_EQUAL(e.syscall, CALL_FUTEX);
	CHECK_EQUAL(e.object, word_at);
	CHECK_EQUAL(e.operation, 137);
	CHECK_EQUAL(e.value, 2);
	CHECK_EQUAL(e.owners[0], 301);
	CHECK_EQUAL(e.owners[1], 302);
	CHECK_EQUAL(e.owners[2], 303);
	end();
}

TEST(of_a_futex_at_the_end_of_what_can_be_read_the_word_alone_is_recorded)
{
	struct ev_sched_switch e;

	begin();
	for (uint32_t bytes = 4; bytes < 20; bytes += 4) {
		shim_plant(word_at + 0x1000 * bytes, words, bytes);
		set_call(CALL_FUTEX, word_at + 0x1000 * bytes, 128, 0, 0);
		e = block();
		CHECK_EQUAL(e.value, 2);
		CHECK(!e.owners[0] && !e.owners[1] && !e.owners[2]);
	}
	end();
}

TEST(a_futex_that_cannot_be_read_is_recorded_without_its_words)
{
	static const uint64_t addresses[] = { word_at, 0, 1, UINT64_MAX, UINT64_MAX - 3, 0xffff888000000000 };
	struct ev_sched_switch e;

	begin();
	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		set_call(CALL_FUTEX, addresses[i], 128, 0, 0);
		e = block();
		CHECK_EQUAL(e.syscall, CALL_FUTEX);
		CHECK_EQUAL(e.object, addresses[i]);
		CHECK_EQUAL(e.operation, 128 | FUTEX_WITHOUT_LIMIT);
		CHECK(!e.value && !e.owners[0] && !e.owners[1] && !e.owners[2]);
	}
	end();
}

TEST(the_flags_of_a_futex_are_its_operation_where_they_come_fourth)
{
	struct ev_sched_switch e;

	begin();
	shim_plant(word_at, words, sizeof(words));
	set_call(CALL_FUTEX_FLAGS, word_at, 7, 8, 0x82);
	e = block();
	CHECK_EQUAL(e.syscall, CALL_FUTEX_FLAGS);
	CHECK_EQUAL(e.object, word_at);
	CHECK_EQUAL(e.operation, 0x82 | FUTEX_WITHOUT_LIMIT);
	registers->r8 = word_at;
	CHECK_EQUAL(block().operation, 0x82);
	CHECK_EQUAL(e.value, 2);
	CHECK_EQUAL(e.owners[0], 301);
	CHECK_EQUAL(e.owners[2], 303);
	end();
}

TEST(of_several_futexes_the_first_is_recorded)
{
	const struct {
		uint64_t value, address;
		uint32_t flags, reserved;
	} vector[] = {
		{ 77, word_at, 2, 0 },
		{ 78, word_at + 4096, 2, 0 },
	};
	struct ev_sched_switch e;

	begin();
	shim_plant(word_at, words, sizeof(words));
	shim_plant(word_at + 0x100, vector, sizeof(vector));
	set_call(CALL_FUTEX_VECTOR, word_at + 0x100, 2, 0, 0);
	e = block();
	CHECK_EQUAL(e.syscall, CALL_FUTEX_VECTOR);
	CHECK_EQUAL(e.object, word_at);
	CHECK(!e.operation);
	CHECK_EQUAL(e.value, 2);
	CHECK_EQUAL(e.owners[0], 301);
	CHECK_EQUAL(e.owners[2], 303);

	/* One that is not there. */
	set_call(CALL_FUTEX_VECTOR, word_at + 0x10000, 2, 0, 0);
	e = block();
	CHECK_EQUAL(e.syscall, CALL_FUTEX_VECTOR);
	CHECK(!e.object && !e.value && !e.owners[0]);
	end();
}

/* --- poll() ----------------------------------------------------------------------------------- */

static void plant_polled(int descriptor, int other)
{
	const struct {
		int descriptor;
		short events, revents;
	} polled[] = {
		{ descriptor, POLLIN, 0 },
		{ other, POLLIN, 0 },
	};

	shim_plant(word_at, polled, sizeof(polled));
}

TEST(a_poll_of_one_descriptor_waits_for_its_file_and_one_of_several_for_none)
{
	struct ev_sched_switch e;
	uint64_t file;

	begin();
	plant_polled(1, 2);
	set_call(CALL_FILE, 1, 0, 0, 0);
	file = block().object;
	set_call(CALL_POLL, word_at, 1, 1000, 0);
	e = block();
	CHECK(file);
	CHECK_EQUAL(e.syscall, CALL_POLL);
	CHECK_EQUAL(e.object, file);
	CHECK_EQUAL(e.value, 1);
	CHECK_EQUAL(e.owners[0], POLLIN);
	set_call(CALL_POLL, word_at, 2, 1000, 0);
	e = block();
	CHECK(!e.object && !e.owners[0]);
	CHECK_EQUAL(e.value, 2);
	CHECK_EQUAL(e.operation, 1000);
	set_call(CALL_POLL, word_at, 0, 1000, 0);
	e = block();
	CHECK(!e.object && !e.value);
	end();
}

TEST(a_poll_of_what_is_no_file_waits_for_none)
{
	static const int descriptors[] = { -1, WORLD_FILES, WORLD_DESCRIPTORS, 1 << 30 };

	begin();
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(*descriptors); i++) {
		plant_polled(descriptors[i], 0);
		set_call(CALL_POLL, word_at, 1, 1000, 0);
		CHECK(!block().object);
	}
	/* And of what cannot be read. */
	set_call(CALL_POLL, word_at + 0x10000, 1, 1000, 0);
	CHECK(!block().object);
	end();
}

TEST(the_milliseconds_of_a_poll_are_recorded_up_to_those_that_mean_no_limit)
{
	static const struct {
		uint64_t third;
		uint16_t recorded;
	} limits[] = {
		{ 0, 0 },
		{ 1, 1 },
		{ 65534, 65534 },
		{ 65535, NO_LIMIT },
		{ 65536, NO_LIMIT },
		{ INT32_MAX, NO_LIMIT },
		{ UINT32_MAX, NO_LIMIT },
		{ UINT64_MAX, NO_LIMIT },
	};

	begin();
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		set_call(CALL_POLL, word_at, 3, limits[i].third, 0);
		CHECK_EQUAL(block().operation, limits[i].recorded);
	}
	end();
}

TEST(the_limit_of_a_poll_can_be_at_an_address)
{
	static const struct {
		uint64_t seconds, nanoseconds;
		uint16_t recorded;
	} limits[] = {
		{ 0, 0, 0 },
		{ 0, 999999, 0 },
		{ 0, 1000000, 1 },
		{ 65, 534999999, 65534 },
		{ 65, 535000000, NO_LIMIT },
		{ 65535, 0, NO_LIMIT },
		{ UINT64_MAX, 0, NO_LIMIT },
		{ 4294967, 296000000, NO_LIMIT },
		{ 0, UINT64_MAX, NO_LIMIT },
	};
	struct ev_sched_switch e;

	begin();
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		shim_plant(word_at, &limits[i], 16);
		set_call(CALL_POLL_TIME, word_at + 0x10000, 3, word_at, 0);
		e = block();
		CHECK_EQUAL(e.operation, limits[i].recorded);
		CHECK_EQUAL(e.value, 3);
		CHECK_EQUAL(e.syscall, CALL_POLL_TIME);
	}
	set_call(CALL_POLL_TIME, word_at + 0x10000, 3, 0, 0);
	CHECK_EQUAL(block().operation, NO_LIMIT);
	end();
}

/* --- Other calls, and none -------------------------------------------------------------------- */

TEST(any_other_call_reports_its_first_two_arguments)
{
	struct ev_sched_switch e;

	begin();
	set_call(CALL_PLAIN, 0x123456789abcdef0, 0x1122334455667788, 5, 6);
	e = block();
	CHECK_EQUAL(e.syscall, CALL_PLAIN);
	CHECK_EQUAL(e.object, 0x123456789abcdef0);
	CHECK_EQUAL(e.value, 0x55667788);
	CHECK(!e.operation && !e.owners[0]);
	end();
}

TEST(a_page_fault_is_no_system_call_whatever_the_registers_hold)
{
	static const uint64_t numbers[] = { UINT64_MAX, UINT64_MAX - 5, NUMBER_TOO_HIGH, 1 << 30,
					    1ull << 32 | CALL_FUTEX };
	struct ev_sched_switch e;

	begin();
	shim_plant(word_at, words, sizeof(words));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		set_call(numbers[i], word_at, 128, 5, 6);
		e = block();
		CHECK(says_nothing(&e) && !(e.flags & SWITCH_COMPAT));
	}
	end();
}

TEST(the_kernel_s_threads_of_a_process_are_in_no_system_call)
{
	struct ev_sched_switch e;

	begin();
	set_call(CALL_FUTEX, word_at, 128, 5, 6);
	task->task.flags = PF_USER_WORKER;
	e = block();
	CHECK_EQUAL(e.syscall, SYSCALL_NONE);
	CHECK_EQUAL(e.value, MEMORY_NONE);
	CHECK(!e.object && !e.operation);
	task->task.flags = PF_IO_WORKER;
	e = block();
	CHECK_EQUAL(e.syscall, SYSCALL_NONE);
	CHECK_EQUAL(e.value, MEMORY_NONE);
	CHECK(!e.object && !e.operation);
	end();
}

TEST(a_worker_of_io_uring_waits_for_the_file_of_its_request)
{
	struct io_worker worker = { 0 };
	struct io_kiocb request = { 0 };
	struct ev_sched_switch e;
	uint64_t file;

	begin();
	set_call(CALL_FILE, 1, 0, 0, 0);
	file = block().object;
	task->task.flags = PF_IO_WORKER;
	task->task.worker_private = &worker;
	CHECK(!block().object);
	worker.cur_work = &request.work;
	CHECK(!block().object);
	request.file = world.descriptors[1];
	e = block();
	CHECK(file);
	CHECK_EQUAL(e.object, file);
	CHECK_EQUAL(e.value, MEMORY_NONE);
	CHECK_EQUAL(e.syscall, SYSCALL_NONE);
	end();
}

TEST(a_call_of_32_bits_is_recorded_as_such_and_not_by_its_number)
{
	struct ev_sched_switch e;

	begin();
	set_call(CALL_FUTEX, word_at, 128, 5, 6);
	task->task.thread_info.status = 2;
	e = block();
	CHECK(says_nothing(&e) && e.flags & SWITCH_COMPAT);
	task->task.thread_info.status = ~2u;
	e = block();
	CHECK_EQUAL(e.syscall, CALL_FUTEX);
	CHECK(!(e.flags & SWITCH_COMPAT));
	end();
}

TEST(what_waits_for_a_device_says_so_even_in_a_page_fault)
{
	struct ev_sched_switch e;

	begin();
	task->task.in_iowait = 1;
	set_call(CALL_PLAIN, 1, 2, 3, 4);
	e = block();
	CHECK(e.flags & SWITCH_IO_WAIT);
	CHECK_EQUAL(e.syscall, CALL_PLAIN);
	set_call(-1, 1, 2, 3, 4);
	e = block();
	CHECK(e.flags & SWITCH_IO_WAIT && says_nothing(&e));
	task->task.in_iowait = 0;
	CHECK(!(block().flags & SWITCH_IO_WAIT));
	end();
}

TEST(a_call_that_is_restarted_is_recorded_as_the_one_before)
{
	struct ev_sched_switch e;

	begin();
	set_call(CALL_FUTEX, word_at, 137, 5, 6);
	block();
	shim_plant(word_at, words, sizeof(words));
	for (uint32_t i = 0; i < 3; i++) {
		set_call(CALL_RESTART, 0xdead, 0xbeef, 5, 6);
		e = block();
		CHECK_EQUAL(e.syscall, CALL_FUTEX);
		CHECK_EQUAL(e.object, word_at);
		CHECK_EQUAL(e.operation, 137);
		CHECK_EQUAL(e.value, 2);
		CHECK_EQUAL(e.owners[0], 301);
		CHECK_EQUAL(e.owners[2], 303);
		/* No call comes in between. */
		set_call(-1, 0xdead, 0xbeef, 5, 6);
		e = block();
		CHECK(says_nothing(&e));
	}
	set_call(CALL_PLAIN, 0x77, 0xbeef, 5, 6);
	block();
	set_call(CALL_RESTART, 0xdead, 0xbeef, 5, 6);
	e = block();
	CHECK_EQUAL(e.syscall, CALL_PLAIN);
	CHECK_EQUAL(e.object, 0x77);
	CHECK(!e.operation);
	CHECK_EQUAL(e.value, 0xbeef);
	end();
}

/* Its number is 0, which is a system call's, too. */
TEST(a_call_that_is_restarted_and_was_not_seen_is_not_recorded_as_another)
{
	const struct ev_thread_found *found;
	struct ev_sched_switch e;

	begin();
	set_call(CALL_RESTART, 0xdead, 0xbeef, 5, 6);
	e = block();
	CHECK_EQUAL(e.syscall, CALL_RESTART);
	CHECK(!e.object && !e.operation);
	e = block();
	CHECK_EQUAL(e.syscall, CALL_RESTART);
	CHECK(!e.object && !e.operation);
	leave(false, TASK_INTERRUPTIBLE);
	list_threads(&(struct bpf_iter__task){ .task = &task->task });
	found = (const struct ev_thread_found *)shim_read(&rings, 0, NULL);
	CHECK_EQUAL(found->phase, PHASE_BLOCKED);
	CHECK_EQUAL(found->syscall, CALL_RESTART);
	CHECK(!found->object);
	end();
}

TEST(who_does_not_block_waits_for_nothing)
{
	struct ev_sched_switch e;

	begin();
	task->task.in_iowait = 1;
	set_call(CALL_PLAIN, 1, 2, 3, 4);
	e = leave(true, TASK_INTERRUPTIBLE);
	CHECK_EQUAL(e.state, SWITCH_RUNNABLE);
	CHECK(says_nothing(&e) && !(e.flags & SWITCH_IO_WAIT));
	come_back();
	e = leave(false, 0);
	CHECK_EQUAL(e.state, SWITCH_RUNNABLE);
	CHECK(says_nothing(&e) && !(e.flags & SWITCH_IO_WAIT));
	come_back();
	e = leave(false, TASK_DEAD);
	CHECK_EQUAL(e.state, SWITCH_DEAD);
	CHECK(says_nothing(&e) && !(e.flags & SWITCH_IO_WAIT));
	end();
}

TEST(who_could_run_reports_who_has_its_cpu)
{
	const struct ev_thread_other *recorded;
	struct ev_sched_switch e;

	begin();
	shim_now_ns += 1000;
	sched_switch(NULL, true, &task->task, &other->task, 0);
	recorded = (const struct ev_thread_other *)shim_read(&rings, 0, NULL);
	CHECK_EQUAL(recorded->header.event, TRACE_EVENT_THREAD_OTHER);
	CHECK_EQUAL(recorded->tid, (uint32_t)other->task.pid);
	e = *(const struct ev_sched_switch *)shim_read(&rings, 0, NULL);
	CHECK_EQUAL(e.state, SWITCH_RUNNABLE);
	CHECK(!e.next);
	CHECK_EQUAL(e.value, (uint32_t)other->task.pid);
	drain();
	/* And who had it before, of whom all is recorded. */
	sched_switch(NULL, false, &other->task, &task->task, 1);
	e = *(const struct ev_sched_switch *)shim_read(&rings, 0, NULL);
	CHECK(!e.header.thread);
	CHECK_EQUAL(e.next, task->number);
	CHECK_EQUAL(e.value, (uint32_t)other->task.pid);
	CHECK(!shim_read(&rings, 0, NULL));
	/* Nobody has the CPU of one that waits for something else. */
	task->task.__state = TASK_INTERRUPTIBLE;
	set_call(CALL_PLAIN, 1, 2, 3, 4);
	sched_switch(NULL, false, &task->task, &other->task, TASK_INTERRUPTIBLE);
	e = *(const struct ev_sched_switch *)shim_read(&rings, 0, NULL);
	CHECK_EQUAL(e.state, SWITCH_SLEEPING);
	CHECK_EQUAL(e.value, 2);
	end();
}

TEST(others_that_take_turns_while_a_thread_waits_for_their_cpu_are_recorded_but_not_for_ever)
{
	struct world_task *third;

	begin();
	third = world_add_task(&world, NULL);
	sched_switch(NULL, true, &task->task, &other->task, 0);
	drain();
	for (uint32_t i = 0; i < 300; i++) {
		const struct ev_sched_switch *e;

		sched_switch(NULL, true, i % 2 ? &third->task : &other->task, i % 2 ? &other->task : &third->task, 0);
		e = (const struct ev_sched_switch *)shim_read(&rings, 0, NULL);
		if (e && e->header.event == TRACE_EVENT_THREAD_OTHER)
			e = (const struct ev_sched_switch *)shim_read(&rings, 0, NULL);
		CHECK_EQUAL(e != NULL, i < 256);
		CHECK(!e ||
		      (e->value == (uint32_t)(i % 2 ? third : other)->task.pid &&
		       e->object == (uint32_t)(i % 2 ? other : third)->task.pid && !e->header.thread && !e->next));
	}
	/* Nor when the CPU has nothing to do any more. */
	sched_switch(NULL, true, &other->task, &task->task, 0);
	sched_switch(NULL, true, &task->task, &other->task, 0);
	sched_switch(NULL, true, &other->task, &world.idle[0].task, 1);
	drain();
	sched_switch(NULL, true, &world.idle[0].task, &other->task, 0);
	sched_switch(NULL, true, &other->task, &third->task, 0);
	CHECK(!shim_read(&rings, 0, NULL));
	end();
}

/* --- The CPU limit of a cgroup ---------------------------------------------------------------- */

/* Of the next record, which comes before the switch that gives the task a CPU; 0: there is none. */
static uint64_t throttled_on_return(void)
{
	const struct ev_header *header;
	uint64_t throttled_ns = 0;

	drain();
	task->task.__state = 0;
	sched_switch(NULL, false, &world.idle[0].task, &task->task, 0);
	header = shim_read(&rings, 0, NULL);
	if (header->event == TRACE_EVENT_SCHED_THROTTLED) {
		CHECK_EQUAL(header->thread, task->number);
		throttled_ns = ((const struct ev_sched_throttled *)header)->throttled_ns;
		header = shim_read(&rings, 0, NULL);
	}
	CHECK_EQUAL(header->event, TRACE_EVENT_SCHED_SWITCH);
	drain();
	return throttled_ns;
}

TEST(a_thread_that_a_limit_stops_reports_so_and_for_how_long)
{
	struct cfs_rq queue;

	begin();
	queue = *task->task.se.cfs_rq;
	task->task.se.cfs_rq = &queue;
	queue.throttled_clock_self_time = 7000;
	task->task.throttled = true;
	CHECK(leave(false, 0).flags & SWITCH_THROTTLED);
	task->task.throttled = false;
	queue.throttled_clock_self_time += 400;
	CHECK_EQUAL(throttled_on_return(), 400);
	/* While its queue is stopped for others, it is not. */
	CHECK(!(leave(true, 0).flags & SWITCH_THROTTLED));
	queue.throttled_clock_self_time += 400;
	CHECK(!throttled_on_return());
	end();
}

TEST(before_threads_were_stopped_by_themselves_all_that_wait_in_a_queue_are)
{
	struct cfs_rq queue, other_queue;

	begin();
	shim_missing_field = "task->throttled";
	queue = other_queue = *task->task.se.cfs_rq;
	queue.throttled_clock_self_time = 7000;
	other_queue.throttled_clock_self_time = 90;
	task->task.se.cfs_rq = &queue;
	/* It was preempted before. */
	CHECK(!(leave(true, 0).flags & SWITCH_THROTTLED));
	queue.throttled_clock_self_time += 400;
	CHECK_EQUAL(throttled_on_return(), 400);
	/* What it leaves is stopped; it is moved to another one. */
	queue.throttle_count = 1;
	CHECK(leave(true, 0).flags & SWITCH_THROTTLED);
	queue.throttled_clock_self_time += 500;
	task->task.se.cfs_rq = &other_queue;
	CHECK_EQUAL(throttled_on_return(), 500);
	/* It is woken on the CPU of a stopped one. */
	leave(false, TASK_INTERRUPTIBLE);
	task->task.se.cfs_rq = &queue;
	sched_waking(NULL, &task->task);
	sched_wakeup(NULL, &task->task);
	queue.throttled_clock_self_time += 600;
	CHECK_EQUAL(throttled_on_return(), 600);
	end();
}

TEST(without_limits_in_the_kernel_nothing_is_said_of_them)
{
	struct cfs_rq queue;

	begin();
	shim_missing_field = "throttle";
	queue = *task->task.se.cfs_rq;
	task->task.se.cfs_rq = &queue;
	task->task.throttled = true;
	queue.throttle_count = 1;
	CHECK(!(leave(true, 0).flags & SWITCH_THROTTLED));
	queue.throttled_clock_self_time = queue.throttled_clock_pelt_time = 400;
	CHECK(!throttled_on_return());
	end();
}

TEST(who_is_stopped_reports_where)
{
	struct ev_sched_switch e;

	begin();
	set_call(CALL_PLAIN, 0x99, 2, 3, 4);
	e = leave(false, 4);
	CHECK_EQUAL(e.state, SWITCH_STOPPED);
	CHECK_EQUAL(e.syscall, CALL_PLAIN);
	CHECK_EQUAL(e.object, 0x99);
	end();
}

/* --- Page faults ------------------------------------------------------------------------------ */

enum { FAULT_AT = 0x5000 };

static const uint64_t mapped_at = 0x20000000;

/* The code at FAULT_AT touches an address, and the kernel blocks for it. */
static struct ev_sched_switch fault(uint64_t address, uint32_t state)
{
	struct ev_sched_switch e;

	set_call(-1, 1, 2, 3, 4);
	registers->ip = FAULT_AT;
	shim_current = &task->task;
	page_fault(NULL, address, registers);
	e = leave(false, state);
	come_back();
	return e;
}

static struct vm_area_struct *map(struct file *file)
{
	static struct vm_area_struct area;

	area = (struct vm_area_struct){ .vm_file = file, .vm_start = mapped_at };
	shim_mapped = &area;
	shim_mapped_begin = mapped_at;
	shim_mapped_bytes = 0x1000;
	return &area;
}

TEST(a_page_fault_waits_for_the_file_that_is_mapped_there)
{
	struct ev_sched_switch e;
	uint64_t file;

	begin();
	set_call(CALL_FILE, 1, 0, 0, 0);
	file = block().object;
	map(world.descriptors[1]);
	e = fault(mapped_at + 0xfff, TASK_UNINTERRUPTIBLE);
	CHECK_EQUAL(e.state, SWITCH_BLOCKED);
	CHECK_EQUAL(e.syscall, SYSCALL_NONE);
	CHECK(!e.operation);
	CHECK(file);
	CHECK_EQUAL(e.object, file);
	CHECK_EQUAL(e.value, MEMORY_OF_FILE);
	/* A file that is being closed is not the one that was mapped. */
	map(world.descriptors[2]);
	CHECK_THAT(fault(mapped_at, TASK_UNINTERRUPTIBLE).object, !=, file);
	world_open(&world, 1, NULL);
	set_call(CALL_FILE, 1, 0, 0, 0);
	CHECK(!block().object);
	end();
}

TEST(a_page_fault_on_memory_of_no_file_says_so)
{
	struct ev_sched_switch e;

	begin();
	map(NULL);
	e = fault(mapped_at, TASK_UNINTERRUPTIBLE);
	CHECK(!e.object);
	CHECK_EQUAL(e.value, MEMORY_ANONYMOUS);
	end();
}

TEST(a_page_fault_says_nothing_where_no_mapping_can_be_seen)
{
	struct ev_sched_switch e;

	begin();
	e = fault(mapped_at, TASK_UNINTERRUPTIBLE);
	CHECK(says_nothing(&e));
	map(world.descriptors[1]);
	e = fault(mapped_at + 0x1000, TASK_UNINTERRUPTIBLE);
	CHECK(says_nothing(&e));
	end();
}

TEST(a_wait_elsewhere_than_where_the_last_page_fault_was_is_not_in_it)
{
	struct ev_sched_switch e;

	begin();
	map(world.descriptors[1]);
	/* Of a kernel that does not say. */
	set_call(-1, 1, 2, 3, 4);
	registers->ip = 0;
	e = leave(false, TASK_UNINTERRUPTIBLE);
	come_back();
	CHECK(says_nothing(&e));
	/* What can be interrupted is not for a page. */
	e = fault(mapped_at, TASK_INTERRUPTIBLE);
	CHECK(says_nothing(&e));
	registers->ip = FAULT_AT + 1;
	e = leave(false, TASK_UNINTERRUPTIBLE);
	come_back();
	CHECK(says_nothing(&e));
	/* Within a system call the kernel touches the memory itself. */
	set_call(CALL_PLAIN, 0x77, 0, 0, 0);
	registers->ip = FAULT_AT;
	e = leave(false, TASK_UNINTERRUPTIBLE);
	CHECK_EQUAL(e.syscall, CALL_PLAIN);
	CHECK_EQUAL(e.object, 0x77);
	CHECK(!e.value);
	end();
}

/* --- Calls with a path -------------------------------------------------------------------------- */

enum { CALL_PATH = CALL_COUNT, CALL_PATH_AT, CURRENT = -100 };

static const uint64_t path_at = 0x30000000, other_path_at = 0x30001000;

static struct ev_sched_switch wait_in_path_call(uint64_t call, uint64_t first, uint64_t second)
{
	shim_set_option(wait_arguments[CALL_PATH], ARGUMENT_PATH);
	shim_set_option(wait_arguments[CALL_PATH_AT], ARGUMENT_PATH_AT);
	set_call(call, first, second, 0, 0);
	return block();
}

TEST(a_call_with_a_path_is_for_the_file_that_the_path_says)
{
	struct ev_sched_switch e;
	uint64_t name;

	begin();
	shim_plant(path_at, "/spool/message-1", 17);
	shim_plant(other_path_at, "/spool/message-2", 17);
	e = wait_in_path_call(CALL_PATH, path_at, 0);
	CHECK(e.flags & SWITCH_IN_FILE);
	name = e.object;
	CHECK(name & 1);
	CHECK_EQUAL(wait_in_path_call(CALL_PATH, path_at, 0).object, name);
	/* An absolute path begins nowhere else. */
	CHECK_EQUAL(wait_in_path_call(CALL_PATH_AT, 1, path_at).object, name);
	CHECK_EQUAL(wait_in_path_call(CALL_PATH_AT, CURRENT, path_at).object, name);
	CHECK_THAT(wait_in_path_call(CALL_PATH, other_path_at, 0).object, !=, name);
	end();
}

TEST(a_path_that_begins_in_another_directory_is_another_file)
{
	uint64_t in_one, in_other;

	begin();
	shim_plant(path_at, "message-1", 10);
	in_one = wait_in_path_call(CALL_PATH_AT, 1, path_at).object;
	in_other = wait_in_path_call(CALL_PATH_AT, 2, path_at).object;
	CHECK(in_one & 1);
	CHECK_THAT(in_one, !=, in_other);
	CHECK_EQUAL(wait_in_path_call(CALL_PATH_AT, 1, path_at).object, in_one);
	end();
}

TEST(an_empty_path_is_the_file_of_the_descriptor)
{
	uint64_t file;

	begin();
	shim_plant(path_at, "", 1);
	set_call(CALL_FILE, 1, 0, 0, 0);
	file = block().object;
	CHECK(file);
	CHECK_EQUAL(wait_in_path_call(CALL_PATH_AT, 1, path_at).object, file);
	end();
}

TEST(a_path_that_cannot_be_read_is_no_file)
{
	struct ev_sched_switch e;

	begin();
	e = wait_in_path_call(CALL_PATH, path_at, 0);
	CHECK(!(e.flags & SWITCH_IN_FILE));
	CHECK_EQUAL(e.object, path_at);
	/* Its end lies where nothing can be read. */
	shim_plant(path_at, "/spool", 6);
	CHECK(!(wait_in_path_call(CALL_PATH, path_at, 0).flags & SWITCH_IN_FILE));
	end();
}

/* --- Memory that processes share -------------------------------------------------------------- */

enum { AREA_SHARED = 8, SHARED_WAIT = 0, PRIVATE_WAIT = 128, FIRST_PAGE = 3 };

static void map_shared(struct file *file)
{
	struct vm_area_struct *area = map(file);

	area->vm_flags = AREA_SHARED;
	area->vm_pgoff = FIRST_PAGE;
}

static struct ev_sched_switch wait_at(uint64_t address, uint64_t operation)
{
	set_call(CALL_FUTEX, address, operation, 2, 0);
	return block();
}

TEST(a_futex_in_shared_memory_is_a_place_in_its_file_wherever_that_is_mapped)
{
	struct ev_sched_switch first, e;

	begin();
	map_shared(world.descriptors[1]);
	first = wait_at(mapped_at + 0x40, SHARED_WAIT);
	CHECK(first.flags & SWITCH_IN_FILE);
	CHECK(first.object & 1);
	CHECK_EQUAL(wait_at(mapped_at + 0x40, SHARED_WAIT).object, first.object);
	e = wait_at(mapped_at + 0x48, SHARED_WAIT);
	CHECK(e.flags & SWITCH_IN_FILE);
	CHECK_THAT(e.object, !=, first.object);
	shim_mapped->vm_start += 0x1000;
	shim_mapped_begin += 0x1000;
	CHECK_EQUAL(wait_at(mapped_at + 0x1040, SHARED_WAIT).object, first.object);
	map_shared(world.descriptors[2]);
	e = wait_at(mapped_at + 0x40, SHARED_WAIT);
	CHECK(e.flags & SWITCH_IN_FILE);
	CHECK_THAT(e.object, !=, first.object);
	end();
}

TEST(a_futex_of_a_process_alone_is_at_its_address)
{
	struct ev_sched_switch e;

	begin();
	map_shared(world.descriptors[1]);
	e = wait_at(mapped_at + 0x40, PRIVATE_WAIT);
	CHECK(!(e.flags & SWITCH_IN_FILE));
	CHECK_EQUAL(e.object, mapped_at + 0x40);
	map(world.descriptors[1]); /* a copy of its own */
	e = wait_at(mapped_at + 0x80, SHARED_WAIT);
	CHECK(!(e.flags & SWITCH_IN_FILE));
	CHECK_EQUAL(e.object, mapped_at + 0x80);
	map(NULL);
	CHECK_EQUAL(wait_at(mapped_at + 0x88, SHARED_WAIT).object, mapped_at + 0x88);
	/* What is mapped there cannot be seen. */
	CHECK_EQUAL(wait_at(mapped_at + 0x1000, SHARED_WAIT).object, mapped_at + 0x1000);
	end();
}

TEST(who_goes_on_with_a_wait_in_shared_memory_waits_for_the_same_place)
{
	uint64_t place;

	begin();
	map_shared(world.descriptors[1]);
	place = wait_at(mapped_at + 0x40, SHARED_WAIT).object;
	set_call(CALL_RESTART, 0, 0, 0, 0);
	CHECK_EQUAL(block().object, place);
	end();
}

/* --- Threads that are found ------------------------------------------------------------------- */

/* What the iterator says of the task, which is blocked unless it stays on its CPU. */
static struct ev_thread_found find(bool is_blocked)
{
	struct ev_thread_found e;

	if (is_blocked)
		leave(false, TASK_INTERRUPTIBLE);
	shim_current = &other->task;
	list_threads(&(struct bpf_iter__task){ .task = &task->task });
	shim_current = &task->task;
	e = *(const struct ev_thread_found *)shim_read(&rings, 0, NULL);
	CHECK_EQUAL(e.header.subsys, TRACE_SUBSYS_THREAD);
	CHECK_EQUAL(e.header.event, TRACE_EVENT_THREAD_FOUND);
	if (is_blocked)
		come_back();
	return e;
}

TEST(who_is_found_blocked_reports_its_call_but_nothing_of_its_memory)
{
	struct ev_thread_found e;

	begin();
	shim_plant(word_at, words, sizeof(words));
	set_call(CALL_FUTEX, word_at, 137, 5, 6);
	e = find(true);
	CHECK_EQUAL(e.phase, PHASE_BLOCKED);
	CHECK_EQUAL(e.syscall, CALL_FUTEX);
	CHECK_EQUAL(e.object, word_at);
	CHECK_EQUAL(e.operation, 137);
	CHECK(!e.value);
	plant_polled(1, 2);
	set_call(CALL_POLL, word_at, 1, 1000, 0);
	e = find(true);
	CHECK_EQUAL(e.syscall, CALL_POLL);
	CHECK(!e.object);
	CHECK_EQUAL(e.value, 1);
	CHECK_EQUAL(e.operation, 1000);
	set_call(-1, 1, 2, 3, 4);
	e = find(true);
	CHECK_EQUAL(e.phase, PHASE_BLOCKED);
	CHECK_EQUAL(e.syscall, SYSCALL_NONE);
	CHECK(!e.object && !e.value);
	end();
}

TEST(who_is_found_running_waits_for_nothing)
{
	struct ev_thread_found e;

	begin();
	set_call(CALL_PLAIN, 1, 2, 3, 4);
	e = find(false);
	CHECK_EQUAL(e.phase, PHASE_RUNNING);
	CHECK_EQUAL(e.syscall, SYSCALL_NONE);
	CHECK(!e.object && !e.value && !e.operation);
	end();
}

TEST(being_found_does_not_change_what_a_restarted_call_repeats)
{
	struct ev_sched_switch e;

	begin();
	set_call(CALL_PLAIN, 0x77, 2, 3, 4);
	block();
	set_call(CALL_RESTART, 0xdead, 0xbeef, 5, 6);
	CHECK_EQUAL(find(true).syscall, CALL_RESTART);
	e = block();
	CHECK_EQUAL(e.syscall, CALL_PLAIN);
	CHECK_EQUAL(e.object, 0x77);
	end();
}
