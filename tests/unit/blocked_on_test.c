/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "chains/blocked_on.h"
#include "waits/sums/wait_rows.h"

/* A few threads that run, wait and wake each other at random; time goes in steps of 1 ns. */
enum { THREADS = 5, TIME_MAX = 1 << 16 };

/* What a thread did in one nanosecond. */
struct instant {
	uint8_t phase, cause;
	uint32_t waker;
	const struct wait_path *path;
	bool is_sampled;
};

static struct {
	struct past pasts[THREADS + 1]; /* by number, from 1 */
	struct chain_budget budget;
	struct blocked_on *blocked;
	struct instant done[THREADS + 1][TIME_MAX]; /* until that time */
	uint8_t phase[THREADS + 1];
	uint64_t since[THREADS + 1];
	struct wait_path paths[3];
	uint64_t now;
	uint32_t random;
} w;

static uint32_t pick(uint32_t count)
{
	w.random = w.random * 1103515245 + 12345;
	return (w.random >> 8) % count;
}

static struct past *find(void *data, uint32_t thread)
{
	(void)data;
	return thread <= THREADS ? &w.pasts[thread] : NULL;
}

/* Nothing of a sample but its address is used. */
static const struct code_sample *code_of(uint32_t thread)
{
	static char codes[THREADS + 1];

	return (const struct code_sample *)&codes[thread];
}

static void sample(struct past *past, uint64_t time_ns, uint32_t thread)
{
	past_add_sample(past, &w.budget,
			&(struct past_sample){
				.time_ns = time_ns, .code = code_of(thread), .kin = code_of(thread), .weight = 1 });
}

static void begin(uint32_t thread, uint8_t phase)
{
	w.phase[thread] = phase;
	w.since[thread] = w.now;
	past_add(&w.pasts[thread], &w.budget, w.now, phase);
	if (past_wants_life(&w.pasts[thread]))
		blocked_on_extend_life(w.blocked, &w.pasts[thread]);
}

static void set_up(uint32_t seed, size_t bytes_max)
{
	memset(&w, 0, sizeof(w));
	w.random = seed;
	w.budget = (struct chain_budget){ .bytes_max = bytes_max, .rows_max = 1 << 10 };
	w.blocked = blocked_on_new(find, NULL, &w.budget);
	for (uint32_t i = 1; i <= THREADS; i++)
		begin(i, PHASE_RUNNING);
}

static void tear_down(void)
{
	for (uint32_t i = 1; i <= THREADS; i++)
		past_fini(&w.pasts[i], &w.budget);
	blocked_on_free(w.blocked);
	CHECK_EQUAL(w.budget.bytes, 0);
	CHECK_EQUAL(w.budget.rows, 0);
}

static void pass(uint64_t ns)
{
	for (; ns; ns--, w.now++)
		for (uint32_t i = 1; i <= THREADS; i++)
			w.done[i][w.now] = (struct instant){ .phase = w.phase[i], .cause = CAUSES };
}

/* What is known of a wait only at its end. */
static void end_wait(uint32_t thread, uint32_t waker, const struct wait_path *path)
{
	for (uint64_t t = w.since[thread]; t < w.now; t++) {
		w.done[thread][t].waker = waker;
		w.done[thread][t].path = path;
		w.done[thread][t].cause = CAUSE_SLEEP;
	}
	past_end_wait(&w.pasts[thread], CAUSE_SLEEP, path, waker);
}

static uint32_t pick_running(void)
{
	for (uint32_t tries = 0; tries < 20; tries++) {
		uint32_t thread = 1 + pick(THREADS);

		if (w.phase[thread] == PHASE_RUNNING)
			return thread;
	}
	return 0;
}

