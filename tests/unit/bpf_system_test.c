/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine does besides its threads: interrupts, packets, requests to disks, and which interrupt
 * wakes a thread. External threads are in bpf_schedule_test.c.
 */
#include "test.h"
#include "world.h"

enum { SOFTIRQ = 1 << 8, HARDIRQ = 1 << 16, RECORD = 8 };

static struct world world;
static struct world_task *traced, *stranger; /* on CPU 0, and on CPU 1 */
static struct world_task *sleeper;           /* traced */
static struct irqaction disk = { .name = "virtio1-req.0" };

static void begin(bool tells_system)
{
	struct world_options options = { .cpu_count = 2, .begin_ns = 1000000, .tells_system = tells_system };

	world_init(&world, &options);
	traced = world_add_task(&world, NULL);
	sleeper = world_add_task(&world, traced);
	stranger = world_add_task(&world, NULL);
	shim_set_target(traced->task.pid, TARGET_EXISTING);
	world_visit(&world, 0, traced);
	world_visit(&world, 0, sleeper);
	world_visit(&world, 0, stranger);
	world_wake_in(&world, 0, traced, WAKE_HARDIRQ);
	world_leave(&world, 0, LEAVE_PREEMPTED, traced);
	world_wake_in(&world, 1, stranger, WAKE_HARDIRQ);
	world_leave(&world, 1, LEAVE_PREEMPTED, stranger);
}

/* All has been read, and the target's records have lost nothing. */
static void end(void)
{
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		CHECK(!shim_read(&system_rings, cpu, NULL) && !cpu_counts[cpu].lost);
	CHECK(!shim_records_open());
	world_fini(&world);
}

static void go_to(uint32_t cpu)
{
	shim_cpu = cpu;
	shim_current = &world.on_cpu[cpu]->task;
}

static void pass(uint64_t ns)
{
	world_pass(&world, ns);
}

/* The CPU's next record, of that kind and of now. */
static const void *expect(uint32_t cpu, enum event_id id)
{
	const struct ev_header *header = shim_read(&system_rings, cpu, NULL);

	CHECK(header);
	CHECK_EQUAL(header->subsys, id >> 16);
	CHECK_EQUAL(header->event, id & 0xffff);
	CHECK_EQUAL(header->time_ns, shim_now_ns);
	return header;
}

/* --- Interrupts ------------------------------------------------------------------------------- */

TEST(an_interrupt_is_recorded_at_its_end_with_its_beginning)
{
	const struct ev_system_interrupt *e;
	uint64_t begin_ns;

	begin(true);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		for (int irq = 0; irq < 300; irq += 33) {
			go_to(cpu);
			begin_ns = shim_now_ns;
			irq_begin(NULL, irq);
			CHECK(!shim_read(&system_rings, cpu, NULL));
			pass(700);
			irq_end(NULL, irq, &disk, irq % 3);
			e = expect(cpu, EV_SYSTEM_INTERRUPT);
			CHECK_EQUAL(e->begin_ns, begin_ns);
			CHECK_EQUAL(e->irq, (uint32_t)irq);
			CHECK_EQUAL(e->cpu, cpu);
			CHECK_EQUAL(e->header.thread, (cpu ? stranger->external_number : traced->number));
			CHECK_EQUAL(e->is_handled, irq % 3 != 0);
			CHECK_STRING(e->name, disk.name);
		}
	end();
}

TEST(an_idle_cpu_is_no_thread_that_is_interrupted)
{
	const struct ev_system_interrupt *e;

	begin(true);
	world_leave(&world, 1, LEAVE_PREEMPTED, NULL);
	go_to(1);
	irq_begin(NULL, 1);
	irq_end(NULL, 1, &disk, 1);
	e = expect(1, EV_SYSTEM_INTERRUPT);
	CHECK(!e->header.thread);
	end();
}

TEST(who_has_the_cpu_is_recorded_also_if_no_switch_recorded_it)
{
	const struct ev_system_interrupt *e;

	begin(true);
	/* As if a hidden thread had got the CPU, or nobody yet. */
	for (uint32_t tid = 0; tid < 2; tid++) {
		system_cpus[1].running_tid = tid;
		system_cpus[1].running = traced->number;
		go_to(1);
		irq_begin(NULL, 1);
		irq_end(NULL, 1, &disk, 1);
		e = expect(1, EV_SYSTEM_INTERRUPT);
		CHECK_EQUAL(e->header.thread, stranger->external_number);
	}
	end();
}

TEST(the_end_of_what_began_before_tracing_is_not_recorded)
{
	begin(true);
	go_to(0);
	irq_end(NULL, 36, &disk, 1);
	softirq_end(NULL, SOFTIRQ_TIMER);
	irq_begin(NULL, 36);
	irq_end(NULL, 36, &disk, 1);
	expect(0, EV_SYSTEM_INTERRUPT);
	irq_end(NULL, 36, &disk, 1);
	end();
}

