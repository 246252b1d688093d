/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What event loops add up to, against all of their iterations, kept one by one: random plays of polls, other waits, running
 * and samples.
 */
#include "test.h"

#include <math.h>
#include <sys/syscall.h>

#include "account/code_samples.h"
#include "account/event_loop.h"
#include "base/table.h"
#include "values.h"
#include "waits/sums/wait_rows.h"
#include "waits/wait_cause.h"

enum { PLAYS = 2000, STEPS = 300, CODES = 4, PATHS = 4, MS = 1000000 };

static const struct wait_facts epoll = { .syscall = SYS_epoll_wait, .state = SWITCH_SLEEPING };
static const struct wait_facts list = { .syscall = SYS_poll, .state = SWITCH_SLEEPING, .value = 3 };
static const struct wait_facts disk = { .syscall = SYS_fdatasync, .state = SWITCH_BLOCKED };

static struct code_sample codes[CODES];
static struct wait_path paths[PATHS];

/* An iteration as it was. */
struct truth {
	bool is_asked;
	uint64_t begin_ns, ns, running_ns, runnable_ns, waiting_ns;
	uint64_t waits_ns[PATHS];
	uint64_t samples[CODES];
};

static struct {
	uint32_t random;
	struct event_loop *loop;
	struct loop_moment now;
	struct truth iterations[STEPS], *open; /* open: of the iteration that lasts; NULL: none does */
	size_t count;
	uint64_t polled_ns, first_poll_ns;
} play;

static uint32_t pick(uint32_t limit)
{
	play.random = play.random * 1664525 + 1013904223;
	return (uint64_t)play.random * limit >> 32;
}

static void begin(uint32_t seed)
{
	memset(&play, 0, sizeof(play));
	play.random = seed;
	play.loop = event_loop_new();
	play.now.time_ns = 5 * MS;
}

static void end(void)
{
	event_loop_free(play.loop);
}

static void pass(uint64_t *figure, uint64_t *of_truth, uint64_t ns)
{
	play.now.time_ns += ns;
	*figure += ns;
	if (!play.open)
		return;
	play.open->ns += ns;
	*of_truth += ns;
}

static void run(uint64_t ns)
{
	pass(&play.now.running_ns, play.open ? &play.open->running_ns : NULL, ns);
}

static void queue(uint64_t ns)
{
	pass(&play.now.runnable_ns, play.open ? &play.open->runnable_ns : NULL, ns);
}

static void wait_for(const struct wait_facts *facts, size_t path, uint64_t ns)
{
	event_loop_begin_wait(play.loop, facts, &play.now);
	pass(&play.now.blocked_ns, play.open ? &play.open->waiting_ns : NULL, ns);
	if (play.open)
		play.open->waits_ns[path] += ns;
	event_loop_end_wait(play.loop, &play.now, CAUSE_FILE, &paths[path], false);
}

static void poll_for(uint64_t ns, bool is_asked)
{
	event_loop_begin_wait(play.loop, &epoll, &play.now);
	play.open = NULL;
	if (!play.first_poll_ns)
		play.first_poll_ns = play.now.time_ns;
	pass(&play.now.blocked_ns, NULL, ns);
	play.polled_ns += ns;
	event_loop_end_wait(play.loop, &play.now, CAUSE_POLL, NULL, is_asked);
	play.open = &play.iterations[play.count++];
	play.open->is_asked = is_asked;
	play.open->begin_ns = play.now.time_ns;
}

static void sample(size_t code)
{
	event_loop_add_sample(play.loop, &codes[code], 1);
	if (play.open)
		play.open->samples[code]++;
}

static void step(void)
{
	uint64_t ns = pick(1u << pick(27));

	switch (pick(6)) {
	case 0:
		poll_for(ns, pick(2));
		break;
	case 1:
		wait_for(&disk, pick(PATHS), ns);
		break;
	case 2:
		queue(ns);
		break;
	case 3:
		for (uint32_t i = pick(pick(20) ? 3 : 200); i; i--)
			sample(pick(CODES));
		break;
	default:
		run(ns);
		break;
	}
}

