/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Full rings: each loss is counted, and recorded exactly before the next record of its CPU. And
 * slot rings: what a reader sees of them at each moment.
 */
#include "test.h"
#include "world.h"

static struct world world;
static struct world_task *task;

static void begin(uint32_t cpu_count)
{
	struct world_options options = { .cpu_count = cpu_count, .begin_ns = 1000000 };

	world_init(&world, &options);
	task = world_add_task(&world, NULL);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	world_visit(&world, 0, task);
	/* With the frames that a test sets; and woken by interrupts, of which nothing is recorded. */
	shim_registers = NULL;
	shim_current = &task->task;
	shim_set_preempt_count(0, 1 << 16);
}

static void end(void)
{
	CHECK(!shim_records_open());
	world_fini(&world);
}

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % limit;
}

/* One program that sends one record, of one size or another, if there is space. */
static void send_one(void)
{
	switch (below(4)) {
	case 0:
		task_rename(NULL, &task->task, "fifteen_letters");
		break;
	case 1:
		shim_thread(&task->task)->phase = PHASE_BLOCKED;
		sched_waking(NULL, &task->task);
		break;
	case 2:
		cpu_counts[0].next_recorded = 0; /* how that one got the CPU does not matter */
		sched_switch(NULL, true, &world.idle[0].task, &task->task, 0);
		break;
	default: /* frames that are always new */
		shim_user_stack.count = 1 + below(20);
		shim_user_stack.frames[0] = shim_now_ns;
		sched_process_exit(NULL, &task->task);
	}
}

struct reader {
	uint64_t time_ns; /* of the last record */
	uint64_t recorded, received;
	uint64_t untaken; /* known from a gap, the record after it not read yet */
};

/* Each record is sent at a time of its own, so the times show which ones are missing. */
static void read_all(struct reader *reader, uint32_t at_most)
{
	const struct ev_header *header;

	while (at_most-- && (header = shim_read(&rings, 0, NULL))) {
		if (header->subsys == TRACE_SUBSYS_COLLECT) {
			const struct ev_collect_gap *gap = (const struct ev_collect_gap *)header;

			CHECK_EQUAL(header->event, TRACE_EVENT_COLLECT_GAP);
			CHECK(!header->thread);
			CHECK(gap->lost && !gap->cpu && !gap->reserved);
			reader->untaken += gap->lost;
			reader->recorded += gap->lost;
			continue;
		}
		CHECK_EQUAL(header->time_ns - reader->time_ns - 1, reader->untaken);
		reader->time_ns = header->time_ns;
		reader->untaken = 0;
		reader->received++;
	}
}

TEST(each_loss_is_recorded_exactly_before_the_next_record)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct reader reader;
		uint64_t sent = 0;

		begin(1);
		random_state = seed;
		shim_make_ring(&rings, 0, 128 << seed % 5);
		shim_make_slots(1, 1 << seed % 7);
		reader = (struct reader){ .time_ns = shim_now_ns };
		for (uint32_t i = 0; i < 500; i++) {
			shim_now_ns++;
			sent++;
			send_one();
			if (!below(6))
				read_all(&reader, below(8));
			CHECK(!shim_records_open());
		}
		read_all(&reader, UINT32_MAX);
		CHECK_EQUAL(cpu_counts[0].lost, reader.recorded + cpu_counts[0].lost_unreported);
		CHECK_EQUAL(sent, reader.received + cpu_counts[0].lost);
		CHECK(cpu_counts[0].lost);
		end();
	}
}

