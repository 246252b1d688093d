/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether samples show that a loop repeats: models of threads that stay in it, and of such that come back to it. */
#include "test.h"

#include "spin/spin_repeats.h"

enum { SEEDS = 400, PAIRS = 60, HASHES = 16, POINTER = 7, ELEMENT = 2 };

static const struct spin_loop loop = {
	.begin = 0x1000,
	.end = 0x1010,
	.kind = SPIN_BY_ATOMIC,
	.kept = (uint16_t)~1,
};

static uint32_t random_state;

static uint32_t pick(uint32_t count)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % count;
}

static void set(struct ev_sched_sample *sample, size_t number, uint64_t hash)
{
	sample->registers = (sample->registers & ~(0xfull << 4 * number)) | hash << 4 * number;
}

/* A thread's samples in the loop; it is still there at the next one with a chance of stays / 16. */
static struct sample_pairs go_round(uint32_t pairs, uint32_t stays, bool is_one_register)
{
	struct ev_sched_sample before = { .ip = 0x1004, .registers = 0xfedcba9876543210 }, sample;
	struct sample_pairs sum = { 0 };

	for (uint32_t i = 0; i < pairs; i++) {
		sample = before;
		sample.ip = 0x1000 + pick(16);
		set(&sample, 0, pick(HASHES));
		if (pick(16) >= stays) {
			set(&sample, POINTER, pick(HASHES));
			if (!is_one_register)
				set(&sample, ELEMENT, pick(HASHES));
		}
		sample_pairs_add(&sum, &before, &sample);
		before = sample;
	}
	return sum;
}

static uint32_t times_said(uint32_t pairs, uint32_t stays, bool is_one_register)
{
	uint32_t times = 0;

	for (uint32_t seed = 0; seed < SEEDS; seed++) {
		struct sample_pairs sum;

		random_state = seed * 2654435761u;
		sum = go_round(pairs, stays, is_one_register);
		times += spin_loop_repeats(&loop, &sum);
	}
	return times;
}

TEST(a_thread_that_stays_spins)
{
	CHECK_EQUAL(times_said(REPEATS_PAIRS_MIN, 16, true), SEEDS);
	CHECK_EQUAL(times_said(PAIRS, 16, false), SEEDS);
	CHECK_THAT(times_said(PAIRS, 14, false), >, SEEDS * 99 / 100);
}

TEST(a_thread_that_comes_back_each_time_does_not)
{
	CHECK(!times_said(PAIRS, 0, false));
	CHECK(!times_said(PAIRS, 0, true));
	CHECK_THAT(times_said(REPEATS_PAIRS_MIN, 0, true), <=, SEEDS / 100);
	CHECK(!times_said(PAIRS, 2, false));
}

TEST(few_samples_say_nothing)
{
	CHECK(!times_said(REPEATS_PAIRS_MIN - 1, 16, true));
	CHECK(!times_said(0, 16, true));
}

TEST(a_pause_needs_no_samples)
{
	struct spin_loop pausing = loop;
	struct sample_pairs none = { 0 };
	struct ev_sched_sample sample = { .ip = 0x1004 };

	pausing.kind = SPIN_BY_PAUSE;
	CHECK(spin_loop_repeats(&pausing, &none));
	CHECK(spin_loop_holds(&pausing, &(struct ev_sched_sample){ 0 }, &sample));
	CHECK(!spin_loop_repeats(&loop, &none));
}

TEST(only_what_is_near_in_the_program_is_a_pair)
{
	struct ev_sched_sample near = { .ip = 0x1000, .registers = 1 }, far = { .ip = 0x2000, .registers = 1 };
	struct ev_sched_sample unknown = { .ip = 0x1000 };
	struct sample_pairs sum = { 0 };

	sample_pairs_add(&sum, &far, &near);
	sample_pairs_add(&sum, &unknown, &near);
	sample_pairs_add(&sum, &near, &unknown);
	CHECK(!sum.count);
	sample_pairs_add(&sum, &near, &near);
	CHECK_EQUAL(sum.count, 1);
	CHECK_EQUAL(sample_pairs_least_equal(&sum, UINT16_MAX), 1);
}

TEST(one_pair_holds_where_nothing_that_is_kept_differs)
{
	struct ev_sched_sample before = { .ip = 0x1000, .registers = 0x10 },
			       sample = { .ip = 0x1008, .registers = 0x1f };

	CHECK(spin_loop_holds(&loop, &before, &sample));
	sample.registers = 0x2f;
	CHECK(!spin_loop_holds(&loop, &before, &sample));
	before.registers = 0x2f;
	before.ip = 0x1010;
	CHECK(!spin_loop_holds(&loop, &before, &sample));
}