/* --- The oracle ---------------------------------------------------------------------------------- */

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The length that a part of all does not exceed, by sorting them; as exact as the steps of lengths are. */
static void check_quantile(const struct event_loop *loop, double part)
{
	uint64_t lengths[STEPS], limit_ns;
	size_t place;

	for (size_t i = 0; i < play.count; i++)
		lengths[i] = play.iterations[i].ns;
	qsort(lengths, play.count, sizeof(*lengths), by_length);
	place = ceil(part * play.count);
	limit_ns = lengths_quantile_ns(loop->lengths, loop->count, loop->longest.max_ns, part);
	CHECK_THAT(limit_ns, >=, lengths[place ? place - 1 : 0]);
	CHECK_THAT(limit_ns, <=, lengths[place ? place - 1 : 0] * 5 / 4 + 128);
}

static void check_class(const struct loop_part *class, unsigned int number)
{
	struct truth sum = { 0 };
	uint64_t count = 0, asked = 0, samples = 0, max_ns = 0;
	const uint64_t none = class ? 1 : 0;

	for (size_t i = 0; i < play.count; i++) {
		const struct truth *truth = &play.iterations[i];

		if (truth->ns < event_loop_class_ns(number) ||
		    (number + 1 < LOOP_CLASSES && truth->ns >= event_loop_class_ns(number + 1)))
			continue;
		count++;
		asked += truth->is_asked;
		sum.ns += truth->ns;
		sum.running_ns += truth->running_ns;
		sum.runnable_ns += truth->runnable_ns;
		sum.waiting_ns += truth->waiting_ns;
		max_ns = truth->ns > max_ns ? truth->ns : max_ns;
		for (size_t k = 0; k < PATHS; k++)
			sum.waits_ns[k] += truth->waits_ns[k];
		for (size_t k = 0; k < CODES; k++)
			samples += truth->samples[k];
	}
	CHECK_EQUAL(!count, !none);
	if (!class)
		return;
	CHECK_EQUAL(class->count, count);
	CHECK_EQUAL(class->asked_count, asked);
	CHECK_EQUAL(class->max_ns, max_ns);
	CHECK_EQUAL(class->times.ns, sum.ns);
	CHECK_EQUAL(class->times.running_ns, sum.running_ns);
	CHECK_EQUAL(class->times.cpu_wait_ns, sum.runnable_ns);
	CHECK_EQUAL(class->times.waiting_ns, sum.waiting_ns);
	CHECK_EQUAL(class->samples.count, samples);
	CHECK_EQUAL(class->waits.others_ns, 0); /* there are fewer paths than rows */
	for (size_t i = 0; i < LOOP_WAITS; i++)
		if (class->waits.list[i].ns)
			CHECK_EQUAL(class->waits.list[i].ns, sum.waits_ns[class->waits.list[i].path - paths]);
}

static void check_all(const struct event_loop *loop)
{
	uint64_t ns = 0, asked = 0, longest_ns = 0;

	for (size_t i = 0; i < play.count; i++) {
		ns += play.iterations[i].ns;
		asked += play.iterations[i].is_asked;
		longest_ns = play.iterations[i].ns > longest_ns ? play.iterations[i].ns : longest_ns;
	}
	CHECK_EQUAL(loop->count, play.count);
	CHECK_EQUAL(loop->polls, play.count);
	CHECK_EQUAL(loop->asked_count, asked);
	CHECK_EQUAL(loop->polled_ns, play.polled_ns);
	CHECK_EQUAL(loop->times.ns, ns);
	CHECK_EQUAL(loop->times.running_ns + loop->times.cpu_wait_ns + loop->times.waiting_ns, ns);
	if (!play.count)
		return;
	CHECK_EQUAL(loop->polled_ns + loop->times.ns, play.now.time_ns - play.first_poll_ns);
	CHECK_EQUAL(loop->longest.max_ns, longest_ns);
	check_quantile(loop, 0.5);
	check_quantile(loop, 0.99);
}