TEST(a_record_that_has_space_does_not_overtake_the_gap)
{
	const struct ev_header *header;

	begin(1);
	shim_make_ring(&rings, 0, 64);
	task_rename(NULL, &task->task, "takes 40 of 63");
	shim_now_ns++;
	task_rename(NULL, &task->task, "lost");
	CHECK_EQUAL(cpu_counts[0].lost, 1);
	/* All slots are free, but the record of the gap would not fit. */
	shim_now_ns++;
	shim_thread(&task->task)->phase = PHASE_BLOCKED;
	sched_waking(NULL, &task->task);
	CHECK_EQUAL(shim_thread(&task->task)->phase, PHASE_RUNNABLE);
	CHECK_EQUAL(cpu_counts[0].lost, 2);
	CHECK_EQUAL(cpu_counts[0].lost_unreported, 2);
	CHECK(!shim_slots_waiting(0));
	CHECK(shim_read(&rings, 0, NULL));
	CHECK(!shim_read(&rings, 0, NULL));
	shim_make_ring(&rings, 0, 128);
	task_rename(NULL, &task->task, "the next");
	header = shim_read(&rings, 0, NULL);
	CHECK(header);
	CHECK_EQUAL(header->subsys, TRACE_SUBSYS_COLLECT);
	CHECK_EQUAL(((const struct ev_collect_gap *)header)->lost, 2);
	CHECK(shim_read(&rings, 0, NULL));
	end();
}

/* A record of the slot ring at a time of its own. */
static void send_wake(void)
{
	shim_now_ns++;
	shim_thread(&task->task)->phase = PHASE_BLOCKED;
	sched_waking(NULL, &task->task);
}

static void send_switch(void)
{
	shim_now_ns++;
	cpu_counts[0].next_recorded = 0; /* how the idle thread got the CPU does not matter */
	sched_switch(NULL, true, &world.idle[0].task, &task->task, 0);
}

TEST(a_full_slot_ring_loses_exactly_what_does_not_fit)
{
	enum { SLOTS = 8, SENT = 20, TAKEN = 3 };
	const struct ev_collect_gap *gap;
	uint64_t first_ns;

	begin(1);
	shim_make_slots(1, SLOTS);
	first_ns = shim_now_ns + 1;
	for (uint32_t i = 0; i < SENT; i++) {
		i % 2 ? send_wake() : send_switch();
		CHECK_EQUAL(shim_slots_waiting(0), (i < SLOTS ? i + 1 : SLOTS));
		CHECK_EQUAL(cpu_counts[0].lost, (i < SLOTS ? 0 : i + 1 - SLOTS));
		CHECK_EQUAL(cpu_counts[0].lost_unreported, cpu_counts[0].lost);
		CHECK(!shim_records_open());
	}
	/* Space in the other ring does not make it tell before there is something to tell it to. */
	CHECK(!shim_bytes_waiting(&rings, 0));
	for (uint32_t i = 0; i < TAKEN; i++)
		CHECK_EQUAL(shim_read(&rings, 0, NULL)->time_ns, first_ns + i);
	send_switch();
	CHECK(!cpu_counts[0].lost_unreported);
	CHECK_EQUAL(cpu_counts[0].lost, SENT - SLOTS);
	for (uint32_t i = TAKEN; i < SLOTS; i++)
		CHECK_EQUAL(shim_read(&rings, 0, NULL)->time_ns, first_ns + i);
	gap = (const struct ev_collect_gap *)shim_read(&rings, 0, NULL);
	CHECK_EQUAL(gap->header.subsys, TRACE_SUBSYS_COLLECT);
	CHECK_EQUAL(gap->lost, SENT - SLOTS);
	CHECK_EQUAL(shim_read(&rings, 0, NULL)->time_ns, first_ns + SENT);
	CHECK(!shim_read(&rings, 0, NULL));
	end();
}

TEST(a_gap_has_no_later_time_than_the_record_before_which_it_is_recorded)
{
	const struct ev_header *header;
	uint64_t gap_ns;

	begin(1);
	shim_tick_ns = 7;
	shim_make_slots(1, 1);
	for (uint32_t i = 0; i < 100; i++) {
		send_wake();
		send_switch();
		CHECK_EQUAL(cpu_counts[0].lost_unreported, 1);
		CHECK_EQUAL(shim_read(&rings, 0, NULL)->event, TRACE_EVENT_SCHED_WAKE);
		CHECK(!shim_read(&rings, 0, NULL));
		send_switch();
		header = shim_read(&rings, 0, NULL);
		gap_ns = header->time_ns;
		CHECK_EQUAL(header->subsys, TRACE_SUBSYS_COLLECT);
		header = shim_read(&rings, 0, NULL);
		CHECK_EQUAL(header->event, TRACE_EVENT_SCHED_SWITCH);
		CHECK_THAT(header->time_ns, >, gap_ns);
	}
	end();
}

