/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths: what they are called, when their frames are sent, and how the governor thins
 * them out.
 */
#include "test.h"
#include "world.h"
#include "unwind_format.h"
#undef const /* the shim of bpf_helpers.h takes it away from the programs */

#include <errno.h>

static struct world world;
static struct world_task *task, *other;

/* One traced task on CPU 0, the only active one, so that each of its slices is critical. */
static void begin(void)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1000000 };

	world_init(&world, &options);
	task = world_add_task(&world, NULL);
	other = world_add_task(&world, NULL);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	world_visit(&world, 0, task);
	world_wake(&world, 0, task);
	world_leave(&world, 0, LEAVE_PREEMPTED, task);
	shim_registers = NULL; /* but those at the frames that a test sets */
}

static void end(void)
{
	CHECK(!shim_records_open());
	world_fini(&world);
}

static void set_frames(struct shim_stack *stack, long count, uint64_t first)
{
	stack->count = count;
	for (long i = 0; i < count; i++)
		stack->frames[i] = first + i;
}

/* Ends a slice of length_ns with the frames that are set, begins the next. */
static struct ev_sched_switch slice_of_ns(uint64_t length_ns)
{
	const struct ev_header *header;
	struct ev_sched_switch e;

	shim_now_ns += length_ns;
	sched_switch(NULL, true, &task->task, &world.idle[0].task, 0);
	header = shim_read(&rings, 0, NULL);
	CHECK(header && !header->subsys);
	CHECK_EQUAL(header->event, TRACE_EVENT_SCHED_SWITCH);
	e = *(const struct ev_sched_switch *)header;
	return e;
}

static void back_on_cpu(void)
{
	sched_switch(NULL, true, &world.idle[0].task, &task->task, 0);
	CHECK(shim_read(&rings, 0, NULL));
	CHECK(!shim_read(&rings, 0, NULL));
}

/* The id of the stack that is set; *frames_sent: its frames, NULL when they were not sent. */
static uint64_t take(const struct ev_stack_frames **frames_sent)
{
	static struct {
		struct ev_stack_frames e;
		uint64_t frames[SHIM_FRAMES_MAX];
	} copy;
	struct ev_sched_switch e = slice_of_ns(1000000);
	const struct ev_header *header;
	size_t size;

	CHECK_EQUAL(e.flags, SWITCH_HAS_STACK);
	CHECK(!e.keep);
	*frames_sent = NULL;
	header = shim_read(&rings, 0, &size);
	if (header) {
		CHECK_EQUAL(header->subsys, TRACE_SUBSYS_STACK);
		memcpy(&copy, header, size);
		CHECK_EQUAL(copy.e.stack, e.stack);
		CHECK(!copy.e.reserved[0] && !copy.e.header.thread);
		CHECK_EQUAL(size, sizeof(copy.e) + 8 * (copy.e.kernel_count + copy.e.user_count));
		*frames_sent = &copy.e;
	}
	back_on_cpu();
	return e.stack;
}

TEST(a_stack_is_sent_once)
{
	const struct ev_stack_frames *sent;
	uint64_t id;

	begin();
	set_frames(&shim_user_stack, 5, 0x1000);
	id = take(&sent);
	CHECK(id && sent);
	CHECK_EQUAL(sent->user_count, 5);
	CHECK(!sent->kernel_count);
	for (uint64_t i = 0; i < 5; i++)
		CHECK_EQUAL(sent->frames[i], 0x1000 + i);
	CHECK_EQUAL(take(&sent), id);
	CHECK(!sent);
	CHECK_EQUAL(take(&sent), id);
	CHECK(!sent);
	end();
}

TEST(a_forgotten_stack_is_sent_again_under_its_name)
{
	const struct ev_stack_frames *sent;
	uint64_t id;

	begin();
	set_frames(&shim_user_stack, 5, 0x1000);
	id = take(&sent);
	shim_forget(&stacks_known);
	CHECK_EQUAL(take(&sent), id);
	CHECK(sent);
	CHECK_EQUAL(take(&sent), id);
	CHECK(!sent);
	end();
}