/* One step of a thread. Returns who woke it from a wait that has begun at *since; 0: nobody did. */
static uint32_t step(uint32_t thread, uint64_t *since)
{
	uint32_t waker;

	switch (w.phase[thread]) {
	case PHASE_RUNNING:
		if (pick(2) && w.now) {
			w.done[thread][w.now - 1].is_sampled = w.done[thread][w.now - 1].phase == PHASE_RUNNING;
			if (w.done[thread][w.now - 1].is_sampled)
				sample(&w.pasts[thread], w.now, thread);
			return 0;
		}
		begin(thread, pick(3) ? PHASE_BLOCKED : PHASE_RUNNABLE);
		return 0;
	case PHASE_RUNNABLE:
		begin(thread, PHASE_RUNNING);
		return 0;
	}
	waker = pick(4) ? pick_running() : 0;
	*since = w.since[thread];
	end_wait(thread, waker, &w.paths[pick(3)]);
	begin(thread, PHASE_RUNNABLE);
	return waker;
}

/* By where waits were that others were blocked on, from the first one; one place after itself is one. */
enum { CHAINS = 1 << 12 };

struct sums {
	uint64_t ns[BLOCKED_KINDS], code[THREADS + 1], waits[3];
	uint64_t chains[CHAINS]; /* as digits of a number */
};

/* Of each nanosecond: whom is it that the thread is blocked on, and what does that one do? */
static void add_naively(struct sums *sums, uint32_t waker, uint64_t begin_ns, uint64_t end_ns)
{
	for (uint64_t t = begin_ns; t < end_ns; t++) {
		uint32_t thread = waker, chain = 1, last = 0, at;

		while (w.done[thread][t].phase == PHASE_BLOCKED && w.done[thread][t].waker) {
			at = w.done[thread][t].path - w.paths;
			chain = at == last || chain >= CHAINS / 4 ? chain : chain * 4 + at;
			last = at;
			thread = w.done[thread][t].waker;
		}
		sums->chains[chain]++;
		if (w.done[thread][t].phase == PHASE_RUNNING) {
			sums->ns[BLOCKED_RUNNING]++;
			sums->code[thread] += w.done[thread][t].is_sampled;
		} else if (w.done[thread][t].phase == PHASE_RUNNABLE) {
			sums->ns[BLOCKED_CPU_WAIT]++;
		} else if (w.done[thread][t].cause == CAUSES) {
			sums->ns[BLOCKED_UNKNOWN]++;
		} else {
			sums->ns[BLOCKED_WAITING]++;
			sums->waits[w.done[thread][t].path - w.paths]++;
		}
	}
}

static uint64_t code_weight(const struct blocked_sum *sum, uint32_t thread)
{
	uint64_t weight = 0;

	for (const struct blocked_code *code = sum->code; code; code = code->next)
		if (code->code == code_of(thread))
			weight += llround(code->weight);
	for (const struct blocked_sum *link = sum->links; link; link = link->next)
		weight += code_weight(link, thread);
	return weight;
}

static uint64_t waits_ns(const struct blocked_sum *sum, const struct wait_path *path)
{
	uint64_t ns = 0;

	for (const struct blocked_wait *wait = sum->waits; wait; wait = wait->next)
		if (wait->path == path)
			ns += llround(wait->ns);
	for (const struct blocked_sum *link = sum->links; link; link = link->next)
		ns += waits_ns(link, path);
	return ns;
}

static double kind_ns(const struct blocked_sum *sum, enum blocked_kind kind)
{
	double ns = sum->ns[kind];

	for (const struct blocked_sum *link = sum->links; link; link = link->next)
		ns += kind_ns(link, kind);
	return ns;
}

static double own_ns(const struct blocked_sum *sum)
{
	double ns = 0;

	for (size_t i = 0; i < BLOCKED_KINDS; i++)
		ns += sum->ns[i];
	return ns;
}

static double all_ns(const struct blocked_sum *sum)
{
	double ns = own_ns(sum);

	for (const struct blocked_sum *link = sum->links; link; link = link->next)
		ns += all_ns(link);
	return ns;
}

