/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of a report's findings, and of its code, has weight enough for the verdict; and that its lines say so. */
#include "findings/verdict/verdict.h"

#include <string.h>

#include "findings/parts/findings_internal.h"
#include "stacks/fold.h"
#include "test.h"

/* What a table leaves out at the end of a row is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { SECOND = 1000000000 };

static const struct report_frame work_frames[] = {
	{ .function = "squeeze", .module = "server" },
	{ .function = "serve", .module = "server" },
	{ .function = "main", .module = "server" },
};

static const struct report_frame idle_frames[] = {
	{ .function = "epoll_wait", .module = "libc.so.6" },
	{ .function = "serve", .module = "server" },
	{ .function = "main", .module = "server" },
};

static const char *const evidence[] = { "70 waits: mean 1 ms, max 2 ms", "held 1 ms on average" };

static const uint32_t waiters[] = { 5, 6, 9 };

static struct findings findings;
static struct report_path path;
static struct report_wait waits[2];
static struct report_finding finding;
static struct report_trunk trunk;
static struct report_blocked_on blocked_on;

/* Ten seconds of two CPUs and four threads, of which one thread runs for half of the time, and all else is idle. */
static void begin(void)
{
	struct report *report;

	findings = (struct findings){ .arena = arena_new(), .input.fold = fold_rules_new() };
	report = &findings.report;
	report->target.wall_ns = 10ull * SECOND;
	report->target.cpu_count = 2;
	report->totals.threads = 4;
	report->totals.samples = 1000;
	report->totals.active_ns = 5ull * SECOND;
	report->totals.parallelism = 0.5;
	report->balance.threads.total_ns = 40ull * SECOND;
	report->balance.threads.busy_ns = 5ull * SECOND;
	report->balance.threads.running_ns = 5ull * SECOND;
	path = (struct report_path){ .rank = 1, .frames = work_frames, .frame_count = 3, .samples = 100 };
	waits[0] = (struct report_wait){ .cause = CAUSE_LOCK,
					 .waits = 70,
					 .threads = 3,
					 .waiters = waiters,
					 .frames = work_frames,
					 .frame_count = 3 };
	waits[1] = (struct report_wait){ .cause = CAUSE_POLL,
					 .wait_ns = 9ull * SECOND,
					 .idle_ns = 9ull * SECOND,
					 .frames = idle_frames,
					 .frame_count = 3 };
	report->waits = waits;
	report->wait_count = 2;
	finding = (struct report_finding){ .title = "threads wait for accounts",
					   .pattern = PATTERN_CONTENDED_LOCK,
					   .cause = CAUSE_LOCK,
					   .object = "accounts",
					   .wait_rank = 1,
					   .evidence = evidence,
					   .evidence_count = 2 };
	trunk = (struct report_trunk){ 0 };
	blocked_on = (struct report_blocked_on){ 0 };
}

static void with_path(double wall_share)
{
	path.wall_share = wall_share;
	path.cmetric_ns = wall_share * findings.report.target.wall_ns;
	findings.report.paths = &path;
	findings.report.path_count = 1;
}

/* Of the time that is not idle, which it adds to. */
static void with_finding(double share)
{
	finding.share = share;
	findings.report.findings = findings.stand_out = &finding;
	findings.report.finding_count = 1;
	findings.report.balance.threads.busy_ns = findings.report.balance.threads.running_ns / (1 - share);
}

static const struct report_verdict *verdict_of(void)
{
	findings_add_verdict(&findings);
	return &findings.report.verdict;
}

static bool says(size_t line, const char *words)
{
	const struct report_verdict *verdict = &findings.report.verdict;

	return line < verdict->line_count && strstr(verdict->lines[line], words);
}

static void end(void)
{
	fold_rules_free((struct fold_rules *)findings.input.fold);
	arena_free(findings.arena);
}

TEST(a_program_that_hardly_runs_was_idle)
{
	begin();
	findings.report.totals.active_ns = SECOND / 10;
	CHECK_EQUAL(verdict_of()->kind, VERDICT_NONE);
	CHECK(says(0, "Nothing held it back: it was idle for 99 % of the time"));
	CHECK(says(1, "0.50 of 2 CPUs"));
	end();
}

TEST(of_threads_that_wait_for_one_that_sleeps_the_verdict_says_what_they_may_want)
{
	struct report_blocked_wait last = {
		.ns = 8ull * SECOND, .cause = CAUSE_SLEEP, .frames = work_frames, .frame_count = 3
	};

	for (int i = 0; i < 4; i++) {
		begin();
		findings.report.totals.active_ns = SECOND / 10;
		blocked_on = (struct report_blocked_on){ .ns = (i == 1 ? 17ull : 9ull) * SECOND,
							 .waiting_ns = 8ull * SECOND,
							 .waits = &last,
							 .wait_count = 1 };
		waits[1].cause = CAUSE_CONDITION;
		waits[1].blocked_on = &blocked_on;
		waits[1].idle_ns = 9ull * SECOND - (i != 2);
		last.cause = i == 3 ? CAUSE_SOCKET : CAUSE_SLEEP;
		CHECK_EQUAL(verdict_of()->kind, VERDICT_NONE);
		CHECK_EQUAL(says(2, "if those who wait in serve want an answer, shorten the sleep"), !i);
		CHECK_EQUAL(says(2, "for: squeeze"), !i);
		end();
	}
}

