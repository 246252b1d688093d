/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Full rings: each loss is counted, and told exactly before the next record of its CPU.
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

/* One program that sends one record, of one size or another, if there is room. */
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
		sched_switch(NULL, true, &world.idle[0].task, &task->task, 0);
		break;
	default:	/* frames that are always new */
		shim_user_stack.count = 1 + below(20);
		shim_user_stack.frames[0] = shim_now_ns;
		sched_process_exit(NULL, &task->task);
	}
}

struct reader {
	uint64_t time_ns;		/* of the last record */
	uint64_t told, received;
	uint64_t untaken;		/* told by a gap, the record after it not read yet */
};

/* Each record is sent at a time of its own, so the times show which ones are missing. */
static void read_all(struct reader *reader, uint32_t at_most)
{
	const struct ev_header *header;

	while (at_most-- && (header = shim_read(&rings, 0, NULL))) {
		if (header->subsys == TRACE_SUBSYS_COLLECT) {
			const struct ev_collect_gap *gap = (const struct ev_collect_gap *)header;

			CHECK(header->event == TRACE_EVENT_COLLECT_GAP && !header->thread);
			CHECK(gap->lost && !gap->cpu && !gap->reserved);
			reader->untaken += gap->lost;
			reader->told += gap->lost;
			continue;
		}
		CHECK(header->time_ns - reader->time_ns - 1 == reader->untaken);
		reader->time_ns = header->time_ns;
		reader->untaken = 0;
		reader->received++;
	}
}

TEST(each_loss_is_told_exactly_before_the_next_record)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct reader reader;
		uint64_t sent = 0;

		begin(1);
		random_state = seed;
		shim_make_ring(&rings, 0, 128 << seed % 5);
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
		CHECK(cpu_counts[0].lost == reader.told + cpu_counts[0].lost_untold);
		CHECK(sent == reader.received + cpu_counts[0].lost);
		CHECK(seed % 5 == 4 || cpu_counts[0].lost);
		end();
	}
}

TEST(a_small_record_does_not_overtake_the_gap)
{
	const struct ev_header *header;

	begin(1);
	shim_make_ring(&rings, 0, 64);
	task_rename(NULL, &task->task, "takes 40 of 63");
	shim_now_ns++;
	task_rename(NULL, &task->task, "lost");
	CHECK(cpu_counts[0].lost == 1);
	/* 24 bytes are left, but for the last: a wake-up would need no more, a gap does. */
	shim_make_ring(&rings, 0, 65);
	shim_now_ns++;
	shim_thread(&task->task)->phase = PHASE_BLOCKED;
	sched_waking(NULL, &task->task);
	CHECK(shim_thread(&task->task)->phase == PHASE_RUNNABLE);
	CHECK(cpu_counts[0].lost == 2 && cpu_counts[0].lost_untold == 2);
	CHECK(shim_read(&rings, 0, NULL));
	CHECK(!shim_read(&rings, 0, NULL));
	shim_make_ring(&rings, 0, 128);
	task_rename(NULL, &task->task, "the next");
	header = shim_read(&rings, 0, NULL);
	CHECK(header && header->subsys == TRACE_SUBSYS_COLLECT);
	CHECK(((const struct ev_collect_gap *)header)->lost == 2);
	CHECK(shim_read(&rings, 0, NULL));
	end();
}

TEST(what_is_lost_still_counts_as_active)
{
	begin(2);
	shim_make_ring(&rings, 0, 8);
	for (uint32_t i = 0; i < 100; i++) {
		struct world_task *idle = &world.idle[0];

		shim_now_ns += 10;
		sched_waking(NULL, &task->task);
		CHECK(active_count() == 1);
		sched_switch(NULL, false, &idle->task, &task->task, 0);
		CHECK(active_count() == 1);
		task->task.__state = 1;
		sched_switch(NULL, false, &task->task, &idle->task, 1);
		CHECK(active_count() == 0);
	}
	CHECK(cpu_counts[0].lost == 300 && cpu_counts[0].lost_untold == 300);
	CHECK(threads_alive == 1);
	sched_process_fork(NULL, &task->task, &world_add_task(&world, NULL)->task);
	CHECK(threads_alive == 2 && active_count() == 1 && cpu_counts[0].lost == 301);
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
	CHECK(shim_read(&rings, 2, NULL)->subsys == TRACE_SUBSYS_THREAD);
	CHECK(cpu_counts[1].lost == 1 && !cpu_counts[2].lost && !cpu_counts[0].lost);
	shim_make_ring(&rings, 1, 256);
	shim_cpu = 1;
	task_rename(NULL, &task->task, "not lost");
	gap = (const struct ev_collect_gap *)shim_read(&rings, 1, NULL);
	CHECK(gap->header.subsys == TRACE_SUBSYS_COLLECT && gap->lost == 1 && gap->cpu == 1);
	CHECK(!cpu_counts[1].lost_untold && cpu_counts[1].lost == 1);
	end();
}

TEST(a_cpu_without_a_ring_loses_nothing_silently)
{
	begin(1);
	shim_cpu = 5;
	task_rename(NULL, &task->task, "lost");
	CHECK(cpu_counts[5].lost == 1);
	end();
}

TEST(lost_samples_have_a_count_and_a_ring_of_their_own)
{
	struct bpf_perf_event_data ctx = { .regs.ip = 0x401234 };

	begin(1);
	shim_make_ring(&sample_rings, 0, 128);
	shim_current = &task->task;
	for (uint32_t i = 0; i < 5; i++)
		sample(&ctx);
	CHECK(cpu_counts[0].samples_lost == 2 && !cpu_counts[0].lost);
	for (uint32_t i = 0; i < 3; i++)
		CHECK(shim_read(&sample_rings, 0, NULL));
	CHECK(!shim_read(&sample_rings, 0, NULL) && !shim_read(&rings, 0, NULL));
	end();
}
