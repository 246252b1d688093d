/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs against the model over random schedules. World compares after each step:
 * every record and its fields, the active and the living threads, the integral, and which
 * slices, waits and wakers get a stack.
 */
#include "test.h"
#include "world.h"

static uint64_t random_state;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dull >> 16;
}

static uint32_t below(uint32_t limit)
{
	return random_next() % limit;
}

/* From a nanosecond to ten seconds, each order of magnitude alike. */
static uint64_t random_ns(uint32_t magnitudes)
{
	static const uint64_t tens[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000 };

	return (1 + below(10)) * tens[below(magnitudes)];
}

static struct world_task *random_task(struct world *world, enum task_place place)
{
	size_t begin = below(world->task_count);

	for (size_t i = 0; i < world->task_count; i++) {
		struct world_task *task = world->tasks[(begin + i) % world->task_count];

		if (task->place == place)
			return task;
	}
	return NULL;
}

/* Who runs next: mostly someone, else the idle task. */
static struct world_task *random_next_task(struct world *world)
{
	return below(8) ? random_task(world, PLACE_READY) : NULL;
}

/* What the task on a CPU is in. */
static void random_call(struct world_task *task)
{
	if (task->is_idle)
		return;
	world_call(task, below(CALL_COUNT), below(1 << 16));
	task->task.in_iowait = !below(4);
	task->task.thread_info.status = below(8) ? 0 : 2;
}

static void random_leave(struct world *world, uint32_t cpu)
{
	static const uint32_t states[] = {
		0x1, 0x2, 0x2001, 0x2002, 0x4, 0x8, 0x102, 0x104, 0x40, 0x402, 0x1000, 0x8000
	};
	struct world_task *task = world->on_cpu[cpu], *next = random_next_task(world);
	enum leave why = below(LEAVE_DEAD);

	if (task->is_idle || next == task) {
		world_leave(world, cpu, LEAVE_PREEMPTED, next);
		return;
	}
	if (task->is_exiting && below(2)) {
		world_leave(world, cpu, LEAVE_DEAD, next);
		return;
	}
	if (below(2)) {
		random_call(task);
		world_sleep(world, cpu, states[below(sizeof(states) / sizeof(*states))], next);
		return;
	}
	/* Of a task preempted on its way to sleep the iterator, when it first comes, sees a sleeper. */
	if (why == LEAVE_PREEMPTED_GOING_TO_SLEEP && !task->is_traced)
		why = LEAVE_PREEMPTED;
	world_leave(world, cpu, why, next);
}

static void random_wake(struct world *world, uint32_t cpu, struct world_task *task)
{
	static const enum wake_context contexts[] = { WAKE_SOFTIRQ, WAKE_HARDIRQ, WAKE_THREAD, WAKE_THREAD };

	if (below(2))
		random_call(world->on_cpu[cpu]);
	world_wake_in(world, cpu, task, contexts[below(sizeof(contexts) / sizeof(*contexts))]);
}

static void random_open(struct world *world)
{
	uint32_t file = below(WORLD_FILES + 1);

	world_open(world, below(WORLD_DESCRIPTORS), file ? &world->files[file - 1] : NULL);
}

struct schedule {
	struct world world;
	size_t visited; /* tasks that the iterator has been at */
	uint32_t magnitudes, tasks_max;
	uint32_t wake_percent; /* how busy the system is */
	bool can_fork;
};

static void random_step(struct schedule *s)
{
	struct world *world = &s->world;
	uint32_t cpu = below(world->options.cpu_count);
	struct world_task *task = world->on_cpu[cpu], *woken;

	world_pass(world, below(20) ? random_ns(s->magnitudes) : 0);
	switch (below(17)) {
	case 0:
		if (s->visited < world->task_count)
			world_visit(world, cpu, world->tasks[s->visited++]);
		else if (!below(30))
			s->visited = 0; /* again, as after a gap */
		break;
	case 1:
		if (!task->is_idle && !task->is_exiting && s->can_fork && world->task_count < s->tasks_max)
			world_fork(world, cpu, below(2));
		break;
	case 2:
		if (!task->is_idle && !task->is_exiting && !below(4))
			world_exit(world, cpu, below(4));
		break;
	case 3:
		if (!task->is_idle && !task->is_exiting && !below(3))
			world_exec(world, cpu);
		break;
	case 4:
		if (!task->is_idle)
			world_rename(world, cpu, below(2) ? "short" : "fifteen_letters");
		break;
	case 5:
		world_sample(world, cpu, below(2), below(2));
		break;
	case 6: /* someone who need not be woken */
		woken = random_task(world, below(2) ? PLACE_ON_CPU : PLACE_READY);
		if (woken)
			random_wake(world, cpu, woken);
		break;
	case 7:
	case 8:
	case 9:
		woken = random_task(world, PLACE_BLOCKED);
		if (woken && below(100) < s->wake_percent)
			random_wake(world, cpu, woken);
		break;
	case 10:
		if (below(10))
			random_open(world);
		else
			world_forget(world);
		break;
	default:
		random_leave(world, cpu);
	}
}