TEST(a_program_that_uses_all_cpus_is_not_held_back)
{
	begin();
	findings.report.totals.active_ns = 10ull * SECOND;
	findings.report.totals.parallelism = 1.9;
	findings.report.balance.threads.running_ns = 19ull * SECOND;
	CHECK_EQUAL(verdict_of()->kind, VERDICT_NONE);
	CHECK(says(0, "Nothing held it back: it used both CPUs fully"));
	end();
}

TEST(where_no_thread_ran_the_verdict_says_so)
{
	begin();
	findings.report.totals.threads = 0;
	CHECK_EQUAL(verdict_of()->kind, VERDICT_NONE);
	CHECK(says(0, "No thread of the program ran"));
	CHECK_EQUAL(findings.report.verdict.line_count, 3);
	end();
}

TEST(a_finding_with_weight_is_the_verdict_with_its_evidence)
{
	begin();
	with_finding(0.3);
	with_path(0.3);
	CHECK_EQUAL(verdict_of()->kind, VERDICT_LOCK);
	CHECK(says(0, "Main bottleneck (30 % of non-idle thread time; 3 threads): threads wait for accounts"));
	CHECK(says(1, "Evidence: 70 waits: mean 1 ms, max 2 ms; held 1 ms on average; it used 0.50 of 2 CPUs"));
	CHECK(says(2, "Try next: hold accounts for less time"));
	end();
}

TEST(victims_are_threads_that_waited_for_the_same_thing_each_once)
{
	static const uint32_t others[] = { 1, 6 };

	for (int is_same = 0; is_same < 2; is_same++) {
		begin();
		with_finding(0.3);
		waits[0].object = "accounts";
		waits[1] = (struct report_wait){
			.cause = CAUSE_LOCK, .object = is_same ? "accounts" : "orders", .threads = 2, .waiters = others
		};
		CHECK_EQUAL(verdict_of()->victims, is_same ? 4 : 3);
		end();
	}
}

TEST(a_finding_of_a_small_share_is_no_verdict)
{
	begin();
	with_finding(0.04);
	CHECK_EQUAL(verdict_of()->kind, VERDICT_NONE);
	end();
}

TEST(a_finding_of_next_to_none_of_the_wall_time_is_no_verdict)
{
	begin();
	findings.report.balance.threads.running_ns = SECOND / 10;
	with_finding(0.6);
	CHECK_EQUAL(verdict_of()->kind, VERDICT_NONE);
	end();
	begin();
	findings.report.balance.threads.running_ns = SECOND / 2;
	with_finding(0.6);
	CHECK_EQUAL(verdict_of()->kind, VERDICT_LOCK);
	end();
}

/* Whoever asks a program that is idle most of the time notices neither. */
TEST(few_short_waits_of_an_idle_program_are_no_verdict)
{
	static const struct {
		uint64_t active_ns, waits;
		double lost_ns;
		bool is_verdict;
	} cases[] = {
		{ SECOND, 100, SECOND / 2, false },       /* 5 ms each, 5 % of the time */
		{ SECOND, 20, SECOND / 2, true },         /* 25 ms each */
		{ SECOND, 1000, 3.0 * SECOND / 2, true }, /* 15 % of the time */
		{ 3ull * SECOND, 100, SECOND / 2, true }, /* it is not idle */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin();
		findings.report.balance.threads.running_ns = cases[i].active_ns;
		with_finding(cases[i].lost_ns / (cases[i].lost_ns + cases[i].active_ns));
		findings.report.totals.active_ns = cases[i].active_ns;
		waits[0].wait_ns = cases[i].lost_ns;
		waits[0].waits = cases[i].waits;
		CHECK_EQUAL(verdict_of()->kind == VERDICT_LOCK, cases[i].is_verdict);
		end();
	}
}

TEST(code_that_runs_for_long_goes_before_a_finding_of_little)
{
	begin();
	with_finding(0.08);
	with_path(0.45);
	CHECK_EQUAL(verdict_of()->kind, VERDICT_LOCK);
	end();
	begin();
	with_finding(0.08);
	with_path(0.6);
	CHECK_EQUAL(verdict_of()->kind, VERDICT_CODE);
	CHECK(says(0, "squeeze, called by serve"));
	end();
	begin();
	with_finding(0.12);
	with_path(0.6);
	CHECK_EQUAL(verdict_of()->kind, VERDICT_LOCK);
	end();
}

TEST(code_alone_needs_a_fifth_of_the_wall_time)
{
	begin();
	with_path(0.19);
	CHECK_EQUAL(verdict_of()->kind, VERDICT_NONE);
	end();
	begin();
	with_path(0.25);
	CHECK_EQUAL(verdict_of()->kind, VERDICT_CODE);
	end();
	begin();
	with_path(0.25);
	path.error_ns = path.cmetric_ns * 0.6;
	CHECK_EQUAL(verdict_of()->kind, VERDICT_NONE);
	end();
}