TEST(a_stack_that_the_kernel_cannot_remember_is_sent_each_time)
{
	const struct ev_stack_frames *sent;
	uint64_t id;

	begin();
	shim_stacks_map_fails = true;
	set_frames(&shim_user_stack, 5, 0x1000);
	id = take(&sent);
	CHECK(sent);
	CHECK_EQUAL(take(&sent), id);
	CHECK(sent);
	end();
}

TEST(frames_for_which_the_ring_had_no_space_are_sent_the_next_time)
{
	const struct ev_stack_frames *sent;
	struct ev_sched_switch e;
	uint64_t id;

	begin();
	shim_make_ring(&rings, 0, 128); /* the switch fits, a hundred frames do not */
	set_frames(&shim_user_stack, 100, 0x1000);
	e = slice_of_ns(1000000);
	CHECK_EQUAL(e.flags, SWITCH_HAS_STACK);
	CHECK(e.stack);
	CHECK(!shim_read(&rings, 0, NULL));
	CHECK_EQUAL(cpu_counts[0].lost, 1);
	CHECK_EQUAL(cpu_counts[0].lost_unreported, 1);
	id = e.stack;
	shim_make_ring(&rings, 0, 1 << 16);
	sched_switch(NULL, true, &world.idle[0].task, &task->task, 0);
	CHECK_EQUAL(((const struct ev_collect_gap *)shim_read(&rings, 0, NULL))->lost, 1);
	CHECK(shim_read(&rings, 0, NULL));
	CHECK_EQUAL(take(&sent), id);
	CHECK(sent);
	CHECK_EQUAL(sent->user_count, 100);
	CHECK_EQUAL(take(&sent), id);
	CHECK(!sent);
	end();
}

TEST(stacks_that_differ_in_length_or_order_have_different_names)
{
	const struct ev_stack_frames *sent;
	uint64_t ids[STACK_DEPTH_MAX + 2];

	begin();
	for (long count = 1; count <= STACK_DEPTH_MAX; count++) {
		shim_user_stack.count = count; /* all frames alike */
		for (long i = 0; i < count; i++)
			shim_user_stack.frames[i] = 0x1000;
		ids[count - 1] = take(&sent);
		CHECK(ids[count - 1] && sent);
		CHECK_EQUAL(sent->user_count, count);
	}
	set_frames(&shim_user_stack, 2, 0x1000);
	ids[STACK_DEPTH_MAX] = take(&sent);
	shim_user_stack.frames[0] = 0x1001;
	shim_user_stack.frames[1] = 0x1000;
	ids[STACK_DEPTH_MAX + 1] = take(&sent);
	for (size_t i = 0; i < STACK_DEPTH_MAX + 2; i++)
		for (size_t j = 0; j < i; j++)
			CHECK_THAT(ids[i], !=, ids[j]);
	end();
}

TEST(kernel_frames_come_before_the_program_s)
{
	const struct ev_stack_frames *sent;

	begin();
	shim_set_option(kernel_stacks, true);
	set_frames(&shim_kernel_stack, 3, 0xffffffff81000000);
	set_frames(&shim_user_stack, 2, 0x1000);
	CHECK(take(&sent));
	CHECK(sent);
	CHECK_EQUAL(sent->kernel_count, 3);
	CHECK_EQUAL(sent->user_count, 2);
	CHECK_EQUAL(sent->frames[0], 0xffffffff81000000);
	CHECK_EQUAL(sent->frames[2], 0xffffffff81000002);
	CHECK_EQUAL(sent->frames[3], 0x1000);
	CHECK_EQUAL(sent->frames[4], 0x1001);
	end();
}