/* Processes of several threads that live already; some are targets. */
static void add_tasks(struct world *world, uint32_t count, uint32_t targets_in_8)
{
	struct world_task *leader = NULL;

	for (uint32_t i = 0; i < count; i++) {
		struct world_task *task = world_add_task(world, below(3) ? leader : NULL);

		if (task->task.pid == task->task.tgid) {
			leader = task;
			if ((uint32_t)task->task.pid == world->options.own_pid)
				continue;
			if (below(8) < targets_in_8)
				shim_set_target(task->task.pid, TARGET_EXISTING);
			else if (below(8) < targets_in_8)
				shim_set_target(task->task.pid, TARGET_EXEC);
			else if (!below(8))
				task->task.flags = PF_KTHREAD;
		} else {
			task->task.flags = leader->task.flags;
		}
		if (below(2)) {
			task->task.__state = below(2) ? 0 : TASK_WAKING;
			task->place = PLACE_READY;
		}
	}
}

struct totals {
	uint64_t slices, critical_slices, generous_stacks, threads;
	uint64_t waits, waits_kept, wait_stacks, externals;
};

static struct totals run(uint64_t seed, const struct world_options *options, uint32_t magnitudes, uint32_t steps)
{
	struct schedule s = { .magnitudes = magnitudes };
	struct totals totals;

	random_state = seed * 0x9e3779b97f4a7c15ull + 1;
	random_next();
	s.can_fork = below(4);
	s.wake_percent = 10 + below(90);
	s.tasks_max = 4 + below(60);
	world_init(&s.world, options);
	s.world.seed = seed;
	add_tasks(&s.world, 1 + below(24), 4);
	for (uint32_t i = 0; i < steps; i++)
		random_step(&s);
	totals = (struct totals){ s.world.slices,          s.world.critical_slices,
				  s.world.generous_stacks, s.world.numbers_given,
				  s.world.waits,           s.world.waits_kept,
				  s.world.wait_stacks,     s.world.external_numbers_given };
	world_fini(&s.world);
	return totals;
}

static struct world_options options_for(uint64_t seed)
{
	return (struct world_options){
		.cpu_count = 1 + seed % 5,
		.nmin = seed % 3 ? 0 : 1 + seed / 3 % 4,
		.own_pid = 101,
		.begin_ns = 1000000000,
		.has_no_slice_stacks = seed / 5 % 2,
	};
}

static void add_totals(struct totals *sum, struct totals more)
{
	sum->slices += more.slices;
	sum->critical_slices += more.critical_slices;
	sum->generous_stacks += more.generous_stacks;
	sum->threads += more.threads;
	sum->waits += more.waits;
	sum->waits_kept += more.waits_kept;
	sum->wait_stacks += more.wait_stacks;
	sum->externals += more.externals;
}

enum { SEEDS = 2000, STEPS = 500 };

TEST(the_programs_agree_with_the_model_on_random_schedules)
{
	struct totals sum = { 0 };

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world_options options = options_for(seed);

		add_totals(&sum, run(seed, &options, 8, STEPS));
	}
	/* The schedules are worth something: both kinds of slices, and enough of them. */
	CHECK_THAT(sum.slices, >, 10000);
	CHECK_THAT(sum.threads, >, 2000);
	CHECK_THAT(sum.waits, >, 10000);
	CHECK_THAT(sum.critical_slices, >, sum.slices / 10);
	CHECK_THAT(sum.critical_slices, <, sum.slices * 9 / 10);
	/* Slices of a microsecond or less are all within the slack. */
	CHECK_THAT(sum.generous_stacks, <, sum.slices / 4);
}