TEST(a_long_name_is_cut)
{
	struct irqaction device = { .name = "a-device-with-a-name-of-more-than-all-these-bytes" };
	const struct ev_system_interrupt *e;

	begin(true);
	go_to(0);
	irq_begin(NULL, 36);
	irq_end(NULL, 36, &device, 1);
	e = expect(0, EV_SYSTEM_INTERRUPT);
	CHECK_STRING(e->name, "a-device-with-a-name-of");
	end();
}

TEST(an_interrupt_within_a_softirq_ends_before_it)
{
	const struct ev_system_softirq *e;
	uint64_t begin_ns;

	begin(true);
	go_to(0);
	begin_ns = shim_now_ns;
	softirq_begin(NULL, SOFTIRQ_BLOCK);
	pass(100);
	irq_begin(NULL, 36);
	pass(100);
	irq_end(NULL, 36, &disk, 1);
	expect(0, EV_SYSTEM_INTERRUPT);
	pass(100);
	softirq_end(NULL, SOFTIRQ_BLOCK);
	e = expect(0, EV_SYSTEM_SOFTIRQ);
	CHECK_EQUAL(e->begin_ns, begin_ns);
	CHECK_EQUAL(e->vector, SOFTIRQ_BLOCK);
	CHECK(!e->cpu);
	CHECK_EQUAL(e->header.thread, traced->number);
	end();
}

/* --- Who wakes ---------------------------------------------------------------------------------- */

/* The record of the sleeper's wake-up, as it is. */
static const struct ev_sched_wake *wake(uint32_t cpu, int preempt_count)
{
	const struct ev_header *header;

	go_to(cpu);
	shim_thread(&sleeper->task)->phase = PHASE_BLOCKED;
	shim_set_preempt_count(cpu, preempt_count);
	sched_waking(NULL, &sleeper->task);
	shim_set_preempt_count(cpu, 0);
	do
		header = shim_read(&rings, cpu, NULL);
	while (header && header->subsys != TRACE_SUBSYS_SCHED);
	CHECK(header);
	CHECK_EQUAL(header->event, TRACE_EVENT_SCHED_WAKE);
	return (const struct ev_sched_wake *)header;
}

TEST(a_wake_up_says_which_interrupt_it_comes_from)
{
	begin(true);
	go_to(0);
	CHECK(!wake(0, HARDIRQ)->operation);
	irq_begin(NULL, 36);
	CHECK_EQUAL(wake(0, HARDIRQ)->operation, 37);
	CHECK(!wake(0, HARDIRQ)->flags);
	CHECK(!wake(1, HARDIRQ)->operation);
	go_to(0);
	irq_end(NULL, 36, &disk, 1);
	expect(0, EV_SYSTEM_INTERRUPT);
	CHECK(!wake(0, HARDIRQ)->operation);
	timer_begin(NULL);
	CHECK_EQUAL(wake(0, HARDIRQ)->flags, WAKE_BY_TIMER);
	timer_end(NULL);
	CHECK(!wake(0, HARDIRQ)->flags);
	for (uint32_t vector = SOFTIRQ_URGENT; vector <= SOFTIRQ_RCU; vector++) {
		softirq_begin(NULL, vector);
		CHECK_EQUAL((wake(0, SOFTIRQ)->flags & WAKE_VECTOR) >> WAKE_VECTOR_SHIFT, vector + 1);
		CHECK(!wake(0, SOFTIRQ | HARDIRQ)->flags && !(wake(1, SOFTIRQ)->flags & WAKE_VECTOR));
		go_to(0);
		softirq_end(NULL, vector);
		expect(0, EV_SYSTEM_SOFTIRQ);
		CHECK(!(wake(0, SOFTIRQ)->flags & WAKE_VECTOR));
	}
	end();
}

TEST(a_thread_that_wakes_is_no_interrupt_and_has_its_number)
{
	const struct ev_sched_wake *e;

	begin(true);
	go_to(1);
	timer_begin(NULL);
	e = wake(1, 0);
	CHECK_EQUAL(e->waker, stranger->external_number);
	CHECK_EQUAL(e->tid, (uint32_t)stranger->task.pid);
	CHECK(!e->flags && !e->operation && !e->object);
	timer_end(NULL);
	e = wake(0, 0);
	CHECK_EQUAL(e->waker, traced->number);
	end();
}

TEST(nothing_of_it_is_recorded_unless_it_is_asked_for)
{
	const struct ev_sched_wake *e;

	begin(false);
	go_to(1);
	irq_begin(NULL, 36);
	timer_begin(NULL);
	e = wake(1, HARDIRQ);
	CHECK(!e->operation && !e->flags);
	e = wake(1, 0);
	CHECK(!e->waker && !externals_seen && !shim_external(&stranger->task));
	end();
}

