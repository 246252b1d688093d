/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scenarios of tests/golden/ cannot show: bounds, and reading while it goes on. */
#include "test.h"

#include <stdbool.h>
#include <string.h>

#include "account/code_samples.h"
#include "account/criticality.h"
#include "account/measures/thread_strip.h"
#include "session/session.h"
#include "session/threads.h"
#include "stacks/stacks.h"
#include "values.h"

struct world {
	struct session *session;
	struct threads *threads;
	struct stacks *stacks;
	struct criticality *criticality;
};

static struct world begin(struct criticality_options options, size_t stacks_max)
{
	struct world world;

	world.session = session_new(1, 64 << 20);
	world.threads = threads_new(world.session);
	world.stacks = stacks_new(world.session, stacks_max);
	options.stacks = world.stacks;
	world.criticality = criticality_new(world.session, world.threads, &options);
	return world;
}

static void end(struct world *world)
{
	criticality_free(world->criticality);
	stacks_free(world->stacks);
	threads_free(world->threads);
	session_free(world->session);
}

static struct ev_header header_of(enum event_id id, uint64_t time_ns, uint32_t thread)
{
	return (struct ev_header){
		.time_ns = time_ns,
		.thread = thread,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};
}

static void found(struct world *world, uint64_t time_ns, uint32_t thread, uint8_t phase, const char *name)
{
	struct ev_thread_found e = {
		.header = header_of(EV_THREAD_FOUND, time_ns, thread),
		.tid = thread,
		.pid = 1,
		.phase = phase,
	};

	memcpy(e.name, name, strnlen(name, 15));
	CHECK(!session_push(world->session, 0, &e, sizeof(e)));
}

/* stack: ~0 for none. */
static void switches(struct world *world, uint64_t time_ns, uint32_t prev, uint8_t state, uint64_t stack, uint32_t next)
{
	struct ev_sched_switch e = {
		.header = header_of(EV_SCHED_SWITCH, time_ns, prev),
		.state = state,
		.next = next,
		.flags = stack == ~0ull ? 0 : SWITCH_HAS_STACK,
		.stack = stack,
	};

	CHECK(!session_push(world->session, 0, &e, sizeof(e)));
}

static void samples(struct world *world, uint64_t time_ns, uint32_t thread, uint64_t ip)
{
	struct ev_sched_sample e = {
		.header = header_of(EV_SCHED_SAMPLE, time_ns, thread),
		.ip = ip,
	};

	CHECK(!session_push(world->session, 0, &e, sizeof(e)));
}

static const struct path_metrics *only_path(const struct world *world)
{
	size_t cursor = 0;
	const struct path_metrics *path = criticality_next_path(world->criticality, &cursor);

	CHECK(path && !criticality_next_path(world->criticality, &cursor));
	return path;
}

TEST(fixed_time_is_rounded_to_the_nearest_ns)
{
	CHECK(fixed_to_ns(0) == 0);
	CHECK(fixed_to_ns((fixed_ns)5 << 32) == 5);
	CHECK(fixed_to_ns(((fixed_ns)5 << 32) + (1u << 31)) == 6);
	CHECK(fixed_to_ns(((fixed_ns)5 << 32) + (1u << 31) - 1) == 5);
}

TEST(an_account_without_events_is_all_zero)
{
	struct world world = begin((struct criticality_options){ 0 }, 0);
	struct criticality_totals totals;
	double average[4];
	size_t cursor = 0;

	criticality_finish(world.criticality, 1000);
	totals = criticality_totals(world.criticality);
	CHECK(!totals.wall_ns && !totals.closure_error_ns && totals.keep_min == 1);
	CHECK(totals.nmin == 1);
	CHECK(!criticality_next_thread(world.criticality, &cursor));
	cursor = 0;
	CHECK(!criticality_next_path(world.criticality, &cursor));
	CHECK(!criticality_timeline(world.criticality, average, 4));
	CHECK(!criticality_time_at(world.criticality, 0));
	CHECK(!criticality_time_at(world.criticality, PARALLELISM_MAX - 1));
	end(&world);
}

TEST(the_account_closes_at_every_moment)
{
	struct world world = begin((struct criticality_options){ 0 }, 0);
	struct criticality_totals totals;

	found(&world, 10, 1, PHASE_RUNNING, "a");
	found(&world, 10, 2, PHASE_RUNNABLE, "b");
	found(&world, 10, 3, PHASE_RUNNABLE, "c");
	for (uint64_t t = 20; t < 2000; t += 7) {
		switches(&world, t, t % 2 + 1, SWITCH_RUNNABLE, ~0ull, 2 - t % 2);
		session_finish(world.session);
		totals = criticality_totals(world.criticality);
		CHECK(totals.closure_error_ns == 0);
		CHECK(totals.end_ns == t && totals.wall_ns == t - 10);
		CHECK(criticality_counts(world.criticality).active == 3);
	}
	end(&world);
}