TEST(slots_go_on_after_the_last_slot_and_after_the_last_position)
{
	uint32_t wraps = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint32_t slots = 1 << seed % 5;
		struct reader reader;
		uint64_t sent = 0;

		begin(1);
		random_state = seed;
		shim_make_slots(1, slots);
		shim_set_slot_position(0, -(uint64_t)below(50));
		reader = (struct reader){ .time_ns = shim_now_ns };
		for (uint32_t i = 0; i < 200; i++) {
			below(2) ? send_wake() : send_switch();
			sent++;
			if (!below(3))
				read_all(&reader, below(6));
			CHECK_THAT(shim_slots_waiting(0), <=, slots);
			CHECK(!shim_records_open());
		}
		read_all(&reader, UINT32_MAX);
		wraps += cpu_counts[0].slots_done < 200;
		CHECK_EQUAL(sent, reader.received + cpu_counts[0].lost);
		CHECK_EQUAL(cpu_counts[0].lost, reader.recorded + cpu_counts[0].lost_unreported);
		end();
	}
	CHECK_THAT(wraps, >, 150);
}

/* --- What a reader sees that examines each point of a program ------------------------------- */

static uint64_t begun_seen, begun_seen_ns, done_seen; /* begun_seen_ns: when it first was */
static uint32_t drained, incomplete_looks;

static void on_drained(const struct ev_header *header)
{
	const struct ev_sched_switch *e = (const struct ev_sched_switch *)header;

	drained++;
	CHECK_THAT(header->time_ns, >, begun_seen_ns);
	if (header->event == TRACE_EVENT_SCHED_SWITCH) {
		CHECK_THAT(e->state, <=, SWITCH_DEAD);
		CHECK(!e->cpu && !e->keep);
	}
}

static void look(void)
{
	const struct cpu_counts *here = &cpu_counts[0];
	bool is_complete;

	/* The slot of a record in the making is not the reader's, however late it looks. */
	if (here->slots_begun != begun_seen) {
		begun_seen = here->slots_begun;
		begun_seen_ns = shim_now_ns;
		done_seen = here->slots_done;
	}
	is_complete = shim_drain_slots(0, on_drained);
	CHECK_EQUAL(is_complete, here->slots_done != done_seen);
	CHECK(is_complete || !drained);
	incomplete_looks += !is_complete;
}

static void run_watched(void (*send)(void))
{
	begun_seen = cpu_counts[0].slots_begun;
	done_seen = begun_seen - 1;
	begun_seen_ns = shim_now_ns;
	drained = incomplete_looks = 0;
	shim_at_point = look;
	send();
	shim_at_point = NULL;
	CHECK_THAT(incomplete_looks, >=, 2);
	CHECK(shim_drain_slots(0, on_drained));
	CHECK_EQUAL(drained, 1);
}

static void send_slice(void)
{
	task->task.__state = 1;
	sched_switch(NULL, false, &task->task, &world.idle[0].task, 1);
}

TEST(a_reader_in_the_middle_of_a_program_sees_that_a_record_is_being_written)
{
	begin(1);
	shim_tick_ns = 7;
	shim_user_stack.count = 5;
	for (uint32_t i = 0; i < 100; i++) {
		run_watched(send_wake);
		run_watched(send_switch);
		shim_user_stack.frames[0] = 1 + i;
		shim_now_ns += 1000;
		run_watched(send_slice);
		/* Its frames went the other way, while the record was open. */
		CHECK_EQUAL(shim_read(&rings, 0, NULL)->subsys, TRACE_SUBSYS_STACK);
		CHECK(!shim_read(&rings, 0, NULL));
	}
	end();
}

/* --- What it costs ---------------------------------------------------------------------------- */

static void switch_untraced(void)
{
	sched_switch(NULL, true, &world.idle[0].task, &world.idle[0].task, 0);
}

TEST(one_run_in_so_many_has_its_time_taken)
{
	begin(2);
	shim_tick_ns = 7;
	for (uint32_t i = 1; i <= 10 * TIMED_EACH; i++) {
		switch_untraced();
		CHECK_EQUAL(cpu_counts[0].runs, i);
		CHECK_EQUAL(cpu_counts[0].timed_ns, 7 * cpu_counts[0].timed_runs);
		if (i % TIMED_EACH == 0)
			CHECK_EQUAL(cpu_counts[0].timed_runs, i / TIMED_EACH);
	}
	CHECK(!cpu_counts[1].runs && !cpu_counts[1].timed_runs);
	end();
}