TEST(code_that_few_samples_have_met_is_not_named)
{
	for (uint64_t samples = 0; samples < 10; samples++) {
		begin();
		with_path(0.9);
		path.samples = findings.report.totals.samples = samples;
		findings.report.totals.active_ns = 9ull * SECOND;
		path.slices = 1;
		CHECK_EQUAL(verdict_of()->kind, samples < 5 ? VERDICT_NONE : VERDICT_CODE);
		CHECK(samples >= 5 || says(0, "Nothing held it back for long: it ran for 5.00 s in all, too little"));
		end();
	}
}

TEST(what_those_ran_whom_others_waited_for_needs_samples_too)
{
	struct report_blocked_code code = { .ns = SECOND, .frames = work_frames, .frame_count = 3 };

	for (uint64_t samples = 1; samples < 10; samples += 4) {
		begin();
		with_finding(0.5);
		blocked_on = (struct report_blocked_on){
			.ns = SECOND, .running_ns = SECOND, .samples = samples, .code = &code, .code_count = 1
		};
		finding.blocked_on = &blocked_on;
		CHECK_EQUAL(verdict_of()->kind, samples < 5 ? VERDICT_LOCK : VERDICT_CODE);
		end();
	}
}

TEST(a_thread_that_computes_all_the_time_has_a_verdict_though_no_function_stands_out)
{
	struct report_level levels[] = { { .active = 1, .ns = 9ull * SECOND }, { .active = 2, .ns = SECOND } };

	for (int has_levels = 0; has_levels < 2; has_levels++) {
		begin();
		with_path(0.08);
		findings.report.parallelism = levels;
		findings.report.level_count = has_levels ? 2 : 0;
		CHECK_EQUAL(verdict_of()->kind, has_levels ? VERDICT_CODE : VERDICT_NONE);
		CHECK(!has_levels || says(0, "Perhaps the main bottleneck (8 % of the wall time): squeeze"));
		end();
	}
}

/* A thread that has nothing to do waits in that function, too. */
TEST(the_function_of_an_event_loop_is_not_named)
{
	begin();
	with_path(0.9);
	path.frames = &work_frames[1];
	path.frame_count = 2;
	CHECK_EQUAL(verdict_of()->kind, VERDICT_NONE);
	end();
	begin();
	with_path(0.9);
	path.frames = &work_frames[1];
	path.frame_count = 2;
	path.functions = &(struct report_function){ .name = "serve", .samples = 100 };
	path.function_count = 1;
	CHECK_EQUAL(verdict_of()->kind, VERDICT_CODE);
	end();
	begin();
	with_path(0.1);
	trunk = (struct report_trunk){
		.wall_share = 0.9, .path_count = 30, .frames = &work_frames[1], .frame_count = 2
	};
	findings.report.trunk = &trunk;
	CHECK_EQUAL(verdict_of()->kind, VERDICT_NONE);
	end();
	begin();
	with_path(0.1);
	trunk = (struct report_trunk){ .wall_share = 0.9, .path_count = 30, .frames = work_frames, .frame_count = 3 };
	findings.report.trunk = &trunk;
	CHECK_EQUAL(verdict_of()->kind, VERDICT_CODE);
	end();
}

/* Nothing was critical, so paths have all of the CMetric. */
TEST(code_that_uses_all_cpus_all_the_time_holds_nothing_back)
{
	for (int is_critical = 0; is_critical < 2; is_critical++) {
		begin();
		with_path(0.9);
		findings.report.totals.active_ns = 10ull * SECOND;
		findings.report.totals.parallelism = 1.9;
		findings.report.code.is_critical = is_critical;
		CHECK_EQUAL(verdict_of()->kind, is_critical ? VERDICT_CODE : VERDICT_NONE);
		end();
	}
}

/* As make waits for compilers: only if CPUs are free does it matter what these do. */
TEST(parents_of_what_uses_all_cpus_are_not_held_back)
{
	for (int is_saturated = 0; is_saturated < 2; is_saturated++) {
		begin();
		with_finding(0.5);
		finding.pattern = PATTERN_WAIT;
		finding.cause = CAUSE_CHILD;
		findings.report.totals.active_ns = 10ull * SECOND;
		findings.report.totals.parallelism = is_saturated ? 1.9 : 1.1;
		CHECK_EQUAL(verdict_of()->kind, is_saturated ? VERDICT_NONE : VERDICT_PROCESS);
		end();
	}
}

/* As shells and make do: for a signal, or in a poll that the end of a child ends. */
TEST(parents_may_wait_for_the_end_of_children_in_any_call)
{
	struct report_waker waker = { .name = "gzip", .share = 0.9 };

	for (int is_exit = 0; is_exit < 2; is_exit++) {
		begin();
		with_finding(0.5);
		finding.pattern = PATTERN_WAIT;
		finding.cause = CAUSE_OTHER;
		waker.context = is_exit ? WAKER_EXIT : WAKER_THREAD;
		waits[0].wakers = &waker;
		waits[0].waker_count = 1;
		findings.report.totals.active_ns = 10ull * SECOND;
		findings.report.totals.parallelism = 1.9;
		CHECK_EQUAL(verdict_of()->kind == VERDICT_NONE, is_exit);
		end();
	}
}