TEST(kernel_frames_are_not_asked_for_without_the_option)
{
	const struct ev_stack_frames *sent;

	begin();
	set_frames(&shim_kernel_stack, 3, 0xffffffff81000000);
	set_frames(&shim_user_stack, 2, 0x1000);
	shim_stacks_asked = 0;
	CHECK(take(&sent));
	CHECK_EQUAL(sent->kernel_count, 0);
	CHECK_EQUAL(sent->user_count, 2);
	CHECK_EQUAL(shim_stacks_asked, 2); /* to unwind, and to name it */
	end();
}

/* How many of the kernel's frames a slice has that ends in a wait of this state. */
static uint32_t kernel_frames_in(uint32_t state)
{
	const struct ev_stack_frames *sent;

	begin();
	set_frames(&shim_kernel_stack, 3, 0xffffffff81000000);
	set_frames(&shim_user_stack, 2, 0x1000);
	shim_now_ns += 1000000;
	task->task.__state = state;
	sched_switch(NULL, false, &task->task, &world.idle[0].task, state);
	CHECK(shim_read(&rings, 0, NULL));
	sent = (const struct ev_stack_frames *)shim_read(&rings, 0, NULL);
	CHECK(sent);
	CHECK_EQUAL(sent->user_count, 2);
	end();
	return sent->kernel_count;
}

TEST(waits_that_nothing_interrupts_have_the_kernel_s_frames_unasked)
{
	enum { INTERRUPTIBLE = 1, UNINTERRUPTIBLE = 2, KILLABLE = 0x102 };

	CHECK_EQUAL(kernel_frames_in(UNINTERRUPTIBLE), 3);
	CHECK_EQUAL(kernel_frames_in(KILLABLE), 3);
	CHECK_EQUAL(kernel_frames_in(INTERRUPTIBLE), 0);
}

/* Its programs may be preempted: by a switch whose stack is another one. */
static int points_left;

static void preempt(void)
{
	struct shim_stack stack = shim_user_stack;

	if (points_left--)
		return;
	shim_at_point = NULL;
	set_frames(&shim_user_stack, 3, 0x9000);
	shim_now_ns += 1000000;
	sched_switch(NULL, true, &task->task, &world.idle[0].task, 0);
	sched_switch(NULL, true, &world.idle[0].task, &task->task, 0);
	shim_user_stack = stack;
}

static bool is_recorded_as_set(const struct ev_stack_frames *sent)
{
	uint64_t first = sent->frames[0];

	if (sent->user_count != (first == 0x1000 ? 5 : 3))
		return false;
	for (uint64_t i = 0; i < sent->user_count; i++)
		if (sent->frames[i] != first + i)
			return false;
	return true;
}

TEST(a_switch_does_not_write_over_the_stack_of_a_thread_that_exits)
{
	const struct ev_header *header;
	bool was_preempted = true;

	for (int point = 0; was_preempted; point++) {
		size_t recorded = 0;

		begin();
		set_frames(&shim_user_stack, 5, 0x1000);
		points_left = point;
		shim_at_point = preempt;
		sched_process_exit(NULL, &task->task);
		was_preempted = !shim_at_point;
		shim_at_point = NULL;
		while ((header = shim_read(&rings, 0, NULL)))
			if (header->subsys == TRACE_SUBSYS_STACK) {
				CHECK(is_recorded_as_set((const struct ev_stack_frames *)header));
				recorded++;
			}
		CHECK_EQUAL(recorded, (was_preempted ? 2u : 1u));
		end();
		CHECK_THAT(point, <, 1000);
	}
}

TEST(the_same_frames_split_differently_have_different_names)
{
	const struct ev_stack_frames *sent;
	uint64_t id;

	begin();
	shim_set_option(kernel_stacks, true);
	set_frames(&shim_kernel_stack, 3, 0x1000);
	set_frames(&shim_user_stack, 2, 0x1003);
	id = take(&sent);
	set_frames(&shim_kernel_stack, 2, 0x1000);
	set_frames(&shim_user_stack, 3, 0x1002);
	CHECK_THAT(take(&sent), !=, id);
	CHECK(sent);
	end();
}

