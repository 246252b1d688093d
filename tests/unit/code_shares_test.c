/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random schedules whose code is known: what each code truly had of CPU time, CMetric and critical CMetric is
 * counted in steps, beside events and samples at a period with a random phase. Estimates must be right on
 * average, as far from the truth as they say, and add up to what the threads have.
 */
#include "test.h"

#include <math.h>

#include "account/code_shares.h"
#include "account/criticality.h"
#include "session/session.h"
#include "session/threads.h"
#include "values.h"

enum {
	RUNS = 400,
	CODES = 4,
	THREADS_MAX = 9,
	STEPS = 60000,
	STEP_NS = 10000,
	PERIOD_STEPS = 100,
};

/* When samples are taken. */
enum sampling {
	AT_TICKS,
	/* Ticks that meet two codes alone; beside them timers, whose period grows, then as many timers instead. */
	IN_STEP,
	/* The same timers beside ticks that meet all codes. */
	BESIDE,
};

/* How a thread of a play behaves; chances of 1 / x in each step. */
struct part {
	uint32_t blocks, wakes, changes; /* blocks and changes: while it runs */
	bool is_code_by_slice;           /* the first two codes: by whether others run when its slice begins */
	bool is_by_others;               /* the last code runs while nobody else does, the third else */
};

static struct world {
	uint32_t random;
	uint32_t thread_count;
	uint32_t timer_steps, timer_at; /* the period of timers, and the next one */
	bool is_running[THREADS_MAX];
	uint32_t code[THREADS_MAX];
	double truth[CODES][CODE_QUANTITIES];
	uint64_t now_ns;
	struct session *session;
	struct threads *threads;
	struct code_samples *samples;
	struct criticality *criticality;
} w;

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

static struct ev_header header_of(enum event_id id, uint32_t thread)
{
	return (struct ev_header){ .time_ns = w.now_ns, .thread = thread, .subsys = id >> 16, .event = id & 0xffff };
}

static void push(const void *event, size_t size_bytes)
{
	assert_int_equal(session_push(w.session, 0, event, size_bytes), 0);
}

static void begin(uint32_t seed, uint32_t thread_count)
{
	struct criticality_options options = { 0 };

	w = (struct world){ .random = seed * 2654435761u + 1, .thread_count = thread_count, .now_ns = 1000000 };
	w.session = session_new(1, 1 << 20);
	w.threads = threads_new(w.session);
	w.samples = code_samples_new();
	options.code = w.samples;
	w.criticality = criticality_new(w.session, w.threads, &options);
	for (uint32_t i = 0; i < thread_count; i++) {
		struct ev_thread_born born = { .header = header_of(EV_THREAD_BORN, i + 1), .tid = i + 1, .pid = 1 };
		struct ev_sched_switch out = { .header = header_of(EV_SCHED_SWITCH, i + 1),
					       .cpu = i,
					       .state = SWITCH_BLOCKED };
		struct ev_sched_switch in = { .header = header_of(EV_SCHED_SWITCH, 0), .next = i + 1, .cpu = i };

		push(&born, sizeof(born));
		push(&in, sizeof(in));
		push(&out, sizeof(out));
	}
}

static void end(void)
{
	criticality_free(w.criticality);
	code_samples_free(w.samples);
	threads_free(w.threads);
	session_free(w.session);
}

static uint32_t active_count(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < w.thread_count; i++)
		count += w.is_running[i];
	return count;
}

static void set_code(uint32_t i, const struct part *part, bool is_new_slice)
{
	if (part->is_by_others)
		w.code[i] = active_count() == 1 ? 3 : 2;
	else if (part->is_code_by_slice)
		w.code[i] = is_new_slice ? active_count() > w.thread_count / 2 : w.code[i];
	else
		w.code[i] = pick(CODES);
}

static void change(uint32_t i, const struct part *part)
{
	if (w.is_running[i] && !pick(part->blocks)) {
		struct ev_sched_switch e = { .header = header_of(EV_SCHED_SWITCH, i + 1),
					     .cpu = i,
					     .state = SWITCH_BLOCKED };

		push(&e, sizeof(e));
		w.is_running[i] = false;
	} else if (w.is_running[i]) {
		if (part->is_by_others || !pick(part->changes))
			set_code(i, part, false);
	} else if (!pick(part->wakes)) {
		struct ev_sched_wake wake = { .header = header_of(EV_SCHED_WAKE, i + 1) };
		struct ev_sched_switch e = { .header = header_of(EV_SCHED_SWITCH, 0), .next = i + 1, .cpu = i };

		push(&wake, sizeof(wake));
		push(&e, sizeof(e));
		w.is_running[i] = true;
		set_code(i, part, true);
	}
}

