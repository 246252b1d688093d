/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether samples at ticks are compared with those beside them as their header says: code of threads is played, step by step. */
#include "test.h"

#include "account/sample_bias.h"
#include "values.h"

enum {
	STEP_NS = 250000,
	TICK_STEPS = 16,
	CPUS = 2,
	CPUS_TOGETHER = 64,
	STAGES = 5,
	PLAYS = 2000,
};

/* Steps from one look to the next, and periods of the timers meanwhile, in steps: as in live/sampling_watch.c. */
static const uint32_t stage_steps[STAGES] = { 500, 1000, 2000, 4000, 8000 };
static const uint32_t timer_steps[STAGES] = { 26, 26, 42, 74, 138 };

enum kind {
	KIND_STEADY,   /* goes from one code to the next by chance */
	KIND_TOGETHER, /* the same, all threads at once */
	KIND_PHASES,   /* one code after the other, over all the time */
	KIND_IN_STEP,  /* one code at ticks, and around them */
	KIND_NEARLY,   /* one code at ticks, which has 96 % of the rest as well */
};

static uint32_t random_now;

static uint32_t pick(uint32_t below)
{
	random_now = random_now * 1664525 + 1013904223;
	return (uint64_t)random_now * below >> 32;
}

static uint32_t code_at(enum kind kind, uint32_t before, uint32_t step, uint32_t codes)
{
	if (kind == KIND_IN_STEP)
		return step % TICK_STEPS < 4 || step % TICK_STEPS >= 14;
	if (kind == KIND_NEARLY)
		return step % TICK_STEPS && !pick(25);
	if (kind == KIND_PHASES)
		return step / 300 % codes;
	return pick(kind == KIND_TOGETHER ? 4 : 40) ? before : pick(codes);
}

static void sample(struct sample_bias *bias, uint32_t step, uint32_t cpu, uint32_t code, uint32_t timer)
{
	struct ev_sched_sample e = {
		.header.time_ns = (uint64_t)step * STEP_NS + cpu * 1000,
		.header.thread = 1 + cpu,
		.ip = 0x1000 + code * 256 + pick(64),
		.stack = 1 + code,
		.period_ns = (timer ? timer : TICK_STEPS) * STEP_NS,
		.role = timer ? SAMPLE_BESIDE : SAMPLE_REGULAR,
	};

	sample_bias_add(bias, &e, 1);
}

static void play_stage(struct sample_bias *bias, enum kind kind, size_t stage, uint32_t *code, uint32_t *step)
{
	uint32_t phase = pick(timer_steps[stage]), codes = 2 + kind % 3, end = *step + stage_steps[stage];
	uint32_t cpus = kind == KIND_TOGETHER ? CPUS_TOGETHER : CPUS;

	for (; *step < end; ++*step) {
		for (uint32_t cpu = 0; cpu < cpus; cpu++)
			code[cpu] = kind == KIND_TOGETHER && cpu ? code[0] : code_at(kind, code[cpu], *step, codes);
		for (uint32_t cpu = 0; cpu < cpus; cpu++) {
			if (*step % TICK_STEPS == 0)
				sample(bias, *step, cpu, code[cpu], 0);
			if (*step % timer_steps[stage] == phase)
				sample(bias, *step, cpu, code[cpu], timer_steps[stage]);
		}
	}
}

/* In which look an alarm came, from 1; 0: in none. */
static uint32_t play(uint32_t seed, enum kind kind, double chance)
{
	struct sample_bias *bias = sample_bias_new();
	uint32_t code[CPUS_TOGETHER] = { 0 }, step = 0, seen = 0;

	random_now = seed * 2654435761u + 1;
	for (size_t stage = 0; stage < STAGES && !seen; stage++) {
		play_stage(bias, kind, stage, code, &step);
		if (sample_bias_is_seen(bias, NULL, chance / ((stage + 1) * (stage + 2))))
			seen = stage + 1;
	}
	sample_bias_free(bias);
	return seen;
}

static void check_alarms(enum kind kind, uint32_t plays)
{
	static const double chance = 0.05;
	uint32_t alarms = 0;

	for (uint32_t seed = 0; seed < plays; seed++)
		alarms += play(seed, kind, chance) != 0;
	CHECK_THAT(alarms, <=, plays * chance);
}

TEST(code_that_runs_at_any_time_gives_no_more_alarms_than_allowed)
{
	check_alarms(KIND_STEADY, PLAYS);
}

TEST(threads_that_do_the_same_at_the_same_time_give_no_more_alarms_than_allowed)
{
	check_alarms(KIND_TOGETHER, PLAYS / 20);
}

TEST(a_program_that_goes_from_phase_to_phase_gives_no_alarm)
{
	for (uint32_t seed = 0; seed < PLAYS; seed++)
		CHECK(!play(seed, KIND_PHASES, 1e-3));
}

TEST(code_in_step_with_the_tick_is_seen_at_the_second_look_at_the_latest)
{
	for (uint32_t seed = 0; seed < PLAYS; seed++) {
		uint32_t look = play(seed, KIND_IN_STEP, 1e-3);

		CHECK(look && look <= 2);
	}
}

TEST(shares_of_code_that_are_close_together_do_not_matter)
{
	for (uint32_t seed = 0; seed < PLAYS / 10; seed++)
		CHECK(!play(seed, KIND_NEARLY, 1e-3));
}

TEST(samples_at_ticks_alone_are_compared_with_nothing)
{
	struct sample_bias *bias = sample_bias_new();

	for (uint32_t i = 0; i < 1000; i++)
		sample(bias, i * TICK_STEPS, 0, i % 3, 0);
	CHECK(!sample_bias_is_seen(bias, NULL, 0.5));
	sample_bias_free(bias);
}