/* The samples of the longest iteration, and what was waited for in it. */
static void check_longest(const struct event_loop *loop)
{
	const struct truth *truth = play.iterations;
	uint64_t samples[CODES] = { 0 }, seen = 0;

	for (size_t i = 0; i < play.count; i++)
		if (play.iterations[i].begin_ns == loop->longest.begin_ns &&
		    play.iterations[i].ns == loop->longest.max_ns)
			truth = &play.iterations[i];
	CHECK_EQUAL(truth->ns, loop->longest.max_ns);
	CHECK_EQUAL(truth->running_ns, loop->longest.times.running_ns);
	for (size_t i = 0; i < CODES; i++)
		seen += truth->samples[i];
	CHECK_EQUAL(loop->longest.samples.seen, seen);
	if (seen > LOOP_SAMPLES)
		return;
	for (size_t i = 0; i < seen; i++)
		samples[loop->longest.samples.list[i].code - codes]++;
	for (size_t i = 0; i < CODES; i++)
		CHECK_EQUAL(samples[i], truth->samples[i]);
}

TEST(random_plays_add_up_as_all_iterations_do_one_by_one)
{
	for (uint32_t seed = 1; seed <= PLAYS; seed++) {
		struct event_loop *loop;

		begin(seed);
		for (uint32_t i = pick(STEPS); i; i--)
			step();
		loop = event_loop_copy_ended(play.loop, &play.now);
		check_all(loop);
		for (unsigned int i = 0; i < LOOP_CLASSES; i++)
			check_class(loop->classes[i], i);
		if (play.count)
			check_longest(loop);
		event_loop_free(loop);
		end();
	}
}

TEST(a_copy_that_is_ended_leaves_the_loop_as_it_was)
{
	begin(1);
	poll_for(MS, true);
	run(3 * MS);
	event_loop_free(event_loop_copy_ended(play.loop, &play.now));
	run(4 * MS);
	poll_for(MS, true);
	CHECK_EQUAL(play.loop->count, 1);
	CHECK_EQUAL(play.loop->longest.max_ns, 7 * MS);
	CHECK_EQUAL(play.loop->polled_ns, 2 * MS);
	end();
}

/* --- Samples that found no space ----------------------------------------------------------------- */

/* What the samples that are kept say of a code's weight. */
static double weight_of(const struct loop_samples *samples, const struct code_sample *code)
{
	uint64_t count = samples->seen < LOOP_SAMPLES ? samples->seen : LOOP_SAMPLES;
	double weight = 0;

	for (uint64_t i = 0; i < count; i++)
		if (samples->list[i].code == code)
			weight += samples->list[i].weight * samples->seen / count;
	return weight;
}

TEST(samples_that_are_kept_stand_for_all_without_bias)
{
	enum { ROUNDS = 2000, ITERATIONS = 12, LONG = 150, SHORT = 5 };
	double sum = 0, squares = 0, mean, error;

	begin(1);
	for (int round = 0; round < ROUNDS; round++) {
		struct event_loop *loop = event_loop_new();
		struct loop_moment now = { 0 };

		loop->random = hash_u64(round + 1);
		for (int i = 0; i < ITERATIONS; i++) {
			int count = i % 3 ? SHORT : LONG;

			event_loop_begin_wait(loop, &epoll, &now);
			event_loop_end_wait(loop, &now, CAUSE_POLL, NULL, false);
			for (int k = 0; k < count; k++)
				event_loop_add_sample(loop, &codes[i % 3 ? 1 : k % 3 == 0], 1);
		}
		event_loop_end(loop, &now);
		mean = weight_of(&loop->classes[0]->samples, &codes[1]);
		sum += mean;
		squares += mean * mean;
		event_loop_free(loop);
	}
	mean = sum / ROUNDS;
	error = sqrt((squares / ROUNDS - mean * mean) / ROUNDS);
	/* A third of the long ones' samples, and all of the short ones'. */
	CHECK(fabs(mean - (ITERATIONS / 3 * LONG / 3 + ITERATIONS * 2 / 3 * SHORT)) < 4 * error);
	CHECK(error < 2);
	end();
}