static void sample(enum sample_role role, uint32_t codes)
{
	for (uint32_t i = 0; i < w.thread_count; i++) {
		struct ev_sched_sample e = {
			.header = header_of(EV_SCHED_SAMPLE, i + 1),
			.ip = 0x1000 + w.code[i],
			.stack = 1 + w.code[i],
			.period_ns = (role == SAMPLE_REGULAR ? PERIOD_STEPS : w.timer_steps) * STEP_NS,
			.role = role,
		};

		if (w.is_running[i] && w.code[i] < codes)
			push(&e, sizeof(e));
	}
}

/* Whose period begins anew, with one at any time of the first. */
static void run_timer(uint32_t step, uint32_t period_steps)
{
	w.timer_steps = period_steps;
	w.timer_at = step + pick(period_steps);
}

static void sample_by_timers(enum sampling sampling, uint32_t step)
{
	uint32_t period_steps = step < STEPS / 6     ? 3 * PERIOD_STEPS / 2
				: step < STEPS / 2   ? 3 * PERIOD_STEPS
				: sampling == BESIDE ? 6 * PERIOD_STEPS
						     : PERIOD_STEPS;

	if (period_steps != w.timer_steps)
		run_timer(step, period_steps);
	if (step != w.timer_at)
		return;
	w.timer_at += period_steps;
	sample(sampling == IN_STEP && step >= STEPS / 2 ? SAMPLE_INSTEAD : SAMPLE_BESIDE, CODES);
}

static void count_step(void)
{
	uint32_t active = active_count();

	for (uint32_t i = 0; i < w.thread_count; i++) {
		double *truth = w.truth[w.code[i]];

		if (!w.is_running[i])
			continue;
		truth[CODE_CPU] += STEP_NS;
		truth[CODE_CMETRIC] += (double)STEP_NS / active;
		if (2 * active <= w.thread_count)
			truth[CODE_CRITICAL] += (double)STEP_NS / active;
	}
}

/* Plays; what each code is estimated to have, and how far it may be off. */
static void play(uint32_t seed, enum sampling sampling, uint32_t thread_count, const struct part *parts,
		 struct code_sum *sums)
{
	const struct code_sample *at;
	struct code_shares *shares;
	uint32_t phase;

	begin(seed, thread_count);
	phase = pick(PERIOD_STEPS);
	for (uint32_t step = 0; step < STEPS; step++) {
		w.now_ns += STEP_NS;
		for (uint32_t i = 0; i < thread_count; i++)
			change(i, &parts[i]);
		/* Whoever is alone now may have become so by another one's change. */
		for (uint32_t i = 0; i < thread_count; i++)
			if (w.is_running[i] && parts[i].is_by_others)
				set_code(i, &parts[i], false);
		if (step % PERIOD_STEPS == phase && !(sampling == IN_STEP && step >= STEPS / 2))
			sample(SAMPLE_REGULAR, sampling == IN_STEP ? 2 : CODES);
		if (sampling != AT_TICKS)
			sample_by_timers(sampling, step);
		count_step();
		session_advance(w.session, w.now_ns);
	}
	w.now_ns += STEP_NS;
	session_finish(w.session);
	criticality_finish(w.criticality, w.now_ns);
	shares = code_shares_new(w.criticality, w.samples);
	memset(sums, 0, CODES * sizeof(*sums));
	for (size_t i = 0; (at = code_shares_sample(shares, i)); i++)
		code_sum_add(shares, &sums[at->ip - 0x1000], at);
	for (size_t q = 0; q < CODE_QUANTITIES; q++) {
		double exact_ns = code_shares_exact_ns(shares, q), sum_ns = code_shares_unsampled_ns(shares, q),
		       truth_ns = 0;

		for (size_t code = 0; code < CODES; code++) {
			if (!q)
				code_sum_finish(shares, &sums[code]);
			sum_ns += sums[code].ns[q];
			truth_ns += w.truth[code][q];
		}
		CHECK_THAT(fabs(sum_ns - exact_ns), <=, 1e-9 * exact_ns);
		/* The last step is in the account, and not in the truth. */
		CHECK_THAT(fabs(truth_ns - exact_ns), <=, 1e-9 * exact_ns + thread_count * STEP_NS);
	}
	code_shares_free(shares);
}