TEST(strips_hold_the_time_of_their_threads_folded_ones_included)
{
	struct criticality_options options = { .keeps_strips = true, .threads_max = 3 };
	struct world world = begin(options, 0);
	const struct thread_metrics *metrics;
	size_t cursor = 0, folded = 0;

	found(&world, 10, 1, PHASE_RUNNING, "a");
	for (uint32_t i = 2; i < 40; i++) {
		found(&world, i * 1000, i, PHASE_RUNNABLE, "b");
		switches(&world, i * 1000 + 100, 1, SWITCH_SLEEPING, ~0ull, i);
		switches(&world, i * 1000 + 700, i, SWITCH_DEAD, ~0ull, 1);
	}
	session_finish(world.session);
	criticality_finish(world.criticality, 100000);
	while ((metrics = criticality_next_thread(world.criticality, &cursor))) {
		struct strip_part sum = { 0 };

		CHECK(metrics->strip);
		for (size_t i = 0; i < STRIP_PARTS; i++) {
			sum.running_ns += metrics->strip->parts[i].running_ns;
			sum.runnable_ns += metrics->strip->parts[i].runnable_ns;
			sum.blocked_ns += metrics->strip->parts[i].blocked_ns;
		}
		CHECK(sum.running_ns == metrics->running_ns);
		CHECK(sum.runnable_ns == metrics->runnable_ns);
		CHECK(sum.blocked_ns == metrics->blocked_ns);
		folded += metrics->thread_count > 1;
	}
	CHECK(folded == 1);
	end(&world);
}

TEST(reading_does_not_change_the_account)
{
	struct criticality_totals before, after;
	struct world world = begin((struct criticality_options){ 0 }, 0);
	const struct thread_metrics *row;
	size_t cursor = 0;

	found(&world, 10, 1, PHASE_RUNNING, "a");
	samples(&world, 500, 1, 0x10);
	session_finish(world.session);
	before = criticality_totals(world.criticality);
	row = criticality_next_thread(world.criticality, &cursor);
	CHECK(row->running_ns == 490 && fixed_to_ns(row->cmetric_oncpu) == 490 && row->is_alive);
	switches(&world, 1000, 1, SWITCH_SLEEPING, 7, 0);
	session_finish(world.session);
	after = criticality_totals(world.criticality);
	CHECK(before.cmetric_ns == 490 && after.cmetric_ns == 990);
	CHECK(only_path(&world)->cmetric_ns == 990);
	end(&world);
}

TEST(events_after_the_end_of_the_account_continue_it)
{
	struct world world = begin((struct criticality_options){ 0 }, 0);

	found(&world, 0, 1, PHASE_RUNNING, "a");
	session_finish(world.session);
	criticality_finish(world.criticality, 100);
	criticality_finish(world.criticality, 50);
	switches(&world, 150, 1, SWITCH_SLEEPING, 7, 0);
	session_finish(world.session);
	criticality_finish(world.criticality, 200);
	CHECK(criticality_totals(world.criticality).closure_error_ns == 0);
	CHECK(criticality_totals(world.criticality).wall_ns == 200);
	CHECK(only_path(&world)->cmetric_ns == 50);
	end(&world);
}

TEST(a_path_names_eight_threads_and_counts_all)
{
	struct world world = begin((struct criticality_options){ .nmin = 1000 }, 0);
	const struct path_metrics *path;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 1; i <= 20; i++) {
			uint64_t t = round * 10000 + i * 100;

			found(&world, t, i, PHASE_BLOCKED, "w");
			switches(&world, t, 0, 0, ~0ull, i);
			switches(&world, t + 50, i, SWITCH_SLEEPING, 5, 0);
		}
	}
	session_finish(world.session);
	path = only_path(&world);
	CHECK(path->thread_count == 20 && path->slices == 40);
	for (uint32_t i = 0; i < PATH_THREADS_MAX; i++)
		CHECK(path->threads[i]->number == i + 1);
	end(&world);
}