TEST(one_of_two_unreadable_stacks_does_not_spoil_the_other)
{
	const struct ev_stack_frames *sent;

	begin();
	shim_set_option(kernel_stacks, true);
	shim_kernel_stack.count = -EFAULT;
	set_frames(&shim_user_stack, 2, 0x1000);
	CHECK(take(&sent) && sent && !sent->kernel_count);
	CHECK_EQUAL(sent->user_count, 2);
	CHECK_EQUAL(sent->frames[0], 0x1000);
	set_frames(&shim_kernel_stack, 2, 0x2000);
	shim_user_stack.count = -EFAULT;
	CHECK(take(&sent) && sent);
	CHECK_EQUAL(sent->kernel_count, 2);
	CHECK(!sent->user_count);
	CHECK_EQUAL(sent->frames[1], 0x2001);
	end();
}

TEST(an_unreadable_stack_is_called_0_and_sends_nothing)
{
	const struct ev_stack_frames *sent;

	begin();
	shim_user_stack.count = -EFAULT;
	CHECK(!take(&sent) && !sent);
	shim_user_stack.count = 0;
	CHECK(!take(&sent) && !sent);
	CHECK(!cpu_counts[0].lost);
	end();
}

TEST(the_deepest_stacks_of_both_kinds_fit)
{
	const struct ev_stack_frames *sent;

	begin();
	shim_set_option(kernel_stacks, true);
	set_frames(&shim_kernel_stack, SHIM_FRAMES_MAX, 0x10000);
	set_frames(&shim_user_stack, SHIM_FRAMES_MAX, 0x20000);
	CHECK(take(&sent));
	CHECK_EQUAL(sent->kernel_count, STACK_DEPTH_MAX);
	CHECK_EQUAL(sent->user_count, STACK_DEPTH_MAX);
	CHECK_EQUAL(sent->frames[STACK_DEPTH_MAX], 0x20000);
	CHECK_EQUAL(sent->frames[2 * STACK_DEPTH_MAX - 1], 0x20000 + STACK_DEPTH_MAX - 1);
	end();
}

TEST(the_depth_option_cuts_the_program_s_stack)
{
	const struct ev_stack_frames *sent;

	begin();
	shim_set_option(stack_depth, 4);
	set_frames(&shim_user_stack, 10, 0x1000);
	CHECK(take(&sent));
	CHECK_EQUAL(sent->user_count, 4);
	CHECK_EQUAL(sent->frames[3], 0x1003);
	end();
}

TEST(a_slice_that_is_not_critical_does_not_even_read_its_stack)
{
	struct ev_sched_switch e;

	begin();
	shim_set_target(other->task.pid, TARGET_EXISTING);
	list_threads(&(struct bpf_iter__task){ .task = &other->task });
	sched_waking(NULL, &other->task); /* both active: N_min is 1 */
	while (shim_read(&rings, 0, NULL))
		;
	slice_of_ns(1);
	shim_forget(&stacks_known);
	while (shim_read(&rings, 0, NULL))
		;
	back_on_cpu();
	shim_stacks_asked = 0;
	cpu_counts[0].stack_ns = 0;
	shim_tick_ns = 1;
	e = slice_of_ns(1000000);
	CHECK(!e.flags && !e.stack && !shim_stacks_asked && !cpu_counts[0].stack_ns);
	CHECK(!shim_read(&rings, 0, NULL));
	end();
}

TEST(the_time_of_each_stack_is_counted_for_the_governor)
{
	const struct ev_stack_frames *sent;

	begin();
	set_frames(&shim_user_stack, 5, 0x1000);
	take(&sent);
	cpu_counts[0].stack_ns = 0;
	cpu_counts[0].governed_ns = 0;
	shim_tick_ns = 7;
	for (uint32_t i = 0; i < 10; i++)
		take(&sent);
	CHECK_EQUAL(cpu_counts[0].stack_ns, 10 * 7);
	CHECK_EQUAL(cpu_counts[0].governed_ns, 10 * 7);
	end();
}

