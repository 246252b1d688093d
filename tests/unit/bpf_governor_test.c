/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the governor thins out the stacks of waits: one coin decides at their beginning, when only
 * the waits before are known, and at their end. Of slices alone, see bpf_stack_test.c.
 */
#include "test.h"
#include "world.h"

static const uint64_t threshold_ns = 1000000;

static struct world world;
static struct world_task *waiter, *near, *far; /* near is of the waiter's process */

static uint32_t random_value, random_calls;

static uint32_t random_scripted(void)
{
	random_calls++;
	return random_value;
}

static void add_traced(struct world_task **task, struct world_task *leader)
{
	*task = world_add_task(&world, leader);
	shim_set_target((*task)->task.tgid, TARGET_EXISTING);
	world_visit(&world, 0, *task);
}

/* Three threads live, so a wait weighs a third of its length; only the waiter is ever active. */
static void begin(void)
{
	struct world_options options = { .cpu_count = 1, .begin_ns = 1000000 };

	world_init(&world, &options);
	add_traced(&near, NULL);
	add_traced(&waiter, near);
	add_traced(&far, NULL);
	world_wake_in(&world, 0, waiter, WAKE_HARDIRQ);
	world_leave(&world, 0, LEAVE_PREEMPTED, waiter);
	shim_random = random_scripted;
	random_calls = 0;
	keep_all_above_ns = threshold_ns;
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

/* Ends a slice of length_ns. */
static struct ev_sched_switch sleep_after(uint64_t length_ns)
{
	struct ev_sched_switch e;

	shim_now_ns += length_ns;
	shim_current = &waiter->task;
	waiter->task.__state = TASK_INTERRUPTIBLE;
	sched_switch(NULL, false, &waiter->task, &world.idle[0].task, TASK_INTERRUPTIBLE);
	e = *(const struct ev_sched_switch *)shim_read(&rings, 0, NULL);
	CHECK_EQUAL(e.header.event, TRACE_EVENT_SCHED_SWITCH);
	CHECK_EQUAL(e.state, SWITCH_SLEEPING);
	drain();
	return e;
}

/* Ends a wait of length_ns; the next slice begins. */
static struct ev_sched_wake wake_after(uint64_t length_ns, struct world_task *waker)
{
	struct ev_sched_wake e;

	shim_now_ns += length_ns;
	shim_current = &waker->task;
	sched_waking(NULL, &waiter->task);
	e = *(const struct ev_sched_wake *)shim_read(&rings, 0, NULL);
	CHECK_EQUAL(e.header.event, TRACE_EVENT_SCHED_WAKE);
	CHECK_EQUAL(e.waker, waker->number);
	waiter->task.__state = 0;
	sched_switch(NULL, false, &world.idle[0].task, &waiter->task, 0);
	drain();
	return e;
}

/* --- Exactly ---------------------------------------------------------------------------------- */

/* A wait of length_ns whose beginning is not kept, with this coin. */
static void check_end(uint64_t length_ns, uint32_t coin, struct world_task *waker, uint8_t flags, uint32_t keep)
{
	struct ev_sched_switch e;
	struct ev_sched_wake w;

	random_value = coin;
	shim_thread(&waiter->task)->wait_mean_ns = 0;
	e = sleep_after(0);
	CHECK(!(e.flags & SWITCH_HAS_STACK));
	w = wake_after(length_ns, waker);
	CHECK_EQUAL(w.flags, flags);
	CHECK_EQUAL(w.keep, keep);
	CHECK_EQUAL(!w.stack, !(flags & WAKE_HAS_STACK));
	CHECK_EQUAL(!w.wait_stack, !(flags & WAKE_HAS_WAIT_STACK));
}

TEST(at_its_end_a_wait_is_kept_exactly_when_its_coin_is_below_its_probability)
{
	enum { BOTH = WAKE_HAS_STACK | WAKE_HAS_WAIT_STACK };

	begin();
	/* A quarter of the threshold, and a half. */
	check_end(750000, (1u << 30) - 1, near, BOTH, 1u << 30);
	check_end(750000, 1u << 30, near, 0, 1u << 30);
	check_end(1500000, (1u << 31) - 1, near, BOTH, 1u << 31);
	check_end(1500000, 1u << 31, near, 0, 1u << 31);
	check_end(2999997, UINT32_MAX, near, 0, 4294963001u);
	check_end(3000000, UINT32_MAX, near, BOTH, 0);
	check_end(90000000000, UINT32_MAX, near, BOTH, 0);
	check_end(1, 4097, near, 0, 4096);
	end();
}

TEST(a_waker_of_another_process_keeps_its_own_stack_alone)
{
	begin();
	check_end(750000, (1u << 30) - 1, far, WAKE_HAS_STACK, 1u << 30);
	check_end(750000, 1u << 30, far, 0, 1u << 30);
	check_end(3000000, UINT32_MAX, far, WAKE_HAS_STACK, 0);
	end();
}

/* The waits so far have this mean; the next one begins after a slice of length_ns. */
static void check_beginning(uint64_t mean_ns, uint64_t length_ns, uint32_t coin, uint8_t flags, uint32_t keep)
{
	struct ev_sched_switch e;

	random_value = coin;
	shim_thread(&waiter->task)->wait_mean_ns = mean_ns;
	e = sleep_after(length_ns);
	CHECK_EQUAL(e.flags, flags);
	CHECK_EQUAL(e.keep, keep);
	CHECK_EQUAL(!e.stack, !(flags & SWITCH_HAS_STACK));
	wake_after(0, far);
}

TEST(at_its_beginning_a_wait_is_worth_what_those_before_were_or_the_slice_that_it_ends)
{
	begin();
	check_beginning(750000, 0, (1u << 30) - 1, SWITCH_HAS_STACK, 1u << 30);
	check_beginning(750000, 0, 1u << 30, SWITCH_STACK_SKIPPED, 0);
	check_beginning(750000, 500000, (1u << 31) - 1, SWITCH_HAS_STACK, 1u << 31);
	check_beginning(750000, 500000, 1u << 31, SWITCH_STACK_SKIPPED, 0);
	check_beginning(1500000, 250000, (1u << 31) - 1, SWITCH_HAS_STACK, 1u << 31);
	check_beginning(3000000, 0, UINT32_MAX, SWITCH_HAS_STACK, 0);
	check_beginning(0, 1000000, UINT32_MAX, SWITCH_HAS_STACK, 0);
	check_beginning(0, 0, 4095, SWITCH_HAS_STACK, 4096);
	end();
}

TEST(one_coin_decides_at_both_ends_of_a_wait)
{
	struct ev_sched_wake w;

	begin();
	random_value = 12345;
	for (uint32_t i = 1; i <= 100; i++) {
		sleep_after(0);
		CHECK_EQUAL(random_calls, i);
		random_value = UINT32_MAX; /* another one would keep nothing */
		w = wake_after(750000, near);
		CHECK_EQUAL(random_calls, i);
		CHECK(w.flags & WAKE_HAS_STACK);
		random_value = 12345;
	}
	end();
}

TEST(the_stack_of_a_wait_that_was_kept_at_its_beginning_is_not_taken_again)
{
	begin();
	random_value = 100;
	shim_thread(&waiter->task)->wait_mean_ns = 3000000;
	CHECK(sleep_after(0).flags & SWITCH_HAS_STACK);
	CHECK_EQUAL(wake_after(3000000, near).flags, WAKE_HAS_STACK);
	end();
}

TEST(the_mean_of_the_waits_follows_the_later_ones_and_has_a_bound)
{
	struct thread_state *thread;
	uint64_t mean_ns = 0;

	begin();
	thread = shim_thread(&waiter->task);
	for (uint32_t i = 0; i < 60; i++) {
		uint64_t wait_ns = i < 20 ? 1000 : i < 40 ? 20000000000 : 0;

		sleep_after(10);
		wake_after(wait_ns, near);
		mean_ns = model_wait_mean(mean_ns, wait_ns);
		CHECK_EQUAL(thread->wait_mean_ns, mean_ns);
		CHECK(i != 19 || (mean_ns > 950 && mean_ns <= 1000));
		CHECK(i != 39 || (mean_ns > 3900000000 && mean_ns <= 4000000000));
	}
	CHECK_THAT(mean_ns, <, 20000000);
	end();
}

TEST(a_wait_that_was_not_seen_to_begin_weighs_nothing)
{
	struct world_task *late;
	struct ev_sched_wake w;

	begin();
	add_traced(&late, near);
	shim_now_ns += 1000000000;
	shim_current = &near->task;
	for (uint32_t coin = 4095; coin <= 4096; coin++) {
		random_value = coin;
		sched_waking(NULL, &late->task);
		w = *(const struct ev_sched_wake *)shim_read(&rings, 0, NULL);
		CHECK_EQUAL(w.keep, 4096);
		CHECK_EQUAL(w.flags, (coin < 4096 ? WAKE_HAS_STACK | WAKE_HAS_WAIT_STACK : 0));
		drain();
		shim_thread(&late->task)->phase = PHASE_BLOCKED;
	}
	end();
}

TEST(a_wait_whose_beginning_was_lost_is_no_longer_than_it_was)
{
	begin();
	random_value = 1u << 30;
	sleep_after(0);
	wake_after(90000000, far);
	/* No slot for the switch. */
	shim_now_ns += 90000000;
	shim_current = &waiter->task;
	waiter->task.__state = TASK_INTERRUPTIBLE;
	cpu_counts[0].slots_read = cpu_counts[0].slots_begun - slot_mask - 1;
	sched_switch(NULL, false, &waiter->task, &world.idle[0].task, TASK_INTERRUPTIBLE);
	cpu_counts[0].slots_read = cpu_counts[0].slots_begun;
	cpu_counts[0].lost_unreported = 0;
	CHECK_EQUAL(cpu_counts[0].lost, 1);
	CHECK_EQUAL(wake_after(750000, far).keep, 1u << 30);
	end();
}

/* --- On average ------------------------------------------------------------------------------- */

static uint64_t random_state;

static uint32_t random_seeded(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return random_state >> 32;
}

/* What is known about a sum, from those parts of it that were kept. */
struct estimate {
	double sum, estimate, variance;
};

/* probability: with which it was kept, for it is known here; weight: as recorded, 0: not kept. */
static void estimate_add(struct estimate *estimate, double value, double probability, double weight)
{
	estimate->sum += value;
	estimate->variance += value * value * (1 - probability) / probability;
	estimate->estimate += value * weight;
}

/* Five times the root of the variance is what chance may do. */
static bool is_unbiased(const struct estimate *estimate)
{
	double error = estimate->estimate - estimate->sum;

	return error * error <= 25 * estimate->variance && estimate->variance > 0;
}

static double probability(uint64_t keep)
{
	return keep ? keep * 0x1p-32 : 1;
}

/* As weigh() of src/waits/sums/waits.c does: of the wait, and of its waker. */
static double weigh(const struct ev_sched_switch *e, const struct ev_sched_wake *w, bool is_within,
		    double *waker_weight)
{
	double p1 = probability(e->keep), p2 = probability(w->keep), p = 0;

	*waker_weight = 0;
	if (e->flags & SWITCH_HAS_STACK)
		p = is_within && p2 > p1 ? p2 : p1;
	else if (w->flags & WAKE_HAS_WAIT_STACK)
		p = p2;
	if (!p)
		return 0;
	if (w->flags & WAKE_HAS_STACK)
		*waker_weight = 1 / (is_within || p2 < p1 ? p2 : p1);
	return 1 / p;
}

static void check_sums(struct world_task *waker, uint64_t seed)
{
	static const uint64_t lengths_ns[] = { 9000, 60000, 300000, 900000, 2500000, 8000000 };
	enum { KINDS = sizeof(lengths_ns) / sizeof(*lengths_ns), ROUNDS = 40000 };
	struct estimate slices = { 0 }, waits = { 0 }, wakers = { 0 };
	uint64_t mean_ns = 0, at_beginning = 0, at_end = 0;
	bool is_within = waker == near;

	random_state = seed;
	shim_random = random_seeded;
	/* Nothing of the setting up counts. */
	shim_thread(&waiter->task)->wait_mean_ns = 0;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t slice_ns = lengths_ns[random_seeded() % KINDS] / 8;
		uint64_t wait_ns = lengths_ns[random_seeded() % KINDS];
		uint64_t slice_keep = model_keep(slice_ns, threshold_ns);
		uint64_t mean_keep = model_keep(mean_ns / 3, threshold_ns);
		double p1 = (slice_keep > mean_keep ? slice_keep : mean_keep) * 0x1p-32;
		double p2 = model_keep(wait_ns / 3, threshold_ns) * 0x1p-32;
		struct ev_sched_switch e = sleep_after(slice_ns);
		struct ev_sched_wake w = wake_after(wait_ns, waker);
		double waker_weight, weight = weigh(&e, &w, is_within, &waker_weight);
		bool has_stack = e.flags & SWITCH_HAS_STACK;

		CHECK(!has_stack || probability(e.keep) == p1);
		CHECK_EQUAL(probability(w.keep), p2);
		estimate_add(&slices, slice_ns, p1, has_stack ? 1 / probability(e.keep) : 0);
		estimate_add(&waits, wait_ns, is_within && p2 > p1 ? p2 : p1, weight);
		estimate_add(&wakers, wait_ns, is_within || p2 < p1 ? p2 : p1, waker_weight);
		mean_ns = model_wait_mean(mean_ns, wait_ns);
		at_beginning += has_stack;
		at_end += (w.flags & WAKE_HAS_WAIT_STACK) != 0;
	}
	CHECK(is_unbiased(&slices) && is_unbiased(&waits) && is_unbiased(&wakers));
	CHECK_THAT(at_beginning, >, ROUNDS / 10);
	CHECK_THAT(at_beginning, <, ROUNDS);
	CHECK(is_within ? at_end > ROUNDS / 20 : !at_end);
}

TEST(sums_of_kept_waits_that_end_within_their_process_are_unbiased)
{
	begin();
	check_sums(near, 42);
	end();
}

TEST(sums_of_kept_waits_that_another_process_ends_are_unbiased)
{
	begin();
	check_sums(far, 43);
	end();
}