TEST(threads_that_a_path_names_outlive_their_folding)
{
	struct world world = begin((struct criticality_options){ .threads_max = 2 }, 0);
	const struct path_metrics *path;

	for (uint32_t i = 1; i <= 50; i++) {
		found(&world, i * 100, i, PHASE_RUNNING, "short");
		switches(&world, i * 100 + 50, i, SWITCH_DEAD, 5, 0);
	}
	session_finish(world.session);
	path = only_path(&world);
	CHECK(path->thread_count == 50);
	for (uint32_t i = 0; i < PATH_THREADS_MAX; i++)
		CHECK(path->threads[i]->number == i + 1 && path->threads[i]->pid == 1);
	CHECK(criticality_totals(world.criticality).closure_error_ns == 0);
	CHECK(criticality_totals(world.criticality).thread_count == 50);
	end(&world);
}

TEST(a_thread_that_comes_back_after_its_folding_is_still_named)
{
	struct world world = begin((struct criticality_options){ .threads_max = 1 }, 0);

	found(&world, 100, 1, PHASE_RUNNING, "a");
	switches(&world, 150, 1, SWITCH_DEAD, 5, 0);
	found(&world, 200, 2, PHASE_RUNNING, "b"); /* folds 1 */
	switches(&world, 250, 2, SWITCH_DEAD, ~0ull, 0);
	switches(&world, 300, 0, 0, ~0ull, 1); /* folds 2; 1 was not dead after all */
	switches(&world, 350, 1, SWITCH_DEAD, ~0ull, 0);
	found(&world, 400, 3, PHASE_RUNNING, "c"); /* folds 1 again */
	session_finish(world.session);
	CHECK(only_path(&world)->threads[0]->number == 1);
	CHECK(!strcmp(only_path(&world)->threads[0]->name, "a"));
	CHECK(criticality_totals(world.criticality).closure_error_ns == 0);
	end(&world);
}

TEST(at_most_1024_names_are_folded_apart)
{
	struct world world = begin((struct criticality_options){ .threads_max = 1 }, 0);
	const struct thread_metrics *row;
	size_t cursor = 0, rows = 0;
	uint64_t threads = 0, others = 0;
	char name[16];

	for (uint32_t i = 1; i <= 1500; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		found(&world, i * 100, i, PHASE_RUNNING, name);
		switches(&world, i * 100 + 50, i, SWITCH_DEAD, ~0ull, 0);
	}
	session_finish(world.session);
	while ((row = criticality_next_thread(world.criticality, &cursor))) {
		rows++;
		threads += row->thread_count;
		if (!row->thread && !strcmp(row->name, "others"))
			others = row->thread_count;
	}
	CHECK(threads == 1500 && rows == 1 + 1024 + 1 && others == 1499 - 1024);
	CHECK(criticality_totals(world.criticality).closure_error_ns == 0);
	end(&world);
}

TEST(a_slice_keeps_256_kinds_of_samples)
{
	struct world world = begin((struct criticality_options){ 0 }, 0);
	struct criticality_totals totals;

	found(&world, 0, 1, PHASE_RUNNING, "a");
	for (uint64_t i = 0; i < 300; i++) {
		samples(&world, 10 + i, 1, 0x1000 + i);
		samples(&world, 10 + i, 1, 0x1000);
	}
	switches(&world, 1000, 1, SWITCH_SLEEPING, 7, 0);
	session_finish(world.session);
	totals = criticality_totals(world.criticality);
	CHECK(totals.samples == 600 && totals.samples_dropped == 300 - 256);
	CHECK(only_path(&world)->sample_kind_count == 256);
	CHECK(only_path(&world)->samples[0].count == 301);
	CHECK(totals.stack_tops == 0);
	end(&world);
}

TEST(a_path_keeps_4096_kinds_of_samples)
{
	struct world world = begin((struct criticality_options){ 0 }, 0);
	uint64_t t = 0, sum = 0;
	const struct path_metrics *path;

	found(&world, 0, 1, PHASE_RUNNING, "a");
	for (uint64_t i = 0; i < 5000; i++) {
		samples(&world, ++t, 1, 0x1000 + i);
		if (i % 100 == 99) {
			switches(&world, ++t, 1, SWITCH_RUNNABLE, 7, 0);
			switches(&world, t, 0, 0, ~0ull, 1);
		}
	}
	session_finish(world.session);
	path = only_path(&world);
	for (size_t i = 0; i < path->sample_kind_count; i++)
		sum += path->samples[i].count;
	CHECK(path->sample_kind_count == 4096 && sum == 4096);
	CHECK(criticality_totals(world.criticality).samples_dropped == 5000 - 4096);
	end(&world);
}