/* As long as they do not spin. */
TEST(no_wait_is_a_loss_where_the_program_has_all_cpus)
{
	for (int spins = 0; spins < 2; spins++) {
		begin();
		findings.report.totals.active_ns = 10ull * SECOND;
		findings.report.totals.parallelism = 1.9;
		findings.report.balance.threads.running_ns = 19ull * SECOND;
		findings.report.balance.threads.spinning_ns = spins ? 9ull * SECOND : 0;
		with_finding(0.4);
		CHECK_EQUAL(verdict_of()->kind, spins ? VERDICT_LOCK : VERDICT_NONE);
		end();
	}
}

TEST(a_deadlock_is_certain_however_little_time_it_took)
{
	begin();
	with_finding(0.001);
	finding.pattern = PATTERN_DEADLOCK;
	finding.title = "deadlock: a waits for b";
	CHECK_EQUAL(verdict_of()->kind, VERDICT_DEADLOCK);
	CHECK_EQUAL(findings.report.verdict.confidence, CONFIDENCE_CERTAIN);
	CHECK(says(0, "Main bottleneck: deadlock: a waits for b"));
	end();
}

TEST(what_rests_on_little_that_is_known_is_perhaps_so)
{
	struct report_blocked_wait behind = { .ns = SECOND, .cause = CAUSE_FILE, .object = "redo.log" };

	begin();
	with_finding(0.5);
	blocked_on = (struct report_blocked_on){ .ns = 3ull * SECOND / 2,
						 .waiting_ns = SECOND,
						 .unknown_ns = SECOND / 2,
						 .waits = &behind,
						 .wait_count = 1 };
	finding.blocked_on = &blocked_on;
	CHECK_EQUAL(verdict_of()->kind, VERDICT_FILE);
	CHECK_EQUAL(findings.report.verdict.confidence, CONFIDENCE_POSSIBLE);
	CHECK(says(0, "Perhaps the main bottleneck"));
	CHECK(says(2, "redo.log"));
	end();
}

TEST(goroutines_that_wait_for_a_mutex_go_before_how_threads_of_the_runtime_wait)
{
	struct report_goroutine_wait wait = { .what = "sync.(*Mutex).Lock",
					      .kind = GOROUTINE_LOCK,
					      .waiting = 6,
					      .waiting_error = 0.5,
					      .frames = work_frames,
					      .frame_count = 3,
					      .reason = "sync.Mutex.Lock" };
	struct report_go_process process = { .samples = 90, .running = 1, .waits = &wait, .wait_count = 1 };

	for (int has_code = 0; has_code < 2; has_code++) {
		begin();
		with_finding(0.5);
		if (has_code)
			with_path(0.5);
		findings.report.goroutines = &process;
		findings.report.go_process_count = 1;
		CHECK_EQUAL(verdict_of()->kind, has_code ? VERDICT_CODE : VERDICT_LOCK);
		CHECK(says(0, "on average 6.0 goroutines waited in sync.(*Mutex).Lock, called by squeeze"));
		CHECK_EQUAL(says(0, "behind it: squeeze, called by serve, runs"), has_code);
		CHECK(has_code || (!says(0, "behind it") && says(2, "hold it for less time") && says(2, "squeeze")));
		end();
	}
	begin();
	with_finding(0.5);
	finding.cause = CAUSE_FILE;
	finding.pattern = PATTERN_WAIT;
	findings.report.goroutines = &process;
	findings.report.go_process_count = 1;
	CHECK_EQUAL(verdict_of()->kind, VERDICT_FILE);
	end();
}

TEST(goroutines_that_could_run_beside_free_cpus_are_held_back_by_gomaxprocs)
{
	struct report_go_process process = { .samples = 90, .running = 1, .runnable = 3, .runnable_error = 0.5 };

	for (int is_short_of_cpus = 0; is_short_of_cpus < 2; is_short_of_cpus++) {
		begin();
		findings.report.totals.parallelism = is_short_of_cpus ? 2 : 1;
		findings.report.goroutines = &process;
		findings.report.go_process_count = 1;
		CHECK_EQUAL(verdict_of()->kind, is_short_of_cpus ? VERDICT_NONE : VERDICT_CPU);
		CHECK(is_short_of_cpus || says(0, "GOMAXPROCS"));
		end();
	}
}

