/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who wakes a blocked thread, and which stacks that shows. That it is so on random schedules is in
 * bpf_schedule_test.c; the governor's sums are in bpf_stack_test.c.
 */
#include "test.h"
#include "world.h"

enum { SOFTIRQ = 1 << 8, SOFTIRQS_OFF = 1 << 9, HARDIRQ = 1 << 16, NMI = 1 << 20 };

static struct world world;
static struct world_task *waiter, *waker; /* of one process, both traced */
static struct world_task *stranger;       /* not traced */

/* The waker is on CPU 0, the stranger on CPU 1; the waiter sleeps. */
static void begin(void)
{
	struct world_options options = { .cpu_count = 2, .begin_ns = 1000000 };

	world_init(&world, &options);
	waker = world_add_task(&world, NULL);
	waiter = world_add_task(&world, waker);
	stranger = world_add_task(&world, NULL);
	shim_set_target(waker->task.pid, TARGET_EXISTING);
	world_visit(&world, 0, waker);
	world_visit(&world, 0, waiter);
	world_wake_in(&world, 0, waiter, WAKE_HARDIRQ);
	world_leave(&world, 0, LEAVE_PREEMPTED, waiter);
	world_wake_in(&world, 0, waker, WAKE_HARDIRQ);
	world_sleep(&world, 0, TASK_INTERRUPTIBLE, waker);
	world_wake_in(&world, 1, stranger, WAKE_HARDIRQ);
	world_leave(&world, 1, LEAVE_PREEMPTED, stranger);
}

static void end(void)
{
	CHECK(!shim_records_open());
	world_fini(&world);
}

/* The waiter sleeps again, without a word. */
static void sleep_again(void)
{
	shim_thread(&waiter->task)->phase = PHASE_BLOCKED;
}

/* What came before the last wake-up; no event: nothing. */
static struct ev_thread_other recorded;

static struct ev_sched_wake wake_on(uint32_t cpu)
{
	const struct ev_header *header;
	struct ev_sched_wake e;

	recorded = (struct ev_thread_other){ 0 };

	shim_cpu = cpu;
	shim_current = &world.on_cpu[cpu]->task;
	sched_waking(NULL, &waiter->task);
	header = shim_read(&rings, cpu, NULL);
	if (header && header->subsys == TRACE_SUBSYS_THREAD) {
		recorded = *(const struct ev_thread_other *)header;
		header = shim_read(&rings, cpu, NULL);
		CHECK(header);
		CHECK_THAT(recorded.header.time_ns, <=, header->time_ns);
	}
	CHECK(header && !header->subsys);
	CHECK_EQUAL(header->event, TRACE_EVENT_SCHED_WAKE);
	CHECK_EQUAL(header->thread, waiter->number);
	e = *(const struct ev_sched_wake *)header;
	return e;
}

/* All of it; the records that came with it are dropped. */
static struct ev_sched_wake wake_by(uint32_t cpu, int preempt_count)
{
	struct ev_sched_wake e;

	shim_set_preempt_count(cpu, preempt_count);
	e = wake_on(cpu);
	while (shim_read(&rings, cpu, NULL))
		;
	shim_set_preempt_count(cpu, 0);
	sleep_again();
	return e;
}

static bool names_nobody(const struct ev_sched_wake *e)
{
	return !e->waker && !e->tid && !e->pid && e->syscall == SYSCALL_NONE && !e->object && !e->operation &&
	       !e->flags && !e->stack && !e->wait_stack && !e->keep;
}

/* --- Who it was ------------------------------------------------------------------------------- */

TEST(a_traced_waker_is_recorded_by_its_number_its_ids_and_its_call)
{
	struct ev_sched_wake e;

	begin();
	world_call(waker, CALL_FUTEX, 0);
	waker->registers.si = 0x81;
	e = wake_by(0, 0);
	CHECK_EQUAL(e.context, WAKE_THREAD);
	CHECK_EQUAL(e.waker, waker->number);
	CHECK_EQUAL(e.tid, (uint32_t)waker->task.pid);
	CHECK_EQUAL(e.pid, (uint32_t)waker->task.tgid);
	CHECK_EQUAL(e.syscall, CALL_FUTEX);
	CHECK_EQUAL(e.object, waker->registers.di);
	CHECK_EQUAL(e.operation, 0x81);
	end();
}

TEST(a_waker_outside_of_calls_or_in_one_of_32_bits_reports_no_number)
{
	struct ev_sched_wake e;

	begin();
	world_call(waker, CALL_NONE, 0);
	e = wake_by(0, 0);
	CHECK_EQUAL(e.waker, waker->number);
	CHECK_EQUAL(e.syscall, SYSCALL_NONE);
	CHECK(!e.object && !e.operation);
	world_call(waker, CALL_FUTEX, 0);
	waker->task.thread_info.status = 2;
	e = wake_by(0, 0);
	CHECK_EQUAL(e.waker, waker->number);
	CHECK_EQUAL(e.syscall, SYSCALL_NONE);
	CHECK(!e.object && !e.operation);
	end();
}