/* Those of samples cost what they cost: were they counted, waits would have no stacks where they are deep. */
TEST(the_time_of_stacks_of_samples_is_not_the_governor_s)
{
	struct bpf_perf_event_data ctx = { .regs.ip = 0x401234 };
	uint64_t all_ns, governed_ns;

	begin();
	set_frames(&shim_user_stack, 5, 0x1000);
	shim_make_ring(&sample_rings, 0, 4096);
	shim_current = &task->task;
	all_ns = cpu_counts[0].stack_ns;
	governed_ns = cpu_counts[0].governed_ns;
	shim_tick_ns = 7;
	sample_timer(&ctx);
	CHECK_THAT(cpu_counts[0].stack_ns, >, all_ns);
	CHECK_EQUAL(cpu_counts[0].governed_ns, governed_ns);
	end();
}

/* --- Without unwind tables ------------------------------------------------------------------ */

/* The record with the stack's memory; NULL: none was sent. */
static const struct ev_stack_memory *take_memory(struct ev_sched_switch *e, size_t *size)
{
	static uint64_t copy[8192];
	const struct ev_header *header;
	size_t bytes;

	*e = slice_of_ns(1000000);
	header = shim_read(&rings, 0, &bytes);
	if (!header)
		return NULL;
	CHECK_EQUAL(header->subsys, TRACE_SUBSYS_STACK);
	if (header->event != TRACE_EVENT_STACK_MEMORY)
		return NULL;
	CHECK_THAT(bytes, <=, sizeof(copy));
	memcpy(copy, header, bytes);
	*size = bytes;
	return (const struct ev_stack_memory *)copy;
}

TEST(without_tables_the_stack_itself_is_sent)
{
	const struct ev_stack_memory *memory;
	struct ev_sched_switch e;
	const __u64 *words;
	uint64_t first;
	size_t size;

	begin();
	shim_tables_are_missing = true;
	shim_current = &task->task;
	cpu_counts[0].memory_allowed = 2;
	shim_set_option(kernel_stacks, true);
	set_frames(&shim_kernel_stack, 3, 0xffffffff81000000);
	set_frames(&shim_user_stack, 5, 0x1000);
	memory = take_memory(&e, &size);
	CHECK(memory && e.stack);
	CHECK_EQUAL(memory->stack, e.stack);
	CHECK_EQUAL(memory->pid, (uint32_t)task->task.tgid);
	CHECK_EQUAL(memory->registers[16], 0x1000);
	CHECK_EQUAL(memory->registers[7] % 8, 0);
	CHECK_EQUAL(memory->word_count, (RED_ZONE_BYTES + 2 * PAGE_BYTES) / 8);
	CHECK_EQUAL(memory->kernel_count, 3);
	CHECK_EQUAL(size, sizeof(*memory) + 8 * (memory->word_count + 3));
	/* What is on top is what the innermost frame returns to. */
	words = memory->words + RED_ZONE_BYTES / 8;
	CHECK_EQUAL(words[0], 0x1001);
	CHECK_EQUAL(words[3], 0x1004);
	CHECK(!words[4] && !words[-1]);
	CHECK_EQUAL(memory->words[memory->word_count + 2], 0xffffffff81000002);
	CHECK_EQUAL(shim_doorbell_rings, 1);
	back_on_cpu();

	/* The same stack again: nobody knows that it is. */
	first = memory->stack;
	memory = take_memory(&e, &size);
	CHECK(memory);
	CHECK_THAT(memory->stack, !=, first);
	CHECK_EQUAL(memory->stack, e.stack);
	back_on_cpu();
	end();
}