TEST(a_process_that_has_the_cpus_for_most_of_the_time_is_named)
{
	struct report_rival rivals[] = {
		{ .kind = RIVAL_PROGRAM, .wait_ns = SECOND },
		{ .kind = RIVAL_PROCESS, .name = "backup", .pid = 77, .wait_ns = 0 },
	};

	for (uint64_t wait_ns = SECOND / 2; wait_ns <= 2ull * SECOND; wait_ns *= 4) {
		begin();
		with_finding(0.4);
		finding.pattern = PATTERN_CPU_WAIT;
		finding.cause = CAUSE_PREEMPTED;
		rivals[1].wait_ns = wait_ns;
		findings.report.balance.threads.cpu_wait_ns = rivals[0].wait_ns + wait_ns;
		findings.report.balance.threads.ran_instead = rivals;
		findings.report.balance.threads.rival_count = 2;
		CHECK_EQUAL(verdict_of()->kind, VERDICT_CPU);
		CHECK_EQUAL(findings.report.verdict.blocker != NULL, wait_ns > SECOND);
		CHECK_EQUAL(says(2, "backup (pid 77)"), wait_ns > SECOND);
		end();
	}
}

TEST(a_process_that_has_the_other_cpus_is_named_where_threads_wait_for_one)
{
	struct report_cpu_user users[] = { { "backup", 77, 0 }, { "backup", 78, 0 }, { "shell", 79, SECOND / 10 } };

	for (uint64_t cpu_ns = SECOND / 4; cpu_ns <= 4ull * SECOND; cpu_ns *= 4) {
		begin();
		with_finding(0.4);
		finding.pattern = PATTERN_CPU_WAIT;
		finding.cause = CAUSE_PREEMPTED;
		users[0].cpu_ns = users[1].cpu_ns = cpu_ns / 2;
		findings.report.balance.threads.cpu_wait_ns = 3ull * SECOND;
		findings.report.resources.cpu_users = users;
		findings.report.resources.cpu_user_count = 3;
		CHECK_EQUAL(verdict_of()->kind, VERDICT_CPU);
		CHECK_EQUAL(findings.report.verdict.blocker != NULL, cpu_ns > SECOND);
		CHECK_EQUAL(says(2, "let backup have other CPUs"), cpu_ns > SECOND);
		end();
	}
}

TEST(threads_that_may_use_some_cpus_only_do_not_wait_for_who_has_the_others)
{
	struct report_cpu_user user = { "backup", 77, 9ull * SECOND };

	begin();
	with_finding(0.4);
	finding.pattern = PATTERN_CPU_WAIT;
	finding.cause = CAUSE_PREEMPTED;
	findings.report.balance.threads.cpu_wait_ns = 3ull * SECOND;
	findings.report.balance.threads.cpus_allowed = 1;
	findings.report.resources.cpu_users = &user;
	findings.report.resources.cpu_user_count = 1;
	verdict_of();
	CHECK(!findings.report.verdict.blocker);
	end();
}

/* --- Code beside another verdict ------------------------------------------------------------------- */

TEST(code_that_stands_out_beside_another_verdict_is_a_finding_after_it)
{
	for (double share = 0.1; share < 0.6; share += 0.2) {
		const struct report_finding *code;

		begin();
		with_finding(0.4);
		with_path(share);
		CHECK_EQUAL(verdict_of()->kind, VERDICT_LOCK);
		CHECK_EQUAL(findings.report.finding_count, share < 0.2 ? 1 : 2);
		CHECK_STRING(findings.report.findings[0].title, "threads wait for accounts");
		code = &findings.report.findings[1];
		if (share >= 0.2) {
			CHECK_EQUAL(code->pattern, PATTERN_CRITICAL_CODE);
			CHECK(strstr(code->title, "squeeze, called by serve, runs while few others do, for"));
			CHECK_EQUAL(code->path_rank, 1);
		}
		end();
	}
}

TEST(code_that_a_finding_is_about_is_not_another_one)
{
	begin();
	with_finding(0.4);
	finding.path_rank = 1;
	with_path(0.5);
	verdict_of();
	CHECK_EQUAL(findings.report.finding_count, 1);
	end();
}

/* Half of the CPU time is another's: the code would have run for twice as long. */
TEST(code_stands_out_by_its_share_of_the_time_that_others_leave)
{
	struct report_rival rival = { .kind = RIVAL_PROCESS, .name = "backup", .pid = 77, .wait_ns = 5ull * SECOND };

	for (int is_short = 0; is_short < 2; is_short++) {
		begin();
		with_finding(0.5);
		finding.pattern = PATTERN_CPU_WAIT;
		finding.cause = CAUSE_PREEMPTED;
		with_path(0.15);
		if (is_short) {
			findings.report.balance.threads.cpu_wait_ns = 5ull * SECOND;
			findings.report.balance.threads.ran_instead = &rival;
			findings.report.balance.threads.rival_count = 1;
		}
		CHECK_EQUAL(verdict_of()->kind, VERDICT_CPU);
		CHECK_EQUAL(findings.report.finding_count, 1 + is_short);
		end();
	}
}

/* --- What others do ------------------------------------------------------------------------------- */

static struct report_root disk = { .kind = ROOT_WAIT, .cause = CAUSE_FILE, .object = "/srv/journal" };