/* Over many runs: the mean error of each figure, and how often it is within two standard errors. */
static void check_estimates(enum sampling sampling, uint32_t thread_count, const struct part *parts)
{
	double sum[CODES][CODE_QUANTITIES] = { 0 }, squares[CODES][CODE_QUANTITIES] = { 0 },
	       size[CODES][CODE_QUANTITIES] = { 0 };
	uint32_t within = 0, figures = 0;
	struct code_sum sums[CODES];

	for (uint32_t run = 0; run < RUNS; run++) {
		play(run, sampling, thread_count, parts, sums);
		for (size_t code = 0; code < CODES; code++)
			for (size_t q = 0; q < CODE_QUANTITIES; q++) {
				double error = sums[code].ns[q] - w.truth[code][q];

				sum[code][q] += error;
				squares[code][q] += error * error;
				size[code][q] += w.truth[code][q];
				if (w.truth[code][q] < 50 * PERIOD_STEPS * STEP_NS)
					continue;
				figures++;
				within += fabs(error) <= 2 * code_sum_error_ns(&sums[code], q) + thread_count * STEP_NS;
			}
		end();
	}
	for (size_t code = 0; code < CODES; code++)
		for (size_t q = 0; q < CODE_QUANTITIES; q++) {
			double bias = sum[code][q] / RUNS, of_mean = sqrt(squares[code][q]) / RUNS;

			/* A ratio's own bias falls with the number of samples: a thousandth is allowed for it. */
			CHECK_THAT(fabs(bias), <=, 4 * of_mean + 1e-3 * size[code][q] / RUNS + STEP_NS);
		}
	CHECK_THAT(within, >=, figures * 0.93);
}

TEST(code_that_is_independent_of_everything_is_estimated_without_bias)
{
	static const struct part parts[4] = {
		{ .blocks = 300, .wakes = 300, .changes = 40 },
		{ .blocks = 20, .wakes = 60, .changes = 500 },
		{ .blocks = 2000, .wakes = 2000, .changes = 1000 },
		{ .blocks = 5, .wakes = 15, .changes = 3 },
	};

	check_estimates(AT_TICKS, 4, parts);
}

TEST(short_slices_are_represented_by_the_samples_that_fall_into_them)
{
	static const struct part parts[5] = {
		{ .blocks = 2, .wakes = 20, .changes = 1, .is_code_by_slice = true },
		{ .blocks = 3, .wakes = 10, .changes = 1, .is_code_by_slice = true },
		{ .blocks = 400, .wakes = 100, .changes = 1, .is_code_by_slice = true },
		{ .blocks = 2, .wakes = 5, .changes = 1, .is_code_by_slice = true },
		{ .blocks = 1000, .wakes = 300, .changes = 1, .is_code_by_slice = true },
	};

	check_estimates(AT_TICKS, 5, parts);
}

TEST(code_that_runs_only_while_few_are_active_has_what_accrued_then)
{
	static const struct part parts[4] = {
		{ .blocks = 5000, .wakes = 100, .changes = 1, .is_by_others = true },
		{ .blocks = 100, .wakes = 300, .changes = 50 },
		{ .blocks = 60, .wakes = 300, .changes = 50 },
		{ .blocks = 80, .wakes = 300, .changes = 50 },
	};

	check_estimates(AT_TICKS, 4, parts);
}

static const struct part mixed_parts[4] = {
	{ .blocks = 300, .wakes = 300, .changes = 40 },
	{ .blocks = 20, .wakes = 60, .changes = 500 },
	{ .blocks = 5000, .wakes = 100, .changes = 1, .is_by_others = true },
	{ .blocks = 5, .wakes = 15, .changes = 3 },
};

TEST(samples_by_timers_whose_period_changes_stand_for_all_where_ticks_are_in_step)
{
	check_estimates(IN_STEP, 4, mixed_parts);
}

TEST(samples_beside_ticks_do_no_harm)
{
	check_estimates(BESIDE, 4, mixed_parts);
}