TEST(time_at_collects_what_exceeds_its_maximum)
{
	struct world world = begin((struct criticality_options){ 0 }, 0);

	for (uint32_t i = 1; i <= PARALLELISM_MAX + 5; i++)
		found(&world, 0, i, PHASE_RUNNABLE, "x");
	session_finish(world.session);
	criticality_finish(world.criticality, 1000);
	CHECK(criticality_time_at(world.criticality, PARALLELISM_MAX - 1) == 1000);
	CHECK(criticality_totals(world.criticality).closure_error_ns == 0);
	end(&world);
}

TEST(the_timeline_means_what_the_integral_says)
{
	struct world world = begin((struct criticality_options){ 0 }, 0);
	double average[100], sum = 0;
	size_t count;

	found(&world, 1000, 1, PHASE_RUNNING, "a");
	found(&world, 501000, 2, PHASE_RUNNABLE, "b");
	session_finish(world.session);
	criticality_finish(world.criticality, 1001000);
	count = criticality_timeline(world.criticality, average, 100);
	CHECK(count == 100);
	for (size_t i = 0; i < count; i++)
		sum += average[i];
	CHECK(sum > 149.999999 && sum < 150.000001);
	CHECK(average[0] > 0.999999 && average[0] < 1.000001);
	CHECK(average[99] > 1.999999 && average[99] < 2.000001);
	end(&world);
}

TEST(hostile_times_neither_crash_nor_break_the_account)
{
	struct world world = begin((struct criticality_options){ 0 }, 0);
	double average[16];

	found(&world, 0, 1, PHASE_RUNNING, "a");
	found(&world, 0, 2, PHASE_RUNNING, "b");
	found(&world, 0, 3, PHASE_RUNNING, "c");
	switches(&world, UINT64_MAX / 2, 2, SWITCH_DEAD, 1, 0);
	switches(&world, UINT64_MAX - 1, 1, SWITCH_DEAD, 1, 0);
	session_finish(world.session);
	criticality_finish(world.criticality, UINT64_MAX);
	CHECK(criticality_totals(world.criticality).closure_error_ns == 0);
	CHECK(criticality_timeline(world.criticality, average, 16) == 16);
	end(&world);
}

TEST(a_sample_that_comes_late_is_of_when_it_was_due)
{
	struct code_samples *code = code_samples_new();
	struct world world = begin((struct criticality_options){ .code = code }, 0);
	struct ev_sched_sample e = { .header = header_of(EV_SCHED_SAMPLE, 1500, 1), .stack = 7, .due_ns = 900 };
	const struct code_weights *weights;

	found(&world, 100, 1, PHASE_RUNNING, "a");
	found(&world, 100, 2, PHASE_RUNNING, "b");
	switches(&world, 1000, 2, SWITCH_SLEEPING, ~0ull, 0);
	CHECK(!session_push(world.session, 0, &e, sizeof(e)));
	session_finish(world.session);
	weights = &code_samples_at(code, 0)->weights;
	CHECK(weights->count == 1 && weights->sum[CODE_CMETRIC] == 0.5 && weights->sum[CODE_CRITICAL] == 0);
	e.header.time_ns = 1600;
	e.due_ns = 0;
	CHECK(!session_push(world.session, 0, &e, sizeof(e)));
	session_finish(world.session);
	CHECK(weights->count == 2 && weights->sum[CODE_CMETRIC] == 1.5 && weights->sum[CODE_CRITICAL] == 1);
	end(&world);
	code_samples_free(code);
}

static void frames(struct world *world, uint64_t stack, uint16_t user_count)
{
	uint64_t buffer[64] = { 0 };
	struct ev_stack_frames *e = (struct ev_stack_frames *)buffer;

	e->header = header_of(EV_STACK_FRAMES, 1, 0);
	e->stack = stack;
	e->user_count = user_count;
	for (uint16_t i = 0; i < user_count; i++)
		e->frames[i] = stack * 100 + i;
	CHECK(!session_push(world->session, 0, e, sizeof(*e) + 8 * user_count));
}

TEST(each_stack_is_kept_once_and_their_number_is_bounded)
{
	struct world world = begin((struct criticality_options){ 0 }, 3);

	for (uint64_t stack = 1; stack <= 5; stack++)
		frames(&world, stack, 2);
	frames(&world, 2, 1);
	session_finish(world.session);
	CHECK(stacks_find(world.stacks, 2)->user_count == 2);
	CHECK(stacks_find(world.stacks, 3)->frames[1] == 301);
	CHECK(!stacks_find(world.stacks, 4) && !stacks_find(world.stacks, 99));
	CHECK(stacks_counts(world.stacks).kept == 3);
	CHECK(stacks_counts(world.stacks).dropped == 2);
	CHECK(stacks_counts(world.stacks).resent == 1);
	end(&world);
}