static void with_disk(uint64_t own_bytes, uint64_t neighbour_bytes)
{
	static struct report_storage_user users[2];

	with_finding(0.5);
	finding.pattern = PATTERN_WAIT;
	finding.cause = CAUSE_FILE;
	finding.root = &disk;
	users[0] = (struct report_storage_user){ "filler", 77, 0, neighbour_bytes };
	users[1] = (struct report_storage_user){ "shell", 78, 1 << 20, 0 };
	findings.report.target.is_running = true;
	findings.report.resources.write_bytes = own_bytes;
	findings.report.resources.storage_users = users;
	findings.report.resources.storage_user_count = 2;
}

TEST(a_neighbour_that_moves_more_than_the_program_is_named_where_it_waits_for_the_disk)
{
	begin();
	with_disk(3 << 20, 812 << 20);
	CHECK_EQUAL(verdict_of()->kind, VERDICT_FILE);
	CHECK(says(1, "beside it, filler (pid 77) wrote 812.0 MB, while it wrote 3.0 MB"));
	CHECK(says(2, "see what filler (pid 77) does with the disk"));
	CHECK(!says(1, "shell"));
	end();
}

TEST(a_neighbour_that_moves_little_or_less_than_the_program_is_not_named)
{
	static const uint64_t cases[][2] = { { 0, 5 << 20 }, { 900 << 20, 812 << 20 } };

	for (size_t i = 0; i < 2; i++) {
		begin();
		with_disk(cases[i][0], cases[i][1]);
		CHECK_EQUAL(verdict_of()->kind, VERDICT_FILE);
		CHECK(!says(1, "filler") && !says(2, "filler"));
		end();
	}
	begin();
	with_disk(0, 812 << 20);
	findings.report.target.is_running = false; /* what it moved is not known */
	CHECK_EQUAL(verdict_of()->kind, VERDICT_FILE);
	CHECK(!says(1, "filler") && !says(2, "filler"));
	end();
}

TEST(waits_that_a_memory_limit_makes_are_about_memory)
{
	struct report_memory_limit limit = { "/db", 32 << 20, 500, 4000, 0 };

	begin();
	with_disk(0, 812 << 20);
	finding.memory_limit = &limit;
	CHECK_EQUAL(verdict_of()->kind, VERDICT_MEMORY);
	CHECK(says(2, "raise the memory limit of cgroup /db"));
	CHECK(!says(1, "filler"));
	end();
}

TEST(a_shortage_of_cpus_among_those_who_wait_for_a_lock_is_the_lock)
{
	struct report_thread threads[] = { { .name = "worker-1", .number = 5 }, { .name = "batch-1", .number = 7 } };
	struct report_user user = { .ns = SECOND, .kind = RIVAL_PROGRAM };
	struct report_root cpu = { .kind = ROOT_CPU, .ns = SECOND + SECOND / 2, .users = &user, .user_count = 1 };

	for (int is_other = 0; is_other < 2; is_other++) {
		begin();
		with_finding(0.5);
		blocked_on = (struct report_blocked_on){ .ns = SECOND, .cpu_wait_ns = SECOND };
		finding.blocked_on = &blocked_on;
		user.name = findings_group_name(&findings, threads[is_other].name);
		findings.report.threads = threads;
		findings.report.thread_count = 2;
		findings.report.blame.roots = &cpu;
		findings.report.blame.root_count = 1;
		CHECK_EQUAL(verdict_of()->kind, is_other ? VERDICT_CPU : VERDICT_LOCK);
		end();
	}
}

TEST(a_lock_without_a_name_in_code_without_one_is_a_verdict_only_if_it_is_large)
{
	static const struct report_frame nameless[] = { { .module = "server", .offset = 16 } };

	for (int is_large = 0; is_large < 2; is_large++) {
		begin();
		with_finding(is_large ? 0.25 : 0.15);
		waits[0].frames = nameless;
		waits[0].frame_count = 1;
		CHECK_EQUAL(verdict_of()->kind, is_large ? VERDICT_LOCK : VERDICT_NONE);
		end();
	}
}

/* --- Which program -------------------------------------------------------------------------------- */

TEST(of_several_programs_that_is_named_whose_threads_wait)
{
	struct report_thread threads[] = {
		{ .name = "shop", .host_pid = 10, .host_tid = 10, .number = 1, .thread_count = 1 },
		{ .name = "worker", .host_pid = 10, .host_tid = 11, .number = 5, .thread_count = 1 },
		{ .name = "worker", .host_pid = 10, .host_tid = 12, .number = 6, .thread_count = 1 },
		{ .name = "worker", .host_pid = 10, .host_tid = 13, .number = 9, .thread_count = 1 },
		{ .name = "mail", .host_pid = 20, .host_tid = 20, .number = 4, .thread_count = 1 },
	};

	begin();
	with_finding(0.5);
	findings.report.threads = threads;
	findings.report.thread_count = 5;
	CHECK(verdict_of()->program && findings.report.verdict.program->pid == 10);
	CHECK(says(0, "3 threads): shop (pid 10): threads wait for accounts"));
	end();
	begin();
	with_finding(0.5);
	waits[0].threads = 1;
	findings.report.threads = threads;
	findings.report.thread_count = 5;
	verdict_of();
	CHECK(says(0, "1 thread): shop (pid 10), thread worker: a thread waits for accounts"));
	end();
	begin(); /* one program has no need of it */
	with_finding(0.5);
	findings.report.threads = threads;
	findings.report.thread_count = 4;
	CHECK(!verdict_of()->program);
	CHECK(says(0, "3 threads): threads wait for accounts"));
	end();
	begin(); /* threads of both wait */
	with_finding(0.5);
	threads[3].host_pid = 20;
	findings.report.threads = threads;
	findings.report.thread_count = 5;
	CHECK(!verdict_of()->program);
	end();
}