static void check(const struct blocked_sum *sum, const struct sums *expected)
{
	for (size_t i = 0; i < BLOCKED_KINDS; i++)
		CHECK_EQUAL(llround(kind_ns(sum, i)), expected->ns[i]);
	for (uint32_t i = 1; i <= THREADS; i++)
		CHECK_EQUAL(code_weight(sum, i), expected->code[i]);
	for (size_t i = 0; i < 3; i++)
		CHECK_EQUAL(waits_ns(sum, &w.paths[i]), expected->waits[i]);
}

/*
 * Plays until the time is over, with every wait added under one key, at the path. Returns the time of all waits.
 */
static uint64_t play(uint64_t end, const void *key, const struct wait_path *path, struct sums *expected)
{
	uint64_t waited_ns = 0;

	while (w.now + 40 < end) {
		uint32_t thread = 1 + pick(THREADS), waker;
		uint64_t since;

		pass(1 + pick(20));
		waker = step(thread, &since);
		if (!waker)
			continue;
		blocked_on_end(w.blocked, &w.pasts[waker], since, w.now, &(struct blocked_key){ key, 1, path }, 1);
		if (expected)
			add_naively(expected, waker, since, w.now);
		waited_ns += w.now - since;
	}
	return waited_ns;
}

TEST(chains_are_what_each_nanosecond_says)
{
	for (uint32_t seed = 1; seed <= 2000; seed++) {
		static struct sums expected;
		uint64_t waited_ns;

		memset(&expected, 0, sizeof(expected));
		set_up(seed, 1 << 20);
		waited_ns = play(1500, &w, seed % 2 ? &w.paths[0] : NULL, &expected);
		if (waited_ns)
			check(blocked_on_sum(w.blocked, &w), &expected);
		tear_down();
	}
}

static void check_chains(const struct blocked_sum *sum, uint32_t chain, const struct sums *expected)
{
	CHECK_EQUAL(llround(own_ns(sum)), expected->chains[chain]);
	for (const struct blocked_sum *link = sum->links; link; link = link->next)
		if (chain < CHAINS / 16) /* deeper ones are one number each */
			check_chains(link, chain * 4 + (link->path - w.paths), expected);
}

TEST(what_is_behind_waits_of_others_is_kept_apart)
{
	for (uint32_t seed = 1; seed <= 2000; seed++) {
		static struct sums expected;

		memset(&expected, 0, sizeof(expected));
		set_up(seed, 1 << 20);
		if (play(1500, &w, &w.paths[0], &expected))
			check_chains(blocked_on_sum(w.blocked, &w), 1, &expected);
		tear_down();
	}
}

TEST(all_of_the_time_is_somewhere_however_little_is_kept)
{
	for (uint32_t seed = 1; seed <= 30; seed++) {
		uint64_t waited_ns;

		set_up(seed, seed * 400);
		waited_ns = play(TIME_MAX, &w, seed % 2 ? &w.paths[0] : NULL, NULL);
		CHECK(fabs(all_ns(blocked_on_sum(w.blocked, &w)) - waited_ns) < 1e-6 * waited_ns);
		tear_down();
	}
}

TEST(a_wait_for_a_whole_life_has_all_that_was_done_in_it)
{
	const struct blocked_sum *sum;

	set_up(1, 1 << 20);
	begin(2, PHASE_BLOCKED);
	for (int i = 0; i < 1000; i++) { /* far more parts than are kept */
		pass(30);
		sample(&w.pasts[1], w.now, 1);
		begin(1, PHASE_BLOCKED);
		pass(10);
		end_wait(1, 0, &w.paths[1]);
		begin(1, PHASE_RUNNING);
	}
	blocked_on_end(w.blocked, &w.pasts[1], 0, w.now, &(struct blocked_key){ &w, 1, NULL }, 1);
	sum = blocked_on_sum(w.blocked, &w);
	CHECK_EQUAL(llround(all_ns(sum)), 40000);
	CHECK(fabs(sum->ns[BLOCKED_RUNNING] - 30000) < 100);
	CHECK(fabs(sum->ns[BLOCKED_WAITING] - 10000) < 100);
	CHECK(fabs(sum->weight[0] - 1000) < 5);
	CHECK(llabs((long long)waits_ns(sum, &w.paths[1]) - 10000) < 100);
	tear_down();
}