/* --- The network ------------------------------------------------------------------------------ */

static struct net_device wire = { .name = "eth0", .ifindex = 2 }, loop = { .name = "lo", .ifindex = 1 };

static void receive(struct net_device *device, uint32_t bytes)
{
	struct sk_buff packet = { .dev = device, .len = bytes };

	net_receive(NULL, &packet);
}

TEST(packets_are_added_up_over_a_softirq)
{
	const struct ev_system_receive *e;
	uint64_t begin_ns;

	begin(true);
	go_to(0);
	for (uint32_t count = 1; count < 300; count += 17) {
		softirq_begin(NULL, SOFTIRQ_RECEIVE);
		pass(50);
		begin_ns = shim_now_ns;
		for (uint32_t i = 0; i < count; i++) {
			receive(&wire, 1000 + i);
			pass(50);
		}
		CHECK(!shim_read(&system_rings, 0, NULL));
		softirq_end(NULL, SOFTIRQ_RECEIVE);
		e = expect(0, EV_SYSTEM_RECEIVE);
		CHECK_EQUAL(e->packets, count);
		CHECK_EQUAL(e->bytes, 1000 * count + count * (count - 1) / 2);
		CHECK_EQUAL(e->begin_ns, begin_ns);
		CHECK_EQUAL(e->interface, 2);
		CHECK(!e->cpu);
		CHECK(!e->header.thread);
		CHECK_STRING(e->name, "eth0");
		expect(0, EV_SYSTEM_SOFTIRQ);
	}
	end();
}

TEST(packets_of_two_interfaces_are_distinguished)
{
	const struct ev_system_receive *e;

	begin(true);
	go_to(0);
	softirq_begin(NULL, SOFTIRQ_RECEIVE);
	receive(&wire, 10);
	receive(&wire, 20);
	receive(&loop, 40);
	e = expect(0, EV_SYSTEM_RECEIVE);
	CHECK_EQUAL(e->packets, 2);
	CHECK_EQUAL(e->bytes, 30);
	CHECK_EQUAL(e->interface, 2);
	softirq_end(NULL, SOFTIRQ_RECEIVE);
	e = expect(0, EV_SYSTEM_RECEIVE);
	CHECK_EQUAL(e->packets, 1);
	CHECK_EQUAL(e->bytes, 40);
	CHECK_EQUAL(e->interface, 1);
	CHECK_STRING(e->name, "lo");
	expect(0, EV_SYSTEM_SOFTIRQ);
	end();
}

TEST(a_packet_outside_of_softirqs_is_recorded_at_once)
{
	const struct ev_system_receive *e;

	begin(true);
	go_to(1);
	receive(&loop, 40);
	e = expect(1, EV_SYSTEM_RECEIVE);
	CHECK_EQUAL(e->packets, 1);
	CHECK_EQUAL(e->bytes, 40);
	CHECK_EQUAL(e->cpu, 1);
	end();
}

/* --- Disks ------------------------------------------------------------------------------------ */

static struct gendisk vda = { .major = 254, .first_minor = 16 };
static struct request_queue queue = { .disk = &vda };

TEST(a_request_has_one_name_from_its_issue_to_its_end)
{
	struct request requests[2] = {
		{ &queue, BLOCK_READ | 1 << __REQ_SYNC, 8192, 1000 },
		{ &queue, BLOCK_WRITE | 1 << __REQ_BACKGROUND | 1 << __REQ_FUA, 4096, 77 },
	};
	struct ev_system_block_issue issues[2];
	const struct ev_system_block_complete *e;

	begin(true);
	go_to(0);
	for (size_t i = 0; i < 2; i++) {
		block_issue(NULL, &requests[i]);
		issues[i] = *(const struct ev_system_block_issue *)expect(0, EV_SYSTEM_BLOCK_ISSUE);
		CHECK_EQUAL(issues[i].sector, requests[i].__sector);
		CHECK_EQUAL(issues[i].bytes, requests[i].__data_len);
		CHECK_EQUAL(issues[i].device, 254 << 20 | 16);
		CHECK_THAT(issues[i].request, !=, (uint64_t)&requests[i]);
		CHECK_EQUAL(issues[i].header.thread, traced->number);
		CHECK_EQUAL(issues[i].context, WAKE_THREAD);
		CHECK_EQUAL(issues[i].tid, (uint32_t)traced->task.pid);
	}
	CHECK_EQUAL(issues[0].operation, BLOCK_READ);
	CHECK_EQUAL(issues[0].flags, BLOCK_IS_SYNC);
	CHECK_EQUAL(issues[1].operation, BLOCK_WRITE);
	CHECK_EQUAL(issues[1].flags, BLOCK_IS_BACKGROUND | BLOCK_IS_LASTING);
	CHECK_THAT(issues[0].request, !=, issues[1].request);
	go_to(1);
	block_complete(NULL, &requests[0], 0, 4096);
	e = expect(1, EV_SYSTEM_BLOCK_COMPLETE);
	CHECK_EQUAL(e->request, issues[0].request);
	CHECK_EQUAL(e->sector, 1000);
	CHECK_EQUAL(e->bytes, 4096);
	CHECK(!e->is_last);
	CHECK(!e->status);
	CHECK_EQUAL(e->cpu, 1);
	CHECK_EQUAL(e->device, issues[0].device);
	CHECK(!e->header.thread);
	block_complete(NULL, &requests[1], 10, 4096);
	e = expect(1, EV_SYSTEM_BLOCK_COMPLETE);
	CHECK_EQUAL(e->request, issues[1].request);
	CHECK_EQUAL(e->status, 10);
	CHECK(e->is_last);
	end();
}