TEST(of_many_waits_the_longest_are_kept_and_all_of_the_time_is)
{
	struct wait_path many[3 * LOOP_WAITS];
	uint64_t sum_ns = 0;

	begin(1);
	poll_for(MS, false);
	for (int i = 0; i < 3 * LOOP_WAITS; i++) {
		event_loop_begin_wait(play.loop, &disk, &play.now);
		pass(&play.now.blocked_ns, &play.open->waiting_ns, (i == 7 ? 500 : i + 1) * MS);
		event_loop_end_wait(play.loop, &play.now, CAUSE_FILE, &many[i], false);
	}
	event_loop_end(play.loop, &play.now);
	CHECK(play.loop->longest.waits.list[0].ns || play.loop->longest.waits.others_ns);
	for (int i = 0; i < LOOP_WAITS; i++)
		sum_ns += play.loop->longest.waits.list[i].ns;
	CHECK_EQUAL(sum_ns + play.loop->longest.waits.others_ns, play.loop->longest.times.waiting_ns);
	for (int i = 0; i < LOOP_WAITS; i++)
		if (play.loop->longest.waits.list[i].path == &many[7])
			sum_ns = 0;
	CHECK_EQUAL(sum_ns, 0);
	end();
}

/* --- Turns --------------------------------------------------------------------------------------- */

TEST(samples_of_turns_add_up_by_twice_their_age_with_the_iteration_that_they_met)
{
	const struct loop_part *class;

	begin(1);
	event_loop_add_turn(play.loop, 3 * MS, false); /* it has not polled yet */
	poll_for(MS, true);
	event_loop_add_turn(play.loop, MS / 4, false);
	run(5 * MS);
	event_loop_add_turn(play.loop, 5 * MS / 2, false);
	event_loop_add_turn(play.loop, 5 * MS / 2, true);
	poll_for(MS, true);
	event_loop_add_turn(play.loop, 3 * MS, false);
	event_loop_end(play.loop, &play.now);
	class = play.loop->classes[event_loop_class(5 * MS)];
	CHECK_EQUAL(class->count, 1);
	CHECK_EQUAL(class->turns.known[event_loop_class(MS / 2)], 1);
	CHECK_EQUAL(class->turns.known[event_loop_class(5 * MS)], 1);
	CHECK_EQUAL(class->turns.at_least[event_loop_class(5 * MS)], 1);
	CHECK_EQUAL(play.loop->classes[0]->turns.known[event_loop_class(6 * MS)], 1);
	end();
}

/* --- What is a poll ------------------------------------------------------------------------------ */

TEST(one_descriptor_none_or_a_lock_of_the_kernel_is_no_loop)
{
	CHECK_EQUAL(event_loop_rank(&disk), 0);
	CHECK_EQUAL(event_loop_rank(&(struct wait_facts){ .syscall = SYS_poll, .value = 1, .state = SWITCH_SLEEPING }),
		    0);
	CHECK_EQUAL(event_loop_rank(&(struct wait_facts){ .syscall = SYS_select, .state = SWITCH_SLEEPING }), 0);
	CHECK_EQUAL(event_loop_rank(&(struct wait_facts){
			    .syscall = SYS_epoll_wait, .state = SWITCH_SLEEPING, .flags = SWITCH_KERNEL_LOCK }),
		    0);
	CHECK(event_loop_rank(&list) && event_loop_rank(&list) < event_loop_rank(&epoll));
}