TEST(a_thread_with_a_deadly_signal_is_woken_to_die_by_whatever_wakes_it)
{
	begin();
	waiter->task.pending.signal.sig[0] = 1 << 8;
	CHECK(wake_by(0, 0).flags & WAKE_TO_DIE);
	CHECK_EQUAL(wake_by(0, HARDIRQ).flags, WAKE_TO_DIE);
	CHECK_EQUAL(wake_by(1, 0).flags, WAKE_TO_DIE);
	waiter->task.pending.signal.sig[0] = ~(1ul << 8);
	CHECK(!(wake_by(0, 0).flags & WAKE_TO_DIE));
	waiter->task.pending.signal.sig[0] = 0;
	CHECK(!(wake_by(0, 0).flags & WAKE_TO_DIE));
	end();
}

TEST(a_device_s_interrupt_is_nobody_whomever_it_interrupts)
{
	static const int counts[] = { HARDIRQ, 3 * HARDIRQ, NMI, NMI | HARDIRQ, HARDIRQ | SOFTIRQ };
	struct ev_sched_wake e;

	begin();
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			e = wake_by(cpu, counts[i]);
			CHECK_EQUAL(e.context, WAKE_HARDIRQ);
			CHECK(names_nobody(&e));
		}
	end();
}

TEST(a_softirq_names_whom_it_interrupts_if_that_is_of_a_program)
{
	struct ev_sched_wake e;

	begin();
	e = wake_by(0, SOFTIRQ);
	CHECK_EQUAL(e.context, WAKE_SOFTIRQ);
	CHECK_EQUAL(e.waker, waker->number);
	CHECK_EQUAL(e.tid, (uint32_t)waker->task.pid);
	CHECK(e.flags & WAKE_HAS_STACK);
	e = wake_by(1, SOFTIRQ);
	CHECK_EQUAL(e.context, WAKE_SOFTIRQ);
	CHECK(!e.waker && !e.flags);
	CHECK_EQUAL(e.tid, (uint32_t)stranger->task.pid);
	CHECK_EQUAL(e.pid, (uint32_t)stranger->task.tgid);
	world.on_cpu[1] = &world.idle[1];
	e = wake_by(1, SOFTIRQ);
	CHECK_EQUAL(e.context, WAKE_SOFTIRQ);
	CHECK(names_nobody(&e));
	end();
}

TEST(softirqs_that_are_only_held_off_do_not_make_a_thread_one)
{
	struct ev_sched_wake e;

	begin();
	for (int depth = 1; depth < 100; depth++) {
		e = wake_by(0, depth * SOFTIRQS_OFF | depth);
		CHECK_EQUAL(e.context, WAKE_THREAD);
		CHECK_EQUAL(e.waker, waker->number);
		e = wake_by(0, depth * SOFTIRQS_OFF | SOFTIRQ);
		CHECK_EQUAL(e.context, WAKE_SOFTIRQ);
	}
	end();
}

TEST(what_asks_for_preemption_is_no_interrupt)
{
	begin();
	CHECK_EQUAL(wake_by(0, INT32_MIN).context, WAKE_THREAD);
	CHECK_EQUAL(wake_by(0, 0xff).context, WAKE_THREAD);
	end();
}

TEST(where_threads_count_their_softirqs_themselves_they_are_asked)
{
	struct ev_sched_wake e;

	begin();
	waker->task.softirq_disable_cnt = SOFTIRQ;
	e = wake_by(0, 0);
	CHECK_EQUAL(e.context, WAKE_SOFTIRQ);
	CHECK_EQUAL(e.waker, waker->number);
	CHECK_EQUAL(wake_by(0, HARDIRQ).context, WAKE_HARDIRQ);
	waker->task.softirq_disable_cnt = SOFTIRQS_OFF;
	CHECK_EQUAL(wake_by(0, 0).context, WAKE_THREAD);
	end();
}

TEST(each_cpu_s_own_count_is_read)
{
	begin();
	shim_set_preempt_count(1, HARDIRQ);
	CHECK_EQUAL(wake_by(0, 0).context, WAKE_THREAD);
	shim_set_preempt_count(0, HARDIRQ);
	CHECK_EQUAL(wake_by(1, 0).context, WAKE_THREAD);
	end();
}

TEST(where_the_kernel_does_not_say_what_it_counts_all_is_a_thread_s)
{
	struct ev_sched_wake e;

	begin();
	shim_set_option(preempt_count_offset, 0);
	e = wake_by(0, HARDIRQ | SOFTIRQ);
	CHECK_EQUAL(e.context, WAKE_THREAD);
	CHECK_EQUAL(e.waker, waker->number);
	end();
}

