/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is recorded of threads that are blocked while tracing begins or ends. */
#include "test.h"
#include "world.h"

static struct world world;
static struct world_task *task;

/* One traced task, found asleep. */
static void begin(void)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1000000 };

	world_init(&world, &options);
	task = world_add_task(&world, NULL);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	task->task.__state = TASK_INTERRUPTIBLE;
	world_visit(&world, 0, task);
	shim_current = &world.idle[0].task;
	task->registers.sp = SHIM_STACK_BASE;
	shim_user_stack.count = 5;
	for (uint64_t i = 0; i < 5; i++)
		shim_user_stack.frames[i] = 0x1000 + i;
}

static void end(void)
{
	CHECK(!shim_records_open());
	world_fini(&world);
}

static void drain(void)
{
	while (shim_read(&rings, 0, NULL))
		;
}

/* What the list says of the task: whether it has its stack, and *e when it is recorded at all. */
static bool list(struct ev_thread_waits *e, bool *has_memory)
{
	struct bpf_iter__task ctx = { .task = &task->task };
	const struct ev_header *header;
	bool is_recorded = false;
	uint64_t stack = 0;

	drain();
	waits_left = 0;
	list_waits(&ctx);
	while ((header = shim_read(&rings, 0, NULL))) {
		if (header->subsys == TRACE_SUBSYS_STACK) {
			CHECK_EQUAL(header->event, TRACE_EVENT_STACK_MEMORY);
			stack = ((const struct ev_stack_memory *)header)->stack;
			continue;
		}
		CHECK_EQUAL(header->subsys, TRACE_SUBSYS_THREAD);
		CHECK_EQUAL(header->event, TRACE_EVENT_THREAD_WAITS);
		*e = *(const struct ev_thread_waits *)header;
		is_recorded = true;
	}
	CHECK(!is_recorded || (e->stack == stack && e->header.thread == task->number));
	*has_memory = stack;
	return is_recorded;
}

static void leave(uint32_t state)
{
	shim_now_ns += 1000000;
	task->task.__state = state;
	sched_switch(NULL, false, &task->task, &world.idle[0].task, state);
}

static void come_back(void)
{
	shim_now_ns += 1000000;
	sched_waking(NULL, &task->task);
	task->task.__state = 0;
	sched_switch(NULL, false, &world.idle[0].task, &task->task, 0);
}

TEST(what_was_found_blocked_is_recorded_once_with_its_stack)
{
	struct ev_thread_waits e;
	bool has_memory;

	begin();
	CHECK(list(&e, &has_memory) && has_memory);
	CHECK(!e.begin_ns);
	CHECK_EQUAL(e.state, SWITCH_SLEEPING);
	CHECK(!list(&e, &has_memory) && !has_memory);
	end();
}

TEST(a_futex_that_was_found_waited_for_reports_its_words)
{
	static const uint32_t words[] = { 2, 0, 4711, 12, 13 };
	struct ev_thread_waits e;
	bool has_memory;

	begin();
	task->registers.orig_ax = CALL_FUTEX;
	task->registers.di = 0x20000000;
	shim_plant(0x20000000, words, sizeof(words));
	CHECK(list(&e, &has_memory));
	CHECK_EQUAL(e.value, 2);
	CHECK_EQUAL(e.owners[0], 4711);
	CHECK_EQUAL(e.owners[1], 12);
	CHECK_EQUAL(e.owners[2], 13);
	end();
}

TEST(who_has_the_lock_is_recorded_as_it_is_when_the_wait_is_listed)
{
	static const uint32_t words[5] = { 2, 1, 4712, 0, 0 };
	struct ev_thread_waits e;
	bool has_memory;

	begin();
	come_back();
	task->registers.orig_ax = CALL_FUTEX;
	task->registers.di = 0x20000000;
	leave(TASK_INTERRUPTIBLE);
	shim_plant(0x20000000, words, sizeof(words));
	CHECK(list(&e, &has_memory) && e.begin_ns);
	CHECK_EQUAL(e.value, 2);
	CHECK_EQUAL(e.owners[0], 4712);
	end();
}