TEST(no_more_memory_is_sent_than_is_allowed)
{
	const struct ev_stack_frames *sent;
	struct ev_sched_switch e;
	size_t size;

	begin();
	shim_tables_are_missing = true;
	cpu_counts[0].memory_sent = cpu_counts[0].memory_allowed = UINT32_MAX;
	set_frames(&shim_user_stack, 5, 0x1000);
	CHECK(take(&sent) && sent);
	CHECK_EQUAL(sent->end, STACK_NO_TABLE);
	CHECK_EQUAL(sent->frames[0], 0x1000);
	cpu_counts[0].memory_allowed += 2;
	for (uint32_t i = 0; i < 2; i++) {
		CHECK(take_memory(&e, &size));
		back_on_cpu();
	}
	CHECK(take(&sent) && !sent); /* known by its frame */
	CHECK_EQUAL(cpu_counts[0].memory_sent, cpu_counts[0].memory_allowed);
	end();
}

TEST(memory_takes_no_more_than_half_of_the_ring)
{
	const struct ev_stack_frames *sent;
	struct ev_sched_switch e;
	size_t size;

	begin();
	shim_make_ring(&rings, 0, sizeof(struct memory_scratch) * 2);
	shim_tables_are_missing = true;
	cpu_counts[0].memory_allowed = 100;
	set_frames(&shim_user_stack, 5, 0x1000);
	CHECK(take(&sent) && sent);
	CHECK_EQUAL(sent->end, STACK_NO_TABLE);
	CHECK(!cpu_counts[0].memory_sent && !cpu_counts[0].lost);
	shim_make_ring(&rings, 0, sizeof(struct memory_scratch) * 2 + 16);
	CHECK(take_memory(&e, &size));
	back_on_cpu();
	end();
}

/* --- The governor ------------------------------------------------------------------------- */

static uint32_t random_value, random_calls;

static uint32_t random_scripted(void)
{
	random_calls++;
	return random_value;
}

static void check_keep(uint64_t length_ns, uint32_t value, uint8_t flags, uint32_t keep)
{
	struct ev_sched_switch e;

	random_value = value;
	e = slice_of_ns(length_ns);
	CHECK_EQUAL(e.flags, flags);
	CHECK_EQUAL(e.keep, keep);
	CHECK_EQUAL(!e.stack, flags != SWITCH_HAS_STACK);
	while (shim_read(&rings, 0, NULL))
		;
	back_on_cpu();
}

TEST(a_slice_is_kept_exactly_when_the_random_number_is_below_its_probability)
{
	begin();
	set_frames(&shim_user_stack, 5, 0x1000);
	shim_random = random_scripted;
	keep_all_above_ns = 1000000;
	/* Alone, a slice weighs its length: a quarter of the threshold. */
	check_keep(250000, (1u << 30) - 1, SWITCH_HAS_STACK, 1u << 30);
	check_keep(250000, 1u << 30, SWITCH_STACK_SKIPPED, 0);
	check_keep(500000, (1u << 31) - 1, SWITCH_HAS_STACK, 1u << 31);
	check_keep(500000, 1u << 31, SWITCH_STACK_SKIPPED, 0);
	check_keep(999999, UINT32_MAX - 4300, SWITCH_HAS_STACK, 4294963001u);
	check_keep(999999, UINT32_MAX, SWITCH_STACK_SKIPPED, 0);
	end();
}

TEST(slices_as_heavy_as_the_threshold_are_all_kept)
{
	begin();
	set_frames(&shim_user_stack, 5, 0x1000);
	shim_random = random_scripted;
	keep_all_above_ns = 1000000;
	check_keep(1000000, UINT32_MAX, SWITCH_HAS_STACK, 0);
	check_keep(1000001, UINT32_MAX, SWITCH_HAS_STACK, 0);
	check_keep(5000000000, UINT32_MAX, SWITCH_HAS_STACK, 0);
	keep_all_above_ns = 0;
	random_calls = 0;
	check_keep(1, UINT32_MAX, SWITCH_HAS_STACK, 0);
	check_keep(0, UINT32_MAX, SWITCH_HAS_STACK, 0);
	CHECK(!random_calls);
	end();
}