TEST(a_kernel_thread_is_recorded_as_such)
{
	struct ev_sched_wake e;

	begin();
	stranger->task.flags = PF_KTHREAD;
	stranger->task.mm = NULL;
	e = wake_on(1);
	CHECK_EQUAL(e.context, WAKE_KERNEL_THREAD);
	CHECK(!e.waker);
	CHECK_EQUAL(e.syscall, SYSCALL_NONE);
	CHECK_EQUAL(e.tid, (uint32_t)stranger->task.pid);
	CHECK(!e.flags);
	CHECK_EQUAL(recorded.header.event, TRACE_EVENT_THREAD_OTHER);
	CHECK_EQUAL(recorded.is_kernel, 1);
	end();
}

/* --- Those who are not traced ----------------------------------------------------------------- */

/* Whether the stranger was recorded by this wake-up. */
static bool reports_stranger(void)
{
	struct ev_sched_wake e = wake_on(1);

	sleep_again();
	CHECK(!e.waker);
	CHECK_EQUAL(e.tid, (uint32_t)stranger->task.pid);
	/* Its call is recorded, and not on what: that means something among its own only. */
	CHECK_EQUAL(e.syscall, stranger->registers.orig_ax);
	CHECK(!e.object && !e.operation && !e.flags && !e.keep);
	if (!recorded.header.event)
		return false;
	CHECK_EQUAL(recorded.header.subsys, TRACE_SUBSYS_THREAD);
	CHECK(!recorded.header.thread);
	CHECK_EQUAL(recorded.header.event, TRACE_EVENT_THREAD_OTHER);
	CHECK(!recorded.is_kernel);
	CHECK_EQUAL(recorded.tid, e.tid);
	CHECK_EQUAL(recorded.pid, e.pid);
	CHECK_EQUAL(recorded.start_ns, stranger->task.start_boottime);
	CHECK_STRING(recorded.name, stranger->task.comm);
	CHECK_STRING(recorded.process, stranger->task.group_leader->comm);
	return true;
}

TEST(a_waker_that_is_not_traced_is_named_once)
{
	begin();
	world_call(stranger, CALL_FUTEX, 0);
	CHECK(reports_stranger());
	CHECK(!reports_stranger() && !reports_stranger());
	shim_forget(&others_known);
	CHECK(reports_stranger());
	CHECK(!reports_stranger());
	end();
}

/* As who forks does, and execs then. */
static void call_stranger(const char *name)
{
	memset(stranger->task.comm, 0, sizeof(stranger->task.comm));
	strcpy(stranger->task.comm, name);
}

TEST(a_name_is_recorded_again_each_time_that_it_is_another_one)
{
	begin();
	call_stranger("bash");
	CHECK(reports_stranger() && !reports_stranger());
	call_stranger("fifteen_letters");
	CHECK(reports_stranger() && !reports_stranger());
	call_stranger("fifteen_letterz");
	CHECK(reports_stranger() && !reports_stranger());
	/* Its old one is not the one that was recorded last. */
	call_stranger("bash");
	CHECK(reports_stranger() && !reports_stranger());
	end();
}

TEST(two_lives_of_one_thread_id_are_named_each)
{
	begin();
	CHECK(reports_stranger());
	stranger->task.start_boottime += 1000000;
	CHECK(reports_stranger());
	stranger->task.pid++;
	CHECK(reports_stranger());
	stranger->task.tgid++;
	CHECK(reports_stranger() && !reports_stranger());
	end();
}

TEST(a_name_for_which_the_ring_had_no_space_is_recorded_the_next_time)
{
	const struct ev_header *header;

	begin();
	shim_make_ring(&rings, 1, 32);
	shim_cpu = 1;
	shim_current = &stranger->task;
	sched_waking(NULL, &waiter->task);
	/* With it the wake-up: what comes after a gap must not be recorded before it. */
	CHECK(!shim_read(&rings, 1, NULL));
	CHECK_EQUAL(cpu_counts[1].lost, 2);
	shim_make_ring(&rings, 1, 4096);
	sleep_again();
	sched_waking(NULL, &waiter->task);
	header = shim_read(&rings, 1, NULL);
	CHECK(header);
	CHECK_EQUAL(header->subsys, TRACE_SUBSYS_COLLECT);
	header = shim_read(&rings, 1, NULL);
	CHECK(header);
	CHECK_EQUAL(header->subsys, TRACE_SUBSYS_THREAD);
	CHECK_EQUAL(header->event, TRACE_EVENT_THREAD_OTHER);
	header = shim_read(&rings, 1, NULL);
	CHECK(header);
	CHECK_EQUAL(header->subsys, TRACE_SUBSYS_SCHED);
	end();
}