TEST(a_poll_of_a_list_within_an_iteration_of_epoll_is_a_wait_of_that)
{
	begin(1);
	poll_for(MS, true);
	run(MS);
	wait_for(&list, 1, 8 * MS);
	run(MS);
	poll_for(MS, true);
	CHECK_EQUAL(play.loop->count, 1);
	CHECK_EQUAL(play.loop->longest.times.waiting_ns, 8 * MS);
	CHECK_EQUAL(play.loop->longest.waits.list[0].path == &paths[1], true);
	end();
}

TEST(a_loop_begins_anew_where_the_thread_turns_out_to_have_a_queue)
{
	begin(1);
	for (int i = 0; i < 5; i++) {
		event_loop_begin_wait(play.loop, &list, &play.now);
		event_loop_end_wait(play.loop, &play.now, CAUSE_POLL, NULL, false);
		run(MS);
	}
	CHECK_EQUAL(play.loop->count, 4);
	poll_for(MS, false);
	run(MS);
	poll_for(MS, false);
	CHECK_EQUAL(play.loop->count, 1);
	CHECK_EQUAL(play.loop->polled_ns, 2 * MS);
	CHECK_EQUAL(play.loop->syscall, SYS_epoll_wait);
	end();
}

TEST(a_queue_that_a_handler_polls_is_within_the_iteration)
{
	static const struct wait_facts nested = { .syscall = SYS_epoll_wait, .state = SWITCH_SLEEPING, .value = 9 };

	begin(1);
	for (int i = 0; i < 5; i++)
		poll_for(MS, true);
	for (int i = 0; i < 5; i++)
		wait_for(&nested, 1, MS);
	poll_for(MS, true);
	CHECK_EQUAL(play.loop->longest.times.waiting_ns, 5 * MS);
	CHECK_EQUAL(play.loop->polls, 6);
	/* As often as that in a row, it is what the thread does from now on. */
	for (int i = 0; i < 7; i++) {
		event_loop_begin_wait(play.loop, &nested, &play.now);
		event_loop_end_wait(play.loop, &play.now, CAUSE_POLL, NULL, false);
	}
	CHECK_EQUAL(play.loop->polls, 1);
	CHECK_EQUAL(play.loop->queue, 9);
	end();
}

TEST(a_queue_that_never_brings_a_request_gives_way_once_to_one_beside_it)
{
	static const struct wait_facts beside = { .syscall = SYS_epoll_wait, .state = SWITCH_SLEEPING, .value = 9 };

	begin(1);
	for (int i = 0; i < 10; i++) {
		event_loop_begin_wait(play.loop, &epoll, &play.now);
		event_loop_end_wait(play.loop, &play.now, CAUSE_POLL, NULL, false);
		event_loop_begin_wait(play.loop, &beside, &play.now);
		event_loop_end_wait(play.loop, &play.now, CAUSE_POLL, NULL, false);
	}
	CHECK_EQUAL(play.loop->queue, 9);
	CHECK_EQUAL(play.loop->polls, 9);
	end();
}

TEST(a_wait_that_has_ended_already_does_not_end_again)
{
	begin(1);
	poll_for(MS, true);
	run(MS);
	event_loop_end_wait(play.loop, &play.now, CAUSE_POLL, NULL, true);
	run(MS);
	poll_for(MS, true);
	CHECK_EQUAL(play.loop->longest.times.running_ns, 2 * MS);
	CHECK_EQUAL(play.loop->longest.times.waiting_ns, 0);
	end();
}

TEST(classes_are_powers_of_two_of_about_a_millisecond)
{
	CHECK_EQUAL(event_loop_class(0), 0);
	for (unsigned int i = 1; i < LOOP_CLASSES; i++) {
		CHECK_EQUAL(event_loop_class(event_loop_class_ns(i)), i);
		CHECK_EQUAL(event_loop_class(event_loop_class_ns(i) - 1), i - 1);
	}
	CHECK_EQUAL(event_loop_class(UINT64_MAX), LOOP_CLASSES - 1);
}