TEST(of_a_long_life_some_waits_stand_for_the_others)
{
	const struct blocked_sum *sum;
	uint64_t held_ns = 0;

	set_up(1, 1 << 20);
	begin(4, PHASE_BLOCKED);
	for (int i = 0; i < 10000; i++) { /* in turns for a thread that runs, and for nobody */
		uint64_t wait_ns = i % 2 ? 3 : 1 + pick(3);

		pass(1);
		begin(1, PHASE_BLOCKED);
		pass(wait_ns);
		end_wait(1, i % 2 ? 0 : 2, &w.paths[1]);
		held_ns += i % 2 ? 0 : wait_ns;
		begin(1, PHASE_RUNNING);
	}
	blocked_on_end(w.blocked, &w.pasts[1], 0, w.now, &(struct blocked_key){ &w, 1, NULL }, 1);
	sum = blocked_on_sum(w.blocked, &w);
	CHECK_EQUAL(llround(all_ns(sum)), w.now);
	CHECK(fabs(sum->ns[BLOCKED_RUNNING] - (10000 + held_ns)) < 0.03 * w.now);
	CHECK(fabs(sum->ns[BLOCKED_WAITING] - 15000) < 0.03 * w.now);
	CHECK(llabs((long long)waits_ns(sum, &w.paths[1]) - 15000) < 0.03 * w.now);
	tear_down();
}

TEST(a_wait_that_needed_more_is_exact_the_next_time)
{
	const struct blocked_sum *sum;

	set_up(1, 1 << 20);
	for (int k = 0; k < 30; k++) {
		uint64_t since = w.now;

		for (int i = 0; i < 100; i++) {
			pass(1 + i % 3);
			begin(1, PHASE_BLOCKED);
			pass(5);
			end_wait(1, 0, &w.paths[k % 3]);
			begin(1, PHASE_RUNNING);
		}
		blocked_on_end(w.blocked, &w.pasts[1], since, w.now, &(struct blocked_key){ &w.paths[k / 10], 1, NULL },
			       1);
	}
	sum = blocked_on_sum(w.blocked, &w.paths[2]);
	CHECK_EQUAL(llround(sum->ns[BLOCKED_WAITING]), 10 * 500);
	CHECK_EQUAL(llround(sum->ns[BLOCKED_RUNNING]), 10 * (100 + 33 * 3));
	CHECK_EQUAL(llround(sum->ns[BLOCKED_UNKNOWN]), 0);
	tear_down();
}

TEST(what_was_lost_before_there_was_more_space_stays_lost)
{
	const struct blocked_sum *sum;

	set_up(1, 1 << 20);
	for (int k = 0; k < 3; k++) { /* from the second time on there is more space */
		for (int i = 0; i < 60; i++) {
			pass(7);
			begin(1, PHASE_RUNNABLE);
			pass(3);
			begin(1, PHASE_RUNNING);
		}
		blocked_on_end(w.blocked, &w.pasts[1], 0, w.now, &(struct blocked_key){ &w.paths[k], 1, NULL }, 1);
		sum = blocked_on_sum(w.blocked, &w.paths[k]);
		CHECK(fabs(sum->ns[BLOCKED_RUNNING] - 420 * (k + 1)) < 5);
		CHECK(fabs(sum->ns[BLOCKED_CPU_WAIT] - 180 * (k + 1)) < 5);
		CHECK_EQUAL(llround(sum->ns[BLOCKED_UNKNOWN]), 0);
	}
	tear_down();
}

