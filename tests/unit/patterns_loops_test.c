/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which event loops are held up by a function: one that is, and what is near it. */
#include "findings/patterns/draft.h"
#include "stacks/fold.h"
#include "test.h"

enum { MS = 1000000 };

#define slow_frame                                           \
	{                                                    \
		.function = "resize_image", .module = "shop" \
	}
#define loop_frame                                    \
	{                                             \
		.function = "serve", .module = "shop" \
	}

static const struct report_frame slow_frames[] = { slow_frame, loop_frame };

static const struct report_frame quick_frames[] = {
	{ .function = "answer", .module = "shop" },
	{ .function = "serve", .module = "shop" },
};

static struct findings findings;
static struct draft draft;
static struct report_event_loop loops[2];
static struct report_blocked_on all, long_work, short_work, longest;
static struct report_blocked_code slow, slow_again, slow_sometimes[2];

/*
 * Ten seconds of a loop that polls for nine of them. 18 of 1,000 iterations take 50 ms, of which 45 are resize_image()'s;
 * of the others, which take 100 ms in all, a tenth is.
 */
static void begin(void)
{
	struct report *report;

	memset(&draft, 0, sizeof(draft));
	findings = (struct findings){ .arena = arena_new(), .input.fold = fold_rules_new() };
	report = &findings.report;
	report->target.wall_ns = 10000ull * MS;
	report->balance.threads.busy_ns = 1000ull * MS;
	slow = (struct report_blocked_code){ 810ull * MS, 10 * MS, 200, slow_frames, 2 };
	slow_again = (struct report_blocked_code){ 55ull * MS, MS, 12, slow_frames, 2 };
	slow_sometimes[0] = (struct report_blocked_code){ 90 * MS, MS, 20, quick_frames, 2 };
	slow_sometimes[1] = (struct report_blocked_code){ 10 * MS, MS, 2, slow_frames, 2 };
	long_work = (struct report_blocked_on){ .ns = 900 * MS,
						.running_ns = 900 * MS,
						.samples = 200,
						.text = "90 % ran resize_image",
						.code = &slow,
						.code_count = 1 };
	short_work = (struct report_blocked_on){
		.ns = 100 * MS, .running_ns = 100 * MS, .samples = 22, .code = slow_sometimes, .code_count = 2
	};
	longest = (struct report_blocked_on){
		.ns = 60 * MS, .running_ns = 60 * MS, .samples = 15, .code = &slow_again, .code_count = 1
	};
	all = (struct report_blocked_on){ .ns = 1000ull * MS, .running_ns = 1000ull * MS, .samples = 222 };
	loops[0] = (struct report_event_loop){
		.tid = 812,
		.name = "shop",
		.polled_ns = 9000ull * MS,
		.iterations = 1000,
		.asked_iterations = 1000,
		.p50_ns = MS / 10,
		.p99_ns = 50 * MS,
		.max_ns = 60 * MS,
		.long_min_ns = 4 * MS,
		.long_iterations = 18,
		.long_asked_iterations = 18,
		.work = &all,
		.long_work = &long_work,
		.short_work = &short_work,
		.longest = &longest,
	};
	loops[1] = loops[0];
	report->event_loops = loops;
	report->event_loop_count = 1;
}

static void end(void)
{
	fold_rules_free((struct fold_rules *)findings.input.fold);
	arena_free(findings.arena);
}

static size_t found(void)
{
	patterns_add_loops(&findings, &draft);
	return draft.count;
}

TEST(a_function_that_holds_up_a_loop_is_named_with_its_loop_and_its_length)
{
	begin();
	CHECK_EQUAL(found(), 1);
	CHECK_EQUAL(draft.rows[0].pattern, PATTERN_EVENT_LOOP);
	CHECK(strstr(draft.rows[0].title,
		     "the event loop of thread shop (812) is held up for up to 60.0 ms by resize_image"));
	CHECK(draft.rows[0].code == &slow);
	CHECK(draft.rows[0].share > 0.80 && draft.rows[0].share < 0.82);
	CHECK_EQUAL(draft.rows[0].evidence_count, 2);
	CHECK(strstr(draft.rows[0].evidence[0], "18 of 1,000 iterations"));
	end();
}

TEST(loops_that_one_function_holds_up_are_one_finding)
{
	begin();
	findings.report.event_loop_count = 2;
	findings.report.balance.threads.busy_ns = 2000ull * MS;
	CHECK_EQUAL(found(), 1);
	CHECK(strstr(draft.rows[0].title, "the event loops of 2 threads, such as shop (812), are"));
	CHECK(draft.rows[0].share > 0.80 && draft.rows[0].share < 0.82);
	CHECK(!draft.rows[0].blocker);
	end();
}

TEST(a_longest_iteration_of_something_else_is_not_said_to_be_of_the_function)
{
	begin();
	slow_again.frames = quick_frames;
	CHECK_EQUAL(found(), 1);
	CHECK(strstr(draft.rows[0].title, "held up for 50.0 ms on average by resize_image"));
	end();
}

/* A loop that is busy: all iterations do the same, and so do stretches of many of them. */
TEST(a_function_that_short_iterations_run_as_well_holds_up_nothing)
{
	begin();
	slow_sometimes[0].frames = slow_frames;
	CHECK_EQUAL(found(), 0);
	end();
}

TEST(long_iterations_with_polls_in_them_are_several)
{
	begin();
	loops[0].long_poll_samples = 11;
	CHECK_EQUAL(found(), 0);
	end();
}