TEST(slices_much_longer_than_the_slack_are_judged_almost_exactly)
{
	struct totals sum = { 0 };

	for (uint64_t seed = 1; seed <= SEEDS / 2; seed++) {
		struct world_options options = options_for(seed);
		struct schedule s = { .magnitudes = 1, .can_fork = true, .tasks_max = 30 };

		random_state = seed + 77;
		s.wake_percent = 10 + below(90);
		world_init(&s.world, &options);
		s.world.seed = seed;
		add_tasks(&s.world, 1 + below(24), 8);
		for (uint32_t i = 0; i < STEPS; i++) {
			world_pass(&s.world, 1000000 + below(1000000));
			random_step(&s);
		}
		sum.slices += s.world.slices;
		sum.critical_slices += s.world.critical_slices;
		sum.generous_stacks += s.world.generous_stacks;
		world_fini(&s.world);
	}
	CHECK_THAT(sum.critical_slices, >, 1000);
	CHECK_THAT(sum.generous_stacks, <=, sum.slices / 200);
}

TEST(slices_of_seconds_are_never_missed)
{
	struct totals sum = { 0 };

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world_options options = options_for(seed);

		add_totals(&sum, run(seed, &options, 10, STEPS));
	}
	CHECK_THAT(sum.critical_slices, >, 1000);
}

TEST(the_clock_may_pass_2_to_the_48_and_wrap_around)
{
	static const uint64_t bounds[] = { 1ull << 47, 1ull << 48, 1ull << 63, 0 };

	for (uint64_t seed = 1; seed <= 160; seed++) {
		struct world_options options = options_for(seed);

		options.begin_ns = bounds[seed % 4] - random_ns(8) * 50;
		run(seed, &options, 8, 300);
	}
}

TEST(each_way_of_following_traces_exactly_what_it_says)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world_options options = options_for(seed);

		options.threads_only = seed % 4 == 1;
		options.processes_only = seed % 4 >= 2;
		options.trace_all = seed % 4 == 3;
		run(seed, &options, 7, 300);
	}
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct world_options options = options_for(seed);

		options.trace_all = true;
		run(seed, &options, 7, 300);
	}
}

/* World takes what is recorded of others for itself: the rest is what the model expects of a target. */
TEST(all_others_are_reported_and_nothing_else_changes)
{
	struct totals sum = { 0 };

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world_options options = options_for(seed);

		options.tells_system = true;
		options.threads_only = seed % 6 == 1;
		options.processes_only = seed % 6 == 2;
		options.trace_all = seed % 6 == 3;
		add_totals(&sum, run(seed, &options, 8, STEPS));
	}
	CHECK_THAT(sum.slices, >, 10000);
	CHECK_THAT(sum.waits, >, 10000);
	CHECK_THAT(sum.externals, >, 2000);
}

TEST(the_governor_keeps_stacks_with_the_probability_it_reports)
{
	struct totals sum = { 0 };

	for (uint64_t seed = 1; seed <= SEEDS / 2; seed++) {
		struct world_options options = options_for(seed);

		options.keep_all_above_ns = seed % 7 ? 1 + below(10000000) : UINT32_MAX;
		add_totals(&sum, run(seed, &options, 9, 400));
	}
	/* Both at the beginning of waits and at their end. */
	CHECK_THAT(sum.waits, >, 1000);
	CHECK_THAT(sum.wait_stacks, >, 100);
	CHECK_THAT(sum.waits_kept, >, sum.waits / 20);
	CHECK_THAT(sum.waits_kept, <, sum.waits * 19 / 20);
}

/* The slice begins at 1, with this many active all along, and ends after length_ns. */
static bool has_stack_at(uint32_t active, uint32_t alive, uint32_t nmin, uint64_t length_ns)
{
	struct world_options options = { .cpu_count = 1, .nmin = nmin, .begin_ns = 1 };
	struct world world;
	struct world_task *task;
	bool has_stack;

	world_init(&world, &options);
	for (uint32_t i = 0; i < alive; i++) {
		task = world_add_task(&world, NULL);
		shim_set_target(task->task.pid, TARGET_EXISTING);
		if (i < active) {
			task->task.__state = 0;
			task->place = PLACE_READY;
		}
		world_visit(&world, 0, task);
	}
	world_leave(&world, 0, LEAVE_PREEMPTED, world.tasks[0]);
	world_pass(&world, length_ns);
	world_leave(&world, 0, LEAVE_PREEMPTED, NULL);
	has_stack = world.last_switch.flags == SWITCH_HAS_STACK;
	world_fini(&world);
	return has_stack;
}