/* --- Stacks, all kept ------------------------------------------------------------------------- */

TEST(every_wait_and_every_traced_waker_has_its_stack)
{
	begin();
	for (uint32_t i = 0; i < 50; i++) {
		world_pass(&world, 1 + i * 1000);
		world_wake(&world, 0, waiter);
		CHECK_EQUAL(world.last_wake.flags, WAKE_HAS_STACK);
		CHECK(world.last_wake.stack);
		CHECK(!world.last_wake.keep);
		world_leave(&world, 1, LEAVE_PREEMPTED, waiter);
		world_sleep(&world, 1, TASK_INTERRUPTIBLE, stranger);
		CHECK(world.last_switch.flags & SWITCH_HAS_STACK && world.last_switch.stack);
		CHECK(!world.last_switch.keep);
	}
	end();
}

TEST(a_wait_that_is_not_critical_has_its_stack_all_the_same)
{
	begin();
	world_wake(&world, 0, waiter); /* two of two are active */
	world_leave(&world, 1, LEAVE_PREEMPTED, waiter);
	world_pass(&world, 1000000);
	world_leave(&world, 1, LEAVE_PREEMPTED, stranger);
	CHECK(!world.last_switch.flags);
	world_leave(&world, 1, LEAVE_PREEMPTED, waiter);
	world_pass(&world, 1000000);
	world_sleep(&world, 1, TASK_INTERRUPTIBLE, NULL);
	CHECK_EQUAL(world.last_switch.flags, SWITCH_HAS_STACK);
	CHECK(world.last_switch.stack);
	end();
}

TEST(an_interrupt_has_no_stack)
{
	begin();
	CHECK(!wake_by(0, HARDIRQ).flags);
	end();
}

TEST(the_first_wait_of_who_was_found_blocked_has_its_stack_at_its_end)
{
	struct world_task *late;

	begin();
	late = world_add_task(&world, waker);
	world_visit(&world, 0, late);
	world_wake(&world, 0, late);
	CHECK_EQUAL(world.last_wake.flags, WAKE_HAS_STACK | WAKE_HAS_WAIT_STACK);
	CHECK_EQUAL(world.last_wake.wait_stack, world.paths[late->path].id);
	CHECK_EQUAL(world.last_wake.stack, world.paths[waker->path].id);
	end();
}

/* posix_spawn()'s child borrows its parent's memory, and wakes it when it has another program. */
TEST(a_waker_of_another_process_shows_no_stack_of_the_wait_even_if_it_shares_its_memory)
{
	struct world_task *child, *late;

	begin();
	late = world_add_task(&world, waker);
	world_visit(&world, 0, late);
	child = world_fork(&world, 0, false);
	child->task.mm = waker->task.mm;
	world_leave(&world, 0, LEAVE_PREEMPTED, child);
	world_wake(&world, 0, late);
	CHECK_EQUAL(world.last_wake.waker, child->number);
	CHECK_EQUAL(world.last_wake.flags, WAKE_HAS_STACK);
	CHECK(!world.last_wake.wait_stack);
	end();
}

TEST(a_waker_that_exits_shows_the_stack_of_its_exit)
{
	uint64_t stack;

	begin();
	world_exit(&world, 0, true);
	stack = world.paths[waker->path].id;
	CHECK(stack);
	shim_stacks_asked = 0;
	world_wake(&world, 0, waiter);
	CHECK_EQUAL(world.last_wake.flags, WAKE_HAS_STACK);
	CHECK_EQUAL(world.last_wake.stack, stack);
	CHECK(!shim_stacks_asked);
	end();
}

/* The engine weighs it by its process, so that there is no memory does not matter. */
TEST(a_wait_that_ends_without_memory_has_the_stack_that_is_left_or_an_unreadable_one)
{
	struct world_task *late;

	begin();
	late = world_add_task(&world, waker);
	world_visit(&world, 0, late);
	world_exit(&world, 0, true);
	world_wake(&world, 0, late);
	CHECK_EQUAL(world.last_wake.flags, WAKE_HAS_STACK | WAKE_HAS_WAIT_STACK);
	CHECK(world.last_wake.stack && !world.last_wake.wait_stack);
	world_leave(&world, 1, LEAVE_PREEMPTED, late);
	world_exit(&world, 1, true);
	world_sleep(&world, 1, TASK_UNINTERRUPTIBLE, NULL);
	shim_thread(&late->task)->wait_has_stack = 0; /* as if it had not been kept */
	late->wait_has_stack = false;
	world_wake(&world, 0, late);
	CHECK_EQUAL(world.last_wake.flags, WAKE_HAS_STACK | WAKE_HAS_WAIT_STACK);
	CHECK(world.last_wake.wait_stack);
	CHECK_EQUAL(world.last_wake.wait_stack, world.last_switch.stack);
	end();
}