TEST(without_samples_of_short_iterations_long_ones_need_many_and_none_in_polls)
{
	begin();
	short_work.samples = 7;
	CHECK_EQUAL(found(), 1);
	loops[0].long_poll_samples = 1;
	draft.count = 0;
	CHECK_EQUAL(found(), 0);
	loops[0].long_poll_samples = 0;
	long_work.samples = 49;
	CHECK_EQUAL(found(),
		    1); /* it polls for most of the time: iterations are not likely to follow each other at once */
	loops[0].polled_ns = 900 * MS;
	draft.count = 0;
	CHECK_EQUAL(found(), 0);
	end();
}

/* As of a loop of short turns, each of which polls for a hundredth of its time: no sample met a poll. */
TEST(long_iterations_of_turns_that_samples_saw_to_be_short_are_several)
{
	begin();
	loops[0].polled_ns = 10 * MS;
	loops[0].long_work = &long_work;
	loops[0].short_work = NULL;
	long_work.samples = 559;
	CHECK_EQUAL(found(), 1);
	draft.count = 0;
	loops[0].turn_samples = 40;
	loops[0].short_turn_samples = 21;
	CHECK_EQUAL(found(), 0);
	/* Of the other half it is not known. */
	loops[0].short_turn_samples = 20;
	CHECK_EQUAL(found(), 1);
	draft.count = 0;
	loops[0].turn_samples = loops[0].short_turn_samples = 1;
	CHECK_EQUAL(found(), 0);
	end();
}

TEST(turns_that_samples_saw_to_be_long_need_no_other_proof)
{
	begin();
	loops[0].polled_ns = 10 * MS;
	loops[0].short_work = NULL;
	long_work.samples = 49;
	loops[0].long_poll_samples = 11;
	loops[0].turn_samples = 14;
	loops[0].turn_min_ns = 2 * MS;
	loops[0].long_turn_samples = 7;
	CHECK_EQUAL(found(), 0);
	loops[0].long_turn_samples = 8;
	CHECK_EQUAL(found(), 1);
	CHECK_EQUAL(draft.rows[0].evidence_count, 3);
	CHECK(strstr(draft.rows[0].evidence[1],
		     "at 8 of 14 samples of these, while its polls were watched, it had not polled for "
		     "2.00 ms or more"));
	end();
}

TEST(a_loop_that_nobody_asks_holds_nobody_up)
{
	begin();
	loops[0].long_asked_iterations = 0;
	loops[0].asked_iterations = 190; /* a second: in 50 ms, one comes */
	CHECK_EQUAL(found(), 0);
	loops[0].asked_iterations = 210;
	CHECK_EQUAL(found(), 1);
	end();
}

TEST(iterations_that_wait_are_not_held_up_by_code)
{
	begin();
	long_work.running_ns = 440 * MS;
	long_work.waiting_ns = 460 * MS;
	slow.ns = 430 * MS;
	CHECK_EQUAL(found(), 0);
	end();
}

TEST(code_that_cannot_always_run_holds_up_a_loop_unless_it_hardly_runs)
{
	begin();
	long_work.running_ns = 240 * MS;
	long_work.cpu_wait_ns = 660 * MS;
	slow.ns = 230 * MS;
	CHECK_EQUAL(found(), 1);
	draft.count = 0;
	long_work.running_ns = 80 * MS;
	long_work.cpu_wait_ns = 820 * MS;
	slow.ns = 70 * MS;
	CHECK_EQUAL(found(), 0);
	end();
}

TEST(code_that_is_less_than_half_does_not_stand_out)
{
	begin();
	slow.ns = 440 * MS;
	CHECK_EQUAL(found(), 0);
	end();
}

/*
 * As a sort that calls a comparison: neither has half, both together have. What the loop polls in is its own, however much
 * of it is there.
 */
TEST(a_function_holds_up_a_loop_with_what_it_calls)
{
	static const struct report_frame parts[2][3] = {
		{ { .function = "filter", .module = "shop" }, slow_frame, loop_frame },
		{ { .function = "scale", .module = "shop" }, slow_frame, loop_frame },
	};
	static const struct report_frame polled[] = { { .function = "epoll_wait", .module = "libc.so.6" }, loop_frame };
	struct report_blocked_code halves[] = {
		{ 410ull * MS, 10 * MS, 100, parts[0], 3 },
		{ 400ull * MS, 10 * MS, 100, parts[1], 3 },
	};
	struct report_wait wait = { .cause = CAUSE_POLL, .frames = polled, .frame_count = 2 };

	for (int is_of_loop = 0; is_of_loop < 2; is_of_loop++) {
		begin();
		long_work.code = halves;
		long_work.code_count = 2;
		slow_again.frames = parts[1];
		slow_again.frame_count = 3;
		findings.report.waits = &wait;
		findings.report.wait_count = 1;
		wait.frames = is_of_loop ? parts[0] + 1 : polled;
		CHECK_EQUAL(found(), !is_of_loop);
		if (!is_of_loop) {
			CHECK(strstr(draft.rows[0].title,
				     "held up for up to 60.0 ms by resize_image, called by serve"));
			CHECK_EQUAL(draft.rows[0].code->ns, 810ull * MS);
			CHECK_EQUAL(draft.rows[0].code->samples, 200);
			CHECK(draft.rows[0].code->error_ns > 10 * MS && draft.rows[0].code->error_ns < 20 * MS);
		}
		end();
	}
}

TEST(two_long_iterations_are_chance)
{
	begin();
	loops[0].long_iterations = loops[0].long_asked_iterations = 2;
	CHECK_EQUAL(found(), 0);
	end();
}

TEST(what_is_next_to_nothing_of_the_time_is_no_finding)
{
	begin();
	findings.report.balance.threads.busy_ns = 40000ull * MS;
	CHECK_EQUAL(found(), 0);
	end();
}