TEST(a_wait_whose_switch_had_the_stack_is_recorded_without)
{
	struct ev_thread_waits e;
	bool has_memory;
	uint64_t begin_ns;

	begin();
	come_back();
	leave(TASK_UNINTERRUPTIBLE);
	begin_ns = shim_now_ns;
	CHECK(list(&e, &has_memory) && !has_memory);
	CHECK_EQUAL(e.begin_ns, begin_ns);
	CHECK_EQUAL(e.state, SWITCH_BLOCKED);
	CHECK(!e.value);
	CHECK(!list(&e, &has_memory));
	/* The next wait is another one. */
	come_back();
	leave(TASK_INTERRUPTIBLE);
	CHECK(list(&e, &has_memory));
	CHECK_EQUAL(e.begin_ns, shim_now_ns);
	end();
}

static uint32_t high_coin(void)
{
	return UINT32_MAX;
}

TEST(a_wait_whose_stack_was_not_kept_is_recorded_with_it)
{
	struct ev_thread_waits e;
	bool has_memory;

	begin();
	come_back();
	shim_set_option(keep_all_above_ns, 4000000000u);
	shim_random = high_coin;
	leave(TASK_INTERRUPTIBLE);
	CHECK(list(&e, &has_memory) && has_memory && e.begin_ns);
	shim_random = NULL;
	shim_set_option(keep_all_above_ns, 0);
	end();
}

/* What a list of long waits says, which has room for so many. */
static bool list_long(uint32_t room, struct ev_thread_waits *e, bool *has_memory)
{
	bool is_recorded;

	list_age_ns = 100000000;
	list_room = room;
	is_recorded = list(e, has_memory);
	CHECK_EQUAL(list_room, room - is_recorded);
	list_age_ns = 0;
	return is_recorded;
}

TEST(a_wait_that_lasts_long_gets_its_stack_while_it_does_and_is_recorded_again_at_the_end)
{
	struct ev_thread_waits e;
	bool has_memory;

	begin();
	CHECK(!list_long(1, &e, &has_memory)); /* it is older: the list when tracing began has it */
	come_back();
	shim_set_option(keep_all_above_ns, 4000000000u);
	shim_random = high_coin;
	leave(TASK_INTERRUPTIBLE);
	CHECK(!list_long(1, &e, &has_memory));
	shim_now_ns += 100000000;
	CHECK(!list_long(0, &e, &has_memory));
	CHECK(list_long(1, &e, &has_memory) && has_memory && e.begin_ns && !e.value);
	CHECK(!list_long(1, &e, &has_memory));
	CHECK(list(&e, &has_memory) && !has_memory);
	CHECK(!list(&e, &has_memory));
	/* The next one, whatever the coin. */
	come_back();
	shim_random = NULL;
	shim_set_option(keep_all_above_ns, 0);
	leave(TASK_INTERRUPTIBLE);
	shim_now_ns += 200000000;
	CHECK(list_long(1, &e, &has_memory) && !has_memory);
	end();
}

TEST(who_is_active_is_not_recorded)
{
	struct ev_thread_waits e;
	bool has_memory;

	begin();
	come_back();
	CHECK(!list(&e, &has_memory) && !has_memory);
	end();
}

TEST(a_thread_without_readable_memory_is_recorded_without_a_stack)
{
	struct ev_thread_waits e;
	bool has_memory;

	begin();
	task->task.mm = NULL;
	CHECK(list(&e, &has_memory) && !has_memory && !e.stack);
	end();
}

TEST(a_ring_that_is_half_full_takes_no_stacks)
{
	struct ev_thread_waits e;
	bool has_memory;

	begin();
	shim_make_ring(&rings, 0, 16384);
	CHECK(!list(&e, &has_memory));
	CHECK_EQUAL(waits_left, 1);
	end();
}