TEST(no_slice_is_kept_more_rarely_than_once_in_a_million)
{
	begin();
	set_frames(&shim_user_stack, 5, 0x1000);
	shim_random = random_scripted;
	keep_all_above_ns = UINT32_MAX;
	check_keep(1, 4095, SWITCH_HAS_STACK, 4096);
	check_keep(1, 4096, SWITCH_STACK_SKIPPED, 0);
	check_keep(0, 4095, SWITCH_HAS_STACK, 4096);
	end();
}

TEST(a_slice_ends_without_a_stack_once_samples_have_them_unless_all_are_wanted)
{
	begin();
	set_frames(&shim_user_stack, 5, 0x1000);
	shim_random = random_scripted;
	shim_set_option(slice_stacks, false);
	check_keep(1000000, 0, SWITCH_HAS_STACK, 0);
	samples_have_stacks = 1;
	check_keep(1000000, 0, 0, 0);
	shim_set_option(slice_stacks, true);
	check_keep(1000000, 0, SWITCH_HAS_STACK, 0);
	end();
}

/* A slice of length_ns with this many active all along: its weight is what is asked for. */
TEST(a_slice_weighs_its_length_over_the_mean_of_the_active)
{
	for (uint64_t active = 1; active <= 300; active++) {
		struct slice slice = { .length_ns = 1000000, .integral = active * 1000000 };
		uint64_t weight_ns = slice_weight(slice);

		CHECK_EQUAL(weight_ns, 1000000 / active);
	}
	CHECK_EQUAL(slice_weight((struct slice){ 0, 0 }), 0);
}

static uint64_t random_state;

static uint32_t random_seeded(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return random_state >> 32;
}

/*
 * Horvitz and Thompson: kept slices, each over its probability, estimate the sum over all.
 * The variance is known exactly, so five of its roots bound what chance may do.
 */
TEST(sums_of_kept_slices_are_unbiased)
{
	static const uint64_t lengths_ns[] = { 3000, 20000, 70000, 150000, 400000, 990000, 2000000 };
	enum { KINDS = sizeof(lengths_ns) / sizeof(*lengths_ns), ROUNDS = 6000 };
	double sum = 0, estimate = 0, variance = 0, threshold_ns = 1000000;
	uint32_t kept[KINDS] = { 0 };

	begin();
	random_state = 42;
	shim_random = random_seeded;
	set_frames(&shim_user_stack, 5, 0x1000);
	keep_all_above_ns = threshold_ns;
	for (uint32_t i = 0; i < ROUNDS * KINDS; i++) {
		double length_ns = lengths_ns[i % KINDS];
		double part = length_ns < threshold_ns ? length_ns / threshold_ns : 1;
		struct ev_sched_switch e = slice_of_ns(length_ns);

		CHECK(e.flags == SWITCH_HAS_STACK || e.flags == SWITCH_STACK_SKIPPED);
		sum += length_ns;
		variance += length_ns * length_ns * (1 - part) / part;
		if (e.flags == SWITCH_HAS_STACK) {
			estimate += length_ns / (e.keep ? e.keep / 4294967296.0 : 1);
			kept[i % KINDS]++;
		}
		while (shim_read(&rings, 0, NULL))
			;
		back_on_cpu();
	}
	CHECK_THAT((estimate - sum) * (estimate - sum), <, 25 * variance);
	for (uint32_t i = 0; i < KINDS; i++) {
		double part = lengths_ns[i] / threshold_ns;
		double excess = kept[i] - part * ROUNDS;

		if (part >= 1)
			CHECK_EQUAL(kept[i], ROUNDS);
		else
			CHECK_THAT(excess * excess, <, 25 * ROUNDS * part * (1 - part));
	}
	end();
}