/* Of a program that leaves a CPU free, in two seconds of waiting for one; and of two findings the one with more weight. */
static const struct report_verdict *verdict_beside_cpu_wait(double cpu_share, double share, uint64_t own_ns,
							    enum rival_kind other)
{
	static struct report_finding list[2];
	static struct report_rival rivals[2];

	begin();
	with_finding(share);
	rivals[0] = (struct report_rival){ .kind = RIVAL_PROGRAM, .wait_ns = own_ns };
	rivals[1] = (struct report_rival){ .kind = other, .wait_ns = 2ull * SECOND - own_ns };
	list[0] = (struct report_finding){
		.title = "no CPU", .share = cpu_share, .pattern = PATTERN_CPU_WAIT, .cause = CAUSE_PREEMPTED
	};
	list[1] = finding;
	findings.report.findings = findings.stand_out = list;
	findings.report.finding_count = 2;
	findings.report.balance.threads.busy_ns = 10ull * SECOND;
	findings.report.balance.threads.cpu_wait_ns = 2ull * SECOND;
	findings.report.balance.threads.ran_instead = rivals;
	findings.report.balance.threads.rival_count = 2;
	return verdict_of();
}

TEST(that_threads_take_turns_is_no_lack_of_cpus_as_long_as_there_are_free_ones)
{
	static const struct {
		double cpu_share, share;
		uint64_t own_ns;
		enum rival_kind other;
		enum verdict_kind kind;
	} cases[] = {
		{ 0.36, 0.2, SECOND / 10, RIVAL_PROCESS, VERDICT_CPU },
		{ 0.36, 0.2, 8ull * SECOND / 5, RIVAL_PROCESS, VERDICT_LOCK }, /* a fifth of it is not of own threads */
		{ 0.36, 0.06, 8ull * SECOND / 5, RIVAL_PROCESS, VERDICT_CPU },
		{ 0.36, 0.04, 2ull * SECOND, RIVAL_PROCESS, VERDICT_NONE },
		{ 0.36, 0.04, 0, RIVAL_IDLE, VERDICT_NONE },             /* a CPU that wakes up is free */
		{ 0.6, 0.2, 2ull * SECOND, RIVAL_PROCESS, VERDICT_CPU }, /* they may be bound to it */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct report_verdict *verdict =
			verdict_beside_cpu_wait(cases[i].cpu_share, cases[i].share, cases[i].own_ns, cases[i].other);

		CHECK_EQUAL(verdict->kind, cases[i].kind);
		end();
	}
}

TEST(code_of_the_program_that_has_the_cpus_is_why_its_threads_wait_for_one)
{
	static const struct report_frame other_frames[] = { { .function = "sort", .module = "server" } };
	struct report_blocked_code code[] = {
		{ .ns = 1100000000, .samples = 60, .frames = work_frames, .frame_count = 3 },
		{ .ns = 400000000, .samples = 20, .frames = other_frames, .frame_count = 1 },
	};
	struct report_cpu_taken taken = { .ns = 2ull * SECOND, .samples = 100, .code = code, .code_count = 2 };

	for (int i = 0; i < 4; i++) {
		struct report_rival rival = { .kind = i == 2 ? RIVAL_PROCESS : RIVAL_PROGRAM,
					      .wait_ns = 2ull * SECOND };

		begin();
		findings.report.totals.active_ns = 10ull * SECOND;
		findings.report.totals.parallelism = 3;
		findings.report.balance.threads.running_ns = i == 1 ? 10ull * SECOND : 19ull * SECOND;
		findings.report.balance.threads.cpu_wait_ns = 2ull * SECOND;
		findings.report.balance.threads.cpu_taken = &taken;
		findings.report.balance.threads.ran_instead = &rival;
		findings.report.balance.threads.rival_count = 1;
		code[0].ns = i == 3 ? 900000000 : 1100000000;
		with_finding(0.6);
		finding.pattern = PATTERN_CPU_WAIT;
		finding.cause = CAUSE_PREEMPTED;
		finding.wait_rank = 0;
		CHECK_EQUAL(verdict_of()->kind, i ? VERDICT_CPU : VERDICT_CODE);
		CHECK_EQUAL(says(0, "while others of the program run squeeze, called by serve"), !i);
		CHECK_EQUAL(says(2, "faster, or give the program more CPUs"), !i);
		end();
	}
}

static const struct report_frame store_frames[] = {
	{ .function = "sync.(*Mutex).Lock", .module = "server" },
	{ .function = "main.(*store).renew", .module = "server" },
};

static const struct report_frame sleep_frames[] = {
	{ .function = "time.Sleep", .module = "server" },
	{ .function = "main.(*store).renew", .module = "server" },
};