TEST(each_sample_counts_once_however_often_it_was_interrupted)
{
	const struct blocked_sum *sum;

	set_up(1, 1 << 20);
	for (int i = 0; i < 10; i++) {
		pass(10);
		sample(&w.pasts[1], w.now, 1);
		begin(1, PHASE_RUNNABLE);
		pass(3);
		begin(1, PHASE_RUNNING);
	}
	for (int i = 0; i < 3; i++) /* three have waited for it */
		blocked_on_end(w.blocked, &w.pasts[1], 0, w.now, &(struct blocked_key){ &w, 1, NULL }, 1);
	sum = blocked_on_sum(w.blocked, &w);
	CHECK_EQUAL(sum->sample_count[0], 10);
	CHECK_EQUAL(code_weight(sum, 1), 30);
	tear_down();
}

TEST(a_cpu_had_those_that_were_met_there)
{
	struct past cpu = { 0 };
	const struct blocked_sum *sum;

	set_up(1, 1 << 20);
	for (int i = 1; i <= 10; i++)
		sample(&cpu, 100 * i, i % 2 ? 1 : 2);
	blocked_on_end_cpu_wait(w.blocked, &cpu, 250, 650); /* samples at 300, 400, 500, 600 */
	blocked_on_end_cpu_wait(w.blocked, &cpu, 500, 700); /* at 600, 700 */
	blocked_on_end_cpu_wait(w.blocked, &cpu, 1000, 2000);
	sum = blocked_on_cpu_sum(w.blocked);
	CHECK_EQUAL(sum->sample_count[0], 5);
	CHECK_EQUAL(code_weight(sum, 1), 3);
	CHECK_EQUAL(code_weight(sum, 2), 3);
	past_fini(&cpu, &w.budget);
	tear_down();
}

/* Waits of which the place is not known are taken for those of the same cause of which it is, and no time is lost or made. */
TEST(waits_of_an_unknown_place_are_divided_among_those_of_their_cause)
{
	struct chain_budget budget = { .bytes_max = 1 << 20, .rows_max = 1 << 10 };
	struct wait_path paths[2] = { 0 };
	struct blocked_sum *sum;

	for (uint32_t plays = 0; plays < 2000; plays++) {
		double put_ns[CAUSES] = { 0 }, got_ns[CAUSES] = { 0 }, known_ns[CAUSES] = { 0 };

		sum = calloc(1, sizeof(*sum));
		for (uint32_t i = pick(12); i > 0; i--) {
			enum wait_cause cause = pick(3);
			const struct wait_path *path = pick(2) ? &paths[pick(2)] : NULL;
			double ns = 1 + pick(1000);

			blocked_sum_add_wait(sum, &budget, cause, path, ns);
			put_ns[cause] += ns;
			known_ns[cause] += path ? ns : 0;
		}
		for (const struct blocked_wait *wait = sum->waits; wait; wait = wait->next) {
			double ns = blocked_sum_wait_ns(sum, wait);

			got_ns[wait->cause] += ns;
			CHECK(wait->path ? ns >= wait->ns : (known_ns[wait->cause] > 0 ? ns == 0 : ns == wait->ns));
		}
		for (size_t i = 0; i < CAUSES; i++)
			CHECK(fabs(put_ns[i] - got_ns[i]) < 1e-6);
		blocked_sum_free(sum, &budget);
		CHECK_EQUAL(budget.rows, 0);
	}
}

TEST(code_at_more_places_than_a_sum_has_rows_counts_by_its_call_path)
{
	enum { PLACES = 20000, PATHS = 3 };
	static char codes[PLACES];
	struct chain_budget budget = { .rows_max = 1 << 12 };
	struct blocked_sum *sum = calloc(1, sizeof(*sum));
	double weight = 0;

	for (size_t i = 0; i < PLACES; i++)
		blocked_sum_add_code(sum, &budget, (const struct code_sample *)&codes[i],
				     (const struct code_sample *)&codes[i % PATHS], 1);
	for (const struct blocked_code *row = sum->code; row; row = row->next)
		weight += row->weight;
	CHECK_EQUAL((uint64_t)weight, PLACES);
	CHECK_THAT(budget.rows, <=, 1 << 10);
	blocked_sum_free(sum, &budget);
	CHECK_EQUAL(budget.rows, 0);
}