TEST(who_issues_is_recorded_unless_it_is_an_interrupt)
{
	struct request request = { &queue, BLOCK_WRITE, 4096, 77 };
	struct request flush = { &(struct request_queue){ NULL }, BLOCK_FLUSH, 0, UINT64_MAX };
	const struct ev_system_block_issue *e;

	begin(true);
	go_to(1);
	block_issue(NULL, &request);
	e = expect(1, EV_SYSTEM_BLOCK_ISSUE);
	CHECK_EQUAL(e->header.thread, stranger->external_number);
	CHECK_EQUAL(e->tid, (uint32_t)stranger->task.pid);
	stranger->task.flags = PF_KTHREAD;
	block_issue(NULL, &flush);
	e = expect(1, EV_SYSTEM_BLOCK_ISSUE);
	CHECK_EQUAL(e->header.thread, stranger->external_number);
	CHECK_EQUAL(e->context, WAKE_KERNEL_THREAD);
	CHECK(!e->device);
	CHECK_EQUAL(e->operation, BLOCK_FLUSH);
	CHECK(!e->bytes);
	shim_set_preempt_count(1, SOFTIRQ);
	block_issue(NULL, &request);
	shim_set_preempt_count(1, 0);
	e = expect(1, EV_SYSTEM_BLOCK_ISSUE);
	CHECK(!e->header.thread && !e->tid);
	CHECK_EQUAL(e->context, WAKE_SOFTIRQ);
	end();
}

TEST(who_gave_a_request_to_a_queue_is_recorded_and_not_who_takes_it_from_there)
{
	struct request request = { &queue, BLOCK_READ, 4096, 77 };
	const struct ev_system_block_issue *e;

	begin(true);
	go_to(0);
	block_insert(NULL, &request);
	go_to(1);
	stranger->task.flags = PF_KTHREAD;
	block_issue(NULL, &request);
	e = expect(1, EV_SYSTEM_BLOCK_ISSUE);
	CHECK_EQUAL(e->header.thread, traced->number);
	CHECK_EQUAL(e->tid, (uint32_t)traced->task.pid);
	CHECK_EQUAL(e->context, WAKE_THREAD);
	/* The place in memory is another request's. */
	block_issue(NULL, &request);
	e = expect(1, EV_SYSTEM_BLOCK_ISSUE);
	CHECK_EQUAL(e->header.thread, stranger->external_number);
	CHECK_EQUAL(e->context, WAKE_KERNEL_THREAD);
	end();
}

/* --- Losses ----------------------------------------------------------------------------------- */

TEST(what_does_not_fit_is_counted_and_recorded_before_the_next_record)
{
	enum { ROOM = 4, SENT = 20 };
	const struct ev_system_lost *e;
	uint64_t recorded = 0;

	begin(true);
	go_to(0);
	shim_make_ring(&system_rings, 0, ROOM * (sizeof(struct ev_system_softirq) + RECORD) + 1);
	for (uint32_t i = 0; i < SENT; i++) {
		softirq_begin(NULL, SOFTIRQ_RCU);
		softirq_end(NULL, SOFTIRQ_RCU);
	}
	CHECK_EQUAL(system_cpus[0].lost, SENT - ROOM);
	while (shim_read(&system_rings, 0, NULL))
		recorded++;
	CHECK_EQUAL(recorded, ROOM);
	softirq_begin(NULL, SOFTIRQ_RCU);
	softirq_end(NULL, SOFTIRQ_RCU);
	e = expect(0, EV_SYSTEM_LOST);
	CHECK_EQUAL(e->lost, SENT - ROOM);
	CHECK(!e->cpu && !e->reserved);
	expect(0, EV_SYSTEM_SOFTIRQ);
	end();
}