TEST(half_of_an_odd_number_of_threads_is_not_rounded)
{
	/* N = 5: N_min is 2.5, so two active are few and three are not. */
	CHECK(has_stack_at(2, 5, 0, 10000000));
	CHECK(!has_stack_at(3, 5, 0, 10000000));
	CHECK(has_stack_at(3, 6, 0, 10000000));
	CHECK(!has_stack_at(2, 3, 0, 10000000));
}

TEST(n_min_is_at_least_one)
{
	CHECK(has_stack_at(1, 1, 0, 10000000));
	CHECK(!has_stack_at(2, 2, 0, 10000000));
}

TEST(the_n_min_option_replaces_the_half)
{
	CHECK(has_stack_at(3, 3, 3, 10000000));
	CHECK(!has_stack_at(4, 10, 3, 10000000));
	CHECK(has_stack_at(4, 10, 4, 10000000));
}

TEST(an_n_min_beyond_all_threads_makes_every_slice_critical)
{
	CHECK(has_stack_at(10, 10, 1u << 31, 1u << 31));
	/* Chosen so that length times limit is just above 2^64. */
	CHECK(has_stack_at(10, 10, 3u << 30, 2863311531));
	CHECK(has_stack_at(10, 10, UINT32_MAX, 3000000000));
	CHECK(has_stack_at(10, 10, UINT32_MAX, UINT32_MAX));
}

/* N = 4, two active: critical, and just so. Without the dying thread it would not be. */
TEST(a_thread_counts_in_the_n_of_its_own_last_slice)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1 };
	struct world world;

	world_init(&world, &options);
	for (uint32_t i = 0; i < 4; i++) {
		struct world_task *task = world_add_task(&world, NULL);

		shim_set_target(task->task.pid, TARGET_EXISTING);
		if (i < 2) {
			task->task.__state = 0;
			task->place = PLACE_READY;
		}
		world_visit(&world, 0, task);
	}
	world_leave(&world, 0, LEAVE_PREEMPTED, world.tasks[0]);
	world_exit(&world, 0, true);
	world_pass(&world, 10000000);
	world_leave(&world, 0, LEAVE_DEAD, NULL);
	CHECK_EQUAL(world.last_switch.flags, SWITCH_HAS_STACK);
	world_fini(&world);
}

/* The serial phase that a tool for bottlenecks must not miss: it ends by waking the others. */
TEST(a_long_serial_slice_that_ends_by_waking_everyone_has_its_stack)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1 };
	struct world world;

	world_init(&world, &options);
	for (uint32_t i = 0; i < 8; i++) {
		struct world_task *task = world_add_task(&world, NULL);

		shim_set_target(task->task.pid, TARGET_EXISTING);
		world_visit(&world, 0, task);
	}
	world_wake(&world, 0, world.tasks[0]);
	world_leave(&world, 0, LEAVE_PREEMPTED, world.tasks[0]);
	world_pass(&world, 10000000000);
	for (uint32_t i = 1; i < 8; i++)
		world_wake(&world, 0, world.tasks[i]);
	world_pass(&world, 1000);
	world_leave(&world, 0, LEAVE_PREEMPTED, world.tasks[1]);
	CHECK_EQUAL(world.last_switch.flags, SWITCH_HAS_STACK);
	world_fini(&world);
}

TEST(a_task_is_found_in_the_phase_that_its_state_reports)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1, .trace_all = true };
	static const uint32_t awake[] = { 0, TASK_WAKING };
	static const uint32_t asleep[] = { 0x1, 0x2, 0x2001, 0x2002, 0x4, 0x8, 0x40, 0x402, 0x8000 };
	struct world world;

	world_init(&world, &options);
	for (size_t i = 0; i < sizeof(awake) / sizeof(*awake); i++) {
		struct world_task *task = world_add_task(&world, NULL);

		task->task.__state = awake[i];
		task->place = PLACE_READY;
		world_visit(&world, 0, task);
	}
	for (size_t i = 0; i < sizeof(asleep) / sizeof(*asleep); i++) {
		struct world_task *task = world_add_task(&world, NULL);

		task->task.__state = asleep[i];
		world_visit(&world, 0, task);
	}
	world_fini(&world);
}

TEST(the_dead_are_not_found)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1, .trace_all = true };
	struct world world;
	struct world_task *task;

	world_init(&world, &options);
	task = world_add_task(&world, NULL);
	task->task.__state = TASK_DEAD;
	task->place = PLACE_DEAD;
	world_visit(&world, 0, task);
	CHECK(!shim_thread(&task->task) && !threads_untracked);
	world_fini(&world);
}