TEST(programs_that_take_turns_are_timed_alike)
{
	begin(1);
	shim_tick_ns = 7;
	for (uint32_t i = 0; i < TIMED_EACH * TIMED_EACH / 2; i++) {
		switch_untraced();
		send_wake(); /* reads the clock once more */
		CHECK(shim_read(&rings, 0, NULL));
	}
	CHECK_EQUAL(cpu_counts[0].runs, TIMED_EACH * TIMED_EACH);
	CHECK_EQUAL(cpu_counts[0].timed_runs, TIMED_EACH);
	CHECK_EQUAL(cpu_counts[0].timed_ns, TIMED_EACH / 2 * (7 + 14));
	end();
}

TEST(what_is_lost_still_counts_as_active)
{
	struct world_task *idle = &world.idle[0];

	begin(2);
	shim_make_ring(&rings, 0, 8);
	shim_make_slots(1, 1);
	send_switch(); /* takes the only slot */
	task->task.__state = 1;
	sched_switch(NULL, false, &task->task, &idle->task, 1);
	CHECK_EQUAL(cpu_counts[0].lost, 1);
	for (uint32_t i = 0; i < 100; i++) {
		shim_now_ns += 10;
		sched_waking(NULL, &task->task);
		CHECK_EQUAL(active_count(), 1);
		sched_switch(NULL, false, &idle->task, &task->task, 0);
		CHECK_EQUAL(active_count(), 1);
		task->task.__state = 1;
		sched_switch(NULL, false, &task->task, &idle->task, 1);
		CHECK_EQUAL(active_count(), 0);
	}
	CHECK_EQUAL(cpu_counts[0].lost, 301);
	CHECK_EQUAL(cpu_counts[0].lost_unreported, 301);
	CHECK_EQUAL(threads_alive, 1);
	sched_process_fork(NULL, &task->task, &world_add_task(&world, NULL)->task);
	CHECK_EQUAL(threads_alive, 2);
	CHECK_EQUAL(active_count(), 1);
	CHECK_EQUAL(cpu_counts[0].lost, 302);
	end();
}

TEST(a_full_ring_concerns_its_own_cpu_only)
{
	const struct ev_collect_gap *gap;

	begin(3);
	shim_make_ring(&rings, 1, 8);
	shim_cpu = 1;
	task_rename(NULL, &task->task, "lost");
	shim_cpu = 2;
	task_rename(NULL, &task->task, "not lost");
	CHECK_EQUAL(shim_read(&rings, 2, NULL)->subsys, TRACE_SUBSYS_THREAD);
	CHECK_EQUAL(cpu_counts[1].lost, 1);
	CHECK(!cpu_counts[2].lost && !cpu_counts[0].lost);
	shim_make_ring(&rings, 1, 256);
	shim_cpu = 1;
	task_rename(NULL, &task->task, "not lost");
	gap = (const struct ev_collect_gap *)shim_read(&rings, 1, NULL);
	CHECK_EQUAL(gap->header.subsys, TRACE_SUBSYS_COLLECT);
	CHECK_EQUAL(gap->lost, 1);
	CHECK_EQUAL(gap->cpu, 1);
	CHECK(!cpu_counts[1].lost_unreported);
	CHECK_EQUAL(cpu_counts[1].lost, 1);
	end();
}

TEST(a_cpu_without_a_ring_loses_nothing_silently)
{
	begin(1);
	shim_cpu = 5;
	task_rename(NULL, &task->task, "lost");
	CHECK_EQUAL(cpu_counts[5].lost, 1);
	shim_make_ring(&rings, 5, 4096); /* but no slots */
	send_wake();
	CHECK_EQUAL(cpu_counts[5].lost, 2);
	CHECK_EQUAL(cpu_counts[5].lost_unreported, 1);
	CHECK_EQUAL(cpu_counts[5].slots_begun, 0);
	end();
}