/* A goroutine that waits for something else in the function that takes the lock has it. */
TEST(what_the_goroutine_that_has_a_lock_waits_for_is_behind_the_lock)
{
	struct report_goroutine_wait list[] = {
		{ .what = "sync.(*Mutex).Lock",
		  .kind = GOROUTINE_LOCK,
		  .waiting = 6,
		  .waiting_error = 0.5,
		  .frames = store_frames,
		  .frame_count = 2,
		  .own_frame = 1,
		  .reason = "sync.Mutex.Lock" },
		{ .what = "time.Sleep",
		  .kind = GOROUTINE_SLEEP,
		  .waiting_error = 0.1,
		  .frames = sleep_frames,
		  .frame_count = 2,
		  .reason = "sleep" },
	};
	struct report_go_process process = { .samples = 90, .running = 0.1, .waits = list, .wait_count = 2 };

	for (int i = 0; i < 4; i++) {
		begin();
		findings.report.goroutines = &process;
		findings.report.go_process_count = 1;
		list[1].waiting = i == 1 ? 0.15 : 0.9;
		list[1].own_frame = i == 2 ? 0 : 1;
		if (i == 3)
			with_path(0.95);
		CHECK_EQUAL(verdict_of()->kind, i == 0 ? VERDICT_TIMER : i == 3 ? VERDICT_CODE : VERDICT_LOCK);
		CHECK_EQUAL(says(0, "behind it: one of them waits in time.Sleep, called by main.(*store).renew"),
			    i == 0);
		CHECK(i || says(2, "for the event itself: main.(*store).renew"));
		end();
	}
}

TEST(a_file_that_threads_wait_for_is_behind_the_lock_of_goroutines_if_they_wait_longer_than_any_code_runs)
{
	struct report_goroutine_wait lock = { .what = "sync.(*Mutex).Lock",
					      .kind = GOROUTINE_LOCK,
					      .waiting = 3,
					      .frames = store_frames,
					      .frame_count = 2,
					      .own_frame = 1,
					      .reason = "sync.Mutex.Lock" };
	struct report_go_process process = { .samples = 90, .running = 1, .waits = &lock, .wait_count = 1 };
	struct report_finding list[2];

	for (int i = 0; i < 3; i++) {
		bool is_file = i > 0;

		begin();
		with_finding(0.3);
		with_path(0.3);
		findings.report.goroutines = &process;
		findings.report.go_process_count = 1;
		list[0] = finding;
		list[1] = (struct report_finding){ .title = "threads wait for file journal",
						   .share = 0.28,
						   .pattern = PATTERN_WAIT,
						   .cause = CAUSE_FILE,
						   .wait_rank = i == 2 ? 2 : 0 };
		waits[1].frames = work_frames; /* of the second finding: it waits in the call that the path runs in */
		waits[1].idle_ns = 0;
		findings.report.findings = findings.stand_out = list;
		findings.report.finding_count = 2;
		findings.report.balance.threads.busy_ns = (i == 1 ? 16ull : 9ull) * SECOND;
		CHECK_EQUAL(verdict_of()->kind, is_file ? VERDICT_FILE : VERDICT_CODE);
		CHECK_EQUAL(says(0, "threads wait for file journal"), is_file);
		end();
	}
}

static uint32_t random_state = 1;

static double pick(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) / (double)(1 << 24);
}

/* Whatever the figures: three lines, a share of at most 1, and none is a bottleneck that is below the floors. */
TEST(any_figures_make_three_lines_and_no_share_above_one)
{
	static const char *const begins[] = { "Main bottleneck", "Perhaps the main bottleneck",
					      "Nothing held it back" };

	for (int i = 0; i < 5000; i++) {
		const struct report_verdict *verdict;
		size_t known = 0;

		begin();
		findings.report.target.cpu_count = pick() < 0.2 ? 0 : 1 + 8 * pick();
		findings.report.totals.parallelism = 4 * pick();
		findings.report.balance.threads.running_ns = 40 * pick() * pick() * SECOND;
		if (pick() < 0.6)
			with_finding(0.99 * pick() * pick());
		if (pick() < 0.6)
			with_path(pick());
		finding.cause = pick() * CAUSES;
		finding.pattern = pick() < 0.5 ? PATTERN_WAIT : PATTERN_CPU_WAIT;
		verdict = verdict_of();
		CHECK_EQUAL(verdict->line_count, 3);
		for (size_t k = 0; k < sizeof(begins) / sizeof(*begins); k++)
			known += !strncmp(verdict->lines[0], begins[k], strlen(begins[k]));
		CHECK_EQUAL(known, 1);
		CHECK_EQUAL(says(0, "Nothing held it back"), verdict->kind == VERDICT_NONE);
		CHECK(!strncmp(verdict->lines[1], "Evidence: ", 10) && !strncmp(verdict->lines[2], "Try next: ", 10));
		CHECK(verdict->share >= 0 && verdict->share <= 1);
		CHECK(verdict->kind == VERDICT_NONE || verdict->share >= 0.05);
		end();
	}
}