TEST(lost_samples_have_a_count_and_a_ring_of_their_own)
{
	enum {
		RING_BYTES = 128,
		RECORD_BYTES = 8 + sizeof(struct ev_sched_sample),
		FIT = (RING_BYTES - 1) / RECORD_BYTES
	};
	struct bpf_perf_event_data ctx = { .regs.ip = 0x401234 };

	begin(1);
	shim_make_ring(&sample_rings, 0, RING_BYTES);
	shim_current = &task->task;
	for (uint32_t i = 0; i < FIT + 2; i++)
		sample_timer(&ctx);
	CHECK_EQUAL(cpu_counts[0].samples_lost, 2);
	CHECK(!cpu_counts[0].lost);
	for (uint32_t i = 0; i < FIT; i++)
		CHECK(shim_read(&sample_rings, 0, NULL));
	CHECK(!shim_read(&sample_rings, 0, NULL) && !shim_read(&rings, 0, NULL));
	end();
}

TEST(a_sample_tells_equal_registers_from_others)
{
	struct ev_sched_sample e[3];

	begin(1);
	shim_make_ring(&sample_rings, 0, 4096);
	shim_current = &task->task;
	for (size_t i = 0; i < 3; i++) {
		struct bpf_perf_event_data ctx = { .regs = { .ip = 0x401000, .ax = i, .r15 = 7, .sp = 0x7000 } };
		const struct ev_header *read;

		sample_timer(&ctx);
		while ((read = (const struct ev_header *)shim_read(&sample_rings, 0, NULL)))
			if (read->event == (EV_SCHED_SAMPLE & 0xffff))
				e[i] = *(const struct ev_sched_sample *)read;
	}
	CHECK(e[0].registers && e[0].registers >> 60);
	CHECK_EQUAL((e[0].registers ^ e[1].registers) >> 4, 0);
	CHECK((e[0].registers ^ e[1].registers) & 0xf);
	CHECK((e[1].registers ^ e[2].registers) & 0xf);
	end();
}

TEST(one_tick_in_so_many_is_sampled)
{
	struct pt_regs regs = { .ip = 0x401234 };
	uint32_t samples = 0;

	begin(1);
	shim_set_option(sample_each_ticks, 3);
	shim_current = &task->task;
	for (uint32_t i = 0; i < 9; i++)
		shim_expire_timers(&regs);
	while (shim_read(&sample_rings, 0, NULL))
		samples++;
	CHECK_EQUAL(samples, 3);
	CHECK_EQUAL(cpu_counts[0].ticks, 9);
	end();
}

/* The last one of the ring, which is empty then; it is lent until the next reading. */
static struct ev_sched_sample last_sample(void)
{
	struct ev_sched_sample last = { 0 };
	const void *read;

	while ((read = shim_read(&sample_rings, 0, NULL)))
		last = *(const struct ev_sched_sample *)read;
	return last;
}

TEST(a_sample_says_what_took_it)
{
	struct bpf_perf_event_data ctx = { .regs.ip = 0x401234 };
	struct ev_sched_sample e;

	begin(1);
	shim_make_ring(&sample_rings, 0, 4096);
	shim_set_option(sample_each_ticks, 1);
	shim_set_option(sample_tick_ns, 4000000);
	shim_current = &task->task;
	sample_timer_ns = 6472135;
	sample_role = SAMPLE_BESIDE;
	sample_timer(&ctx);
	e = last_sample();
	CHECK_EQUAL(e.period_ns, 6472135);
	CHECK_EQUAL(e.role, SAMPLE_BESIDE);
	shim_expire_timers(&ctx.regs);
	e = last_sample();
	CHECK_EQUAL(e.period_ns, 4000000);
	CHECK_EQUAL(e.role, SAMPLE_REGULAR);
	sample_has_left_ticks = true;
	shim_expire_timers(&ctx.regs);
	CHECK(!shim_read(&sample_rings, 0, NULL));
	sample_timer(&ctx);
	e = last_sample();
	CHECK_EQUAL(e.due_ns, shim_now_ns - SHIM_TICK_LATE_NS);
	sample_timer_ns = 0;
	sample_role = SAMPLE_REGULAR;
	sample_has_left_ticks = false;
	end();
}
